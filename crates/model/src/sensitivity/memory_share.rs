//! The share of a program's time that moves with bandwidth.

use serde::Serialize;

use super::PlacedRuns;

/// Placements whose bandwidth is less than this off the local one tell nothing of the share.
const LEAST_DIFFERENCE: f64 = 0.05;

/// s in time = 1 - s + s / d, both against the local placement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryShare {
    /// By least squares. 0: indifferent to where its memory is; 1: all of its time moves data;
    /// above: more than bandwidth holds it up.
    pub share: f64,
    /// With all times at the low ends of their intervals, and at the high ones.
    pub interval: (f64, f64),
    /// Largest relative error of the times that it gives for the placements that it is from.
    pub worst_error: f64,
    /// Placements that it is from: memory on one node that is not the local one.
    pub placements: usize,
}

impl MemoryShare {
    /// The share of a program at these placements, or why it is not known.
    pub(super) fn of(placements: &[PlacedRuns]) -> Result<Self, &'static str> {
        // (time that data alone would take more, time that it took more: low, median, high)
        let points: Vec<(f64, [f64; 3])> = placements.iter().filter_map(point).collect();
        let off = |&&(more, _): &&(f64, _)| f64::abs(more) > LEAST_DIFFERENCE;
        let points: Vec<&(f64, [f64; 3])> = points.iter().filter(off).collect();
        if points.is_empty() {
            return Err(
                "no placement with runs has memory on one node that is reached in another class \
                 than the local one",
            );
        }
        let squares: f64 = points.iter().map(|(more, _)| more * more).sum();
        let slope = |at: usize| {
            let products = points.iter().map(|(more, took)| more * took[at]);
            products.sum::<f64>() / squares
        };
        let share = slope(1);
        let errors = points.iter().map(|(more, took)| {
            let (expected, took) = (1.0 + share * more, 1.0 + took[1]);
            (expected / took - 1.0).abs()
        });
        let (one, other) = (slope(0), slope(2));
        if ![share, one, other].iter().all(|it| it.is_finite()) {
            return Err("its figures are too far apart for any ratio");
        }
        Ok(Self {
            share,
            interval: (one.min(other), one.max(other)),
            worst_error: errors.fold(0.0, f64::max),
            placements: points.len(),
        })
    }

    /// Performance against the local placement where data come at this fraction of the local
    /// bandwidth; nothing below 0.
    pub fn performance(&self, d: f64) -> f64 {
        let time = 1.0 + self.share * (1.0 / d - 1.0);
        // A negative share of a faster memory.
        if time > 0.0 { 1.0 / time } else { f64::INFINITY }
    }
}

fn point(runs: &PlacedRuns) -> Option<(f64, [f64; 3])> {
    if runs.is_local || runs.memory_node.is_none() {
        return None;
    }
    let performance = runs.performance?;
    let more = 1.0 / runs.bounds.as_ref()?.d_serial - 1.0;
    let (low, high) = performance.interval;
    Some((more, [high, performance.ratio, low].map(|performance| 1.0 / performance - 1.0)))
}
