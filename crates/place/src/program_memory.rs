//! Where the memory of a program and its children is, by what was counted of each process.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use nearfar_sys::{
    FileStore, HUGE_PAGE_BYTES, MappedPages, MappingDetails, MappingKind, SharedMemory,
    base_page_bytes, mapped_file_store, program_files,
};
use serde::Serialize;

/// How it was found out where memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CountMethod {
    /// By a look from outside while the program ran.
    Seen,
    /// When a process of it was about to end, its memory still there.
    AtEnd,
}

/// Memory that a process has at some moment, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ProcessMemory {
    /// Its own, by node: heap, stacks, mappings without a file.
    pub own: BTreeMap<u32, u64>,
    /// Pages of mapped files that it has changed for itself, and those that the kernel does not tell from them,
    /// on nodes that it does not tell.
    pub changed_file_bytes: u64,
    /// What it maps of shared memory, by what that is and by node.
    pub shared: BTreeMap<SharedKind, BTreeMap<u32, u64>>,
    /// What is in memory of files that it maps, by path and by node, without pages that it has changed.
    pub files: BTreeMap<String, BTreeMap<u32, u64>>,
    /// All files together of each of which less than 1 MiB is mapped, programs and libraries left out.
    pub small_files: BTreeMap<u32, u64>,
    /// Those of these that it also maps to be executed: its program and libraries.
    pub programs: BTreeSet<String>,
    /// The largest page of its own and of shared memory.
    pub page_bytes: u64,
    /// What of its own and of shared memory is in mappings that have huge pages, where that was asked for.
    pub huge: BTreeMap<u32, u64>,
}

/// Less of a file than this is not told.
const MIN_FILE_BYTES: u64 = 1 << 20;

/// What memory that processes share comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SharedKind {
    /// System V: shmget(2).
    SystemV,
    /// POSIX: shm_open(3), a file in /dev/shm.
    Posix,
    /// memfd_create(2).
    Memfd,
    /// mmap(2) without a file.
    Unnamed,
    /// A file of tmpfs outside /dev/shm.
    Tmpfs,
    /// A file of hugetlbfs, or huge pages that are shared without one.
    HugePages,
}

impl From<SharedMemory> for SharedKind {
    fn from(shared: SharedMemory) -> Self {
        match shared {
            SharedMemory::SystemV => Self::SystemV,
            SharedMemory::Posix => Self::Posix,
            SharedMemory::Memfd => Self::Memfd,
            SharedMemory::Unnamed => Self::Unnamed,
            SharedMemory::HugePages => Self::HugePages,
        }
    }
}

impl ProcessMemory {
    /// Its own and what it has changed.
    pub fn bytes(&self) -> u64 {
        total(&self.own).saturating_add(self.changed_file_bytes)
    }

    /// All that it maps and that is in memory.
    pub fn mapped_bytes(&self) -> u64 {
        let others = self.shared.values().chain(self.files.values()).chain([&self.small_files]);
        others.map(total).fold(self.bytes(), u64::saturating_add)
    }

    /// The same but for small files, which libraries may be among while it runs and not at its end.
    fn weight(&self) -> u64 {
        self.mapped_bytes() - total(&self.small_files)
    }

    /// By a process's mappings. A page that several processes have unchanged since one started the
    /// other counts as a share of one, where the shares of the mappings are known
    /// ([`nearfar_sys::mapping_details`]).
    pub fn of(mappings: &[MappedPages], details: Option<&MappingDetails>) -> Self {
        let mut memory = Self::default();
        for mapping in mappings {
            let share = details.and_then(|details| details.shares.get(&mapping.start).copied());
            memory.add(mapping, share.unwrap_or(1.0));
            let has_huge_pages =
                details.is_some_and(|details| details.with_huge_pages.contains(&mapping.start));
            if mapping.kind == MappingKind::File {
                continue;
            }
            if has_huge_pages {
                memory.page_bytes = memory.page_bytes.max(HUGE_PAGE_BYTES as u64);
            }
            if has_huge_pages || mapping.page_bytes > base_page_bytes() as u64 {
                let bytes = |pages: u64| pages.saturating_mul(mapping.page_bytes);
                let is_shared = matches!(mapping.kind, MappingKind::Shared(_));
                let share = share.filter(|_| !is_shared).unwrap_or(1.0);
                for (&node, &pages) in &mapping.nodes {
                    add(memory.huge.entry(node).or_default(), part(bytes(pages), share));
                }
            }
        }
        memory
    }

    fn add(&mut self, mapping: &MappedPages, share: f64) {
        let bytes = |pages: u64| pages.saturating_mul(mapping.page_bytes);
        let mut add_own = |pages_of: &dyn Fn(u64) -> u64| {
            for (&node, &pages) in mapping.nodes.iter().filter(|(_, pages)| pages_of(**pages) > 0) {
                add(self.own.entry(node).or_default(), part(bytes(pages_of(pages)), share));
            }
        };
        match mapping.kind {
            MappingKind::Anonymous | MappingKind::Heap | MappingKind::Stack => {
                add_own(&|pages| pages);
                self.page_bytes = self.page_bytes.max(mapping.page_bytes);
            }
            MappingKind::Shared(kind) => {
                add_nodes(self.shared.entry(kind.into()).or_default(), mapping, 0);
                self.page_bytes = self.page_bytes.max(mapping.page_bytes);
            }
            // Of a file's pages on several nodes it is not told which ones were changed: a node has at
            // least those unchanged that exceed all changed ones.
            MappingKind::File => {
                let all = total(&mapping.nodes);
                let kept = mapping.nodes.values().map(|n| n.saturating_sub(mapping.own_pages));
                let kept: u64 = kept.sum();
                if mapping.nodes.len() == 1 || mapping.own_pages == all {
                    add_own(&|pages| pages.min(mapping.own_pages));
                } else {
                    add(&mut self.changed_file_bytes, bytes(all.saturating_sub(kept)));
                }
                let Some(file) = mapping.file.as_ref().filter(|_| kept > 0) else { return };
                let of_file = if mapping.is_of_tmpfs && !mapping.is_program {
                    self.shared.entry(SharedKind::Tmpfs).or_default()
                } else if bytes(kept) >= MIN_FILE_BYTES {
                    if mapping.is_program {
                        self.programs.insert(file.clone());
                    }
                    self.files.entry(file.clone()).or_default()
                } else if mapping.is_program {
                    return;
                } else {
                    &mut self.small_files
                };
                add_nodes(of_file, mapping, mapping.own_pages);
            }
        }
    }
}

/// Adds what a mapping has on each node beyond so many pages.
fn add_nodes(to: &mut BTreeMap<u32, u64>, mapping: &MappedPages, but: u64) {
    for (&node, &pages) in &mapping.nodes {
        let bytes = pages.saturating_sub(but).saturating_mul(mapping.page_bytes);
        add(to.entry(node).or_default(), bytes);
    }
}

/// What is known of mapped files by their paths, so that each is asked about once.
#[derive(Debug, Default)]
pub(crate) struct FileKinds(BTreeMap<String, FileKind>);

#[derive(Debug, Clone, Copy, Default)]
struct FileKind {
    is_program: bool,
    is_of_tmpfs: bool,
}

impl FileKinds {
    /// Tells of each mapping of a process what its file is.
    pub fn classify(&mut self, root: &Path, pid: u32, tid: u32, mappings: &mut [MappedPages]) {
        let files = || mappings.iter().filter_map(|mapping| mapping.file.as_ref());
        if files().any(|file| !self.0.contains_key(file)) {
            for file in files() {
                self.0.entry(file.clone()).or_insert_with(|| FileKind {
                    is_program: false,
                    is_of_tmpfs: mapped_file_store(root, pid, file) == Some(FileStore::Memory),
                });
            }
            for file in program_files(root, pid, tid).unwrap_or_default() {
                self.0.entry(file).or_default().is_program = true;
            }
        }
        for mapping in mappings {
            let kind = mapping.file.as_ref().and_then(|file| self.0.get(file));
            let kind = kind.copied().unwrap_or_default();
            (mapping.is_program, mapping.is_of_tmpfs) = (kind.is_program, kind.is_of_tmpfs);
        }
    }
}

/// All memory of these mappings by node, whatever it is of.
pub(crate) fn mapped_bytes(mappings: &[MappedPages]) -> BTreeMap<u32, u64> {
    let mut bytes = BTreeMap::new();
    for mapping in mappings {
        for (&node, &pages) in &mapping.nodes {
            add(bytes.entry(node).or_default(), pages.saturating_mul(mapping.page_bytes));
        }
    }
    bytes
}

fn add(to: &mut u64, bytes: u64) {
    *to = to.saturating_add(bytes);
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share between 0 and 1 of bytes below 2^52"
)]
fn part(bytes: u64, share: f64) -> u64 {
    if share < 1.0 { (bytes as f64 * share).round() as u64 } else { bytes }
}

/// Of all nodes.
pub(crate) fn total(of_nodes: &BTreeMap<u32, u64>) -> u64 {
    of_nodes.values().copied().fold(0, u64::saturating_add)
}

/// Memory that a program and its children have at one moment: the last at which they had all but a
/// hundredth of the most that was ever counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramMemory {
    pub method: CountMethod,
    /// When, after the program's start.
    pub at: Duration,
    pub processes: usize,
    /// Of all of them; of each kind of shared memory and of each file what the process with most of
    /// it maps.
    pub memory: ProcessMemory,
    /// The most that there ever was, bytes, with shared memory and files: as it was counted, and where that is more
    /// as the kernel's counters have it.
    pub peak_bytes: u64,
    /// Processes that there were then.
    pub peak_processes: usize,
}

/// The shares of nodes that have some; `None` where there are no bytes.
pub(crate) fn shares(bytes: &BTreeMap<u32, u64>) -> Option<BTreeMap<u32, f64>> {
    let all = total(bytes) as f64;
    let of = |(&node, &bytes): (&u32, &u64)| (bytes > 0).then_some((node, bytes as f64 / all));
    (all > 0.0).then(|| bytes.iter().filter_map(of).collect())
}

/// The largest difference of two sets of shares, of any node.
pub(crate) fn largest_deviation(found: &BTreeMap<u32, f64>, asked: &BTreeMap<u32, f64>) -> f64 {
    // A node that is not named has no share.
    let of = |shares: &BTreeMap<u32, f64>, node| shares.get(node).copied().unwrap_or_default();
    let nodes = found.keys().chain(asked.keys());
    nodes.map(|node| (of(found, node) - of(asked, node)).abs()).fold(0.0, f64::max)
}

/// Of each thing that several map what the process with most of it maps.
fn most_of_each<'a, T: Ord + Clone + 'a>(
    mapped: impl Iterator<Item = &'a BTreeMap<T, BTreeMap<u32, u64>>>,
) -> BTreeMap<T, BTreeMap<u32, u64>> {
    let mut most: BTreeMap<T, BTreeMap<u32, u64>> = BTreeMap::new();
    for (thing, bytes) in mapped.flatten() {
        match most.get_mut(thing) {
            Some(known) if total(known) >= total(bytes) => {}
            Some(known) => known.clone_from(bytes),
            None => drop(most.insert(thing.clone(), bytes.clone())),
        }
    }
    most
}

/// Of processes, by their numbers, what they share.
fn shared_and_files(living: &BTreeMap<u32, ProcessMemory>) -> ProcessMemory {
    let shared = most_of_each(living.values().map(|memory| &memory.shared));
    let files = most_of_each(living.values().map(|memory| &memory.files));
    let programs = living.values().flat_map(|memory| memory.programs.iter().cloned()).collect();
    let page_bytes = living.values().map(|memory| memory.page_bytes).max().unwrap_or(0);
    let small_files = living.values().map(|memory| &memory.small_files).max_by_key(|it| total(it));
    let small_files = small_files.cloned().unwrap_or_default();
    ProcessMemory { shared, files, small_files, programs, page_bytes, ..ProcessMemory::default() }
}

/// The memory of all living processes, and the moment at which it was most.
#[derive(Debug, Default)]
pub(crate) struct Census {
    living: BTreeMap<u32, ProcessMemory>,
    /// Their sums, without shared memory.
    sum: ProcessMemory,
    most: u64,
    /// The most with what was not looked at, and the processes that had it.
    peak: (u64, usize),
    kept: Option<ProgramMemory>,
}

impl Census {
    /// Takes in what a process has now.
    pub fn count(&mut self, pid: u32, memory: ProcessMemory) {
        self.forget(pid);
        for (sum, of_one) in [(&mut self.sum.own, &memory.own), (&mut self.sum.huge, &memory.huge)]
        {
            for (&node, &bytes) in of_one {
                add(sum.entry(node).or_default(), bytes);
            }
        }
        add(&mut self.sum.changed_file_bytes, memory.changed_file_bytes);
        self.living.insert(pid, memory);
    }

    /// Leaves out a process that has ended, or whose memory is not what it was.
    pub fn forget(&mut self, pid: u32) {
        let Some(memory) = self.living.remove(&pid) else { return };
        for (sum, of_one) in [(&mut self.sum.own, memory.own), (&mut self.sum.huge, memory.huge)] {
            for (node, bytes) in of_one {
                if let Some(sum) = sum.get_mut(&node) {
                    *sum = sum.saturating_sub(bytes);
                }
            }
        }
        let changed = &mut self.sum.changed_file_bytes;
        *changed = changed.saturating_sub(memory.changed_file_bytes);
    }

    /// Leaves out all processes but these.
    pub fn keep_living(&mut self, living: &BTreeSet<u32>) {
        let gone: Vec<u32> =
            self.living.keys().filter(|pid| !living.contains(pid)).copied().collect();
        gone.into_iter().for_each(|pid| self.forget(pid));
    }

    fn now(&self) -> ProcessMemory {
        let shared = shared_and_files(&self.living);
        let (own, huge) = (self.sum.own.clone(), self.sum.huge.clone());
        ProcessMemory { own, huge, changed_file_bytes: self.sum.changed_file_bytes, ..shared }
    }

    /// Remembers this moment, if there is as much as ever: all but a hundredth, so that the latest of equal
    /// moments counts.
    pub fn remember(&mut self, method: CountMethod, at: Duration) {
        let mut memory = self.now();
        let now = memory.weight();
        let is_less_sure = self
            .kept
            .as_ref()
            .is_some_and(|kept| kept.method > method && kept.memory.weight() >= now);
        self.most = self.most.max(now);
        self.peak = self.peak.max((memory.mapped_bytes(), self.living.len()));
        if self.living.is_empty() || is_less_sure || now < self.most - self.most / 100 {
            return;
        }
        memory.own.retain(|_, bytes| *bytes > 0);
        let (peak_bytes, peak_processes) = self.peak;
        let processes = self.living.len();
        self.kept =
            Some(ProgramMemory { method, at, processes, memory, peak_bytes, peak_processes });
    }

    /// Takes in that these processes have by the kernel's counters so much more, or less, than was counted.
    pub fn note_unseen(&mut self, unseen: i64, processes: usize) {
        let all = self.now().mapped_bytes().saturating_add_signed(unseen);
        self.peak = self.peak.max((all, processes));
    }

    /// Remembers what one process has by itself, where that is more than all had ever: the others were counted
    /// at other times, when more or fewer had the same pages, and the program has at least this.
    pub fn remember_one(&mut self, method: CountMethod, at: Duration, memory: ProcessMemory) {
        let now = memory.weight();
        if now > self.most {
            self.most = now;
            self.peak = self.peak.max((memory.mapped_bytes(), 1));
            let (peak_bytes, peak_processes) = self.peak;
            let processes = 1;
            self.kept =
                Some(ProgramMemory { method, at, processes, memory, peak_bytes, peak_processes });
        }
    }

    /// What all have now of their own, by node, bytes.
    pub fn own(&self) -> &BTreeMap<u32, u64> {
        &self.sum.own
    }

    /// Files and shared memory that any maps now, by node, bytes; each once.
    pub fn shared(&self) -> BTreeMap<u32, u64> {
        let memory = shared_and_files(&self.living);
        let each = memory.shared.into_values().chain(memory.files.into_values());
        let mut all = BTreeMap::new();
        for (node, bytes) in each.flatten() {
            add(all.entry(node).or_default(), bytes);
        }
        all
    }

    pub fn kept(self) -> Option<ProgramMemory> {
        let (peak_bytes, peak_processes) = self.peak;
        self.kept.map(|kept| ProgramMemory { peak_bytes, peak_processes, ..kept })
    }
}

#[cfg(test)]
mod tests;
