//! The table that the runs make, for whoever runs them.

use std::io::Write;
use std::sync::Once;

use nearfar_lab::Ended;
use nearfar_record::{Absence, ActorSample};

use crate::boot::{Boot, Found, Run, User};
use crate::expected::absences;

static HEAD: Once = Once::new();

/// Prints a line past the test runner, which hides what passing tests print.
pub fn say(line: &str) {
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// Says which boots of a guest died before its script began, and how.
pub fn print_deaths(machine: &str, ended: &Ended) {
    for log in &ended.deaths {
        let lines: Vec<&str> = log.lines().collect();
        let last = lines[lines.len().saturating_sub(8)..].join("\n  ");
        say(&format!(
            "{machine} {} died before its script began, and was booted again:\n  {last}",
            ended.release
        ));
    }
}

/// Says what a guest cost.
pub fn print_cost(machine: &str, ended: &Ended) {
    say(&format!("{machine:9} {:27} in all {:.1} s", ended.release, ended.elapsed.as_secs_f64()));
}

/// Prints the row of a run, after the head where it is the first.
pub fn print_row(boot: &Boot, run: &Run, release: &str, found: &Found, as_expected: bool) {
    HEAD.call_once(|| {
        say(&format!(
            "{:9} {:27} {:6} {:24} {:>5} {:>12} {:>7} {:>7} {:22} {:>6} {:>7}",
            "machine",
            "kernel",
            "user",
            "what",
            "cases",
            "pages proven",
            "omitted",
            "refused",
            "as",
            "status",
            "seconds"
        ));
    });
    let record = &found.record;
    let user = if run.user == User::Root { "root" } else { "nobody" };
    let pages: u64 = record.samples.iter().flat_map(|sample| &sample.actors).map(proven).sum();
    let refused = record.absent.iter().filter(|it| it.absence == Absence::Refused);
    let mut codes: Vec<&str> = refused.map(|absent| absent.reason.code.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    let mark = if as_expected { "" } else { "  NOT AS EXPECTED" };
    let attempt = match found.attempts {
        1 => String::new(),
        attempts => format!("  (attempt {attempts})"),
    };
    say(&format!(
        "{:9} {:27} {user:6} {:24} {:>5} {pages:>12} {:>7} {:>7} {:22} {:>6} {:>7.1}{attempt}{mark}",
        boot.machine,
        release,
        run.name,
        record.cases.len(),
        absences(record, Absence::Omitted).len(),
        absences(record, Absence::Refused).len(),
        codes.join(","),
        found.status,
        found.seconds,
    ));
}

/// Pages of an actor whose node was told, before and after. (A reader takes no sample with
/// more than one in a thousand on another than the policy's.)
fn proven(actor: &ActorSample) -> u64 {
    let proofs = actor.proof.iter().chain(&actor.write_proof);
    proofs
        .flat_map(|proof| [&proof.before, &proof.after])
        .flat_map(|nodes| nodes.pages.values())
        .sum()
}
