//! What to do with a program's buffers.

use nearfar_record::TransferKind;
use serde::Serialize;

use super::pair::HybridPair;
use super::placements::{HybridAnswer, HybridPlacement, PlacementName};
use super::shares::HybridShares;

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum HybridAdvice {
    /// Leave buffers as the default placement has them.
    Leave {
        /// Why no other is taken.
        because: NoGain,
    },
    /// Put buffers as the recommended placement has them.
    Put {
        /// The fraction of it that the rounding of weights costs; null where that is too little to
        /// tell.
        rounding_cost: Option<f64>,
    },
    /// Expect nothing of the shares that this placement would have if they were not at a jump of
    /// the model.
    AvoidJump { placement: PlacementName },
    /// Try different shares for what is read and what is written on the program itself: the model
    /// gives more for them, and no point validates it.
    TrySeparately,
    /// Where only half of the data finds room in the fast memory, put buffers as `half_fast` has
    /// them.
    FillHalf,
    /// Measure the overlaps without which no gain over the default placement can be told.
    MeasureOverlaps {
        /// The kind that takes longest, and the one beside it.
        missing: Vec<(TransferKind, TransferKind)>,
        /// Position of the placement that gives most of those that can be predicted, or null.
        most: Option<usize>,
    },
    /// Keep in mind that a better share may not be seen: overlaps are missing for some.
    SuspectBetter,
}

/// Why no placement is taken in place of the default one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoGain {
    /// None is sure to gain more than the model may be off.
    WithinError,
    /// The rounds are too few for intervals.
    TooFewRounds,
    /// The model's error is not known.
    ErrorUnknown,
}

/// What the rounding of weights costs is told from this fraction on.
const WORTH_TELLING: f64 = 0.001;

/// Shares that differ by less are the same.
const SAME: f64 = 1e-9;

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
        return HybridAdvice::Put { rounding_cost: lost.filter(|&lost| lost > WORTH_TELLING) };
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
