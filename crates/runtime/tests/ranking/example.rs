//! The example runs and its schedule is the better one.

use std::path::PathBuf;
use std::process::Command;

use nearfar_record::{Line, Record, RecordWriter};
use tempfile::TempDir;

use crate::simulated::shared;

/// Beside the tests: `target/debug/deps/ranking-..` and `target/debug/examples/schedule`.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples/schedule")
}

fn write(record: &Record) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.jsonl");
    let mut writer = RecordWriter::create(&path, false).unwrap();
    writer.write(&Line::Header(Box::new(record.header.clone()))).unwrap();
    for case in &record.cases {
        writer.write(&Line::Case(case.clone())).unwrap();
    }
    for sample in &record.samples {
        writer.write(&Line::Sample(Box::new(sample.clone()))).unwrap();
    }
    (folder, path)
}

#[test]
fn tasks_near_their_data_move_more_together() {
    let (_folder, path) = write(&shared("itanium2"));
    let output = Command::new(program()).arg(&path).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.starts_with("8 tasks on 4 places (simulated itanium2)"), "{text}");
    let figures = |name: &str| -> Vec<f64> {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].split_whitespace().map(|it| it.parse().unwrap()).collect()
    };
    let (near, in_turn) = (figures("near data"), figures("in turn"));
    // All memory of this machine that is not local is two and a half times as slow.
    assert!(near[0] > 1.5 * in_turn[0], "{text}");
    assert!(near[1] < in_turn[1], "{text}");
}

#[test]
fn a_record_that_is_none_is_said() {
    let output = Command::new(program()).arg("/nowhere.jsonl").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("schedule: No such file"));
}
