//! What all figures of a group have in common: a clock that is higher, memory that is slower. It is
//! one finding, however many cases show it.
//! Rounds are what is independent here: what slows a round slows all of its cases.

use std::collections::BTreeMap;

use nearfar_stats::{OF_MAD, median};
use serde::Serialize;

use super::noise::OF_MEDIAN;
use super::significance::{critical_score, score_of_t, t_of_score};
use super::{Cell, ComparedGroup, FAMILY_ERROR, FEWEST_OF_GROUP, Verdict, ln_floor, ratios};

/// So large a part of the cases must agree.
const AGREEING: f64 = 0.75;

/// A case agrees within this many of its standard errors, or within the floor.
const AGREES_WITHIN: f64 = 4.0;

/// From so few rounds nothing is known of how rounds differ.
const FEWEST_ROUNDS: usize = 3;

/// What all figures of a group have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommonShift {
    /// Median over the cases of B / A for bandwidth and arithmetic, of A / B for times: above 1
    /// where B is better.
    #[serde(rename = "gain_ratio")]
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
    /// What it means.
    pub verdict: Verdict,
    /// ln(ratio).
    #[serde(skip)]
    pub(super) gain: f64,
}

/// What the cases of a group have in common; `None` where they are too few or do not agree.
pub(super) fn common_shift(cells: &[Cell<'_>], floor: f64) -> Option<CommonShift> {
    if cells.len() < FEWEST_OF_GROUP {
        return None;
    }
    let gains: Vec<f64> = cells.iter().map(|cell| cell.gain).collect();
    let gain = median(&gains)?;
    let agrees = |cell: &&Cell<'_>| {
        (cell.gain - gain).abs() <= (AGREES_WITHIN * cell.noise.error).max(ln_floor(floor))
    };
    let agreeing = cells.iter().filter(agrees).count();
    if (agreeing as f64) < AGREEING * cells.len() as f64 {
        return None;
    }
    let distances: Vec<f64> = gains.iter().map(|other| (other - gain).abs()).collect();
    let of_cells = OF_MEDIAN * OF_MAD * median(&distances)? / (cells.len() as f64).sqrt();
    let (a, a_rounds) = error_of_rounds(cells, 0)?;
    let (b, b_rounds) = error_of_rounds(cells, 1)?;
    let error = (of_cells.powi(2) + a + b).sqrt().max(1e-12);
    let freedom = (a_rounds + b_rounds - 2) as f64;
    let is_significant = critical_score(ComparedGroup::ALL.len(), FAMILY_ERROR)
        .is_some_and(|critical| score_of_t(gain / error, freedom).abs() > critical);
    let half = t_of_score(1.96, freedom) * error;
    Some(CommonShift {
        ratio: gain.exp(),
        interval: ratios(gain, half),
        verdict: Verdict::of(gain, floor, is_significant),
        gain,
    })
}

/// Variance of what the rounds of a record have in common, of its median over rounds, and the
/// number of rounds.
fn error_of_rounds(cells: &[Cell<'_>], record: usize) -> Option<(f64, usize)> {
    let mut by_round: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for figure in cells.iter().map(|cell| cell.matched.figures()[record]) {
        for (round, value) in &figure.rounds {
            by_round.entry(*round).or_default().push((value / figure.median).ln());
        }
    }
    // A round that few cases have says little of all.
    let effects: Vec<f64> = by_round
        .values()
        .filter(|effects| effects.len() * 2 >= cells.len())
        .filter_map(|effects| median(effects))
        .collect();
    let count = effects.len() as f64;
    if effects.len() < FEWEST_ROUNDS {
        return None;
    }
    let mean = effects.iter().sum::<f64>() / count;
    let square: f64 = effects.iter().map(|effect| (effect - mean).powi(2)).sum();
    Some((OF_MEDIAN.powi(2) * square / (count - 1.0) / count, effects.len()))
}
