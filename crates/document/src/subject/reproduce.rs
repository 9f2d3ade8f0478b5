//! The papers' tables, printed and worked out again.

use nearfar_reproduce::{Paper, Row, Status};
use serde::Serialize;

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
}
