//! A sample: one window of one case.

use std::collections::BTreeMap;

use nearfar_machine::{MemoryPolicy, NodeSet};
use nearfar_units::words;
use serde::{Deserialize, Serialize};

use crate::command::CommandRun;
use crate::cpu_distance::CpuDistance;
use crate::disturbance::Disturbance;
use crate::messages::MessageSample;
use crate::transfer::TransferSample;
use crate::workload_run::WorkloadRun;

/// One window of one case: what every thread moved in it, where the pages were,
/// and what disturbed it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// The case, by its id.
    pub case: String,
    /// Counts the samples of the record from 0.
    pub sequence: u64,
    /// The pass over all cases, from 0, with buffers touched anew and fresh threads.
    pub round: u32,
    /// The window within the round, from 0.
    pub window: u32,
    /// When the window opened, since this run of the program began to measure (CLOCK_MONOTONIC);
    /// begins anew after `resumed`.
    pub start_ns: u64,
    /// Length of the window, the same for all threads.
    pub window_ns: u64,
    /// What each did, in the order of the case's actors; empty for a program and a workload.
    pub actors: Vec<ActorSample>,
    /// What was seen of one run of a program, whose time is `window_ns`; null where the case runs
    /// none.
    pub run: Option<CommandRun>,
    /// What was seen of one run of a workload, whose timed part is `window_ns`; null where the case
    /// runs none.
    #[serde(default)]
    pub workload: Option<Box<WorkloadRun>>,
    /// How far two of its CPUs were from each other; null where the case is no chase and no program beside
    /// streams, and where the two did not meet. Programs that never looked left it out.
    #[serde(default)]
    pub cpu_distance: Option<CpuDistance>,
    /// What disturbed the window; such a sample is kept and left out of statistics. Empty when
    /// nothing did.
    pub disturbances: Vec<Disturbance>,
}

/// What one actor did in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ActorSample {
    /// Kernel, mix or arithmetic that ran; `chase` of a chase.
    pub kernel: String,
    /// Instruction-set variant that ran; `scalar` of a chase.
    pub variant: String,
    /// Vectors (elements of the portable variant) in one turn of its loop.
    pub unroll: u32,
    /// What the program asked for (STREAM's count), all threads.
    pub useful_bytes: u64,
    /// The least that can have crossed between the last cache and memory.
    pub traffic_bytes_min: u64,
    /// The most, reading of lines before they are written included.
    pub traffic_bytes_max: u64,
    pub traffic_method: TrafficMethod,
    /// Floating-point operations, all threads.
    pub flops: u64,
    /// Elements of 8 bytes loaded and stored, all threads; of a chase its loads.
    pub accesses: u64,
    /// What each thread did.
    pub threads: Vec<ThreadSample>,
    /// Where the pages were; null for an actor that touches no memory.
    pub proof: Option<Proof>,
    /// Where the pages of the array that is written were, where it has a policy of its own;
    /// `proof` is of the others then. Else null.
    pub write_proof: Option<Proof>,
    /// Sizes of the pages that were got.
    pub page_sizes: PageSizes,
    /// What was seen of a transfer from a look before the window to one after it: whole copies,
    /// also those that cross an edge. Null where the actor is none.
    #[serde(default)]
    pub transfer: Option<TransferSample>,
    /// What was seen of messages, so as well. Null where the actor sends and receives none.
    #[serde(default)]
    pub messages: Option<MessageSample>,
}

impl ActorSample {
    /// Of each byte that a device copies this many can cross between the last cache and memory:
    /// itself, and where the host's pages are pageable, the driver's own write and read of it.
    pub const MOST_DEVICE_TRAFFIC: u64 = 3;
    /// Of each byte of a message this many can: the kernel reads it and writes it elsewhere, for which it
    /// may read that line first, and the adapter reads or writes it.
    pub const MOST_NETWORK_TRAFFIC: u64 = 4;
}

/// How traffic follows from useful bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TrafficMethod {
    /// Loads and non-temporal stores only: traffic equals useful bytes.
    Nt,
    /// Each access fetches a line of 64 bytes (a chase).
    Lines,
    /// Caches can have answered everything, so that the least is 0.
    Cached,
    /// A device copies; caches may answer it, and the driver may copy pageable memory once more.
    Device,
    /// The kernel copies messages, and an adapter reads or writes them; caches may answer it.
    Network,
    /// Ordinary stores on a CPU known to read the line first.
    Allocate,
    /// Ordinary stores on a CPU that sometimes avoids that read, or is not known; non-temporal ones
    /// that are hints, as on AArch64.
    EvasionPossible,
    /// By the machine's counters.
    Counted,
}

/// What one thread did in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ThreadSample {
    /// CPU when the window opened; null: the operating system does not say.
    pub cpu_before: Option<u32>,
    /// CPU when it closed; null as above.
    pub cpu_after: Option<u32>,
    /// What its loop asked for in the window.
    pub useful_bytes: u64,
    /// Floating-point operations of its loop in the window.
    pub flops: u64,
    /// Full passes over its slices since they were touched, at the window's end; of
    /// arithmetic on registers, calls of its loop.
    pub passes: u64,
    /// Clock of its core, by additions that wait for each other, before and after the windows of
    /// the round; null where it was not looked at: only cases of caches, of arithmetic and with a
    /// chase have it.
    pub core_ghz: Option<f64>,
    /// Times that the operating system took the CPU away in the window.
    pub involuntary_switches: u64,
    /// Time in the window for which the thread had no CPU.
    pub off_cpu_ns: u64,
    /// Page faults without I/O in the window.
    pub minor_faults: u64,
}

impl ThreadSample {
    /// A thread that stayed on its CPU in a window in which nothing disturbed it; `cpu` is null
    /// where nobody says which.
    pub fn quiet(cpu: Option<u32>, useful_bytes: u64, flops: u64) -> Self {
        Self {
            cpu_before: cpu,
            cpu_after: cpu,
            useful_bytes,
            flops,
            passes: 1,
            core_ghz: None,
            involuntary_switches: 0,
            off_cpu_ns: 0,
            minor_faults: 0,
        }
    }
}

/// Where an actor's pages were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// After the pages were touched, before the window.
    pub before: PageNodes,
    /// After the case's last window of the round.
    pub after: PageNodes,
}

/// Who said where the pages were, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PageNodes {
    /// Who said it; the strongest is the first word.
    pub method: ProofMethod,
    /// The unit of the count, not the size of what backs it.
    pub page_bytes: u64,
    /// Pages on each node; nodes without pages are left out.
    pub pages: BTreeMap<u32, u64>,
    /// Pages that were not present or whose node was not said.
    pub unknown: u64,
}

/// At least this fraction of an actor's pages must be where its policy puts them.
pub const PLACED_FRACTION: f64 = 0.999;

impl PageNodes {
    /// Fraction of the pages that are on one node.
    pub fn fraction_on(&self, node: u32) -> f64 {
        let as_float = |pages: u64| pages as f64;
        let total: f64 =
            self.pages.values().map(|&pages| as_float(pages)).sum::<f64>() + as_float(self.unknown);
        let on_node = as_float(self.pages.get(&node).copied().unwrap_or(0));
        if total > 0.0 { on_node / total } else { 0.0 }
    }
}

/// Shares of pages that are dealt out over nodes are kept within this fraction of all, or
/// within two base pages for each thread and one page of the whole where that is more.
pub const SHARE_TOLERANCE: f64 = 0.02;

/// Where such a slack is more than this fraction of all, shares mean nothing.
const COARSEST_SHARES: f64 = 0.1;

const LARGEST_BASE_PAGE: u64 = 64 << 10;

impl PageNodes {
    /// In what these pages of an actor with this many threads are not where the policy puts
    /// them; `None` where they are.
    pub fn misplacement(
        &self,
        policy: &MemoryPolicy,
        allowed: &NodeSet,
        threads: u32,
    ) -> Option<String> {
        let asked = policy.nodes().unwrap_or_else(|| allowed.clone());
        let placed: f64 = asked.iter().map(|node| self.fraction_on(node)).sum();
        if placed < PLACED_FRACTION {
            return Some(format!(
                "{:.1} % of the pages are on the nodes {asked} of mem={policy}",
                placed * 100.0
            ));
        }
        let shares = policy.interleave_shares()?;
        let bytes = self.pages.values().fold(0, |sum, pages| u64::saturating_add(sum, *pages))
            as f64
            * self.page_bytes as f64;
        let page = self.page_bytes.min(LARGEST_BASE_PAGE);
        let slack = (2 * u64::from(threads) * page + self.page_bytes) as f64 / bytes;
        if slack > COARSEST_SHARES {
            return Some(format!(
                "{threads} threads have {bytes} bytes together, too few pages for mem={policy}"
            ));
        }
        let off = shares.iter().find(|&(&node, &share)| {
            let difference = self.fraction_on(node) - share;
            difference.abs() > SHARE_TOLERANCE.max(slack)
        });
        off.map(|(&node, &share)| {
            format!(
                "{:.1} % of the pages are on node {node}, {:.1} % should be by mem={policy}",
                self.fraction_on(node) * 100.0,
                share * 100.0
            )
        })
    }
}

/// Sizes of the pages that were got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PageSizes {
    /// Bytes backed by huge pages, transparent or reserved; null when the system does not say.
    pub huge_bytes: Option<u64>,
    /// Bytes that are present in memory; null when the system does not say.
    pub resident_bytes: Option<u64>,
}

impl Sample {
    /// Whether anything disturbed the window.
    pub fn is_disturbed(&self) -> bool {
        !self.disturbances.is_empty()
    }
}

words!(ProofMethod);
