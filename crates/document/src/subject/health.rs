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
    let (standing, answer) = match (wrong.len(), known.len()) {
        (0, 0) if is_even => (Standing::Fine, "nothing is wrong".into()),
        (0, 0) => (Standing::Unknown, "not known".into()),
        (0, notes) => {
            let sound = match (is_even, is_anything_fine) {
                (true, _) => "no part falls short",
                (false, true) => "nothing is known to be wrong",
                (false, false) => "not known",
            };
            (Standing::Warning, format!("{sound}; {}", count(notes, "remark")))
        }
        (1, 0) => (Standing::Failed, "something is wrong".into()),
        (wrong, 0) => (Standing::Failed, format!("{wrong} things are wrong")),
        (1, notes) => (Standing::Failed, format!("something is wrong; {}", count(notes, "remark"))),
        (wrong, notes) => {
            (Standing::Failed, format!("{wrong} things are wrong; {}", count(notes, "remark")))
        }
    };
    let mut found: Vec<Check> = wrong.into_iter().chain(known).collect();
    if found.is_empty() {
        found.extend(twins().cloned());
    }
    Health { standing, answer, found }
}
