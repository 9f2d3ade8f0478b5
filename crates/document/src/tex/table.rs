//! Tables of a document over as many pages as they need, in blocks of columns where a page is too
//! narrow for all.

use std::io::{self, Write};

use super::escape::text;
use crate::table::{Cell, Reasons, Table};

/// Points of a line, less than the page's 495 for the rounding of widths.
const LINE: f64 = 490.0;
/// Points between two columns.
const GAP: f64 = 8.0;
/// Points by letter of a table's words, which are of 8 points: of capitals and the widest, and of
/// others; an interval's letters are of 5 points.
const WIDE_LETTER: f64 = 6.9;
const LETTER: f64 = 4.6;
const SMALL_LETTER: f64 = 3.0;
/// Points that a column of words has at least.
const NARROW: f64 = 48.0;
/// Points of the first column, where it stands in several blocks: eight nodes fit beside it.
const FIRST: f64 = 108.0;
/// Points of a heading before it is broken between words.
const HEADING: f64 = 36.0;

/// Writes a table with its caption, reasons and notes.
pub(super) fn write_table(table: &Table, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\\tablehead{{{}pt}}{{{}}}", height(table), text(&table.caption))?;
    let shades = Shades::of(table);
    let mut reasons = Reasons::default();
    for block in blocks(table) {
        write_block(table, &block, shades.as_ref(), &mut reasons, out)?;
    }
    for line in reasons.lines().chain(table.notes.iter().cloned()) {
        writeln!(out, "{{\\footnotesize {}\\par}}", text(&line))?;
    }
    Ok(())
}

/// Points that a table is high, or the part of a high one that stands together.
fn height(table: &Table) -> usize {
    const HEAD: usize = 50;
    const MOST: usize = 200;
    let of_row = |row: &Vec<Cell>| {
        if row.iter().any(|cell| shown_interval(cell).is_some()) { 18 } else { 11 }
    };
    (HEAD + table.rows.iter().map(of_row).sum::<usize>()).min(MOST)
}

/// A column and its width in points.
#[derive(Clone, Copy)]
struct Width {
    column: usize,
    points: f64,
    is_number: bool,
}

fn write_block<'t>(
    table: &'t Table,
    block: &[Width],
    shades: Option<&Shades>,
    reasons: &mut Reasons<'t>,
    out: &mut impl Write,
) -> io::Result<()> {
    let columns: String = block
        .iter()
        .map(|width| {
            format!("{}{{{:.1}pt}}", if width.is_number { 'R' } else { 'L' }, width.points)
        })
        .collect();
    // A row begins with a group: a bracket behind the end of the row before it would be taken for
    // that one's option.
    let headings: Vec<String> =
        block.iter().map(|width| text(&table.columns[width.column].heading())).collect();
    writeln!(out, "{{\\footnotesize\\begin{{longtable}}[l]{{{columns}}}\\toprule")?;
    writeln!(out, "{} \\\\ \\midrule\\endhead", headings.join(" & "))?;
    writeln!(out, "\\bottomrule\\endfoot")?;
    for row in &table.rows {
        let cells = || block.iter().filter_map(|width| row.get(width.column));
        let cells: Vec<String> = cells()
            .map(|cell| shaded(cell, shades) + &words(cell, reasons) + &interval(cell))
            .collect();
        writeln!(out, "{{}}{} \\\\", cells.join(" & "))?;
    }
    writeln!(out, "\\end{{longtable}}}}")
}

fn words<'t>(cell: &'t Cell, reasons: &mut Reasons<'t>) -> String {
    match cell {
        Cell::Absent { kind, why } => reasons.mark(*kind, why),
        Cell::Figure(_) | Cell::Text(_) | Cell::Empty => text(&cell.words()),
    }
}

fn interval(cell: &Cell) -> String {
    shown_interval(cell)
        .map_or_else(String::new, |words| format!("\\newline\\between{{{}}}", text(&words)))
}

/// The interval of a figure, where it says more than the figure.
fn shown_interval(cell: &Cell) -> Option<String> {
    let Cell::Figure(figure) = cell else { return None };
    figure.interval_text.clone().filter(|words| *words != figure.text)
}

fn shaded(cell: &Cell, shades: Option<&Shades>) -> String {
    match (cell, shades) {
        (Cell::Figure(figure), Some(shades)) => shades.colour(figure.value),
        _ => String::new(),
    }
}

/// Colours of a grid of figures of one unit, by which it is a map.
struct Shades {
    least: f64,
    most: f64,
}

impl Shades {
    /// Of tables with rows and columns of one unit; others compare nothing.
    fn of(table: &Table) -> Option<Self> {
        let units: Vec<_> = table.columns.iter().skip(1).map(|column| column.unit).collect();
        let is_grid =
            units.len() > 1 && units.iter().all(|unit| unit.is_some() && *unit == units[0]);
        let values: Vec<f64> = table
            .rows
            .iter()
            .flatten()
            .filter_map(|cell| match cell {
                Cell::Figure(figure) if figure.value.is_finite() => Some(figure.value),
                _ => None,
            })
            .collect();
        // From 0 on, as on the page: what differs by less than is seen looks alike.
        let least = values.iter().copied().min_by(f64::total_cmp)?.min(0.0);
        let most = values.iter().copied().max_by(f64::total_cmp)?;
        (is_grid && most > least).then_some(Self { least, most })
    }

    fn colour(&self, value: f64) -> String {
        let place = (value - self.least) / (self.most - self.least);
        if place.is_finite() {
            format!("\\cellcolor{{blue!{:.0}}}", 3.0 + 24.0 * place.clamp(0.0, 1.0))
        } else {
            String::new()
        }
    }
}

/// The columns of each block with their widths; the first column stands in all.
fn blocks(table: &Table) -> Vec<Vec<Width>> {
    let natural: Vec<Width> = (0..table.columns.len()).map(|column| width(table, column)).collect();
    let total = |widths: &[Width]| widths.iter().map(|width| width.points + GAP).sum::<f64>();
    let least: f64 = natural.iter().map(|width| fewest(width) + GAP).sum();
    if least <= LINE {
        return vec![fitted(natural, LINE)];
    }
    let Some((first, others)) = natural.split_first() else { return Vec::new() };
    let first = Width { points: first.points.min(FIRST), ..*first };
    let mut blocks: Vec<Vec<Width>> = Vec::new();
    for &width in others {
        let width = Width { points: width.points.min(LINE / 2.0), ..width };
        match blocks.last_mut() {
            Some(block) if total(block) + width.points + GAP <= LINE => block.push(width),
            _ => blocks.push(vec![first, width]),
        }
    }
    blocks
}

/// Points below which a column is not narrowed.
fn fewest(width: &Width) -> f64 {
    if width.is_number { width.points } else { width.points.min(NARROW) }
}

/// Columns of words share what is left of a line: each has what it needs, or an equal part.
fn fitted(mut widths: Vec<Width>, line: f64) -> Vec<Width> {
    let mut room = line - widths.iter().map(|width| GAP + width.points).sum::<f64>();
    let mut order: Vec<usize> = (0..widths.len()).filter(|&at| !widths[at].is_number).collect();
    if room >= 0.0 {
        return widths;
    }
    room += order.iter().map(|&at| widths[at].points).sum::<f64>();
    order.sort_by(|&one, &other| widths[one].points.total_cmp(&widths[other].points));
    let mut left = order.len();
    for at in order {
        let part = room / left as f64;
        widths[at].points = widths[at].points.min(part);
        room -= widths[at].points;
        left -= 1;
    }
    widths
}

/// What a column would need on a line without end.
fn width(table: &Table, column: usize) -> Width {
    let cells = || table.rows.iter().filter_map(|row| row.get(column));
    let heading = table.columns[column].heading();
    let longest_word = heading.split(' ').map(points).max_by(f64::total_cmp).unwrap_or(0.0);
    let of_heading = longest_word.max(points(&heading).min(HEADING));
    let of_cell = |cell: &Cell| {
        // Behind an absence stands the number of its reason.
        let number = if matches!(cell, Cell::Absent { .. }) { points(" (9)") } else { 0.0 };
        points(&cell.words()) + number
    };
    let of_interval = |cell: &Cell| shown_interval(cell).map_or(0.0, |words| small_points(&words));
    let of_cells = cells().map(|cell| of_cell(cell).max(of_interval(cell)));
    let points = of_cells.fold(of_heading, f64::max) + 2.0;
    Width { column, points, is_number: table.columns[column].unit.is_some() }
}

fn points(words: &str) -> f64 {
    let of_letter = |letter: char| match letter {
        'A'..='Z' | 'm' | 'w' | '%' | '@' | '#' => WIDE_LETTER,
        // Named by its number.
        _ if !letter.is_ascii() => 8.0 * LETTER,
        _ => LETTER,
    };
    words.chars().map(of_letter).sum()
}

fn small_points(words: &str) -> f64 {
    words.chars().map(|_| SMALL_LETTER).sum()
}
