//! What `papers/ribeiro2010.json` holds.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::KEY;
use crate::error::ReproduceError;
use crate::paper::read_facts;

/// The paper's numbers, and what it says in words of the order of its strategies.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    pub key: String,
    pub title: String,
    /// Machines by the paper's name.
    pub machines: BTreeMap<String, MachineFacts>,
    pub numa_factor: String,
    pub strategies: BTreeMap<String, String>,
    pub workloads: BTreeMap<String, Workload>,
    /// Thread counts that its gains are means over.
    pub threads: Vec<u32>,
    /// Gains of one strategy over another.
    #[serde(rename = "findings_percent_mean_gain")]
    pub findings: Vec<Finding>,
    pub conclusion: String,
    /// What it says of strategies without a number.
    pub findings_in_words: Vec<String>,
    /// The orders that these words give.
    pub orders: Vec<Order>,
    /// The orders that the conclusion gives.
    pub conclusion_orders: Vec<ConclusionOrder>,
    /// The least and the most that explicit placement gained.
    pub mean_gain_percent: [f64; 2],
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct MachineFacts {
    /// The simulated machine that has its figures.
    pub simulated: String,
    pub nodes: u32,
    pub cpus_per_node: u32,
    pub ghz: f64,
    /// Memory of all nodes.
    pub memory_gb: f64,
    /// Third-level cache of a CPU.
    pub l3_mb: Option<f64>,
    /// Second-level cache of a CPU.
    pub l2_mb: Option<f64>,
    pub stream_read_mbs: f64,
    pub stream_write_mbs: f64,
    /// The least and the most.
    pub numa_factor: [f64; 2],
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Workload {
    /// How its threads go over the data.
    pub access: AccessName,
    pub data_gb: Option<f64>,
    /// Side of its grid.
    pub side: Option<f64>,
}

/// How threads go over the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessName {
    /// Each keeps to its part.
    Regular,
    /// In no order.
    Irregular,
}

/// By how much one strategy is better than another.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Finding {
    pub machine: String,
    pub workload: String,
    pub better: String,
    /// The other, or `the others`.
    pub than: String,
    pub gain: f64,
}

/// An order without a number.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Order {
    pub machine: String,
    pub workload: String,
    pub order: OrderName,
    pub strategies: Vec<String>,
}

/// Kinds of orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderName {
    /// The first is better than all others.
    Best,
    /// The first is worse than all others.
    Worst,
    /// The first is better than the second.
    Better,
    /// The two are close.
    Close,
    /// The first alone gains with every thread count.
    KeepsSpeedup,
}

/// What the conclusion says to do on a machine that is of its kind.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ConclusionOrder {
    pub machine: String,
    /// How threads go over the data.
    pub access: AccessName,
    /// Why, in the conclusion's words.
    pub because: String,
    pub best: String,
}

/// The paper's numbers.
///
/// # Errors
/// When the file is not of the form that the program knows.
pub fn facts() -> Result<Facts, ReproduceError> {
    Facts::parse(include_str!("../../../../papers/ribeiro2010.json"))
}

impl Facts {
    /// Reads a file's text.
    ///
    /// # Errors
    /// As [`facts`]; and when it names a machine, program or strategy that it does not describe.
    pub fn parse(text: &str) -> Result<Self, ReproduceError> {
        read_facts(KEY, text, Self::check)
    }

    fn check(&self) -> Result<(), String> {
        let of_findings = self.findings.iter().map(|of| (&of.machine, Some(&of.workload)));
        let of_orders = self.orders.iter().map(|of| (&of.machine, Some(&of.workload)));
        let of_conclusion = self.conclusion_orders.iter().map(|of| (&of.machine, None));
        for (machine, workload) in of_findings.chain(of_orders).chain(of_conclusion) {
            if !self.machines.contains_key(machine) {
                return Err(format!("it does not describe the machine {machine}"));
            }
            if let Some(workload) = workload.filter(|name| !self.workloads.contains_key(*name)) {
                return Err(format!("it does not describe the program {workload}"));
            }
        }
        let named = self
            .findings
            .iter()
            .flat_map(|of| [&of.better, &of.than])
            .filter(|name| *name != OTHERS)
            .chain(self.orders.iter().flat_map(|of| &of.strategies))
            .chain(self.conclusion_orders.iter().map(|of| &of.best));
        let unknown = named.into_iter().find(|name| !self.strategies.contains_key(*name));
        if let Some(strategy) = unknown {
            return Err(format!("it does not describe the strategy {strategy}"));
        }
        let lacks = |of: &&Order| {
            let pair = matches!(of.order, OrderName::Better | OrderName::Close);
            of.strategies.len() != 1 + usize::from(pair)
        };
        match self.orders.iter().find(lacks) {
            None => Ok(()),
            Some(of) => Err(format!("an order of {} is not whole", of.workload)),
        }
    }

    /// The gain that it prints; `None` where it prints none.
    pub(super) fn gain(
        &self,
        machine: &str,
        workload: &str,
        better: &str,
        than: &str,
    ) -> Option<f64> {
        let is_asked = |of: &&Finding| {
            (of.machine.as_str(), of.workload.as_str()) == (machine, workload)
                && (of.better.as_str(), of.than.as_str()) == (better, than)
        };
        self.findings.iter().find(is_asked).map(|of| of.gain)
    }
}

/// In place of a strategy: all but the better one.
pub(super) const OTHERS: &str = "the others";
