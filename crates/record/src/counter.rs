//! Counters of the CPU beside the runs of a program: how each was tried out, what it counted, and
//! the ratios of two counts.

use serde::{Deserialize, Serialize};

use crate::profile::{CountedQuantity, CounterCheck};

/// A counter that was tried out on work of ours before programs were run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TriedCounter {
    /// What it counts: `cycles`, `instructions`, `llc_requests` or `llc_misses` here.
    pub quantity: CountedQuantity,
    /// The CPU's events behind it, by their makers' names; none where this CPU has no known one.
    pub events: Vec<String>,
    /// What they mean and what they leave out; null without events.
    pub meaning: Option<String>,
    /// Who says so; null without events.
    pub source: Option<String>,
    /// What it counted of work that is known: of several the one that was farthest off; null where
    /// that was not tried.
    pub check: Option<CounterCheck>,
    /// Why it is not believed, so that no run has its count; null where it is.
    pub unavailable: Option<String>,
}

/// What a believed counter counted of one run of a program, with its threads and children.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunCount {
    pub quantity: CountedQuantity,
    /// The count; null where it is not to be had of this run.
    pub count: Option<f64>,
    /// The share of the run's time in which it was counted: below 1 the count is scaled up; null
    /// without a count.
    pub counted_share: Option<f64>,
    /// Why there is no count; null where there is one.
    pub unavailable: Option<String>,
}

impl TriedCounter {
    /// What is counted of the runs of `commands`: four counters, which every CPU counts at the same
    /// time.
    pub const QUANTITIES: [CountedQuantity; 4] = [
        CountedQuantity::Cycles,
        CountedQuantity::Instructions,
        CountedQuantity::LlcRequests,
        CountedQuantity::LlcMisses,
    ];
}

/// One count / another, or / a time.
///
/// # Errors
/// `nothing`, where there is no ratio.
pub fn counted_ratio(part: f64, whole: f64, nothing: &str) -> Result<f64, String> {
    let ratio = part / whole;
    if whole > 0.0 && ratio.is_finite() && ratio >= 0.0 { Ok(ratio) } else { Err(nothing.into()) }
}

/// The share of one count in another that contains it.
///
/// # Errors
/// `nothing`, where there is no ratio; that they contradict each other, where it is above 1.
pub fn counted_share(part: f64, whole: f64, nothing: &str) -> Result<f64, String> {
    /// Two counters that did not begin in the same instant.
    const SLACK: f64 = 1e-3;
    let share = counted_ratio(part, whole, nothing)?;
    if share <= 1.0 + SLACK {
        Ok(share.min(1.0))
    } else {
        Err("the counters contradict each other: the part is more than the whole".into())
    }
}
