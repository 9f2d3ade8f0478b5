//! The metrics: strict parsers read them, docs/metrics.md names them, `show` has the same values.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::hostile_record::hostile_record;
use crate::python::{self, docs};
use crate::reports::{nearfar, report, show_json, simulate};

/// Holds metrics against the document and what `show` says; the names of their families.
fn check(metrics: &Path, show: Option<&Path>) -> BTreeSet<String> {
    let docs = docs("metrics.md");
    let files: Vec<&Path> = [metrics, &docs].into_iter().chain(show).collect();
    let said = python::run(include_str!("check_metrics.py"), &files);
    assert_eq!(said.contains("the figures of show: "), show.is_some(), "{said}");
    said.lines().filter_map(|line| line.strip_prefix("family ")).map(String::from).collect()
}

/// Values of a family, in the order of the text.
fn values(text: &str, family: &str) -> Vec<f64> {
    let lines = text.lines().filter(|line| line.starts_with(&format!("{family}{{")));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn strict_parsers_read_them_and_find_the_figures_of_show() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = BTreeSet::new();
    for machine in ["two-socket-8-nodes", "knl-flat", "amd-2p"] {
        let record = simulate(folder.path(), machine);
        let (text, metrics) = report(&record, "prom");
        assert_eq!(values(&text, "nearfar_repeated_series"), [0.0]);
        seen.extend(check(&metrics, Some(&show_json(&record))));
    }
    let text = fs::read_to_string(docs("metrics.md")).unwrap();
    let named = text.lines().filter_map(|line| line.strip_prefix("| `nearfar_"));
    let named = named.map(|row| format!("nearfar_{}", row.split('`').next().unwrap()));
    assert_eq!(seen, named.collect());
}

#[test]
fn a_record_full_of_markup_stays_in_its_quotation_marks() {
    let folder = tempfile::tempdir().unwrap();
    let record = hostile_record(folder.path());
    let (text, metrics) = report(&record, "prom");
    for forbidden in ['\u{202e}', '\u{1b}', '\0', '\r', '\u{2028}'] {
        assert!(!text.contains(forbidden), "{forbidden:?}");
    }
    check(&metrics, Some(&show_json(&record)));
}

/// The same case under two names: no collector takes two samples with the same labels.
#[test]
fn figures_with_the_same_labels_are_counted_and_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("r.jsonl");
    let quick = ["characterize", "--simulate", "amd-2p", "--suite", "quick", "--kernel", "triad"];
    nearfar(&[&quick[..], &["--samples", "2", "--out", record.to_str().unwrap()]].concat());
    let whole = fs::read_to_string(&record).unwrap();
    let plain = report(&record, "prom").0;
    let case = whole.lines().find(|line| line.starts_with("{\"case\"")).unwrap();
    let id = case.split('"').nth(5).unwrap();
    // Its samples go to the second name, from the second round on.
    let mut lines: Vec<String> = Vec::new();
    for line in whole.lines() {
        let moves = line.starts_with("{\"sample\"") && !line.contains("\"round\":0,");
        let other = line.replace(&format!("\"{id}\""), &format!("\"{id}/again\""));
        lines.push(if moves { other.clone() } else { line.into() });
        if line == case {
            lines.push(other);
        }
    }
    fs::write(&record, lines.join("\n") + "\n").unwrap();
    let (text, metrics) = report(&record, "prom");
    check(&metrics, None);
    // Median and bounds of the sum and the pace, confidence, share of disturbed samples, caches.
    assert_eq!(values(&text, "nearfar_repeated_series"), [9.0]);
    assert_eq!(values(&plain, "nearfar_repeated_series"), [0.0]);
    let count = |text| values(text, "nearfar_bandwidth_bytes_per_second").len();
    assert_eq!(count(&text), count(&plain));
}
