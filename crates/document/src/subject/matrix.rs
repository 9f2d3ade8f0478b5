//! The two matrices that answer first: the best bandwidth and the idle latency of each group of CPUs with
//! each memory node.

use std::collections::BTreeMap;

use nearfar_machine::Relation;
use nearfar_machine::Relations;
use nearfar_model::{BestPair, BestPairs, PlacedCell, idle_matrix};

use super::figures::count;
use super::latency::cell as latency_cell;
use super::pairs::row_words;
use super::sources::Sources;
use crate::figure::{Counted, Figure, Unit};
use crate::grid::groups;
use crate::table::{Cell, Column, Table};

/// Local pairs are marked in every format.
const LOCAL: &str = "* local memory";

/// Pairs that a note names one by one.
const MOST_NAMED: usize = 4;

/// The best bandwidth of each pair, of one kernel where one covers all; `None` where none was measured.
pub(crate) fn bandwidth(sources: &Sources<'_>, best: &BestPairs<'_>) -> Option<Table> {
    let relations = Relations::new(&sources.record.header.machine);
    let who = &sources.show.measured.who;
    let cell = |pair: &BestPair<'_>| {
        let row = &pair.cell.row;
        let position = relations.position(row.initiator, row.cpu_node, pair.cell.memory_node);
        let Some(figure) = pair.figure() else { return Cell::absent(&pair.cell.cell.refused) };
        let sum = Figure::sum(&figure.summary).of_samples(&figure.case, Counted::Bytes);
        let sum = sum.of_local(position.relation == Some(Relation::Local));
        Cell::Figure(if pair.is_other { sum.bracketed() } else { sum })
    };
    let cells = best.pairs.iter().map(|pair| {
        let place = (pair.cell.row.index, pair.cell.memory_node);
        (place, row_words(pair.cell, who), cell(pair))
    });
    let caption = format!("Best bandwidth, GB/s: {}", kernel_and_threads(best));
    let others: Vec<&PlacedCell> =
        best.pairs.iter().filter(|pair| pair.is_other).map(|pair| pair.cell).collect();
    let other = |(_, of): (_, Vec<&PlacedCell>)| {
        let first = of[0];
        let named = of
            .iter()
            .take(MOST_NAMED)
            .map(|cell| format!("{} on node {}", row_words(cell, who), cell.memory_node));
        let more = match of.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = named.collect::<Vec<_>>().join(", ");
        let threads = count(first.threads as usize, "thread");
        format!("In brackets, by {} with {threads}: {named}{more}.", first.kernel)
    };
    let others = groups(others.iter().copied(), |cell| (cell.kernel.as_str(), cell.threads));
    let table = table(caption, Unit::GbPerS, cells)?;
    Some(table.with_notes(others.into_iter().map(other)))
}

/// The idle time of an access of each pair; `None` where none was measured.
pub(crate) fn latency(sources: &Sources<'_>) -> Option<Table> {
    let relations = Relations::new(&sources.record.header.machine);
    let who = &sources.show.measured.who;
    let chases = idle_matrix(&sources.show.latency);
    let short = chases.iter().filter(|chase| chase.is_short()).count();
    let note = (short > 0)
        .then(|| format!("Caches answered a part of {short} of these: memory alone takes longer."));
    let cells = chases.into_iter().map(|chase| {
        let place = &chase.place;
        let position = relations.position(place.initiator, place.cpu_node, place.memory_node);
        let cell = match latency_cell(chase) {
            Cell::Figure(figure) => {
                Cell::Figure(figure.of_local(position.relation == Some(Relation::Local)))
            }
            other => other,
        };
        ((place.initiator, place.memory_node), who.label(place.initiator), cell)
    });
    let caption = "Idle latency, ns: one thread, one access after the other";
    Some(table(caption.into(), Unit::Ns, cells)?.with_notes(note))
}

/// `load, 16 threads`; `load, all cores of a row` where rows have different numbers.
pub(crate) fn kernel_and_threads(best: &BestPairs<'_>) -> String {
    let threads = match best.threads() {
        Some(1) => "one thread".into(),
        Some(threads) => format!("{threads} threads"),
        None => "all cores of a row".into(),
    };
    format!("{}, {threads}", best.kernel)
}

/// Rows and columns in the order of their numbers.
fn table(
    caption: String,
    unit: Unit,
    cells: impl Iterator<Item = ((u32, u32), String, Cell)>,
) -> Option<Table> {
    let mut rows: BTreeMap<u32, String> = BTreeMap::new();
    let mut placed: BTreeMap<(u32, u32), Cell> = BTreeMap::new();
    for ((row, node), name, cell) in cells {
        rows.entry(row).or_insert(name);
        placed.entry((row, node)).or_insert(cell);
    }
    let mut nodes: Vec<u32> = placed.keys().map(|(_, node)| *node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let is_local = |cell: &Cell| matches!(cell, Cell::Figure(figure) if figure.is_local);
    let has_local = placed.values().any(is_local);
    let lines: Vec<Vec<Cell>> = rows
        .into_iter()
        .map(|(row, name)| {
            let missing = || Cell::not_measured("the record has no such case");
            let cells =
                nodes.iter().map(|node| placed.remove(&(row, *node)).unwrap_or_else(missing));
            std::iter::once(Cell::Text(name)).chain(cells).collect()
        })
        .collect();
    let columns = nodes.iter().map(|node| Column::of(format!("node {node}"), unit));
    let columns = std::iter::once(Column::words("")).chain(columns);
    let table = Table::new(caption, columns, lines).unless_empty()?;
    Some(table.with_notes(has_local.then(|| format!("{LOCAL}."))))
}
