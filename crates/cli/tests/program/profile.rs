//! `profile`: programs that are started and attached to, profiles that are read.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::records::record;
use crate::support::{nearfar, refuse, run, text};

const PLANTED: &str = include_str!("../../../document/tests/profiles/planted.json");

fn flat(bytes: &[u8]) -> String {
    text(bytes).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_program_keeps_its_output_its_input_and_its_status() {
    let mut command = nearfar();
    command.args(["profile", "--", "sh", "-c", "read line; echo got $line; exit 7"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"it\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(text(&output.stdout), "got it\n");
    let said = flat(&output.stderr);
    assert!(said.starts_with("sh: ") && said.contains("status 7"), "{said}");
    assert!(text(&output.stderr).lines().all(|line| line.chars().count() <= 100), "{said}");
}

#[test]
fn statuses_are_those_of_a_shell() {
    let status = |arguments: &[&str]| run(nearfar().arg("profile").args(arguments)).status.code();
    assert_eq!(status(&["--", "sh", "-c", "kill -9 $$"]), Some(137));
    assert_eq!(status(&["--", "/no/such/program"]), Some(127));
    assert_eq!(status(&["--", "/etc/passwd"]), Some(126));
    assert_eq!(status(&["--record", "/no/such/record", "--", "true"]), Some(125));
    for usage in [&[][..], &["--seconds", "1"], &["--pid", "1", "--", "true"], &["a", "--pid", "1"]]
    {
        assert_eq!(status(usage), Some(2), "{usage:?}");
    }
}

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
    refuse(nearfar().args(["profile", "--pid", &pid]), 2, &["cannot watch process", &pid]);
}

#[test]
fn a_planted_profile_lies_below_the_roofs_and_in_the_classes_of_a_record() {
    let folder = tempfile::tempdir().unwrap();
    let (record, profile) = (record("joe0"), folder.path().join("p.json"));
    // Two FLOPs for each 24 bytes, at so many GB/s; joe0 has 36.1 of local memory.
    let planted = |gb: f64| {
        let mut value: Value = serde_json::from_str(PLANTED).unwrap();
        value["figures"]["gflop_per_s"] = (gb / 12.0).into();
        value["figures"]["dram_read_gb_per_s"] = gb.into();
        value["figures"]["operational_flops_per_byte"] = (1.0 / 12.0).into();
        fs::write(&profile, value.to_string()).unwrap();
    };
    let predict = || {
        let output = run(nearfar().arg("predict").arg(&record).arg("--profile").arg(&profile));
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        flat(&output.stdout)
    };
    planted(36.1);
    let at_local = predict();
    assert!(at_local.contains("triad: 0.08333 FLOPs per byte read from memory"), "{at_local}");
    assert!(at_local.contains("its pages are as near as they can be"), "{at_local}");
    assert!(!at_local.contains(" L3 "), "roofs of caches are not for it: {at_local}");
    planted(1.0);
    assert!(predict().contains("no bandwidth limits it"), "{}", predict());
    planted(500.0);
    assert!(predict().contains("above every roof of memory"), "{}", predict());

    let output = run(nearfar().arg("profile").arg(&profile).arg("--record").arg(&record));
    let shown = flat(&output.stdout);
    assert!(shown.contains("class 0 1 75 %"), "{shown}");
    assert!(shown.contains("are taken for the same"), "{shown}");
    let page = folder.path().join("x.md");
    let report = ["--profile", profile.to_str().unwrap(), "-o", page.to_str().unwrap()];
    refuse(nearfar().arg("report").arg(&record).args(report), 2, &["has no chart"]);
}

#[test]
fn profiles_without_a_point_and_files_that_are_none_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.json");
    let mut value: Value = serde_json::from_str(PLANTED).unwrap();
    value["figures"]["operational_flops_per_byte"] = Value::Null;
    let unknown = &mut value["figures"]["unknown"];
    unknown["operational_flops_per_byte"] = "no such counter here".into();
    fs::write(&path, value.to_string()).unwrap();
    let predict = || {
        let mut command = nearfar();
        command.args(["predict", "--profile"]).arg(&path);
        command
    };
    refuse(&mut predict(), 2, &["operational_flops_per_byte is not known", "no such counter here"]);
    value["wall_seconds"] = (-1.0).into();
    fs::write(&path, value.to_string()).unwrap();
    refuse(&mut predict(), 2, &["wall_seconds is -1"]);
    fs::write(&path, "{\"schema\":\"nearfar.topo/1\"}").unwrap();
    refuse(&mut predict(), 2, &["format is 'nearfar.topo/1'"]);
    fs::write(&path, "hello").unwrap();
    refuse(nearfar().arg("profile").arg(&path), 2, &["cannot be understood"]);
}
