//! The samples of a record by case, and what their threads did added up. A full record of a large
//! machine has hundreds of thousands of samples with millions of threads, which lie all over
//! memory: all cores fetch them, once.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread::{ScopedJoinHandle, available_parallelism, scope};

use nearfar_record::{CaseSummary, Part, Record, Sample, SampleTotals, Work, summarize};

/// Samples and their totals, those of one case side by side.
#[derive(Debug)]
pub(crate) struct SamplesByCase<'a> {
    /// Positions among `cases`, by id.
    positions: HashMap<&'a str, usize>,
    cases: Vec<OfCase<'a>>,
}

#[derive(Debug, Default)]
struct OfCase<'a> {
    samples: Vec<&'a Sample>,
    totals: Vec<SampleTotals>,
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

/// A sample with the position of its case, where the plan has it.
type Placed<'a> = (Option<usize>, &'a Sample, SampleTotals);

impl<'a> SamplesByCase<'a> {
    pub fn new(record: &'a Record) -> Self {
        let ids = record.cases.iter().map(|case| case.id.as_str());
        let positions = ids.enumerate().map(|(position, id)| (id, position)).collect();
        let mut sorted = Self { cases: Vec::new(), positions };
        sorted.cases.resize_with(record.cases.len(), OfCase::default);
        for (position, sample, totals) in
            placed(&record.samples, &sorted.positions).into_iter().flatten()
        {
            let position = position.unwrap_or_else(|| sorted.position(&sample.case));
            let of_case = &mut sorted.cases[position];
            of_case.samples.push(sample);
            of_case.totals.push(totals);
        }
        sorted
    }

    /// Where a case stands; one that the plan lacks comes behind it.
    fn position(&mut self, id: &'a str) -> usize {
        let next = self.cases.len();
        let position = *self.positions.entry(id).or_insert(next);
        if position == next {
            self.cases.push(OfCase::default());
        }
        position
    }

    pub fn of_case(&self, id: &str) -> CaseSamples<'_> {
        let Some(of_case) = self.positions.get(id).and_then(|&position| self.cases.get(position))
        else {
            return CaseSamples::default();
        };
        CaseSamples {
            samples: &of_case.samples,
            totals: &of_case.totals,
            summary: Some(&of_case.summary),
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

/// Samples with their totals and the positions of their cases, in parts that are in the order of the
/// record.
fn placed<'a>(samples: &'a [Sample], positions: &HashMap<&str, usize>) -> Vec<Vec<Placed<'a>>> {
    let workers = available_parallelism().map_or(1, usize::from);
    let part = samples.len().div_ceil(workers).max(1);
    let place = |sample: &'a Sample| {
        (positions.get(sample.case.as_str()).copied(), sample, sample.totals())
    };
    let of_part = |part: &'a [Sample]| part.iter().map(place).collect::<Vec<_>>();
    scope(|scope| {
        let parts = samples.chunks(part).map(|part| scope.spawn(move || of_part(part)));
        let parts: Vec<_> = parts.collect();
        let ended = parts.into_iter().map(ScopedJoinHandle::join);
        ended.map(|part| part.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}
