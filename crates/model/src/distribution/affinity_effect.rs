//! What pinning threads does to the mean and the spread of their runs.

use nearfar_record::{Affinity, Estimate};
use nearfar_stats::ratios_of_moments;
use nearfar_units::Ratio;
use serde::Serialize;

use super::paced;
use crate::scaling::ScalingRuns;

/// Pinned runs beside unbound ones of as many threads, by pace.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AffinityEffect {
    pub threads: u32,
    /// How the pinned ones are spread.
    pub affinity: Affinity,
    /// Mean of pinned runs / mean of unbound ones.
    pub speedup: Estimate<Ratio>,
    /// What its interval shows.
    pub mean: MeanVerdict,
    /// Spread of pinned runs / that of unbound ones, or null where either have none.
    pub spread_ratio: Option<Estimate<Ratio>>,
    /// What its interval shows.
    pub spread: SpreadVerdict,
}

/// What is shown of a mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MeanVerdict {
    /// Higher by 5 % or more, and beyond what chance explains.
    Faster,
    /// Lower by the same measure.
    Slower,
    /// Other by less than 5 %, which is worth no change: the whole interval says so, or a gain that
    /// is beyond chance does.
    TooSmall,
    /// Chance explains the difference.
    NotShown,
}

/// What is shown of a spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SpreadVerdict {
    /// Less.
    Steadier,
    /// More.
    LessSteady,
    /// Chance explains the difference.
    NotShown,
}

/// No smaller difference of means is worth a change.
const LEAST_EFFECT: f64 = 0.05;

/// Of the intervals.
const CONFIDENCE: f64 = 0.95;

impl MeanVerdict {
    fn of(speedup: f64, (low, high): (f64, f64)) -> Self {
        let [gain, low, high] = [speedup, low, high].map(|ratio| ratio - 1.0);
        let is_beyond_chance = low > 0.0 || high < 0.0;
        let is_small = gain.abs() < LEAST_EFFECT;
        let is_within = -LEAST_EFFECT < low && high < LEAST_EFFECT;
        match (is_beyond_chance, is_small) {
            (true, false) if gain > 0.0 => Self::Faster,
            (true, false) => Self::Slower,
            (true, true) => Self::TooSmall,
            (false, _) if is_within => Self::TooSmall,
            (false, _) => Self::NotShown,
        }
    }
}

impl SpreadVerdict {
    fn of(ratio: Option<(f64, f64)>) -> Self {
        match ratio {
            Some((_, high)) if high < 1.0 => Self::Steadier,
            Some((low, _)) if low > 1.0 => Self::LessSteady,
            _ => Self::NotShown,
        }
    }
}

/// The effects of compact and scattered threads, by threads.
pub(super) fn effects(runs: &[ScalingRuns]) -> Vec<AffinityEffect> {
    let beside = |pinned: &ScalingRuns| {
        let unbound = runs.iter().find(|other| {
            other.place.affinity == Affinity::Unbound && other.place.threads == pinned.place.threads
        })?;
        let ratios = ratios_of_moments(&paced(pinned)?.values(), &paced(unbound)?.values(), SEED)?;
        let (low, high) = ratios.mean_interval;
        // No mean is below 0.
        let interval = (low.max(0.0), high);
        let ratio = |value, interval: Option<(f64, f64)>| Estimate {
            value: Ratio(value),
            interval: interval.map(|(low, high)| [Ratio(low), Ratio(high)]),
            confidence: interval.map(|_| CONFIDENCE),
            cases: [&pinned.case.id, &unbound.case.id].map(String::clone).into(),
        };
        Some(AffinityEffect {
            threads: pinned.place.threads,
            affinity: pinned.place.affinity,
            speedup: ratio(ratios.mean, Some(interval)),
            mean: MeanVerdict::of(ratios.mean, interval),
            spread_ratio: ratios.spread.map(|spread| ratio(spread, ratios.spread_interval)),
            spread: SpreadVerdict::of(ratios.spread_interval),
        })
    };
    runs.iter().filter(|runs| runs.place.affinity != Affinity::Unbound).filter_map(beside).collect()
}

/// Of the draws: a record has one answer.
const SEED: u64 = 1;
