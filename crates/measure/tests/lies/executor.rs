//! An executor that counts wrongly: what contradicts itself is refused, and no sample of it
//! gets into the record.

use std::time::Duration;

use nearfar_measure::native::NativeExecutor;
use nearfar_measure::{Executor, Failure, OfferedVariants, Rates, Window, WindowRequest};
use nearfar_record::{Absence, Case, Executor as ExecutorKind, Proof, Reason, ReasonCode};

use crate::native;

/// What is done to an honest window.
type Lie = fn(&mut Window);

/// Runs cases honestly and lies about them.
struct LyingExecutor {
    honest: NativeExecutor,
    lie: Lie,
}

impl Executor for LyingExecutor {
    fn kind(&self) -> ExecutorKind {
        self.honest.kind()
    }

    fn variants(&self) -> OfferedVariants {
        self.honest.variants()
    }

    fn look(&mut self) -> Result<Rates, Reason> {
        self.honest.look()
    }

    fn now(&self) -> Duration {
        self.honest.now()
    }

    fn begin_round(&mut self, cases: &[&Case]) {
        self.honest.begin_round(cases);
    }

    fn run(&mut self, case: &Case, request: WindowRequest) -> Result<Vec<Window>, Failure> {
        let mut windows = self.honest.run(case, request)?;
        windows.iter_mut().for_each(self.lie);
        Ok(windows)
    }

    fn peak_resident_bytes(&self) -> Option<u64> {
        self.honest.peak_resident_bytes()
    }
}

/// Makes all counts of bytes follow from the threads' again.
fn add_up(window: &mut Window) {
    for actor in &mut window.actors {
        actor.useful_bytes = actor.threads.iter().map(|thread| thread.useful_bytes).sum();
        actor.traffic_bytes_min = actor.useful_bytes;
        actor.traffic_bytes_max = actor.useful_bytes;
        actor.accesses = actor.useful_bytes / 8;
    }
}

fn proof(window: &mut Window) -> &mut Proof {
    window.actors[0].proof.as_mut().expect("a stream's pages are proven")
}

const LIES: [(&str, Lie, &str); 12] = [
    ("twice the bytes", |window| window.actors[0].useful_bytes *= 2, "threads' sum"),
    (
        "bytes of passes that were not made",
        |window| {
            for thread in &mut window.actors[0].threads {
                thread.useful_bytes += (thread.passes + 2) * native::WORKING_SET;
            }
            add_up(window);
        },
        "passes of",
    ),
    (
        "bytes that no core moves",
        |window| {
            for thread in &mut window.actors[0].threads {
                thread.passes *= 1_000_000;
                // 3e12 bytes/s, in whole elements of every kernel.
                let bytes = window.length.as_nanos() * 3000;
                thread.useful_bytes = u64::try_from(bytes).unwrap() / 24 * 24;
            }
            add_up(window);
        },
        "no core can",
    ),
    ("operations of nobody", |window| window.actors[0].accesses += 1000, "accesses"),
    ("a window without time", |window| window.length = Duration::ZERO, "without length"),
    ("a short window", |window| window.length = Duration::from_millis(4), "none is shorter"),
    ("one thread less", |window| window.actors[0].threads.truncate(0), "threads"),
    (
        "pages on a node that is not there",
        |window| {
            let pages = &mut proof(window).after.pages;
            *pages = pages.values().map(|&pages| (4711, pages)).collect();
        },
        "node 4711",
    ),
    (
        "half of the pages unknown",
        |window| {
            let found = &mut proof(window).before;
            for pages in found.pages.values_mut() {
                *pages /= 2;
                found.unknown += *pages;
            }
        },
        "% of the pages",
    ),
    (
        "a page fault that is not told",
        |window| window.actors[0].threads[0].minor_faults += 1,
        "its threads noted",
    ),
    // What only several windows together show.
    ("windows that overlap", |window| window.start = Duration::ZERO, "while the one before closes"),
    (
        "one pass in all windows of a round",
        |window| {
            let threads = &mut window.actors[0].threads;
            let pass = native::WORKING_SET / threads.len() as u64;
            for thread in threads {
                thread.passes = 1;
                thread.useful_bytes = pass / 2 * 3 / 24 * 24;
            }
            add_up(window);
        },
        "in the round's windows so far",
    ),
];

#[test]
fn an_honest_executor_is_believed() {
    let _alone = native::alone();
    let folder = tempfile::tempdir().unwrap();
    let mut honest = LyingExecutor { honest: native::executor(), lie: |_| {} };
    let record = native::measure(&folder.path().join("r.jsonl"), &mut honest);
    assert!(record.absent.iter().all(|absent| absent.absence == Absence::Omitted));
    assert_eq!(record.samples.len(), record.cases.len() * 2 * 2);
}

#[test]
fn counts_that_contradict_each_other_never_get_into_a_record() {
    let _alone = native::alone();
    let folder = tempfile::tempdir().unwrap();
    for (name, lie, why) in LIES {
        // Where nothing is measured, a record that is there stays.
        let path = folder.path().join(format!("{}.jsonl", name.replace(' ', "-")));
        let mut lying = LyingExecutor { honest: native::executor(), lie };
        let record = native::measure(&path, &mut lying);
        assert!(record.samples.is_empty(), "{name}: a sample went through");
        let refused: Vec<_> =
            record.absent.iter().filter(|absent| absent.absence == Absence::Refused).collect();
        assert_eq!(refused.len(), record.cases.len(), "{name}");
        for absent in refused {
            assert_eq!(absent.reason.code, ReasonCode::Contradiction, "{name}");
            assert!(absent.reason.text.contains(why), "{name}: {}", absent.reason.text);
        }
    }
}

/// What the windows of one case are refused for does not hold for those of the others.
#[test]
fn windows_that_are_refused_leave_no_trace() {
    let _alone = native::alone();
    let folder = tempfile::tempdir().unwrap();
    let lie: Lie = |window| {
        if window.actors[0].kernel == "load" {
            // The first windows of a round are believed, the second are not.
            window.start += Duration::from_secs(3600);
            window.length += Duration::from_secs(1);
        }
    };
    let mut lying = LyingExecutor { honest: native::executor(), lie };
    let record = native::measure(&folder.path().join("r.jsonl"), &mut lying);
    let of_kernel = |case: &&Case| case.id.contains("/triad/");
    let honest = record.cases.iter().filter(of_kernel).count();
    assert!(honest > 0 && honest < record.cases.len());
    assert_eq!(record.samples.len(), honest * 2 * 2);
}
