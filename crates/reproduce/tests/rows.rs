//! The rows of every paper: how many agree, and that a wrong number does not.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::collections::BTreeSet;

use nearfar_reproduce::braithwaite2012::{self, Facts, Machines};
use nearfar_reproduce::{Paper, ROUND_TRIP, ReproduceError, Status, papers, reproduce};
use serde_json::{Value, json};

use crate::changed_file::{assert_noticed, assert_refused, changed, numbers};

const BRAITHWAITE: &str = include_str!("../../../papers/braithwaite2012.json");

fn of_changed(facts: &Value, machines: &Machines) -> Result<Paper, ReproduceError> {
    braithwaite2012::reproduce(&Facts::parse(&facts.to_string())?, machines)
}

fn machines() -> Machines {
    Machines::measure(&braithwaite2012::facts().unwrap()).unwrap()
}

/// Passed, of these by a round trip and by a prediction, explained, and given.
const COUNTS: [(&str, [usize; 5]); 5] = [
    ("braithwaite2012", [114, 54, 0, 31, 260]),
    ("vladimirov2012", [14, 11, 1, 3, 17]),
    ("ribeiro2010", [26, 8, 16, 9, 17]),
    ("denoyelle2019", [82, 73, 8, 1, 23]),
    ("saad2022", [67, 0, 63, 22, 86]),
];

/// Every number that a paper's file holds is a row: an outcome that is worked out, or an input.
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
        let (round_trips, predictions) = (paper.round_trips(), paper.predictions());
        let found = [pass, round_trips, predictions, explained, count(Status::Given)];
        assert_eq!(found, counts, "{key}");
        assert_rows_say_what_their_status_asks(&paper);
        // The thesis's file also numbers nodes and columns: its rows are counted by table.
        if key != "braithwaite2012" {
            assert_every_number_is_a_row(&paper);
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
                let why = row.round_trip.then_some(ROUND_TRIP);
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

#[test]
fn every_table_of_the_thesis_has_its_rows() {
    let paper = reproduce("braithwaite2012").unwrap();
    let compared = |table: &str| {
        let of_table = |row: &&nearfar_reproduce::Row| row.item.starts_with(&format!("{table}, "));
        let rows: Vec<_> = paper.rows.iter().filter(of_table).collect();
        let given = rows.iter().filter(|row| row.status == Status::Given).count();
        (rows.len() - given, given)
    };
    for (table, rows) in [
        ("table 3.2", (9, 3)),
        ("table 3.4", (40, 10)),
        ("table 4.1", (25, 0)),
        ("equation 4.10", (1, 0)),
        ("equation 4.11", (1, 0)),
        ("equation 4.17", (3, 0)),
        ("equation 4.18", (3, 0)),
        ("table 5.2", (7, 0)),
        ("table 5.3", (0, 72)),
        ("table 5.4", (14, 0)),
        ("table 5.5", (0, 32)),
        ("table 6.1", (5, 0)),
        ("table A.2", (12, 5)),
        ("table A.3", (9, 0)),
        ("table A.4", (0, 104)),
        ("table A.5", (14, 0)),
        ("table A.6", (0, 32)),
        ("appendix A", (2, 0)),
        ("convention", (0, 2)),
    ] {
        assert_eq!(compared(table), rows, "{table}");
    }
}

/// The files of the simulated machines hold what tables 3.4 and A.2 and the end of appendix A
/// print; nothing else that is worked out is an input of its own.
#[test]
fn figures_that_a_simulated_machine_was_given_are_round_trips() {
    let paper = reproduce("braithwaite2012").unwrap();
    for row in paper.rows.iter().filter(|row| row.status != Status::Given) {
        let given = ["table 3.4, ", "table A.2, ", "appendix A, "]
            .iter()
            .any(|table| row.item.starts_with(table));
        assert_eq!(row.round_trip, given, "{row:?}");
    }
}

#[test]
fn an_unknown_paper_is_refused_by_naming_those_that_there_are() {
    let message = reproduce("knuth1974").unwrap_err().to_string();
    assert!(message.contains("knuth1974") && message.contains("braithwaite2012"), "{message}");
}

/// Names of the fields that hold printed results. The matrices are inputs: most of
/// their values are not the best of their pair and decide nothing.
const RESULTS: [&str; 8] = ["mean", "low", "high", "sd", "max", "alpha", "d", "value"];

/// Every printed result in turn, three percent wrong: agreement and explanations both
/// hang on the number itself.
#[test]
fn a_wrong_number_fails_wherever_it_stands() {
    let facts: Value = serde_json::from_str(BRAITHWAITE).unwrap();
    let machines = machines();
    let mut paths = numbers(&facts, |path| {
        let names = path.split('/').filter(|part| part.parse::<usize>().is_err());
        names.last().is_some_and(|name| RESULTS.contains(&name))
    });
    assert_eq!(paths.len(), 169, "{paths:#?}");
    // Printed only, nothing is worked out of them: the transfers of table A.2, and in equations
    // 4.10 and 4.18 the alpha of a class without a share.
    let idle = ["/data_access/rows/0/alpha/2", "/what_if/1/alpha/2"];
    paths.retain(|path| {
        !path.starts_with("/class_tables/2/transfers") && !idle.contains(&path.as_str())
    });
    for path in paths {
        // A transfer's two interfaces are equal in every class, and the better one counts: a
        // lower figure for one of them changes nothing.
        let sides: &[f64] = if path.contains("/transfers/") && path.contains("/max/") {
            &[1.03]
        } else {
            &[1.03, 0.97]
        };
        for side in sides {
            let number = facts.pointer(&path).unwrap();
            let value = number.as_f64().unwrap();
            // To digits that the table can have printed.
            let digits = number.to_string().split('.').nth(1).map_or(0, str::len);
            let decimals = decimals_of(&path, digits);
            let unit = 10_f64.powi(-decimals);
            let wrong = (value * side / unit).round() * unit;
            let wrong = if (wrong - value).abs() < unit / 2.0 {
                value + unit * (side - 1.0).signum()
            } else {
                wrong
            };
            let text = format!("{wrong:.*}", usize::try_from(decimals).unwrap());
            let changed = changed(&facts, &path, text.parse::<Value>().unwrap());
            assert_noticed(of_changed(&changed, &machines), &format!("{path} as {wrong}"));
        }
    }
}

/// Digits after the point of the table that a number stands in.
fn decimals_of(path: &str, digits: usize) -> i32 {
    let at_least = match path {
        _ if path.contains("alpha") || path.ends_with("/d") => 4,
        _ if path.contains("/cbench/") => 0,
        _ if path.contains("/run_statistics/") => 0,
        _ => 1,
    };
    i32::try_from(digits).unwrap().max(at_least)
}

/// Two units of the last digit are too many for a row that passes.
#[test]
fn the_last_printed_digit_counts() {
    let facts: Value = serde_json::from_str(BRAITHWAITE).unwrap();
    let machines = machines();
    for (path, wrong, item) in [
        ("/alpha_tables/0/streams/0/alpha/0", "0.3045", "table 4.1, amd-2p, memory, gnu, class 0"),
        ("/alpha_tables/1/transfers/0/alpha/1", "0.3205", "table 4.1, intel-2p, readback, class 1"),
        ("/data_access/rows/0/d", "0.4363", "equation 4.10, amd-2p, D"),
        ("/what_if/0/rows/1/d", "0.2971", "equation 4.17, amd-2p, line 2, D"),
        ("/cbench/0/max/1", "3917", "table 5.2, amd-2p, memory, class 1, maximum, MB/s"),
        ("/cbench/1/alpha/0", "0.4569", "table 5.4, amd-2p, download, class 0, alpha"),
        ("/cbench/5/max/2", "2.27", "table A.5, amd-4p, readback, class 2, maximum, GB/s"),
        (
            "/relative_alphas/rows/0/alpha/2",
            "0.3335",
            "table 6.1, amd-2p, class 2, alpha relative to class 0",
        ),
        ("/run_statistics/rows/0/mean", "8129", "table 3.2, amd-2p, data on node 0, mean, MB/s"),
    ] {
        let changed = changed(&facts, path, wrong.parse::<Value>().unwrap());
        let paper = of_changed(&changed, &machines).unwrap();
        let row = paper.rows.iter().find(|row| row.item == item).unwrap();
        assert_eq!(row.status, Status::Fail, "{row:?}");
    }
}

#[test]
fn numbers_that_do_not_fit_together_are_refused() {
    let facts: Value = serde_json::from_str(BRAITHWAITE).unwrap();
    let machines = machines();
    assert_refused(
        &facts,
        |file| of_changed(file, &machines),
        &[
            ("/gamma_gb_per_s", json!(17.1)),
            ("/cbench/0/alpha", json!([0.3774])),
            ("/cbench/0/rows/0/values", json!([6395])),
            ("/cbench/0/max/0", json!(6441.5)),
            ("/cbench/0/columns/0", json!([0, 9])),
            ("/cbench/0/rows/0/values/0", json!(-1)),
            ("/relative_alphas/rows/0/machine", json!("nobody")),
        ],
    );
}
