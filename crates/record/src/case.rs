//! A case: the actors that run at the same time, and the case's place in one or
//! more experiments.

use nearfar_machine::{Binding, InitiatorKind};
use serde::{Deserialize, Serialize};

/// Actors that run together, measured over a common window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Unique in the record, made from the coordinates:
    /// `pairs/cluster0/node1/triad_nt/avx512/t4`.
    pub id: String,
    /// Where the case stands in which experiments.
    pub coordinates: Vec<Coordinates>,
    /// What moves data.
    pub actors: Vec<Actor>,
}

/// A case's place in an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "experiment", rename_all = "snake_case", deny_unknown_fields)]
pub enum Coordinates {
    /// One initiator reads or writes one memory node (braithwaite2012, algorithm 1).
    Pairs {
        /// How CPUs were grouped.
        initiator: InitiatorKind,
        /// The initiator's number among its kind.
        index: u32,
        /// The cluster that it belongs to.
        cluster: u32,
        /// The lowest node with CPUs of that cluster.
        cpu_node: Option<u32>,
        /// The node that is accessed.
        memory_node: u32,
        /// Kernel by its catalog name.
        kernel: String,
        /// Instruction-set variant by its name.
        variant: String,
        /// Threads.
        threads: u32,
        /// Whether the case chooses variants or is part of the matrix.
        stage: Stage,
    },
}

/// Rounds by which variants are screened; the choice needs an order, not an interval.
pub const SCREENING_ROUNDS: u32 = 3;

/// What a case's samples are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Finds the best variants of a kernel on a few pairs.
    Screening,
    /// Part of the result.
    Matrix,
}

/// What moves data in a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "actor", rename_all = "snake_case", deny_unknown_fields)]
pub enum Actor {
    /// Threads that run a kernel over arrays, again and again.
    Stream(Stream),
}

/// Threads that run a kernel over arrays. Each thread has its own slice of every
/// array, as in a statically divided loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Kernel by its catalog name.
    pub kernel: String,
    /// Instruction-set variant by its name.
    pub variant: String,
    /// CPUs of the threads and policy of the pages.
    pub binding: Binding,
    /// Number of threads.
    pub threads: u32,
    /// How threads are tied to CPUs.
    pub pinning: Pinning,
    /// The CPU of each thread; empty when unbound.
    pub thread_cpus: Vec<u32>,
    /// Bytes of all arrays of all threads.
    pub working_set_bytes: u64,
    /// Working set / sum of the last-level and memory-side caches involved; null
    /// where their size is unknown. Below 4 a cache may have served a part.
    pub llc_multiple: Option<f64>,
    /// Pages that are asked for.
    pub pages: Pages,
}

/// How threads are tied to CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pinning {
    /// Each thread on one CPU, no two on one core.
    OnePerCore,
    /// Each thread on one CPU; cores may carry several.
    OnePerPu,
    /// Threads may use any CPU of the binding.
    Unbound,
}

/// Pages that are asked for; what was got is in each sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pages {
    /// Base pages only (4 KiB on x86-64).
    Small,
    /// Transparent huge pages.
    Transparent,
    /// 2 MiB pages from the reserved pool (hugetlb).
    Huge,
}

impl Case {
    /// Threads of all actors.
    #[must_use]
    pub fn threads(&self) -> u32 {
        self.actors.iter().map(|Actor::Stream(stream)| stream.threads).sum()
    }
}
