//! What became of a program's placement: what `nearfar run --report` tells.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use nearfar_sys::base_page_bytes;
use nearfar_units::shell_path;
use serde::Serialize;

use crate::loss::Loss;
use crate::placement::Placement;
use crate::program_memory::{
    CountMethod, ProcessMemory, ProgramMemory, SharedKind, largest_deviation, shares, total,
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

/// Where the memory of a program and its children was at the last moment at which they had all but
/// a hundredth of the most that was counted; a page that several processes have in common
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
    /// Whether all memory that counts is where it was asked for; null where no shares were asked for.
    pub verdict: Option<PlacementVerdict>,
    /// All that the processes map and that is in memory: own, shared and files, bytes.
    pub mapped_bytes: u64,
    /// The most that there was at any moment: as it was counted, or, where that is more, as the kernel's counters
    /// have it, bytes. These may hold pages that processes have in common more than once.
    pub peak_bytes: u64,
    /// Processes that there were then.
    pub peak_processes: usize,
    /// Pages of files that were changed, and those that the kernel does not tell from them, on nodes that it does
    /// not tell, bytes.
    pub changed_file_bytes: u64,
    /// Shared memory of all kinds, by node, bytes.
    pub shared_bytes_by_node: BTreeMap<u32, u64>,
    /// Shared memory by what it is; of each kind what the process with most of it maps.
    pub shared: Vec<ReportedShared>,
    /// Files of which a process maps 1 MiB and more that is in memory, the largest first; at most 64.
    pub files: Vec<ReportedFile>,
}

/// Whether the memory that decides is where it was asked for: the processes' own and shared memory, and mapped
/// files that are more than a tenth of all that is mapped and could have been placed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacementVerdict {
    pub is_as_asked: bool,
    /// What decides, by node, bytes.
    pub bytes_by_node: BTreeMap<u32, u64>,
    /// The largest difference of a node's share of it from the asked one.
    pub largest_deviation: f64,
    /// Whether mapped files are part of it.
    pub do_files_count: bool,
    /// The page that could not be divided, bytes, where that explains a larger deviation; null else.
    pub undivided_page_bytes: Option<u64>,
}

impl PlacementVerdict {
    /// By what was asked for. Programs and libraries cannot be placed for one process.
    pub(crate) fn new(memory: &ProcessMemory, asked: &BTreeMap<u32, f64>) -> Option<Self> {
        let mut bytes_by_node = memory.own.clone();
        let mut count = |bytes: &BTreeMap<u32, u64>| {
            for (&node, &bytes) in bytes {
                let sum: &mut u64 = bytes_by_node.entry(node).or_default();
                *sum = sum.saturating_add(bytes);
            }
        };
        memory.shared.values().for_each(&mut count);
        let files = memory.files.iter().filter(|(path, _)| !memory.programs.contains(*path));
        // What every shell maps of locales lies where the first that read it put it.
        let small = Some(&memory.small_files).filter(|small| total(small) > SMALL_FILES);
        let files: Vec<&BTreeMap<u32, u64>> = files.map(|(_, bytes)| bytes).chain(small).collect();
        let of_files: u64 = files.iter().map(|bytes| total(bytes)).fold(0, u64::saturating_add);
        let do_files_count = of_files as f64 > FILES_THAT_COUNT * memory.mapped_bytes() as f64;
        if do_files_count {
            files.into_iter().for_each(&mut count);
        }
        let found = shares(&bytes_by_node)?;
        let largest_deviation = largest_deviation(&found, asked);
        let all = total(&bytes_by_node) as f64;
        let base_page = base_page_bytes() as u64;
        let is_within = |page: u64| largest_deviation <= TOLERANCE.max(page as f64 / all);
        // One node gets all of its pages, whatever their size.
        let is_divided = asked.values().filter(|share| **share > 0.0).count() > 1;
        let huge_page = memory.page_bytes.max(base_page);
        // Mappings of small pages can be divided, whatever other mappings have.
        let off_in_small_pages = |node: &u32| {
            let small = |node: &u32| {
                let huge = memory.huge.get(node).copied().unwrap_or_default();
                bytes_by_node.get(node).copied().unwrap_or_default().saturating_sub(huge) as f64
            };
            let of_all: f64 = bytes_by_node.keys().map(small).sum();
            (small(node) - asked.get(node).copied().unwrap_or_default() * of_all).abs() / all
        };
        let are_small_pages_within = || {
            bytes_by_node
                .keys()
                .chain(asked.keys())
                .all(|node| off_in_small_pages(node) <= TOLERANCE.max(base_page as f64 / all))
        };
        let is_near = is_divided && is_within(huge_page) && are_small_pages_within();
        Some(Self {
            is_as_asked: is_within(base_page) || is_near,
            largest_deviation,
            do_files_count,
            undivided_page_bytes: (!is_within(base_page) && is_near).then_some(huge_page),
            bytes_by_node,
        })
    }
}

/// Mapped files decide that are more than this share of all mapped memory.
const FILES_THAT_COUNT: f64 = 0.1;

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
    /// Whether a process also maps it to be executed: a program or a library.
    pub is_program: bool,
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

/// Whether two of these sentences are about one file.
fn is_of_same_file(one: &str, other: &str) -> bool {
    let path = |note: &str| note.split_once(LIES_AGAINST).map(|(path, _)| path.to_string());
    path(one).is_some_and(|path_of_one| Some(path_of_one) == path(other))
}

const LIES_AGAINST: &str = " lies against ";

/// What is said of such a file.
pub(crate) fn against_words(path: &str, placement: &str, node: u32, share: f64) -> String {
    format!(
        "{path}{LIES_AGAINST}{placement}: {:.0} % of what is in memory of it is on node {node}; \
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
            let large = memory.files.iter().filter(|file| {
                total(&file.bytes_by_node) >= LEAST_AGAINST_BYTES && !file.is_program
            });
            let against = large.filter_map(|file| file.against(asked, &self.placement));
            // What was said of a file before the start is said once.
            let new: Vec<String> = against.filter(|note| !self.notes.contains(note)).collect();
            self.notes.retain(|note| !new.iter().any(|new| is_of_same_file(note, new)));
            self.notes.extend(new);
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

/// Libraries and the like that are not counted have about this many bytes in memory.
const SMALL_FILES: u64 = 8 << 20;

/// Files that are listed.
const MOST_FILES: usize = 64;

/// A node's share of a program's memory may be off what was asked for by so much: the promise of `run`.
pub(crate) const TOLERANCE: f64 = 0.01;

/// Whether more than a tenth of a peak is not mapped, or on nodes that are not known, small files aside.
pub(crate) fn is_part(mapped: u64, changed_file_bytes: u64, peak: u64) -> bool {
    let unseen = peak.saturating_sub(mapped.saturating_sub(changed_file_bytes));
    unseen as f64 > 0.1 * peak as f64 && unseen > SMALL_FILES
}

impl ReportedMemory {
    /// Whether what is known to be on some node leaves out more than a tenth of what there was, small files aside.
    pub fn is_partial(&self) -> bool {
        is_part(self.mapped_bytes, self.changed_file_bytes, self.peak_bytes)
    }

    fn of(memory: ProgramMemory, asked: Option<&BTreeMap<u32, f64>>) -> Option<Self> {
        let ProgramMemory { method, at, processes, memory, peak_bytes, peak_processes } = memory;
        let achieved_shares = shares(&memory.own)?;
        let verdict = asked.and_then(|asked| PlacementVerdict::new(&memory, asked));
        let mapped_bytes = memory.mapped_bytes();
        let programs = memory.programs;
        let mut shared_bytes_by_node = BTreeMap::new();
        for (&node, &bytes) in memory.shared.values().flatten() {
            *shared_bytes_by_node.entry(node).or_default() += bytes;
        }
        let shared = memory.shared.into_iter();
        let shared = shared.map(|(kind, bytes_by_node)| ReportedShared { kind, bytes_by_node });
        let files = memory.files.into_iter();
        let mut files: Vec<ReportedFile> = files
            .map(|(path, bytes_by_node)| ReportedFile {
                is_program: programs.contains(&path),
                path,
                bytes_by_node,
            })
            .collect();
        files.sort_by_key(|file| Reverse(total(&file.bytes_by_node)));
        files.truncate(MOST_FILES);
        Some(Self {
            method,
            at_seconds: at.as_secs_f64(),
            processes,
            largest_deviation: asked.map(|asked| largest_deviation(&achieved_shares, asked)),
            achieved_shares,
            verdict,
            mapped_bytes,
            peak_bytes,
            peak_processes,
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
            let peak_bytes = memory.mapped_bytes();
            let (processes, peak_processes) = (1, 1);
            let seen = ProgramMemory { method, at, processes, memory, peak_bytes, peak_processes };
            ReportedMemory::of(seen, Some(&asked)).unwrap().verdict.unwrap().is_as_asked
        };
        assert!(of([7, 3], [0.75, 0.25]) && of([70, 30], [0.7, 0.3]));
        assert!(!of([6, 4], [0.75, 0.25]) && !of([700, 300], [0.75, 0.25]));
    }

    const MIB: u64 = 1 << 20;

    fn on(node: u32, mib: u64) -> BTreeMap<u32, u64> {
        [(node, mib * MIB)].into()
    }

    fn verdict(memory: &ProcessMemory, asked: &[(u32, f64)]) -> PlacementVerdict {
        PlacementVerdict::new(memory, &asked.iter().copied().collect()).unwrap()
    }

    /// Shared buffers and a mapped model count, whoever has placed them; the C library does not.
    #[test]
    fn all_memory_that_could_be_placed_decides() {
        let of_file = |path: &str, mib| BTreeMap::from([(path.to_string(), on(0, mib))]);
        let own = ProcessMemory { own: on(1, 4), ..ProcessMemory::default() };
        let at_1 = [(1, 1.0)];
        assert!(verdict(&own, &at_1).is_as_asked);
        let shared = [(SharedKind::Posix, on(0, 128))].into();
        let server = ProcessMemory { shared, ..own.clone() };
        let found = verdict(&server, &at_1);
        assert!(!found.is_as_asked && found.bytes_by_node[&0] == 128 * MIB, "{found:?}");
        let mapped = ProcessMemory { files: of_file("/data/model", 150), ..own.clone() };
        let found = verdict(&mapped, &at_1);
        assert!(!found.is_as_asked && found.do_files_count, "{found:?}");
        let little = ProcessMemory { own: on(1, 100), files: of_file("/data/a", 6), ..own.clone() };
        assert!(verdict(&little, &at_1).is_as_asked, "less than a tenth");
        let programs = ["/lib/libc.so.6".to_string()].into();
        let small = ProcessMemory { files: of_file("/lib/libc.so.6", 2), programs, ..own };
        let found = verdict(&small, &at_1);
        assert!(found.is_as_asked && !found.do_files_count, "{found:?}");
        // Many small files as one large one, but not what every shell maps of locales.
        let many = ProcessMemory { own: on(1, 100), small_files: on(0, 16), ..Default::default() };
        assert!(!verdict(&many, &at_1).is_as_asked);
        let locales = ProcessMemory { own: on(1, 4), small_files: on(0, 3), ..Default::default() };
        assert!(verdict(&locales, &at_1).is_as_asked);
    }

    /// A look before a program had its memory speaks for a part.
    #[test]
    fn what_was_seen_of_a_program_can_be_a_part() {
        let partial = |seen: u64, peak: u64| {
            let memory = ProcessMemory { own: on(1, seen), ..ProcessMemory::default() };
            let (method, at) = (CountMethod::Seen, Duration::ZERO);
            let peak_bytes = peak * MIB;
            let (processes, peak_processes) = (1, 1);
            let seen = ProgramMemory { method, at, processes, memory, peak_bytes, peak_processes };
            ReportedMemory::of(seen, Some(&on(1, 1).into_keys().map(|node| (node, 1.0)).collect()))
                .unwrap()
                .is_partial()
        };
        assert!(partial(4, 154) && partial(100, 120));
        assert!(!partial(154, 158) && !partial(1, 6) && !partial(100, 109));
    }

    /// One page that was written near the CPUs does not hide the file that is far from them.
    #[test]
    fn a_file_changed_in_part_decides_or_is_told_as_unseen() {
        let reported = |counts: &str| {
            let text = format!(
                "1000 default heap anon=1024 N1=1024 kernelpagesize_kB=4\n\
                 9000 default file=/data/model {counts} kernelpagesize_kB=4\n"
            );
            let mappings = nearfar_sys::parse_process_pages(&text, "").unwrap();
            let memory = ProcessMemory::of(&mappings, None);
            let peak_bytes = memory.mapped_bytes();
            let (method, at) = (CountMethod::Seen, Duration::ZERO);
            let (processes, peak_processes) = (1, 1);
            let seen = ProgramMemory { method, at, processes, memory, peak_bytes, peak_processes };
            ReportedMemory::of(seen, Some(&[(1, 1.0)].into())).unwrap()
        };
        let little = reported("anon=1 N0=51199 N1=1");
        assert!(
            !little.verdict.as_ref().unwrap().is_as_asked && !little.is_partial(),
            "{little:?}"
        );
        let half = reported("anon=25600 N0=25600 N1=25600");
        assert!(half.is_partial(), "{half:?}");
    }

    /// 77 huge pages over 72 nodes.
    #[test]
    fn huge_pages_that_cannot_be_divided_are_the_cause() {
        let own = (0..72).map(|node| (node, if node < 5 { 4 * MIB } else { 2 * MIB })).collect();
        let asked: Vec<(u32, f64)> = (0..72).map(|node| (node, 1.0 / 72.0)).collect();
        let own: BTreeMap<u32, u64> = own;
        let huge = ProcessMemory {
            huge: own.clone(),
            own,
            page_bytes: 2 * MIB,
            ..ProcessMemory::default()
        };
        let found = verdict(&huge, &asked);
        assert!(found.is_as_asked && found.undivided_page_bytes == Some(2 * MIB), "{found:?}");
        let base = ProcessMemory { page_bytes: 4096, ..huge.clone() };
        assert!(!verdict(&base, &asked).is_as_asked);
        // The same in mappings of small pages, beside one of huge pages.
        let mixed = ProcessMemory { huge: on(0, 2), ..huge.clone() };
        assert!(!verdict(&mixed, &asked).is_as_asked);
        let one_node = ProcessMemory { own: [(0, 2 * MIB), (1, 60 * MIB)].into(), ..huge };
        assert!(!verdict(&one_node, &[(1, 1.0)]).is_as_asked, "a whole page is on another node");
    }
}
