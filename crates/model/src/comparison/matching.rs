//! Cases of two records that are the same by their coordinates and by what their actors do.

use std::collections::{HashMap, HashSet};

use nearfar_record::{Actor, Case, Coordinates, Record};
use serde::Serialize;

use super::compared_record::ComparedRecord;
use super::figure::{CaseStanding, Figure};
use super::roles::are_of_one_kind;

/// A case that is not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UncomparedCase {
    /// Its id in the first record that knows it.
    #[serde(rename = "case")]
    pub id: String,
    /// How it stands in the first record.
    pub a: CaseStanding,
    /// How it stands in the second.
    pub b: CaseStanding,
}

/// A case with figures in both records.
pub(super) struct Matched<'a> {
    /// In the plan of the first record.
    pub position: usize,
    pub a_case: &'a Case,
    pub b_case: &'a Case,
    pub a: &'a Figure,
    pub b: &'a Figure,
}

impl Matched<'_> {
    pub fn figures(&self) -> [&Figure; 2] {
        [self.a, self.b]
    }
}

/// What makes cases of two records the same: where they stand, else their ids.
#[derive(PartialEq, Eq, Hash)]
struct Key<'a> {
    coordinates: &'a [Coordinates],
    id: &'a str,
}

impl<'a> Key<'a> {
    fn new(coordinates: &'a [Coordinates], id: &'a str) -> Self {
        Self { coordinates, id: if coordinates.is_empty() { id } else { "" } }
    }

    fn of(case: &'a Case) -> Self {
        Self::new(&case.coordinates, &case.id)
    }
}

/// The cases that have figures in both records, and the others.
pub(super) fn match_cases<'a>(
    a: &'a ComparedRecord,
    b: &'a ComparedRecord,
) -> (Vec<Matched<'a>>, Vec<UncomparedCase>) {
    let (a_record, b_record) = (a.record(), b.record());
    let mut in_b: HashMap<Key<'_>, (&'a Case, &'a Result<Figure, CaseStanding>)> = HashMap::new();
    for case in b_record.cases.iter().zip(b.figures()) {
        in_b.entry(Key::of(case.0)).or_insert(case);
    }
    let (missing_in_a, missing_in_b) = (absences(a_record), absences(b_record));
    let is_of_one_kind = are_of_one_kind(&a_record.header.machine, &b_record.header.machine);
    let (mut matched, mut others) = (Vec::new(), Vec::new());
    let mut taken: HashSet<&str> = HashSet::new();
    for (position, (a_case, a_figure)) in a_record.cases.iter().zip(a.figures()).enumerate() {
        let other = |a, b| UncomparedCase { id: a_case.id.clone(), a, b };
        // A second case at the same coordinates has no partner.
        let Some((b_case, b_figure)) = in_b.remove(&Key::of(a_case)) else {
            let b = missing_in_b.get(&Key::of(a_case)).cloned();
            let b = b.unwrap_or(CaseStanding::NotPlanned);
            others.push(other(standing(a_figure), b));
            continue;
        };
        taken.insert(&b_case.id);
        match (a_figure, b_figure) {
            (Ok(_), Ok(_)) if !is_of_one_kind => {
                others.push(other(CaseStanding::Measured, CaseStanding::OtherMachine));
            }
            (Ok(_), Ok(_)) if !do_the_same(a_case, b_case) => {
                others.push(other(CaseStanding::Measured, CaseStanding::OtherActors));
            }
            (Ok(a), Ok(b)) => matched.push(Matched { position, a_case, b_case, a, b }),
            (a, b) => others.push(other(standing(a), standing(b))),
        }
    }
    let of_b = b_record.cases.iter().zip(b.figures());
    for (case, figure) in of_b.filter(|(case, _)| !taken.contains(case.id.as_str())) {
        let a = missing_in_a.get(&Key::of(case)).cloned().unwrap_or(CaseStanding::NotPlanned);
        others.push(UncomparedCase { id: case.id.clone(), a, b: standing(figure) });
    }
    (matched, others)
}

/// What was refused or omitted before it could be planned.
fn absences(record: &Record) -> HashMap<Key<'_>, CaseStanding> {
    let absent = record.absent.iter();
    absent
        .map(|one| (Key::new(&one.coordinates, &one.case), CaseStanding::of_absent(one)))
        .collect()
}

fn standing(figure: &Result<Figure, CaseStanding>) -> CaseStanding {
    match figure {
        Ok(_) => CaseStanding::Measured,
        Err(why) => why.clone(),
    }
}

/// Whether the actors of two cases at the same coordinates do the same. Where their CPUs are and
/// how large their sets are may differ between machines; only the coordinates of a random set
/// of streams say neither.
fn do_the_same(a: &Case, b: &Case) -> bool {
    let is_random = a.coordinates.iter().any(|place| matches!(place, Coordinates::Mixes(_)));
    let same = |(a, b): (&Actor, &Actor)| {
        let alike = match (a, b) {
            (Actor::Stream(a), Actor::Stream(b)) => {
                a.pinning == b.pinning
                    && a.pages == b.pages
                    && a.pause_cycles == b.pause_cycles
                    && a.write_memory == b.write_memory
            }
            (Actor::Chase(a), Actor::Chase(b)) => a.pages == b.pages,
            (Actor::Exchange(a), Actor::Exchange(b)) => a.pages == b.pages,
            (Actor::Transfer(a), Actor::Transfer(b)) => a.pages == b.pages && a.bytes == b.bytes,
            (Actor::Messages(a), Actor::Messages(b)) => a.pages == b.pages,
            (Actor::Compute(_), Actor::Compute(_)) | (Actor::Command(_), Actor::Command(_)) => true,
            (Actor::Workload(_), Actor::Workload(_)) => true,
            _ => false,
        };
        alike
            && (a.kernel(), a.variant(), a.threads()) == (b.kernel(), b.variant(), b.threads())
            && a.memory() == b.memory()
            && (!is_random || a.cpus() == b.cpus())
    };
    a.actors.len() == b.actors.len() && a.actors.iter().zip(&b.actors).all(same)
}
