//! The samples of a record by case, and what their threads did added up. A full record of a large
//! machine has hundreds of thousands of samples with millions of threads, which lie all over
//! memory: all cores fetch them, once.

use std::collections::HashMap;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread::{ScopedJoinHandle, available_parallelism, scope};

use nearfar_record::{Case, CaseSummary, Part, Record, Sample, SampleTotals, Work, summarize};

use crate::evidence::{Arrays, Evidence, Weighing};

/// Samples and their totals, those of one case side by side.
#[derive(Debug)]
pub(crate) struct SamplesByCase<'a> {
    samples: Vec<&'a Sample>,
    totals: Vec<SampleTotals>,
    /// Positions among `cases`, by id.
    numbers: HashMap<&'a str, usize>,
    cases: Vec<OfCase>,
    evidence: Evidence,
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
        let mut plan = Vec::with_capacity(record.cases.len());
        for case in &record.cases {
            if number_of(&mut numbers, &case.id) == plan.len() {
                plan.push(case);
            }
        }
        let known = by_all_cores(parts_of(&record.samples), |part| {
            part.iter().map(|sample| numbers.get(&*sample.case).copied()).collect::<Vec<_>>()
        });
        let of_samples = record.samples.iter().zip(known.into_iter().flatten());
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
        let mut totals = Vec::with_capacity(samples.len());
        let mut weighing = Weighing::default();
        let looked_at = by_all_cores(shares(&cases, samples.len()), |numbers| {
            look_at(
                numbers.map(|number| (plan.get(number).copied(), &samples[cases[number].clone()])),
            )
        });
        for (of_share, weighed) in looked_at {
            totals.extend(of_share);
            weighing.join(weighed);
        }
        let of_case = |positions| OfCase { positions, summary: OnceLock::new() };
        Self {
            samples,
            totals,
            numbers,
            cases: cases.into_iter().map(of_case).collect(),
            evidence: weighing.evidence(),
        }
    }

    pub fn evidence(&self) -> &Evidence {
        &self.evidence
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

/// As many samples in each part as in the others.
fn parts_of(samples: &[Sample]) -> std::slice::Chunks<'_, Sample> {
    samples.chunks(samples.len().div_ceil(workers()).max(1))
}

/// The numbers of cases that lie side by side, with about as many samples as the others.
fn shares(cases: &[Range<usize>], samples: usize) -> Vec<Range<usize>> {
    let workers = workers();
    let end = |worker: usize| {
        let end = worker * samples / workers;
        if worker == workers { cases.len() } else { cases.partition_point(|it| it.start < end) }
    };
    (0..workers).map(|worker| end(worker)..end(worker + 1)).collect()
}

/// What samples moved, and what proves where their pages were: both at once, because to fetch them
/// takes longer than to add them up.
fn look_at<'a>(
    cases: impl Iterator<Item = (Option<&'a Case>, &'a [&'a Sample])>,
) -> (Vec<SampleTotals>, Weighing) {
    let (mut totals, mut weighing) = (Vec::new(), Weighing::default());
    for (case, samples) in cases {
        let arrays = case.map(Arrays::of);
        for sample in samples {
            totals.push(sample.totals());
            weighing.add(arrays.as_ref(), sample);
        }
    }
    (totals, weighing)
}

fn workers() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// What is made of each part, in their order.
fn by_all_cores<Part: Send, Made: Send>(
    parts: impl IntoIterator<Item = Part>,
    of: impl Fn(Part) -> Made + Sync,
) -> Vec<Made> {
    let of = &of;
    scope(|scope| {
        let running: Vec<_> = parts.into_iter().map(|part| scope.spawn(move || of(part))).collect();
        let ended = running.into_iter().map(ScopedJoinHandle::join);
        ended.map(|made| made.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}
