//! The samples of a record by case, and what their threads did added up. A full record of a large
//! machine has hundreds of thousands of samples with millions of threads, which lie all over
//! memory: all cores fetch them, once.

use std::collections::HashMap;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread::{available_parallelism, scope};

use nearfar_record::{CaseSummary, Part, Sample, SampleTotals, Work, summarize};

/// Samples and their totals, those of one case side by side.
#[derive(Debug)]
pub(crate) struct SamplesByCase<'a> {
    samples: Vec<&'a Sample>,
    totals: Vec<SampleTotals>,
    cases: HashMap<&'a str, OfCase>,
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
    pub fn new(samples: &'a [Sample]) -> Self {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let number_of = |sample: &'a Sample| {
            let next = numbers.len();
            (*numbers.entry(&sample.case).or_insert(next), sample)
        };
        let mut numbered: Vec<(usize, &Sample)> = samples.iter().map(number_of).collect();
        numbered.sort_by_key(|(number, _)| *number);
        let mut cases = HashMap::with_capacity(numbers.len());
        let mut from = 0;
        for of_case in numbered.chunk_by(|one, next| one.0 == next.0) {
            let positions = from..from + of_case.len();
            from = positions.end;
            cases.insert(&*of_case[0].1.case, OfCase { positions, summary: OnceLock::new() });
        }
        let samples: Vec<&Sample> = numbered.into_iter().map(|(_, sample)| sample).collect();
        Self { totals: totals(&samples), samples, cases }
    }

    pub fn of_case(&self, id: &str) -> CaseSamples<'_> {
        let Some(OfCase { positions, summary }) = self.cases.get(id) else {
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

fn totals(samples: &[&Sample]) -> Vec<SampleTotals> {
    let workers = available_parallelism().map_or(1, usize::from);
    let part = samples.len().div_ceil(workers).max(1);
    let of_part = |part: &[&Sample]| part.iter().map(|sample| sample.totals()).collect::<Vec<_>>();
    scope(|scope| {
        let parts = samples.chunks(part).map(|part| scope.spawn(move || of_part(part)));
        let parts: Vec<_> = parts.collect();
        let done =
            parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)));
        done.flatten().collect()
    })
}
