//! The paper's numbers, as `papers/denoyelle2019.json` holds them.

use std::collections::BTreeMap;

use nearfar_machine::MemoryKind;
use nearfar_units::words;
use serde::Deserialize;

use crate::error::{ReproduceError, contradiction};
use crate::printed::{Printed, Unit};

use super::KEY;

/// The paper's numbers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    pub(super) machines: Vec<MachineFacts>,
    pub(super) roofs: Vec<RoofTable>,
    pub(super) pairs: PairTable,
    pub(super) instructions_per_cycle: Vec<InstructionTable>,
    pub(super) validation_error: ValidationErrors,
    pub(super) kernels: BTreeMap<String, String>,
    pub(super) roof_definitions: BTreeMap<String, String>,
    pub(super) overlap_theta: OverlapFacts,
}

/// A machine that the paper measures.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct MachineFacts {
    pub machine: String,
    pub initiators: u32,
    pub cores_per_initiator: u32,
    pub core_ghz: f64,
    /// Bytes of its widest vectors.
    pub vector_bytes: u32,
}

/// Tables 2 and 5: the roofs of an initiator.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct RoofTable {
    pub table: String,
    pub machine: String,
    pub initiator: u32,
    pub kernel: String,
    pub unit: Unit,
    pub decimals: u8,
    #[serde(default)]
    pub peak_gflop_per_s: BTreeMap<String, f64>,
    /// By level, from the one next to the core.
    #[serde(default)]
    pub caches: Vec<f64>,
    pub memory: BTreeMap<u32, f64>,
    #[serde(default)]
    pub contended: BTreeMap<u32, f64>,
    #[serde(default)]
    pub all_local: BTreeMap<u32, f64>,
    pub congested: BTreeMap<MemoryKind, f64>,
    pub memory_side_cache: Option<f64>,
    pub memory_side_cache_all_local: Option<f64>,
}

/// Table 4: what each initiator gets of the memory of the first two.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct PairTable {
    pub table: String,
    pub machine: String,
    pub kernel: String,
    pub unit: Unit,
    pub decimals: u8,
    /// A kind and the number of a node: `MCDRAM:1`.
    pub columns: Vec<String>,
    pub rows: Vec<Vec<f64>>,
}

/// Tables 1 and 3: instructions that a core completes in a cycle.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct InstructionTable {
    pub table: String,
    pub machine: String,
    pub decimals: u8,
    pub theoretical: BTreeMap<Instruction, f64>,
    pub measured: BTreeMap<Instruction, f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Instruction {
    Load,
    Store,
    Add,
    Mul,
    Fma,
}

words!(Instruction);

/// Sections 4 and 5: how near validation kernels come to the roofs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct ValidationErrors {
    pub bounds: Vec<ValidationBound>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct ValidationBound {
    pub section: String,
    pub machine: String,
    /// The average error lies below it.
    pub percent: f64,
}

/// Table 6 and section 6: loads and stores over a fast and a slow memory.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct OverlapFacts {
    pub table: String,
    pub decimals: u8,
    /// By machine, the kind that takes longest, and the other kind.
    pub machines: BTreeMap<String, BTreeMap<String, BTreeMap<String, f64>>>,
    /// Section 6: the model's average error lies below it on each machine.
    pub error_percent_below: f64,
}

impl Facts {
    pub(super) fn machine(&self, name: &str) -> Result<&MachineFacts, ReproduceError> {
        let found = self.machines.iter().find(|machine| machine.machine == name);
        found.ok_or_else(|| contradiction(KEY, format!("nothing is said of the machine {name}")))
    }

    pub(super) fn instructions_of(
        &self,
        machine: &str,
    ) -> Result<&InstructionTable, ReproduceError> {
        let mut tables = self.instructions_per_cycle.iter();
        tables.find(|table| table.machine == machine).ok_or_else(|| {
            contradiction(KEY, format!("no table gives the instructions a cycle of {machine}"))
        })
    }
}

impl InstructionTable {
    pub fn printed(&self, value: f64) -> Printed {
        Printed { value, decimals: self.decimals }
    }

    pub fn fused(&self, column: &BTreeMap<Instruction, f64>) -> Result<f64, ReproduceError> {
        let what = || format!("table {} has no fused multiply-adds", self.table);
        column.get(&Instruction::Fma).copied().ok_or_else(|| contradiction(KEY, what()))
    }
}

impl RoofTable {
    pub fn printed(&self, value: f64) -> Printed {
        Printed { value, decimals: self.decimals }
    }
}
