//! Every number that a paper's file holds is a row: an outcome that is worked out, or an input.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use nearfar_reproduce::{papers, reproduce};
use serde_json::Value;

/// Fields that say how numbers are printed, or name a thing; they are no figures of the paper.
const WORDS: [&str; 2] = ["decimals", "reference"];

fn numbers(value: &Value, found: &mut Vec<f64>) {
    match value {
        Value::Object(fields) => {
            // A number of threads beside figures says whose they are.
            let is_label = |name: &str, value: &Value| name == "threads" && value.is_number();
            let figures = fields
                .iter()
                .filter(|(name, value)| !WORDS.contains(&name.as_str()) && !is_label(name, value));
            figures.for_each(|(_, value)| numbers(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| numbers(item, found)),
        Value::Number(number) => found.push(number.as_f64().unwrap()),
        _ => {}
    }
}

#[test]
fn every_number_of_a_paper_is_a_row() {
    // The thesis's file also numbers nodes and columns; `rows.rs` counts its tables' rows.
    for key in papers().iter().filter(|key| **key != "braithwaite2012") {
        let path = format!("{}/../../papers/{key}.json", env!("CARGO_MANIFEST_DIR"));
        let file: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let mut left = Vec::new();
        numbers(&file, &mut left);
        assert!(left.len() > 10, "{path}");
        for row in reproduce(key).unwrap().rows {
            let same = left.iter().position(|number| (number - row.printed).abs() < 1e-9);
            if let Some(same) = same {
                left.swap_remove(same);
            }
        }
        assert!(left.is_empty(), "{path} has numbers without a row: {left:?}");
    }
}
