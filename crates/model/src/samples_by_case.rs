//! The samples of a record by case, what their threads did added up, and what proves where their
//! pages were. Those of other cores than usual are left out.

use std::collections::HashMap;
use std::sync::OnceLock;

use nearfar_record::{
    CaseSummary, MovedCores, Part, Record, Sample, SampleTotals, Work, summarize,
};

use crate::core_moves::CoreMoves;
use crate::cores::by_all_cores;
use crate::evidence::{Arrays, Evidence, Weighing};

/// Samples and their totals by case.
#[derive(Debug)]
pub(crate) struct SamplesByCase<'a> {
    cases: HashMap<&'a str, OfCase<'a>>,
    evidence: Evidence,
    moved: Option<MovedCores>,
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

impl<'a> SamplesByCase<'a> {
    pub fn new(record: &'a Record) -> Self {
        let mut arrays: HashMap<&str, Arrays> = HashMap::with_capacity(record.cases.len());
        for case in &record.cases {
            arrays.entry(&case.id).or_insert_with(|| Arrays::of(case));
        }
        let mut cases: HashMap<&str, OfCase<'_>> = HashMap::with_capacity(record.cases.len());
        let mut weighing = Weighing::default();
        let mut totals = Vec::with_capacity(record.samples.len());
        // To fetch the threads of hundreds of thousands of samples takes longer than to add them
        // up (`cargo bench -p nearfar-document --bench page_cost`): hence both at once.
        let look_at = |part: &[Sample]| {
            let mut weighing = Weighing::default();
            let totals = part.iter().map(|sample| {
                weighing.add(arrays.get(&*sample.case), sample);
                sample.totals()
            });
            (totals.collect::<Vec<SampleTotals>>(), weighing)
        };
        for (of_part, weighed) in by_all_cores(&record.samples, look_at) {
            totals.extend(of_part);
            weighing.join(weighed);
        }
        let moves = CoreMoves::of(record);
        let all = record.samples.iter().zip(totals);
        for (sample, totals) in all.filter(|(sample, _)| !moves.leaves_out(sample)) {
            let of_case = cases.entry(&sample.case).or_default();
            of_case.samples.push(sample);
            of_case.totals.push(totals);
        }
        Self { cases, evidence: weighing.evidence(), moved: moves.moved }
    }

    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Samples left out; `None` where there are none.
    pub fn moved(&self) -> Option<MovedCores> {
        self.moved
    }

    pub fn of_case(&self, id: &str) -> CaseSamples<'_> {
        let Some(OfCase { samples, totals, summary }) = self.cases.get(id) else {
            return CaseSamples::default();
        };
        CaseSamples { samples, totals, summary: Some(summary) }
    }
}

impl CaseSamples<'_> {
    /// Useful bytes of all actors; `None` without samples.
    pub fn summary(&self) -> Option<CaseSummary> {
        let summary = || summarize(self.totals, Part::Case, Work::UsefulBytes);
        self.summary?.get_or_init(summary).clone()
    }
}
