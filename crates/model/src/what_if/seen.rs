//! What a record says of the figures that changes are asked of.

use std::collections::BTreeMap;

use nearfar_machine::{Machine, MemoryKind, Relation, Relations};
use nearfar_record::{Estimate, Experiment, Suite};
use nearfar_units::{BytesPerSecond, Nanoseconds};

use crate::chases::{chases, idle_matrix};
use crate::inapplicable::{Inapplicable, measuring_command};
use crate::pairs::{PlacedCell, pairs};
use crate::record_figures::RecordFigures;

/// The kernel that changes are asked of: what it moves is what crosses.
pub(super) const KERNEL: &str = "load";

/// A pair of initiator and node.
#[derive(Debug, Clone)]
pub(super) struct SeenPair {
    pub node: u32,
    pub kind: MemoryKind,
    pub relation: Option<Relation>,
    /// With the most threads.
    pub rate: Estimate<BytesPerSecond>,
    /// With half of them / with all; `None` where not measured.
    pub half_share: Option<f64>,
}

/// An idle latency.
#[derive(Debug, Clone)]
pub(super) struct SeenLatency {
    pub initiator: u32,
    pub node: u32,
    pub kind: MemoryKind,
    pub relation: Option<Relation>,
    pub time: Estimate<Nanoseconds>,
}

/// What the record says.
pub(super) struct Seen<'a> {
    pub machine: &'a Machine,
    pub pairs: Vec<SeenPair>,
    pub latencies: Vec<SeenLatency>,
    /// The most that any initiator moved to or from a node, bytes/s.
    pub most_of_node: BTreeMap<u32, f64>,
}

impl<'a> Seen<'a> {
    pub fn of(figures: &RecordFigures<'a>) -> Result<Self, Inapplicable> {
        let record = figures.record();
        let machine = &record.header.machine;
        let relations = Relations::new(machine);
        let placed = pairs(figures).placed();
        let cells: Vec<&PlacedCell> = placed.iter().filter(|cell| cell.kernel == KERNEL).collect();
        let most_threads = |of: &PlacedCell| {
            let alike = cells.iter().filter(|cell| cell.row == of.row);
            alike.map(|cell| cell.threads).max().unwrap_or(of.threads)
        };
        let rate = |cell: &PlacedCell| cell.cell.best().map(|it| it.summary.sum.median);
        let mut seen = Self {
            machine,
            pairs: Vec::new(),
            latencies: Vec::new(),
            most_of_node: BTreeMap::new(),
        };
        for cell in &cells {
            let Some(best) = cell.cell.best() else { continue };
            let most = seen.most_of_node.entry(cell.memory_node).or_default();
            *most = most.max(best.summary.sum.median);
            let all = most_threads(cell);
            if cell.threads != all {
                continue;
            }
            let half = cells.iter().find(|other| {
                other.row == cell.row
                    && other.memory_node == cell.memory_node
                    && other.threads == all.div_ceil(2)
                    && all > 1
            });
            let rate_of_half = half.and_then(|half| rate(half));
            let (initiator, node) = (cell.row.initiator, cell.memory_node);
            let position = relations.position(initiator, cell.row.cpu_node, node);
            seen.pairs.push(SeenPair {
                node,
                kind: position.memory_kind,
                relation: position.relation,
                rate: Estimate::of_rounds(&best.summary.sum, &best.case),
                half_share: rate_of_half.map(|half| half / best.summary.sum.median),
            });
        }
        if seen.pairs.is_empty() {
            let command = measuring_command(record, &[Experiment::Pairs], Suite::Standard);
            let why = format!("the record holds no figures of {KERNEL} on pairs");
            return Err(Inapplicable { why, remedy: Some(command) });
        }
        let all = chases(figures);
        for chase in idle_matrix(&all) {
            let (place, Some(time)) = (&chase.place, chase.time.as_ref()) else { continue };
            let position = relations.position(place.initiator, place.cpu_node, place.memory_node);
            seen.latencies.push(SeenLatency {
                initiator: place.initiator,
                node: place.memory_node,
                kind: position.memory_kind,
                relation: position.relation,
                time: time.time.clone(),
            });
        }
        Ok(seen)
    }

    /// Pairs of ordinary memory that lie so, by their rate.
    pub fn ordinary(&self, relation: Relation) -> Vec<&SeenPair> {
        let alike = self.pairs.iter().filter(|it| it.kind.may_be_ordinary());
        let mut found: Vec<&SeenPair> = alike.filter(|it| it.relation == Some(relation)).collect();
        found.sort_by(|a, b| a.rate.value.0.total_cmp(&b.rate.value.0));
        found
    }

    /// The pair in the middle of them; of an even number the slower one.
    pub fn middle(&self, relation: Relation) -> Option<&SeenPair> {
        let found = self.ordinary(relation);
        found.get(found.len().saturating_sub(1) / 2).copied()
    }

    /// The best pair of a CXL node.
    pub fn cxl(&self) -> Option<&SeenPair> {
        let of_cxl = self.pairs.iter().filter(|it| it.kind == MemoryKind::Cxl);
        of_cxl.max_by(|a, b| a.rate.value.0.total_cmp(&b.rate.value.0))
    }

    /// The latency in the middle of those that lie so; of an even number the longer one.
    pub fn middle_latency(&self, relation: Relation) -> Option<&SeenLatency> {
        let alike = self.latencies.iter().filter(|it| it.kind.may_be_ordinary());
        let mut found: Vec<_> = alike.filter(|it| it.relation == Some(relation)).collect();
        found.sort_by(|a, b| a.time.value.0.total_cmp(&b.time.value.0));
        found.get(found.len() / 2).copied()
    }

    /// The shortest latency of CXL memory.
    pub fn cxl_latency(&self) -> Option<&SeenLatency> {
        let of_cxl = self.latencies.iter().filter(|it| it.kind == MemoryKind::Cxl);
        of_cxl.min_by(|a, b| a.time.value.0.total_cmp(&b.time.value.0))
    }
}
