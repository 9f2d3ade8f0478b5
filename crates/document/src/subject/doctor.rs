//! What would disturb a measurement here, and what cannot be done.

use nearfar_record::{Check, Standing};
use serde::Serialize;

use super::figures::count as count_words;
use crate::printable::printable;

/// What would disturb a measurement; `doctor --json` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DoctorChecks {
    pub schema: &'static str,
    /// In the order in which they were made.
    pub checks: Vec<Check>,
}

impl DoctorChecks {
    /// Whether something cannot be measured here.
    pub fn has_failed(&self) -> bool {
        self.checks.iter().any(|check| check.standing == Standing::Failed)
    }

    /// For people.
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
        "{} fine, {}, {} failed, {} unknown\n",
        count(Standing::Fine),
        count_words(count(Standing::Warning), "warning"),
        count(Standing::Failed),
        count(Standing::Unknown)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_warning_is_one() {
        let check = |standing| Check {
            check: "load".into(),
            standing,
            finding: "what".into(),
            remedy: None,
        };
        let lines = check_lines(&[check(Standing::Warning), check(Standing::Fine)]);
        assert!(lines.ends_with("1 fine, 1 warning, 0 failed, 0 unknown\n"), "{lines}");
        assert!(check_lines(&[]).ends_with("0 fine, 0 warnings, 0 failed, 0 unknown\n"));
    }
}
