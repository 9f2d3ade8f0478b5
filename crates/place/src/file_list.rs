//! Files, where what is in memory of them is, and what became of them: what `nearfar files` tells.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::program_memory::{largest_deviation, shares, total};
use crate::report::TOLERANCE;

/// What of files is in memory, and on which nodes.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileList {
    pub schema: &'static str,
    /// The placement that was asked for, as the user wrote it; null where none was.
    pub placement: Option<String>,
    /// The share of each node that this asks for.
    pub asked_shares: Option<BTreeMap<u32, f64>>,
    /// What was asked about, the largest in memory first.
    pub files: Vec<ListedFile>,
    /// Processes that were not let be looked into: whether they map the files is not known.
    pub processes_not_permitted: usize,
}

/// A file and what of it is in memory.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedFile {
    pub path: String,
    /// What keeps it; null where it could not be opened.
    pub kind: Option<FileKind>,
    /// Its length, bytes.
    pub bytes: Option<u64>,
    /// What of it is in memory; null where that is not known.
    pub in_memory: Option<FileMemory>,
    /// Why that is not known, and what to do about it.
    pub absent: Option<String>,
    /// Processes that map it, of those that this user may look into.
    pub mapped_by: Vec<FileUser>,
    /// What was done to it; null where nothing was to be done.
    pub change: Option<FileChange>,
}

/// What keeps a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A disk or a network: what is in memory is a copy.
    Storage,
    /// Memory: tmpfs, POSIX shared memory, memfd_create(2).
    SharedMemory,
    /// Memory in huge pages: hugetlbfs.
    HugePages,
}

/// What of a file is in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileMemory {
    /// By node, bytes.
    pub bytes_by_node: BTreeMap<u32, u64>,
    /// On nodes that the kernel did not tell, bytes.
    pub unknown_bytes: u64,
    /// In huge pages, bytes; null where the kernel does not tell.
    pub huge_bytes: Option<u64>,
    /// Written and not on the disk yet, bytes; null where the kernel does not tell.
    pub dirty_bytes: Option<u64>,
    /// Whether this is only what one process maps: this user may neither write the file nor owns it.
    pub is_of_one_process: bool,
}

impl FileMemory {
    /// On all nodes, bytes.
    pub fn bytes(&self) -> u64 {
        total(&self.bytes_by_node).saturating_add(self.unknown_bytes)
    }

    /// How far the nodes' shares are from these; `None` where nothing is in memory.
    pub fn deviation(&self, asked: &BTreeMap<u32, f64>) -> Option<f64> {
        shares(&self.bytes_by_node).map(|found| largest_deviation(&found, asked))
    }
}

/// A process that maps a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileUser {
    pub pid: u32,
    /// Its program's name.
    pub name: String,
    /// Whether it has locked a part of it into memory (mlock(2)).
    pub locks: bool,
}

/// What was done to a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileChange {
    /// What was in memory before, by node, bytes.
    pub before_bytes_by_node: BTreeMap<u32, u64>,
    /// Moved where they were, bytes.
    pub moved_bytes: u64,
    /// Dropped and read again, bytes.
    pub read_again_bytes: u64,
    /// The largest difference of a node's share to the one asked for, after; null where none was, or
    /// nothing is in memory.
    pub largest_deviation: Option<f64>,
    /// What is not where it was asked for, or still in memory, by why.
    pub stayed: Vec<StayedPages>,
}

impl FileChange {
    /// Whether it is as it was asked for, about.
    pub fn is_as_asked(&self) -> bool {
        match self.largest_deviation {
            Some(off) => off <= TOLERANCE,
            None => self.stayed.is_empty(),
        }
    }
}

/// Pages that are not as they were asked to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StayedPages {
    pub why: WhyStayed,
    pub bytes: u64,
}

/// Why pages stayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WhyStayed {
    /// Another process maps them, and this user may not move what others map.
    Mapped,
    /// A process that maps them has locked them into memory.
    Locked,
    /// They are not on the disk yet.
    Dirty,
    /// The file is kept in memory: it is its pages.
    KeptInMemory,
    /// The node has no room.
    NoRoom,
    /// The node is gone, or has no memory any more.
    NoMemory,
    /// The kernel holds them, or gave no reason.
    Held,
}
