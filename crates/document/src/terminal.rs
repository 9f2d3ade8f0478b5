//! A document for a terminal: text of limited width. Subjects know no layout, and this knows no subject.

pub(crate) mod paragraph;
pub(crate) mod table;

use std::collections::BTreeSet;

use paragraph::{folded, paragraph};
use table::{columns_in_blocks, fits, room_for};

use crate::answer::{Answer, Emphasis, Part, Room, Shown};
use crate::figure::{Figure, Unit};
use crate::printable::printable;
use crate::subject::percent_words;
use crate::table::{Cell, Column, Reasons, Table};

/// An answer for the room that there is.
pub(crate) fn answer_text(answer: &Answer, room: Room) -> String {
    let is_shown = |shown: Shown| match shown {
        Shown::Always => true,
        Shown::First => !room.full,
        Shown::Full => room.full,
    };
    let mut text = String::new();
    for (_, part) in answer.0.iter().filter(|(shown, _)| is_shown(*shown)) {
        let set = part_text(part, room);
        // No two empty lines behind each other, and none at the beginning.
        let set = if text.is_empty() || text.ends_with("\n\n") {
            set.trim_start_matches('\n')
        } else {
            &set
        };
        text += set;
    }
    text
}

fn part_text(part: &Part, room: Room) -> String {
    match part {
        Part::Words { first, words, emphasis } => {
            let text = paragraph(room.width, first, &printable(words));
            match text.strip_prefix(first.as_str()).filter(|_| !first.is_empty()) {
                Some(rest) => coloured(first, *emphasis) + rest,
                None => text,
            }
        }
        Part::Title(title) => format!("\n== {} ==\n", printable(title)),
        Part::Table { table, first_rows } if !room.full => {
            let left = table.rows.len().saturating_sub(*first_rows);
            let text = bare_table_text(table, *first_rows, room.width);
            let more =
                if left > 0 { format!("   and {left} more (--full)\n") } else { String::new() };
            text + &more
        }
        Part::Table { table, .. } => table_text(table, room.width),
        Part::ClassMap(map) => map.text(room),
        Part::Lines(lines) => lines.lines().map(|line| format!("{}\n", printable(line))).collect(),
        Part::Gap => "\n".into(),
        Part::Next(commands) => next_text(commands, room.width),
    }
}

fn coloured(words: &str, emphasis: Emphasis) -> String {
    let code = match emphasis {
        Emphasis::Plain => return words.into(),
        Emphasis::Good => 32,
        Emphasis::Caution => 33,
        Emphasis::Failed => 31,
    };
    let shown = words.trim_end();
    format!("\u{1b}[{code}m{shown}\u{1b}[0m{}", &words[shown.len()..])
}

/// Commands below each other, and behind each what it gives where a line holds both.
fn next_text(commands: &[(String, String)], width: usize) -> String {
    const NEXT: &str = "next  ";
    let longest = commands.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (number, (command, what)) in commands.iter().enumerate() {
        let first = if number == 0 { NEXT.into() } else { " ".repeat(NEXT.len()) };
        let line = format!("{first}{command:<longest$}  {what}");
        if line.trim_end().chars().count() <= width {
            text += &format!("{}\n", printable(line.trim_end()));
        } else {
            text += &format!("{first}{}\n", printable(command));
            text += &paragraph(width, &" ".repeat(NEXT.len() + 2), &printable(what));
        }
    }
    text
}

/// A table with all that is to be known of it.
fn table_text(table: &Table, width: usize) -> String {
    let mut reasons = Reasons::default();
    let mut text = grid_text(table, usize::MAX, width, &mut reasons);
    text.extend(reasons.lines().map(|line| paragraph(width, " ", &printable(&line))));
    text.extend(least_confidence(table).map(|least| {
        let words = format!("Few rounds: confidence of the intervals {least:.0} % or more.");
        paragraph(width, " ", &words)
    }));
    text + marks_text(table)
        + &table
            .notes
            .iter()
            .map(|note| paragraph(width, " - ", &printable(note)))
            .collect::<String>()
}

/// The first rows of a table, without notes; why a cell is empty is said below it.
fn bare_table_text(table: &Table, first_rows: usize, width: usize) -> String {
    let mut reasons = Reasons::default();
    let grid = grid_text(table, first_rows, width, &mut reasons);
    let reasons = reasons.lines().map(|line| paragraph(width, " ", &printable(&line)));
    grid + &reasons.collect::<String>() + marks_text(table)
}

fn marks_text(table: &Table) -> &'static str {
    let is_marked = figures(table).any(|figure| figure.only_disturbed);
    if is_marked { " ! every sample was disturbed\n" } else { "" }
}

/// Header and rows; figures with their intervals where a line holds these, else the widest is told below.
fn grid_text<'a>(
    table: &'a Table,
    first_rows: usize,
    width: usize,
    reasons: &mut Reasons<'a>,
) -> String {
    let unit = common_unit(table);
    let heading = |column: &Column| match unit {
        Some(_) => printable(&column.name).into_owned(),
        None => printable(&column.heading()).into_owned(),
    };
    let header: Vec<String> = table.columns.iter().map(heading).collect();
    let is_told = |unit: Unit| table.caption.contains(unit.as_str());
    let of_all = unit.filter(|&unit| !is_told(unit));
    let of_all = of_all.map_or_else(String::new, |unit| format!(", {}", unit.as_str()));
    let has_local = figures(table).any(|figure| figure.is_local);
    let mut rows_by = |with_spread: bool| -> Vec<Vec<String>> {
        let cells = |row: &'a Vec<Cell>| {
            let text = |cell: &'a Cell| match cell {
                Cell::Figure(figure) if has_local => {
                    let mark = if figure.is_local { '*' } else { ' ' };
                    format!("{}{mark}", figure_text(figure, with_spread))
                }
                Cell::Figure(figure) => figure_text(figure, with_spread),
                Cell::Absent { kind, why } => reasons.mark(*kind, why),
                Cell::Text(words) => printable(words).into_owned(),
                Cell::Empty => "-".into(),
            };
            row.iter().map(text).collect()
        };
        table.rows.iter().take(first_rows).map(cells).collect()
    };
    let caption = match table.caption.clone() + &of_all {
        none if none.is_empty() => none,
        caption => paragraph(width, "", &printable(&caption)),
    };
    let is_number = |column: usize| is_number(table, column);
    let last = header.len().saturating_sub(1);
    let mut rows = rows_by(true);
    let mut left_out = String::new();
    if unit.is_some() && !fits(&header, &rows, width) {
        rows = rows_by(false);
        left_out.extend(spread_words(table));
    }
    if !is_number(last) {
        let room = room_for(width, &header, &rows, last);
        for cell in rows.iter_mut().filter_map(|row| row.get_mut(last)) {
            *cell = folded(cell.split(' '), room).join("\n");
        }
    }
    let grid = columns_in_blocks(width, &header, &rows, names_of_rows(table), is_number);
    format!("\n{caption}{grid}{left_out}")
}

/// What all figures of a table count, where several columns have them: said once, above it.
fn common_unit(table: &Table) -> Option<Unit> {
    let mut units = table.columns.iter().filter_map(|column| column.unit);
    let first = units.next().filter(|unit| !unit.as_str().is_empty())?;
    let others: Vec<Unit> = units.collect();
    (others.len() > 1 && others.iter().all(|unit| *unit == first)).then_some(first)
}

/// How many of the first columns it takes to tell the rows apart, of those that hold words; all of them
/// where none do.
fn names_of_rows(table: &Table) -> usize {
    let is_words = |column: usize| {
        let mut cells = table.rows.iter().filter_map(|row| row.get(column));
        cells.all(|cell| matches!(cell, Cell::Text(_)))
    };
    let words = (0..table.columns.len()).take_while(|&column| is_words(column)).count();
    let tells_apart = |names: &usize| {
        let labels = || table.rows.iter().map(|row| row.iter().take(*names));
        let label = |cells: std::iter::Take<std::slice::Iter<'_, Cell>>| -> Vec<String> {
            let words = |cell: &Cell| match cell {
                Cell::Text(words) => words.clone(),
                _ => String::new(),
            };
            cells.map(words).collect()
        };
        labels().map(label).collect::<BTreeSet<_>>().len() == table.rows.len()
    };
    (1..=words).find(tells_apart).unwrap_or(words).max(1)
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

/// How wide the intervals are, and where the widest stands.
fn spread_words(table: &Table) -> Option<String> {
    let row_label = |row: &[Cell]| match row.first() {
        Some(Cell::Text(label)) => Some(format!("{}, ", printable(label))),
        _ => None,
    };
    let mut spreads: Vec<(f64, String)> = Vec::new();
    for row in &table.rows {
        for (cell, column) in row.iter().zip(&table.columns) {
            let Cell::Figure(figure) = cell else { continue };
            let Some(spread) = figure.relative_spread() else { continue };
            let place = row_label(row).unwrap_or_default() + &printable(&column.name);
            spreads.push((spread, place));
        }
    }
    spreads.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (middle, (widest, place)) = (spreads.get(spreads.len() / 2)?.0, spreads.last()?);
    let [middle, widest] = [middle, *widest].map(percent_words);
    Some(format!(" Intervals: median ±{middle}, widest ±{widest} ({place}).\n"))
}

fn figure_text(figure: &Figure, with_spread: bool) -> String {
    let spread = figure.spread().filter(|_| with_spread).unwrap_or_default();
    let mark = if figure.only_disturbed { "!" } else { "" };
    format!("{}{spread}{mark}", figure.text)
}

fn figures(table: &Table) -> impl Iterator<Item = &Figure> {
    table.rows.iter().flatten().filter_map(|cell| match cell {
        Cell::Figure(figure) => Some(figure),
        _ => None,
    })
}

/// In percent, where it is less than usual.
fn least_confidence(table: &Table) -> Option<f64> {
    let unsure = figures(table).filter(|figure| figure.spread().is_some());
    let least = unsure.filter_map(Figure::unusual_confidence).min_by(f64::total_cmp)?;
    Some(100.0 * least)
}
