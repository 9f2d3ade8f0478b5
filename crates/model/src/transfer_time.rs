//! The time of a copy over its size.
//!
//! ```text
//! T(x) = t + x / B          n = t B: a copy of n bytes gets half of B
//! ```
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | x | bytes of one copy, all ways | bytes |
//! | t | latency: what a copy takes beside the time of its bytes | s |
//! | B | bandwidth of long copies | bytes/s |
//! | n | half-bandwidth size | bytes |
//!
//! Fitted by relative least squares, so that each size counts alike, with a loss that is linear
//! where the law fails. Source: Hockney, Parallel Computing 20 (1994), for the law and n.
//! Holds when: a copy is made in one way whatever its size, and waited for before the next.
//! Fails when: a driver changes its way with the size (small pageable copies go into the command
//! itself, large ones through pinned buffers in pieces); the worst relative error tells.
//! Pinned by: `crates/reproduce/tests/devices.rs`, which finds the files' figures again.

use std::collections::BTreeMap;

use nearfar_record::Outcome;
use nearfar_stats::{FitRule, Loss, fit, solve_least_squares};
use nearfar_units::{BytesPerSecond, Nanoseconds};
use serde::Serialize;

use crate::transfers::{TransferFigures, TransferPlace, copies_by_place};

/// Sizes below which the two unknowns are only what the sizes say, with nothing to judge them by.
const FEWEST_SIZES: usize = 3;

/// Relative residuals above this count linearly: a tenth is far above the scatter of medians.
const OUTLYING: f64 = 0.1;

/// Where the linear solution has no sense a fit begins here, in units of the smallest copy.
const SMALL_START: f64 = 0.05;

/// Below this part of the smallest copy's time a latency is no finding.
const LEAST_LATENCY: f64 = 1e-3;

/// The largest copies must be this many times the smallest.
const LEAST_SPAN: u64 = 16;

/// The time of the copies of one place over their size.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransferTime {
    #[serde(flatten)]
    pub place: TransferPlace,
    pub law: Outcome<TransferLaw>,
}

/// The law of one place: a copy of x bytes takes latency + x / bandwidth.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransferLaw {
    /// t: what a copy takes beside the time of its bytes.
    #[serde(rename = "latency_ns")]
    pub latency: Nanoseconds,
    /// B: of long copies, all ways.
    #[serde(rename = "bandwidth_gb_per_s")]
    pub bandwidth: BytesPerSecond,
    /// n: bytes, all ways, of a copy that gets half of that.
    pub half_bandwidth_bytes: f64,
    /// Largest |law / measured - 1| over the sizes.
    pub worst_error: f64,
    /// The size where that is, bytes each way.
    pub worst_error_bytes: u64,
    /// The sizes that were measured, bytes each way, ascending.
    pub sizes: Vec<u64>,
}

impl TransferLaw {
    /// What copies of these bytes, all ways, get by the law.
    pub fn rate(&self, bytes: f64) -> BytesPerSecond {
        BytesPerSecond(bytes / (self.latency.0 / 1e9 + bytes / self.bandwidth.0))
    }
}

/// Time by size of each place with more than one.
pub fn transfer_times(transfers: &[TransferFigures]) -> Vec<TransferTime> {
    let places = copies_by_place(transfers).into_iter().map(|(place, copies)| {
        let times = copies.iter().filter_map(|it| Some((it.place.bytes, it.time?.0 / 1e9)));
        (place, times.collect::<BTreeMap<u64, f64>>())
    });
    places
        .filter(|(_, of_sizes)| of_sizes.len() > 1)
        .map(|(place, of_sizes)| TransferTime { law: law(&place, &of_sizes).into(), place })
        .collect()
}

fn law(place: &TransferPlace, of_sizes: &BTreeMap<u64, f64>) -> Result<TransferLaw, String> {
    let sizes: Vec<u64> = of_sizes.keys().copied().collect();
    let span = sizes.first().zip(sizes.last()).map_or(1, |(low, high)| high / (*low).max(1));
    if sizes.len() < FEWEST_SIZES || span < LEAST_SPAN {
        return Err(format!(
            "{} sizes, the largest {span} times the smallest; at least {FEWEST_SIZES} over \
             {LEAST_SPAN} times are needed",
            sizes.len()
        ));
    }
    let moved = |bytes: u64| bytes as f64 * f64::from(place.direction.ways());
    let points: Vec<(f64, f64)> =
        of_sizes.iter().map(|(&bytes, &seconds)| (moved(bytes), seconds)).collect();
    let no_sense = || {
        "the times do not grow with the sizes as a latency and a bandwidth would have it"
            .to_string()
    };
    let (latency, per_byte) = coefficients(&points).ok_or_else(no_sense)?;
    let error = |&(bytes, seconds): &(f64, f64)| (latency + bytes * per_byte) / seconds - 1.0;
    let errors = points.iter().map(|point| error(point).abs()).zip(&sizes);
    let worst = errors.max_by(|(one, _), (other, _)| one.total_cmp(other));
    let (worst_error, &worst_error_bytes) = worst.ok_or_else(no_sense)?;
    Ok(TransferLaw {
        latency: Nanoseconds(latency * 1e9),
        bandwidth: BytesPerSecond(1.0 / per_byte),
        half_bandwidth_bytes: latency / per_byte,
        worst_error,
        worst_error_bytes,
        sizes,
    })
}

/// Latency and time of a byte, both above 0.
fn coefficients(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let (&least, &most) = (points.first()?, points.last()?);
    // In units of the smallest copy's time, and of a byte of the largest: of size 1 each.
    let units = (least.1, most.1 / most.0);
    let row = |&(bytes, seconds): &(f64, f64)| vec![units.0 / seconds, bytes * units.1 / seconds];
    let rows: Vec<Vec<f64>> = points.iter().map(row).collect();
    let linear = solve_least_squares(&rows, &vec![1.0; rows.len()])?;
    // Both are positive by their meaning, so logarithms are fitted.
    let start: Vec<f64> = linear.solution.iter().map(|it| it.max(SMALL_START).ln()).collect();
    let residuals = |at: &[f64]| {
        let of_row = |row: &Vec<f64>| {
            row.iter().zip(at).map(|(unit, log)| unit * log.exp()).sum::<f64>() - 1.0
        };
        Some(rows.iter().map(of_row).collect::<Vec<f64>>())
    };
    let rule = FitRule { loss: Loss::SoftL1(OUTLYING), longest_step: 2.0, ..FitRule::default() };
    let found = fit(&start, residuals, &rule)?;
    let &[latency, slope] = found.parameters.as_slice() else { return None };
    let (latency, per_byte) = (latency.exp() * units.0, slope.exp() * units.1);
    let has_sense = latency > least.1 * LEAST_LATENCY && latency.is_finite() && per_byte > 0.0;
    (has_sense && per_byte.is_finite()).then_some((latency, per_byte))
}
