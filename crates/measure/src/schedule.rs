//! Which cases a round runs, in which order, and when a case is done.

use nearfar_record::{
    Aggregate, Case, Experiment, Part, Rounds, Sample, SampleTotals, round_values, run_figures,
};
use nearfar_stats::estimate_median;

/// When a case has been measured enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoppingRule {
    /// Rounds that every case gets.
    pub min_rounds: u32,
    /// Rounds that no case exceeds.
    pub max_rounds: u32,
    /// Half-width of the 95 % interval of the median over round values, as a
    /// fraction of it, at which a case is done.
    pub target: f64,
}

impl StoppingRule {
    /// The rule for a case that is measured so often.
    pub fn new(rounds: Rounds, target: f64) -> Self {
        Self { min_rounds: rounds.least, max_rounds: rounds.most, target }
    }

    /// Rounds after which intervals are looked at: fixed beforehand, because a rule
    /// that looks after every round stops on lucky streaks.
    pub fn looks(&self) -> Vec<u32> {
        let mut looks = vec![self.min_rounds];
        while let Some(&last) = looks.last()
            && last < self.max_rounds
        {
            looks.push((last + last.div_ceil(3)).min(self.max_rounds));
        }
        looks
    }

    /// Whether a case with these samples needs no further round: both aggregates are
    /// known narrowly enough, and so is every actor where there are several, by windows that
    /// nothing disturbed; of a program its time or metric.
    pub fn is_done<'a>(&self, samples: impl Iterator<Item = &'a Sample> + Clone) -> bool {
        let rounds = samples.clone().map(|sample| sample.round + 1).max().unwrap_or(0);
        if rounds >= self.max_rounds {
            return true;
        }
        if !self.looks().contains(&rounds) || samples.clone().all(Sample::is_disturbed) {
            return false;
        }
        let Some(first) = samples.clone().next() else { return false };
        let totals: Vec<SampleTotals> = samples.map(Sample::totals).collect();
        let is_known = |values: &[f64]| {
            estimate_median(values).is_some_and(|estimate| {
                estimate.confidence >= 0.95 && estimate.relative_half_width().abs() <= self.target
            })
        };
        if first.run.is_some() {
            return is_known(&run_figures(&totals));
        }
        let is_narrow = |part: Part, aggregate: Aggregate| {
            is_known(&round_values(&totals, part, first.work_of(part), aggregate))
        };
        let actors = if first.actors.len() > 1 { first.actors.len() } else { 0 };
        [Aggregate::Sum, Aggregate::Paced].into_iter().all(|of| is_narrow(Part::Case, of))
            && (0..actors).all(|actor| is_narrow(Part::Actor(actor), Aggregate::Sum))
    }
}

/// The cases of a round in their order. Those of `devices` go forward and in every other round
/// backward, as SHOC goes through its sizes: what drifts, drifts for none alone, and neighbours
/// share what was set up for a device. All others are shuffled.
pub fn order_of_round<'a>(cases: &[&'a Case], seed: u64, round: u32) -> Vec<&'a Case> {
    let is_of_devices = |case: &&Case| {
        case.coordinates.iter().any(|place| place.experiment() == Experiment::Devices)
    };
    if !cases.iter().all(is_of_devices) {
        return shuffle(cases, seed, round);
    }
    let mut order = cases.to_vec();
    if !round.is_multiple_of(2) {
        order.reverse();
    }
    order
}

/// The cases of a round in their order: shuffled anew for every round, the same
/// for the same seed.
pub fn shuffle<'a>(cases: &[&'a Case], seed: u64, round: u32) -> Vec<&'a Case> {
    let mut order = cases.to_vec();
    let mut random = fastrand::Rng::with_seed(seed ^ (u64::from(round) + 1).wrapping_mul(GOLDEN));
    random.shuffle(&mut order);
    order
}

/// 2^64 / golden ratio: spreads small numbers over all bits (Knuth, TAOCP 3, 6.4).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_fixed_and_end_at_the_most() {
        let rule = |min_rounds, max_rounds| StoppingRule { min_rounds, max_rounds, target: 0.01 };
        assert_eq!(rule(6, 8).looks(), [6, 8]);
        assert_eq!(rule(6, 20).looks(), [6, 8, 11, 15, 20]);
        assert_eq!(rule(1, 1).looks(), [1]);
    }
}
