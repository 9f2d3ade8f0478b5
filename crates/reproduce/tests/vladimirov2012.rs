//! The rows of vladimirov2012: how many agree, and that a wrong number does not.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use nearfar_reproduce::vladimirov2012::{Facts, Runs, facts, of_runs};
use nearfar_reproduce::{Paper, ReproduceError, Row, Status};
use serde_json::{Value, json};

use crate::changed_file::{assert_noticed, assert_refused, changed};

const PAPER: &str = include_str!("../../../papers/vladimirov2012.json");

fn of_changed(changed: &Value, runs: &Runs) -> Result<Paper, ReproduceError> {
    of_runs(&Facts::parse(&changed.to_string())?, runs)
}

fn row<'p>(paper: &'p Paper, item: &str) -> &'p Row {
    paper.rows.iter().find(|row| row.item.contains(item)).unwrap()
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
            let wrong = whole.pointer(path).unwrap().as_f64().unwrap() * side;
            let changed = changed(&whole, path, wrong);
            assert_noticed(of_changed(&changed, &runs), &format!("{path} x {side}"));
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
        assert_eq!(row(&of_changed(&whole, &runs).unwrap(), item).status, Status::Explained);
        let changed = changed(&whole, path, wrong);
        assert_eq!(row(&of_changed(&changed, &runs).unwrap(), item).status, Status::Fail, "{path}");
    }
}

#[test]
fn numbers_that_do_not_fit_together_are_refused() {
    let whole: Value = serde_json::from_str(PAPER).unwrap();
    let runs = Runs::measure(&facts().unwrap()).unwrap();
    assert_refused(
        &whole,
        |file| of_changed(file, &runs),
        &[
            ("/machine/name", json!("other")),
            ("/scaling/rows/1/modes", json!([])),
            ("/scaling/rows/1/modes/0", json!(40)),
            ("/scaling/rows/1/threads", json!(21)),
            ("/findings/high_mode_gb_per_s", json!(75)),
        ],
    );
}
