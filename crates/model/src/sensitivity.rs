//! How sensitive a program is to where its memory is: its time, or a metric that it prints, at
//! every placement against the local one, beside what classes of bandwidth allow.
//! Units: ratios to the local placement; time in s, a metric in its own unit.
//! Source: braithwaite2012, chapter 6, and eq. 4.6 for the bounds.
//! Holds when: what the program does beside moving data takes the same time everywhere. With a
//! share s of its local time spent on data, its time elsewhere is 1 - s + s / d, where d is what
//! the placement gives of the local bandwidth: between 1 (s = 0) and 1 / d (s = 1).
//! Fails when: latency and not bandwidth holds it up, or its threads fill what carries their data:
//! classes are those of one thread's streams. Such a program is outside the bounds, and said so.

mod best_programs;
mod counted_runs;
mod memory_share;
mod placements;
mod reference;

use std::collections::BTreeMap;

use nearfar_machine::{Binding, NodeSet};
use nearfar_record::{
    Absence, Absent, Better, CommandCoordinates, Coordinates, Metric, Outcome, PageNodes, Record,
    RunSummary, Sample, summarize_runs,
};
use nearfar_stats::median;
use serde::Serialize;

pub use best_programs::{BestOfPair, ProgramClass};
pub use counted_runs::CountedRuns;
pub use memory_share::MemoryShare;
pub use placements::{NoPlacements, PlacementChoice, command_placements, local_node};
pub use reference::{PlacementBounds, ReferenceClasses};

use crate::record_figures::{CaseFigures, RecordFigures};

/// The programs of a record at their placements.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sensitivity {
    /// In the order in which they were given.
    pub programs: Vec<ProgramSensitivity>,
    /// The best program of each pair of an initiator and a node; empty where programs ran on the
    /// CPUs of one initiator only, or are judged by different figures.
    pub best: Vec<BestOfPair>,
    /// Classes of these pairs, the best first; empty as above.
    pub classes: Vec<ProgramClass>,
}

/// A program at its placements.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramSensitivity {
    pub label: String,
    /// What is read in its output; null where its time counts.
    pub metric: Option<Metric>,
    /// Its placements, in the order of the plan.
    pub placements: Vec<PlacedRuns>,
    /// The share of its local time that moves with bandwidth.
    pub memory_share: Outcome<MemoryShare>,
}

/// The runs of a program at one placement.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacedRuns {
    /// The case, by its id.
    pub case: String,
    /// The initiator of its CPUs.
    pub initiator: u32,
    /// The lowest node with CPUs of that initiator; null without.
    pub cpu_node: Option<u32>,
    /// The node that its memory was asked for on; null where pages are dealt out.
    pub memory_node: Option<u32>,
    /// The CPUs that it could use, and how its pages were to be placed.
    pub binding: Binding,
    /// Whether the node is the initiator's own.
    pub is_local: bool,
    /// Time, s, or the metric; null without runs.
    pub runs: Option<RunSummary>,
    /// Performance / that of the local placement with the same CPUs; null without both.
    pub performance: Option<Relative>,
    /// Median over runs of the fraction of its pages that was on the nodes asked for; null where
    /// nobody could look.
    pub placed_share: Option<f64>,
    /// Median over runs of the bytes that were seen; null as above.
    pub seen_bytes: Option<f64>,
    /// Median over runs of the bytes of files and shared memory that it mapped and that were on other nodes
    /// than asked for; null as above.
    pub shared_bytes_elsewhere: Option<f64>,
    /// Why no run could be looked at; null where one was, or without runs.
    pub not_seen: Option<String>,
    /// Runs of which threads were seen on other CPUs than asked for.
    pub strayed_runs: usize,
    /// What counters say of them; null where nobody asked for any, nothing ran, or no figure
    /// follows from those that are believed.
    pub counted: Option<CountedRuns>,
    /// What classes of bandwidth give against the local placement; null where they are not
    /// known.
    pub bounds: Option<PlacementBounds>,
    /// Whether its performance is where the bounds allow; null where one of them is not known.
    pub standing: Option<BoundsStanding>,
    /// Performance by the program's memory share, by the serial and the overlapping bound, the
    /// lower first; null where that is not known.
    pub expected: Option<[f64; 2]>,
    /// Refusals.
    pub refused: Vec<Absent>,
}

/// A ratio with what its parts' intervals leave open.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Relative {
    /// Of medians.
    pub ratio: f64,
    /// From the worst of one and the best of the other to the opposite.
    pub interval: (f64, f64),
}

/// Where performance is against the bounds by bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BoundsStanding {
    /// Between that of a program that only moves data and that of one that moves none.
    Within,
    /// Worse than bandwidth explains.
    Below,
    /// Better than bandwidth explains.
    Above,
}

impl ProgramSensitivity {
    /// Which of its figures are good: of times the lower.
    pub fn better(&self) -> Better {
        self.metric.as_ref().map_or(Better::Lower, |metric| metric.better)
    }
}

/// The programs of a record; `None` where it holds none. `reference` has the classes of the same
/// machine.
pub fn sensitivity(
    figures: &RecordFigures<'_>,
    reference: Option<&ReferenceClasses>,
) -> Option<Sensitivity> {
    let record = figures.record();
    let commands = record.header.inputs.commands.as_ref()?;
    let mut programs: Vec<ProgramSensitivity> = Vec::new();
    for (place, case) in figures.places(place_of_command) {
        let Some(runs) = placed_runs(record, place, &case) else { continue };
        match programs.iter_mut().find(|program| program.label == place.command) {
            Some(program) => program.placements.push(runs),
            None => programs.push(ProgramSensitivity {
                label: place.command.clone(),
                metric: commands.metric_of(&place.command).cloned(),
                placements: vec![runs],
                memory_share: Err("the record's classes were not given".to_string()).into(),
            }),
        }
    }
    for program in &mut programs {
        program.compare(reference);
    }
    let first = programs.first()?;
    let better = first.better();
    let best = match programs.iter().all(|program| program.metric == first.metric) {
        true => best_programs::best_of_pairs(&programs, better),
        false => Vec::new(),
    };
    let classes = best_programs::classes_of(&best, better);
    Some(Sensitivity { programs, best, classes })
}

fn place_of_command(place: &Coordinates) -> Option<&CommandCoordinates> {
    match place {
        Coordinates::Commands(place) if place.load.is_none() => Some(place),
        _ => None,
    }
}

/// `None` for a case that is not in the plan.
fn placed_runs(
    record: &Record,
    place: &CommandCoordinates,
    case: &CaseFigures<'_>,
) -> Option<PlacedRuns> {
    let actor = case.actors().first()?;
    let binding = Binding { cpus: actor.cpus().clone(), memory: actor.memory()?.clone() };
    let samples = case.samples();
    let pages = |sample: &&Sample| sample.run.as_ref().and_then(|run| run.pages.clone());
    let pages: Vec<PageNodes> = samples.iter().filter_map(pages).collect();
    let asked = binding.memory.nodes();
    let placed = |pages: &PageNodes| -> Option<f64> {
        Some(asked.as_ref()?.iter().map(|node| pages.fraction_on(node)).sum())
    };
    let runs = || samples.iter().filter_map(|sample| sample.run.as_ref());
    let commands = record.header.inputs.commands.as_ref();
    let tried = commands.and_then(|commands| commands.counters.as_deref());
    let own = local_node(&record.header.machine, place.initiator);
    let planned = case.planned();
    Some(PlacedRuns {
        case: planned.id.clone(),
        initiator: place.initiator,
        cpu_node: place.cpu_node,
        memory_node: place.memory_node,
        is_local: place.memory_node.is_some() && place.memory_node == own,
        runs: summarize_runs(samples.iter().copied()),
        performance: None,
        placed_share: median(&pages.iter().filter_map(placed).collect::<Vec<_>>()),
        seen_bytes: median(&pages.iter().map(bytes_of).collect::<Vec<_>>()),
        shared_bytes_elsewhere: median(
            &runs()
                .filter_map(|run| {
                    Some(elsewhere(run.shared_bytes_by_node.as_ref()?, asked.as_ref()?))
                })
                .collect::<Vec<_>>(),
        ),
        not_seen: if pages.is_empty() {
            runs().find_map(|run| run.pages_unknown.clone())
        } else {
            None
        },
        strayed_runs: runs().filter(|run| !run.cpus_seen.is_subset(actor.cpus())).count(),
        binding,
        counted: CountedRuns::of(tried, samples),
        bounds: None,
        standing: None,
        expected: None,
        refused: planned.absences(Absence::Refused).cloned().collect(),
    })
}

/// Of these bytes by node those on other nodes.
fn elsewhere(bytes: &BTreeMap<u32, u64>, nodes: &NodeSet) -> f64 {
    bytes.iter().filter(|(node, _)| !nodes.contains(**node)).map(|(_, bytes)| *bytes as f64).sum()
}

fn bytes_of(pages: &PageNodes) -> f64 {
    let count = pages.pages.values().fold(0, |sum: u64, pages| sum.saturating_add(*pages));
    count as f64 * pages.page_bytes as f64
}

impl ProgramSensitivity {
    /// Sets every placement against the local one with the same CPUs, and against the bounds.
    fn compare(&mut self, reference: Option<&ReferenceClasses>) {
        let better = self.better();
        let locals: Vec<(u32, Option<u32>, Option<RunSummary>)> = self
            .placements
            .iter()
            .filter(|runs| runs.is_local)
            .map(|runs| (runs.initiator, runs.memory_node, runs.runs.clone()))
            .collect();
        for runs in &mut self.placements {
            let Some((_, node, local)) =
                locals.iter().find(|(initiator, ..)| *initiator == runs.initiator)
            else {
                continue;
            };
            runs.performance = match (&runs.runs, local) {
                (Some(runs), Some(local)) => relative(runs, local, better),
                _ => None,
            };
            let bounds = |node: u32| reference?.bounds(runs.initiator, &runs.binding.memory, node);
            runs.bounds = node.and_then(bounds);
            runs.standing = runs.bounds.as_ref().and_then(|bounds| {
                let (low, high) = runs.performance?.interval;
                Some(if high < bounds.d_serial.min(1.0) {
                    BoundsStanding::Below
                } else if low > bounds.d_overlap.max(1.0) {
                    BoundsStanding::Above
                } else {
                    BoundsStanding::Within
                })
            });
        }
        if reference.is_some() {
            self.memory_share = MemoryShare::of(&self.placements).map_err(str::to_string).into();
        }
        if let Outcome::Found(share) = &self.memory_share {
            for runs in &mut self.placements {
                let of = |bounds: &PlacementBounds| {
                    [bounds.d_serial, bounds.d_overlap].map(|d| share.performance(d))
                };
                let expected = runs.bounds.as_ref().map(of);
                // A share of a faster memory can predict a time of nothing.
                let expected = expected.filter(|both| both.iter().all(|it| it.is_finite()));
                runs.expected = expected.map(|[one, other]| [one.min(other), one.max(other)]);
            }
        }
    }
}

/// Performance against the local one; `None` where a figure is not positive, so that no ratio
/// means anything.
pub(crate) fn relative(runs: &RunSummary, local: &RunSummary, better: Better) -> Option<Relative> {
    let (over, under) = match better {
        Better::Higher => (&runs.figure, &local.figure),
        Better::Lower => (&local.figure, &runs.figure),
    };
    let parts = [over.median, under.median, under.interval.0, over.interval.0];
    if !parts.iter().all(|part| *part > 0.0 && part.is_finite()) {
        return None;
    }
    // The local placement against itself is known exactly.
    if std::ptr::eq(runs, local) || runs == local {
        return Some(Relative { ratio: 1.0, interval: (1.0, 1.0) });
    }
    let ratio = over.median / under.median;
    let interval = (over.interval.0 / under.interval.1, over.interval.1 / under.interval.0);
    let is_sound = [ratio, interval.0, interval.1].iter().all(|it| *it > 0.0 && it.is_finite());
    is_sound.then_some(Relative { ratio, interval })
}
