//! The peaks of a sample that has several modes, and what belongs to each.

use super::{FEWEST_IN_MODE, LEAST_SHARE, Mode, proportion_interval};
use crate::kernel_density::KernelDensity;
use crate::quantile::quantile;

/// A valley this high, as a fraction of the lower peak beside it, parts nothing.
const SHALLOW: f64 = 0.7;

/// Of the reference bandwidth, to begin with.
const FIRST: f64 = 0.5;

/// How often the bandwidth follows from the modes that were found.
const TURNS: usize = 4;

/// A mode has at least this many values.
const FEWEST: f64 = 3.5;

/// A peak is this many standard errors above its valleys.
const FEWEST_ERRORS: f64 = 1.5;

/// What is counted in.
struct Sample<'v> {
    ascending: &'v [f64],
    /// Standard errors above which a valley shows two modes.
    threshold: f64,
}

/// Values between two valleys.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Peak {
    /// Point of the density where it is highest.
    point: usize,
    height: f64,
    /// Point of the valley behind it, or the last one.
    end: usize,
}

/// The modes of ascending values that are known to have several, the lowest first; fewer than
/// two where no bandwidth shows more.
pub(super) fn count(ascending: &[f64], reference: f64, threshold: f64) -> Vec<Mode> {
    let sample = Sample { ascending, threshold };
    let mut bandwidth = FIRST * reference;
    let mut modes = Vec::new();
    for _ in 0..=TURNS {
        modes = modes_at(&sample, bandwidth);
        let Some(next) = bandwidth_within(ascending, &modes) else { break };
        bandwidth = next;
    }
    // Several are known to be there: a bandwidth shows them if it is fine enough.
    for halvings in 1..=4 {
        if modes.len() > 1 {
            break;
        }
        modes = modes_at(&sample, FIRST * reference / 2_f64.powi(halvings));
    }
    modes
}

/// Silverman's bandwidth for one of the modes: 0.9 s (n / modes)^(-1/5), s half the width that
/// holds the middle 68 % of a mode, as a mean over values.
fn bandwidth_within(ascending: &[f64], modes: &[Mode]) -> Option<f64> {
    let mut from = 0;
    let mut widths = 0.0;
    for mode in modes {
        let own = &ascending[from..from + mode.values];
        widths += (quantile(own, 0.84)? - quantile(own, 0.16)?) / 2.0 * mode.share;
        from += mode.values;
    }
    let bandwidth = 0.9 * widths * ((ascending.len() as f64) / (modes.len() as f64)).powf(-0.2);
    (bandwidth > 0.0 && bandwidth.is_finite()).then_some(bandwidth)
}

fn modes_at(sample: &Sample, bandwidth: f64) -> Vec<Mode> {
    let ascending = sample.ascending;
    let Some(density) = KernelDensity::new(ascending, bandwidth) else {
        return Vec::new();
    };
    let mut peaks = all_peaks(&density.density);
    merge_where_shallow(&mut peaks, &density.density);
    loop {
        let counts = counts(ascending, &density, &peaks);
        let small = (0..peaks.len())
            .filter(|&at| !is_mode(&peaks, &density.density, at, counts[at], sample))
            .min_by_key(|&at| counts[at]);
        match small.filter(|_| peaks.len() > 1) {
            Some(at) => join_to_neighbour(&mut peaks, &density.density, at),
            None => break,
        }
    }
    let counts = counts(ascending, &density, &peaks);
    let modes = peaks.iter().zip(counts).map(|(peak, values)| Mode {
        place: density.value(peak.point),
        values,
        share: (values as f64) / (ascending.len() as f64),
        interval: proportion_interval(values, ascending.len()),
    });
    modes.collect()
}

/// Every point that is higher than those beside it.
fn all_peaks(density: &[f64]) -> Vec<Peak> {
    let mut peaks: Vec<Peak> = Vec::new();
    let mut lowest = (0, f64::INFINITY);
    let mut rises = false;
    for (point, &height) in density.iter().enumerate() {
        let next = density.get(point + 1).copied().unwrap_or(0.0);
        let before = point.checked_sub(1).map_or(0.0, |before| density[before]);
        rises = height > before || rises && height >= before;
        if height < lowest.1 {
            lowest = (point, height);
        }
        if rises && next < height {
            if let Some(last) = peaks.last_mut() {
                last.end = lowest.0;
            }
            peaks.push(Peak { point, height, end: density.len() - 1 });
            lowest = (point, height);
            rises = false;
        }
    }
    peaks
}

/// Joins the two peaks with the shallowest valley between them as long as that parts nothing.
fn merge_where_shallow(peaks: &mut Vec<Peak>, density: &[f64]) {
    let depth = |pair: &[Peak]| density[pair[0].end] / pair[0].height.min(pair[1].height);
    while let Some((at, shallowest)) =
        peaks.windows(2).map(depth).enumerate().max_by(|(_, one), (_, other)| one.total_cmp(other))
    {
        if shallowest <= SHALLOW {
            break;
        }
        join(peaks, at);
    }
}

/// Joins a peak to the one behind it.
fn join(peaks: &mut Vec<Peak>, at: usize) {
    let behind = peaks.remove(at + 1);
    let before = &mut peaks[at];
    before.end = behind.end;
    if behind.height > before.height {
        (before.point, before.height) = (behind.point, behind.height);
    }
}

/// Joins a peak to that beside it behind the higher valley.
fn join_to_neighbour(peaks: &mut Vec<Peak>, density: &[f64], at: usize) {
    let before = at.checked_sub(1).map(|before| density[peaks[before].end]);
    let behind = (at + 1 < peaks.len()).then(|| density[peaks[at].end]);
    let to_before = before > behind;
    join(peaks, if to_before { at - 1 } else { at });
}

/// Values of each peak.
fn counts(ascending: &[f64], density: &KernelDensity, peaks: &[Peak]) -> Vec<usize> {
    let mut from = 0;
    let ends = peaks.iter().enumerate().map(|(at, peak)| {
        let end = density.value(peak.end);
        let to = if at + 1 == peaks.len() {
            ascending.len()
        } else {
            ascending.partition_point(|&value| value < end)
        };
        let count = to.saturating_sub(from);
        from = from.max(to);
        count
    });
    ends.collect()
}

/// Whether a peak is a mode: it has its share of the sample and valleys that noise hardly makes,
/// or, with a smaller share, valleys that show it by themselves. The difference between a peak of
/// this many values and a valley has (1 - valley / peak) sqrt(values) standard errors.
fn is_mode(peaks: &[Peak], density: &[f64], at: usize, count: usize, sample: &Sample) -> bool {
    let valleys = [at.checked_sub(1), (at + 1 < peaks.len()).then_some(at)];
    let highest = valleys.into_iter().flatten().map(|at| density[peaks[at].end]);
    let rest = highest.fold(0.0, f64::max) / peaks[at].height;
    let errors = (1.0 - rest) * (count as f64).sqrt();
    if (count as f64) >= FEWEST.max(LEAST_SHARE * (sample.ascending.len() as f64)) {
        errors > FEWEST_ERRORS
    } else {
        count >= FEWEST_IN_MODE && errors > sample.threshold
    }
}
