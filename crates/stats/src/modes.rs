//! How many modes a sample shows, where, and how many values are in each.
//! Sources: the dip test of Hartigan and Hartigan, Annals of Statistics 13 (1985); for counting,
//! Gaussian kernels (Silverman 1986, chapter 6). The valley score and all thresholds are ours, chosen
//! by simulation on single-mode shapes: a bound for those shapes, not a theorem.
//! Holds when: values are drawn apart from each other. Fails when: they drift, which spreads a
//! mode; a mode has fewer than [`FEWEST_IN_MODE`] values, which can be missed.
//! Pinned by: `crates/stats/tests/modes.rs`; rates: `cargo bench -p nearfar-model --bench accuracy
//! -- modes`.

mod peaks;

use serde::Serialize;

use crate::dip::{dip, dip_exceeded_by_one_percent, dip_p};
use crate::kernel_density::KernelDensity;
use crate::quantile::quantile;

/// With fewer values nothing is said of modes.
pub const FEWEST_FOR_MODES: usize = 20;

/// A mode of fewer values can be missed, however far it lies from the others.
const FEWEST_IN_MODE: usize = 15;

/// What a sample says of its modes.
#[derive(Debug, Clone, PartialEq)]
pub enum Modes {
    /// Fewer values than [`FEWEST_FOR_MODES`].
    TooFew,
    /// No more than one mode is shown by this many values: there may be more.
    NotShown(ModeEvidence),
    /// At least two, the lowest first.
    Shown(ModeEvidence, Vec<Mode>),
}

/// What is held against a single mode.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModeEvidence {
    /// Values far from all others (8 interquartile ranges from the median, less than 5 % of the
    /// values on that side), which were left out.
    pub left_out: usize,
    /// Hartigan's dip.
    pub dip: f64,
    /// How often values drawn evenly have a larger dip, at least 0.001. A gate of 1 %.
    pub dip_p: f64,
    /// Depth of the clearest valley in standard errors, 0 without any.
    pub valley: f64,
    /// Above so much a valley shows two modes.
    pub valley_threshold: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// Where the density is highest.
    pub place: f64,
    /// Values up to the valleys on its sides, of those that were not left out.
    pub values: usize,
    /// These as a fraction of all that were not left out.
    pub share: f64,
    /// 95 % interval of the share, by Wilson.
    pub interval: (f64, f64),
}

/// Looks for modes among values that are known to a step (0 where they are exact), so that equal
/// ones are no mode of their own. `None` where a value is no number.
pub fn find_modes(values: &[f64], step: f64) -> Option<Modes> {
    let mut ascending = values.to_vec();
    ascending.sort_by(f64::total_cmp);
    let ends = ascending.first().zip(ascending.last());
    if ends.is_some_and(|(least, largest)| !(largest - least).is_finite()) {
        return None;
    }
    if values.len() < FEWEST_FOR_MODES {
        return Some(Modes::TooFew);
    }
    let spread_out = without_ties(&ascending, step);
    let kept = without_outliers(&spread_out)?;
    let bandwidth = reference_bandwidth(kept)?;
    let valley = VALLEY_BANDWIDTHS
        .iter()
        .filter_map(|part| clearest_valley(kept, part * bandwidth))
        .fold(0.0, f64::max);
    let found = dip(kept)?;
    let evidence = ModeEvidence {
        left_out: spread_out.len() - kept.len(),
        dip: found,
        dip_p: dip_p(found, kept.len())?,
        valley,
        valley_threshold: valley_threshold(kept.len()),
    };
    if !evidence.shows_several(kept.len()) {
        return Some(Modes::NotShown(evidence));
    }
    let modes = peaks::count(kept, bandwidth, evidence.valley_threshold);
    Some(if modes.len() > 1 { Modes::Shown(evidence, modes) } else { Modes::NotShown(evidence) })
}

impl ModeEvidence {
    fn shows_several(&self, values: usize) -> bool {
        let by_dip = dip_exceeded_by_one_percent(values).is_some_and(|most| self.dip > most);
        by_dip || self.valley > self.valley_threshold
    }
}

/// The same values, each moved evenly at random by up to half a step, ascending. Where equal ones
/// are left, the step is the least distance that there is.
fn without_ties(ascending: &[f64], step: f64) -> Vec<f64> {
    let has_ties = |values: &[f64]| values.windows(2).any(|pair| pair[0] >= pair[1]);
    let spread = |step: f64| {
        let mut random = fastrand::Rng::with_seed(1);
        let mut moved: Vec<f64> =
            ascending.iter().map(|value| value + step * (random.f64() - 0.5)).collect();
        moved.sort_by(f64::total_cmp);
        moved
    };
    let moved = if step > 0.0 { spread(step) } else { ascending.to_vec() };
    if !has_ties(&moved) {
        return moved;
    }
    let magnitude = ascending.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    let finest = if magnitude > 0.0 { magnitude * 1e-9 } else { 1.0 };
    let distances = ascending.windows(2).map(|pair| pair[1] - pair[0]);
    let least = distances.filter(|&distance| distance > finest).fold(f64::INFINITY, f64::min);
    spread(if least.is_finite() { least } else { finest })
}

/// The values without those beyond 8 interquartile ranges of the median on a side where less than
/// 5 % lie there. They are left out and not moved, since moved ones would pile up.
fn without_outliers(ascending: &[f64]) -> Option<&[f64]> {
    const RANGES: f64 = 8.0;
    let middle = quantile(ascending, 0.5)?;
    let reach = RANGES * interquartile_range(ascending)?;
    let low = ascending.partition_point(|&value| value < middle - reach);
    let high = ascending.partition_point(|&value| value <= middle + reach);
    let is_few = |count: usize| (count as f64) < LEAST_SHARE * (ascending.len() as f64);
    let from = if is_few(low) { low } else { 0 };
    let to = if is_few(ascending.len() - high) { high } else { ascending.len() };
    Some(&ascending[from..to])
}

fn interquartile_range(ascending: &[f64]) -> Option<f64> {
    Some(quantile(ascending, 0.75)? - quantile(ascending, 0.25)?)
}

/// A valley has so much of the sample on each side; a mode so much of it, or many values.
const LEAST_SHARE: f64 = 0.05;

/// Of the reference bandwidth: wide and narrow valleys.
const VALLEY_BANDWIDTHS: [f64; 3] = [1.0, 0.6, 0.35];

/// Silverman's: 0.9 min(standard deviation, interquartile range / 1.34) n^(-1/5).
fn reference_bandwidth(ascending: &[f64]) -> Option<f64> {
    let count = ascending.len() as f64;
    let mean = ascending.iter().sum::<f64>() / count;
    let squares: f64 = ascending.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    Some(0.9 * deviation.min(interquartile_range(ascending)? / 1.34) * count.powf(-0.2))
}

/// Depth in standard errors of the clearest valley between higher peaks on both sides.
fn clearest_valley(ascending: &[f64], bandwidth: f64) -> Option<f64> {
    let density = KernelDensity::new(ascending, bandwidth)?;
    let (from, to) = (quantile(ascending, LEAST_SHARE)?, quantile(ascending, 1.0 - LEAST_SHARE)?);
    let heights = &density.density;
    let mut right: Vec<f64> = heights.clone();
    for point in (0..right.len().saturating_sub(1)).rev() {
        right[point] = right[point].max(right[point + 1]);
    }
    let (mut left, mut clearest) = (0.0_f64, 0.0_f64);
    for (point, &height) in heights.iter().enumerate() {
        left = left.max(height);
        if (from..=to).contains(&density.value(point)) {
            let peak = left.min(right[point]);
            clearest = clearest.max(density.depth(peak, height, ascending.len()));
        }
    }
    Some(clearest)
}

/// Exceeded by at most 3 % of samples of each single-mode shape that was tried.
fn valley_threshold(values: usize) -> f64 {
    const TABLE: [(f64, f64); 4] = [(30.0, 2.7), (100.0, 3.1), (300.0, 3.5), (1000.0, 3.8)];
    let count = values as f64;
    let last = TABLE.len() - 1;
    let next = TABLE.iter().position(|(tabulated, _)| count < *tabulated).unwrap_or(last).max(1);
    let ((low, from), (high, to)) = (TABLE[next - 1], TABLE[next]);
    // Below the first count as for that; above the last one on the same line.
    let part = ((count / low).ln() / (high / low).ln()).max(0.0);
    from + part * (to - from)
}

/// 95 % of standard normal values are nearer to 0.
const TWO_SIDED_95: f64 = 1.959_963_984_540_054;

/// 95 % interval of a share by this many successes of this many trials; from 0 to 1 without trials.
/// Source: E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference,
/// Journal of the American Statistical Association 22 (1927), 209-212.
fn proportion_interval(successes: usize, trials: usize) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let (count, share) = (trials as f64, successes.min(trials) as f64 / trials as f64);
    let square = TWO_SIDED_95.powi(2);
    let middle = share + square / (2.0 * count);
    let half = (share * (1.0 - share) / count + square / (4.0 * count * count)).sqrt();
    let all = 1.0 + square / count;
    let (low, high) = ((middle - TWO_SIDED_95 * half) / all, (middle + TWO_SIDED_95 * half) / all);
    (low.max(0.0), high.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the equation that the interval's ends solve: (p - share)^2 = z^2 p (1 - p) / n.
    #[test]
    fn ends_solve_wilson_s_equation() {
        for (successes, trials) in [(1, 20), (10, 20), (20, 1000), (999, 1000), (7, 15)] {
            let share = f64::from(successes) / f64::from(trials);
            let (low, high) = proportion_interval(
                usize::try_from(successes).unwrap(),
                usize::try_from(trials).unwrap(),
            );
            for end in [low, high] {
                let error = TWO_SIDED_95 * (end * (1.0 - end) / f64::from(trials)).sqrt();
                assert!(((end - share).abs() - error).abs() < 1e-12, "{successes} of {trials}");
            }
            assert!(low < share && share < high);
        }
    }

    #[test]
    fn no_trials_say_nothing_and_ends_stay_shares() {
        assert_eq!(proportion_interval(0, 0), (0.0, 1.0));
        assert!(proportion_interval(0, 20).0.abs() < 1e-12);
        assert!((proportion_interval(20, 20).1 - 1.0).abs() < 1e-12);
    }
}
