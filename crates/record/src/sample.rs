//! A sample: one window of one case.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::disturbance::Disturbance;

/// One window of one case: what every thread moved in it, where the pages were,
/// and what disturbed it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// The case, by its id.
    pub case: String,
    /// Counts the samples of the record from 0.
    pub sequence: u64,
    /// The pass over all cases, from 0, with fresh buffers and threads.
    pub round: u32,
    /// The window within the round, from 0.
    pub window: u32,
    /// When the window opened, ns by CLOCK_MONOTONIC since this run of the program began.
    pub start_ns: u64,
    /// Length of the window, the same for all threads.
    pub window_ns: u64,
    /// In the order of the case's actors.
    pub actors: Vec<ActorSample>,
    /// What disturbed the window; such a sample is kept and left out of statistics.
    pub disturbances: Vec<Disturbance>,
}

/// What one actor did in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActorSample {
    /// Kernel that ran.
    pub kernel: String,
    /// Instruction-set variant that ran.
    pub variant: String,
    /// Vectors (or elements, for the portable variant) per turn of its loop.
    pub unroll: u32,
    /// Bytes that the program asked for (STREAM's convention), all threads.
    pub useful_bytes: u64,
    /// The least that can have crossed between the last cache and memory.
    pub traffic_bytes_min: u64,
    /// The most, reading of lines before they are written included.
    pub traffic_bytes_max: u64,
    /// Why the two differ, or that they do not.
    pub traffic_method: TrafficMethod,
    /// Floating-point operations.
    pub flops: u64,
    /// Elements (f64) loaded and stored.
    pub accesses: u64,
    /// In the order of the threads.
    pub threads: Vec<ThreadSample>,
    /// Where the pages were.
    pub proof: Proof,
    /// Sizes of the pages that were got.
    pub page_sizes: PageSizes,
}

/// How traffic follows from useful bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrafficMethod {
    /// Loads and non-temporal stores only: traffic equals useful bytes.
    Nt,
    /// Ordinary stores on a CPU known to read the line first.
    Allocate,
    /// Ordinary stores on a CPU that sometimes avoids that read, or is unknown.
    EvasionPossible,
    /// Counted by the machine.
    Counted,
}

/// What one thread did in the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadSample {
    /// CPU at the window's begin; null when the kernel does not say.
    pub cpu_before: Option<u32>,
    /// CPU at its end; null when the kernel does not say.
    pub cpu_after: Option<u32>,
    /// Bytes that its kernel asked for in the window.
    pub useful_bytes: u64,
    /// Full passes over its slices since they were touched, at the window's end.
    pub passes: u64,
    /// Times the kernel took the CPU away.
    pub involuntary_switches: u64,
    /// Time in the window for which the thread had no CPU, ns.
    pub off_cpu_ns: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
}

/// Where an actor's pages were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// Before the window, after the pages were touched.
    pub before: PageNodes,
    /// After the case's last window of the round.
    pub after: PageNodes,
}

/// Who said where the pages were, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofMethod {
    /// The query of move_pages(2), page by page.
    MovePages,
    /// get_mempolicy(2) with an address, page by page.
    GetMempolicy,
    /// /proc/self/numa_maps, by mapping.
    NumaMaps,
    /// The process may use one node only.
    OneAllowedNode,
    /// A simulated machine has no pages.
    Simulated,
}

/// The nodes of pages, as the kernel said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageNodes {
    /// Who said it.
    pub method: ProofMethod,
    /// The unit that was asked for, bytes.
    pub page_bytes: u64,
    /// Pages on each node.
    pub pages: BTreeMap<u32, u64>,
    /// Pages that were not present or whose node the kernel did not say.
    pub unknown: u64,
}

/// At least this fraction of an actor's pages must be where its policy puts them.
pub const PLACED_FRACTION: f64 = 0.999;

impl PageNodes {
    /// Fraction of the pages that are on one node.
    #[must_use]
    pub fn fraction_on(&self, node: u32) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "page counts are far below 2^53")]
        let as_float = |pages: u64| pages as f64;
        let total: f64 =
            self.pages.values().map(|&pages| as_float(pages)).sum::<f64>() + as_float(self.unknown);
        let on_node = as_float(self.pages.get(&node).copied().unwrap_or(0));
        if total > 0.0 { on_node / total } else { 0.0 }
    }
}

/// Sizes of the pages that were got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageSizes {
    /// Bytes backed by huge pages, transparent or reserved; null when the system does not say.
    pub huge_bytes: Option<u64>,
    /// Bytes that are present in memory; null when the system does not say.
    pub resident_bytes: Option<u64>,
}

impl Sample {
    /// Whether anything disturbed the window.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        !self.disturbances.is_empty()
    }
}

impl ProofMethod {
    /// The method as it stands in the record.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MovePages => "move_pages",
            Self::GetMempolicy => "get_mempolicy",
            Self::NumaMaps => "numa_maps",
            Self::OneAllowedNode => "one_allowed_node",
            Self::Simulated => "simulated",
        }
    }
}
