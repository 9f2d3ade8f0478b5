//! What is told of running processes whose memory lies far from where they run.

use std::collections::BTreeMap;

use nearfar_machine::{CpuSet, NodeSet};
use nearfar_sys::Refusal;
use serde::Serialize;

use crate::mending::Mending;

/// Why no processes are told of.
#[derive(Debug, thiserror::Error)]
pub enum NotListed {
    /// One that was named is not there.
    #[error("there is no process {0}")]
    NoSuchProcess(u32),
    /// One that was named may not be looked into.
    #[error(
        "process {0} belongs to another user, or is protected from its own (PR_SET_DUMPABLE, a namespace); \
         only root with CAP_SYS_PTRACE may look: sudo nearfar ps --pid {0}"
    )]
    NotPermitted(u32),
    /// It, or /proc, cannot be read.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// Running processes whose memory lies far from where they run; `ps --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessList {
    pub schema: &'static str,
    /// Nodes with memory. Of one alone nothing is far, and no process is looked at but those that are named.
    pub nodes: Vec<ListedNode>,
    /// Processes with far memory, those with most of it first; where all are asked for, or some by
    /// their numbers, then those that are fine, the largest first.
    pub processes: Vec<ListedProcess>,
    /// How many processes were looked at, and of how many the memory is far.
    pub looked_at: usize,
    pub far: usize,
    /// Processes that were passed over.
    pub passed_over: PassedOver,
    /// From how many bytes on memory counts as far, and from which share of a process's memory on.
    pub least_far_bytes: u64,
    pub least_far_share: f64,
}

/// A memory node and the processes that were looked at. Memory that several share counts for each.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedNode {
    pub node: u32,
    /// The CPUs near it.
    pub cpus: CpuSet,
    /// What processes have there, bytes.
    pub bytes: u64,
    /// What processes have there that is far from where they run, bytes.
    pub far_bytes: u64,
}

/// A process and where its memory is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedProcess {
    pub pid: u32,
    /// The name of its user, or the number.
    pub user: String,
    /// Its arguments, the program's name first.
    pub command: Vec<String>,
    /// Its memory by node, files and shared memory that it maps included, bytes.
    pub bytes_by_node: BTreeMap<u32, u64>,
    pub threads: usize,
    /// The CPUs that its threads may use.
    pub cpus_allowed: CpuSet,
    /// The CPUs that its threads ran on last, of those that ever ran.
    pub cpus_last: CpuSet,
    /// The nodes near these.
    pub running_on: NodeSet,
    /// Of its memory by node what no CPU time near it accounts for, bytes.
    pub far_bytes_by_node: BTreeMap<u32, u64>,
    /// The share of its memory that this is: at least this share of its accesses is remote, if threads
    /// access as much as they have CPU time, and all pages as often.
    pub far_share: f64,
    /// Whether that is much.
    pub is_far: bool,
    /// What mends it; null where it is fine.
    pub mending: Option<Mending>,
}

impl ListedProcess {
    /// Nothing of it is far: there is no other node that it could run near.
    pub(crate) fn lies_near(&mut self) {
        self.far_bytes_by_node.clear();
        (self.far_share, self.is_far, self.mending) = (0.0, false, None);
    }
}

/// Processes that were passed over, by why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PassedOver {
    /// They have little memory.
    pub small: usize,
    /// This user may not look into them: they belong to others.
    pub not_permitted: usize,
    /// Whether it is root who may not, as in a container without CAP_SYS_PTRACE.
    pub is_root: bool,
    /// Whether processes of others are hidden from this user, however many there are.
    pub are_others_hidden: bool,
    /// The time was over.
    pub out_of_time: usize,
    /// Memory that these have by the kernel's counters, bytes.
    pub out_of_time_bytes: u64,
    /// They could not be looked at for another reason.
    pub failed: usize,
    /// That of the first of them; null where there is none.
    pub first_failure: Option<String>,
}
