//! Twins within one machine: cells of the pairs matrix that should be equal, and those
//! that fall short of the others.
//! Units: useful bytes/s.          Source: ours; the median absolute deviation is
//! Hampel's (J. Am. Stat. Assoc. 69, 1974).
//! Twins have the same kernel, number of threads and of cores, relation (local, same
//! package, other package), distance by the firmware and kind of memory. A cell falls
//! short when it is below the median of its twins by more than [`FLOOR`] and by more
//! than [`SCORE`] times what the twins' own spread and the rounds' noise explain; or
//! below its twins and as clearly below the other direction of its pair.
//! Holds when: most twins are sound. Fails when: half of them fall short alike (they
//! are then the rule), or a machine is built unevenly in a way that neither the
//! firmware's distances nor a [`HiddenLevel`] tell (its slower half is then spread, and
//! what is alike in both directions goes unseen in it).

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::Machine;
use nearfar_stats::median;
use serde::Serialize;

use crate::hidden_level::{HiddenLevel, hidden_level};
use crate::pairs::pairs;
use crate::place::{Parts, Place};
use crate::record_figures::RecordFigures;
use crate::shortfall::{Explained, Shortfall, explain};
use crate::twin_cell::{TwinCell, twin_cells};
use crate::twin_comparison::Comparisons;
use crate::twin_rule::{FLOOR, NotCompared, SCORE};
use crate::unsteadiness::{Unsteadiness, unsteady_parts};

/// Levels that are looked for at most.
const MOST_LEVELS: usize = 8;

/// What comparing twins found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Twins {
    /// Cells that have twins and were compared.
    #[serde(rename = "cells_compared")]
    pub compared: usize,
    /// Groups of twins.
    pub groups: usize,
    /// Standard deviation of a round that the cells have in common, a fraction.
    pub noise: Option<f64>,
    /// The loss of a whole memory node or initiator that half of its cells would show,
    /// whichever node or initiator it is; at least [`FLOOR`]. `None` where nothing was
    /// compared.
    pub resolution: Option<f64>,
    /// The fewest causes that explain the cells that fall short, the one of most cells
    /// first.
    pub findings: Vec<Shortfall>,
    /// Parts whose rounds scatter more than their twins'.
    pub unsteady: Vec<Unsteadiness>,
    /// Pairs that are further apart than the firmware says.
    pub hidden_levels: Vec<HiddenLevel>,
    /// Cells that fall short alone, too few for a finding.
    #[serde(rename = "cells_alone")]
    pub alone: usize,
    /// Cells that were not compared, by the reason.
    #[serde(rename = "cells_not_compared")]
    pub not_compared: BTreeMap<NotCompared, usize>,
    /// Memory nodes with cells of which none was compared: a loss of theirs does not show.
    pub nodes_not_compared: Vec<u32>,
}

/// Compares the cells of a record's matrix with their twins.
pub fn twins(figures: &RecordFigures<'_>) -> Twins {
    let machine = &figures.record().header.machine;
    let mut not_compared: BTreeMap<NotCompared, usize> = BTreeMap::new();
    let matrix = pairs(figures);
    let (mut cells, noise) = twin_cells(machine, &matrix, &mut not_compared);
    let in_twins: BTreeSet<u32> = cells.iter().map(|cell| cell.node).collect();
    let measured: BTreeSet<u32> = matrix.cells().map(|(_, node, ..)| node).collect();
    let nodes_not_compared: Vec<u32> = measured.difference(&in_twins).copied().collect();
    let compared = cells.len();
    let groups = count_groups(&cells);
    let parts = Parts::new(&cells);
    let (unsteady, set_aside) = unsteady_parts(&cells, &parts, noise);
    let named: Vec<Place> = unsteady.iter().map(|part| part.place).collect();
    let mut hidden_levels = Vec::new();
    loop {
        let explained = explain(&cells, &parts, set_aside.clone(), &named);
        let is_open = hidden_levels.len() < MOST_LEVELS;
        let level = is_open.then(|| hidden_level(&explained, &cells, &parts)).flatten();
        let Some((level, members)) = level else {
            let Explained { mut findings, alone, comparisons } = explained;
            for finding in &mut findings {
                finding.memory_share = match finding.place {
                    Place::Memory { node } => memory_share(machine, node),
                    _ => None,
                };
            }
            let resolution = resolution(&parts, &comparisons);
            return Twins {
                compared,
                groups,
                noise,
                resolution,
                findings,
                unsteady,
                hidden_levels,
                alone,
                not_compared,
                nodes_not_compared,
            };
        };
        hidden_levels.push(level);
        set_apart(&mut cells, &members);
    }
}

fn count_groups(cells: &[TwinCell]) -> usize {
    cells.iter().map(|cell| cell.group + 1).max().unwrap_or(0)
}

/// Makes cells twins of each other only, group by group.
fn set_apart(cells: &mut [TwinCell], members: &[usize]) {
    let mut next = count_groups(cells);
    let mut apart: BTreeMap<usize, usize> = BTreeMap::new();
    for &cell in members {
        cells[cell].group = *apart.entry(cells[cell].group).or_insert_with(|| {
            next += 1;
            next - 1
        });
    }
}

/// The loss that half of the cells of any one memory node or initiator would show.
fn resolution(parts: &Parts, comparisons: &Comparisons<'_>) -> Option<f64> {
    parts
        .places
        .iter()
        .filter(|(place, _)| matches!(place, Place::Memory { .. } | Place::Initiator { .. }))
        .filter_map(|(_, cells)| {
            let deviations: Vec<f64> = cells
                .iter()
                .filter(|&&cell| !comparisons.is_set_aside(cell))
                .filter_map(|&cell| Some(comparisons.of(cell)?.deviation))
                .collect();
            Some(1.0 - (-SCORE * median(&deviations)?).exp())
        })
        .max_by(f64::total_cmp)
        .map(|loss| loss.max(FLOOR))
}

/// A node's size / median size of the other nodes of its kind.
fn memory_share(machine: &Machine, node: u32) -> Option<f64> {
    let own = machine.node(node)?;
    let others: Option<Vec<f64>> = machine
        .nodes
        .iter()
        .filter(|other| other.kind == own.kind && other.os_index != node)
        .map(|other| other.memory_bytes.map(|bytes| bytes as f64))
        .collect();
    Some(own.memory_bytes? as f64 / median(&others?)?).filter(|share| share.is_finite())
}
