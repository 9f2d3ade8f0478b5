//! What goes wrong is said, with what to do about it and the documented status.

use std::fs;
use std::os::unix::process::CommandExt;

use crate::support::{nearfar, refuse, text};

#[test]
fn an_unknown_instruction_set_names_those_that_exist() {
    let known = nearfar_kernels::Variant::available().into_iter().map(|it| it.to_string());
    let known = known.collect::<Vec<_>>().join(", ");
    refuse(nearfar().args(["characterize", "--isa", "mmx"]), 2, &["mmx", &known, "portable"]);
}

#[test]
fn resuming_what_is_no_record_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    fs::write(&path, "{\"header\":{\"schema\":\"other/3\"}}\n").unwrap();
    refuse(
        nearfar().args(["characterize", "--resume", "--out"]).arg(&path),
        2,
        &["other/3", "nearfar.record/2"],
    );
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
