//! The papers' tables, printed and worked out again.

use nearfar_reproduce::{Paper, Row, Status};
use serde::Serialize;

use super::figures::{count, significant};
use crate::printable::printable;
use crate::terminal::paragraph::paragraph;
use crate::terminal::table::table_with_numbers;

/// The papers' tables, worked out again; `reproduce --json` prints it.
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

    /// For people.
    pub fn text(&self) -> String {
        let papers: Vec<String> = self.papers.iter().map(ReproducedPaper::text).collect();
        papers.join("\n")
    }
}

impl ReproducedPaper {
    fn text(&self) -> String {
        let title = format!("{}: {}", printable(&self.key), printable(&self.title));
        let mut text = paragraph("", &title);
        let mut rows = self.rows.as_slice();
        while let Some(first) = rows.first() {
            let heading = heading(first);
            let (group, rest) =
                rows.split_at(rows.iter().take_while(|row| self::heading(row) == heading).count());
            text += &format!("\n{}\n", printable(heading));
            text += &group_table(group);
            text += &reasons(group);
            text += &inputs(group);
            rows = rest;
        }
        let kinds = [(self.round_trip, "round trip"), (self.predicted, "prediction")];
        let kinds: Vec<String> = kinds
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|&(number, noun)| count(number, noun))
            .collect();
        let kinds = match kinds.as_slice() {
            [] => String::new(),
            kinds => format!(" ({})", kinds.join(", ")),
        };
        text + &format!(
            "\n{}: {} pass{kinds}, {} explained, {} fail; {} given\n",
            printable(&self.key),
            self.pass,
            self.explained,
            self.fail,
            self.given
        )
    }
}

/// `table 5.2` of `table 5.2, amd-2p, memory, class 0, alpha`.
fn heading(row: &Row) -> &str {
    row.item.split_once(", ").map_or(&row.item, |(heading, _)| heading)
}

/// What follows the heading; all of it where nothing does.
fn place(row: &Row) -> &str {
    row.item.split_once(", ").map_or(&row.item, |(_, place)| place)
}

fn group_table(group: &[Row]) -> String {
    let header = ["", "printed", "ours", "error", "status"].map(String::from).to_vec();
    let rows: Vec<Vec<String>> = group
        .iter()
        .filter(|row| row.status != Status::Given)
        .map(|row| {
            vec![
                printable(place(row)).into_owned(),
                number(row.printed),
                row.ours.map_or("-".into(), number),
                row.error.map_or("-".into(), signed_percent),
                status_word(row.status).into(),
            ]
        })
        .collect();
    if rows.is_empty() { String::new() } else { table_with_numbers(header, rows, 1..4) }
}

/// Inputs are counted: their tables are the paper's, and long.
fn inputs(group: &[Row]) -> String {
    match group.iter().filter(|row| row.status == Status::Given).count() {
        0 => String::new(),
        1 => " 1 input (--json has it)\n".into(),
        count => format!(" {count} inputs (--json has them)\n"),
    }
}

/// A fraction in percent, with its sign where two decimals show one.
fn signed_percent(fraction: f64) -> String {
    let percent = (fraction * 1e4).round() / 100.0;
    if percent == 0.0 { "0.00 %".into() } else { format!("{percent:+.2} %") }
}

/// Each reason once, with what it explains; of rows that pass only what that shows.
fn reasons(group: &[Row]) -> String {
    let mut reasons: Vec<(&str, Status, Vec<&str>)> = Vec::new();
    for row in group.iter().filter(|row| row.status != Status::Given) {
        let Some(why) = &row.why else { continue };
        match reasons.iter_mut().find(|(known, status, _)| known == why && *status == row.status) {
            Some((_, _, places)) => places.push(place(row)),
            None => reasons.push((why, row.status, vec![place(row)])),
        }
    }
    // Where one reason stands for all rows of its status, the table says which they are.
    let alone = |status: Status| reasons.iter().filter(|reason| reason.1 == status).count() == 1;
    reasons
        .iter()
        .map(|(why, status, places)| {
            let places = if alone(*status) { String::new() } else { places.join("; ") + ": " };
            let status = match status {
                Status::Pass => String::new(),
                Status::Explained | Status::Fail | Status::Given => {
                    format!("{}: ", status_word(*status))
                }
            };
            paragraph(" ", &format!("{status}{}{}", printable(&places), printable(why)))
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

    fn row(item: &str, printed: f64, ours: Option<f64>, status: Status, why: Option<&str>) -> Row {
        Row {
            item: item.into(),
            printed,
            ours,
            error: ours.map(|ours| ours / printed - 1.0),
            status,
            judged_by: None,
            tolerance: None,
            round_trip: false,
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
        let text =
            view.text() + "\n" + &ReproducedPapers::new(&[round_trip, several_reasons]).text();
        assert!(
            text.lines().all(|line| line.chars().count() <= crate::terminal::paragraph::WIDTH),
            "{text}"
        );
        expect_file!["../../tests/golden/reproduce.txt"].assert_eq(&text);
    }

    #[test]
    fn a_paper_without_a_failed_row_has_not_failed() {
        let mut paper = paper();
        paper.rows.pop();
        assert!(!ReproducedPapers::new(&[paper]).has_failed());
    }
}
