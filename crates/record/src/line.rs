//! The lines of a record.

use serde::{Deserialize, Serialize};

use crate::absent::Absent;
use crate::case::Case;
use crate::header::Header;
use crate::sample::Sample;

/// One line of a record: a JSON object with one field, named for what it holds,
/// for example `{"sample":{..}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The first line.
    Header(Box<Header>),
    /// A case of the plan.
    Case(Case),
    /// A window.
    Sample(Sample),
    /// Something that was not measured.
    Absent(Absent),
    /// Something that the reader of the figures should know.
    Warning(Warning),
    /// Measuring went on in a later run of the program.
    Resumed(Resumed),
    /// Measuring ended in order.
    Finished(Finished),
}

/// Something that the reader of the figures should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Warning {
    /// For programs, for example `virtual_machine`.
    pub code: String,
    /// What it is and what it means for the figures.
    pub message: String,
    /// What can be done about it.
    pub remedy: String,
    /// Whether it was found in the samples after measuring; a later run that goes on
    /// with the record finds anew.
    pub of_samples: bool,
}

/// Measuring went on in a later run of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resumed {
    /// When, UTC, RFC 3339.
    pub at: String,
    /// Samples that were there.
    pub samples: u64,
    /// Whether a torn last line was dropped.
    pub torn_line_dropped: bool,
    /// The budget of this run; null for none.
    pub budget_ns: Option<u64>,
}

/// Measuring ended in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finished {
    /// When, UTC, RFC 3339.
    pub at: String,
    /// Seconds that this run of the program measured.
    pub seconds: f64,
    /// Rounds that this run of the program began, those that screen variants included.
    pub rounds: u32,
    /// The signal that ended it; null when it ended by itself.
    pub interrupted_by: Option<i32>,
    /// Most memory that the process held, by the kernel's count; null when not known.
    pub peak_resident_bytes: Option<u64>,
}
