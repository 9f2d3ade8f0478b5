//! Where the phases of the papers' programs lie below the roofs of the initiator that ran them.
//!
//! Their intensity is operational: FLOPs per byte that their loops move between memory and the last
//! caches, as they declare it. The roofs are that of loads from the node of their pages, and the ceiling.

use nearfar_record::{Roof, WorkloadCoordinates, WorkloadPhase};
use nearfar_stats::median;
use nearfar_units::{BytesPerSecond, FlopsPerSecond};
use serde::Serialize;

use super::chart::Chart;
use crate::record_figures::{CaseFigures, RecordFigures};
use crate::workloads::place_of_workload;

/// A phase that reaches less of both roofs is limited by neither.
pub const LEAST_OF_A_LIMIT: f64 = 0.5;

/// A phase of a workload, by as many threads as the roofs, below the roofs of its placement.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhasePoint {
    /// Its name and size.
    pub workload: String,
    pub phase: String,
    /// The case, by its id.
    pub case: String,
    /// The node of its pages.
    pub memory_node: u32,
    /// Of the time of all phases.
    pub time_share: f64,
    /// Per byte that its loops move between memory and caches, as declared; null where it computes
    /// nothing or moves nothing.
    #[serde(rename = "flops_per_byte")]
    pub intensity: Option<f64>,
    /// Median over runs, as its bandwidth.
    #[serde(rename = "gflop_per_s")]
    pub flops: FlopsPerSecond,
    /// Declared bytes, both ways.
    #[serde(rename = "declared_gb_per_s")]
    pub bandwidth: BytesPerSecond,
    /// What the roof of its placement and the ceiling allow at its intensity; null where it has none.
    #[serde(rename = "attainable_gflop_per_s")]
    pub attainable: Option<FlopsPerSecond>,
    /// What it reaches of the nearer of the roof of its node's loads and the ceiling; null where one of
    /// them that bounds it was not measured, or points refute it.
    pub ratio: Option<f64>,
    /// Null with the ratio.
    pub limit: Option<PhaseLimit>,
}

/// What limits a phase: the roof that it reaches most of, if that is half of it at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PhaseLimit {
    /// Bandwidth of the node of its pages.
    Memory,
    Arithmetic,
    /// Neither: latency, caches, or waiting for other threads.
    Other,
}

/// A phase of all runs.
struct Runs<'a> {
    name: &'a str,
    times: Vec<f64>,
    flops: Vec<f64>,
    bytes: Vec<f64>,
}

impl Chart {
    /// The phases of workloads that ran on this initiator by as many threads as the roofs, in the order of
    /// the plan.
    pub(super) fn workload_points(&self, figures: &RecordFigures<'_>) -> Vec<PhasePoint> {
        let placed = figures.places(place_of_workload).filter(|(place, _)| {
            place.initiator == Some(self.initiator) && Some(place.threads) == self.threads()
        });
        placed.flat_map(|(place, case)| self.phases(place, &case)).collect()
    }

    fn phases(&self, place: &WorkloadCoordinates, case: &CaseFigures<'_>) -> Vec<PhasePoint> {
        let Some(memory_node) = place.memory_node else { return Vec::new() };
        let runs = runs_of(case);
        let sum = |of: &Runs<'_>| of.times.iter().sum::<f64>();
        let all: f64 = runs.iter().map(sum).sum();
        let point = |of: &Runs<'_>| {
            let (flops, bytes) = (median(&of.flops)?, median(&of.bytes)?);
            if flops <= 0.0 && bytes <= 0.0 {
                return None;
            }
            let intensity = (flops > 0.0 && bytes > 0.0).then(|| flops / bytes);
            let (ratio, limit) = self.limit(memory_node, flops, bytes).unzip();
            Some(PhasePoint {
                workload: place.workload.clone(),
                phase: of.name.into(),
                case: case.planned().id,
                memory_node,
                time_share: sum(of) / all,
                intensity,
                flops: flops.into(),
                bandwidth: bytes.into(),
                attainable: intensity.and_then(|intensity| {
                    Some(self.attainable(intensity, self.loads_from(memory_node)?).into())
                }),
                ratio,
                limit,
            })
        };
        runs.iter().filter_map(point).collect()
    }

    /// Bytes/s of the roof of loads from a node; `None` where it was not measured or is refuted.
    fn loads_from(&self, node: u32) -> Option<f64> {
        let is_its = |roof: Roof| roof == Roof::Memory { node };
        let roof = self.roofs.iter().find(|of| is_its(of.roof) && of.is_of_loads())?;
        (!roof.is_refuted).then_some(roof.bandwidth.value.0)
    }

    /// What is reached of the roof that is nearest, and whether that limits.
    fn limit(&self, node: u32, flops: f64, bytes: f64) -> Option<(f64, PhaseLimit)> {
        let of_memory = if bytes > 0.0 { bytes / self.loads_from(node)? } else { 0.0 };
        let of_ceiling = match self.ceiling() {
            Some(ceiling) if flops > 0.0 => flops / ceiling.flops.value.0,
            None if flops > 0.0 => return None,
            _ => 0.0,
        };
        let (ratio, limit) = match of_memory >= of_ceiling {
            true => (of_memory, PhaseLimit::Memory),
            false => (of_ceiling, PhaseLimit::Arithmetic),
        };
        Some((ratio, if ratio < LEAST_OF_A_LIMIT { PhaseLimit::Other } else { limit }))
    }
}

/// By phase; phases of which bytes or operations are not declared are left out.
fn runs_of<'a>(case: &CaseFigures<'a>) -> Vec<Runs<'a>> {
    let mut runs: Vec<Runs<'_>> = Vec::new();
    let phases = case.samples().iter().filter_map(|sample| sample.workload.as_ref());
    for WorkloadPhase { name, time_ns, flops, declared_bytes, .. } in
        phases.flat_map(|run| &run.phases)
    {
        let (Some(bytes), Some(flops), true) = (declared_bytes, flops, *time_ns > 0) else {
            continue;
        };
        let seconds = *time_ns as f64 / 1e9;
        let at = runs.iter().position(|of| of.name == name).unwrap_or_else(|| {
            runs.push(Runs { name, times: vec![], flops: vec![], bytes: vec![] });
            runs.len() - 1
        });
        runs[at].times.push(seconds);
        runs[at].flops.push(flops / seconds);
        runs[at].bytes.push(bytes / seconds);
    }
    runs
}
