//! The view of programs at their placements.

use nearfar_machine::Binding;
use nearfar_model::{
    BestOfPair, BoundsStanding, MemoryShare, PlacedRuns, PlacementBounds, ProgramClass,
    ProgramSensitivity, ReferenceClasses, Sensitivity,
};
use nearfar_record::{Absent, Better, Metric, Record, RunSummary, TriedCounter};
use serde::Serialize;

use super::measured::MeasuredView;
use super::sensitivity_counters::CountedRunsView;

/// How sensitive programs are to where their memory is; `sensitivity --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SensitivityView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// The file with the runs; null where there is none.
    pub record: Option<String>,
    /// Why nothing was run: there is nothing to choose; null where something was.
    pub nothing_to_choose: Option<String>,
    /// The record whose classes give the bounds; null where none was given.
    pub reference: Option<String>,
    /// Alpha of its classes relative to class 0; null as above.
    pub alphas: Option<Vec<f64>>,
    /// What is read in the programs' output; null where their time counts.
    pub metric: Option<MetricView>,
    /// Unit of every figure of a run: `s` of times, what the user said of a metric, or null.
    pub unit: Option<String>,
    /// Which figures are good.
    pub better: Better,
    /// Counters that were to be read of every run, as they were tried out before; null where
    /// nobody asked for them.
    pub counters: Option<Vec<TriedCounter>>,
    /// The programs, in the order in which they were given.
    pub programs: Vec<ProgramView>,
    /// The best program of each pair; empty where programs ran on one cluster only.
    pub best: Vec<BestOfPairView>,
    /// Classes of these pairs; empty as above.
    pub classes: Vec<ProgramClassView>,
}

/// What is read in a program's output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricView {
    /// The regular expression.
    pub pattern: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramView {
    pub label: String,
    /// The share of its local time that moves with bandwidth; null where that is not known.
    pub sensitivity: Option<MemoryShareView>,
    /// Why that is not known; null where it is.
    pub sensitivity_unknown: Option<&'static str>,
    /// Its placements, in the order of the plan.
    pub placements: Vec<PlacedRunsView>,
}

/// The share of a program's local time that moves with bandwidth.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryShareView {
    /// 0: indifferent; 1: it only moves data; above: more than bandwidth holds it up.
    pub time_share: f64,
    /// What the intervals of the times leave open.
    pub interval: [f64; 2],
    /// Largest relative error of the times that it gives.
    pub worst_error: f64,
    pub placements: usize,
}

/// The runs of a program at a placement.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacedRunsView {
    /// The case, by its id.
    pub case: String,
    /// The cluster of its CPUs.
    pub cluster: u32,
    /// The lowest node with CPUs of that cluster, or null.
    pub cpu_node: Option<u32>,
    /// The node that its memory was asked for on; null where pages are dealt out.
    pub memory_node: Option<u32>,
    /// CPUs and policy, as text.
    pub binding: String,
    /// Whether the node is the cluster's own.
    pub is_local: bool,
    /// Time or metric; null without runs.
    pub figure: Option<RunFigureView>,
    /// Performance against the local placement of the same CPUs; null without both.
    pub performance: Option<f64>,
    /// What the intervals of both leave open; null as above.
    pub performance_interval: Option<[f64; 2]>,
    /// Fraction of its pages that was on the nodes asked for; null where nobody could look.
    pub placed_share: Option<f64>,
    /// Bytes of the pages that were seen; null as above.
    pub seen_bytes: Option<f64>,
    /// Why nobody could look; null where somebody did, or without runs.
    pub not_seen: Option<String>,
    /// Runs of which threads were seen on other CPUs.
    pub strayed_runs: usize,
    /// What counters say of them; null where nobody asked for any, without runs, and where no figure
    /// follows from those that are believed.
    pub counted: Option<CountedRunsView>,
    /// What classes of bandwidth give; null where they are not known.
    pub bounds: Option<PlacementBoundsView>,
    /// `within`, `below` or `above` the bounds; null where one of them is not known.
    pub standing: Option<&'static str>,
    /// Performance by the memory share, from the serial to the overlapping bound; null where that
    /// is not known.
    pub expected: Option<[f64; 2]>,
    /// Refusals.
    pub refused: Vec<Absent>,
}

/// Time, s, or metric of runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunFigureView {
    /// Median over runs.
    pub median: f64,
    pub interval: [f64; 2],
    /// How often such an interval holds the true median, a fraction.
    pub confidence: f64,
    pub least: f64,
    /// The highest of all.
    pub most: f64,
    /// Runs that count.
    pub runs: usize,
}

/// What a placement gives a program that only moves data, against the local one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacementBoundsView {
    /// Share of the pages by class.
    pub shares: Vec<f64>,
    /// Eq. 4.6 of braithwaite2012.
    pub d: f64,
    /// Accesses to classes one after the other.
    pub d_serial: f64,
    /// Accesses to different classes at the same time.
    pub d_overlap: f64,
}

/// The program that is best on a pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BestOfPairView {
    pub cluster: u32,
    /// Its lowest node with CPUs, or null.
    pub cpu_node: Option<u32>,
    pub memory_node: u32,
    /// The program's label.
    pub label: String,
    pub figure: RunFigureView,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramClassView {
    /// 0 is the best.
    pub class: usize,
    /// The best run on any of its pairs.
    pub best: f64,
    /// The best run on its worst pair.
    pub worst: f64,
    /// Its best performance / that of class 0.
    pub alpha_relative: f64,
    /// Whether the border to the next class is within what noise explains.
    pub border_within_noise: bool,
    pub pairs: Vec<ProgramPairView>,
}

/// A cluster and a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramPairView {
    pub cluster: u32,
    pub memory_node: u32,
}

impl SensitivityView {
    /// The view of a record's programs; without them, of why nothing was run.
    pub fn new(
        record: &Record,
        found: Result<&Sensitivity, String>,
        reference: Option<(String, &ReferenceClasses)>,
    ) -> Self {
        let commands = record.header.inputs.commands.as_ref();
        let metric = commands.and_then(|commands| commands.metric.as_ref());
        let (name, alphas) =
            reference.map(|(name, classes)| (name, classes.alphas.clone())).unzip();
        let some = found.as_ref().ok();
        Self {
            schema: "nearfar.sensitivity/2",
            measured: MeasuredView::new(record),
            record: None,
            nothing_to_choose: found.as_ref().err().cloned(),
            reference: name,
            alphas,
            metric: metric.map(|metric| MetricView { pattern: metric.pattern.clone() }),
            unit: metric.map_or_else(|| Some("s".into()), unit),
            better: metric.map_or(Better::Lower, |metric| metric.better),
            counters: commands.and_then(|commands| commands.counters.clone()),
            programs: some.map_or_else(Vec::new, |it| it.programs.iter().map(program).collect()),
            best: some.map_or_else(Vec::new, |it| it.best.iter().map(best).collect()),
            classes: some.map_or_else(Vec::new, |it| it.classes.iter().map(class).collect()),
        }
    }
}

fn unit(metric: &Metric) -> Option<String> {
    metric.unit.clone()
}

fn program(program: &ProgramSensitivity) -> ProgramView {
    ProgramView {
        label: program.label.clone(),
        sensitivity: program.memory_share.as_ref().ok().map(share),
        sensitivity_unknown: program.memory_share.as_ref().err().copied(),
        placements: program.placements.iter().map(placed).collect(),
    }
}

fn share(share: &MemoryShare) -> MemoryShareView {
    MemoryShareView {
        time_share: share.share,
        interval: [share.interval.0, share.interval.1],
        worst_error: share.worst_error,
        placements: share.placements,
    }
}

fn placed(runs: &PlacedRuns) -> PlacedRunsView {
    let binding = Binding { cpus: runs.cpus.clone(), memory: runs.memory.clone() };
    let standing = |standing| match standing {
        BoundsStanding::Within => "within",
        BoundsStanding::Below => "below",
        BoundsStanding::Above => "above",
    };
    // A share of a faster memory can foretell a time of nothing.
    let expected = runs.expected.filter(|(low, high)| low.is_finite() && high.is_finite());
    PlacedRunsView {
        case: runs.case.clone(),
        cluster: runs.cluster,
        cpu_node: runs.cpu_node,
        memory_node: runs.memory_node,
        binding: binding.to_string(),
        is_local: runs.is_local,
        figure: runs.runs.as_ref().map(figure),
        performance: runs.performance.map(|performance| performance.ratio),
        performance_interval: runs.performance.map(|it| [it.interval.0, it.interval.1]),
        placed_share: runs.placed,
        seen_bytes: runs.seen_bytes,
        not_seen: runs.not_seen.clone(),
        strayed_runs: runs.strayed,
        counted: runs.counted.as_ref().map(CountedRunsView::new),
        bounds: runs.bounds.as_ref().map(bounds),
        standing: runs.standing.map(standing),
        expected: expected.map(|(low, high)| [low.min(high), low.max(high)]),
        refused: runs.refused.clone(),
    }
}

pub(crate) fn figure(runs: &RunSummary) -> RunFigureView {
    RunFigureView {
        median: runs.figure.median,
        interval: [runs.figure.interval.0, runs.figure.interval.1],
        confidence: runs.figure.confidence,
        least: runs.least,
        most: runs.most,
        runs: runs.figure.count,
    }
}

fn bounds(bounds: &PlacementBounds) -> PlacementBoundsView {
    PlacementBoundsView {
        shares: bounds.shares.clone(),
        d: bounds.d,
        d_serial: bounds.d_serial,
        d_overlap: bounds.d_overlap,
    }
}

fn best(pair: &BestOfPair) -> BestOfPairView {
    BestOfPairView {
        cluster: pair.cluster,
        cpu_node: pair.cpu_node,
        memory_node: pair.memory_node,
        label: pair.label.clone(),
        figure: figure(&pair.runs),
    }
}

fn class(class: &ProgramClass) -> ProgramClassView {
    let pair = |&(cluster, memory_node): &(u32, u32)| ProgramPairView { cluster, memory_node };
    ProgramClassView {
        class: class.class,
        best: class.best,
        worst: class.worst,
        alpha_relative: class.alpha_relative,
        border_within_noise: class.border_within_noise,
        pairs: class.pairs.iter().map(pair).collect(),
    }
}
