//! `profile --pressure`: programs in turns alone and beside loads.

use std::path::Path;

use serde_json::Value;

use crate::support::{measuring, nearfar, run, text};

fn pressed(record: &Path, program: &[&str]) -> std::process::Output {
    let mut pressed = nearfar();
    pressed.env("XDG_STATE_HOME", record.parent().unwrap());
    pressed.args(["profile", "--pressure", "--json", "--budget", "60s", "--record"]).arg(record);
    run(pressed.arg("--").args(program))
}

/// What fails, what is over at once and what goes on in the background has no time of its own; a
/// record without curves says how to measure them.
#[test]
fn a_program_is_run_beside_loads_or_it_is_said_why_not() {
    if nearfar_sys::thread_cpus().unwrap().len() < 2 {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (without, record) = (folder.path().join("quick.jsonl"), folder.path().join("own.jsonl"));
    measuring(|| {
        for (path, suite) in [(&without, "quick"), (&record, "standard")] {
            let measure = ["characterize", "--only", "latency", "--suite", suite, "--out"];
            let output = run(nearfar().args(measure).arg(path).args(["--window", "5ms"]));
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
        let refused = |record: &Path, program: &[&str], status: i32, why: &str| {
            let output = pressed(record, program);
            assert_eq!(output.status.code(), Some(status), "{}", text(&output.stdout));
            assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
        };
        refused(&without, &["true"], 125, "measures it");
        refused(&record, &["sh", "-c", "echo no disk; exit 7"], 7, "no disk");
        refused(&record, &["true"], 2, "give it work");
        refused(&record, &["sh", "-c", "sleep 2 >&- 2>&- & sleep 0.2"], 2, "go on");
        refused(&record, &["/no/such/program"], 127, "/no/such/program");
        refused(&record, &["/etc/passwd"], 126, "/etc/passwd");

        let output = pressed(&record, &["sleep", "0.15"]);
        let said = text(&output.stderr);
        assert!(said.contains("--budget ends it"), "{said}");
        if !output.status.success() {
            // Curves of such short windows can be of no use to it on a busy machine, and a hypervisor can move
            // the CPUs in nearly every run; what ran is kept.
            let moved = said.contains("the hypervisor had put CPUs on other cores");
            assert!(moved || said.contains("no law fits its runs"), "{said}");
            let kept = said.lines().find_map(|line| line.strip_prefix("runs  ")).unwrap();
            let shown = run(nearfar().args(["show", "--json", kept.trim()]));
            assert!(shown.status.success(), "{}", text(&shown.stderr));
            return;
        }
        let profile: Value = serde_json::from_slice(&output.stdout).unwrap();
        let runs = profile["runs"].as_array().unwrap();
        assert!(runs.len() >= 2 && runs[0]["load"].is_null(), "{profile}");
        // It sleeps whatever runs beside it.
        assert!(profile["parts"]["core_seconds"].as_f64().unwrap() > 0.05, "{profile}");
        for beside in &runs[1..] {
            assert!(beside["traffic_gb_per_s"].as_f64().unwrap() > 0.0, "{beside}");
            assert_eq!(beside["placed_share"].as_f64(), Some(1.0), "{beside}");
        }
    });
}
