//! The group of CPUs x memory node matrix of a record.
//! Units: useful bytes/s.          Source: braithwaite2012, chapter 3, algorithm 1.
//! A pair is judged by the best of a kernel's variants (the thesis takes the best
//! of several compilers, section 3.3); every variant's figure is kept beside it.
//! Variants that take pages in turn are shown and never judge: programs walk in order.
//! Holds when: working sets exceed the caches (`llc_multiple` of the cases).
//! Fails when: samples of a case have several modes; the median then sits in one.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{CpuSet, GroupBy};
use nearfar_record::{
    Absence, Absent, Actor, Case, CaseSummary, Coordinates, PairCoordinates, Part, Stage,
    pages_in_turn,
};

use serde::Serialize;

use crate::record_figures::RecordFigures;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pairs {
    /// Rows, by their number.
    pub cpu_groups: Vec<CpuGroupRow>,
    /// Columns: memory nodes that were targets, ascending.
    pub nodes: Vec<u32>,
    /// Kernels, in the order of the plan.
    pub kernels: Vec<String>,
    cells: BTreeMap<(u32, u32, String, u32), Cell>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuGroupRow {
    /// Number among its kind.
    pub index: u32,
    /// How CPUs were grouped.
    pub group_by: GroupBy,
    /// The initiator that it belongs to.
    pub initiator: u32,
    /// The lowest node with CPUs of that initiator, or null.
    pub cpu_node: Option<u32>,
    /// Its CPUs that were used.
    pub cpus: CpuSet,
}

/// One group of CPUs on one node with one kernel and one number of threads.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// Variants that were measured, the best first, but those that take pages in turn after all others;
    /// empty when refused.
    pub figures: Vec<Figure>,
    /// Refusals, in the order of the record.
    pub refused: Vec<Absent>,
}

/// A cell and where it stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacedCell {
    /// Who accesses.
    #[serde(flatten)]
    pub row: CpuGroupRow,
    /// The node that is accessed.
    pub memory_node: u32,
    pub kernel: String,
    pub threads: u32,
    /// Whether this is the thread count with the highest sum.
    pub is_peak: bool,
    #[serde(flatten)]
    pub cell: Cell,
}

/// One variant's figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// Case, by its id.
    pub case: String,
    /// Instruction-set variant.
    pub variant: String,
    /// Useful bytes/s.
    #[serde(rename = "bandwidth_gb_per_s")]
    pub summary: CaseSummary,
    /// Working set / caches involved, or null.
    pub llc_multiple: Option<f64>,
}

impl Figure {
    /// Whether the arrays are walked through as by a program's plain loop.
    pub fn walks_in_order(&self) -> bool {
        pages_in_turn(&self.variant) == 1
    }
}

impl Cell {
    /// Of the variants that walk in order, as programs do, the one with the highest median sum; where only
    /// others were measured, of these.
    pub fn best(&self) -> Option<&Figure> {
        self.figures.first()
    }

    /// The variant with the highest median sum, in whatever order it walks.
    pub fn highest(&self) -> Option<&Figure> {
        let sum = |figure: &&Figure| figure.summary.sum.median;
        self.figures.iter().max_by(|a, b| sum(a).total_cmp(&sum(b)))
    }
}

impl Pairs {
    /// A cell; `None` when it was not planned.
    pub fn cell(&self, cpu_group: u32, node: u32, kernel: &str, threads: u32) -> Option<&Cell> {
        self.cells.get(&(cpu_group, node, kernel.into(), threads))
    }

    /// Thread counts that were planned for a group of CPUs and a kernel, ascending.
    pub fn thread_counts(&self, cpu_group: u32, kernel: &str) -> Vec<u32> {
        let counts: BTreeSet<u32> = self
            .cells
            .keys()
            .filter(|(row, _, name, _)| *row == cpu_group && name == kernel)
            .map(|&(_, _, _, threads)| threads)
            .collect();
        counts.into_iter().collect()
    }

    /// The thread count with the highest median sum, and its best figure.
    pub fn peak(&self, cpu_group: u32, node: u32, kernel: &str) -> Option<(u32, &Figure)> {
        let of = |threads| (cpu_group, node, kernel.into(), threads);
        self.cells
            .range(of(0)..=of(u32::MAX))
            .filter_map(|((.., threads), cell)| Some((*threads, cell.best()?)))
            .max_by(|a, b| a.1.summary.sum.median.total_cmp(&b.1.summary.sum.median))
    }

    /// All cells, each with where it stands.
    pub fn placed(&self) -> Vec<PlacedCell> {
        let placed = self.cells().filter_map(|(index, memory_node, kernel, threads, cell)| {
            let row = self.cpu_groups.iter().find(|row| row.index == index)?;
            let peak = self.peak(index, memory_node, kernel).map(|(threads, _)| threads);
            Some(PlacedCell {
                row: row.clone(),
                memory_node,
                kernel: kernel.into(),
                threads,
                is_peak: peak == Some(threads),
                cell: cell.clone(),
            })
        });
        placed.collect()
    }

    /// All cells with their coordinates: group of CPUs, node, kernel, threads.
    pub fn cells(&self) -> impl Iterator<Item = (u32, u32, &str, u32, &Cell)> {
        self.cells.iter().map(|((row, node, kernel, threads), cell)| {
            (*row, *node, kernel.as_str(), *threads, cell)
        })
    }
}

fn place_in_matrix(coordinates: &[Coordinates]) -> Option<&PairCoordinates> {
    let mut pairs = coordinates.iter().filter_map(Coordinates::as_pair);
    pairs.find(|pair| pair.stage == Stage::Matrix)
}

/// The matrix of a record; empty when the record holds no `pairs`.
pub fn pairs(figures: &RecordFigures<'_>) -> Pairs {
    let record = figures.record();
    let mut matrix = Pairs::default();
    for case in &record.cases {
        let Some(place) = place_in_matrix(&case.coordinates) else {
            continue;
        };
        matrix.add_borders(place, case);
        let cell = matrix.cell_at(place);
        let summary = figures.of_case(case).bandwidth(Part::Case);
        cell.figures.extend(summary.map(|summary| Figure {
            case: case.id.clone(),
            variant: place.variant.clone(),
            summary,
            llc_multiple: case.actors.first().and_then(Actor::llc_multiple),
        }));
    }
    for absent in record.absent.iter().filter(|absent| absent.absence == Absence::Refused) {
        let Some(place) = place_in_matrix(&absent.coordinates) else {
            continue;
        };
        matrix.cell_at(place).refused.push(absent.clone());
    }
    for cell in matrix.cells.values_mut() {
        cell.figures.sort_by(|a, b| {
            let in_order = a.walks_in_order().cmp(&b.walks_in_order()).reverse();
            in_order.then(b.summary.sum.median.total_cmp(&a.summary.sum.median))
        });
    }
    matrix.cpu_groups.sort();
    matrix.nodes.sort_unstable();
    matrix
}

impl Pairs {
    fn cell_at(&mut self, place: &PairCoordinates) -> &mut Cell {
        let key = (place.index, place.memory_node, place.kernel.clone(), place.threads);
        self.cells.entry(key).or_default()
    }

    fn add_borders(&mut self, place: &PairCoordinates, case: &Case) {
        if !self.cpu_groups.iter().any(|row| row.index == place.index) {
            let cpus = case.actors.first().map(Actor::cpus).cloned().unwrap_or_default();
            self.cpu_groups.push(CpuGroupRow {
                index: place.index,
                group_by: place.group_by,
                initiator: place.initiator,
                cpu_node: place.cpu_node,
                cpus,
            });
        }
        if !self.nodes.contains(&place.memory_node) {
            self.nodes.push(place.memory_node);
        }
        if !self.kernels.contains(&place.kernel) {
            self.kernels.push(place.kernel.clone());
        }
    }
}
