//! What to do with a program's buffers.

use super::answer::{
    HybridAdvice, HybridAnswer, HybridDrop, HybridPlacement, HybridPrediction, NoGain,
    PlacementName,
};
use super::pair::HybridPair;
use super::shares::HybridShares;

/// What the rounding of weights costs is told from this fraction on.
const WORTH_TELLING: f64 = 0.001;

/// Shares that differ by less are the same.
const SAME: f64 = 1e-9;

/// The share of a program whose data grow is off by this much before anybody looks.
const BESIDE: f64 = 0.05;

/// A drop beside the recommended share is told from this fraction on.
const DROP: f64 = 0.1;

pub(super) fn advice(pair: &HybridPair, answer: &HybridAnswer) -> Vec<HybridAdvice> {
    let mut advice = Vec::new();
    match answer.recommended.and_then(|name| answer.placement(name)) {
        Some(best) => {
            advice.push(of_best(pair, answer, best));
            advice.extend(jump(answer, best));
            advice.extend(separately(answer, best));
            advice.extend(half(answer, best));
        }
        None => advice.push(without_default(pair, answer)),
    }
    if !answer.is_complete {
        advice.push(HybridAdvice::SuspectBetter);
    }
    advice
}

fn of_best(pair: &HybridPair, answer: &HybridAnswer, best: &HybridPlacement) -> HybridAdvice {
    if best.name != answer.default {
        let lost = best.by_weights.map(|given| 1.0 - given / best.prediction.lowest);
        let rounding_cost = lost.filter(|&lost| lost > WORTH_TELLING);
        return HybridAdvice::Put { rounding_cost, drop: drop_beside(pair, best) };
    }
    let because = match pair.errors.found() {
        Some(_) if pair.corners[0].bandwidth.interval.is_none() => NoGain::TooFewRounds,
        Some(_) => NoGain::WithinError,
        None => NoGain::ErrorUnknown,
    };
    HybridAdvice::Leave { because }
}

/// A placement that promises more than the best at shares where the model jumps.
fn jump(answer: &HybridAnswer, best: &HybridPlacement) -> Option<HybridAdvice> {
    let promises_more = |name: &PlacementName| {
        let jump = answer.placement(*name).and_then(|it| it.unclaimed.as_ref());
        jump.is_some_and(|jump| {
            jump.is_backed()
                && jump.highest > best.prediction.bandwidth.value
                && !jump.may_dominate.is_empty()
        })
    };
    let mut others = [PlacementName::BestSeparately, PlacementName::BestTogether].into_iter();
    others.find(promises_more).map(|placement| HybridAdvice::AvoidJump { placement })
}

/// Where beside the recommended share the model drops most.
fn drop_beside(pair: &HybridPair, best: &HybridPlacement) -> Option<HybridDrop> {
    let HybridShares { load_share, load_fast_share, .. } = best.prediction.shares;
    let beside = [load_fast_share + BESIDE, load_fast_share - BESIDE].map(|it| it.clamp(0.0, 1.0));
    let beside = beside.into_iter().filter(|_| best.prediction.shares.are_one());
    let beside = beside.filter_map(|share| pair.predict(HybridShares::together(load_share, share)));
    let least = best.prediction.lowest.0 * (1.0 - DROP);
    let dropped = beside.filter(|it| it.highest.0 < least);
    let dropped = dropped.min_by(|one, other| one.highest.0.total_cmp(&other.highest.0))?;
    let HybridPrediction { fast_share, bandwidth, .. } = dropped;
    Some(HybridDrop { fast_share, bandwidth })
}

/// Different shares for which the model gives more than for the best.
fn separately(answer: &HybridAnswer, best: &HybridPlacement) -> Option<HybridAdvice> {
    let apart = &answer.placement(PlacementName::BestSeparately)?.prediction;
    let gives_more = apart.bandwidth.value > best.prediction.bandwidth.value;
    (!apart.is_backed() && gives_more).then_some(HybridAdvice::TrySeparately)
}

/// Whether less would lie in the fast memory if only half of the data found room there.
fn half(answer: &HybridAnswer, best: &HybridPlacement) -> Option<HybridAdvice> {
    let half = answer.placement(PlacementName::HalfFast)?;
    let is_less = best.prediction.fast_share > half.prediction.fast_share + SAME;
    is_less.then_some(HybridAdvice::FillHalf)
}

fn without_default(pair: &HybridPair, answer: &HybridAnswer) -> HybridAdvice {
    let fast_share = if answer.default == PlacementName::AllSlow { 0.0 } else { 1.0 };
    let known = answer.placements.iter().enumerate().filter(|(_, it)| it.prediction.is_validated);
    let lowest = |it: &HybridPlacement| it.prediction.lowest.0;
    let most = known.max_by(|(_, one), (_, other)| lowest(one).total_cmp(&lowest(other)));
    HybridAdvice::MeasureOverlaps {
        missing: pair.missing_overlaps(HybridShares::together(answer.load_share, fast_share)),
        most: most.map(|(position, _)| position),
    }
}
