//! The model of one initiator and two memories.

use nearfar_machine::{Machine, MemoryKind};
use nearfar_record::{Estimate, HybridCoordinates, HybridPoint, Outcome, TransferKind};
use nearfar_stats::{mean_of_calm, percentile_error, percentile_interval};
use nearfar_units::{BytesPerSecond, Quantity, Ratio};
use serde::Serialize;

use super::answer::HybridAnswer;
use super::held_out::{HeldOutErrors, HeldOutPoint, errors};
use super::overlap_fit::{OverlapBounds, OverlapModel, OverlapPoint};
use super::resampling::{CONFIDENCE, Rounds, margins};
use super::shares::HybridShares;
use crate::hybrid_points::HybridFigures;

/// An overlap that is known no better than this is not known.
const LARGEST_STANDARD_ERROR: f64 = 0.1;

/// Below it a case of two kinds that take equally long takes no time.
const LEAST_OVERLAP: f64 = -1.0;

/// An initiator's loads and stores over a fast and a slow memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridPair {
    pub initiator: u32,
    /// Node of the memory that should be faster.
    pub fast_node: u32,
    pub fast_kind: MemoryKind,
    /// Its size, or null.
    pub fast_memory_bytes: Option<u64>,
    pub slow_node: u32,
    pub slow_kind: MemoryKind,
    /// Which of the two a program's pages come to lie on that asks for nothing: the initiator's
    /// node with CPUs; null where it is neither.
    pub default_node: Option<u32>,
    pub threads: u32,
    /// Instruction-set variant.
    pub variant: String,
    /// Rounds of the case with the fewest.
    pub fewest_rounds: usize,
    /// Each kind alone: lf, sf, ls, ss.
    pub corners: [HybridCorner; 4],
    /// Whether loads from the memory that should be faster are faster.
    pub is_fast_faster: bool,
    /// The twelve ordered pairs of kinds, by the one that takes longest.
    pub overlaps: Vec<HybridOverlap>,
    /// How far the model is off on points that were never fitted, with one share for all buffers.
    pub errors: Outcome<HeldOutErrors>,
    /// The same with different shares for what is read and what is written; null with fewer than
    /// four points.
    pub separate_errors: Option<HeldOutErrors>,
    /// What was measured and never fitted.
    pub held_out: Vec<HeldOutPoint>,
    /// What the model gives over shares of loads and of fast pages.
    pub surface: Vec<HybridSurfacePoint>,
    /// What programs get, and what to do: those that only read, that read twice or once for each
    /// write, that only write.
    pub answers: Vec<HybridAnswer>,
    /// The command that measures its cases with enough rounds.
    pub remedy: String,
    #[serde(skip)]
    pub(super) model: OverlapModel,
    #[serde(skip)]
    pub(super) drawn: Vec<OverlapModel>,
    /// How near two times must be to be exchanged by the errors of the rates.
    #[serde(skip)]
    pub(super) margins: [[f64; 4]; 4],
}

/// One kind of transfer alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridCorner {
    pub of: TransferKind,
    /// Mean of the rounds without outliers; its interval is that of drawn rounds, null with fewer
    /// than five.
    #[serde(rename = "gb_per_s")]
    pub bandwidth: Estimate<BytesPerSecond>,
}

/// What of one kind's time does not overlap with another's.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridOverlap {
    /// The kind that takes longest.
    pub dominating: TransferKind,
    pub beside: TransferKind,
    /// The overlap, or why it is not known.
    pub fit: Outcome<OverlapValue>,
}

/// An overlap as it was fitted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverlapValue {
    /// The share of the other's time that does not overlap: 0 where all is hidden, 1 where one
    /// waits for the other, above 1 where they hinder each other. Its interval is that of the fits
    /// to drawn rounds, null with fewer than five.
    pub overlap_theta: Estimate<Ratio>,
    /// Of the fit without bounds, by the middle of the fits to drawn rounds; null as above.
    pub standard_error: Option<f64>,
    /// What the fit without bounds gives.
    pub unbounded: f64,
    /// Whether bounds hold it at 0, where without them it is less.
    pub is_held: bool,
    /// Whether it is above 1 by its whole interval; not without one.
    pub is_interference: bool,
}

/// What the model gives at given shares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridSurfacePoint {
    /// Share of loads in all bytes.
    pub load_share: f64,
    /// Share of all buffers in the fast memory.
    pub fast_share: f64,
    /// Null where an overlap that it needs is not known.
    #[serde(rename = "gb_per_s")]
    pub bandwidth: Option<BytesPerSecond>,
}

impl HybridPair {
    /// The model by the points of one initiator and its two memories and the rounds of each case,
    /// without surface and answers. In words why there is none.
    pub(super) fn new(
        points: &[HybridFigures],
        bounds: OverlapBounds,
        machine: &Machine,
        remedy: &str,
    ) -> Result<Self, String> {
        let Some(first) = points.first() else { return Err("it has no points".into()) };
        let &HybridCoordinates { initiator, fast_node, slow_node, threads, .. } = &first.place;
        let measured = measured_rounds(points)?;
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
                let (row, column) = (dominating as usize, beside as usize);
                let of = |model: &OverlapModel| model.overlap_theta[row][column];
                let fit = match (of(&model), of(&unbounded)) {
                    (Some(theta), Some(unbounded)) => {
                        let standard_error = percentile_error(
                            &freely_drawn.iter().filter_map(of).collect::<Vec<f64>>(),
                        );
                        let drawn: Vec<f64> = drawn.iter().filter_map(of).collect();
                        let ends = percentile_interval(&drawn)
                            .map(|(low, high)| (low.max(LEAST_OVERLAP), high.max(LEAST_OVERLAP)));
                        checked(unbounded, standard_error, remedy).map(|()| OverlapValue {
                            overlap_theta: drawn_estimate(
                                theta,
                                ends,
                                measured.cases_of(dominating),
                            ),
                            standard_error,
                            unbounded,
                            is_held: theta == 0.0 && unbounded < 0.0,
                            is_interference: ends.is_some_and(|(least, _)| least > 1.0),
                        })
                    }
                    _ => Err(why_unknown(points, dominating, beside)),
                };
                model.overlap_theta[row][column] =
                    fit.as_ref().ok().map(|fit| fit.overlap_theta.value.0);
                overlaps.push(HybridOverlap { dominating, beside, fit: fit.into() });
            }
        }
        let corners = std::array::from_fn(|kind| {
            let drawn: Vec<f64> = drawn.iter().map(|model| model.rates[kind]).collect();
            let case = measured.corners[kind].case.id.clone();
            let ends = percentile_interval(&drawn);
            let bandwidth = drawn_estimate(model.rates[kind], ends, vec![case]);
            HybridCorner { of: TransferKind::ALL[kind], bandwidth }
        });
        let held_out = held_out(points, &model);
        let own = machine.initiators().into_iter().find(|own| own.index == initiator);
        let default_node = own.and_then(|own| own.cpu_node);
        let node = |number| machine.node(number);
        let kind = |number| node(number).map_or(MemoryKind::Unknown, |node| node.kind);
        Ok(Self {
            initiator,
            fast_node,
            fast_kind: kind(fast_node),
            fast_memory_bytes: node(fast_node).and_then(|node| node.memory_bytes),
            slow_node,
            slow_kind: kind(slow_node),
            default_node: default_node.filter(|node| [fast_node, slow_node].contains(node)),
            threads,
            variant: first.place.variant.clone(),
            fewest_rounds: measured.fewest(),
            corners,
            is_fast_faster: model.rates[0] > model.rates[2],
            overlaps,
            errors: errors(&held_out, true).ok_or_else(|| too_few(&held_out, remedy)).into(),
            separate_errors: errors(&held_out, false),
            held_out,
            surface: Vec::new(),
            answers: Vec::new(),
            remedy: remedy.into(),
            margins: margins(&drawn),
            model,
            drawn,
        })
    }

    /// The model's error: the relative root mean square on points that were never fitted, a
    /// fraction; `None` where too few were measured.
    pub fn relative_rms(&self) -> Option<f64> {
        self.errors.found().map(|errors| errors.relative_rms)
    }

    /// The model's error for shares of this sort: one for all buffers, or different ones.
    pub(super) fn errors_of(&self, shares: &HybridShares) -> Option<HeldOutErrors> {
        if shares.are_one() { self.errors.found().copied() } else { self.separate_errors }
    }
}

/// A number of the fit to all rounds with the ends of the fits to drawn ones.
fn drawn_estimate<U: Quantity>(
    value: f64,
    ends: Option<(f64, f64)>,
    cases: Vec<String>,
) -> Estimate<U> {
    let interval = ends.map(|(low, high)| [U::from(low), U::from(high)]);
    Estimate { value: U::from(value), interval, confidence: ends.map(|_| CONFIDENCE), cases }
}

/// Why points that were never fitted tell no error.
fn too_few(held_out: &[HeldOutPoint], remedy: &str) -> String {
    let compared = match held_out.iter().filter(|point| point.predicted.is_some()).count() {
        1 => "1 point".into(),
        count => format!("{count} points"),
    };
    format!(
        "{compared} of the surface could be compared, and fewer than four tell no error; the twelve \
         points of pairs are fitted exactly and tell none; `{remedy}` measures six"
    )
}

/// Whether an overlap is known well enough, or why it is not.
fn checked(unbounded: f64, standard_error: Option<f64>, remedy: &str) -> Result<(), String> {
    if unbounded < LEAST_OVERLAP {
        return Err(format!(
            "not identified: {unbounded:.2} fits best, with which a case would take no time"
        ));
    }
    match standard_error {
        Some(error) if error > LARGEST_STANDARD_ERROR => Err(format!(
            "not identified: its standard error is {error:.2}, above {LARGEST_STANDARD_ERROR}; \
             more rounds would tell: `{remedy}`"
        )),
        _ => Ok(()),
    }
}

fn why_unknown(points: &[HybridFigures], dominating: TransferKind, beside: TransferKind) -> String {
    let own =
        points.iter().find(|point| point.place.point == HybridPoint::Pair { dominating, beside });
    match own {
        None => "not identified: the record has no point for it".into(),
        Some(point) if point.total.is_none() => {
            format!("not identified: its point was not measured: {}", why_no_rounds(point))
        }
        Some(_) => "not identified: its points do not tell it from the others".into(),
    }
}

/// Why a point has no rounds.
fn why_no_rounds(point: &HybridFigures) -> &str {
    point.case.absent.first().map_or("it has no samples yet", |it| &it.reason.text)
}

/// Rounds of the corners and of the points of pairs.
fn measured_rounds(points: &[HybridFigures]) -> Result<Rounds<'_>, String> {
    let corner = |kind: TransferKind| {
        let is_own = |point: &&HybridFigures| point.place.point == HybridPoint::Corner { of: kind };
        let mut own = points.iter().filter(is_own);
        let measured = own.clone().find(|point| !point.rounds.is_empty());
        measured.ok_or_else(|| {
            let why = own.next().map_or("the record has no case for it", why_no_rounds);
            format!("the bandwidth of {} alone is not known: {why}", kind.as_str())
        })
    };
    let [lf, sf, ls, ss] = TransferKind::ALL.map(corner);
    let pairs = points.iter().filter(|point| !point.rounds.is_empty()).filter_map(|point| {
        let HybridPoint::Pair { dominating, .. } = point.place.point else { return None };
        let shares = point.found_shares()?.by_kind();
        // The bandwidth is that of the rounds.
        Some((OverlapPoint { dominating, shares, bandwidth: 0.0 }, point))
    });
    Ok(Rounds { corners: [lf?, sf?, ls?, ss?], points: pairs.collect() })
}

fn held_out(points: &[HybridFigures], model: &OverlapModel) -> Vec<HeldOutPoint> {
    let surface = points.iter().filter(|point| point.place.point == HybridPoint::Surface);
    surface
        .filter_map(|point| {
            let shares = point.found_shares()?;
            let measured = mean_of_calm(&point.rounds)?;
            let HybridCoordinates { loads, stores, load_pages, store_pages, .. } = &point.place;
            let has_one_share = *loads == 0 || *stores == 0 || load_pages == store_pages;
            let predicted = if has_one_share {
                model.bandwidth(shares.by_kind())
            } else {
                model.longest_seconds(&model.times(shares.by_kind())).map(f64::recip)
            };
            let point = HeldOutPoint {
                case: point.case.id.clone(),
                shares,
                measured: BytesPerSecond(measured),
                predicted: predicted.map(BytesPerSecond),
                error: predicted.map(|predicted| predicted / measured - 1.0),
                has_one_share,
            };
            (measured > 0.0).then_some(point)
        })
        .collect()
}
