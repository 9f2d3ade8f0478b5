//! A document for a terminal: text of limited width. Subjects know no layout, and this knows no subject.

pub(crate) mod paragraph;
pub(crate) mod table;

use paragraph::{folded, paragraph, paragraph_with_code};
use table::{columns_in_blocks, room_for};

use crate::document::Section;
use crate::figure::{Figure, Unit};
use crate::printable::printable;
use crate::table::{Cell, Column, Reasons, Table};

/// A section: what it shows, its tables, what follows from it.
pub(crate) fn section_text(section: &Section) -> String {
    let mut text = tables_text(section);
    if !section.findings.is_empty() {
        text.push('\n');
    }
    let findings = section.findings.iter();
    let findings = findings.map(|finding| paragraph_with_code("-> ", &printable(finding)));
    text + &findings.collect::<String>()
}

/// The same without what follows from it.
pub(crate) fn tables_text(section: &Section) -> String {
    let tables = section.tables.iter().map(table_text);
    format!("\n{}{}", paragraph("", &printable(&section.about)), tables.collect::<String>())
}

fn table_text(table: &Table) -> String {
    let unit = common_unit(table);
    let heading = |column: &Column| match unit {
        Some(_) => printable(&column.name).into_owned(),
        None => printable(&column.heading()).into_owned(),
    };
    let header: Vec<String> = table.columns.iter().map(heading).collect();
    let of_all = unit.map_or_else(String::new, |unit| format!(", {}", unit.as_str()));
    let mut reasons = Reasons::default();
    let mut rows: Vec<Vec<String>> = table
        .rows
        .iter()
        .map(|row| row.iter().map(|cell| cell_text(cell, &mut reasons)).collect())
        .collect();
    let mut text = format!("\n{}", paragraph("", &printable(&(table.caption.clone() + &of_all))));
    let is_number = |column: usize| is_number(table, column);
    let last = header.len().saturating_sub(1);
    if !is_number(last) {
        let room = room_for(&header, &rows, last);
        for cell in rows.iter_mut().filter_map(|row| row.get_mut(last)) {
            *cell = folded(cell.split(' '), room).join("\n");
        }
    }
    text += &columns_in_blocks(&header, &rows, is_number);
    text.extend(reasons.lines().map(|line| paragraph(" ", &printable(&line))));
    text.extend(least_confidence(table).map(|least| {
        paragraph(" ", &format!("Few rounds: confidence of the intervals {least:.0} % or more."))
    }));
    if figures(table).any(|figure| figure.only_disturbed) {
        text += " ! every sample was disturbed\n";
    }
    text.extend(table.notes.iter().map(|note| paragraph(" - ", &printable(note))));
    text
}

/// What all figures of a table count, where several columns have them: said once, above it.
fn common_unit(table: &Table) -> Option<Unit> {
    let mut units = table.columns.iter().filter_map(|column| column.unit);
    let first = units.next().filter(|unit| !unit.as_str().is_empty())?;
    let others: Vec<Unit> = units.collect();
    (others.len() > 1 && others.iter().all(|unit| *unit == first)).then_some(first)
}

/// Whether a column holds figures, or words that begin with a number.
fn is_number(table: &Table, column: usize) -> bool {
    let is_number = |cell: &Cell| match cell {
        Cell::Text(words) => {
            words.trim_start_matches('-').starts_with(|first: char| first.is_ascii_digit())
        }
        _ => true,
    };
    let has_unit = table.columns.get(column).is_some_and(|column| column.unit.is_some());
    has_unit || table.rows.iter().filter_map(|row| row.get(column)).all(is_number)
}

fn cell_text<'a>(cell: &'a Cell, reasons: &mut Reasons<'a>) -> String {
    match cell {
        Cell::Figure(figure) => {
            let spread = figure.plus_minus().map_or_else(String::new, |it| format!(" ±{it}"));
            let mark = if figure.only_disturbed { "!" } else { "" };
            format!("{}{spread}{mark}", figure.text)
        }
        Cell::Absent { kind, why } => reasons.mark(*kind, why),
        Cell::Text(words) => printable(words).into_owned(),
        Cell::Empty => "-".into(),
    }
}

fn figures(table: &Table) -> impl Iterator<Item = &Figure> {
    table.rows.iter().flatten().filter_map(|cell| match cell {
        Cell::Figure(figure) => Some(figure),
        _ => None,
    })
}

/// In percent, where it is less than usual.
fn least_confidence(table: &Table) -> Option<f64> {
    let unsure = figures(table).filter(|figure| figure.plus_minus().is_some());
    let least = unsure.filter_map(Figure::unusual_confidence).min_by(f64::total_cmp)?;
    Some(100.0 * least)
}
