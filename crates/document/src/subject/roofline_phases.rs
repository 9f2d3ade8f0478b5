//! Phases of the papers' programs below the roofs of where they ran.

use nearfar_model::{Chart, LEAST_OF_A_LIMIT, PhaseLimit, PhasePoint};

use super::figures::percent_words;
use super::who::Who;
use crate::figure::Figure;
use crate::table::{Cell, Column, GB, GFLOP, ONE, Table, WORDS};

/// Phases of the papers' programs below the roofs of their placement.
pub(crate) fn phases(chart: &Chart, who: &Who) -> Option<Table> {
    let row = |of: &PhasePoint| {
        vec![
            Cell::text(format!("{} {}, node {}", of.workload, of.phase, of.memory_node)),
            Cell::text(percent_words(of.time_share)),
            Cell::figure(of.intensity.map(Figure::ratio)),
            Cell::figure((of.flops.0 > 0.0).then(|| Figure::plain(of.flops))),
            Cell::Figure(Figure::plain(of.bandwidth)),
            of.ratio.map_or(Cell::Empty, |it| Cell::text(percent_words(it))),
            of.limit.map_or(Cell::Empty, |it| Cell::text(limit_words(it))),
        ]
    };
    let columns =
        ["phase, its pages' node", "time", "FLOPs/B", "reached", "declared", "of roof", "limit"];
    Table::new(
        format!("Phases of the papers' programs on {} below their roofs", who.cpus(chart.initiator)),
        Column::all(columns, [WORDS, WORDS, ONE, GFLOP, GB, WORDS, WORDS]),
        chart.workloads.iter().map(row),
    )
    .with_notes(vec![format!(
        "Bytes are those that a phase's loops move between memory and caches, declared and not counted. \
         Of the roof of loads from its node and of the ceiling, the one that it reaches most of limits \
         it; below {} of both something else does: latency, caches, waiting.",
        percent_words(LEAST_OF_A_LIMIT)
    )])
    .unless_empty()
}

/// What limits a phase.
pub(crate) fn limit_words(limit: PhaseLimit) -> &'static str {
    match limit {
        PhaseLimit::Memory => "memory",
        PhaseLimit::Arithmetic => "arithmetic",
        PhaseLimit::Other => "other",
    }
}
