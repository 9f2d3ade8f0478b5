//! What is wrong with a machine or its figures, and what to do.

use nearfar_machine::TheoreticalMaximum;
use nearfar_model::RecordFigures;
use nearfar_record::{Check, Standing};
use serde::Serialize;

use super::figures::count;
use super::record_doctor::RecordDoctor;

/// What is wrong, the worst first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Health {
    /// That of the worst finding.
    pub standing: Standing,
    /// In a few words.
    pub answer: String,
    /// The same without its remarks.
    #[serde(skip)]
    verdict: String,
    #[serde(skip)]
    remarks: usize,
    /// What was found, each with what to do; where nothing is wrong, what was looked at.
    pub found: Vec<Check>,
}

/// What `doctor RECORD` finds, and what to know about the figures.
pub(crate) fn health(figures: &RecordFigures<'_>) -> Health {
    let record = figures.record();
    let gamma = TheoreticalMaximum::of_memory(&record.header.machine);
    let checks = RecordDoctor::of(figures, gamma).checks;
    let warnings = record.warnings.iter().map(|warning| Check {
        check: warning.code.clone(),
        standing: Standing::Warning,
        finding: warning.message.clone(),
        remedy: Some(warning.remedy.clone()),
    });
    let of = |standing: Standing| {
        let found = checks.iter().filter(move |check| check.standing == standing);
        found.cloned().collect::<Vec<Check>>()
    };
    let wrong = of(Standing::Failed);
    let known: Vec<Check> = of(Standing::Warning).into_iter().chain(warnings).collect();
    let twins = || checks.iter().find(|check| check.check == "twins");
    let is_even = twins().is_some_and(|check| check.standing == Standing::Fine);
    let is_anything_fine = checks.iter().any(|check| check.standing == Standing::Fine);
    let remarks = known.len();
    let (standing, verdict) = match (wrong.len(), remarks) {
        (0, _) if record.samples.is_empty() => {
            let why = record.absent.first();
            let why = why.map_or_else(String::new, |absent| format!(": {}", absent.reason.text));
            (Standing::Unknown, format!("not known, nothing was measured{why}"))
        }
        (0, 0) if is_even => (Standing::Fine, "nothing is wrong".into()),
        (0, 0) => (Standing::Unknown, "not known".into()),
        (0, _) if is_even => (Standing::Warning, "no part falls short".into()),
        (0, _) if is_anything_fine => (Standing::Warning, "nothing is known to be wrong".into()),
        (0, _) => (Standing::Warning, "not known".into()),
        (1, _) => (Standing::Failed, "something is wrong".into()),
        (wrong, _) => (Standing::Failed, format!("{wrong} things are wrong")),
    };
    let mut found: Vec<Check> = wrong.into_iter().chain(known).collect();
    if found.is_empty() {
        found.extend(twins().cloned());
    }
    let answer = format!("{verdict}{}", remarks_words(remarks));
    Health { standing, answer, verdict, remarks, found }
}

fn remarks_words(remarks: usize) -> String {
    if remarks == 0 { String::new() } else { format!("; {}", count(remarks, "remark")) }
}

impl Health {
    /// The answer with the worst finding in it, where something is wrong.
    pub(crate) fn words(&self) -> String {
        let wrong = self.found.iter().filter(|check| check.standing == Standing::Failed);
        let first = if wrong.clone().count() > 1 { ", first" } else { "" };
        let worst = wrong.map(|check| format!("{first}: {}", check.finding)).next();
        format!("{}{}{}", self.verdict, worst.unwrap_or_default(), remarks_words(self.remarks))
    }
}
