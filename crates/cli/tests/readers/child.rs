//! The process that reads: it makes the inputs that it is asked for, hands them to a reader,
//! and tells what came of them. Its limits are those of the program's own child that reads
//! foreign topologies.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::panic::{self, AssertUnwindSafe};
use std::time::Instant;

use crate::corpus;
use crate::mutation::Mutator;
use crate::options::Options;
use crate::strangers::{Outcome, READERS, Reader};
use crate::tally::Tally;

const ADDRESS_SPACE_BYTES: u64 = 2 << 30;
/// Before every line that is for the campaign: the test runner prints as well.
pub const MARK: &str = "campaign: ";

thread_local! {
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Reads lines `READER FIRST COUNT` and answers each by
/// `done ACCEPTED REJECTED LONGEST_NS SLOWEST`, or, when a reader broke its word at an input, by
/// `failed`, the same of the inputs before, `INDEX WHY`.
pub fn serve(options: Options) {
    nearfar_sys::limit_self(options.length.as_secs() + 600, ADDRESS_SPACE_BYTES).unwrap();
    panic::set_hook(Box::new(|panic| {
        LAST_PANIC.with_borrow_mut(|last| *last = panic.to_string());
    }));
    let mut mutators = HashMap::new();
    for line in io::stdin().lock().lines() {
        let line = line.unwrap();
        let mut words = line.split(' ');
        let name = words.next().unwrap();
        let mut number = || words.next().unwrap().parse::<u64>().unwrap();
        let (first, count) = (number(), number());
        let reader = READERS.iter().find(|reader| reader.name == name).unwrap();
        let mutator = mutators
            .entry(reader.name)
            .or_insert_with(|| Mutator::new(options.seed, reader.name, corpus::files(reader.name)));
        let answer = read_all(reader, mutator, first, count);
        // print! would be kept back by the test runner.
        io::stdout().write_all(format!("{MARK}{answer}\n").as_bytes()).unwrap();
    }
}

fn read_all(reader: &Reader, mutator: &Mutator, first: u64, count: u64) -> String {
    let mut tally = Tally::default();
    let mut failed = None;
    for index in first..first + count {
        let input = mutator.input(index);
        let started = Instant::now();
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| (reader.read)(&input)));
        tally.note_time(index, started.elapsed());
        match outcome {
            Ok(Outcome::Accepted) => tally.accepted += 1,
            Ok(Outcome::Rejected(_)) => tally.rejected += 1,
            Err(_) => {
                failed = Some(index);
                break;
            }
        }
    }
    let counts = format!(
        "{} {} {} {}",
        tally.accepted,
        tally.rejected,
        tally.longest.as_nanos(),
        tally.slowest
    );
    match failed {
        None => format!("done {counts}"),
        Some(index) => {
            let why = LAST_PANIC.with_borrow(|last| last.escape_debug().to_string());
            format!("failed {counts} {index} {why}")
        }
    }
}
