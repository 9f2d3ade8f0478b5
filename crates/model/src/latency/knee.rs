//! Where a loaded curve bends, and how much may be moved before accesses take too long.
//!
//! Knee: with the traffic scaled to 0..1 and what accesses take longer than idle to 0..1 as well,
//! the point that lies farthest below the straight line from no load to the most load, of those that
//! lie farther below it than the noise of their own latency.
//! Source: Satopaa, Albrecht, Irwin and Raghavan, Finding a "Kneedle" in a haystack (ICDCS
//! workshops 2011); without its smoothing, as there are few points. Its interval reaches to the
//! neighbouring points: between these it was not measured.
//! Usable bandwidth: where the curve, straight between its points, first reaches 1.5 times the
//! idle latency.
//! Fails when: the threads beside the chase could not load the memory enough; both then say so.

use nearfar_stats::Estimate;

use super::curve::LoadedPoint;

/// Where a loaded curve bends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyKnee {
    /// Traffic at the knee, useful bytes/s.
    pub bytes_per_s: f64,
    /// Traffic at the neighbouring points.
    pub interval: (f64, f64),
    /// Time of an access there, ns.
    pub ns: f64,
    /// How far below the straight line it lies, a fraction of the rise.
    pub distance: f64,
}

/// What may be moved beside accesses that must not take too long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UsableBandwidth {
    /// Time of an access there / the idle one: [`USABLE_RISE`].
    pub rise: f64,
    /// Useful bytes/s.
    pub bytes_per_s: f64,
    /// By the intervals of the latencies: the least, and the most or `None` where the curve may
    /// reach beyond what was measured.
    pub interval: (f64, Option<f64>),
}

/// Accesses that take this many times the idle ones take too long. Ours.
pub const USABLE_RISE: f64 = 1.5;

/// A curve that bends less than this fraction of its rise has no knee. Ours: the curve of one
/// server with random arrivals bends by a quarter when it ends at 64 % of the capacity.
pub const KNEE_DISTANCE: f64 = 0.1;

/// A rise of less than this fraction of the idle latency is none. Ours.
const LEAST_RISE: f64 = 0.05;

/// Points that a knee or a queue needs beside the idle one.
pub(super) const FEWEST_POINTS: usize = 4;

/// Whether there is a curve at all: enough points, of which one is truly above the idle one.
pub(super) fn check_rise(idle: &Estimate, points: &[LoadedPoint]) -> Result<(), String> {
    if points.len() < FEWEST_POINTS {
        let points = points.len();
        return Err(format!("it has {points} of the {FEWEST_POINTS} loaded points that it takes"));
    }
    let rises = points.iter().any(|point| {
        point.ns.median >= idle.median * (1.0 + LEAST_RISE) && point.ns.interval.0 > idle.interval.1
    });
    if rises { Ok(()) } else { Err("load does not make accesses longer beyond noise".into()) }
}

pub(super) fn knee(idle: &Estimate, points: &[LoadedPoint]) -> Result<LatencyKnee, String> {
    check_rise(idle, points)?;
    let traffic = |point: &LoadedPoint| point.bytes_per_s.median;
    let (Some(most), Some(longest)) = (
        points.iter().map(traffic).max_by(f64::total_cmp),
        points.iter().map(|point| point.ns.median).max_by(f64::total_cmp),
    ) else {
        return Err("it has no points".into());
    };
    let below = |point: &LoadedPoint| {
        // A loaded access that is shorter than an idle one has not risen.
        let rise = (point.ns.median - idle.median).max(0.0) / (longest - idle.median);
        traffic(point) / most - rise
    };
    // Noise of a point's latency alone can bend the curve so far there.
    let noise = |point: &LoadedPoint| {
        (point.ns.interval.1 - point.ns.interval.0) / 2.0 / (longest - idle.median)
    };
    let farthest = |of: &[usize]| {
        of.iter()
            .copied()
            .max_by(|&one, &other| below(&points[one]).total_cmp(&below(&points[other])))
    };
    let bends: Vec<usize> =
        (0..points.len()).filter(|&at| below(&points[at]) >= KNEE_DISTANCE).collect();
    let seen: Vec<usize> =
        bends.iter().copied().filter(|&at| below(&points[at]) >= noise(&points[at])).collect();
    let Some(at) = farthest(&seen) else {
        return Err(match farthest(&bends) {
            Some(hidden) => {
                let traffic = traffic(&points[hidden]) / 1e9;
                format!("the bend is hidden by noise at {traffic:.1} GB/s")
            }
            None => "it rises evenly, without a bend".into(),
        });
    };
    let (point, distance) = (points[at], below(&points[at]));
    let before = at.checked_sub(1).map_or(0.0, |before| traffic(&points[before]));
    let after = points.get(at + 1).map_or(traffic(&point), traffic);
    let here = traffic(&point);
    Ok(LatencyKnee {
        bytes_per_s: here,
        interval: (before.min(here), after.max(here)),
        ns: point.ns.median,
        distance,
    })
}

pub(super) fn usable(idle: &Estimate, points: &[LoadedPoint]) -> Result<UsableBandwidth, String> {
    if points.is_empty() {
        return Err("no loaded point has figures".into());
    }
    // From an idle latency and a latency of each point of their intervals.
    let crossing = |idle_ns: f64, limit: f64, ns: &dyn Fn(&Estimate) -> f64| {
        let loaded = points.iter().map(|point| (point.bytes_per_s.median, ns(&point.ns)));
        let path: Vec<(f64, f64)> = std::iter::once((0.0, idle_ns)).chain(loaded).collect();
        path.windows(2).find_map(|pair| {
            let [(from, low), (to, high)] = [pair[0], pair[1]];
            (low < limit && high >= limit)
                .then(|| from + (to - from) * (limit - low) / (high - low))
        })
    };
    let (low, high) = idle.interval;
    let Some(bytes_per_s) = crossing(idle.median, USABLE_RISE * idle.median, &|ns| ns.median)
    else {
        return Err(format!("no load made accesses {USABLE_RISE} times as long as idle ones"));
    };
    let earliest = crossing(low, USABLE_RISE * low, &|ns| ns.interval.1);
    let latest = crossing(high, USABLE_RISE * high, &|ns| ns.interval.0);
    Ok(UsableBandwidth {
        rise: USABLE_RISE,
        bytes_per_s,
        interval: (
            earliest.map_or(bytes_per_s, |it| it.min(bytes_per_s)),
            latest.map(|it| it.max(bytes_per_s)),
        ),
    })
}
