//! Counts of recorded and of living processes.

use nearfar_sys::parse_process_pages;

use super::*;

// Linux 6.1 on a machine with four nodes.
const NUMA_MAPS: &str = "\
555e05323000 interleave:0-3 file=/usr/bin/work mapped=200 N3=200 kernelpagesize_kB=4
555e05523000 interleave:0-3 file=/usr/bin/work anon=3 dirty=3 mapped=9 N1=9 kernelpagesize_kB=4
555e05623000 default file=/usr/lib/libc.so anon=4 dirty=4 mapped=9 N1=5 N2=4 kernelpagesize_kB=4
555e06000000 interleave:0-3 heap anon=33 dirty=33 N0=9 N1=8 N2=8 N3=8 kernelpagesize_kB=4
7f0000000000 interleave:0-3 anon=2 dirty=2 N1=1 N2=1 kernelpagesize_kB=2048
7f0010000000 default file=/dev/shm/segment dirty=6 N0=2 N2=4 kernelpagesize_kB=4
7ffd00000000 interleave:0-3 stack anon=3 dirty=3 N0=3 kernelpagesize_kB=4
";

#[test]
fn own_shared_and_changed_memory_are_told_apart() {
    let mappings = parse_process_pages(NUMA_MAPS, "").unwrap();
    let memory = ProcessMemory::of(&mappings, None);
    let large = 2 << 20;
    let own = [(0, 12 << 12), (1, (11 << 12) + large), (2, (8 << 12) + large), (3, 8 << 12)];
    assert_eq!(memory.own, own.into());
    assert_eq!(memory.changed_file_bytes, 8 << 12, "of 9 pages of libc one is surely on node 1");
    let shared = [(0, 2 << 12), (2, 4 << 12)].into();
    assert_eq!(memory.shared, [(SharedKind::Posix, shared)].into());
    assert_eq!(memory.files, BTreeMap::new(), "a file of 800 KiB is small");
}

#[test]
fn files_are_shared_memory_on_tmpfs_and_small_ones_count_together() {
    let lines = "1000 default file=/mem/a N1=512 kernelpagesize_kB=4\n\
            9000 default file=/data/a N0=100 kernelpagesize_kB=4\n\
            a000 default file=/data/b N0=50 N1=1 kernelpagesize_kB=4\n\
            b000 default file=/lib/small N0=60 kernelpagesize_kB=4\n";
    let mut mappings = parse_process_pages(lines, "").unwrap();
    mappings[0].is_of_tmpfs = true;
    mappings[3].is_program = true;
    let memory = ProcessMemory::of(&mappings, None);
    assert_eq!(memory.shared, [(SharedKind::Tmpfs, [(1, 2 << 20)].into())].into());
    assert_eq!(memory.small_files, [(0, 150 << 12), (1, 1 << 12)].into());
    assert_eq!((memory.files.len(), memory.mapped_bytes()), (0, (151 << 12) + (2 << 20)));
}

/// A private mapping of 200 MiB keeps the file's part when the program writes some pages elsewhere.
#[test]
fn a_file_that_was_changed_in_part_still_counts() {
    let of = |counts: &str| {
        let line = format!("1000 default file=/model {counts} kernelpagesize_kB=4\n");
        ProcessMemory::of(&parse_process_pages(&line, "").unwrap(), None)
    };
    let on = |bytes: &[(u32, u64)]| bytes.iter().copied().collect::<BTreeMap<u32, u64>>();
    let little = of("anon=1 N0=51199 N1=1");
    assert_eq!(little.files["/model"], on(&[(0, 51198 << 12), (1, 0)]));
    assert_eq!((little.changed_file_bytes, little.mapped_bytes()), (2 << 12, 200 << 20));
    // Which half is whose is not told, but all of it is there.
    let half = of("anon=25600 N0=25600 N1=25600");
    assert_eq!((half.changed_file_bytes, half.files.len()), (200 << 20, 0));
    let one_node = of("anon=25600 N0=51200");
    assert_eq!(one_node.files["/model"], on(&[(0, 100 << 20)]));
    assert_eq!((one_node.own, one_node.changed_file_bytes), (on(&[(0, 100 << 20)]), 0));
}

#[test]
fn a_file_of_several_processes_counts_once() {
    let of = |pages: u64| {
        let line = format!("1000 default file=/model N0={pages} N1=256 kernelpagesize_kB=4\n");
        ProcessMemory::of(&parse_process_pages(&line, "").unwrap(), None)
    };
    let mut census = Census::default();
    for (pid, pages) in [(1, 256), (2, 512), (3, 300)] {
        census.count(pid, of(pages));
    }
    census.remember(CountMethod::Seen, Duration::ZERO);
    let files = census.kept().unwrap().memory.files;
    assert_eq!(files, [("/model".into(), [(0, 2 << 20), (1, 1 << 20)].into())].into());
}

/// A program of 2 GiB that starts 63 children of itself has 2 GiB and not 128.
#[test]
fn a_page_of_several_processes_counts_once() {
    let numa_maps = "1000 default heap anon=524288 N0=524288 kernelpagesize_kB=4\n";
    let maps = "1000-80001000 rw-p 00000000 00:00 0 [heap]\n";
    let mappings = parse_process_pages(numa_maps, maps).unwrap();
    let shares = [(0x1000, 1.0 / 64.0)].into();
    let shares = MappingDetails { shares, ..MappingDetails::default() };
    let mut census = Census::default();
    for pid in 1..=64 {
        census.count(pid, ProcessMemory::of(&mappings, Some(&shares)));
    }
    census.remember(CountMethod::Seen, Duration::ZERO);
    let kept = census.kept().unwrap();
    assert_eq!((kept.memory.own, kept.processes), ([(0, 2 << 30)].into(), 64));
}

fn own(bytes: u64, node: u32) -> ProcessMemory {
    ProcessMemory { own: [(node, bytes)].into(), ..ProcessMemory::default() }
}

/// While processes come and go the largest is what the program has at least.
#[test]
fn one_process_stands_for_the_program_until_all_had_more() {
    let mut census = Census::default();
    census.remember_one(CountMethod::Seen, Duration::ZERO, own(1000, 0));
    census.remember_one(CountMethod::Seen, Duration::ZERO, own(900, 3));
    assert_eq!(census.kept.clone().unwrap().memory.own, [(0, 1000)].into());
    census.count(1, own(600, 1));
    census.remember(CountMethod::Seen, Duration::ZERO);
    assert_eq!(census.kept.clone().unwrap().memory.own, [(0, 1000)].into());
    census.count(2, own(500, 2));
    census.remember(CountMethod::Seen, Duration::ZERO);
    let kept = census.kept().unwrap();
    assert_eq!((kept.memory.own, kept.processes), ([(1, 600), (2, 500)].into(), 2));
}

/// Processes that come one after the other are not added up, and memory that was freed before the
/// end still counts.
#[test]
fn the_last_moment_with_the_most_memory_is_kept() {
    let mut census = Census::default();
    let at = Duration::from_secs;
    let seen = |census: &mut Census, pid, memory, second| {
        census.count(pid, memory);
        census.remember(CountMethod::Seen, at(second));
    };
    seen(&mut census, 1, own(1000, 0), 1);
    census.forget(1);
    seen(&mut census, 2, own(995, 1), 2);
    census.keep_living(&BTreeSet::new());
    seen(&mut census, 3, own(10, 2), 3);
    let kept = census.kept.clone().unwrap();
    assert_eq!((kept.memory, kept.at, kept.processes), (own(995, 1), at(2), 1));
    census.count(4, own(985, 3));
    census.remember(CountMethod::AtEnd, at(4));
    seen(&mut census, 4, own(980, 0), 5);
    let kept = census.kept().unwrap();
    assert_eq!((kept.method, kept.memory.own), (CountMethod::AtEnd, [(2, 10), (3, 985)].into()));
}

#[test]
fn shares_and_their_deviation() {
    let found = shares(&[(0, 75), (1, 20), (3, 5)].into()).unwrap();
    let asked = [(0, 0.75), (1, 0.25)].into();
    assert!((largest_deviation(&found, &asked) - 0.05).abs() < 1e-12);
    assert_eq!(shares(&[(0, 0)].into()), None);
}
