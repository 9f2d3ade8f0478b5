//! Bandwidth against thread count and affinity, over many runs.
//! Units: useful bytes/s.          Source: vladimirov2012, figures 1 to 4.
//! A run is a round with one window, with fresh threads and pages that these touch first. The
//! paper's STREAM divides its arrays statically and so sees the pace of the slowest thread.
//! Holds when: runs are not disturbed by others; disturbed ones are left out unless all are.

use std::collections::HashMap;

use nearfar_record::{Affinity, Aggregate, CaseSummary, Coordinates, Part, ScalingCoordinates};
use nearfar_stats::relative_deviation;
use nearfar_units::{BytesPerSecond, Quantity};
use serde::Serialize;

use crate::histogram::Histogram;
use crate::record_figures::{PlannedCase, RecordFigures};

/// Runs of one kernel by this many threads of one affinity.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScalingRuns {
    #[serde(flatten)]
    pub case: PlannedCase,
    /// Where it stands.
    #[serde(flatten)]
    pub place: ScalingCoordinates,
    /// Over all runs; null without samples.
    pub figures: Option<ScalingFigures>,
}

/// What runs gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScalingFigures {
    /// Threads x the slowest thread, what STREAM sees.
    #[serde(rename = "paced_gb_per_s")]
    pub paced: RunStatistics,
    /// All threads together.
    #[serde(rename = "sum_gb_per_s")]
    pub sum: RunStatistics,
    /// As of any case.
    #[serde(rename = "bandwidth_gb_per_s")]
    pub summary: CaseSummary,
}

/// Statistics over runs, as the paper prints them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunStatistics {
    /// The value of each run, in their order.
    pub runs: Vec<BytesPerSecond>,
    pub mean: BytesPerSecond,
    /// Standard deviation (with n - 1); null with one run or a mean of 0.
    pub deviation: Option<BytesPerSecond>,
    /// Smallest.
    pub min: BytesPerSecond,
    /// Largest.
    pub max: BytesPerSecond,
}

impl RunStatistics {
    /// The statistics of these runs; `None` where there is none.
    pub fn of(runs: Vec<f64>) -> Option<Self> {
        let min = BytesPerSecond(runs.iter().copied().min_by(f64::total_cmp)?);
        let max = BytesPerSecond(runs.iter().copied().max_by(f64::total_cmp)?);
        let mean = BytesPerSecond(runs.iter().sum::<f64>() / runs.len() as f64);
        let deviation = relative_deviation(&runs).map(|relative| mean * relative);
        let runs = runs.into_iter().map(BytesPerSecond).collect();
        Some(Self { runs, mean, deviation, min, max })
    }

    /// The value of each run, in their order.
    pub fn values(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.0).collect()
    }

    /// (largest - smallest) / mean; `None` where that is no number.
    pub fn spread(&self) -> Option<f64> {
        let spread = (self.max.0 - self.min.0) / self.mean.0;
        spread.is_finite().then_some(spread)
    }
}

/// The runs of a record by kernel in the order of the plan, then by threads, then unbound,
/// compact, scatter.
pub fn scaling(figures: &RecordFigures<'_>) -> Vec<ScalingRuns> {
    let places = figures.places(|coordinates| match coordinates {
        Coordinates::Scaling(place) => Some(place),
        _ => None,
    });
    let mut kernels: HashMap<(&str, &str), usize> = HashMap::new();
    let mut all = Vec::new();
    for (place, case) in places {
        let count = kernels.len();
        let kernel = *kernels.entry((&place.kernel, &place.variant)).or_insert(count);
        let values = |aggregate| RunStatistics::of(case.rounds(Part::Case, aggregate));
        let summary = case.bandwidth(Part::Case);
        let figures = summary.and_then(|summary| {
            let (paced, sum) = (values(Aggregate::Paced)?, values(Aggregate::Sum)?);
            Some(ScalingFigures { paced, sum, summary })
        });
        all.push((kernel, ScalingRuns { case: case.planned(), place: place.clone(), figures }));
    }
    all.sort_by_key(|(kernel, runs)| (*kernel, runs.place.threads, runs.place.affinity));
    all.into_iter().map(|(_, runs)| runs).collect()
}

/// Bins of a histogram at most.
const BINS: usize = 12;

/// The runs of a kernel that spread most.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WidestRuns {
    pub threads: u32,
    /// How they are spread.
    pub affinity: Affinity,
    /// (largest - smallest) / mean, a fraction.
    pub spread: f64,
    /// Runs by pace, GB/s.
    pub histogram: Histogram,
}

/// Of these the ones whose runs, by pace, spread most in relation to their mean; `None` where
/// none has two runs.
pub fn widest_runs(runs: &[ScalingRuns]) -> Option<WidestRuns> {
    let paced = runs.iter().filter_map(|runs| Some((runs, &runs.figures.as_ref()?.paced)));
    let (spread, runs, paced) = paced
        .filter(|(_, paced)| paced.runs.len() > 1)
        .filter_map(|(runs, paced)| Some((paced.spread()?, runs, paced)))
        .max_by(|one, other| one.0.total_cmp(&other.0))?;
    let gb_per_s: Vec<f64> = paced.runs.iter().map(|run| run.in_unit()).collect();
    let ScalingCoordinates { threads, affinity, .. } = runs.place;
    Some(WidestRuns { threads, affinity, spread, histogram: Histogram::of(&gb_per_s, BINS)? })
}
