//! What goes wrong is said, with what to do about it and the documented status.

use std::fs;
use std::os::unix::process::CommandExt;

use crate::support::{nearfar, refuse, text};

#[test]
fn an_unknown_kernel_names_those_that_exist() {
    refuse(
        nearfar().args(["characterize", "--kernel", "triads"]),
        2,
        &["no kernel 'triads'", "triad_nt", "ddot"],
    );
}

#[test]
fn an_unknown_instruction_set_names_those_that_exist() {
    refuse(nearfar().args(["characterize", "--isa", "mmx"]), 2, &["mmx", "avx512", "portable"]);
}

#[test]
fn sizes_and_times_of_nothing_are_refused() {
    refuse(nearfar().args(["characterize", "--window", "0s"]), 2, &["from 1ms to 60s"]);
    refuse(nearfar().args(["characterize", "--working-set", "0"]), 2, &["at least 64 KiB"]);
}

#[test]
fn resuming_what_is_no_record_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    fs::write(&path, "{\"header\":{\"schema\":\"other/3\"}}\n").unwrap();
    refuse(
        nearfar().args(["characterize", "--resume", "--out"]).arg(&path),
        2,
        &["other/3", "nearfar.record/1"],
    );
    refuse(nearfar().args(["characterize", "--resume", "--out", "-"]), 2, &["standard output"]);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut command = std::process::Command::new("bash");
    command
        .args(["-c", "set -o pipefail; \"$0\" topo --synthetic 'node:64 core:8 pu:2' | head -1"]);
    let output = command.arg(env!("CARGO_BIN_EXE_nearfar")).arg0("bash").output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn a_record_in_a_folder_that_does_not_exist_is_named() {
    refuse(nearfar().args(["show", "/nowhere/r.jsonl"]), 2, &["/nowhere/r.jsonl", "No such file"]);
    let empty = tempfile::tempdir().unwrap();
    refuse(
        nearfar().arg("show").env("XDG_STATE_HOME", empty.path()),
        2,
        &["no record of this host", "nearfar characterize"],
    );
}
