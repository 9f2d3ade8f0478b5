//! Whether a record is as it was written.

use nearfar_record::{Check, Sealing, Standing};
use serde::Serialize;

use crate::terminal::paragraph::paragraph;

/// Whether a record is as it was written, as far as the seals of its lines tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SealingView {
    /// `fit`, `edited` or `absent`.
    pub seals: &'static str,
    /// The first lines that were changed since, from 1.
    pub lines: Vec<u64>,
    /// How many were.
    pub count: u64,
    /// For people; null where all is as it was written.
    #[serde(skip)]
    finding: Option<String>,
}

impl SealingView {
    /// The view of what a record's seals say.
    pub fn new(sealing: &Sealing) -> Self {
        let (seals, lines, count) = match sealing {
            Sealing::Fits => ("fit", Vec::new(), 0),
            Sealing::Edited { lines, count } => ("edited", lines.clone(), *count),
            Sealing::Unsealed => ("absent", Vec::new(), 0),
        };
        Self { seals, lines, count, finding: sealing.finding() }
    }

    /// What is wrong, in words; `None` where all is as it was written.
    pub fn finding(&self) -> Option<&str> {
        self.finding.as_deref()
    }

    /// The warning above all figures that are made of the record; empty where there is none.
    pub(crate) fn warning(&self) -> String {
        self.finding.as_ref().map_or_else(String::new, |finding| paragraph("WARNING: ", finding))
    }
}

/// What looking a record over says of its seals.
pub(crate) fn seal_check(sealing: &Sealing) -> Check {
    let (standing, remedy) = match sealing {
        Sealing::Fits => (Standing::Fine, None),
        Sealing::Edited { .. } => (
            Standing::Failed,
            Some("take the record as it was written, or measure again with `nearfar characterize`"),
        ),
        Sealing::Unsealed => {
            (Standing::Unknown, Some("measure again with a program that seals its records"))
        }
    };
    let fits = || "every line of the record is as it was written, by its seal".into();
    Check {
        check: "seal".into(),
        standing,
        finding: sealing.finding().unwrap_or_else(fits),
        remedy: remedy.map(Into::into),
    }
}
