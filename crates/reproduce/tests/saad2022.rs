//! The rows of saad2022: how many agree, and that a wrong number does not.

use nearfar_reproduce::saad2022::{self, Facts};
use nearfar_reproduce::{Measure, Paper, ReproduceError, Status, reproduce};
use serde_json::Value;

use crate::changed_file::{assert_noticed, assert_refused, changed, numbers};

const SAAD: &str = include_str!("../../../papers/saad2022.json");

fn of_changed(facts: &Value) -> Result<Paper, ReproduceError> {
    saad2022::reproduce(&Facts::parse(&facts.to_string())?)
}

#[test]
fn every_table_has_its_rows() {
    let paper = reproduce("saad2022").unwrap();
    for (table, compared, given) in [
        ("table of total bandwidth", 12, 13),
        ("table of local bandwidth", 12, 13),
        ("table of remote bandwidth", 12, 13),
        ("table of remote bandwidth per core", 12, 13),
        ("sharing factor", 12, 0),
        ("limits", 0, 2),
        ("equation of lone processes", 8, 0),
        ("equation 4", 16, 0),
        ("best split", 5, 2),
        ("table of kernels", 0, 30),
    ] {
        let of_table = |row: &&nearfar_reproduce::Row| row.item.starts_with(&format!("{table}, "));
        let rows: Vec<_> = paper.rows.iter().filter(of_table).collect();
        let inputs = rows.iter().filter(|row| row.status == Status::Given).count();
        assert_eq!((rows.len() - inputs, inputs), (compared, given), "{table}");
    }
}

/// The twelve cells that the fit has not seen, at what the model promises and not wider.
#[test]
fn predictions_have_the_room_that_the_model_promises() {
    let paper = reproduce("saad2022").unwrap();
    for row in paper.rows.iter().filter(|row| row.judged_by == Some(Measure::Model)) {
        let most = match row.item.split(',').next().unwrap() {
            "table of total bandwidth" | "best split" => 0.03,
            "sharing factor" => 0.02 / row.printed,
            _ => 0.04,
        };
        assert!((row.tolerance.unwrap() - most).abs() < 1e-12, "{row:?}");
        assert_eq!(row.status, Status::Pass, "{row:?}");
    }
}

#[test]
fn a_wrong_number_is_noticed_wherever_it_stands() {
    let facts: Value = serde_json::from_str(SAAD).unwrap();
    // Others are only printed, or compared in their sign.
    let paths = numbers(&facts, |path| {
        let is_input = path.starts_with("/kernels") || path.contains("gain");
        !is_input && !path.ends_with("decimals")
    });
    assert_eq!(paths.len(), 100 + 2 + 5);
    for path in paths {
        for side in [1.03, 0.97] {
            let value = facts.pointer(&path).unwrap().as_f64().unwrap();
            let wrong = (value * side).round();
            // Small counts and zeros by one.
            let wrong = if (wrong - value).abs() < 0.5 { value + 1.0 } else { wrong };
            let whole = wrong.round().to_string().parse::<Value>().unwrap();
            let changed = changed(&facts, &path, whole);
            assert_noticed(of_changed(&changed), &format!("{path} as {wrong}"));
        }
    }
}

/// A gain of the other sign fails.
#[test]
fn losses_are_no_gains() {
    for gain in ["/best_split/gain", "/best_split/gain_of_two_processes"] {
        let changed = changed(&serde_json::from_str(SAAD).unwrap(), gain, -1.0);
        assert_eq!(of_changed(&changed).unwrap().count(Status::Fail), 1, "{gain}");
    }
}

#[test]
fn files_of_another_form_are_refused() {
    let facts: Value = serde_json::from_str(SAAD).unwrap();
    assert_refused(&facts, of_changed, &[("/kernels/rows/0/values", serde_json::json!([1.0]))]);
}
