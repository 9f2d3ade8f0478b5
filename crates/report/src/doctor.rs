//! What would disturb a measurement here, and what cannot be done.

use nearfar_record::{Check, Standing};
use serde::Serialize;

use crate::printable::printable;

/// All checks; `--json` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoctorView {
    /// `nearfar.doctor/1`
    pub schema: &'static str,
    /// In the order in which they were made.
    pub checks: Vec<Check>,
}

impl DoctorView {
    /// Whether something cannot be measured here.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.checks.iter().any(|check| check.standing == Standing::Failed)
    }

    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        check_lines(&self.checks)
    }
}

/// Checks one by one, then how many came out how.
pub(crate) fn check_lines(checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        let mark = match check.standing {
            Standing::Fine => "ok     ",
            Standing::Warning => "warning",
            Standing::Failed => "FAILED ",
            Standing::Unknown => "unknown",
        };
        text += &format!("{mark}  {}\n", printable(&check.finding));
        if let Some(remedy) = &check.remedy {
            text += &format!("         -> {}\n", printable(remedy));
        }
    }
    let count = |standing| checks.iter().filter(|check| check.standing == standing).count();
    text + &format!(
        "{} fine, {} warnings, {} failed, {} unknown\n",
        count(Standing::Fine),
        count(Standing::Warning),
        count(Standing::Failed),
        count(Standing::Unknown)
    )
}
