//! Another process of the same user: its threads, where they ran last, and where its pages are
//! (proc(5)). All of it may change while it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use nearfar_machine::CpuSet;

use crate::address_range::AddressRange;
use crate::numa_maps::{Counts, lines, parse_counts};
use crate::refusal::Refusal;
use crate::system_file::{numbers_in, read_text};
use crate::vma::parse_header;

/// A thread of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub tid: u32,
    /// Its name, at most 15 letters.
    pub name: String,
    /// The CPU that it ran on last.
    pub last_cpu: u32,
    /// The CPUs that it may use.
    pub cpus: CpuSet,
    /// CPU time that it used, in ticks of 10 ms.
    pub ticks: u64,
}

/// A mapping of a process and the nodes of its pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedPages {
    pub start: usize,
    /// Its addresses; `None` when it was gone before its end was read, or that was not asked for.
    pub range: Option<AddressRange>,
    pub kind: MappingKind,
    /// Bytes of a page, as the kernel counts pages there.
    pub page_bytes: u64,
    pub nodes: BTreeMap<u32, u64>,
    /// Pages that are the process's own, in a mapping of a file those that it has changed.
    pub own_pages: u64,
    /// Whether another process maps one of its pages as well.
    pub is_mapped_twice: bool,
    /// Of a file: its path.
    pub file: Option<String>,
    /// Whether it is of a file that the process also maps to be executed: a program or a library.
    pub is_program: bool,
    /// Whether its file is memory (tmpfs), which numa_maps does not tell ([`crate::mapped_file_store`]).
    pub is_of_tmpfs: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MappingKind {
    /// Memory of the process, huge pages of hugetlb included.
    Anonymous,
    /// The heap of brk(2).
    Heap,
    /// The stack of the main thread.
    Stack,
    /// A file, of which a process may have changed pages for itself.
    File,
    /// Memory that processes share.
    Shared(SharedMemory),
}

/// What memory that processes share comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SharedMemory {
    /// shmget(2).
    SystemV,
    /// shm_open(3), a file in /dev/shm.
    Posix,
    /// memfd_create(2).
    Memfd,
    /// mmap(2) without a file.
    Unnamed,
    /// A file of hugetlbfs.
    HugePages,
}

/// The threads of a process. Those that end meanwhile are left out.
///
/// # Errors
/// When there is no such process, or `/proc` is not readable.
pub fn tasks(root: &Path, pid: u32) -> Result<Vec<Task>, Refusal> {
    Ok(task_numbers(root, pid)?.into_iter().filter_map(|tid| task(root, pid, tid)).collect())
}

pub(crate) fn task_numbers(root: &Path, pid: u32) -> Result<Vec<u32>, Refusal> {
    numbers_in(root, format!("proc/{pid}/task"))
}

/// The process of a thread; `None` where there is no such thread any more.
pub fn process_of_task(root: &Path, tid: u32) -> Option<u32> {
    let status = read_text(root, format!("proc/{tid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

/// The processes that a process started and those that these started, without itself. Those whose
/// parent has ended are no longer known as its own.
///
/// # Errors
/// When there is no such process, or `/proc` is not readable, or the kernel was built without its
/// lists of children (`CONFIG_PROC_CHILDREN`).
pub fn descendants(root: &Path, pid: u32) -> Result<Vec<u32>, Refusal> {
    let mut found = children(root, pid)?;
    let mut seen = 0;
    while let Some(&next) = found.get(seen) {
        seen += 1;
        // It may be gone by now.
        let more = children(root, next).unwrap_or_default();
        let more: Vec<u32> = more.into_iter().filter(|pid| !found.contains(pid)).collect();
        found.extend(more);
    }
    Ok(found)
}

fn children(root: &Path, pid: u32) -> Result<Vec<u32>, Refusal> {
    let mut found = Vec::new();
    for tid in task_numbers(root, pid)? {
        match read_text(root, format!("proc/{pid}/task/{tid}/children")) {
            Ok(list) => {
                found.extend(
                    list.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()),
                );
            }
            // A thread may end meanwhile; the first one stays as long as its process.
            Err(refusal) if tid == pid => return Err(refusal),
            Err(_) => {}
        }
    }
    Ok(found)
}

/// The state of a process's first thread, a letter of proc(5): `T` and `t` are stopped, `Z` has ended;
/// `None` where there is no such process any more.
pub fn task_state(root: &Path, pid: u32) -> Option<char> {
    let stat = read_text(root, format!("proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// The process that has started another; `None` where there is none any more.
pub fn parent_of(root: &Path, pid: u32) -> Option<u32> {
    let stat = read_text(root, format!("proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Who traces a process; `None` where nobody does, or it is not told.
pub fn tracer_of(root: &Path, pid: u32) -> Option<u32> {
    let status = read_text(root, format!("proc/{pid}/status")).ok()?;
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"))?;
    tracer.trim().parse().ok().filter(|&tracer| tracer != 0)
}

/// One thread of a process; `None` where there is no such thread any more.
fn task(root: &Path, pid: u32, tid: u32) -> Option<Task> {
    let stat = read_text(root, format!("proc/{pid}/task/{tid}/stat")).ok()?;
    let status = read_text(root, format!("proc/{pid}/task/{tid}/status")).ok()?;
    parse_task(tid, &stat, &status)
}

/// From the texts of /proc/PID/task/TID/stat and status.
fn parse_task(tid: u32, stat: &str, status: &str) -> Option<Task> {
    // A name may hold blanks and parentheses; the last closing one ends it.
    let (begin, rest) = stat.rsplit_once(')')?;
    let name = begin.split_once('(')?.1;
    // The first word behind the name is field 3 of proc(5).
    let field = |number: usize| rest.split_ascii_whitespace().nth(number - 3);
    let number = |at: usize| field(at)?.parse::<u64>().ok();
    let cpus = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(Task {
        tid,
        name: name.into(),
        last_cpu: field(39)?.parse().ok()?,
        cpus: cpus.trim().parse().ok()?,
        ticks: number(14)?.checked_add(number(15)?)?,
    })
}

/// Where the pages of a process are, mapping by mapping; those without pages are left out. None are
/// left of a process that has ended. The memory of one whose first thread has ended is found by another
/// thread.
///
/// # Errors
/// When the kernel does not let this user look into the process (ptrace(2), access mode), or has
/// no numa_maps.
pub fn process_pages(root: &Path, pid: u32) -> Result<Vec<MappedPages>, Refusal> {
    let read = |tid: u32| {
        let numa_maps = read_text(root, format!("proc/{pid}/task/{tid}/numa_maps"))?;
        let maps = read_text(root, format!("proc/{pid}/task/{tid}/maps"))?;
        parse(pid, &numa_maps, &maps)
    };
    let pages = read(pid)?;
    if !pages.is_empty() {
        return Ok(pages);
    }
    let others = task_numbers(root, pid)?.into_iter().filter(|&tid| tid != pid);
    // A thread may end meanwhile.
    let mut found = others.map(|tid| read(tid).unwrap_or_default());
    Ok(found.find(|pages| !pages.is_empty()).unwrap_or_default())
}

/// The same as one of its threads has it, without the mappings' ends and which files are programs, which
/// takes half the time.
///
/// # Errors
/// As [`process_pages`], or when there is no such thread.
pub fn task_pages(root: &Path, pid: u32, tid: u32) -> Result<Vec<MappedPages>, Refusal> {
    parse(pid, &read_text(root, format!("proc/{pid}/task/{tid}/numa_maps"))?, "")
}

/// The files that a process maps to be executed: its program and libraries.
///
/// # Errors
/// As [`process_pages`].
pub fn program_files(root: &Path, pid: u32, tid: u32) -> Result<BTreeSet<String>, Refusal> {
    let maps = read_text(root, format!("proc/{pid}/task/{tid}/maps"))?;
    // Of maps only line breaks are written as numbers, which no library's name has.
    let of = |line: &str| {
        let mut fields = line.splitn(6, ' ');
        let is_executable = fields.nth(1)?.contains('x');
        let path = fields.nth(3)?.trim_start();
        (is_executable && path.starts_with('/')).then(|| path.to_string())
    };
    Ok(maps.lines().filter_map(of).collect())
}

fn parse(pid: u32, numa_maps: &str, maps: &str) -> Result<Vec<MappedPages>, Refusal> {
    parse_process_pages(numa_maps, maps)
        .map_err(|reason| Refusal::Content { path: format!("/proc/{pid}/numa_maps"), reason })
}

/// What smaps tells of the mappings of a process beside nodes, by where they start.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MappingDetails {
    /// How much of a mapping's memory is the process's where each page counts as one share of as many as
    /// there are processes that map it (0 to 1).
    pub shares: BTreeMap<usize, f64>,
    /// Mappings of which some is in transparent huge pages.
    pub with_huge_pages: BTreeSet<usize>,
}

/// Reads smaps of a process by one of its threads.
///
/// # Errors
/// When the kernel does not let this user look into the process.
pub fn mapping_details(root: &Path, pid: u32, tid: u32) -> Result<MappingDetails, Refusal> {
    let folder = if tid == pid { format!("{pid}") } else { format!("{pid}/task/{tid}") };
    Ok(parse_mapping_details(&read_text(root, format!("proc/{folder}/smaps"))?))
}

/// From the text of /proc/PID/smaps.
fn parse_mapping_details(smaps: &str) -> MappingDetails {
    let (mut details, mut mapping, mut resident) = (MappingDetails::default(), None, 0.0);
    for line in smaps.lines() {
        let kib = |value: &str| value.trim().strip_suffix(" kB")?.parse::<f64>().ok();
        match line.split_once(':') {
            Some(("Rss", value)) => resident = kib(value).unwrap_or(0.0),
            Some(("Pss", value)) if resident > 0.0 => {
                if let (Some(start), Some(share)) = (mapping, kib(value)) {
                    details.shares.insert(start, (share / resident).min(1.0));
                }
            }
            Some(("AnonHugePages" | "ShmemPmdMapped" | "FilePmdMapped", value)) => {
                let has_some = kib(value).is_some_and(|kib| kib > 0.0);
                details.with_huge_pages.extend(mapping.filter(|_| has_some));
            }
            _ => mapping = parse_header(line).map(|range| range.start()).or(mapping),
        }
    }
    details
}

/// From the texts of /proc/PID/numa_maps and /proc/PID/maps.
///
/// # Errors
/// What cannot be read, in words.
pub fn parse_process_pages(numa_maps: &str, maps: &str) -> Result<Vec<MappedPages>, String> {
    let mut found = Vec::new();
    let executable: BTreeSet<usize> = maps
        .lines()
        .filter(|line| line.split(' ').nth(1).is_some_and(|rights| rights.contains('x')))
        .filter_map(|line| Some(parse_header(line)?.start()))
        .collect();
    let mut programs: BTreeSet<String> = BTreeSet::new();
    for line in lines(numa_maps, maps) {
        let (start, range, line) = line?;
        let Counts { page_bytes, nodes, .. } = parse_counts(line)?;
        let kind = kind_of(line);
        let file = (kind == MappingKind::File).then(|| file_of(line)).flatten();
        programs.extend(file.clone().filter(|_| executable.contains(&start)));
        if nodes.is_empty() {
            continue;
        }
        found.push(MappedPages {
            start,
            range,
            kind,
            file,
            page_bytes,
            nodes,
            own_pages: own_pages(line),
            is_mapped_twice: line.contains(" mapmax="),
            is_program: false,
            is_of_tmpfs: false,
        });
    }
    for mapping in &mut found {
        mapping.is_program = mapping.file.as_ref().is_some_and(|file| programs.contains(file));
    }
    Ok(found)
}

/// Those that the kernel counts as anonymous; those of hugetlb's memory without a file are all.
fn own_pages(line: &str) -> u64 {
    let mut words = line.split_ascii_whitespace();
    words.find_map(|word| word.strip_prefix("anon=")?.parse().ok()).unwrap_or(0)
}

/// The path of a mapped file, of which the kernel writes some letters as octal numbers.
fn file_of(line: &str) -> Option<String> {
    let path = line.split_ascii_whitespace().find_map(|word| word.strip_prefix("file="))?;
    let mut parts = path.split('\\');
    let mut read = parts.next()?.to_string();
    for part in parts {
        let number = part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match number {
            Some(letter) => {
                read.push(letter.into());
                read.push_str(&part[3..]);
            }
            None => {
                read.push('\\');
                read.push_str(part);
            }
        }
    }
    Some(read)
}

/// How the kernel names shared memory.
const SHARED: [(&str, SharedMemory); 4] = [
    ("file=/dev/shm/", SharedMemory::Posix),
    ("file=/SYSV", SharedMemory::SystemV),
    ("file=/memfd:", SharedMemory::Memfd),
    ("file=/dev/zero", SharedMemory::Unnamed),
];

fn kind_of(line: &str) -> MappingKind {
    let is_huge = line.split_ascii_whitespace().any(|word| word == "huge");
    let shared = |word: &str| SHARED.iter().find(|(name, _)| word.starts_with(name));
    let mut words = line.split_ascii_whitespace();
    let kind = words.find_map(|word| match word {
        "stack" => Some(MappingKind::Stack),
        "heap" => Some(MappingKind::Heap),
        word if shared(word).is_some() => shared(word).map(|&(_, kind)| MappingKind::Shared(kind)),
        // Pages that the process has changed for itself are no file's; `/anon_hugepage` is what the kernel
        // calls huge pages that no file system of the user's holds, shared or not.
        word if word.starts_with("file=") && is_huge => Some(match own_pages(line) {
            0 => MappingKind::Shared(SharedMemory::HugePages),
            _ => MappingKind::Anonymous,
        }),
        word if word.starts_with("file=") => Some(MappingKind::File),
        _ => None,
    });
    kind.unwrap_or(MappingKind::Anonymous)
}

#[cfg(test)]
mod tests {
    use super::*;

    // The shape of the lines of Linux 6.12.
    const MAPS: &str = "\
555e05323000-555e05325000 r--p 00000000 fe:00 247278   /usr/bin/N0=9
7f0000000000-7f0000010000 rw-p 00000000 00:00 0
7f0000200000-7f0000220000 rw-p 00000000 00:00 0
";
    const NUMA_MAPS: &str = "\
555e05323000 default file=/usr/bin/N0=9 mapped=2 N3=2 kernelpagesize_kB=4
7f0000000000 bind:1 anon=15 dirty=15 active=0 N1=15 kernelpagesize_kB=4
7f0000200000 weighted interleave:0,2 anon=32 dirty=32 N0=24 N2=8 kernelpagesize_kB=4
7f0000220000 default
7f0000400000 prefer:3 file=/anon_hugepage\\040(deleted) huge anon=3 dirty=3 N3=3 kernelpagesize_kB=2048
7f0000580000 prefer:3 file=/anon_hugepage\\040(deleted) huge dirty=2 N3=2 kernelpagesize_kB=2048
7f0000600000 default file=/dev/zero\\040(deleted) dirty=5 N2=5 kernelpagesize_kB=4
7f0000650000 default file=/SYSV00000000\\040(deleted) dirty=5 N2=5 kernelpagesize_kB=4
7f0000660000 default file=/memfd:a\\040(deleted) huge dirty=1 N2=1 kernelpagesize_kB=2048
7f0000670000 default file=/dev/hugepages/a huge dirty=1 N2=1 kernelpagesize_kB=2048
7f0000680000 default file=/dev/hugepages/a huge anon=1 dirty=1 N2=1 kernelpagesize_kB=2048
7f0000690000 default file=/a\\040b\\075c\\9 mapped=1 N2=1 kernelpagesize_kB=4
7f0000700000 default file=/lib/libc.so.6 anon=2 dirty=2 mapped=3 N0=1 N2=2 kernelpagesize_kB=4
7ffd00000000 default stack anon=3 dirty=3 N0=3 kernelpagesize_kB=4
";

    #[test]
    fn mappings_tell_kind_and_nodes() {
        let found = parse_process_pages(NUMA_MAPS, MAPS).unwrap();
        let told: Vec<_> =
            found.iter().map(|it| (it.kind, it.nodes.clone(), it.own_pages)).collect();
        assert_eq!(
            told,
            [
                (MappingKind::File, [(3, 2)].into(), 0),
                (MappingKind::Anonymous, [(1, 15)].into(), 15),
                (MappingKind::Anonymous, [(0, 24), (2, 8)].into(), 32),
                (MappingKind::Anonymous, [(3, 3)].into(), 3),
                (MappingKind::Shared(SharedMemory::HugePages), [(3, 2)].into(), 0),
                (MappingKind::Shared(SharedMemory::Unnamed), [(2, 5)].into(), 0),
                (MappingKind::Shared(SharedMemory::SystemV), [(2, 5)].into(), 0),
                (MappingKind::Shared(SharedMemory::Memfd), [(2, 1)].into(), 0),
                (MappingKind::Shared(SharedMemory::HugePages), [(2, 1)].into(), 0),
                (MappingKind::Anonymous, [(2, 1)].into(), 1),
                (MappingKind::File, [(2, 1)].into(), 0),
                (MappingKind::File, [(0, 1), (2, 2)].into(), 2),
                (MappingKind::Stack, [(0, 3)].into(), 3),
            ]
        );
        let files: Vec<_> = found.iter().filter_map(|it| it.file.as_deref()).collect();
        assert_eq!(files, ["/usr/bin/N0=9", "/a b=c\\9", "/lib/libc.so.6"]);
        assert_eq!(found.iter().filter(|it| it.range.is_some()).count(), 3);
        assert_eq!(found[1].range, Some(AddressRange::new(0x7f00_0000_0000, 0x10000)));
    }

    #[test]
    fn memory_that_processes_share_and_huge_pages_are_told_by_mapping() {
        let smaps = "1000-3000 rw-p 00000000 00:00 0 [heap]\nSize: 8 kB\nRss:    8 kB\nPss:   2 kB\n\
            AnonHugePages: 0 kB\n4000-5000 rw-p 00000000 00:00 0\nRss: 0 kB\nPss: 0 kB\nVmFlags: rd wr\n\
            7000-9000 rw-p 00000000 00:00 0\nRss: 4 kB\nPss: 4 kB\nAnonHugePages: 2048 kB\n";
        let found = parse_mapping_details(smaps);
        assert_eq!(found.shares, [(0x1000, 0.25), (0x7000, 1.0)].into());
        assert_eq!(found.with_huge_pages, [0x7000].into());
    }

    #[test]
    fn tasks_are_read_whatever_their_name() {
        let fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
        let stat = format!("7 (a) b (c) {}\n", fields.join(" "));
        let status = "Name:\ta\nCpus_allowed_list:\t0-1,4\n";
        let task = parse_task(7, &stat, status).unwrap();
        assert_eq!((task.name.as_str(), task.last_cpu, task.ticks), ("a) b (c", 39, 29));
        assert_eq!(task.cpus.to_string(), "0-1,4");
        assert_eq!(parse_task(7, "7 (a", status), None);
        assert_eq!(parse_task(7, "7 (a) S 1", status), None);
    }

    #[test]
    fn this_process_is_seen() {
        let (root, pid) = (Path::new("/"), std::process::id());
        let tasks = tasks(root, pid).unwrap();
        assert!(tasks.iter().any(|task| task.tid == pid && !task.cpus.is_empty()), "{tasks:?}");
        assert_eq!(process_of_task(root, pid), Some(pid));
        // Threads of other tests end meanwhile.
        let mut owners = tasks.iter().filter_map(|task| process_of_task(root, task.tid));
        assert!(owners.all(|owner| owner == pid));
        let pages = process_pages("/".as_ref(), pid).unwrap();
        assert!(pages.iter().any(|it| it.kind == MappingKind::Stack), "{pages:?}");
        assert!(super::tasks("/".as_ref(), u32::MAX).is_err());
        assert!(descendants("/".as_ref(), u32::MAX).is_err());
    }

    #[test]
    fn descendants_are_those_of_recorded_files() {
        let tree = crate::file_tree::file_tree([
            ("proc/5/task/5/children", "6 7 "),
            ("proc/5/task/9/children", "8 "),
            ("proc/6/task/6/children", ""),
            ("proc/8/task/8/children", "10 "),
        ]);
        assert_eq!(descendants(tree.path(), 5).unwrap(), [6, 7, 8, 10]);
        assert_eq!(descendants(tree.path(), 8).unwrap(), [10]);
        assert!(descendants(tree.path(), 10).is_err());
    }
}
