//! What pinning threads does to the mean and the spread of their runs.

use nearfar_record::Affinity;
use nearfar_stats::ratios_of_moments;

use super::paced;
use crate::scaling::ScalingRuns;

/// Pinned runs beside unbound ones of as many threads, by pace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AffinityEffect {
    pub threads: u32,
    /// How the pinned ones are spread.
    pub affinity: Affinity,
    /// Mean of pinned runs / mean of unbound ones - 1.
    pub gain: f64,
    /// Its 95 % interval.
    pub gain_interval: (f64, f64),
    /// Spread of pinned runs / spread of unbound ones; `None` where either have none.
    pub spread_ratio: Option<f64>,
    /// Its 95 % interval.
    pub spread_ratio_interval: Option<(f64, f64)>,
}

/// No smaller difference of means is worth a change.
const LEAST_EFFECT: f64 = 0.05;

impl AffinityEffect {
    /// Whether pinned runs are faster, by 5 % or more and beyond what chance explains.
    #[must_use]
    pub fn is_faster(&self) -> bool {
        self.gain_interval.0 > 0.0 && self.gain >= LEAST_EFFECT
    }

    /// Whether they are slower, by the same measure.
    #[must_use]
    pub fn is_slower(&self) -> bool {
        self.gain_interval.1 < 0.0 && self.gain <= -LEAST_EFFECT
    }

    /// Whether the means differ by less than 5 %, which is worth no change: the whole interval
    /// says so, or a gain that is beyond chance does.
    #[must_use]
    pub fn is_too_small(&self) -> bool {
        let (low, high) = self.gain_interval;
        let is_beyond_chance = low > 0.0 || high < 0.0;
        let is_within = -LEAST_EFFECT < low && high < LEAST_EFFECT;
        is_within || is_beyond_chance && self.gain.abs() < LEAST_EFFECT
    }

    /// Whether they spread less.
    #[must_use]
    pub fn is_steadier(&self) -> bool {
        self.spread_ratio_interval.is_some_and(|(_, high)| high < 1.0)
    }

    /// Whether they spread more.
    #[must_use]
    pub fn is_less_steady(&self) -> bool {
        self.spread_ratio_interval.is_some_and(|(low, _)| low > 1.0)
    }
}

/// The effects of compact and scattered threads, by threads.
pub(super) fn effects(runs: &[ScalingRuns]) -> Vec<AffinityEffect> {
    let beside = |pinned: &ScalingRuns| {
        let unbound = runs.iter().find(|other| {
            other.place.affinity == Affinity::Unbound && other.place.threads == pinned.place.threads
        })?;
        let ratios = ratios_of_moments(&paced(pinned)?.runs, &paced(unbound)?.runs, SEED)?;
        let (low, high) = ratios.mean_interval;
        Some(AffinityEffect {
            threads: pinned.place.threads,
            affinity: pinned.place.affinity,
            gain: ratios.mean - 1.0,
            // No mean is below 0.
            gain_interval: (low.max(0.0) - 1.0, high - 1.0),
            spread_ratio: ratios.spread,
            spread_ratio_interval: ratios.spread_interval,
        })
    };
    runs.iter().filter(|runs| runs.place.affinity != Affinity::Unbound).filter_map(beside).collect()
}

/// Of the draws: a record has one answer.
const SEED: u64 = 1;
