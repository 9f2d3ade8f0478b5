//! Tables 1 to 5 of denoyelle2019: how many agree, and that a wrong number does not.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use nearfar_reproduce::denoyelle2019::{Facts, Machines, facts, roofline_rows};
use nearfar_reproduce::{Measure, Row, Status};
use serde_json::Value;

use crate::changed_file::{changed, numbers};

const PAPER: &str = include_str!("../../../papers/denoyelle2019.json");

fn rows() -> Vec<Row> {
    let facts = facts().unwrap();
    roofline_rows(&facts, &Machines::measure(&facts).unwrap()).unwrap()
}

fn count(rows: &[Row], status: Status) -> usize {
    rows.iter().filter(|row| row.status == status).count()
}

#[test]
fn what_the_simulated_machines_were_not_given_is_known() {
    let rows = rows();
    // What the simulated machines were given, or fitted to; not what is worked out or foretold.
    let own: Vec<&str> = rows
        .iter()
        .filter(|row| row.status == Status::Pass && !row.round_trip)
        .map(|row| row.item.as_str())
        .collect();
    assert_eq!(own.len(), 5, "{own:#?}");
    assert!(own.iter().all(|item| item.contains("peak") || item.contains("bound")), "{own:#?}");
}

/// What several initiators get of one memory of table 5 is fitted, and judged by what the fit
/// reaches; all else of the machines by rounding.
#[test]
fn shared_roofs_of_table_5_are_judged_by_their_fit() {
    let rows = rows();
    let fitted: Vec<&Row> =
        rows.iter().filter(|row| row.judged_by == Some(Measure::Model)).collect();
    assert_eq!(fitted.len(), 8, "{fitted:#?}");
    for row in fitted {
        assert!(row.item.starts_with("table 5") && row.round_trip, "{row:?}");
        assert_eq!(row.tolerance, Some(0.005), "{row:?}");
        assert!(
            ["contended", "own", "congested"].iter().any(|it| row.item.contains(it)),
            "{row:?}"
        );
    }
}

/// Fields below which printed results stand.
const RESULTS: [&str; 8] = [
    "/measured/",
    "/caches/",
    "/memory/",
    "/contended/",
    "/all_local/",
    "/congested/",
    "/peak_gflop_per_s/",
    "/pairs/rows/",
];

/// Every printed result in turn, three percent wrong: agreement and explanations both hang on the
/// number itself.
#[test]
fn a_wrong_number_fails_wherever_it_stands() {
    let facts: Value = serde_json::from_str(PAPER).unwrap();
    let machines = Machines::measure(&Facts::parse(PAPER).unwrap()).unwrap();
    let paths = numbers(&facts, |path| RESULTS.iter().any(|field| path.contains(field)));
    // Ten instructions a cycle, 13 figures of table 2, 11 of table 5, 16 of table 4.
    assert_eq!(paths.len(), 10 + 13 + 11 + 16, "{paths:#?}");
    for path in paths {
        for side in [1.03, 0.97] {
            let wrong = facts.pointer(&path).unwrap().as_f64().unwrap() * side;
            let changed = changed(&facts, &path, wrong);
            let changed = Facts::parse(&changed.to_string()).unwrap();
            let rows = roofline_rows(&changed, &machines).unwrap();
            assert!(count(&rows, Status::Fail) > 0, "{path} x {side} is not noticed");
        }
    }
}

/// The bounds of sections 4 and 5 are compared by their sign alone: one that ours does not keep
/// fails.
#[test]
fn a_bound_below_our_error_fails() {
    let machines = Machines::measure(&Facts::parse(PAPER).unwrap()).unwrap();
    for bound in 0..2 {
        let mut changed: Value = serde_json::from_str(PAPER).unwrap();
        changed["validation_error"]["bounds"][bound]["percent"] = 0.01.into();
        let changed = Facts::parse(&changed.to_string()).unwrap();
        let rows = roofline_rows(&changed, &machines).unwrap();
        assert_eq!(count(&rows, Status::Fail), 2, "{bound}");
    }
}

/// The reason for the loads of table 1, by arithmetic on the paper's numbers alone.
#[test]
fn the_loads_of_table_1_are_those_of_table_2_cut_off() {
    let facts: Value = serde_json::from_str(PAPER).unwrap();
    let printed = facts["instructions_per_cycle"][0]["measured"]["load"].as_f64().unwrap();
    let loads = facts["roofs"][0]["caches"][0].as_f64().unwrap() / 7.0 / 1.7 / 32.0;
    assert!((loads - 1.996).abs() < 5e-4, "{loads}");
    assert!(((loads * 100.0).floor() / 100.0 - printed).abs() < 1e-9);
    assert!(((loads * 100.0).round() / 100.0 - printed).abs() > 0.009);
}
