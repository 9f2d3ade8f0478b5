//! The cases of a record with what it holds of each: samples, and why there are none.
//! Every table of an experiment is made from these.

use std::collections::{BTreeSet, HashMap, HashSet};

use nearfar_record::{
    Absence, Absent, Actor, Aggregate, Case, CaseSummary, Coordinates, MovedCores, Part, Record,
    Sample, SampleTotals, Work, round_values, summarize,
};
use nearfar_stats::median;
use serde::Serialize;

use crate::evidence::Evidence;
use crate::samples_by_case::{CaseSamples, SamplesByCase};

#[derive(Debug)]
pub struct RecordFigures<'a> {
    record: &'a Record,
    planned: HashSet<&'a str>,
    samples: SamplesByCase<'a>,
    absent: HashMap<&'a str, Vec<&'a Absent>>,
}

/// A case of the plan, whether it has figures or not.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedCase {
    /// Its id in the record.
    #[serde(rename = "case")]
    pub id: String,
    /// Of a case with a chase, lines that it touches / caches involved; of others the smallest
    /// working set / caches of its streams. Null where that is not known, or no actor touches
    /// memory.
    pub llc_multiple: Option<f64>,
    /// Why it has no figures, or not all: what was refused or omitted, in the order of the
    /// record.
    pub absent: Vec<Absent>,
}

/// A case with the samples that figures are made of.
#[derive(Debug, Clone, Copy)]
pub struct CaseFigures<'a> {
    id: &'a str,
    /// `None` for one that was refused before it could be planned.
    case: Option<&'a Case>,
    samples: CaseSamples<'a>,
    absent: &'a [&'a Absent],
}

impl<'a> RecordFigures<'a> {
    /// Sorts a record's samples and absences by case, adds up what the threads did, and weighs what
    /// proves where their pages were.
    pub fn new(record: &'a Record) -> Self {
        let mut absent: HashMap<&str, Vec<&Absent>> = HashMap::new();
        for one in &record.absent {
            absent.entry(&one.case).or_default().push(one);
        }
        Self {
            record,
            planned: record.cases.iter().map(|case| case.id.as_str()).collect(),
            samples: SamplesByCase::new(record),
            absent,
        }
    }

    pub fn record(&self) -> &'a Record {
        self.record
    }

    pub fn evidence(&self) -> &Evidence {
        self.samples.evidence()
    }

    /// Samples that are left out because CPUs were on other cores; `None` where there are none.
    pub fn moved(&self) -> Option<MovedCores> {
        self.samples.moved()
    }

    /// Cases that have coordinates of a kind, in the order of the plan, once for each such
    /// coordinates; then what has coordinates only because it was refused or omitted.
    pub fn places<'s, Place: 'a>(
        &'s self,
        pick: impl Fn(&'a Coordinates) -> Option<&'a Place> + Copy + 's,
    ) -> impl Iterator<Item = (&'a Place, CaseFigures<'s>)> {
        let cases = self.record.cases.iter().flat_map(move |case| {
            let places = case.coordinates.iter().filter_map(pick);
            places.map(move |place| (place, self.case(&case.id, Some(case))))
        });
        let mut seen = BTreeSet::new();
        let unplanned = self.record.absent.iter().filter(move |absent| {
            !self.planned.contains(absent.case.as_str()) && seen.insert(absent.case.as_str())
        });
        let unplanned = unplanned.flat_map(move |absent| {
            let places = absent.coordinates.iter().filter_map(pick);
            places.map(move |place| (place, self.case(&absent.case, None)))
        });
        cases.chain(unplanned)
    }

    /// The samples of the case with this id; none where it has none.
    pub fn samples_of(&self, id: &str) -> &[&Sample] {
        self.samples.of_case(id).samples
    }

    pub fn of_case<'s>(&'s self, case: &'s Case) -> CaseFigures<'s> {
        self.case(&case.id, Some(case))
    }

    fn case<'s>(&'s self, id: &'s str, case: Option<&'s Case>) -> CaseFigures<'s> {
        CaseFigures {
            id,
            case,
            samples: self.samples.of_case(id),
            absent: self.absent.get(id).map_or(&[], Vec::as_slice),
        }
    }
}

impl<'a> CaseFigures<'a> {
    pub fn planned(&self) -> PlannedCase {
        PlannedCase {
            id: self.id.into(),
            llc_multiple: self.llc_multiple(),
            absent: self.absent.iter().map(|&absent| absent.clone()).collect(),
        }
    }

    /// A chase's multiple is of the lines that it touches, a stream's of its whole set: where
    /// there is a chase, it is what the case is about.
    fn llc_multiple(&self) -> Option<f64> {
        let is_chase = |actor: &&Actor| matches!(actor, Actor::Chase(_));
        let has_chase = self.actors().iter().any(|actor| is_chase(&actor));
        let of_kind = self.actors().iter().filter(|actor| is_chase(actor) == has_chase);
        of_kind.filter_map(Actor::llc_multiple).min_by(f64::total_cmp)
    }

    /// As the plan has it; `None` for one that was refused before it could be planned.
    pub(crate) fn planned_as(&self) -> Option<&'a Case> {
        self.case
    }

    /// Its actors; none for one that was refused before it could be planned.
    pub fn actors(&self) -> &'a [Actor] {
        self.case.map_or(&[], |case| &case.actors)
    }

    pub fn samples(&self) -> &'a [&'a Sample] {
        self.samples.samples
    }

    /// What each of its samples moved, in their order.
    pub fn totals(&self) -> &'a [SampleTotals] {
        self.samples.totals
    }

    /// Useful bytes of a part of it; `None` without samples.
    pub fn bandwidth(&self, part: Part) -> Option<CaseSummary> {
        match part {
            Part::Case => self.samples.summary(),
            Part::Actor(_) => summarize(self.samples.totals, part, Work::UsefulBytes),
        }
    }

    /// Useful bytes of the actors that are chosen, together; `None` where there are none, or no
    /// samples.
    pub fn bandwidth_of(&self, is_chosen: impl Fn(&Actor) -> bool) -> Option<CaseSummary> {
        let chosen: Vec<bool> = self.actors().iter().map(is_chosen).collect();
        if !chosen.contains(&true) {
            return None;
        }
        let is_chosen = |position| chosen.get(position) == Some(&true);
        let parts: Vec<SampleTotals> =
            self.samples.totals.iter().map(|totals| totals.of_actors(is_chosen)).collect();
        summarize(&parts, Part::Case, Work::UsefulBytes)
    }

    /// Floating-point operations of a part of it; `None` without samples.
    pub fn flops(&self, part: Part) -> Option<CaseSummary> {
        summarize(self.samples.totals, part, Work::Flops)
    }

    /// Useful bytes/s of a part of it in each round.
    pub fn rounds(&self, part: Part, aggregate: Aggregate) -> Vec<f64> {
        round_values(self.samples.totals, part, Work::UsefulBytes, aggregate)
    }

    /// Its undisturbed samples, or all where none is undisturbed.
    pub(crate) fn counted(&self) -> impl Iterator<Item = &'a &'a Sample> {
        let only_disturbed = self.samples().iter().all(|sample| sample.is_disturbed());
        self.samples().iter().filter(move |sample| only_disturbed || !sample.is_disturbed())
    }

    /// Median work of one thread of an actor in one cycle of its core, over threads and
    /// the samples that count; `None` where nobody looked at the clock.
    pub fn work_per_cycle(&self, actor: usize, work: Work) -> Option<f64> {
        let of_threads = self.counted().flat_map(|sample| {
            let threads = sample.actors.get(actor).map_or(&[][..], |actor| &actor.threads);
            threads.iter().filter_map(|thread| {
                let done = match work {
                    Work::UsefulBytes => thread.useful_bytes,
                    Work::Flops => thread.flops,
                };
                let (done, ns) = (done as f64, sample.window_ns as f64);
                Some(done / (ns * thread.core_ghz?))
            })
        });
        median(&of_threads.collect::<Vec<f64>>())
    }

    /// Median clock of an actor's cores, GHz, over samples and threads; `None` where nobody
    /// looked.
    pub fn core_ghz(&self, actor: usize) -> Option<f64> {
        let actors = self.samples().iter().filter_map(|sample| sample.actors.get(actor));
        let clocks: Vec<f64> =
            actors.flat_map(|actor| &actor.threads).filter_map(|thread| thread.core_ghz).collect();
        median(&clocks)
    }
}

impl PlannedCase {
    pub fn absences(&self, kind: Absence) -> impl Iterator<Item = &Absent> {
        self.absent.iter().filter(move |absent| absent.absence == kind)
    }
}
