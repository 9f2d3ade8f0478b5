//! What became of a program's placement: what `nearfar run --report` tells.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use nearfar_sys::base_page_bytes;
use nearfar_units::shell_path;
use serde::Serialize;

use crate::loss::Loss;
use crate::placement::Placement;
use crate::program_memory::{
    CountMethod, ProgramMemory, SharedKind, largest_deviation, shares, total,
};
use crate::resolution::Resolution;
use crate::seen_threads::SeenThread;
use crate::verification::Verification;
use crate::watch::Outcome;
use crate::weights::WeightsBy;

/// What became of a program's placement; `run --report=FILE` writes it. Null is not known, or does
/// not apply.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunReport {
    pub schema: &'static str,
    /// As the user wrote it.
    pub placement: String,
    /// What that means on this machine, without CPUs where the operating system does not say which
    /// may be used.
    pub binding: String,
    /// How weights of nodes came about; null where none were asked for, or equal ones.
    pub weights_by: Option<WeightsBy>,
    /// What of it could not be had.
    pub refused: Vec<Loss>,
    /// From the program's start to its end, s; null where it was not started.
    pub seconds: Option<f64>,
    /// Where the program's memory was; null where that is not known.
    pub memory: Option<ReportedMemory>,
    /// Why that is not known.
    pub memory_absent: Option<String>,
    /// Processes of a followed program with 1 MiB and more of their own, as they were counted when
    /// they ended; at most 4096.
    pub processes: Vec<ReportedProcess>,
    /// How many more there were than are listed.
    pub processes_unlisted: usize,
    /// Threads of the program and its children that were seen, by their numbers; at most 4096.
    pub threads: Vec<SeenThread>,
    /// How many more there were than are listed.
    pub threads_unlisted: usize,
    /// Whether the program is faster for it; null where that was not asked.
    pub verification: Option<Verification>,
    /// What else is to be known, in sentences.
    pub notes: Vec<String>,
    /// The program's exit status, or 128 and the number of the signal that ended it; null where
    /// it was not started.
    pub status: Option<u8>,
}

/// Where the memory of a program and its children was at the last moment at which they had at
/// least nine tenths of the most that was counted; a page that several processes have in common
/// counts once.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportedMemory {
    /// How that was found out.
    pub method: CountMethod,
    /// When, after the program's start, s.
    pub at_seconds: f64,
    /// Processes that had it.
    pub processes: usize,
    pub own_bytes_by_node: BTreeMap<u32, u64>,
    /// The shares that were asked for, where that was shares.
    pub asked_shares: Option<BTreeMap<u32, f64>>,
    pub achieved_shares: BTreeMap<u32, f64>,
    /// The largest difference of a node's two shares.
    pub largest_deviation: Option<f64>,
    /// Pages of files that were changed, on nodes that the kernel does not tell, bytes.
    pub changed_file_bytes: u64,
    /// Shared memory of all kinds, by node, bytes.
    pub shared_bytes_by_node: BTreeMap<u32, u64>,
    /// Shared memory by what it is; of each kind what the process with most of it maps.
    pub shared: Vec<ReportedShared>,
    /// Files of which a process maps 1 MiB and more that is in memory, the largest first; at most 64.
    pub files: Vec<ReportedFile>,
}

/// Memory that processes share.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportedShared {
    pub kind: SharedKind,
    pub bytes_by_node: BTreeMap<u32, u64>,
}

/// A file that a process maps.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportedFile {
    pub path: String,
    /// What the process with most of it maps, as far as it is in memory, bytes.
    pub bytes_by_node: BTreeMap<u32, u64>,
}

impl ReportedFile {
    /// Why it slows a program that was to have these shares: its node with most beyond them.
    fn against(&self, asked: &BTreeMap<u32, f64>, placement: &str) -> Option<String> {
        let (node, share) = node_against(&self.bytes_by_node, asked)?;
        Some(against_words(&self.path, placement, node, share))
    }
}

/// Files with this many bytes in memory, and by this much off what is asked, lie against a placement.
pub(crate) const LEAST_AGAINST_BYTES: u64 = 16 << 20;
const LEAST_AGAINST: f64 = 0.2;

/// The node that has most beyond its share, and what it has, where that is much.
pub(crate) fn node_against(
    bytes: &BTreeMap<u32, u64>,
    asked: &BTreeMap<u32, f64>,
) -> Option<(u32, f64)> {
    let beyond = |(&node, share): (&u32, f64)| {
        (node, share, share - asked.get(&node).copied().unwrap_or_default())
    };
    let found = shares(bytes)?;
    let beyond = found.iter().map(|(node, share)| beyond((node, *share)));
    let (node, share, off) = beyond.max_by(|one, other| one.2.total_cmp(&other.2))?;
    (off > LEAST_AGAINST).then_some((node, share))
}

/// What is said of such a file.
pub(crate) fn against_words(path: &str, placement: &str, node: u32, share: f64) -> String {
    format!(
        "{path} lies against {placement}: {:.0} % of what is in memory of it is on node {node}; \
         `nearfar files {} --place {placement}` (or `run --files` at the start) puts it there",
        100.0 * share,
        shell_path(path)
    )
}

/// A process that was counted when it ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportedProcess {
    /// Its number.
    pub process: u32,
    pub name: String,
    /// When it ended, after the program's start, s.
    pub at_seconds: f64,
    /// Own memory by node, bytes.
    pub own_bytes_by_node: BTreeMap<u32, u64>,
    /// The largest difference of a node's share to the one asked for; null where none was.
    pub largest_deviation: Option<f64>,
}

impl RunReport {
    /// Before the program is started.
    pub fn new(placement: &Placement, resolution: &Resolution) -> Self {
        let mut report = Self {
            schema: "nearfar.run/2",
            placement: placement.to_string(),
            binding: resolution.asked.to_string(),
            weights_by: resolution.weights.as_ref().map(|(_, by)| *by),
            memory_absent: Some("the program was not started".into()),
            ..Self::default()
        };
        report.lose(&resolution.losses);
        report
    }

    /// Adds what could not be had; what was tried again is told once.
    pub fn lose(&mut self, losses: &[Loss]) {
        for loss in losses {
            if !self.refused.contains(loss) {
                self.refused.push(loss.clone());
            }
        }
    }

    /// Adds what the program did. `status` is its status as a shell tells it.
    pub fn tell(&mut self, asked: Option<&BTreeMap<u32, f64>>, outcome: Outcome, status: u8) {
        (self.memory, self.memory_absent) = match outcome.memory {
            Ok(memory) => match ReportedMemory::of(memory, asked) {
                Some(memory) => (Some(memory), None),
                None => (None, Some("it had no memory of its own when it was looked at".into())),
            },
            Err(why) => (None, Some(why)),
        };
        if let (Some(memory), Some(asked)) = (&self.memory, asked) {
            let large = memory
                .files
                .iter()
                .take_while(|file| total(&file.bytes_by_node) >= LEAST_AGAINST_BYTES);
            self.notes.extend(large.filter_map(|file| file.against(asked, &self.placement)));
        }
        self.processes = outcome.counted;
        for process in &mut self.processes {
            let found = shares(&process.own_bytes_by_node);
            process.largest_deviation =
                asked.and_then(|asked| found.map(|found| largest_deviation(&found, asked)));
        }
        self.processes_unlisted = outcome.uncounted;
        self.threads = outcome.threads;
        self.threads_unlisted = outcome.threads_unlisted;
        self.lose(&outcome.losses);
        self.notes.extend(outcome.notes);
        self.seconds = Some(outcome.took.as_secs_f64());
        self.status = Some(status);
    }
}

/// Files that are listed.
const MOST_FILES: usize = 64;

/// A node's share of a program's memory may be off what was asked for by so much: the promise of `run`.
pub(crate) const TOLERANCE: f64 = 0.01;

impl ReportedMemory {
    /// Whether every node has its asked share, about, or as near as whole pages come; not where none was
    /// asked for.
    pub fn is_as_asked(&self) -> bool {
        let all: u64 = self.own_bytes_by_node.values().sum();
        let page = base_page_bytes() as f64 / all as f64;
        self.largest_deviation.is_some_and(|off| off <= TOLERANCE.max(page))
    }

    fn of(memory: ProgramMemory, asked: Option<&BTreeMap<u32, f64>>) -> Option<Self> {
        let ProgramMemory { method, at, processes, memory } = memory;
        let achieved_shares = shares(&memory.own)?;
        let mut shared_bytes_by_node = BTreeMap::new();
        for (&node, &bytes) in memory.shared.values().flatten() {
            *shared_bytes_by_node.entry(node).or_default() += bytes;
        }
        let shared = memory.shared.into_iter();
        let shared = shared.map(|(kind, bytes_by_node)| ReportedShared { kind, bytes_by_node });
        let files = memory.files.into_iter();
        let mut files: Vec<ReportedFile> =
            files.map(|(path, bytes_by_node)| ReportedFile { path, bytes_by_node }).collect();
        files.sort_by_key(|file| Reverse(total(&file.bytes_by_node)));
        files.truncate(MOST_FILES);
        Some(Self {
            method,
            at_seconds: at.as_secs_f64(),
            processes,
            largest_deviation: asked.map(|asked| largest_deviation(&achieved_shares, asked)),
            achieved_shares,
            own_bytes_by_node: memory.own,
            asked_shares: asked.cloned(),
            changed_file_bytes: memory.changed_file_bytes,
            shared_bytes_by_node,
            shared: shared.collect(),
            files,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::program_memory::ProcessMemory;

    #[test]
    fn a_file_lies_against_a_placement_where_much_of_it_is_elsewhere() {
        let of = |bytes: &[(u32, u64)], asked: &[(u32, f64)]| {
            node_against(&bytes.iter().copied().collect(), &asked.iter().copied().collect())
        };
        let even = [(0, 0.5), (1, 0.5)];
        assert_eq!(of(&[(0, 0), (1, 10)], &even), Some((1, 1.0)));
        assert_eq!(of(&[(0, 1), (2, 3)], &even), Some((2, 0.75)));
        assert_eq!(of(&[(0, 4), (1, 6)], &even), None);
        assert_eq!(of(&[], &even), None);
        assert_eq!(of(&[(1, 10)], &[(1, 1.0)]), None);
    }

    #[test]
    fn shares_are_as_asked_where_whole_pages_come_no_nearer() {
        let page = base_page_bytes() as u64;
        let of = |pages: [u64; 2], asked: [f64; 2]| {
            let own = |at: usize| (u32::try_from(at).unwrap(), pages[at] * page);
            let asked = [(0, asked[0]), (1, asked[1])].into();
            let memory = ProcessMemory { own: [own(0), own(1)].into(), ..ProcessMemory::default() };
            let (method, at) = (CountMethod::Seen, Duration::ZERO);
            let seen = ProgramMemory { method, at, processes: 1, memory };
            ReportedMemory::of(seen, Some(&asked)).unwrap().is_as_asked()
        };
        assert!(of([7, 3], [0.75, 0.25]) && of([70, 30], [0.7, 0.3]));
        assert!(!of([6, 4], [0.75, 0.25]) && !of([700, 300], [0.75, 0.25]));
    }
}
