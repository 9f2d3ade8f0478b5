//! What a program gets with given shares, and how sure that is.

use nearfar_record::{Estimate, TransferKind};
use nearfar_stats::percentile_interval;
use nearfar_units::{BytesPerSecond, Nanoseconds};

use super::answer::{HybridGain, HybridPrediction};
use super::held_out::HeldOutErrors;
use super::overlap_fit::{OverlapModel, longest};
use super::pair::{HybridPair, HybridSurfacePoint};
use super::shares::HybridShares;

/// What is moved for the times of a prediction.
const BYTES: f64 = 1000.0;

/// Steps of the surface from 0 to 1.
const STEPS: u32 = 5;

/// What equation 5 gives with some shares, useful bytes/s.
struct Given {
    /// Of each kind alone, s for a byte of the whole.
    times: [f64; 4],
    /// The kinds that may dominate, the one with the largest time first.
    candidates: Vec<usize>,
    /// By these kinds.
    range: (f64, f64),
    bandwidth: f64,
}

impl HybridPair {
    pub(super) fn surface_points(&self) -> Vec<HybridSurfacePoint> {
        let steps = || (0..=STEPS).map(|step| f64::from(step) / f64::from(STEPS));
        let cells = steps().flat_map(|loads| steps().map(move |fast| (loads, fast)));
        let point = |(load_share, fast_share)| {
            let bandwidth = self.bandwidth(load_share, fast_share).map(BytesPerSecond);
            HybridSurfacePoint { load_share, fast_share, bandwidth }
        };
        cells.map(point).collect()
    }

    /// Useful bytes/s of a program with this share of loads and this share of all its buffers in
    /// the fast memory; `None` where a share is not between 0 and 1, or an overlap that is needed
    /// is not known.
    pub fn bandwidth(&self, load_share: f64, fast_share: f64) -> Option<f64> {
        let shares = HybridShares::together(load_share, fast_share);
        self.given(&shares).map(|given| given.bandwidth)
    }

    /// What equation 5 gives, without its interval: a line takes hundreds of points.
    fn given(&self, shares: &HybridShares) -> Option<Given> {
        if !shares.are_sound() {
            return None;
        }
        let times = self.model.times(shares.by_kind());
        let candidates = self.candidates(&times);
        let range = range_of(&self.model, shares, &candidates)?;
        let bandwidth = match shares.are_one() {
            true => self.model.seconds(&times, candidates[0])?.recip(),
            false => range.0,
        };
        Some(Given { times, candidates, range, bandwidth })
    }

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
        let Given { times, candidates, range: (lowest, highest), bandwidth } =
            self.given(&shares)?;
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
        let errors = [of, against].map(|it| self.errors_of(&it.shares));
        let is_surely_better = |one: &HybridPrediction, other: &HybridPrediction| {
            let surest = one.lowest / other.highest - 1.0;
            let is_beyond =
                |errors: &Option<HeldOutErrors>| errors.is_some_and(|errors| surest > errors.room);
            !self.drawn.is_empty() && errors.iter().all(is_beyond)
        };
        HybridGain {
            gain: of.bandwidth.value / against.bandwidth.value - 1.0,
            is_claimed: is_surely_better(of, against),
            is_sure_loss: is_surely_better(against, of),
        }
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
