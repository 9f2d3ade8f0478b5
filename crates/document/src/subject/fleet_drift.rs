//! Machines over runs: what changed, and when.

use nearfar_fleet::{ChangeShape, FleetDrift, MachineDrift, PartChange};
use nearfar_units::{format_significant, shell_word};

use super::figures::{count, percent_words};
use super::fleet::part_words;
use crate::answer::{Answer, Emphasis, Part, Shown};
use crate::table::{Cell, Column, Table};

/// Rows of a table of the first screen.
const FIRST_ROWS: usize = 12;

/// `fleet drift` for people.
pub fn fleet_drift_answer(found: &FleetDrift) -> Answer {
    let worse = found.worse().count();
    let (first, last) = (&found.runs[0].started, &found.runs[found.runs.len() - 1].started);
    let said = format!(
        "{} of {} fell in {}, {first} to {last}",
        worse,
        count(found.machines.len(), "machine"),
        count(found.runs.len(), "run")
    );
    let emphasis = if worse > 0 { Emphasis::Failed } else { Emphasis::Good };
    let said = Part::Words { first: String::new(), words: said, emphasis };
    let shifts = found.fleet_shifts.iter().map(|shift| {
        let words = format!(
            "all machines of kind {} together changed to {} of what they had at {}",
            shift.group,
            format_significant(shift.ratio, 3),
            found.runs[shift.run].folder
        );
        Part::Words { first: "Fleet: ".into(), words, emphasis: Emphasis::Caution }
    });
    let folder = shell_word(&found.runs[found.runs.len() - 1].folder);
    let tables = [changes(found), breaks(found)].into_iter().flatten();
    Answer::default()
        .and(Shown::Always, said)
        .and_all(Shown::Always, shifts)
        .and_gap()
        .and_all(Shown::Always, tables.map(|table| Part::Table { table, first_rows: FIRST_ROWS }))
        .and_next([(format!("nearfar fleet compare {folder}").as_str(), "the last run by itself")])
}

/// What changed beyond chance.
pub(crate) fn changes(found: &FleetDrift) -> Option<Table> {
    let row = |machine: &MachineDrift, change: &PartChange| {
        vec![
            Cell::text(&machine.machine),
            Cell::text(part_words(&change.part)),
            Cell::text(match change.shape {
                ChangeShape::Step => "step",
                ChangeShape::Slope => "slope",
            }),
            Cell::text(percent_words(change.ratio - 1.0)),
            Cell::text(&found.runs[change.run].started),
            Cell::text(format_significant(change.score, 2)),
        ]
    };
    let rows = found
        .machines
        .iter()
        .flat_map(|machine| machine.changes.iter().map(move |change| row(machine, change)));
    let columns = ["machine", "part", "shape", "change", "since", "score"].map(Column::words);
    Table::new("Changes against peers", columns, rows).unless_empty()
}

/// Where machines became other ones.
pub(crate) fn breaks(found: &FleetDrift) -> Option<Table> {
    let rows = found.machines.iter().flat_map(|machine| {
        machine.breaks.iter().map(|one| {
            vec![
                Cell::text(&machine.machine),
                Cell::text(&found.runs[one.run].started),
                Cell::text(one.changed.join("; ")),
            ]
        })
    });
    let columns = ["machine", "since", "what"].map(Column::words);
    let note = "What follows is compared with nothing before it.".to_string();
    Some(Table::new("Changed configurations", columns, rows).unless_empty()?.with_notes([note]))
}
