//! Runs the program itself.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

pub fn nearfar(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nearfar"))
        .args(arguments)
        .env_remove("HWLOC_XMLFILE")
        .env_remove("HWLOC_SYNTHETIC")
        .output()
        .unwrap()
}

/// The JSON that a run printed; its status must be one of these.
pub fn json_of(output: &Output, statuses: &[i32]) -> Value {
    let complaint = String::from_utf8_lossy(&output.stderr);
    let status = output.status.code();
    assert!(
        status.is_some_and(|status| statuses.contains(&status)),
        "status {status:?}: {complaint}"
    );
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {complaint}"))
}

/// The lines of a record.
pub fn lines_of(record: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(record).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
