//! What `profile` sees of programs that run. (`golden/profile.txt` has the profiles that are read.)

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::support::{nearfar, refuse, run, text};

/// Threads and pages are there whatever the kernel says of counters; each counter has a count or
/// the reason why not.
#[test]
fn threads_and_pages_are_seen_and_counters_are_counted_or_the_reason_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.json");
    let busy = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done";
    let output =
        run(nearfar().arg("profile").arg("--out").arg(&path).args(["--", "sh", "-c", busy]));
    assert_eq!(output.status.code(), Some(0));
    let profile: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert!(profile["looks"].as_array().unwrap().len() > 1);
    let bytes = profile["looks"][1]["bytes"].as_object().unwrap();
    assert!(bytes.values().map(|bytes| bytes.as_u64().unwrap()).sum::<u64>() > 100_000);
    for counter in profile["counters"].as_array().unwrap() {
        let is_counted = counter["count"].is_number();
        assert_ne!(is_counted, counter["unavailable"].is_string(), "{counter}");
    }
    let access = &profile["access"];
    if access.is_object() {
        let shares = access["pairs"].as_array().unwrap().iter();
        let sum: f64 = shares.map(|pair| pair["share"].as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{access}");
    }
}

#[test]
fn a_running_process_is_watched_and_goes_on() {
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let pid = child.id().to_string();
    let output = run(nearfar().args(["profile", "--seconds", "0.05", "--pid", &pid, "--json"]));
    let goes_on = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let profile: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(profile["program"]["name"], "sleep");
    assert_eq!(profile["program"]["attached"], true);
    assert!(goes_on && profile["most_bytes"].as_u64().unwrap() > 0);
    refuse(nearfar().args(["profile", "--pid", &pid]), 2, &["there is no process", &pid]);
}
