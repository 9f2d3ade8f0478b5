//! What two machines of different kinds reach by where memory lies.

use nearfar_model::{ComparedRole, RecordComparison, RoleThreads};

use super::tiles::relation_words;
use crate::document::Section;
use crate::figure::Figure;
use crate::table::{Cell, Column, Table};

/// What both reach by where memory lies, of machines of different kinds.
pub(super) fn roles(found: &RecordComparison) -> Option<Section> {
    let table = role_table(found)?;
    Some(Section::new(
        "roles",
        "By where memory lies",
        "The machines differ in their nodes or groups of CPUs: what the same kernel reaches from near and \
         from far, the median over pairs.",
        vec![table],
    ))
}

pub(super) fn role_table(found: &RecordComparison) -> Option<Table> {
    let row = |role: &ComparedRole| {
        let ([a, b], unit) = role.figures.shown();
        let figure = |value| Cell::Figure(Figure::new(value, None, unit));
        let what = match &role.kernel {
            Some(kernel) => format!("{kernel}, {}, {}", threads_words(role.threads), unit.as_str()),
            None => format!("idle latency, {}", unit.as_str()),
        };
        vec![
            Cell::text(relation_words(role.memory)),
            Cell::text(what),
            figure(a),
            figure(b),
            Cell::Figure(Figure::ratio(role.ratio)),
            Cell::text(format!("{}, {}", role.a_pairs, role.b_pairs)),
        ]
    };
    let names = ["memory", "what", "A", "B", "B / A", "pairs A, B"].map(Column::words);
    Table::new("By where memory lies", names, found.roles.iter().map(row)).unless_empty()
}

fn threads_words(threads: RoleThreads) -> &'static str {
    match threads {
        RoleThreads::One => "one thread",
        RoleThreads::All => "all cores of a group",
    }
}
