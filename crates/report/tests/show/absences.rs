use nearfar_machine::MemoryPolicy;
use nearfar_record::{Absence, Case, Coordinates, Experiment, MixCoordinates, ReasonCode};
use nearfar_report::ShowView;
use nearfar_specimen::{absent, case_at, disturb, sharing};
use serde_json::Value;

use crate::{add, record, stream};

#[test]
fn an_experiment_that_has_no_case_says_why() {
    let mut record = record(&Experiment::OF_MACHINE);
    for (case, code, text) in [
        ("sharing", ReasonCode::OneCluster, "the machine has one cluster"),
        ("links", ReasonCode::OnePackage, "the machine has one package"),
        ("hybrid/node1", ReasonCode::NodeNotAllowed, "give it node 1"),
        ("hybrid", ReasonCode::OneNode, "the machine has\u{1b}[31m one node"),
    ] {
        absent(&mut record, case, Absence::Omitted, code, text);
    }
    let text = ShowView::new(&record).text();
    for line in [
        "pairs: nothing was measured: the record holds no case of it",
        "sharing: nothing was measured: the machine has one cluster",
        "links: nothing was measured: the machine has one package",
        "hybrid: nothing was measured: give it node 1; the machine has\\u{1b}[31m one node",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(text.contains("omitted: sharing: the machine has one cluster"), "{text}");
    // A reason that several experiments share hides none of them.
    for case in ["links/a", "links/b", "mixes"] {
        absent(&mut record, case, Absence::Omitted, ReasonCode::Budget, "the budget ended");
    }
    let text = ShowView::new(&record).text();
    for line in
        ["omitted: links/a and 1 more: the budget ended", "omitted: mixes: the budget ended"]
    {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn an_experiment_that_was_not_asked_for_is_not_spoken_of() {
    let text = ShowView::new(&record(&[Experiment::Mixes])).text();
    for experiment in Experiment::OF_MACHINE {
        let speaks = text.contains(&format!("\n{experiment}: "));
        assert_eq!(speaks, experiment == Experiment::Mixes, "{text}");
    }
}

/// A case that the budget did not reach, one that a signal came before, and one that was refused
/// before it could be planned.
#[test]
fn cells_without_figures_say_why_where_it_is_known() {
    let mut record = record(&[Experiment::Sharing]);
    for (n, reason) in [(1, Some("the budget ended")), (2, None)] {
        let case = case_at(&record.header.machine, Coordinates::Sharing(sharing(n, 0)));
        let id = case.id.clone();
        record.cases.push(case);
        if let Some(reason) = reason {
            absent(&mut record, &id, Absence::Omitted, ReasonCode::Budget, reason);
        }
    }
    // The second was never planned as a case.
    let unplanned = record.cases.pop().unwrap();
    absent(&mut record, &unplanned.id, Absence::Refused, ReasonCode::NoRoom, "no room");
    record.absent[1].coordinates = unplanned.coordinates;
    let text = ShowView::new(&record).text();
    assert!(text.contains("1 local  omitted (1)"), "{text}");
    assert!(text.contains("2 local  refused (2)"), "{text}");
    assert!(text.contains("(1) omitted: the budget ended\n(2) refused: no room\n"), "{text}");
    let view = serde_json::to_value(ShowView::new(&record)).unwrap();
    assert_eq!(view["sharing"][0]["omitted"][0]["code"], "budget");
    assert_eq!(view["sharing"][1]["refused"][0]["round"], 0);
    assert_eq!(view["sharing"][1]["llc_multiple"], Value::Null);
}

#[test]
fn marks_tell_few_rounds_and_disturbed_samples() {
    let mut record = record(&[Experiment::Mixes]);
    let place = vec![Coordinates::Mixes(MixCoordinates { index: 0 })];
    let actors = vec![stream("load", "0", MemoryPolicy::Preferred(0))];
    add(&mut record, Case { id: "mixes/0".into(), coordinates: place, actors }, 2, &[&[3.0]]);
    let text = ShowView::new(&record).text();
    assert!(text.contains("3.00*") && text.contains("* fewer than six undisturbed"), "{text}");
    assert!(!text.contains("every sample was disturbed"), "{text}");
    disturb(&mut record, "mixes/0");
    let text = ShowView::new(&record).text();
    assert!(text.contains("3.00!*") && text.contains("! every sample was disturbed"), "{text}");
}
