//! The papers' tables, printed and computed again.

use nearfar_reproduce::{Measure, Paper, Row, Status};
use serde::Serialize;

use super::figures::{count, significant};
use crate::answer::{Answer, Emphasis, Part, Shown};
use crate::table::{Cell, Column, Table};

/// The papers' tables, computed again; `reproduce --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReproducedPapers {
    pub schema: &'static str,
    /// One entry for each paper.
    pub papers: Vec<ReproducedPaper>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReproducedPaper {
    /// As in `docs/references.md`.
    pub key: String,
    /// Author, title, place and year.
    pub title: String,
    /// Rows that agree.
    pub pass: usize,
    /// Those of them that agree because a simulated machine was given the printed value.
    pub round_trip: usize,
    /// Those of them that a model predicts.
    pub predicted: usize,
    /// Those of them whose error is below the paper's bound of it.
    pub within_bound: usize,
    /// Those of them that are consistency checks, computed from the paper's own numbers alone.
    pub from_inputs: usize,
    /// Rows that differ for a stated reason that holds.
    pub explained: usize,
    /// Rows that differ for no known reason.
    pub fail: usize,
    /// Inputs, which are not counted.
    pub given: usize,
    /// The rows, in the order of the paper.
    pub rows: Vec<Row>,
}

impl ReproducedPapers {
    pub fn new(papers: &[Paper]) -> Self {
        let view = |paper: &Paper| ReproducedPaper {
            key: paper.key.clone(),
            title: paper.title.clone(),
            pass: paper.count(Status::Pass),
            round_trip: paper.round_trips(),
            predicted: paper.predictions(),
            within_bound: paper.bounds(),
            from_inputs: paper.from_inputs(),
            explained: paper.count(Status::Explained),
            fail: paper.count(Status::Fail),
            given: paper.count(Status::Given),
            rows: paper.rows.clone(),
        };
        Self { schema: "nearfar.reproduce/1", papers: papers.iter().map(view).collect() }
    }

    /// Whether a row differs for no known reason.
    pub fn has_failed(&self) -> bool {
        self.papers.iter().any(|paper| paper.fail > 0)
    }

    /// For people: the count of rows by paper, or of one paper by its tables.
    pub fn answer(&self) -> Answer {
        if let [paper] = self.papers.as_slice() {
            return paper.answer();
        }
        let row = |paper: &ReproducedPaper| {
            let counts = [paper.pass, paper.explained, paper.fail, paper.given];
            let name = std::iter::once(Cell::text(&paper.key));
            name.chain(counts.map(Cell::text)).collect::<Vec<_>>()
        };
        let columns = ["paper", "pass", "explained", "FAIL", "inputs"].map(Column::words);
        let rows = self.papers.iter().map(row);
        let table = Table::new("The papers' printed values, computed again", columns, rows);
        let failed = |paper: &ReproducedPaper| {
            let fails = paper.rows.iter().filter(|row| row.status == Status::Fail);
            let words = |row: &Row| format!("{}: {}", paper.key, row.item);
            fails.map(words).map(fail_part).collect::<Vec<_>>()
        };
        let next = [("nearfar reproduce PAPER", "its tables"), ("--full", "every row")];
        let first = Answer::default()
            .and_table(table, usize::MAX)
            .and_all(Shown::Always, self.papers.iter().flat_map(failed))
            .and_next(next);
        let whole = self.papers.iter().flat_map(|paper| paper.whole());
        first.and_all(Shown::Full, whole)
    }
}

fn fail_part(words: String) -> Part {
    Part::Words { first: "FAIL  ".into(), words, emphasis: Emphasis::Failed }
}

impl ReproducedPaper {
    fn counts(&self) -> String {
        let kinds = [
            (self.round_trip, count(self.round_trip, "round trip")),
            (self.predicted, count(self.predicted, "prediction")),
            (self.within_bound, count(self.within_bound, "bound")),
            (self.from_inputs, count(self.from_inputs, "consistency check")),
        ];
        let kinds: Vec<String> =
            kinds.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect();
        let kinds = match kinds.as_slice() {
            [] => String::new(),
            kinds => format!(" ({})", kinds.join(", ")),
        };
        format!(
            "{}: {} pass{kinds}, {} explained, {} fail; {}",
            self.key,
            self.pass,
            self.explained,
            self.fail,
            count(self.given, "input")
        )
    }

    /// Its rows with the same heading, one group after the other.
    fn groups(&self) -> impl Iterator<Item = (&str, &[Row])> {
        self.rows.chunk_by(|one, other| heading(one) == heading(other)).map(|group| {
            let name = group.first().map_or("", heading);
            (name, group)
        })
    }

    fn answer(&self) -> Answer {
        let row = |(name, group): (&str, &[Row])| {
            let count = |status| group.iter().filter(|row| row.status == status).count();
            vec![
                Cell::text(name),
                Cell::text(count(Status::Pass)),
                Cell::text(count(Status::Explained)),
                Cell::text(count(Status::Fail)),
                Cell::text(count(Status::Given)),
                largest_error(group),
            ]
        };
        let names = ["", "pass", "explained", "FAIL", "inputs", "largest error"];
        let rows = self.groups().map(row);
        let table = Table::new("By table and figure", names.map(Column::words), rows);
        let fails = self.rows.iter().filter(|row| row.status == Status::Fail);
        let fails = fails.map(|row| {
            let why = row.why.as_deref().unwrap_or("no reason known");
            fail_part(format!("{}: {why}", row.item))
        });
        let full = format!("nearfar reproduce {} --full", self.key);
        let next = (full, "every row: printed, ours, error, reason".to_string());
        Answer::saying(self.title.clone())
            .and_says(self.counts())
            .and(Shown::First, Part::Table { table, first_rows: FIRST_GROUPS })
            .and_all(Shown::Always, fails.take(FIRST_FAILS))
            .and_all(Shown::First, [Part::Gap, Part::Next(vec![next])])
            .and_all(Shown::Full, self.whole())
    }

    /// Every row, and the reasons.
    fn whole(&self) -> Vec<Part> {
        let mut parts = vec![Part::Gap, Part::words("", format!("{}: {}", self.key, self.title))];
        for (name, group) in self.groups() {
            parts.push(Part::Gap);
            parts.extend(group_table(name, group).map(Part::table));
            parts.extend(reasons(group).into_iter().map(|reason| Part::words(" ", reason)));
            parts.extend(inputs(name, group).map(|words| Part::words(" ", words)));
        }
        parts.extend([Part::Gap, Part::words("", self.counts())]);
        parts
    }
}

/// Tables, and rows that fail, of the first screen.
const FIRST_GROUPS: usize = 26;
const FIRST_FAILS: usize = 4;

/// `table 5.2` of `table 5.2, amd-2p, memory, class 0, alpha`.
fn heading(row: &Row) -> &str {
    row.item.split_once(", ").map_or(&row.item, |(heading, _)| heading)
}

/// What follows the heading; all of it where nothing does.
fn place(row: &Row) -> &str {
    row.item.split_once(", ").map_or(&row.item, |(_, place)| place)
}

/// `None` of inputs alone.
fn group_table(name: &str, group: &[Row]) -> Option<Table> {
    let rows = group.iter().filter(|row| row.status != Status::Given).map(|row| {
        vec![
            Cell::text(place(row)),
            Cell::Text(number(row.printed)),
            row.ours.map_or(Cell::Empty, |ours| Cell::Text(number(ours))),
            error_cell(row),
            Cell::text(status_word(row.status)),
        ]
    });
    let names = ["", "printed", "ours", "error", "status"];
    Table::new(name, names.map(Column::words), rows).unless_empty()
}

/// What it is judged by, where that is no error: a gain of 133 % beside 5 % agrees in its sign alone.
fn error_cell(row: &Row) -> Cell {
    match (row.judged_by, row.error) {
        (Some(Measure::Sign), _) => Cell::text("sign alone"),
        (Some(Measure::Bound), _) => Cell::text("a bound"),
        (_, Some(error)) => Cell::Text(signed_percent(error)),
        (_, None) => Cell::Empty,
    }
}

/// Of the rows that are judged by an error of ours; of bounds alone, what came nearest to one.
fn largest_error(group: &[Row]) -> Cell {
    let is_error = |row: &&Row| {
        matches!(row.judged_by, Some(Measure::Rounding | Measure::Model)) && !row.from_inputs
    };
    let errors = group.iter().filter(is_error).filter_map(|row| row.error);
    if let Some(largest) = errors.max_by(|a, b| a.abs().total_cmp(&b.abs())) {
        return Cell::Text(signed_percent(largest));
    }
    let bounds = group.iter().filter(|row| row.judged_by == Some(Measure::Bound));
    let found = bounds.filter_map(|row| Some((row.ours?, row.printed)));
    let nearest = found.max_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
    nearest.map_or(Cell::Empty, |(ours, bound)| {
        Cell::Text(format!("{} %, bound {} %", significant(ours, 2), number(bound)))
    })
}

/// Inputs are counted: their tables are the paper's, and long.
fn inputs(name: &str, group: &[Row]) -> Option<String> {
    let is_alone = group.iter().all(|row| row.status == Status::Given);
    let of = if is_alone { format!("{name}: ") } else { String::new() };
    match group.iter().filter(|row| row.status == Status::Given).count() {
        0 => None,
        1 => Some(format!("{of}1 input (--json has it)")),
        count => Some(format!("{of}{count} inputs (--json has them)")),
    }
}

/// A fraction in percent, with its sign where two decimals show one.
fn signed_percent(fraction: f64) -> String {
    let percent = (fraction * 1e4).round() / 100.0;
    if percent == 0.0 { "0.00 %".into() } else { format!("{percent:+.2} %") }
}

/// Each reason once, with what it explains; of rows that pass only what that shows.
fn reasons(group: &[Row]) -> Vec<String> {
    let mut reasons: Vec<(&str, Status, Vec<&str>)> = Vec::new();
    for row in group.iter().filter(|row| row.status != Status::Given) {
        let Some(why) = &row.why else { continue };
        match reasons.iter_mut().find(|(known, status, _)| known == why && *status == row.status) {
            Some((_, _, places)) => places.push(place(row)),
            None => reasons.push((why, row.status, vec![place(row)])),
        }
    }
    // Where one reason stands for all rows of its status, the table says which they are.
    let which = |status: Status, places: &[&str]| {
        let all: Vec<&str> = group.iter().filter(|row| row.status == status).map(place).collect();
        let others: Vec<&str> = all.iter().filter(|it| !places.contains(it)).copied().collect();
        match others.len() {
            0 => String::new(),
            fewer if fewer < places.len() => format!("all but {}: ", others.join("; ")),
            _ => places.join("; ") + ": ",
        }
    };
    reasons
        .iter()
        .map(|(why, status, places)| {
            let places = which(*status, places);
            let status = match status {
                Status::Pass => String::new(),
                Status::Explained | Status::Fail | Status::Given => {
                    format!("{}: ", status_word(*status))
                }
            };
            format!("{status}{places}{why}")
        })
        .collect()
}

fn number(value: f64) -> String {
    significant(value, 6)
}

fn status_word(status: Status) -> &'static str {
    match status {
        Status::Pass => "pass",
        Status::Explained => "explained",
        Status::Fail => "FAIL",
        Status::Given => "given",
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;
    use nearfar_reproduce::Paper;

    use super::*;
    use crate::answer::Room;

    fn row(item: &str, printed: f64, ours: Option<f64>, status: Status, why: Option<&str>) -> Row {
        Row {
            item: item.into(),
            printed,
            ours,
            error: ours.map(|ours| ours / printed - 1.0),
            status,
            judged_by: ours.map(|_| Measure::Rounding),
            tolerance: None,
            round_trip: false,
            from_inputs: false,
            why: why.map(String::from),
        }
    }

    fn paper() -> Paper {
        Paper {
            key: "someone2000".into(),
            title: "Someone, A Title, 2000".into(),
            rows: vec![
                row("table 1, a, GB/s", 9.3, None, Status::Given, Some("an input")),
                row("table 1, b, GB/s", 5.0, Some(5.0), Status::Pass, None),
                row("table 1, c, GB/s", 0.4, Some(0.399_875), Status::Explained, Some("rounded")),
                row("table 1, d, GB/s", 0.8, Some(0.799_75), Status::Explained, Some("rounded")),
                row("equation 2", 6441.0, Some(6395.0), Status::Fail, Some("not known")),
            ],
        }
    }

    #[test]
    fn rows_are_grouped_counted_and_every_reason_is_said_once() {
        let view = ReproducedPapers::new(&[paper()]);
        assert!(view.has_failed());
        let mut round_trip = paper();
        let back = row("table 1, e, GB/s", 3.1, Some(3.1), Status::Pass, None);
        round_trip.rows.insert(4, back.after_round_trip());
        let mut several_reasons = paper();
        several_reasons.rows[3].why = Some("another".into());
        let two = ReproducedPapers::new(&[round_trip, several_reasons]);
        let text = |full| {
            let room = Room { width: 80, full };
            view.answer().text(room) + "\n" + &two.answer().text(room)
        };
        let text = text(false) + "\n" + &text(true);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        expect_file!["../../tests/golden/reproduce.txt"].assert_eq(&text);
    }

    #[test]
    fn a_sign_and_a_bound_are_no_errors() {
        let judged = |item: &str, judged_by, ours| Row {
            judged_by: Some(judged_by),
            ..row(item, 5.0, Some(ours), Status::Pass, None)
        };
        let rows =
            [judged("gains, a", Measure::Sign, 133.0), judged("errors, b", Measure::Bound, 0.52)];
        let of = |row: &Row| [largest_error(std::slice::from_ref(row)), error_cell(row)];
        let [gain, bound] = rows.each_ref().map(of);
        assert_eq!(gain, [Cell::Empty, Cell::text("sign alone")]);
        assert_eq!(bound, [Cell::text("0.52 %, bound 5 %"), Cell::text("a bound")]);
    }

    #[test]
    fn a_paper_without_a_failed_row_has_not_failed() {
        let mut paper = paper();
        paper.rows.pop();
        assert!(!ReproducedPapers::new(&[paper]).has_failed());
    }
}
