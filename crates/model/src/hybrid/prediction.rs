//! What a program gets with given shares, and how sure that is.

use nearfar_record::{Estimate, TransferKind};
use nearfar_stats::{median, percentile_error, percentile_interval};
use nearfar_units::{BytesPerSecond, Nanoseconds};
use serde::Serialize;

use super::held_out::HeldOutErrors;
use super::overlap_fit::{OverlapModel, longest};
use super::pair::HybridPair;
use super::shares::HybridShares;

/// Two kinds whose times are within so many standard errors of each other may dominate either
/// way.
const STANDARD_ERRORS: f64 = 3.0;

/// How far apart two times may be and still be exchanged by the errors of the rates, where those
/// are not known, as a fraction.
pub const UNKNOWN_MARGIN: f64 = 0.05;

/// The least margin: what the rounding of binary fractions makes of equal times.
const LEAST_MARGIN: f64 = 1e-9;

/// What is moved for the times of a prediction.
const BYTES: f64 = 1000.0;

/// What a program gets with given shares.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridPrediction {
    #[serde(flatten)]
    pub shares: HybridShares,
    /// Share of all bytes in the fast memory.
    pub fast_share: f64,
    /// By the kind that takes longest; where what is read and what is written have different
    /// shares, the lowest that any kind gives which carries traffic. Interval: 95 % of the fits to
    /// drawn rounds, by all kinds that may take longest, and at least the room of the error on
    /// points that were not fitted to either side; null where neither is known, and where the
    /// shares are not validated.
    #[serde(rename = "gb_per_s")]
    pub bandwidth: Estimate<BytesPerSecond>,
    /// The lowest that a kind gives which may take longest; with different shares that any kind
    /// gives which carries traffic.
    #[serde(rename = "lowest_gb_per_s")]
    pub lowest: BytesPerSecond,
    /// The highest that a kind gives which may take longest.
    #[serde(rename = "highest_gb_per_s")]
    pub highest: BytesPerSecond,
    /// Whether points with shares of this sort, one for all buffers or different ones, were
    /// measured and never fitted; else nothing is claimed of them.
    pub is_validated: bool,
    /// Time for 1000 bytes of the whole.
    #[serde(rename = "time_ns")]
    pub time: Nanoseconds,
    /// Time of each kind alone for its part of them: lf, sf, ls, ss.
    #[serde(rename = "kind_times_ns")]
    pub kind_times: [Nanoseconds; 4],
    /// The kind that takes longest.
    pub dominating: TransferKind,
    /// The others that are within three standard errors of it: with them the model jumps, and
    /// which side is true cannot be told.
    pub may_dominate: Vec<TransferKind>,
}

/// By how much one placement is better than another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridGain {
    /// Predicted / that of the other - 1, by the kinds with the largest t.
    pub gain: f64,
    /// Whether it is more than the room of the model's error, whichever kinds dominate. Without a
    /// known error, without enough rounds for intervals or with shares that are not validated
    /// none is.
    pub is_claimed: bool,
}

/// How near two times must be to be exchanged by the errors of the rates: a fraction of the
/// longer, by kinds.
pub(super) fn margins(drawn: &[OverlapModel]) -> [[f64; 4]; 4] {
    let relative: [Option<f64>; 4] = std::array::from_fn(|kind| {
        let rates: Vec<f64> = drawn.iter().map(|model| model.rates[kind]).collect();
        Some(percentile_error(&rates)? / median(&rates)?)
    });
    std::array::from_fn(|one| {
        std::array::from_fn(|other| match (relative[one], relative[other]) {
            (Some(one), Some(other)) => {
                // At half of a time and more nothing is left to tell apart.
                (STANDARD_ERRORS * one.hypot(other)).clamp(LEAST_MARGIN, 0.5)
            }
            _ => UNKNOWN_MARGIN,
        })
    })
}

impl HybridPrediction {
    /// Whether something may be claimed of it: points validate its shares, or these are one for all
    /// buffers.
    pub fn is_backed(&self) -> bool {
        self.is_validated || self.shares.are_one()
    }
}

impl HybridPair {
    /// The kinds that may dominate: the one with the largest t, and behind it those that are
    /// near.
    pub(super) fn candidates(&self, times: &[f64; 4]) -> Vec<usize> {
        let first = longest(times);
        let is_near = |&kind: &usize| {
            kind != first && times[kind] >= times[first] * (1.0 - self.margins[first][kind])
        };
        let near = (0..4).filter(is_near).filter(|_| times[first] > 0.0);
        std::iter::once(first).chain(near).collect()
    }

    /// Lowest and highest bandwidth by the kinds that may dominate, useful bytes/s; `None` where
    /// an overlap that is needed is not known.
    pub(super) fn range(&self, shares: &HybridShares) -> Option<(f64, f64)> {
        range_of(&self.model, shares, &self.candidates(&self.model.times(shares.by_kind())))
    }

    /// What a program gets with given shares; `None` where they are not between 0 and 1, or an
    /// overlap that is needed is not known.
    pub fn predict(&self, shares: HybridShares) -> Option<HybridPrediction> {
        if !shares.are_sound() {
            return None;
        }
        let times = self.model.times(shares.by_kind());
        let candidates = self.candidates(&times);
        let (lowest, highest) = range_of(&self.model, &shares, &candidates)?;
        let bandwidth = if shares.are_one() {
            self.model.seconds(&times, candidates[0])?.recip()
        } else {
            lowest
        };
        let kinds = candidates.iter().map(|&kind| TransferKind::ALL[kind]);
        let is_validated = self.errors_of(&shares).is_some();
        let interval = self.interval(&shares, &candidates, (lowest, highest));
        let interval = interval.filter(|_| is_validated || shares.are_one());
        let ns = |seconds_for_a_byte: f64| Nanoseconds(seconds_for_a_byte * BYTES * 1e9);
        Some(HybridPrediction {
            shares,
            fast_share: shares.fast_share(),
            bandwidth: Estimate {
                value: BytesPerSecond(bandwidth),
                interval: interval.map(|(low, high)| [low, high].map(BytesPerSecond)),
                confidence: None,
                cases: Vec::new(),
            },
            lowest: BytesPerSecond(lowest),
            highest: BytesPerSecond(highest),
            is_validated,
            time: ns(bandwidth.recip()),
            kind_times: times.map(ns),
            dominating: TransferKind::ALL[candidates[0]],
            may_dominate: kinds.skip(1).collect(),
        })
    }

    /// The overlaps that a prediction with these shares needs and that are not known, the
    /// dominating kind first.
    pub fn missing_overlaps(&self, shares: HybridShares) -> Vec<(TransferKind, TransferKind)> {
        let times = self.model.times(shares.by_kind());
        let dominating = if shares.are_one() { self.candidates(&times) } else { (0..4).collect() };
        let cells = dominating.iter().flat_map(|&one| (0..4).map(move |other| (one, other)));
        cells
            .filter(|&(one, other)| one != other && times[one] > 0.0 && times[other] > 0.0)
            .filter(|&(one, other)| self.model.overlap_theta[one][other].is_none())
            .map(|(one, other)| (TransferKind::ALL[one], TransferKind::ALL[other]))
            .collect()
    }

    fn interval(
        &self,
        shares: &HybridShares,
        candidates: &[usize],
        (lowest, highest): (f64, f64),
    ) -> Option<(f64, f64)> {
        let by_drawn = self.drawn.iter().filter_map(|model| range_of(model, shares, candidates));
        let (lows, highs): (Vec<f64>, Vec<f64>) = by_drawn.unzip();
        let of_rounds = percentile_interval(&lows)
            .zip(percentile_interval(&highs))
            .map(|((low, _), (_, high))| (low, high));
        let of_error = self.errors_of(shares).map(|errors| {
            let room = errors.room;
            ((lowest * (1.0 - room)).max(0.0), highest * (1.0 + room))
        });
        let ends = of_rounds.into_iter().chain(of_error);
        let outer = ends.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        outer.map(|(low, high)| (low.min(lowest), high.max(highest)))
    }

    /// By how much one placement is better than another.
    pub fn gain(&self, of: &HybridPrediction, against: &HybridPrediction) -> HybridGain {
        let surest = of.lowest / against.highest - 1.0;
        let errors = [of, against].map(|it| self.errors_of(&it.shares));
        let is_beyond =
            |errors: &Option<HeldOutErrors>| errors.is_some_and(|errors| surest > errors.room);
        let is_claimed = !self.drawn.is_empty() && errors.iter().all(is_beyond);
        HybridGain { gain: of.bandwidth.value / against.bandwidth.value - 1.0, is_claimed }
    }
}

/// Lowest and highest bandwidth with each of these kinds dominating; where what is read and what
/// is written are shared out differently, the lowest by any kind that carries traffic.
///
/// Equation 5 counts no overlap between two kinds that both do not dominate, be they of one
/// memory, so that more bytes can take less time just on one side of a jump. Points with one
/// share for all buffers validate how far that goes; a search among different shares would go
/// there and find what no machine gives.
fn range_of(model: &OverlapModel, shares: &HybridShares, kinds: &[usize]) -> Option<(f64, f64)> {
    let times = model.times(shares.by_kind());
    let (lowest, highest) = range_by(model, &times, kinds)?;
    if shares.are_one() {
        return Some((lowest, highest));
    }
    Some((lowest.min(model.longest_seconds(&times)?.recip()), highest))
}

/// Lowest and highest bandwidth with each of these kinds dominating.
fn range_by(model: &OverlapModel, times: &[f64; 4], kinds: &[usize]) -> Option<(f64, f64)> {
    let mut range: Option<(f64, f64)> = None;
    for &kind in kinds {
        let bandwidth = model.seconds(times, kind)?.recip();
        let (low, high) = range.unwrap_or((bandwidth, bandwidth));
        range = Some((low.min(bandwidth), high.max(bandwidth)));
    }
    range
}
