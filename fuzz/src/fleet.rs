//! What machines leave in a run's folder, and lists of them that a user types.

use std::fmt::Debug;

use nearfar_document::{Room, fleet_answer};
use nearfar_fleet::{
    FLEET_FLOOR, FleetChoices, FleetComparison, MachineName, MachineSummary, Manifest, Verdict,
    VerdictKind, expand_hosts, fold_hosts,
};
use serde::Serialize;

use super::{Outcome, assert_printable, rejected, rejected_words, text};

/// What is read is written and read again as the same.
fn assert_same<T: PartialEq + Debug + Serialize, E: Debug>(
    read: &T,
    again: impl Fn(&[u8]) -> Result<T, E>,
) {
    let written = serde_json::to_vec(read).unwrap_or_default();
    let again = again(&written);
    assert!(again.is_ok_and(|again| again == *read), "what is written is read as another one");
}

/// Summaries: a machine with a stranger's figures among sound ones breaks no comparison.
pub fn machine_summary(input: &[u8]) -> Outcome {
    let summary = match MachineSummary::read(input) {
        Ok(summary) => summary,
        Err(error) => return rejected(&error),
    };
    assert_same(&summary, MachineSummary::read);
    let machines = (0..9).filter_map(|number| {
        let machine: MachineName = format!("n{number}").parse().ok()?;
        Some((machine, vec![summary.clone(); 1 + number % 3]))
    });
    let choices = FleetChoices { floor: FLEET_FLOOR, target: None, now: "2026-01-01T00:00:00Z" };
    let compared = FleetComparison::of_summaries(machines.collect(), &choices);
    // Machines that are the same do not fall short of each other.
    assert!(
        compared.machines.iter().all(|it| it.verdict <= VerdictKind::Unknown),
        "{:?}",
        compared.verdicts
    );
    assert_printable(&fleet_answer(&compared).text(Room { width: 80, full: true }));
    Outcome::Accepted
}

/// Manifests.
pub fn fleet_manifest(input: &[u8]) -> Outcome {
    match Manifest::read(input) {
        Ok(manifest) => {
            assert_same(&manifest, Manifest::read);
            Outcome::Accepted
        }
        Err(error) => rejected(&error),
    }
}

/// Lists of machines: what is folded is the same list.
pub fn host_list(input: &[u8]) -> Outcome {
    let list = match text(input) {
        Ok(list) => list,
        Err(refused) => return refused,
    };
    match expand_hosts(list) {
        Ok(names) if names.len() > 10_000 => Outcome::Accepted,
        Ok(mut names) => {
            let folded = fold_hosts(&names);
            let mut again = expand_hosts(&folded).unwrap_or_default();
            names.sort();
            again.sort();
            assert_eq!(names, again, "{folded}");
            Outcome::Accepted
        }
        Err(error) => rejected(&error),
    }
}

/// Verdicts.
pub fn verdict(input: &[u8]) -> Outcome {
    match Verdict::read(input) {
        Ok(verdict) => {
            assert_same(&verdict, Verdict::read);
            Outcome::Accepted
        }
        Err(why) => rejected_words(&why),
    }
}
