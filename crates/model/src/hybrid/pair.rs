//! The model of one cluster and two memories.

use std::collections::HashMap;

use nearfar_record::{HybridCoordinates, HybridPoint, TransferKind};
use nearfar_stats::{mean_of_calm, percentile_error, percentile_interval};

use super::held_out::{HeldOutErrors, HeldOutPoint, errors};
use super::overlap_fit::{OverlapBounds, OverlapModel, OverlapPoint, position};
use super::prediction::margins;
use super::resampling::Rounds;
use super::shares::HybridShares;
use crate::hybrid_points::{HybridFigures, load_share};

/// An overlap that is known no better than this is not known.
const LARGEST_STANDARD_ERROR: f64 = 0.1;

/// Below it a case of two kinds that take equally long takes no time.
const LEAST_OVERLAP: f64 = -1.0;

/// A cluster's loads and stores over a fast and a slow memory.
#[derive(Debug, Clone, PartialEq)]
pub struct HybridPair {
    pub cluster: u32,
    /// Node of the memory that should be faster.
    pub fast_node: u32,
    pub slow_node: u32,
    /// Which of the two a program's pages come to lie on that asks for nothing: the cluster's
    /// node with CPUs; `None` where it is neither.
    pub default_node: Option<u32>,
    /// Threads of the cases.
    pub threads: u32,
    /// Instruction-set variant of the cases.
    pub variant: String,
    /// Bandwidth of each kind alone, in the order of [`TransferKind::ALL`].
    pub rates: [HybridRate; 4],
    /// The twelve ordered pairs of kinds, by the dominating one.
    pub overlaps: Vec<HybridOverlap>,
    /// The surface, which was never fitted.
    pub held_out: Vec<HeldOutPoint>,
    /// How far the model is off there, with one share for all buffers; `None` with fewer than four
    /// points.
    pub errors: Option<HeldOutErrors>,
    /// The same with different shares for what is read and what is written.
    pub separate_errors: Option<HeldOutErrors>,
    /// Rounds of the case that has the fewest.
    pub fewest_rounds: usize,
    /// The command that measures its cases with enough rounds.
    pub remedy: String,
    pub(super) model: OverlapModel,
    pub(super) drawn: Vec<OverlapModel>,
    /// How near two times must be to be exchanged by the errors of the rates.
    pub(super) margins: [[f64; 4]; 4],
}

/// Bandwidth of one kind alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HybridRate {
    /// Useful bytes/s, mean of the calm rounds.
    pub bandwidth: f64,
    /// 95 % of the same of drawn rounds; `None` with fewer than five rounds.
    pub interval: Option<(f64, f64)>,
}

/// What of one kind's time does not overlap with another's.
#[derive(Debug, Clone, PartialEq)]
pub struct HybridOverlap {
    /// The kind that takes longest.
    pub dominating: TransferKind,
    pub beside: TransferKind,
    /// The overlap, or why it is not known.
    pub value: Result<OverlapValue, String>,
}

/// An overlap as it was fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverlapValue {
    /// The share of the other's time that does not overlap: 0 where all is hidden, 1 where one
    /// waits for the other, above 1 where they hinder each other.
    pub overlap_theta: f64,
    /// 95 % of the fits to drawn rounds; `None` with fewer than five rounds.
    pub interval: Option<(f64, f64)>,
    /// Of the fit without bounds, by the middle of the fits to drawn rounds; `None` as above.
    pub standard_error: Option<f64>,
    /// What the fit without bounds gives.
    pub unbounded: f64,
    /// Whether it is above 1 by its whole interval; not without one.
    pub is_interference: bool,
}

impl HybridPair {
    /// The model by the points of one cluster and its two memories and the rounds of each case.
    /// In words why there is none.
    pub(super) fn new(
        points: &[&HybridFigures],
        rounds: &HashMap<String, Vec<f64>>,
        bounds: OverlapBounds,
        default_node: Option<u32>,
        remedy: &str,
    ) -> Result<Self, String> {
        let Some(first) = points.first() else { return Err("it has no points".into()) };
        let measured = measured_rounds(points, rounds)?;
        let not_a_rate = || "a bandwidth of it is 0".to_string();
        let mut model = measured.fit(bounds).ok_or_else(not_a_rate)?;
        let unbounded = measured.fit(OverlapBounds::None).ok_or_else(not_a_rate)?;
        let drawn = measured.refit(bounds);
        let freely_drawn = match bounds {
            OverlapBounds::None => drawn.clone(),
            OverlapBounds::NotNegative => measured.refit(OverlapBounds::None),
        };
        let mut overlaps = Vec::new();
        for dominating in TransferKind::ALL {
            for beside in TransferKind::ALL.into_iter().filter(|&kind| kind != dominating) {
                let (row, column) = (position(dominating), position(beside));
                let of = |model: &OverlapModel| model.overlap_theta[row][column];
                let value = match (of(&model), of(&unbounded)) {
                    (Some(overlap_theta), Some(unbounded)) => {
                        let standard_error = percentile_error(
                            &freely_drawn.iter().filter_map(of).collect::<Vec<f64>>(),
                        );
                        let drawn: Vec<f64> = drawn.iter().filter_map(of).collect();
                        let value =
                            OverlapValue::new(overlap_theta, unbounded, standard_error, &drawn);
                        checked(value, remedy)
                    }
                    _ => Err(why_unknown(points, dominating, beside)),
                };
                model.overlap_theta[row][column] =
                    value.as_ref().ok().map(|value| value.overlap_theta);
                overlaps.push(HybridOverlap { dominating, beside, value });
            }
        }
        let rates = std::array::from_fn(|kind| HybridRate {
            bandwidth: model.rates[kind],
            interval: percentile_interval(
                &drawn.iter().map(|model| model.rates[kind]).collect::<Vec<f64>>(),
            ),
        });
        let held_out = held_out(points, rounds, &model);
        Ok(Self {
            cluster: first.place.cluster,
            fast_node: first.place.fast_node,
            slow_node: first.place.slow_node,
            default_node,
            threads: first.place.threads,
            variant: first.place.variant.clone(),
            rates,
            overlaps,
            errors: errors(&held_out, true),
            separate_errors: errors(&held_out, false),
            held_out,
            fewest_rounds: measured.fewest(),
            remedy: remedy.into(),
            margins: margins(&drawn),
            model,
            drawn,
        })
    }

    /// Useful bytes/s of a program with this share of loads and this share of all its buffers in
    /// the fast memory; `None` where a share is not between 0 and 1, or an overlap that is needed
    /// is not known.
    pub fn bandwidth(&self, load_share: f64, fast_share: f64) -> Option<f64> {
        let shares = HybridShares::together(load_share, fast_share);
        self.predict(shares).map(|prediction| prediction.bandwidth)
    }

    /// The model's error: the relative root mean square on points that were never fitted, a
    /// fraction; `None` where too few were measured.
    pub fn relative_rms(&self) -> Option<f64> {
        self.errors.map(|errors| errors.relative_rms)
    }

    /// The model's error for shares of this sort: one for all buffers, or different ones.
    pub(super) fn errors_of(&self, shares: &HybridShares) -> Option<HeldOutErrors> {
        if shares.are_one() { self.errors } else { self.separate_errors }
    }
}

impl OverlapValue {
    fn new(overlap_theta: f64, unbounded: f64, standard_error: Option<f64>, drawn: &[f64]) -> Self {
        let within = |(low, high): (f64, f64)| (low.max(LEAST_OVERLAP), high.max(LEAST_OVERLAP));
        let interval = percentile_interval(drawn).map(within);
        let is_interference = interval.is_some_and(|(least, _)| least > 1.0);
        Self { overlap_theta, interval, standard_error, unbounded, is_interference }
    }
}

/// An overlap that is known well enough, or why it is not.
fn checked(value: OverlapValue, remedy: &str) -> Result<OverlapValue, String> {
    if value.unbounded < LEAST_OVERLAP {
        return Err(format!(
            "not identified: {:.2} fits best, with which a case would take no time",
            value.unbounded
        ));
    }
    match value.standard_error {
        Some(error) if error > LARGEST_STANDARD_ERROR => Err(format!(
            "not identified: its standard error is {error:.2}, above {LARGEST_STANDARD_ERROR}; \
             more rounds would tell: `{remedy}`"
        )),
        _ => Ok(value),
    }
}

fn why_unknown(
    points: &[&HybridFigures],
    dominating: TransferKind,
    beside: TransferKind,
) -> String {
    let own =
        points.iter().find(|point| point.place.point == HybridPoint::Pair { dominating, beside });
    match own {
        None => "not identified: the record has no point for it".into(),
        Some(HybridFigures { total: None, case, .. }) => {
            let reason = case.absent.first().map_or("it has no samples yet", |it| &it.reason.text);
            format!("not identified: its point was not measured: {reason}")
        }
        Some(_) => "not identified: its points do not tell it from the others".into(),
    }
}

/// Shares of bytes by the pages that were found; `None` without samples.
fn found_shares(point: &HybridFigures) -> Option<HybridShares> {
    let loads = load_share(&point.place);
    let found = |share: Option<f64>, accesses: u32| if accesses == 0 { Some(0.0) } else { share };
    let shares = HybridShares {
        load_share: loads,
        load_fast_share: found(point.load_fast_share, point.place.loads)?,
        store_fast_share: found(point.store_fast_share, point.place.stores)?,
    };
    shares.are_sound().then_some(shares)
}

/// Rounds of the corners and of the points of pairs.
fn measured_rounds(
    points: &[&HybridFigures],
    rounds: &HashMap<String, Vec<f64>>,
) -> Result<Rounds, String> {
    let of = |point: &HybridFigures| {
        let own = rounds.get(&point.case.id).filter(|rounds| !rounds.is_empty());
        own.cloned().ok_or_else(|| {
            let reason = point.case.absent.first();
            reason.map_or("it has no samples yet".to_string(), |it| it.reason.text.clone())
        })
    };
    let corner = |kind: TransferKind| {
        let is_own =
            |point: &&&HybridFigures| point.place.point == HybridPoint::Corner { of: kind };
        let mut own = points.iter().filter(is_own).map(|point| of(point));
        let best = own.next().unwrap_or_else(|| Err("the record has no case for it".into()));
        let found = own.fold(best, |best, next| best.or(next));
        found.map_err(|why| format!("the bandwidth of {} alone is not known: {why}", kind.as_str()))
    };
    let corners = [
        corner(TransferKind::FastLoad)?,
        corner(TransferKind::FastStore)?,
        corner(TransferKind::SlowLoad)?,
        corner(TransferKind::SlowStore)?,
    ];
    let pairs = points.iter().filter_map(|point| {
        let HybridPoint::Pair { dominating, .. } = point.place.point else { return None };
        let shares = found_shares(point)?.by_kind();
        // The bandwidth is that of the rounds.
        Some((OverlapPoint { dominating, shares, bandwidth: 0.0 }, of(point).ok()?))
    });
    Ok(Rounds { corners, points: pairs.collect() })
}

fn held_out(
    points: &[&HybridFigures],
    rounds: &HashMap<String, Vec<f64>>,
    model: &OverlapModel,
) -> Vec<HeldOutPoint> {
    let surface = points.iter().filter(|point| point.place.point == HybridPoint::Surface);
    surface
        .filter_map(|point| {
            let shares = found_shares(point)?;
            let measured = mean_of_calm(rounds.get(&point.case.id)?)?;
            let HybridCoordinates { loads, stores, load_pages, store_pages, .. } = &point.place;
            let has_one_share = *loads == 0 || *stores == 0 || load_pages == store_pages;
            let predicted = if has_one_share {
                model.bandwidth(shares.by_kind())
            } else {
                model.longest_seconds(&model.times(shares.by_kind())).map(f64::recip)
            };
            let point = HeldOutPoint { shares, measured, predicted, has_one_share };
            (measured > 0.0).then_some(point)
        })
        .collect()
}
