//! What a case's samples say: one value per round, their median and interval.
//! The engine's stopping rule and every table use this one definition.

use nearfar_stats::{Estimate, estimate_median, median, relative_deviation, relative_spread};

use crate::sample::Sample;

/// The two ways to add up threads (saad2022 shows why both are kept: two local
/// and two remote processes gain 6 % by sum and lose 17 % by pace).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// Bytes of all threads / window.
    Sum,
    /// Threads x the slowest thread's rate: what a statically divided loop sees.
    Paced,
}

/// What a case's samples say.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseSummary {
    /// Useful bytes/s by [`Aggregate::Sum`], over round values.
    pub sum: Estimate,
    /// Useful bytes/s by [`Aggregate::Paced`], over round values.
    pub paced: Estimate,
    /// Highest round value of the sum, useful bytes/s.
    pub best_sum: f64,
    /// Samples in all.
    pub samples: usize,
    /// Samples that something disturbed.
    pub disturbed: usize,
    /// Whether every sample was disturbed, so that the figures rest on such samples.
    pub only_disturbed: bool,
    /// (largest - smallest) / median of the windows within a round, median over
    /// rounds; `None` with one window a round.
    pub spread_within_rounds: Option<f64>,
    /// (largest - smallest) / median of the round values.
    pub spread_between_rounds: f64,
    /// Standard deviation / mean of the round values; `None` with one round.
    pub deviation_between_rounds: Option<f64>,
}

impl Sample {
    /// Useful bytes/s of all actors together.
    #[must_use]
    pub fn rate(&self, aggregate: Aggregate) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "bytes in a window are far below 2^53")]
        let per_second = |bytes: u64| bytes as f64 / (self.window_ns as f64 / 1e9);
        let threads = || self.actors.iter().flat_map(|actor| &actor.threads);
        match aggregate {
            Aggregate::Sum => threads().map(|thread| per_second(thread.useful_bytes)).sum(),
            Aggregate::Paced => {
                #[expect(clippy::cast_precision_loss, reason = "a number of threads")]
                let count = threads().count() as f64;
                let slowest = threads().map(|thread| thread.useful_bytes).min().unwrap_or(0);
                count * per_second(slowest)
            }
        }
    }
}

/// The value of each round: the median over its undisturbed windows. Rounds of
/// which every window was disturbed have no value, unless that is so for all: then
/// all windows count, because a disturbed figure that says so is more than none.
#[must_use]
pub fn round_values<'a>(
    samples: impl IntoIterator<Item = &'a Sample>,
    aggregate: Aggregate,
) -> Vec<f64> {
    by_round(samples, aggregate).iter().filter_map(|round| median(round)).collect()
}

fn by_round<'a>(
    samples: impl IntoIterator<Item = &'a Sample>,
    aggregate: Aggregate,
) -> Vec<Vec<f64>> {
    let samples: Vec<&Sample> = samples.into_iter().collect();
    let only_disturbed = samples.iter().all(|sample| sample.is_disturbed());
    let mut rounds: std::collections::BTreeMap<u32, Vec<f64>> = std::collections::BTreeMap::new();
    for sample in samples {
        if only_disturbed || !sample.is_disturbed() {
            rounds.entry(sample.round).or_default().push(sample.rate(aggregate));
        }
    }
    rounds.into_values().collect()
}

/// Summarises the samples of one case; `None` when there is none.
#[must_use]
pub fn summarize_case(samples: &[&Sample]) -> Option<CaseSummary> {
    let rounds = by_round(samples.iter().copied(), Aggregate::Sum);
    let sums: Vec<f64> = rounds.iter().filter_map(|round| median(round)).collect();
    let paces = round_values(samples.iter().copied(), Aggregate::Paced);
    let spreads: Vec<f64> = rounds
        .iter()
        .filter(|round| round.len() > 1)
        .filter_map(|round| relative_spread(round))
        .collect();
    let disturbed = samples.iter().filter(|sample| sample.is_disturbed()).count();
    Some(CaseSummary {
        sum: estimate_median(&sums)?,
        paced: estimate_median(&paces)?,
        best_sum: sums.iter().copied().max_by(f64::total_cmp)?,
        samples: samples.len(),
        disturbed,
        only_disturbed: disturbed == samples.len(),
        spread_within_rounds: median(&spreads),
        spread_between_rounds: relative_spread(&sums)?,
        deviation_between_rounds: relative_deviation(&sums),
    })
}
