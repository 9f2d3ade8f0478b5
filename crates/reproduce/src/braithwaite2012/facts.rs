//! The thesis's numbers, as `papers/braithwaite2012.json` holds them.

use nearfar_units::words;
use serde::Deserialize;

use crate::printed::{Printed, Unit};

/// The thesis's numbers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Theoretical maximum of memory accesses, GB/s.
    pub gamma_gb_per_s: f64,
    /// Theoretical maximum of transfers to devices, GB/s.
    pub phi_gb_per_s: f64,
    /// The thesis's rule: a class spans at most this fraction of its maximum.
    pub class_span: f64,
    pub(super) run_statistics: RunStatistics,
    pub(super) class_tables: Vec<ClassTable>,
    pub(super) alpha_tables: Vec<AlphaTable>,
    pub(super) relative_alphas: RelativeAlphas,
    pub(super) data_access: DataAccessTable,
    pub(super) what_if: Vec<WhatIf>,
    pub(super) cbench: Vec<Cbench>,
    pub(super) asymmetry: Asymmetry,
    pub(super) program_order: ProgramOrder,
}

/// Section 6.3, in words: which programs of NPB lose most on far memory. Figure 6.3 has bars only.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProgramOrder {
    pub section: String,
    pub machine: String,
    pub most: Vec<String>,
    /// The programs that the text does not name.
    pub others: Vec<String>,
    pub least: String,
}

/// Table 3.2: mean, deviation and interval of many runs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct RunStatistics {
    pub table: String,
    pub machine: String,
    pub unit: Unit,
    pub runs_per_core: u32,
    pub mean_decimals: u8,
    pub decimals: u8,
    pub rows: Vec<RunStatisticsRow>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct RunStatisticsRow {
    pub memory_node: u32,
    pub mean: f64,
    pub sd: f64,
    pub low: f64,
    pub high: f64,
}

/// Tables 3.4 and A.2: class maxima by compiler and by interface.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct ClassTable {
    pub table: String,
    pub machine: String,
    pub unit: Unit,
    pub decimals: u8,
    pub streams: Vec<StreamClasses>,
    pub transfers: Vec<TransferClasses>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct StreamClasses {
    pub compiler: String,
    pub threads: Threads,
    pub max: Vec<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Threads {
    One,
    All,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct TransferClasses {
    pub direction: String,
    /// Programming interface, where the table says it.
    pub interface: Option<String>,
    pub max: Vec<f64>,
}

/// Table 4.1: alphas.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct AlphaTable {
    pub table: String,
    pub machine: String,
    pub decimals: u8,
    pub streams: Vec<Alphas>,
    pub transfers: Vec<Alphas>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Alphas {
    /// The compiler of a stream, the direction of a transfer, or the machine.
    #[serde(alias = "compiler", alias = "direction", alias = "machine")]
    pub of: String,
    pub alpha: Vec<f64>,
}

/// Table 6.1: alphas relative to class 0.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct RelativeAlphas {
    pub table: String,
    pub decimals: u8,
    pub rows: Vec<Alphas>,
}

/// Equations 4.10 and 4.11: D of given shares.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct DataAccessTable {
    pub decimals: u8,
    pub rows: Vec<DataAccessRow>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct DataAccessRow {
    pub equation: String,
    pub machine: String,
    pub alpha: Vec<f64>,
    pub share: Vec<f64>,
    pub d: f64,
}

/// Equations 4.17 and 4.18: D of the possible mappings of two processes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct WhatIf {
    pub equation: String,
    pub machine: String,
    pub decimals: u8,
    pub alpha: Vec<f64>,
    /// The class in which each process's device is reached, by memory node.
    pub reach: Vec<Vec<usize>>,
    /// The simulated machine that has the devices so.
    pub simulated: String,
    pub rows: Vec<WhatIfRow>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct WhatIfRow {
    pub line: u32,
    pub share: Vec<f64>,
    pub d: f64,
}

/// Tables 5.2 to 5.5 and A.3 to A.6: a matrix and the classes made from it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Cbench {
    pub machine: String,
    pub quantity: Quantity,
    /// What the record's cases run.
    pub kernel: String,
    pub classes_table: String,
    pub matrix_table: String,
    pub unit: Unit,
    pub matrix_decimals: u8,
    pub class_decimals: u8,
    pub alpha_decimals: u8,
    /// CPU node, memory node.
    pub columns: Vec<(u32, u32)>,
    pub rows: Vec<CbenchRow>,
    pub max: Vec<f64>,
    pub alpha: Vec<f64>,
}

/// What a matrix is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Quantity {
    /// Accesses to memory.
    Memory,
    /// Host to device.
    Download,
    /// Device to host.
    Readback,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct CbenchRow {
    /// The build of STREAM, or the device.
    pub variant: String,
    pub values: Vec<f64>,
}

/// The two directions of a pair that differ.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Asymmetry {
    pub section: String,
    pub machine: String,
    pub unit: Unit,
    pub decimals: u8,
    pub rows: Vec<AsymmetryRow>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct AsymmetryRow {
    pub cpu_node: u32,
    pub memory_node: u32,
    pub value: f64,
}

words!(Quantity);

impl Threads {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::One => "one thread",
            Self::All => "all threads",
        }
    }
}

impl Facts {
    pub(super) fn check_digits(&self) -> Result<(), String> {
        for matrix in &self.cbench {
            let Cbench { classes_table, matrix_table, columns, .. } = matrix;
            if matrix.max.len() != matrix.alpha.len() {
                return Err(format!("table {classes_table} has not one alpha for each class"));
            }
            for row in &matrix.rows {
                if row.values.len() != columns.len() {
                    return Err(format!(
                        "table {matrix_table}, {}: not one value for each column",
                        row.variant
                    ));
                }
                all_printed(matrix_table, &row.values, matrix.matrix_decimals)?;
            }
            all_printed(classes_table, &matrix.max, matrix.class_decimals)?;
            all_printed(classes_table, &matrix.alpha, matrix.alpha_decimals)?;
        }
        let statistics = &self.run_statistics;
        for row in &statistics.rows {
            all_printed(&statistics.table, &[row.mean], statistics.mean_decimals)?;
            all_printed(&statistics.table, &[row.sd, row.low, row.high], statistics.decimals)?;
        }
        for of in &self.class_tables {
            let streams = of.streams.iter().map(|stream| &stream.max);
            for values in streams.chain(of.transfers.iter().map(|transfer| &transfer.max)) {
                all_printed(&of.table, values, of.decimals)?;
            }
        }
        for of in &self.alpha_tables {
            for Alphas { alpha, .. } in of.streams.iter().chain(&of.transfers) {
                all_printed(&of.table, alpha, of.decimals)?;
            }
        }
        Ok(())
    }
}

/// Whether values can have been printed with so few digits.
fn all_printed(table: &str, values: &[f64], decimals: u8) -> Result<(), String> {
    let unit = Printed { value: 0.0, decimals }.half_unit() * 2.0;
    let odd = |value: &&f64| {
        let units = **value / unit;
        (units - units.round()).abs() > 1e-6
    };
    match values.iter().find(odd) {
        None => Ok(()),
        Some(value) => Err(format!("table {table} prints {decimals} decimals, but holds {value}")),
    }
}
