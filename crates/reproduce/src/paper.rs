//! A paper: the file of its numbers, what is measured for it, and its rows.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{ReproduceError, contradiction};
use crate::row::{Measure, Row, Status};

/// The numbers of a paper, as a file in `papers/` holds them beside its key and title.
pub trait PaperFacts: DeserializeOwned {
    /// As in `docs/references.md`.
    const KEY: &'static str;
    /// The text of the file.
    const FILE: &'static str;
    /// What its rows need of simulated machines.
    type Measured;

    /// Whether the numbers fit together.
    ///
    /// # Errors
    /// What does not, in words.
    fn check(&self) -> Result<(), String>;

    /// # Errors
    /// When a simulated machine or a model refuses what the paper needs of it.
    fn measure(&self) -> Result<Self::Measured, ReproduceError>;

    /// The rows in the order of the paper.
    ///
    /// # Errors
    /// When the numbers contradict each other, or a model refuses what they ask of it.
    fn rows(&self, measured: &Self::Measured) -> Result<Vec<Row>, ReproduceError>;
}

/// A paper's file.
#[derive(Debug, Clone)]
pub struct PaperFile<Facts> {
    title: String,
    pub facts: Facts,
}

impl<Facts: PaperFacts> PaperFile<Facts> {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// When it is not of the form that the program knows, or its numbers do not fit together.
    pub fn parse(text: &str) -> Result<Self, ReproduceError> {
        let of_form = |source| ReproduceError::Facts { key: Facts::KEY.into(), source };
        let mut file: Map<String, Value> = serde_json::from_str(text).map_err(of_form)?;
        let [key, title] = ["key", "title"].map(|name| file.remove(name).unwrap_or_default());
        if key != Facts::KEY {
            return Err(contradiction(Facts::KEY, format!("its key is {key}")));
        }
        let title = serde_json::from_value(title).map_err(of_form)?;
        let facts: Facts = serde_json::from_value(Value::Object(file)).map_err(of_form)?;
        facts.check().map_err(|what| contradiction(Facts::KEY, what))?;
        Ok(Self { title, facts })
    }

    /// Works the paper's tables out from these numbers.
    ///
    /// # Errors
    /// As [`PaperFacts::rows`].
    pub fn reproduce(&self, measured: &Facts::Measured) -> Result<Paper, ReproduceError> {
        let rows = self.facts.rows(measured)?;
        Ok(Paper { key: Facts::KEY.into(), title: self.title.clone(), rows })
    }
}

/// A paper's tables, computed again.
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
    pub fn count(&self, status: Status) -> usize {
        self.rows.iter().filter(|row| row.status == status).count()
    }

    /// Rows that pass because a simulated machine gave back what it was given.
    pub fn round_trips(&self) -> usize {
        self.passed(|row| row.round_trip)
    }

    /// Rows that pass because a model predicts them as well as it promises, without round trips and
    /// consistency checks.
    pub fn predictions(&self) -> usize {
        self.passed(|row| {
            let is_foretold = matches!(row.judged_by, Some(Measure::Model | Measure::Sign));
            is_foretold && !row.round_trip && !row.from_inputs
        })
    }

    /// Rows that pass because an error is below the one that the paper has as a bound.
    pub fn bounds(&self) -> usize {
        self.passed(|row| row.judged_by == Some(Measure::Bound))
    }

    /// Rows that pass as consistency checks: the paper's own numbers fit together.
    pub fn from_inputs(&self) -> usize {
        self.passed(|row| row.from_inputs)
    }

    fn passed(&self, is_one: impl Fn(&Row) -> bool) -> usize {
        self.rows.iter().filter(|row| row.status == Status::Pass && is_one(row)).count()
    }
}
