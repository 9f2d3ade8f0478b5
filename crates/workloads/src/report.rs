//! What is told of one run.

use nearfar_record::{ArrayPlacement, WorkloadRun};
use serde::Serialize;

use crate::bfs::SearchStatistics;
use crate::run::Ran;
use crate::workload::Workload;

/// A run of a workload; `workload NAME --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkloadReport {
    pub schema: &'static str,
    /// Its name and size, as `cg.A`.
    pub workload: String,
    pub threads: usize,
    /// The CPU of each thread.
    pub cpus: Vec<u32>,
    /// By what its pages were placed.
    pub placement: ArrayPlacement,
    /// `unit`s of the run / second.
    pub rate: f64,
    /// Whether its result is the known one.
    pub is_verified: bool,
    pub run: WorkloadRun,
    /// What Graph500 prints of the searches that a run was made of; null where it made none.
    pub searches: Option<SearchStatistics>,
}

impl WorkloadReport {
    pub fn new(workload: Workload, cpus: Vec<u32>, placement: ArrayPlacement, ran: Ran) -> Self {
        let Ran { run, searches } = ran;
        Self {
            schema: "nearfar.workload/1",
            workload: workload.to_string(),
            threads: cpus.len(),
            cpus,
            placement,
            rate: run.rate(),
            is_verified: run.is_verified(),
            run,
            searches,
        }
    }
}
