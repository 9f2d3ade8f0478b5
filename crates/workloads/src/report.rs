//! What is told of one run.

use nearfar_record::{ArrayPlacement, Outcome, WorkloadRun};
use serde::Serialize;

use crate::bfs::SearchStatistics;
use crate::run::Ran;
use crate::simulated_cache::LastLevelCounts;
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
    /// Misses of the last-level cache in the timed part; null where they were not asked for.
    pub last_level: Option<Outcome<LastLevelMisses>>,
}

/// What of a run's timed part the last-level cache missed, in lines.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LastLevelMisses {
    pub by: MissSource,
    /// Accesses that reached it.
    pub accesses: f64,
    /// Those that it missed.
    pub misses: f64,
    /// Misses / accesses; null without accesses.
    pub miss_rate: Option<f64>,
    /// By phase, as far as they are simulated.
    pub phases: Vec<PhaseMisses>,
}

/// Who knows of misses.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MissSource {
    /// The CPUs' counters.
    Counted {
        /// The events of accesses and misses by their makers' names.
        events: Vec<String>,
    },
    /// A run of its own below Valgrind's callgrind, which has one cache for all threads and no prefetcher.
    Simulated {
        /// Of the last level.
        cache_bytes: u64,
        /// Why they were not counted.
        not_counted: String,
    },
}

/// What a simulated last level was asked for in a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhaseMisses {
    /// Empty for what lies between phases.
    pub phase: String,
    #[serde(flatten)]
    pub counts: LastLevelCounts,
}

impl LastLevelMisses {
    pub fn new(by: MissSource, accesses: f64, misses: f64, phases: Vec<PhaseMisses>) -> Self {
        let miss_rate = (accesses > 0.0).then(|| misses / accesses);
        Self { by, accesses, misses, miss_rate, phases }
    }
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
            last_level: None,
        }
    }
}
