//! A run of many machines as a document.

use nearfar_fleet::{FleetComparison, FleetDrift, FleetMachine, VerdictKind};
use nearfar_record::Executor;

use super::figures::count;
use super::fleet::{groups, problems, sentences, table};
use super::fleet_drift::{breaks, changes};
use super::tiles::{Tile, TileKind, TileValue};
use crate::answer::Part;
use crate::document::{Document, PROGRAM, Section};
use crate::figure::{Figure, Unit};
use crate::table::{Cell, Column, ONE, Table, WORDS};

/// Machines that a table of all of them has at most; .csv has all.
const MOST_ROWS: usize = 1000;

/// A run as a document, with what changed since earlier ones.
pub fn fleet_document(found: &FleetComparison, drift: Option<&FleetDrift>) -> Document {
    let is_simulated = found.groups.iter().any(|group| group.kind.executor == Executor::Simulated);
    let simulated = "SIMULATED: figures of simulated machines were computed, not measured.";
    let tables = |parts: Vec<Option<Part>>| -> Vec<Table> {
        let tables = parts.into_iter().flatten().filter_map(|part| match part {
            Part::Table { table, .. } => Some(table),
            _ => None,
        });
        tables.collect()
    };
    let short = tables(vec![table(found, VerdictKind::Bad), table(found, VerdictKind::Again)]);
    let about = "Cells against the peers' median of their kind. What fell short once may be chance; bad is who did so again.";
    let changed = drift
        .map(|drift| [changes(drift), breaks(drift)].into_iter().flatten().collect::<Vec<_>>());
    let sections = [
        Some(Section::new("fleet", "Machines by cells", about, short)),
        drift.map(|_| {
            let about = "Each machine against its peers of the same run, so that what changes for all is not seen here.";
            Section::new("fleet-drift", "Over runs", about, changed.unwrap_or_default())
        }),
        Some(Section::new("fleet-machines", "All machines", "", vec![machines(found)])),
        Some(Section::new("fleet-kinds", "Kinds", "Machines are compared with those of their kind.", vec![groups(found)])),
        Section::new("fleet-problems", "Problems", "", tables(vec![problems(found)])).unless_empty(),
    ];
    Document {
        title: format!("{}, {}", found.folder, found.compared),
        is_simulated,
        program: PROGRAM,
        cautions: is_simulated.then(|| simulated.into()).into_iter().collect(),
        summary: summary(found),
        tiles: tiles(found),
        health: None,
        matrices: Vec::new(),
        sections: sections.into_iter().flatten().collect(),
        paper_tables: Vec::new(),
    }
}

fn summary(found: &FleetComparison) -> Vec<String> {
    let words = sentences(found).into_iter().filter_map(|part| match part {
        Part::Words { first, words, .. } => Some(format!("{first}{words}.")),
        _ => None,
    });
    words.collect()
}

fn tiles(found: &FleetComparison) -> Vec<Tile> {
    let tile = |kind, label: &str, of: usize, note: &str| {
        let value = TileValue::new(
            Cell::text(of),
            format!("of {}", count(found.machines.len(), "machine")),
        );
        Tile::new(kind, label, vec![value], note.into())
    };
    let of = |verdict| found.verdicts.get(&verdict).copied().unwrap_or_default();
    let unjudged = of(VerdictKind::Unknown);
    vec![
        tile(TileKind::Worse, "Bad", of(VerdictKind::Bad), "fell short again"),
        tile(
            TileKind::Unclear,
            "Again",
            of(VerdictKind::Again),
            "fell short once, which may be chance",
        ),
        tile(TileKind::Unclear, "Not judged", unjudged, "missing, failed, or without peers"),
        tile(TileKind::Same, "Good", of(VerdictKind::Good), "no part short of its peers"),
    ]
}

/// Machines with the largest effect first.
pub(crate) fn by_effect(found: &FleetComparison) -> Vec<&FleetMachine> {
    let effect = |machine: &FleetMachine| {
        let short = machine.shortfalls.iter().map(|shortfall| shortfall.score).fold(0.0, f64::min);
        (std::cmp::Reverse(machine.verdict), short, machine.ratio.unwrap_or(f64::INFINITY))
    };
    let mut machines: Vec<&FleetMachine> = found.machines.iter().collect();
    machines.sort_by(|a, b| {
        let ((verdict, short, ratio), (other, of_short, of_ratio)) = (effect(a), effect(b));
        verdict.cmp(&other).then(short.total_cmp(&of_short)).then(ratio.total_cmp(&of_ratio))
    });
    machines
}

fn machines(found: &FleetComparison) -> Table {
    let row = |machine: &&FleetMachine| {
        let why = machine
            .unknown
            .clone()
            .or_else(|| machine.shortfalls.first().map(nearfar_fleet::Shortfall::words));
        vec![
            Cell::text(&machine.machine),
            Cell::text(machine.verdict),
            machine
                .ratio
                .map_or(Cell::Empty, |ratio| Cell::figure(Figure::new(ratio, None, Unit::One))),
            Cell::text(why.unwrap_or_default()),
            Cell::text(machine.group.as_deref().unwrap_or_default()),
            Cell::text(machine.measured.as_deref().unwrap_or_default()),
            Cell::text(machine.record.as_deref().unwrap_or_default()),
        ]
    };
    let columns = Column::all(
        [
            "machine",
            "verdict",
            "all cells, of its peers' medians",
            "what falls short most",
            "kind",
            "measured",
            "record",
        ],
        [WORDS, WORDS, ONE, WORDS, WORDS, WORDS, WORDS],
    );
    let ordered = by_effect(found);
    let more = ordered.len().saturating_sub(MOST_ROWS);
    let note = (more > 0)
        .then(|| format!("{} more: `nearfar fleet compare DIR --json`.", count(more, "machine")));
    Table::new(
        "Machines, the largest effect first",
        columns,
        ordered.iter().take(MOST_ROWS).map(row),
    )
    .with_notes(note)
}
