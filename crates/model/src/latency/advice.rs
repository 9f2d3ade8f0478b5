//! What follows from the times of an access.

use nearfar_record::Outcome;
use nearfar_units::{BytesPerSecond, Nanoseconds};
use serde::Serialize;

use super::curve::LoadedCurve;
use super::knee::USABLE_RISE;
use super::numa_factor::{FactorSpan, NumaFactor, WORTH};

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum LatencyAdvice {
    /// Not move data: what is farthest is too near for that.
    LeaveData,
    /// Put a thread whose accesses wait for each other and its data on one node.
    KeepTogether,
    /// Not place by the firmware's distances, which are farthest off for this pair.
    DistrustFirmware { initiator: u32, memory_node: u32 },
    /// Keep traffic below what is usable.
    LimitTraffic { curve: CurvePlace },
    /// Know what the first traffic costs and what the last: nothing is too much.
    KnowKnee { curve: CurvePlace },
    /// Let traffic run beside chases.
    LetTrafficRun { curve: CurvePlace },
    /// Measure more rounds: noise hides whether traffic is too much.
    MeasureMore { curve: CurvePlace },
}

/// The curve of which advice is, and its ends.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurvePlace {
    /// Its position among the curves.
    pub position: usize,
    /// Time of an access without traffic.
    #[serde(rename = "idle_ns")]
    pub idle: Nanoseconds,
    /// All that the threads can move.
    #[serde(rename = "most_traffic_gb_per_s")]
    pub most_traffic: BytesPerSecond,
    /// Time of an access beside it / that without.
    pub rise: f64,
    /// The highest that it can be by the intervals.
    pub highest_rise: f64,
}

pub(super) fn advice(
    span: &Outcome<FactorSpan>,
    factors: &[NumaFactor],
    curves: &[LoadedCurve],
) -> Vec<LatencyAdvice> {
    let of_distance = span.found().map(|span| match span.most.ends()[0].0 <= 1.0 + WORTH {
        true => LatencyAdvice::LeaveData,
        false => LatencyAdvice::KeepTogether,
    });
    let mut advice: Vec<LatencyAdvice> = of_distance.into_iter().collect();
    advice.extend(of_firmware(factors));
    advice.extend(told_curve(curves).and_then(|(at, curve)| of_load(at, curve)));
    advice
}

fn of_firmware(factors: &[NumaFactor]) -> Option<LatencyAdvice> {
    let remote = factors.iter().filter(|pair| !pair.is_local);
    let wrong = remote.filter(|pair| pair.is_firmware_wrong == Some(true));
    let off = |pair: &NumaFactor| pair.firmware_error.map_or(0.0, f64::abs);
    let worst = wrong.max_by(|one, other| off(one).total_cmp(&off(other)))?;
    let NumaFactor { initiator, memory_node, .. } = *worst;
    Some(LatencyAdvice::DistrustFirmware { initiator, memory_node })
}

/// Of the first pair, on own memory where there is one, the curve with the most reads: what holds of
/// one kind of traffic is not said again of each.
fn told_curve(curves: &[LoadedCurve]) -> Option<(usize, &LoadedCurve)> {
    let first = curves.iter().find(|curve| curve.is_local).or(curves.first())?;
    let reads = |curve: &LoadedCurve| curve.read_share.as_ref().map_or(0.0, |share| share.value.0);
    let of_pair = curves.iter().enumerate().filter(|(_, curve)| {
        (curve.initiator, curve.memory_node) == (first.initiator, first.memory_node)
    });
    of_pair.max_by(|one, other| reads(one.1).total_cmp(&reads(other.1)))
}

fn of_load(position: usize, curve: &LoadedCurve) -> Option<LatencyAdvice> {
    let place = CurvePlace {
        position,
        idle: curve.idle.as_ref()?.value,
        most_traffic: curve.most_traffic()?,
        rise: curve.most_rise()?,
        highest_rise: curve.highest_rise()?,
    };
    Some(match (curve.usable.found(), curve.knee.found()) {
        (Some(_), _) => LatencyAdvice::LimitTraffic { curve: place },
        (None, Some(_)) => LatencyAdvice::KnowKnee { curve: place },
        (None, None) if place.highest_rise < USABLE_RISE => {
            LatencyAdvice::LetTrafficRun { curve: place }
        }
        (None, None) => LatencyAdvice::MeasureMore { curve: place },
    })
}
