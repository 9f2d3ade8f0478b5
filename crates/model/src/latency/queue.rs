//! The law of a queue, fitted to a loaded curve.
//!
//! ```text
//! ns = idle + service * u / (1 - u)        u = traffic / capacity
//! ```
//!
//! Source: the waiting time of one server with random arrivals and service times (M/M/1); Kleinrock,
//! Queueing Systems, volume 1 (1975), section 3.2. Of the curve's points and the idle one, by least
//! squares of the relative residuals.
//! Holds when: one part, mostly the node's controller, is what accesses wait for.
//! Fails when: threads beside the chase are held back by themselves before the memory is full:
//! the capacity then is a parameter of the curve and no bandwidth of the machine.

use nearfar_record::Estimate;
use nearfar_stats::{FitRule, fit};
use nearfar_units::{BytesPerSecond, Nanoseconds};
use serde::Serialize;

use super::knee::{LoadedPoint, check_rise};

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyQueue {
    /// Time of an access without traffic.
    #[serde(rename = "base_ns")]
    pub base: Nanoseconds,
    /// What the wait is a multiple of.
    #[serde(rename = "service_ns")]
    pub service: Nanoseconds,
    /// Where the wait would have no end.
    #[serde(rename = "capacity_gb_per_s")]
    pub capacity: BytesPerSecond,
    /// Root mean square of (the law's / measured - 1).
    pub error: f64,
    /// The largest of these, without its sign.
    pub worst_error: f64,
    /// Points that it was fitted to, the idle one among them.
    pub points: usize,
}

/// A capacity above this many times the most traffic is none: the curve is straight as far as it
/// goes, and any larger one fits as well.
pub const STRAIGHT: f64 = 5.0;

impl LatencyQueue {
    /// Time of an access beside so much traffic; `None` from the capacity on.
    pub fn time(&self, traffic: BytesPerSecond) -> Option<Nanoseconds> {
        let used = traffic / self.capacity;
        let wait = || self.service.0 * used / (1.0 - used);
        (0.0..1.0).contains(&used).then(|| Nanoseconds(self.base.0 + wait()))
    }
}

pub(super) fn queue(
    idle: &Estimate<Nanoseconds>,
    points: &[LoadedPoint],
) -> Result<LatencyQueue, String> {
    check_rise(idle, points)?;
    let loaded = points.iter().map(|point| (point.traffic.value.0, point.time.value.0));
    let curve: Vec<(f64, f64)> = std::iter::once((0.0, idle.value.0)).chain(loaded).collect();
    let most = curve.iter().map(|&(traffic, _)| traffic).fold(0.0, f64::max);
    let longest = curve.iter().map(|&(_, ns)| ns).fold(0.0, f64::max);
    // Logarithms of the idle time, the service time and of capacity / most traffic - 1: all three
    // stay positive, and no point lies at the capacity.
    let of = |at: &[f64]| LatencyQueue {
        base: Nanoseconds(at[0].exp()),
        service: Nanoseconds(at[1].exp()),
        capacity: BytesPerSecond(most * (1.0 + NEAREST + at[2].exp())),
        error: 0.0,
        worst_error: 0.0,
        points: curve.len(),
    };
    let residuals = |at: &[f64]| -> Option<Vec<f64>> {
        let queue = of(at);
        let off =
            |&(traffic, ns): &(f64, f64)| Some(queue.time(BytesPerSecond(traffic))?.0 / ns - 1.0);
        curve.iter().map(off).collect()
    };
    // The longest time at the most traffic, where that is two thirds, nine tenths or nearly all of
    // the capacity.
    let starts = [0.5_f64, 0.1, 0.01]
        .map(|free| vec![idle.value.0.ln(), ((longest - idle.value.0) * free).ln(), free.ln()]);
    let rule = FitRule { longest_step: 2.0, ..FitRule::default() };
    let fits = starts.iter().filter_map(|start| fit(start, residuals, &rule));
    let Some(best) = fits.min_by(|one, other| one.loss.total_cmp(&other.loss)) else {
        return Err("no queue fits it".into());
    };
    let mut queue = of(&best.parameters);
    let count = best.residuals.len() as f64;
    queue.error = (best.residuals.iter().map(|it| it * it).sum::<f64>() / count).sqrt();
    queue.worst_error = best.residuals.iter().map(|it| it.abs()).fold(0.0, f64::max);
    let is_sound = [queue.base.0, queue.service.0, queue.capacity.0, queue.error]
        .iter()
        .all(|value| value.is_finite());
    if !is_sound {
        return Err("no queue fits it".into());
    }
    if queue.capacity.0 > STRAIGHT * most {
        return Err("it rises in a straight line, from which no capacity can be told".into());
    }
    Ok(queue)
}

/// How near to the capacity the most traffic may be, as a fraction of it.
const NEAREST: f64 = 1e-3;
