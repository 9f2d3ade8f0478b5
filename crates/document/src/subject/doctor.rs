//! What would disturb a measurement here, and what cannot be done.

use nearfar_record::{Check, Standing};
use serde::Serialize;

use super::figures::count as count_words;
use crate::answer::{Answer, Emphasis, Part, Shown};

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
    pub fn answer(&self) -> Answer {
        let next = [("nearfar characterize", "measures this machine")];
        check_answer(&self.checks).and_next(next)
    }
}

/// How many checks came out how, then what failed, what to know and what is unknown, one by one. What is
/// fine is named, and told with `--full`.
pub(crate) fn check_answer(checks: &[Check]) -> Answer {
    let of = |standing| checks.iter().filter(move |check| check.standing == standing);
    let count = |standing| of(standing).count();
    let counts = format!(
        "{} failed, {}, {} unknown, {} fine",
        count(Standing::Failed),
        count_words(count(Standing::Warning), "warning"),
        count(Standing::Unknown),
        count(Standing::Fine)
    );
    let order = [Standing::Failed, Standing::Warning, Standing::Unknown];
    let first: Vec<&Check> = order.into_iter().flat_map(of).collect();
    let left = first.len().saturating_sub(FIRST_CHECKS);
    let (calls, others): (Vec<&Check>, Vec<&Check>) =
        of(Standing::Fine).partition(|check| check.is_of_call());
    let mut names: Vec<String> =
        others.into_iter().map(|check| check.check.replace('_', " ")).collect();
    if !calls.is_empty() {
        names.push(count_words(calls.len(), "kernel interface"));
    }
    let fine = (!names.is_empty()).then(|| Part::words("fine     ", names.join(", ")));
    let more = (left > 0).then(|| Part::words("", format!("{left} more: --full")));
    let shown = first.iter().take(FIRST_CHECKS).flat_map(|check| check_parts(check));
    let all = first.iter().copied().chain(of(Standing::Fine)).flat_map(check_parts);
    Answer::saying(counts)
        .and_gap()
        .and_all(Shown::First, shown.chain(more).chain(fine))
        .and_all(Shown::Full, all)
}

/// Checks of the first screen.
const FIRST_CHECKS: usize = 8;

fn check_parts(check: &Check) -> impl Iterator<Item = Part> {
    let (mark, emphasis) = match check.standing {
        Standing::Fine => ("fine     ", Emphasis::Good),
        Standing::Warning => ("warning  ", Emphasis::Caution),
        Standing::Failed => ("FAILED   ", Emphasis::Failed),
        Standing::Unknown => ("unknown  ", Emphasis::Plain),
    };
    let finding = Part::Words { first: mark.into(), words: check.finding.clone(), emphasis };
    let remedy = check.remedy.iter().map(|remedy| Part::words("         -> ", remedy));
    std::iter::once(finding).chain(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Room;

    #[test]
    fn one_warning_is_one() {
        let named = |name: &str, standing| Check {
            check: name.into(),
            standing,
            finding: "what".into(),
            remedy: None,
        };
        let check = |standing| named("load", standing);
        let text = |checks: &[Check]| check_answer(checks).text(Room { width: 80, full: false });
        let lines = text(&[check(Standing::Warning), check(Standing::Fine)]);
        assert!(lines.starts_with("0 failed, 1 warning, 0 unknown, 1 fine\n"), "{lines}");
        let calls = ["mbind", "/proc/self/numa_maps"].map(Check::name_of_call);
        let names = [calls[0].as_str(), "clock_source", calls[1].as_str()];
        let lines = text(&names.map(|name| named(name, Standing::Fine)));
        assert!(lines.ends_with("fine     clock source, 2 kernel interfaces\n"), "{lines}");
        assert!(text(&[]).starts_with("0 failed, 0 warnings, 0 unknown, 0 fine\n"));
    }
}
