//! What became of a running process whose memory was moved: what `nearfar move` tells.

use std::collections::BTreeMap;
use std::fmt;

use nearfar_sys::Refusal;
use nearfar_units::Bytes;
use serde::Serialize;

use crate::file_list::StayedPages;
use crate::report::{PlacementVerdict, TOLERANCE};

/// Why nothing was moved.
#[derive(Debug, thiserror::Error)]
pub enum NotMoved {
    #[error("there is no process {0}; nearfar ps and pgrep NAME tell numbers")]
    NoSuchProcess(u32),
    /// It ended while it was moved.
    #[error("process {0} ended while its memory was moved")]
    Ended(u32),
    #[error("{0} is this nearfar itself, which allocates while it moves; name another process")]
    Itself(u32),
    #[error(
        "process {0} belongs to another user, or is protected from its own (PR_SET_DUMPABLE, a namespace); \
         only root with CAP_SYS_PTRACE may move its memory: sudo nearfar move"
    )]
    NotPermitted(u32),
    /// As the kernel's own processes, and those that have ended and not been waited for.
    #[error(
        "process {0} has no memory: it is the kernel's own, or has ended (ps -o stat,comm {0}); \
         name a program's"
    )]
    NoMemory(u32),
    /// Its cpuset forbids a node.
    #[error(
        "process {pid} may not have memory on node {node}: its cpuset allows nodes {allowed} \
         (Mems_allowed_list in /proc/{pid}/status); name those, or widen its cpuset"
    )]
    NodeNotAllowed { pid: u32, node: u32, allowed: String },
    /// A filter of system calls, as containers have.
    #[error(
        "move_pages(2) is forbidden here: {0}; Docker's default profile does so, with and without \
         SYS_NICE: run nearfar on the host, or give the container a profile that allows the call \
         (--security-opt seccomp=FILE)"
    )]
    CallForbidden(String),
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The kernel refused half-way.
    #[error("{why}; {undone}")]
    Undone { why: Box<NotMoved>, undone: UndoneMove },
}

/// A running process whose memory was moved; `move --json` prints it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MovedProcess {
    pub schema: &'static str,
    pub pid: u32,
    /// Its arguments, the program's name first.
    pub command: Vec<String>,
    /// The placement that was asked for, as the user wrote it.
    pub placement: String,
    /// The share of each node that this asks for.
    pub asked_shares: BTreeMap<u32, f64>,
    /// Memory that no other process maps, by node, bytes, before: its own; with --files also what it maps
    /// of files and shared memory. Null where a signal came before all was counted.
    pub before_bytes_by_node: Option<BTreeMap<u32, u64>>,
    /// The same afterwards.
    pub bytes_by_node: BTreeMap<u32, u64>,
    /// What of this is on nodes that the kernel does not tell, afterwards, bytes.
    pub unknown_bytes: u64,
    /// What of this is on another node than it belongs to, afterwards, bytes.
    pub astray_bytes: u64,
    /// Why pages did not move, as the kernel said; what is astray beyond that was allocated meanwhile.
    pub stayed: Vec<StayedPages>,
    /// What is swapped out, which is on no node and comes back where its policy puts it, bytes; null where the
    /// kernel does not tell.
    pub swapped_bytes: Option<u64>,
    /// What other processes map too, which is left where it is, bytes.
    pub shared_bytes: u64,
    /// Moved, bytes.
    pub moved_bytes: u64,
    /// How long that took, s.
    pub seconds: f64,
    /// At most so much was to be moved in a second, bytes.
    pub most_bytes_per_second: f64,
    /// Threads that were given the placement's CPUs.
    pub threads: usize,
    /// Whether all memory that it maps and that counts is where it was asked for, as `run --report` judges it;
    /// null where it was interrupted, or has none.
    pub verdict: Option<PlacementVerdict>,
    /// Whether this leaves out more than a tenth of what it maps, because files were changed in part and the kernel
    /// does not tell on which nodes these are.
    pub is_partial: bool,
    /// What was moved back when it was interrupted; null where it came to its end.
    pub undone: Option<UndoneMove>,
    /// What else is to be known, in sentences.
    pub notes: Vec<String>,
}

/// What was moved back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UndoneMove {
    /// Where it was before, bytes.
    pub back_bytes: u64,
    /// What could not be moved back, or is not known to be, bytes; what was freed meanwhile is none.
    pub not_back_bytes: u64,
    /// Threads that could not be given back the CPUs that they had.
    pub confined_threads: usize,
}

impl fmt::Display for UndoneMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let back = Bytes(self.back_bytes);
        match self.not_back_bytes {
            0 => write!(f, "what was moved, {back}, is back")?,
            bytes => {
                write!(f, "{back} is back where it was, {} could not be moved back", Bytes(bytes))?
            }
        }
        match self.confined_threads {
            0 => Ok(()),
            threads => write!(
                f,
                "; of its threads {threads} could not be given back their CPUs: taskset -a -c -p CPUS PID"
            ),
        }
    }
}

impl MovedProcess {
    /// What no other process maps, afterwards.
    pub fn bytes(&self) -> u64 {
        self.bytes_by_node.values().copied().fold(self.unknown_bytes, u64::saturating_add)
    }

    /// The share of its memory that is not, or is not known to be, where it belongs; `None` where it has
    /// none.
    pub fn astray_share(&self) -> Option<f64> {
        let bytes = self.bytes();
        let astray = self.astray_bytes.saturating_add(self.unknown_bytes);
        (bytes > 0).then(|| astray as f64 / bytes as f64)
    }

    /// Whether its memory is as it was asked for, about: page by page its own, and in all what it maps.
    pub fn is_as_asked(&self) -> bool {
        self.undone.is_none()
            && self.astray_share().is_none_or(|share| share <= TOLERANCE)
            && self.verdict.as_ref().is_some_and(|verdict| verdict.is_as_asked)
    }
}
