//! Records written by hand as `show` prints them. `UPDATE_EXPECT=1 cargo test` writes the
//! expected texts again.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod absences;
mod evidence;
mod handmade;
mod hybrid;
mod latency;
mod links;
mod mixes;
mod roofs;
mod scaling;
mod sharing;

use std::fs;
use std::path::Path;

use nearfar_record::Record;
use nearfar_report::ShowView;
use serde_json::Value;

/// The record's text is the one in `expected/NAME.txt`; its JSON is returned.
fn shown(name: &str, record: &Record) -> Value {
    let view = ShowView::new(record);
    let text = view.text();
    let expected =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/show/expected/{name}.txt"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&expected, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&expected).unwrap());
    assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
    serde_json::to_value(&view).unwrap()
}

/// Whether two numbers are the same but for rounding.
fn near(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - expected).abs() <= 1e-9 * expected.abs().max(1.0))
}
