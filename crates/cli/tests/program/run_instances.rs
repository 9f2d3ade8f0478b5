//! `run --each-node` on this machine; guests have several nodes.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::run::run;
use crate::schema::hold;
use crate::support::{nearfar, text};

fn each(options: &[&str], script: &str) -> (Option<i32>, String, String) {
    let output = run(&[&["--each-node"], options].concat(), &["sh", "-c", script]);
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn an_instance_knows_its_place_and_its_lines_have_its_index() {
    let script = "echo {index} $NEARFAR_INDEX {node} $NEARFAR_NODE {cpus} $NEARFAR_CPUS; printf last; \
                  echo error >&2; cat";
    let (status, said, error) = each(&[], script);
    assert_eq!(status, Some(0), "{error}");
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("[0] ")).collect();
    assert_eq!(lines.len(), 2, "{said}");
    let words: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!((words[1], words[1], words[3], words[5]), (words[2], "0", words[4], words[6]));
    assert_eq!(lines[1], "[0] last");
    assert!(error.contains("[0] error\n"), "{error}");
    // The table, with its row of the status.
    assert!(error.contains("as asked") && error.contains("memory by node"), "{error}");
}

#[test]
fn the_report_has_every_instance_s_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let option = format!("--report={}", file.display());
    let (status, ..) = each(&["--follow", &option], "exit 3");
    assert_eq!(status, Some(3));
    let report: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    hold(&report);
    let instance = &report["instances"][0];
    assert_eq!((&instance["index"], &instance["status"]), (&0.into(), &3.into()), "{report:#}");
    assert_eq!(instance["report"]["memory"]["method"], "at_end", "{report:#}");
}

#[test]
fn files_that_an_instance_names_are_put_on_its_node() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large");
    fs::write(&file, vec![7; 16 << 20]).unwrap();
    let file = file.to_str().unwrap();
    let output = run(&["--each-node", "--files"], &["true", file]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(error.contains(&format!("{file}: 16 MiB in memory")), "{error}");
}

#[test]
fn the_status_is_that_of_the_first_that_failed_which_is_told() {
    let (status, _, error) = each(&[], "[ {index} != 0 ] || exit 7; sleep 60");
    assert_eq!(status, Some(7));
    assert!(error.contains("nearfar: instance 0 (node "), "{error}");
    assert!(error.contains(") ended with status 7"), "{error}");
    let (status, said, error) = each(&["--quiet"], "kill -KILL $$");
    assert_eq!((status, said.as_str(), error.as_str()), (Some(137), "", ""));
    let missing = run(&["--each-node"], &["/no/such/program"]);
    assert_eq!(missing.status.code(), Some(127));
    assert!(text(&missing.stderr).contains("[0] nearfar: cannot start '/no/such/program'"));
}

#[test]
fn output_goes_to_files_and_signals_to_the_programs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.{index}");
    let file = file.to_str().unwrap();
    let mut command = nearfar();
    command.args(["run", "--each-node", "--quiet", "--output", file, "--", "sh", "-c"]);
    command.arg("trap 'echo told; exit 3' TERM; echo up; while :; do sleep 0.1; done");
    let mut child = command.spawn().unwrap();
    let first = folder.path().join("out.0");
    while !fs::read_to_string(&first).is_ok_and(|said| said.contains("up")) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let killed = Command::new("kill").arg("-TERM").arg(child.id().to_string()).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(fs::read_to_string(&first).unwrap(), "up\ntold\n");
}

#[test]
fn what_does_not_go_together_is_refused_before_anything_starts() {
    for options in [
        &["--each-node", "--each-package"][..],
        &["--each-node", "--placement", "interleave"],
        &["--each-node", "--verify"],
        &["--output", "file"],
        &["--each-node", "--report"],
        &["--keep-going"],
        &["--each-node", "--cpus", "65000"],
        &["--each-node", "--output", "/no/such/folder/{index}"],
    ] {
        let refused = run(options, &["echo", "started"]);
        assert_eq!(refused.status.code(), Some(125), "{options:?}");
        assert!(refused.stdout.is_empty(), "{options:?}");
    }
}
