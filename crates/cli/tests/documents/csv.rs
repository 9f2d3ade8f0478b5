//! The CSV: its columns as docs/csv-columns.md declares them, its figures as `show` prints them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::hostile_record::hostile_record;
use crate::python::{self, docs};
use crate::reports::{nearfar, report, show_json, simulate};

/// Holds a record's CSV against the document, the record and what `show` says; its text, and the
/// columns that have no cell.
fn check(record: &Path) -> (String, BTreeSet<String>) {
    let (text, csv) = report(record, "csv");
    let files = [&csv, record, &show_json(record), &docs("csv-columns.md")];
    let said = python::run(include_str!("check_csv.py"), &files);
    assert!(said.contains("the medians of show: "), "{said}");
    let empty = said.lines().find_map(|line| line.strip_prefix("empty:")).unwrap();
    (text, empty.split_whitespace().map(String::from).collect())
}

/// Sizes of pages and a device's own clock, which a simulated machine does not have.
const NOT_SIMULATED: [&str; 4] = ["huge_bytes", "resident_bytes", "huge_page_share", "device_ns"];

/// Columns of workloads and programs, which are measured where they are asked for.
const NOT_IN_SUITES: [&str; 5] = ["strategy", "workload", "work", "work_unit", "moved_pages"];

/// Columns of hand-overs, which no suite measures either.
const OF_HAND_OVERS: [&str; 3] = ["first_cpu", "second_cpu", "by"];

/// Columns of messages, which take another machine.
const OF_MESSAGES: [&str; 4] = ["messages", "message_bytes", "sends_without_copy", "copied_sends"];

#[test]
fn every_experiment_loads_with_the_declared_types_and_the_figures_of_show() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] =
        ["two-socket-4-gpus", "knl-flat"].map(|machine| check(&simulate(folder.path(), machine)).1);
    let empty: BTreeSet<String> = NOT_SIMULATED
        .into_iter()
        .chain(NOT_IN_SUITES)
        .chain(OF_HAND_OVERS)
        .chain(OF_MESSAGES)
        .map(String::from)
        .collect();
    assert_eq!(&one & &other, empty);
}

#[test]
fn runs_of_workloads_are_rows() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("workloads.jsonl");
    let out = record.to_str().unwrap();
    let only =
        ["--only", "pairs,latency,workloads", "--suite", "standard", "--force", "--out", out];
    nearfar(&[&["characterize", "--simulate", "amd-2p"], &only[..]].concat());
    let (text, empty) = check(&record);
    assert!(text.contains(",workload,cg."), "{text:.1000}");
    assert_eq!(empty.intersection(&NOT_IN_SUITES.map(String::from).into()).count(), 0);
}

#[test]
fn hand_overs_are_rows() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("exchange.jsonl");
    let only = ["--only", "pairs,exchange", "--kernel", "load", "--out", record.to_str().unwrap()];
    nearfar(&[&["characterize", "--simulate", "two-socket-8-nodes"], &only[..]].concat());
    let (text, empty) = check(&record);
    assert!(text.contains(",exchange,"), "{text:.1000}");
    assert_eq!(empty.intersection(&OF_HAND_OVERS.map(String::from).into()).count(), 0);
}

#[test]
fn a_record_full_of_markup_is_text_on_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    let (text, _) = check(&hostile_record(folder.path()));
    for forbidden in ['\u{202e}', '\u{1b}', '\0', '\r', '\t', '\u{9b}'] {
        assert!(!text.contains(forbidden), "{forbidden:?}");
    }
}

/// A record that ended after its header has a heading and no rows.
#[test]
fn a_record_without_samples_has_its_heading() {
    let folder = tempfile::tempdir().unwrap();
    let whole = simulate(folder.path(), "knl-flat");
    let text = fs::read_to_string(&whole).unwrap();
    let path = folder.path().join("header.jsonl");
    fs::write(&path, format!("{}\n", text.lines().next().unwrap())).unwrap();
    let heading = report(&whole, "csv").0.lines().next().unwrap().to_string();
    assert_eq!(report(&path, "csv").0, heading + "\n");
}
