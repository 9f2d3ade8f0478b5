//! Where a loaded curve bends, and how much may be moved before accesses take too long, both by the
//! law of its family.
//!
//! Knee: with the traffic scaled to 0..1 and what accesses take longer than idle to 0..1 as well,
//! where the law lies farthest below the straight line from no load to the most load.
//! Source: Satopaa, Albrecht, Irwin and Raghavan, Finding a "Kneedle" in a haystack (ICDCS
//! workshops 2011), on the law in place of smoothed points.
//! Usable bandwidth: the traffic at which accesses take 1.5 times the idle time.
//! Fails when: the threads beside the chase could not load the memory enough; both then say so.

use nearfar_record::Estimate;
use nearfar_units::{BytesPerSecond, Nanoseconds};
use serde::Serialize;

use super::family::FamilyLaw;
use super::law::LatencyLaw;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadedPoint {
    /// Cycles that each thread pauses after every KiB of each array.
    pub pause_cycles: u32,
    /// Time of an access.
    #[serde(rename = "time_ns")]
    pub time: Estimate<Nanoseconds>,
    /// What crosses to the memory for the threads; the interval is of the rounds and of what stores
    /// may read first.
    #[serde(rename = "traffic_gb_per_s")]
    pub traffic: Estimate<BytesPerSecond>,
}

/// Where a loaded curve bends.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyKnee {
    /// Traffic at the knee.
    #[serde(rename = "traffic_gb_per_s")]
    pub traffic: Estimate<BytesPerSecond>,
    /// Time of an access there.
    #[serde(rename = "time_ns")]
    pub time: Nanoseconds,
    /// How far below the straight line it lies, a fraction of the rise.
    pub distance: f64,
}

/// Accesses that take this many times the idle ones take too long. Ours.
pub const USABLE_RISE: f64 = 1.5;

/// A curve that bends less than this fraction of its rise has no knee. Ours: the curve of one
/// server with random arrivals bends by a quarter when it ends at 64 % of the capacity.
pub const KNEE_DISTANCE: f64 = 0.1;

/// A rise of less than this fraction of the idle latency is none. Ours.
const LEAST_RISE: f64 = 0.05;

/// Points that a law needs beside the idle one.
const FEWEST_POINTS: usize = 4;

/// Whether there is a curve at all: enough points, of which one is truly above the idle one, or above the
/// one with the least traffic, which is hardly longer and may be surer.
pub(super) fn check_rise(
    idle: &Estimate<Nanoseconds>,
    points: &[&LoadedPoint],
) -> Result<(), String> {
    if points.len() < FEWEST_POINTS {
        let points = points.len();
        return Err(format!("it has {points} of the {FEWEST_POINTS} loaded points that it takes"));
    }
    let lightest = points.iter().min_by(|a, b| a.traffic.value.0.total_cmp(&b.traffic.value.0));
    let rises_over = |least: &Estimate<Nanoseconds>| {
        points.iter().any(|point| {
            point.time.value >= least.value * (1.0 + LEAST_RISE)
                && point.time.ends()[0] > least.ends()[1]
        })
    };
    if rises_over(idle) || lightest.is_some_and(|it| rises_over(&it.time)) {
        Ok(())
    } else {
        Err("load does not make accesses longer beyond noise".into())
    }
}

fn nothing() -> String {
    "the law says nothing of it".into()
}

/// Steps of the traffic in which a knee is looked for.
const STEPS: u32 = 400;

/// The part of the most traffic where a law bends, and how far it lies below the line there.
fn bend(law: &LatencyLaw, read_share: f64, most: f64) -> Option<(f64, f64)> {
    let rise = law.time_ns(read_share, most)? - law.idle_ns;
    let below = |step: u32| {
        let part = f64::from(step) / f64::from(STEPS);
        let ns = law.time_ns(read_share, part * most)?;
        Some((part, part - (ns - law.idle_ns) / rise))
    };
    (0..=STEPS).filter_map(below).max_by(|one, other| one.1.total_cmp(&other.1))
}

pub(super) fn knee(of: &FamilyLaw, read_share: f64) -> Result<LatencyKnee, String> {
    let law = of.law();
    let most = law.most_traffic(read_share).ok_or_else(nothing)?;
    let longest = law.time_ns(read_share, most).ok_or_else(nothing)?;
    if longest < law.idle_ns * (1.0 + LEAST_RISE) {
        return Err("load hardly makes accesses longer".into());
    }
    let (part, distance) = bend(law, read_share, most).ok_or_else(nothing)?;
    if distance < KNEE_DISTANCE {
        return Err("it rises evenly, without a bend".into());
    }
    let traffic = of.estimate(|law| Some(bend(law, read_share, most)?.0 * most));
    Ok(LatencyKnee {
        traffic: traffic.ok_or_else(nothing)?,
        time: Nanoseconds(law.time_ns(read_share, part * most).ok_or_else(nothing)?),
        distance,
    })
}

pub(super) fn usable(of: &FamilyLaw, read_share: f64) -> Result<Estimate<BytesPerSecond>, String> {
    let found = of.estimate(|law| law.traffic_at(read_share, USABLE_RISE));
    let most = of.law().most_traffic(read_share).ok_or_else(nothing)?;
    found
        .filter(|traffic: &Estimate<BytesPerSecond>| traffic.value.0 <= most)
        .ok_or_else(|| format!("no load made accesses {USABLE_RISE} times as long as idle ones"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(gb_per_s: f64, ns: f64) -> LoadedPoint {
        let traffic = BytesPerSecond(gb_per_s * 1e9);
        LoadedPoint {
            pause_cycles: 0,
            time: Estimate::computed(ns, (ns - 2.0, ns + 2.0), Vec::new()),
            traffic: Estimate::computed(traffic.0, (traffic.0, traffic.0), Vec::new()),
        }
    }

    /// One of the idle rounds was disturbed; the loaded ones say it all the same.
    #[test]
    fn an_unsure_idle_time_hides_no_rise() {
        let all = [point(5.0, 192.0), point(20.0, 193.0), point(40.0, 209.0), point(50.0, 211.0)];
        let points: Vec<&LoadedPoint> = all.iter().collect();
        let idle = |high| Estimate::computed(192.0, (190.0, high), Vec::new());
        assert_eq!(check_rise(&idle(194.0), &points), Ok(()));
        assert_eq!(check_rise(&idle(315.0), &points), Ok(()));
        let flat = [point(5.0, 192.0), point(20.0, 193.0), point(40.0, 194.0), point(50.0, 195.0)];
        let points: Vec<&LoadedPoint> = flat.iter().collect();
        assert!(check_rise(&idle(194.0), &points).is_err());
    }
}
