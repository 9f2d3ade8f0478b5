//! What the papers' programs get of far memory, beside what bandwidth would give, and which strategy
//! of placing pages serves each best.
//! Units: rates in each program's own unit; performance and alpha relative to the own node.
//! Source: braithwaite2012, figures 6.2 to 6.4: a program's performance in a class of placement,
//! relative to the local one, is about the class's alpha relative to the local one, and nearer 1 the
//! less it is bound by memory; ribeiro2010, section 5, for the strategies.
//! Fails when: latency and not bandwidth bounds a program, or caches hold its arrays.

mod statement;

use std::collections::BTreeMap;

use nearfar_machine::PlacementStrategy;
use nearfar_record::{
    Absence, Absent, Better, Coordinates, Experiment, RunSummary, Sample, WorkloadCoordinates,
    summarize_runs,
};
use nearfar_units::Ratio;
use serde::Serialize;

use statement::statement;
pub use statement::{ArrayAccess, StrategyStatement};

use crate::inapplicable::Inapplicable;
use crate::latency::latency;
use crate::pairs::{Pairs, pairs};
use crate::record_figures::{CaseFigures, RecordFigures};
use crate::sensitivity::{Relative, relative};

/// The workloads of a record.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Workloads {
    /// By the threads of one initiator on one node after the other, those first that lose most on
    /// the node that is worst for them; then those without a ratio.
    pub placed: Vec<PlacedWorkload>,
    /// By strategy over the machine.
    pub strategies: Vec<WorkloadStrategies>,
    /// The bandwidth kernel whose alpha stands beside; null where the record has no `pairs`.
    pub alpha_kernel: Option<String>,
}

/// A workload on one node after the other.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacedWorkload {
    /// Its name and size.
    pub workload: String,
    /// The initiator of its threads.
    pub initiator: u32,
    pub threads: u32,
    /// What its work is counted in; null where no run ended.
    pub unit: Option<String>,
    /// The own node first.
    pub nodes: Vec<WorkloadOnNode>,
}

/// A workload on one node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkloadOnNode {
    /// The case, by its id.
    pub case: String,
    pub memory_node: u32,
    /// Whether it is the initiator's own node, that with CPUs: others may be local too, as HBM and CXL are.
    pub is_own: bool,
    /// Units / s; null without runs.
    pub rate: Option<RunSummary>,
    /// Rate / that on the own node; null without both.
    pub performance: Option<Relative>,
    /// Bandwidth of this node / that of the own one, by the same threads; null where `pairs` has
    /// not both.
    pub alpha_relative: Option<f64>,
    pub refused: Vec<Absent>,
}

/// A workload by each strategy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkloadStrategies {
    /// Its name and size.
    pub workload: String,
    pub threads: u32,
    /// What its work is counted in; null where no run ended.
    pub unit: Option<String>,
    /// In the order of the paper.
    pub runs: Vec<StrategyRuns>,
    /// The fastest; null without runs.
    pub best: Option<PlacementStrategy>,
    /// Those that are as fast within the intervals.
    pub as_fast: Vec<PlacementStrategy>,
    /// What ribeiro2010 says of such a program; null where it says nothing, or the record has no
    /// latency of remote memory.
    pub paper: Option<StrategyStatement>,
}

/// The runs of one strategy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StrategyRuns {
    pub strategy: PlacementStrategy,
    /// The case, by its id.
    pub case: String,
    /// Units / s; null without runs.
    pub rate: Option<RunSummary>,
    /// Rate / that of first-touch; null without both.
    pub against_first_touch: Option<Relative>,
    /// Most pages that were moved in a run.
    pub moved_pages: u64,
    pub refused: Vec<Absent>,
}

/// The workloads of a record.
///
/// # Errors
/// Where it has none.
pub fn workloads(figures: &RecordFigures<'_>) -> Result<Workloads, Inapplicable> {
    let mut placed: Vec<PlacedWorkload> = Vec::new();
    let mut strategies: Vec<WorkloadStrategies> = Vec::new();
    let mut any = false;
    for (place, case) in figures.places(place_of_workload) {
        any |= !case.samples().is_empty();
        match (place.initiator, place.memory_node, place.strategy) {
            (Some(initiator), Some(node), _) => {
                add_node(&mut placed, figures, place, (initiator, node), &case);
            }
            (_, _, Some(strategy)) => add_strategy(&mut strategies, place, strategy, &case),
            _ => {}
        }
    }
    if !any {
        return Err(Inapplicable::without(figures.record(), Experiment::Workloads));
    }
    let of_pairs = pairs(figures);
    let alpha_kernel = ["triad_nt", "triad", "copy", "load"]
        .into_iter()
        .find(|kernel| of_pairs.kernels.iter().any(|known| known == kernel));
    for workload in &mut placed {
        workload.compare(alpha_kernel.map(|kernel| (&of_pairs, kernel)));
    }
    placed.sort_by(|one, other| one.worst().total_cmp(&other.worst()));
    let factor = largest_factor(figures);
    for of in &mut strategies {
        of.compare();
        of.paper = factor.and_then(|factor| statement(of, factor));
    }
    Ok(Workloads { placed, strategies, alpha_kernel: alpha_kernel.map(String::from) })
}

/// The largest NUMA factor between nodes with CPUs: over these strategies deal pages out, and not over CXL
/// memory.
fn largest_factor(figures: &RecordFigures<'_>) -> Option<Ratio> {
    let nodes = &figures.record().header.machine.nodes;
    let has_cpus = |number| nodes.iter().any(|it| it.os_index == number && !it.cpus.is_empty());
    let factors = latency(figures).ok()?.factors;
    let remote = factors.iter().filter(|it| !it.is_local && has_cpus(it.memory_node));
    let remote = remote.filter_map(|it| Some(it.factor.found()?.value));
    remote.max_by(|one, other| one.0.total_cmp(&other.0))
}

pub(crate) fn place_of_workload(place: &Coordinates) -> Option<&WorkloadCoordinates> {
    match place {
        Coordinates::Workloads(place) => Some(place),
        _ => None,
    }
}

fn unit_of(samples: &[&Sample]) -> Option<String> {
    samples.iter().find_map(|sample| Some(sample.workload.as_ref()?.unit.clone()))
}

fn refused(case: &CaseFigures<'_>) -> Vec<Absent> {
    case.planned().absences(Absence::Refused).cloned().collect()
}

fn add_node(
    placed: &mut Vec<PlacedWorkload>,
    figures: &RecordFigures<'_>,
    place: &WorkloadCoordinates,
    (initiator, memory_node): (u32, u32),
    case: &CaseFigures<'_>,
) {
    let machine = &figures.record().header.machine;
    let own = machine.initiators().into_iter().find(|own| own.index == initiator);
    let of = WorkloadOnNode {
        case: case.planned().id,
        memory_node,
        is_own: own.is_some_and(|own| machine.home_memory(&own) == Some(memory_node)),
        rate: summarize_runs(case.samples().iter().copied()),
        performance: None,
        alpha_relative: None,
        refused: refused(case),
    };
    let key = (&place.workload, initiator, place.threads);
    let known = placed.iter_mut().find(|it| (&it.workload, it.initiator, it.threads) == key);
    match known {
        Some(workload) => {
            workload.unit = workload.unit.take().or_else(|| unit_of(case.samples()));
            workload.nodes.push(of);
        }
        None => placed.push(PlacedWorkload {
            workload: place.workload.clone(),
            initiator,
            threads: place.threads,
            unit: unit_of(case.samples()),
            nodes: vec![of],
        }),
    }
}

fn add_strategy(
    strategies: &mut Vec<WorkloadStrategies>,
    place: &WorkloadCoordinates,
    strategy: PlacementStrategy,
    case: &CaseFigures<'_>,
) {
    let moved = case.samples().iter().filter_map(|sample| sample.workload.as_ref());
    let runs = StrategyRuns {
        strategy,
        case: case.planned().id,
        rate: summarize_runs(case.samples().iter().copied()),
        against_first_touch: None,
        moved_pages: moved.map(|run| run.moved_pages).max().unwrap_or(0),
        refused: refused(case),
    };
    let key = (&place.workload, place.threads);
    match strategies.iter_mut().find(|it| (&it.workload, it.threads) == key) {
        Some(known) => {
            known.unit = known.unit.take().or_else(|| unit_of(case.samples()));
            known.runs.push(runs);
        }
        None => strategies.push(WorkloadStrategies {
            workload: place.workload.clone(),
            threads: place.threads,
            unit: unit_of(case.samples()),
            runs: vec![runs],
            best: None,
            as_fast: Vec::new(),
            paper: None,
        }),
    }
}

impl PlacedWorkload {
    /// The least performance of any node; above all others without one.
    pub fn worst(&self) -> f64 {
        let ratios = self.nodes.iter().filter(|it| !it.is_own);
        let ratios = ratios.filter_map(|it| Some(it.performance?.ratio));
        ratios.min_by(f64::total_cmp).unwrap_or(f64::INFINITY)
    }

    fn compare(&mut self, beside: Option<(&Pairs, &str)>) {
        let Some(own) = self.nodes.iter().find(|it| it.is_own).cloned() else { return };
        let (initiator, threads) = (self.initiator, self.threads);
        let bandwidth = |node: u32| {
            let (pairs, kernel) = beside?;
            let row = pairs.cpu_groups.iter().find(|row| row.initiator == initiator)?;
            let best = pairs.cell(row.index, node, kernel, threads)?.best()?;
            Some(best.summary.sum.median)
        };
        for it in &mut self.nodes {
            it.performance = match (&it.rate, &own.rate) {
                (Some(rate), Some(own)) => relative(rate, own, Better::Higher),
                _ => None,
            };
            let both = bandwidth(it.memory_node).zip(bandwidth(own.memory_node));
            let alpha = both.map(|(there, here)| there / here);
            it.alpha_relative = alpha.filter(|alpha| alpha.is_finite());
        }
        self.nodes.sort_by_key(|it| (!it.is_own, it.memory_node));
    }
}

impl WorkloadStrategies {
    fn compare(&mut self) {
        let first = self.runs.iter().find(|it| it.strategy == PlacementStrategy::FirstTouch);
        let first = first.and_then(|it| it.rate.clone());
        for it in &mut self.runs {
            it.against_first_touch = match (&it.rate, &first) {
                (Some(rate), Some(first)) => relative(rate, first, Better::Higher),
                _ => None,
            };
        }
        let rates: BTreeMap<PlacementStrategy, &RunSummary> =
            self.runs.iter().filter_map(|it| Some((it.strategy, it.rate.as_ref()?))).collect();
        let median = |rate: &RunSummary| rate.figure.median;
        let best = rates.iter().max_by(|one, other| median(one.1).total_cmp(&median(other.1)));
        let best = best.map(|(&strategy, &rate)| (strategy, rate));
        self.best = best.map(|(strategy, _)| strategy);
        if let Some((strategy, rate)) = best {
            let (low, _) = rate.figure.interval;
            let others = rates.iter().filter(|(other, _)| **other != strategy);
            let as_fast = others.filter(|(_, other)| other.figure.interval.1 >= low);
            self.as_fast = as_fast.map(|(&strategy, _)| strategy).collect();
        }
    }
}
