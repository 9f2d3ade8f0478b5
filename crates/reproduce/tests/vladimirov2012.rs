//! The rows of vladimirov2012: how many agree, and that a wrong number does not.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use nearfar_reproduce::vladimirov2012::{Facts, Runs, facts, of_runs};
use nearfar_reproduce::{Paper, ReproduceError, Row, Status};
use serde_json::Value;

const PAPER: &str = include_str!("../../../papers/vladimirov2012.json");

fn of_changed(changed: &Value, runs: &Runs) -> Result<Paper, ReproduceError> {
    of_runs(&Facts::parse(&changed.to_string())?, runs)
}

fn row<'p>(paper: &'p Paper, item: &str) -> &'p Row {
    paper.rows.iter().find(|row| row.item.contains(item)).unwrap()
}

#[test]
fn nothing_fails_and_the_counts_are_known() {
    let facts = facts().unwrap();
    let paper = of_runs(&facts, &Runs::measure(&facts).unwrap()).unwrap();
    let failed: Vec<&Row> = paper.rows.iter().filter(|row| row.status == Status::Fail).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(paper.count(Status::Pass), 14);
    assert_eq!(paper.round_trips(), 11);
    // Where the machine was not given the figure, nothing went round.
    let odd = |row: &&Row| row.status == Status::Explained && row.round_trip;
    assert_eq!(paper.rows.iter().find(odd), None);
    assert_eq!(paper.count(Status::Explained), 3);
    assert_eq!(paper.count(Status::Given), 17);
}

/// How many numbers a document holds.
fn numbers(value: &Value) -> usize {
    match value {
        Value::Number(_) => 1,
        Value::Array(items) => items.iter().map(numbers).sum(),
        Value::Object(fields) => fields.values().map(numbers).sum(),
        _ => 0,
    }
}

/// Three thread counts stand in items, and the two means give one row more.
#[test]
fn every_number_of_the_paper_has_a_row() {
    let facts = facts().unwrap();
    let paper = of_runs(&facts, &Runs::measure(&facts).unwrap()).unwrap();
    let of_paper = numbers(&serde_json::from_str(PAPER).unwrap());
    assert_eq!(paper.rows.len(), of_paper - 3 + 1);
}

/// Each in turn two fifths wrong, which is more than any room or reason has.
#[test]
fn a_wrong_number_fails_wherever_it_stands() {
    let whole: Value = serde_json::from_str(PAPER).unwrap();
    let runs = Runs::measure(&facts().unwrap()).unwrap();
    for path in [
        "/scaling/rows/0/mean",
        "/scaling/rows/1/mean",
        "/scaling/rows/1/sd",
        "/scaling/rows/1/min",
        "/scaling/rows/1/max",
        "/scaling/rows/1/modes/0",
        "/scaling/rows/1/modes/1",
        "/scaling/rows/1/modes/2",
        "/scaling/rows/1/modes/3",
        "/scaling/rows/2/mean",
        "/scaling/best_scatter/mean",
        "/findings/high_mode_gb_per_s",
        "/findings/compact_gb_per_s",
        "/findings/scatter_gain_percent",
    ] {
        for side in [1.4, 0.6] {
            let mut changed = whole.clone();
            let number = changed.pointer_mut(path).unwrap();
            *number = (number.as_f64().unwrap() * side).into();
            match of_changed(&changed, &runs) {
                Ok(paper) => assert!(paper.count(Status::Fail) > 0, "{path} x {side}"),
                Err(ReproduceError::Contradiction { .. }) => {}
                Err(other) => panic!("{path} x {side}: {other}"),
            }
        }
    }
}

/// Explained rows hang on the numbers that explain them.
#[test]
fn a_reason_that_does_not_hold_explains_nothing() {
    let whole: Value = serde_json::from_str(PAPER).unwrap();
    let runs = Runs::measure(&facts().unwrap()).unwrap();
    for (path, wrong, item) in [
        // One thread's runs scatter no more than others, or scattered ones less by far than ours.
        ("/scaling/rows/0/sd", 0.02, "1 thread unbound, standard deviation"),
        ("/scaling/best_scatter/sd", 0.7, "20 threads scatter, standard deviation"),
        // No outlier of the machine reaches so far.
        ("/scaling/rows/1/min", 44.0, "20 threads unbound, minimum"),
    ] {
        let mut changed = whole.clone();
        assert_eq!(row(&of_changed(&changed, &runs).unwrap(), item).status, Status::Explained);
        *changed.pointer_mut(path).unwrap() = wrong.into();
        assert_eq!(row(&of_changed(&changed, &runs).unwrap(), item).status, Status::Fail, "{path}");
    }
}

#[test]
fn numbers_that_do_not_fit_together_are_refused() {
    let whole: Value = serde_json::from_str(PAPER).unwrap();
    let runs = Runs::measure(&facts().unwrap()).unwrap();
    for (path, wrong) in [
        ("/key", "\"other\""),
        ("/machine/name", "\"other\""),
        ("/scaling/rows/1/modes", "[]"),
        ("/scaling/rows/1/modes/0", "40"),
        ("/scaling/rows/1/threads", "21"),
        ("/findings/high_mode_gb_per_s", "75"),
    ] {
        let mut changed = whole.clone();
        *changed.pointer_mut(path).unwrap() = wrong.parse().unwrap();
        let refused = of_changed(&changed, &runs).unwrap_err();
        assert!(matches!(refused, ReproduceError::Contradiction { .. }), "{path}: {refused}");
    }
    let mut odd = whole;
    odd["surplus"] = Value::Null;
    assert!(matches!(of_changed(&odd, &runs), Err(ReproduceError::Facts { .. })));
}
