//! A run over all readers: two processes take turns at the readers, each turn of the same
//! length, until the time is over.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::corpus;
use crate::mutation::Mutator;
use crate::options::{self, Options};
use crate::process::{Answer, Process};
use crate::strangers::{READERS, Reader};
use crate::tally::Tally;

const PROCESSES: usize = 2;
/// How long a process stays with a reader, and what it is asked for at once should take.
const TURN: Duration = Duration::from_millis(100);
const REQUEST: Duration = Duration::from_millis(40);
/// After so many failures a reader is known to be broken and gets no more inputs.
const MOST_FAILURES: usize = 3;

/// A run and what has come of it.
pub struct Campaign {
    options: Options,
    lanes: Vec<Lane>,
    /// Positions in `lanes`, each as often as the reader's share.
    turns: Vec<usize>,
    next_turn: AtomicUsize,
}

/// One reader's part.
struct Lane {
    reader: Reader,
    corpus: usize,
    next_input: AtomicU64,
    /// Inputs that take about [`REQUEST`].
    request: AtomicU64,
    tally: Mutex<Tally>,
    failures: Mutex<Vec<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Campaign {
    pub fn new(options: Options) -> Self {
        let lanes: Vec<Lane> = READERS
            .into_iter()
            .map(|reader| Lane {
                reader,
                corpus: corpus::files(reader.name).len(),
                next_input: AtomicU64::new(0),
                request: AtomicU64::new(1),
                tally: Mutex::default(),
                failures: Mutex::default(),
            })
            .collect();
        // Round by round, so that no reader waits for long.
        let rounds = READERS.iter().map(|reader| reader.share).max().unwrap_or(0);
        let turns = (0..rounds)
            .flat_map(|round| (0..lanes.len()).filter(move |&lane| READERS[lane].share > round))
            .collect();
        Self { options, lanes, turns, next_turn: AtomicUsize::new(0) }
    }

    /// Reads until the time is over.
    pub fn run(&self) {
        let folder = tempfile::tempdir().unwrap();
        let end = Instant::now() + self.options.length;
        std::thread::scope(|scope| {
            for _ in 0..PROCESSES {
                scope.spawn(|| self.take_turns(end, folder.path()));
            }
        });
    }

    pub fn failures(&self) -> Vec<String> {
        self.lanes.iter().flat_map(|lane| lock(&lane.failures).clone()).collect()
    }

    pub fn tallies(&self) -> Vec<(Reader, Tally)> {
        self.lanes.iter().map(|lane| (lane.reader, *lock(&lane.tally))).collect()
    }

    fn take_turns(&self, end: Instant, folder: &Path) {
        let mut process = Process::start(self.options, folder);
        while Instant::now() < end {
            let turn = self.next_turn.fetch_add(1, Ordering::Relaxed);
            let lane = &self.lanes[self.turns[turn % self.turns.len()]];
            let turn_ends = (Instant::now() + TURN).min(end);
            while Instant::now() < turn_ends && lock(&lane.failures).len() < MOST_FAILURES {
                let count = lane.request.load(Ordering::Relaxed);
                let first = lane.next_input.fetch_add(count, Ordering::Relaxed);
                let asked = Instant::now();
                let is_whole = self.read(&mut process, lane, first, count, folder);
                let took = asked.elapsed();
                if is_whole && took < REQUEST / 2 {
                    lane.request.store(count * 2, Ordering::Relaxed);
                } else if took > REQUEST * 4 {
                    lane.request.store((count / 2).max(1), Ordering::Relaxed);
                }
            }
        }
    }

    /// Has inputs read and notes what came of it; says whether all went well. Where the process
    /// died, a new one reads them one by one, until the input that did it is found.
    fn read(
        &self,
        process: &mut Process,
        lane: &Lane,
        first: u64,
        count: u64,
        folder: &Path,
    ) -> bool {
        let name = lane.reader.name;
        match process.read(name, first, count) {
            Answer::Done(tally) => {
                lock(&lane.tally).add(tally);
                return true;
            }
            Answer::Failed { before, index, why } => {
                lock(&lane.tally).add(before);
                self.fail(lane, index, &why);
            }
            Answer::Gone(why) => {
                *process = Process::start(self.options, folder);
                if count == 1 {
                    self.note_death(lane, first, &why);
                    return false;
                }
                let all_well =
                    (first..first + count).all(|index| self.read(process, lane, index, 1, folder));
                if all_well {
                    let why = format!("{why}, and not when its {count} inputs are read singly");
                    self.fail(lane, first, &why);
                }
            }
        }
        false
    }

    /// A process died of one input. Where a C library reads, the program itself must stand that
    /// and say so.
    fn note_death(&self, lane: &Lane, index: u64, why: &str) {
        if !lane.reader.in_c {
            self.fail(lane, index, why);
            return;
        }
        lock(&lane.tally).crashed += 1;
        let path = self.keep(lane, index);
        let mut program = Command::new("timeout");
        program.args(["120", env!("CARGO_BIN_EXE_nearfar")]);
        let input = fs::read(&path).unwrap();
        match lane.reader.name {
            "xml" => program.args(["topo", "--xml"]).arg(&path),
            _ => {
                program.args(["topo", "--synthetic"]).arg(String::from_utf8_lossy(&input).as_ref())
            }
        };
        let output = program.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.code() != Some(2) || !said.contains("hwloc crashed") {
            self.fail(lane, index, &format!("{why}, and the program says: {said}"));
        }
    }

    /// Writes an input where it can be looked at.
    fn keep(&self, lane: &Lane, index: u64) -> String {
        let Options { seed, .. } = self.options;
        let name = lane.reader.name;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        fs::create_dir_all(folder).unwrap();
        let path = folder.join(format!("fuzz-{name}-{seed}-{index}"));
        let mutator = Mutator::new(seed, name, corpus::files(name));
        fs::write(&path, mutator.input(index)).unwrap();
        path.display().to_string()
    }

    fn fail(&self, lane: &Lane, index: u64, why: &str) {
        let path = self.keep(lane, index);
        let name = lane.reader.name;
        lock(&lane.failures).push(format!(
            "{name}, input {index}: {why}\n  again: {}={name}:{path} cargo test -p nearfar --test \
             readers replays_an_input",
            options::INPUT
        ));
    }

    /// Prints what was done.
    pub fn say_table(&self) {
        let mut lines = vec![format!(
            "{:<20} {:>6} {:>10} {:>10} {:>10} {:>8} {:>10}",
            "reader", "corpus", "mutations", "accepted", "rejected", "crashed", "longest ms"
        )];
        let (mut mutations, mut crashed) = (0, 0);
        for (lane, (reader, tally)) in self.lanes.iter().zip(self.tallies()) {
            let own = tally.inputs().saturating_sub(lane.corpus as u64);
            (mutations, crashed) = (mutations + own, crashed + tally.crashed);
            lines.push(format!(
                "{:<20} {:>6} {own:>10} {:>10} {:>10} {:>8} {:>10.1}",
                reader.name,
                lane.corpus,
                tally.accepted,
                tally.rejected,
                tally.crashed,
                tally.longest.as_secs_f64() * 1e3
            ));
        }
        let Options { length, seed } = self.options;
        lines.push(format!(
            "{mutations} mutations in {} s by {PROCESSES} processes, seed {seed}; {} failures; {crashed} \
             crashes of hwloc that the program stands",
            length.as_secs(),
            self.failures().len()
        ));
        options::say(&lines.join("\n"));
    }
}
