//! What `papers/saad2022.json` holds, and that its numbers fit together.

use serde::Deserialize;

use crate::printed::{Printed, Unit};

/// What `papers/saad2022.json` holds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    pub(super) sharing: SharingTables,
    pub(super) limits: Limits,
    pub(super) best_split: BestSplit,
    /// Other kernels by one and by several threads.
    pub(super) kernels: KernelTable,
}

/// The tables of bandwidth: rows are 0 to 4 local processes, columns 0 to 4 remote ones.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct SharingTables {
    pub machine: String,
    pub kernel: String,
    pub unit: Unit,
    pub decimals: u8,
    pub total: [[f64; 5]; 5],
    pub local: [[f64; 5]; 5],
    pub remote: [[f64; 5]; 5],
    pub remote_per_core: [[f64; 5]; 5],
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Limits {
    pub unit: Unit,
    pub decimals: u8,
    pub local: f64,
    pub remote: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct BestSplit {
    pub unit: Unit,
    /// Digits behind the point of the totals.
    pub decimals: u8,
    pub processes: u32,
    pub local: u32,
    pub remote: u32,
    pub total: f64,
    /// What they get when all are local.
    pub all_local: f64,
    /// Of the best split over all local, percent.
    pub gain: f64,
    /// Of one local and one remote process over two local ones, percent.
    pub gain_of_two_processes: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct KernelTable {
    pub unit: Unit,
    pub columns: Vec<String>,
    /// One for each kernel by one and by several threads.
    pub rows: Vec<KernelRow>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct KernelRow {
    /// `single` or `multi`.
    pub threads: String,
    pub kernel: String,
    pub values: Vec<f64>,
}

impl Facts {
    pub(super) fn check_fit(&self) -> Result<(), String> {
        for row in &self.kernels.rows {
            if row.values.len() != self.kernels.columns.len() {
                return Err(format!("{} has {} values", row.kernel, row.values.len()));
            }
        }
        self.sharing.check()?;
        self.check_limits()?;
        let split = &self.best_split;
        if split.local + split.remote != split.processes {
            return Err(format!("{} processes are split otherwise", split.processes));
        }
        let tables = &self.sharing;
        let total = |n: u32, m: u32| tables.total.get(n as usize)?.get(m as usize).copied();
        for (n, m, printed) in
            [(split.local, split.remote, split.total), (split.processes, 0, split.all_local)]
        {
            let half = Printed { value: printed, decimals: split.decimals };
            if !total(n, m).is_some_and(|total| half.is_rounded(total)) {
                return Err(format!("the table of totals has no {printed} at {n} and {m}"));
            }
        }
        Ok(())
    }

    /// A limit is the most that a group moves alone.
    fn check_limits(&self) -> Result<(), String> {
        let (limits, tables) = (&self.limits, &self.sharing);
        let ratio = limits.unit.bytes_per_s() / tables.unit.bytes_per_s();
        let local = tables.total.iter().map(|row| row[0]).fold(0.0, f64::max);
        let remote = tables.total[0].iter().copied().fold(0.0, f64::max);
        for (limit, most) in [(limits.local, local), (limits.remote, remote)] {
            let printed = Printed { value: limit, decimals: limits.decimals };
            if !printed.is_rounded(most / ratio) {
                return Err(format!("{limit} is not the most that a group moves alone: {most}"));
            }
        }
        Ok(())
    }
}

impl SharingTables {
    /// Local and remote make the total, and the remote one's processes it, as far as digits tell.
    fn check(&self) -> Result<(), String> {
        let half = Printed { value: 0.0, decimals: self.decimals }.half_unit();
        for (n, m) in self.places() {
            let [total, local, remote, each] =
                [&self.total, &self.local, &self.remote, &self.remote_per_core]
                    .map(|table| table[n][m]);
            let is_empty = [(total, n + m), (local, n), (remote, m), (each, m)];
            if is_empty.iter().any(|&(value, processes)| (value == 0.0) != (processes == 0)) {
                return Err(format!("{n} local and {m} remote: a group without processes"));
            }
            if (local + remote - total).abs() > 3.0 * half {
                return Err(format!("{n} local and {m} remote: {local} + {remote} is not {total}"));
            }
            let processes = m as f64;
            if (each * processes - remote).abs() > half * (processes + 1.0) {
                return Err(format!("{n} local and {m} remote: {remote} is not {m} x {each}"));
            }
        }
        Ok(())
    }

    /// All cells, by local and then by remote processes.
    pub(super) fn places(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        (0..5).flat_map(|n| (0..5).map(move |m| (n, m)))
    }
}
