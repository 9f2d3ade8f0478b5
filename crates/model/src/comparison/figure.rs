//! The figure by which a case is compared, and why it has none.

use nearfar_record::{
    Absence, Absent, Actor, Aggregate, Case, Part, Pinning, SampleTotals, Stream, Work,
    round_values,
};
use nearfar_stats::median;
use nearfar_units::{BytesPerSecond, FlopsPerSecond, Nanoseconds, Quantity as _, Unit};
use serde::Serialize;

use super::ComparedGroup;

/// Fewer undisturbed rounds say too little of a case's own noise.
pub const FEWEST_COMPARED_ROUNDS: usize = 3;

/// What a case's figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quantity {
    /// Useful bytes/s of all actors together.
    Bandwidth,
    /// Floating-point operations/s of all actors together.
    Arithmetic,
    /// ns of an access of the case's chase: less is better.
    AccessTime,
}

/// The median over rounds of a case's figure in both records.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ComparedFigures {
    /// Useful bytes of all actors together.
    Bandwidth { a_gb_per_s: BytesPerSecond, b_gb_per_s: BytesPerSecond },
    /// Floating-point operations of all actors together.
    Arithmetic { a_gflop_per_s: FlopsPerSecond, b_gflop_per_s: FlopsPerSecond },
    /// Of an access of the case's chase: less is better.
    AccessTime { a_ns: Nanoseconds, b_ns: Nanoseconds },
}

impl Quantity {
    pub(super) fn of_both(self, a: f64, b: f64) -> ComparedFigures {
        match self {
            Self::Bandwidth => {
                ComparedFigures::Bandwidth { a_gb_per_s: a.into(), b_gb_per_s: b.into() }
            }
            Self::Arithmetic => {
                ComparedFigures::Arithmetic { a_gflop_per_s: a.into(), b_gflop_per_s: b.into() }
            }
            Self::AccessTime => ComparedFigures::AccessTime { a_ns: a.into(), b_ns: b.into() },
        }
    }
}

impl ComparedFigures {
    /// Both as they are shown, and in which unit.
    pub fn shown(self) -> ([f64; 2], Unit) {
        match self {
            Self::Bandwidth { a_gb_per_s: a, b_gb_per_s: b } => {
                ([a.in_unit(), b.in_unit()], Unit::GbPerS)
            }
            Self::Arithmetic { a_gflop_per_s: a, b_gflop_per_s: b } => {
                ([a.in_unit(), b.in_unit()], Unit::GflopPerS)
            }
            Self::AccessTime { a_ns: a, b_ns: b } => ([a.in_unit(), b.in_unit()], Unit::Ns),
        }
    }
}

/// How a case stands in a record; of what was refused or omitted, with why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CaseStanding {
    Measured,
    /// The machine said no; why.
    Refused(String),
    /// Not asked for, or not applicable; why.
    Omitted(String),
    /// Planned and not measured.
    NoSample,
    /// Fewer than [`FEWEST_COMPARED_ROUNDS`] undisturbed rounds.
    FewRounds,
    /// Something disturbed every window.
    OnlyDisturbed,
    /// In a round it moved or computed nothing.
    NoWork,
    /// The record does not know it.
    NotPlanned,
    /// Its actors do something else than in the other record.
    OtherActors,
    /// Numbers of nodes and of groups of CPUs mean something else on the other machine.
    OtherMachine,
}

impl CaseStanding {
    /// The word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Refused(_) => "refused",
            Self::Omitted(_) => "omitted",
            Self::NoSample => "no_sample",
            Self::FewRounds => "few_rounds",
            Self::OnlyDisturbed => "only_disturbed",
            Self::NoWork => "no_work",
            Self::NotPlanned => "not_planned",
            Self::OtherActors => "other_actors",
            Self::OtherMachine => "other_machine",
        }
    }

    /// Why, in the record's words.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Refused(why) | Self::Omitted(why) => Some(why),
            _ => None,
        }
    }

    /// Of something that has no samples, by what the record says of it.
    pub(super) fn of_absent(absent: &Absent) -> Self {
        let why = absent.reason.text.clone();
        match absent.absence {
            Absence::Refused => Self::Refused(why),
            Absence::Omitted => Self::Omitted(why),
        }
    }
}

/// The figure of a case in one record.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figure {
    pub quantity: Quantity,
    pub group: ComparedGroup,
    /// Number and value of each round: bytes/s, FLOP/s or ns, all above 0.
    pub rounds: Vec<(u32, f64)>,
    pub median: f64,
}

impl Figure {
    /// The figure of a case that can be compared; how it stands where it has none.
    pub fn of(
        case: &Case,
        samples: &[SampleTotals],
        absent: &[&Absent],
    ) -> Result<Self, CaseStanding> {
        let figure = Self::of_any_rounds(case, samples, absent)?;
        let enough = figure.rounds.len() >= FEWEST_COMPARED_ROUNDS;
        if enough { Ok(figure) } else { Err(CaseStanding::FewRounds) }
    }

    /// The same however few its rounds are.
    pub fn of_any_rounds(
        case: &Case,
        samples: &[SampleTotals],
        absent: &[&Absent],
    ) -> Result<Self, CaseStanding> {
        if samples.is_empty() {
            let refused = absent.iter().find(|absent| absent.absence == Absence::Refused);
            let absent = refused.or(absent.first()).map(|absent| CaseStanding::of_absent(absent));
            return Err(absent.unwrap_or(CaseStanding::NoSample));
        }
        if samples.iter().all(SampleTotals::is_disturbed) {
            return Err(CaseStanding::OnlyDisturbed);
        }
        let quantity = quantity(case);
        let rates = |part, work| round_values(samples, part, work, Aggregate::Sum);
        let values = match quantity {
            Quantity::Bandwidth => rates(Part::Case, Work::UsefulBytes),
            Quantity::Arithmetic => rates(Part::Case, Work::Flops),
            Quantity::AccessTime => {
                const ACCESS_BYTES: f64 = 8.0;
                let rates = rates(Part::Actor(0), Work::UsefulBytes);
                rates.into_iter().map(|bytes_per_s| 1e9 * ACCESS_BYTES / bytes_per_s).collect()
            }
        };
        if values.iter().any(|value| !(value.is_finite() && *value > 0.0)) {
            return Err(CaseStanding::NoWork);
        }
        let undisturbed = samples.iter().filter(|sample| !sample.is_disturbed());
        let mut numbers: Vec<u32> = undisturbed.map(SampleTotals::round).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let median = median(&values).ok_or(CaseStanding::NoSample)?;
        let rounds = numbers.into_iter().zip(values).collect();
        Ok(Self { quantity, group: group(case, quantity), rounds, median })
    }

    pub fn values(&self) -> Vec<f64> {
        self.rounds.iter().map(|(_, value)| *value).collect()
    }

    /// ln of how much better the other is.
    pub fn gain_to(&self, other: &Self) -> f64 {
        let ln_ratio = other.median.ln() - self.median.ln();
        if self.quantity == Quantity::AccessTime { -ln_ratio } else { ln_ratio }
    }
}

fn quantity(case: &Case) -> Quantity {
    if case.is_of_access_time() {
        Quantity::AccessTime
    } else if case.actors.iter().all(|actor| matches!(actor, Actor::Compute(_))) {
        Quantity::Arithmetic
    } else {
        Quantity::Bandwidth
    }
}

fn group(case: &Case, quantity: Quantity) -> ComparedGroup {
    let is_unbound =
        |actor: &Actor| matches!(actor, Actor::Stream(Stream { pinning: Pinning::Unbound, .. }));
    if quantity == Quantity::AccessTime {
        ComparedGroup::AccessTimes
    } else if quantity == Quantity::Arithmetic || !case.is_on_memory() {
        ComparedGroup::Cores
    } else if case.actors.iter().any(is_unbound) {
        ComparedGroup::Unbound
    } else {
        ComparedGroup::Memory
    }
}
