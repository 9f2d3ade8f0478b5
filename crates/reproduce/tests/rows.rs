//! The rows of every paper: how many agree, and by what.

use std::collections::BTreeSet;

use nearfar_reproduce::{FROM_INPUTS, Measure, Paper, ROUND_TRIP, Row, Status, papers, reproduce};
use serde_json::Value;

use crate::changed_file::numbers;

/// Passed, of these by a round trip, by a prediction, below a bound and by a consistency check,
/// explained, and given.
const COUNTS: [(&str, [usize; 7]); 5] = [
    ("braithwaite2012", [121, 54, 7, 0, 0, 31, 263]),
    ("vladimirov2012", [14, 11, 1, 0, 1, 3, 17]),
    ("ribeiro2010", [26, 8, 16, 0, 2, 9, 17]),
    ("denoyelle2019", [82, 73, 0, 8, 0, 1, 23]),
    ("saad2022", [67, 0, 61, 0, 2, 22, 86]),
];

/// Every number that a paper's file holds is a row: an outcome that is computed, or an input.
#[test]
fn nothing_fails_every_number_has_a_row_and_the_counts_are_known() {
    assert_eq!(COUNTS.map(|(key, _)| key), papers());
    for (key, counts) in COUNTS {
        let paper = reproduce(key).unwrap();
        assert_eq!(paper.key, key);
        let failed: Vec<_> = paper.rows.iter().filter(|row| row.status == Status::Fail).collect();
        assert!(failed.is_empty(), "{failed:#?}");
        let count = |status| paper.count(status);
        let [pass, explained] = [Status::Pass, Status::Explained].map(count);
        let kinds = [paper.round_trips(), paper.predictions(), paper.bounds(), paper.from_inputs()];
        let [round_trips, predictions, bounds, from_inputs] = kinds;
        let given = count(Status::Given);
        let found = [pass, round_trips, predictions, bounds, from_inputs, explained, given];
        assert_eq!(found, counts, "{key}");
        assert_rows_say_what_their_status_asks(&paper);
        match key {
            // The thesis's file also numbers nodes and columns: its rows are counted by table.
            "braithwaite2012" => assert_every_table_has_its_rows(&paper),
            "denoyelle2019" => assert_shared_roofs_are_judged_by_their_fit(&paper),
            _ => {}
        }
        if key != "braithwaite2012" {
            assert_every_number_is_a_row(&paper);
        }
        if key == "saad2022" {
            assert_predictions_have_the_room_that_is_promised(&paper);
        }
    }
}

fn assert_every_number_is_a_row(paper: &Paper) {
    let path = format!("{}/../../papers/{}.json", env!("CARGO_MANIFEST_DIR"), paper.key);
    let file: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    // These say how numbers are printed, or whose they are.
    let is_figure =
        |path: &str| !["/decimals", "/reference", "/threads"].iter().any(|end| path.ends_with(end));
    let mut left: Vec<f64> = numbers(&file, is_figure)
        .iter()
        .map(|path| file.pointer(path).unwrap().as_f64().unwrap())
        .collect();
    assert!(left.len() > 10, "{path}");
    for row in &paper.rows {
        let same = left.iter().position(|number| (number - row.printed).abs() < 1e-9);
        if let Some(same) = same {
            left.swap_remove(same);
        }
    }
    assert!(left.is_empty(), "{path} has numbers without a row: {left:?}");
}

fn assert_rows_say_what_their_status_asks(paper: &Paper) {
    let mut items = BTreeSet::new();
    for row in &paper.rows {
        assert!(items.insert(&row.item), "{} stands there twice", row.item);
        match row.status {
            Status::Pass => {
                let of_inputs = row.from_inputs.then_some(FROM_INPUTS);
                let why = row.round_trip.then_some(ROUND_TRIP).or(of_inputs);
                assert!(row.ours.is_some() && row.why.as_deref() == why, "{row:?}");
            }
            Status::Given => assert!(row.ours.is_none() && row.error.is_none(), "{row:?}"),
            Status::Explained | Status::Fail => assert!(row.why.is_some(), "{row:?}"),
        }
        if let (Some(ours), Some(error)) = (row.ours, row.error) {
            assert!((ours - row.printed * (1.0 + error)).abs() <= 1e-9 * ours.abs(), "{row:?}");
        }
    }
}

/// The files of the simulated machines hold what tables 3.4 and A.2 and the end of appendix A
/// print; nothing else that is computed is an input of its own.
fn assert_every_table_has_its_rows(paper: &Paper) {
    for (table, compared, given, is_round_trip) in [
        ("table 3.2", 9, 3, false),
        ("table 3.4", 40, 10, true),
        ("table 4.1", 25, 0, false),
        ("equation 4.10", 1, 0, false),
        ("equation 4.11", 1, 0, false),
        ("equation 4.17", 3, 0, false),
        ("equation 4.18", 3, 0, false),
        ("table 5.2", 7, 0, false),
        ("table 5.3", 0, 72, false),
        ("table 5.4", 14, 0, false),
        ("table 5.5", 0, 32, false),
        ("table 6.1", 5, 0, false),
        ("table A.2", 12, 5, true),
        ("table A.3", 9, 0, false),
        ("table A.4", 0, 104, false),
        ("table A.5", 14, 0, false),
        ("table A.6", 0, 32, false),
        ("appendix A", 2, 0, true),
        ("convention", 0, 2, false),
    ] {
        let of_table = |row: &&Row| row.item.starts_with(&format!("{table}, "));
        let (inputs, others): (Vec<&Row>, Vec<&Row>) =
            paper.rows.iter().filter(of_table).partition(|row| row.status == Status::Given);
        assert_eq!((others.len(), inputs.len()), (compared, given), "{table}");
        assert!(others.iter().all(|row| row.round_trip == is_round_trip), "{others:#?}");
    }
}

/// What several initiators get of one memory of table 5 is fitted, and judged by what the fit
/// reaches; all else of the machines by rounding.
fn assert_shared_roofs_are_judged_by_their_fit(paper: &Paper) {
    let is_fitted = |row: &&Row| row.judged_by == Some(Measure::Model);
    let fitted: Vec<&Row> = paper.rows.iter().filter(is_fitted).collect();
    assert_eq!(fitted.len(), 8, "{fitted:#?}");
    for row in fitted {
        let is_shared = ["contended", "own", "congested"].iter().any(|it| row.item.contains(it));
        assert!(row.item.starts_with("table 5") && is_shared && row.round_trip, "{row:?}");
        assert_eq!(row.tolerance, Some(0.005), "{row:?}");
    }
}

/// The twelve cells that the fit has not seen, at what the model promises and not wider.
fn assert_predictions_have_the_room_that_is_promised(paper: &Paper) {
    for row in paper.rows.iter().filter(|row| row.judged_by == Some(Measure::Model)) {
        let most = match row.item.split(',').next().unwrap() {
            "table of total bandwidth" | "best split" => 0.03,
            "sharing factor" => 0.02 / row.printed,
            _ => 0.04,
        };
        assert!((row.tolerance.unwrap() - most).abs() < 1e-12, "{row:?}");
    }
}

#[test]
fn an_unknown_paper_is_refused_by_naming_those_that_there_are() {
    let message = reproduce("knuth1974").unwrap_err().to_string();
    assert!(message.contains("knuth1974") && message.contains("braithwaite2012"), "{message}");
}
