//! What figures are of: the host, the time, and whether they are to be believed.

use nearfar_model::command_on;
use nearfar_record::{Check, Executor, Record, Sealing, Standing, Warning};
use serde::Serialize;

use super::figures::simulated_line;
use super::who::Who;
use crate::answer::{Answer, Emphasis, Part, Shown};

/// The record that figures are from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Origin {
    pub host: String,
    /// When measuring began, UTC.
    pub started: String,
    /// Whether a machine was measured or simulated.
    pub executor: Executor,
    /// Whether the record is as it was written.
    pub sealing: Seals,
    /// Whether something disturbed at least half of the samples: figures can then be of disturbed ones alone.
    pub is_disturbed: bool,
    /// Whether working sets were not shown to be beyond the caches.
    pub may_contain_cache: bool,
    /// The command that says what disturbed them.
    #[serde(skip)]
    pub(crate) remarks: String,
    #[serde(skip)]
    pub(crate) who: Who,
}

/// Whether a record is as it was written, as far as the seals of its lines tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Seals {
    /// `fit`, `edited` or `absent`.
    pub seals: &'static str,
    /// The first lines that were changed since, from 1.
    pub lines: Vec<u64>,
    /// How many were.
    pub count: u64,
    /// For people; null where all is as it was written.
    #[serde(skip)]
    pub(crate) finding: Option<String>,
}

impl Origin {
    pub fn new(record: &Record) -> Self {
        let header = &record.header;
        let (seals, lines, count) = match &record.sealing {
            Sealing::Fits => ("fit", Vec::new(), 0),
            Sealing::Edited { lines, count } => ("edited", lines.clone(), *count),
            Sealing::Unsealed => ("absent", Vec::new(), 0),
        };
        let disturbed = record.disturbed_samples();
        Self {
            may_contain_cache: record
                .warnings
                .iter()
                .any(|warning| warning.code == Warning::MAY_CONTAIN_CACHE),
            is_disturbed: disturbed > 0 && 2 * disturbed >= record.samples.len(),
            remarks: command_on(record, "show", "--remarks"),
            host: header.host.clone(),
            started: header.started.clone(),
            executor: header.executor,
            sealing: Seals { seals, lines, count, finding: record.sealing.finding() },
            who: Who::new(&header.machine),
        }
    }

    /// The beginning of an answer: host and time, and what must be known before any figure.
    pub fn answer(&self) -> Answer {
        Answer::saying(format!("{}, {}", self.host, self.started)).and_answer(self.caution())
    }

    /// That figures are simulated, in words.
    pub fn simulated(&self) -> Option<&'static str> {
        simulated_line(self.executor)?.strip_prefix("SIMULATED: ")
    }

    /// What is wrong with the record's seals, in words.
    pub fn broken_seals(&self) -> Option<&str> {
        self.sealing.finding.as_deref()
    }

    /// That values are simulated, disturbed or may contain cache, and what is wrong with the record's seals.
    pub fn caution(&self) -> Answer {
        let caution = |first: &str, words: &str, emphasis| {
            let words = words.to_string();
            Part::Words { first: first.into(), words, emphasis }
        };
        let simulated = self.simulated().map(|it| caution("SIMULATED: ", it, Emphasis::Caution));
        let edited = self.broken_seals().map(|it| caution("WARNING: ", it, Emphasis::Failed));
        let disturbed = self.is_disturbed.then(|| {
            let words = format!(
                "something else ran in half of the windows or more, so that figures can be too low ({})",
                self.remarks
            );
            caution("DISTURBED: ", &words, Emphasis::Caution)
        });
        let cached = self.may_contain_cache.then(|| {
            let words = format!("bandwidth may be higher than memory's ({})", self.remarks);
            caution("MAY CONTAIN CACHE: ", &words, Emphasis::Caution)
        });
        let cautions = simulated.into_iter().chain(edited).chain(disturbed).chain(cached);
        Answer::default().and_all(Shown::Always, cautions)
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
