//! A paper's rows, and the file of its numbers.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{ReproduceError, contradiction};
use crate::row::{Measure, Row, Status};

/// A paper's tables, worked out again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Paper {
    /// As in `docs/references.md`.
    pub key: String,
    /// Author, title, place and year.
    pub title: String,
    /// In the order of the paper.
    pub rows: Vec<Row>,
}

impl Paper {
    /// Rows of this status.
    pub fn count(&self, status: Status) -> usize {
        self.rows.iter().filter(|row| row.status == status).count()
    }

    /// Rows that pass because a simulated machine gave back what it was given.
    pub fn round_trips(&self) -> usize {
        self.rows.iter().filter(|row| row.status == Status::Pass && row.round_trip).count()
    }

    /// Rows that pass because a model predicts them as well as it promises, without round trips.
    pub fn predictions(&self) -> usize {
        let is_predicted = |row: &Row| {
            !row.round_trip && matches!(row.judged_by, Some(Measure::Model | Measure::Sign))
        };
        let passed = self.rows.iter().filter(|row| row.status == Status::Pass);
        passed.filter(|row| is_predicted(row)).count()
    }
}

/// The numbers that the text of a paper's file holds, held against each other.
pub(crate) fn read_facts<Facts: DeserializeOwned>(
    key: &str,
    text: &str,
    check: impl Fn(&Facts) -> Result<(), String>,
) -> Result<Facts, ReproduceError> {
    let of_form = |source| ReproduceError::Facts { key: key.into(), source };
    let file: Value = serde_json::from_str(text).map_err(of_form)?;
    if file["key"] != key {
        return Err(contradiction(key, format!("its key is {}", file["key"])));
    }
    let facts = serde_json::from_value(file).map_err(of_form)?;
    check(&facts).map_err(|what| contradiction(key, what))?;
    Ok(facts)
}
