//! The samples of a record by case, and what their threads did added up. A full record of a large
//! machine has hundreds of thousands of samples with millions of threads, which lie all over
//! memory: all cores fetch them, once.

use std::collections::HashMap;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread::{ScopedJoinHandle, available_parallelism, scope};

use nearfar_record::{CaseSummary, Part, Record, Sample, SampleTotals, Work, summarize};

/// Samples and their totals, those of one case side by side.
#[derive(Debug)]
pub(crate) struct SamplesByCase<'a> {
    samples: Vec<&'a Sample>,
    totals: Vec<SampleTotals>,
    /// Positions among `cases`, by id.
    numbers: HashMap<&'a str, usize>,
    cases: Vec<OfCase>,
}

#[derive(Debug)]
struct OfCase {
    positions: Range<usize>,
    /// Of the useful bytes of all actors, once it was asked for: most tables do.
    summary: OnceLock<Option<CaseSummary>>,
}

/// The samples of one case, in the order of the record.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CaseSamples<'a> {
    pub samples: &'a [&'a Sample],
    pub totals: &'a [SampleTotals],
    summary: Option<&'a OnceLock<Option<CaseSummary>>>,
}

impl<'a> SamplesByCase<'a> {
    pub fn new(record: &'a Record) -> Self {
        let mut numbers: HashMap<&str, usize> = HashMap::with_capacity(record.cases.len());
        for case in &record.cases {
            number_of(&mut numbers, &case.id);
        }
        let known = by_all_cores(&record.samples, |sample| numbers.get(&*sample.case).copied());
        let of_samples = record.samples.iter().zip(known);
        let of_samples: Vec<usize> = of_samples
            .map(|(sample, known)| known.unwrap_or_else(|| number_of(&mut numbers, &sample.case)))
            .collect();
        let cases = positions(&of_samples, numbers.len());
        let mut next: Vec<usize> = cases.iter().map(|positions| positions.start).collect();
        let mut order = vec![0; of_samples.len()];
        for (position, number) in of_samples.into_iter().enumerate() {
            order[next[number]] = position;
            next[number] += 1;
        }
        let samples: Vec<&Sample> =
            order.into_iter().map(|position| &record.samples[position]).collect();
        let totals = by_all_cores(&samples, |sample| sample.totals());
        let of_case = |positions| OfCase { positions, summary: OnceLock::new() };
        Self { samples, totals, numbers, cases: cases.into_iter().map(of_case).collect() }
    }

    pub fn of_case(&self, id: &str) -> CaseSamples<'_> {
        let found = self.numbers.get(id).and_then(|&number| self.cases.get(number));
        let Some(OfCase { positions, summary }) = found else {
            return CaseSamples::default();
        };
        CaseSamples {
            samples: &self.samples[positions.clone()],
            totals: &self.totals[positions.clone()],
            summary: Some(summary),
        }
    }
}

impl CaseSamples<'_> {
    /// Useful bytes of all actors; `None` without samples.
    pub fn summary(&self) -> Option<CaseSummary> {
        let summary = || summarize(self.totals, Part::Case, Work::UsefulBytes);
        self.summary?.get_or_init(summary).clone()
    }
}

/// The number of a case, known already or new.
fn number_of<'a>(numbers: &mut HashMap<&'a str, usize>, id: &'a str) -> usize {
    let next = numbers.len();
    *numbers.entry(id).or_insert(next)
}

/// Where the samples of each case stand once they are sorted.
fn positions(of_samples: &[usize], cases: usize) -> Vec<Range<usize>> {
    let mut counts = vec![0; cases];
    for &number in of_samples {
        counts[number] += 1;
    }
    let mut end = 0;
    let mut next = |count: usize| {
        let start = end;
        end += count;
        start..end
    };
    counts.into_iter().map(&mut next).collect()
}

/// What is made of each, in their order.
fn by_all_cores<From: Sync, To: Send>(all: &[From], of: impl Fn(&From) -> To + Sync) -> Vec<To> {
    let workers = available_parallelism().map_or(1, usize::from);
    let part = all.len().div_ceil(workers).max(1);
    let of_part = |part: &[From]| part.iter().map(&of).collect::<Vec<To>>();
    scope(|scope| {
        let parts: Vec<_> = all.chunks(part).map(|part| scope.spawn(|| of_part(part))).collect();
        let ended = parts.into_iter().map(ScopedJoinHandle::join);
        ended.flat_map(|part| part.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}
