//! What the program answers of records of simulated machines.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{nearfar, run, text};

/// A record of a simulated machine, in a file that is named for its options.
pub fn simulated(folder: &Path, machine: &str, options: &[&str]) -> PathBuf {
    let path = folder.join(format!("{machine}{}.jsonl", options.concat().replace("--", "-")));
    let characterize = ["characterize", "--simulate", machine, "--out"];
    let output = run(nearfar().args(characterize).arg(&path).args(options));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    path
}

/// What it prints, which keeps to the width of a terminal.
pub fn printed(arguments: &[&str]) -> String {
    let output = run(nearfar().args(arguments));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    // Names of files and machines are as long as they are.
    let is_named = |line: &&str| line.starts_with("record: ") || line.starts_with("simulated-");
    let lines = said.lines().filter(|line| !is_named(line));
    let long: Vec<&str> = lines.filter(|line| line.chars().count() > 100).collect();
    assert!(long.is_empty(), "{arguments:?}: {long:#?}");
    said
}

/// What it prints for programs.
pub fn json(arguments: &[&str]) -> Value {
    let output = run(nearfar().args(arguments).arg("--json"));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
