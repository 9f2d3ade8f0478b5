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

use nearfar_record::Estimate;
use nearfar_units::{BytesPerSecond, Nanoseconds};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadedPoint {
    /// Cycles that each thread pauses after every KiB of each array.
    pub pause_cycles: u32,
    /// Time of an access.
    #[serde(rename = "time_ns")]
    pub time: Estimate<Nanoseconds>,
    /// What the threads move, useful bytes.
    #[serde(rename = "traffic_gb_per_s")]
    pub traffic: Estimate<BytesPerSecond>,
}

/// Where a loaded curve bends.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyKnee {
    /// Traffic at the knee; the interval reaches to the neighbouring points.
    #[serde(rename = "traffic_gb_per_s")]
    pub traffic: Estimate<BytesPerSecond>,
    /// Time of an access there.
    #[serde(rename = "time_ns")]
    pub time: Nanoseconds,
    /// How far below the straight line it lies, a fraction of the rise.
    pub distance: f64,
}

/// What may be moved beside accesses that must not take too long.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsableBandwidth {
    /// Time of an access there / the idle one.
    pub rise: f64,
    #[serde(rename = "traffic_gb_per_s")]
    pub traffic: BytesPerSecond,
    /// The least by the intervals of the latencies.
    #[serde(rename = "least_gb_per_s")]
    pub least: BytesPerSecond,
    /// The most, or null where the curve may reach beyond what was measured.
    #[serde(rename = "most_gb_per_s")]
    pub most: Option<BytesPerSecond>,
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
pub(super) fn check_rise(
    idle: &Estimate<Nanoseconds>,
    points: &[LoadedPoint],
) -> Result<(), String> {
    if points.len() < FEWEST_POINTS {
        let points = points.len();
        return Err(format!("it has {points} of the {FEWEST_POINTS} loaded points that it takes"));
    }
    let rises = points.iter().any(|point| {
        point.time.value >= idle.value * (1.0 + LEAST_RISE) && point.time.ends()[0] > idle.ends()[1]
    });
    if rises { Ok(()) } else { Err("load does not make accesses longer beyond noise".into()) }
}

pub(super) fn knee(
    idle: &Estimate<Nanoseconds>,
    points: &[LoadedPoint],
) -> Result<LatencyKnee, String> {
    check_rise(idle, points)?;
    let traffic = |point: &LoadedPoint| point.traffic.value.0;
    let most = points.iter().map(traffic).fold(0.0, f64::max);
    let longest = points.iter().map(|point| point.time.value.0).fold(0.0, f64::max);
    let below = |point: &LoadedPoint| {
        // A loaded access that is shorter than an idle one has not risen.
        let rise = (point.time.value.0 - idle.value.0).max(0.0) / (longest - idle.value.0);
        traffic(point) / most - rise
    };
    // Noise of a point's latency alone can bend the curve so far there.
    let noise = |point: &LoadedPoint| {
        let [low, high] = point.time.ends();
        (high.0 - low.0) / 2.0 / (longest - idle.value.0)
    };
    let farthest = |is_seen: &dyn Fn(&LoadedPoint) -> bool| {
        let bends = (0..points.len()).filter(|&at| below(&points[at]) >= KNEE_DISTANCE);
        bends
            .filter(|&at| is_seen(&points[at]))
            .max_by(|&one, &other| below(&points[one]).total_cmp(&below(&points[other])))
    };
    let Some(at) = farthest(&|point| below(point) >= noise(point)) else {
        return Err(match farthest(&|_| true) {
            Some(hidden) => {
                let traffic = traffic(&points[hidden]) / 1e9;
                format!("the bend is hidden by noise at {traffic:.1} GB/s")
            }
            None => "it rises evenly, without a bend".into(),
        });
    };
    let (point, distance) = (&points[at], below(&points[at]));
    let before = at.checked_sub(1).map_or(0.0, |before| traffic(&points[before]));
    let after = points.get(at + 1).map_or(traffic(point), traffic);
    let here = traffic(point);
    let ends = (before.min(here), after.max(here));
    Ok(LatencyKnee {
        traffic: Estimate::computed(here, ends, point.traffic.cases.clone()),
        time: point.time.value,
        distance,
    })
}

pub(super) fn usable(
    idle: &Estimate<Nanoseconds>,
    points: &[LoadedPoint],
) -> Result<UsableBandwidth, String> {
    // From an idle latency and a latency of each point of their intervals.
    let crossing = |idle: Nanoseconds, ns: &dyn Fn(&Estimate<Nanoseconds>) -> Nanoseconds| {
        let (idle_ns, limit) = (idle.0, USABLE_RISE * idle.0);
        let loaded = points.iter().map(|point| (point.traffic.value.0, ns(&point.time).0));
        let path: Vec<(f64, f64)> = std::iter::once((0.0, idle_ns)).chain(loaded).collect();
        path.windows(2).find_map(|pair| {
            let [(from, low), (to, high)] = [pair[0], pair[1]];
            (low < limit && high >= limit)
                .then(|| from + (to - from) * (limit - low) / (high - low))
        })
    };
    let Some(traffic) = crossing(idle.value, &|time| time.value) else {
        return Err(format!("no load made accesses {USABLE_RISE} times as long as idle ones"));
    };
    let [low, high] = idle.ends();
    let earliest = crossing(low, &|time| time.ends()[1]);
    let latest = crossing(high, &|time| time.ends()[0]);
    Ok(UsableBandwidth {
        rise: USABLE_RISE,
        traffic: BytesPerSecond(traffic),
        least: BytesPerSecond(earliest.map_or(traffic, |it| it.min(traffic))),
        most: latest.map(|it| BytesPerSecond(it.max(traffic))),
    })
}
