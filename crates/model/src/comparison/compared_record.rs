//! A record as a comparison needs it: a figure of each case. Its samples, which take many times as
//! much room, are let go one by one as they are read.

use std::collections::HashMap;
use std::io::Read;

use nearfar_record::{
    Absent, Case, Median, ReadError, Record, Sample, SampleTotals, read_record_with,
};
use nearfar_stats::estimate_median;

use super::figure::{CaseStanding, Figure, Quantity};

/// A record with figures in place of its samples.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRecord {
    /// Without samples.
    record: Record,
    /// In the order of the cases.
    figures: Vec<Result<Figure, CaseStanding>>,
}

impl ComparedRecord {
    /// Reads one.
    ///
    /// # Errors
    /// As [`nearfar_record::read_record`].
    pub fn read(input: impl Read) -> Result<Self, ReadError> {
        let mut totals = Totals::default();
        let record = read_record_with(input, |sample| add(&mut totals, &sample))?;
        Ok(Self::of(record, &totals))
    }

    /// One that is in memory with its samples.
    pub fn new(record: &Record) -> Self {
        let mut totals = Totals::default();
        for sample in &record.samples {
            add(&mut totals, sample);
        }
        let mut record = record.clone();
        record.samples = Vec::new();
        Self::of(record, &totals)
    }

    fn of(record: Record, totals: &Totals) -> Self {
        let mut absent: HashMap<&str, Vec<&Absent>> = HashMap::new();
        for one in &record.absent {
            absent.entry(&one.case).or_default().push(one);
        }
        let figure = |case: &nearfar_record::Case| {
            let samples = totals.get(&case.id).map_or(&[][..], Vec::as_slice);
            let absent = absent.get(case.id.as_str()).map_or(&[][..], Vec::as_slice);
            Figure::of(case, samples, absent)
        };
        let figures = record.cases.iter().map(figure).collect();
        Self { record, figures }
    }

    /// The record, without samples.
    pub fn record(&self) -> &Record {
        &self.record
    }

    pub(super) fn figures(&self) -> &[Result<Figure, CaseStanding>] {
        &self.figures
    }
}

impl From<Record> for ComparedRecord {
    fn from(mut record: Record) -> Self {
        let mut totals = Totals::default();
        std::mem::take(&mut record.samples).iter().for_each(|sample| add(&mut totals, sample));
        Self::of(record, &totals)
    }
}

/// Every case of a record with its median over rounds, in the unit of its quantity (bytes/s, FLOP/s, ns);
/// how it stands where it has none.
pub fn case_medians(
    record: &Record,
) -> impl Iterator<Item = (&Case, Result<(Quantity, Median), CaseStanding>)> {
    let mut totals = Totals::default();
    record.samples.iter().for_each(|sample| add(&mut totals, sample));
    let mut absent: HashMap<&str, Vec<&Absent>> = HashMap::new();
    for one in &record.absent {
        absent.entry(&one.case).or_default().push(one);
    }
    record.cases.iter().map(move |case| {
        let samples = totals.get(&case.id).map_or(&[][..], Vec::as_slice);
        let absent = absent.get(case.id.as_str()).map_or(&[][..], Vec::as_slice);
        let median = Figure::of_any_rounds(case, samples, absent).and_then(|figure| {
            let median = estimate_median(&figure.values()).ok_or(CaseStanding::NoSample)?;
            Ok((figure.quantity, median))
        });
        (case, median)
    })
}

/// What samples moved, by case.
type Totals = HashMap<String, Vec<SampleTotals>>;

fn add(totals: &mut Totals, sample: &Sample) {
    totals.entry(sample.case.clone()).or_default().push(sample.totals());
}
