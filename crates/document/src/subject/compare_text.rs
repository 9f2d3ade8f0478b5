//! What differs between two records, in words and tables.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use nearfar_units::{excerpt_of, format_significant};

use super::compare::{CompareView, ComparedCaseView, UncomparedCaseView};
use super::figures::{count, percent_words};
use crate::printable::printable;
use crate::terminal::paragraph::paragraph;
use crate::terminal::table::table;

/// Rows of a table; the rest is in the JSON.
const MOST_ROWS: usize = 20;

/// Kinds of reasons for which cases were not compared that are told.
const MOST_REASONS: usize = 6;

/// Characters of a case's id, and of a value of the environment.
const MOST_ID: usize = 44;
const MOST_VALUE: usize = 60;

/// Characters of a reason in a record's words.
const MOST_WHY: usize = 120;

/// From so much on it is told that ratios scatter more than rounds.
const NOTED_EXCESS: f64 = 1.5;

impl CompareView {
    /// For people.
    pub fn text(&self) -> String {
        format!("A: {}B: {}", self.a.heading(), self.b.heading())
            + &self.environment_lines()
            + "\n"
            + &paragraph("", &self.counts())
            + &self.finding_lines()
            + &self.tables()
            + &self.uncompared()
    }

    fn environment_lines(&self) -> String {
        if self.environment.is_empty() {
            return "\nnothing that the records tell of machine, system and inputs differs\n"
                .into();
        }
        let mut text = String::from("\nwhat differs beside the figures\n");
        let value = |text: &str| printable(&excerpt_of(text, MOST_VALUE)).into_owned();
        let (mut only_a, mut only_b) = (Vec::new(), Vec::new());
        for difference in &self.environment {
            let name = difference.name.replace('_', " ");
            match (&difference.a, &difference.b) {
                (Some(a), Some(b)) => {
                    let values = format!("A {}; B {}", value(a), value(b));
                    text += &paragraph(&format!(" {name}: "), &values);
                }
                (Some(_), None) => only_a.push(name),
                (None, _) => only_b.push(name),
            }
        }
        for (of, names) in [("A", only_a), ("B", only_b)] {
            if !names.is_empty() {
                text += &paragraph(&format!(" known of {of} only: "), &names.join(", "));
            }
        }
        text
    }

    /// How many cases were compared and how they stand, and which loss would show.
    pub fn counts(&self) -> String {
        let of = |verdict| self.cases.iter().filter(|case| case.verdict == verdict).count();
        let floor = percent_words(self.floor);
        let resolution = self.resolution.map_or_else(String::new, |loss| {
            format!("; a loss of {} would show in half of them", percent_words(loss))
        });
        format!(
            "{} compared: {} worse and {} better by more than {floor} and than noise explains, {} \
             unclear (noise may explain it), {} the same{resolution}",
            count(self.cases.len(), "case"),
            of("worse"),
            of("better"),
            of("unclear"),
            of("same"),
        )
    }

    fn finding_lines(&self) -> String {
        let lines = self.findings().into_iter();
        lines.map(|(label, words)| paragraph(&format!("{label}: "), &words)).collect()
    }

    /// What cases have in common, each behind its label: a verdict, or `note`.
    pub fn findings(&self) -> Vec<(&'static str, String)> {
        let mut findings = Vec::new();
        for group in &self.groups {
            let what = group_words(group.group);
            if let Some(shift) = group.shift.as_ref().filter(|shift| shift.verdict != "same") {
                let [low, high] = shift.interval;
                // Of times the inverse of what is gained is what is seen.
                let (verb, ratio, ends) = if group.group == "access_times" {
                    ("takes", 1.0 / shift.gain_ratio, [1.0 / high, 1.0 / low])
                } else {
                    ("reaches", shift.gain_ratio, [low, high])
                };
                let [low, high] = ends.map(three);
                let words = format!(
                    "B {verb} {} ({low} to {high}) of A in all of {what} ({}); single cases are \
                     named where they differ from that as well",
                    three(ratio),
                    count(group.cases, "case"),
                );
                findings.push((shift.verdict, words));
            }
            if group.excess > NOTED_EXCESS {
                let words = format!(
                    "ratios of {what} scatter {} times as much as their rounds explain; intervals \
                     and verdicts allow for that",
                    format_significant(group.excess, 2)
                );
                findings.push(("note", words));
            }
        }
        for part in &self.parts {
            let words = format!(
                "{}: in {} of {} that use it, median {} of what A reaches",
                part.words,
                part.cases,
                count(part.cases_of_part, "case"),
                three(part.gain_ratio)
            );
            findings.push((part.verdict, words));
        }
        findings
    }

    fn tables(&self) -> String {
        let mut text = String::new();
        let mut room = MOST_ROWS;
        for verdict in ["worse", "better"] {
            let mut cases: Vec<&ComparedCaseView> =
                self.cases.iter().filter(|case| case.verdict == verdict).collect();
            // The clearest first.
            cases.sort_by(|one, other| other.score.abs().total_cmp(&one.score.abs()));
            let shown = cases.len().min(room);
            room -= shown;
            if shown > 0 {
                let header = [verdict, "A", "B", "", "B / A (95 % interval)"];
                let rows = cases[..shown].iter().map(|case| row(case)).collect();
                text += "\n";
                text += &table(header.map(String::from).into(), rows, 1);
            }
            if cases.len() > shown {
                text += &format!(" and {} more that are {verdict}: --json\n", cases.len() - shown);
            }
        }
        text
    }

    /// Of how many cases, and how they stand, most that are not compared are; `None` where all
    /// are compared.
    pub fn reasons(&self) -> Option<String> {
        let kinds = self.kinds_of_uncompared();
        let words = |((a, b), cases): &(Standings, Vec<&UncomparedCaseView>)| {
            format!("{}: {}", count(cases.len(), "case"), standing_words(a, b))
        };
        let reasons: Vec<String> = kinds.iter().take(MOST_REASONS).map(words).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    /// Cases that are not compared by how they stand in A and in B, most first.
    pub fn kinds_of_uncompared(&self) -> Vec<(Standings, Vec<&UncomparedCaseView>)> {
        let mut kinds: BTreeMap<Standings, Vec<&UncomparedCaseView>> = BTreeMap::new();
        for case in &self.not_compared {
            kinds.entry((case.a, case.b)).or_default().push(case);
        }
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_by_key(|(_, cases)| Reverse(cases.len()));
        kinds
    }

    fn uncompared(&self) -> String {
        let kinds = self.kinds_of_uncompared();
        if kinds.is_empty() {
            return String::new();
        }
        let mut text = format!("\nnot compared: {}\n", count(self.not_compared.len(), "case"));
        for ((a, b), cases) in kinds.iter().take(MOST_REASONS) {
            let first = cases[0];
            let reason = first.a_reason.as_ref().or(first.b_reason.as_ref());
            let reason =
                reason.map_or_else(String::new, |why| format!(": {}", excerpt_of(why, MOST_WHY)));
            let words = format!(
                "{}, {} the first{reason}",
                standing_words(a, b),
                excerpt_of(&first.case, MOST_ID)
            );
            text += &paragraph(&format!(" {}: ", cases.len()), &printable(&words));
        }
        if kinds.len() > MOST_REASONS {
            text += " others: --json\n";
        }
        let one_sided = [("measured", "not_planned"), ("not_planned", "measured")];
        if one_sided.iter().all(|side| kinds.iter().any(|(standings, _)| standings == side)) {
            let advice = "screening can keep other variants each time: the same --isa, --kernel and \
                          --seed for both give more cases in common";
            text += &paragraph("-> ", advice);
        }
        text
    }
}

/// How a case stands in both records.
pub type Standings = (&'static str, &'static str);

fn standing_words(a: &str, b: &str) -> String {
    format!("{} in A, {} in B", a.replace('_', " "), b.replace('_', " "))
}

fn three(value: f64) -> String {
    format_significant(value, 3)
}

/// What a group of cases is, in words.
pub fn group_words(group: &str) -> &'static str {
    match group {
        "memory" => "memory's bandwidth with pinned threads",
        "unbound" => "memory's bandwidth with unpinned threads",
        "cores" => "what caches and arithmetic give",
        _ => "times of accesses",
    }
}

fn row(case: &ComparedCaseView) -> Vec<String> {
    let figures = [
        (case.a_gb_per_s, case.b_gb_per_s, "GB/s"),
        (case.a_gflop_per_s, case.b_gflop_per_s, "GFLOP/s"),
        (case.a_ns, case.b_ns, "ns"),
    ];
    let known = figures.into_iter().find_map(|(a, b, unit)| Some((a?, b?, unit)));
    let [a, b, unit] =
        known.map_or_else(Default::default, |(a, b, unit)| [three(a), three(b), unit.to_string()]);
    let [low, high] = case.interval.map(three);
    vec![
        printable(&excerpt_of(&case.case, MOST_ID)).into_owned(),
        a,
        b,
        unit,
        format!("{} ({low} to {high})", three(case.ratio)),
    ]
}
