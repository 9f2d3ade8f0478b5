//! What to do for a program's memory.

use serde::Serialize;

use super::Strategy;
use super::placement_time::{Access, PlacementStrategy};

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum StrategyAdvice {
    /// Place all regular data as memory-bind does, which is then ahead of round-robin.
    PlaceRegular,
    /// Take what is expected to be the fastest for this kind of access.
    TakeFastest { access: Access },
    /// Interleave regular data after all where more than this share of its accesses goes to data
    /// that was not placed.
    InterleaveAbove { share: f64 },
    /// Not bind: interleaved pages are as fast as own ones.
    SpareBinding,
    /// Not interleave: however much of the regular data is not placed, it gains nothing.
    SpareInterleaving,
}

pub(super) fn advice(model: &Strategy) -> Vec<StrategyAdvice> {
    let is_interleaved = model.regular.best().strategy == PlacementStrategy::RoundRobin;
    let share = model.break_even_share;
    let regular = match is_interleaved && share.is_some() && model.is_placing_faster() {
        true => StrategyAdvice::PlaceRegular,
        false => StrategyAdvice::TakeFastest { access: Access::Regular },
    };
    let condition = match share {
        Some(share) => StrategyAdvice::InterleaveAbove { share },
        None if is_interleaved => StrategyAdvice::SpareBinding,
        None => StrategyAdvice::SpareInterleaving,
    };
    vec![regular, StrategyAdvice::TakeFastest { access: Access::Irregular }, condition]
}
