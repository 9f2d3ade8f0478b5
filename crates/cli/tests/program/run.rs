//! Programs under a placement.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::{nearfar, refuse, text};

/// A program that holds so many MiB and ends without giving them back.
const HOLDER: &str = "import os, sys, time; held = b'x' * (int(sys.argv[1]) << 20); \
                      time.sleep(0.2); os._exit(0)";

fn start(options: &[&str], program: &[&str]) -> Command {
    let mut command = nearfar();
    command.arg("run").args(options).arg("--").args(program);
    for name in ["OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"] {
        command.env_remove(name);
    }
    command
}

fn run(options: &[&str], program: &[&str]) -> Output {
    start(options, program).output().unwrap()
}

/// The report of a run that ends with this status.
fn report(options: &[&str], program: &[&str], status: i32) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let output = run(&[&["--report", path.to_str().unwrap()], options].concat(), program);
    assert_eq!(output.status.code(), Some(status), "{}", text(&output.stderr));
    serde_json::from_slice(&fs::read(&path).unwrap()).unwrap()
}

fn allowed_cpus() -> String {
    nearfar_sys::thread_cpus().unwrap().to_string()
}

fn first_node() -> u32 {
    nearfar_sys::usable_nodes(Path::new("/")).unwrap().first().unwrap()
}

#[test]
fn the_status_is_the_program_s_own() {
    for (script, status) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("exit 255", 255),
        ("kill -TERM $$", 143),
        ("kill -KILL $$", 137),
    ] {
        assert_eq!(run(&["-q"], &["sh", "-c", script]).status.code(), Some(status), "{script}");
    }
    refuse(&mut start(&[], &["/no/such/program"]), 127, &["/no/such/program", "No such file"]);
    refuse(&mut start(&[], &["/"]), 126, &["Permission denied"]);
    refuse(&mut start(&["--placement", "best"], &["true"]), 2, &["weighted:NODE=WEIGHT"]);
    refuse(&mut start(&["--cpus", ""], &["true"]), 2, &["no CPU"]);
    refuse(nearfar().arg("run"), 2, &["COMMAND"]);
}

#[test]
fn standard_streams_are_the_program_s_own() {
    let mut child = start(&[], &["sh", "-c", "cat; echo aside >&2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"through\0it").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"through\0it");
    let said = text(&output.stderr);
    assert!(said.starts_with("aside\n") && said.contains("nearfar: local: cpus="), "{said}");
    let quiet = run(&["-q"], &["sh", "-c", "echo aside >&2"]);
    assert_eq!(text(&quiet.stderr), "aside\n");
}

#[test]
fn memory_of_the_program_and_its_children_is_counted() {
    let node = first_node();
    for (placement, program) in [
        (format!("preferred:{node}"), vec!["python3", "-c", HOLDER, "64"]),
        (format!("bind:{node}"), vec!["sh", "-c", "python3 -c \"$0\" 64; true", HOLDER]),
        (format!("weighted:{node}=3"), vec!["sh", "-c", "(python3 -c \"$0\" 64); exit 0", HOLDER]),
    ] {
        let view = report(&["--placement", &placement], &program, 0);
        let shares = &view["pages"]["achieved_shares"];
        assert_eq!(shares[node.to_string()], 1.0, "{view}");
        assert_eq!(
            (&view["pages"]["largest_deviation"], &view["refused"]),
            (&0.0.into(), &Value::Array(vec![]))
        );
        let bytes = view["pages"]["bytes_by_node"][node.to_string()].as_u64().unwrap();
        assert!(bytes > 64 << 20 && bytes < 256 << 20, "{view}");
    }
}

#[test]
fn threads_and_programs_keep_to_the_cpus() {
    let cpus = nearfar_sys::thread_cpus().unwrap();
    let one = cpus.last().unwrap().to_string();
    let program = ["sh", "-c", "grep Cpus_allowed_list /proc/self/status"];
    let output = run(&["-q", "--cpus", &one], &program);
    assert_eq!(text(&output.stdout).split_whitespace().last().unwrap(), one);
    let view = report(&["--cpus", &one], &["sh", "-c", "sleep 0.1; true"], 0);
    for thread in view["threads"].as_array().unwrap() {
        assert_eq!(thread["cpus_allowed"], *one, "{view}");
    }
    assert_eq!(view["binding"], format!("cpus={one} mem=first-touch"));
}

/// Threads are pinned one by one; the first of a process stays free, and so does what it starts.
#[test]
fn threads_are_pinned_in_order() {
    let code = "import os, threading, subprocess\n\
        def show(): print(*sorted(os.sched_getaffinity(threading.get_native_id())))\n\
        for _ in range(2):\n    t = threading.Thread(target=show); t.start(); t.join()\n\
        show()\n\
        t = threading.Thread(target=lambda: subprocess.run(['grep', 'Cpus_allowed_list', '/proc/self/status']))\n\
        import sys; sys.stdout.flush(); t.start(); t.join()";
    let cpus = nearfar_sys::thread_cpus().unwrap();
    let output = run(&["-q", "--placement", "compact"], &["python3", "-c", code]);
    let said = text(&output.stdout);
    let lines: Vec<&str> = said.lines().collect();
    for line in &lines[..2] {
        let cpu: u32 = line.parse().unwrap_or_else(|_| panic!("'{line}' is not one CPU: {said}"));
        assert!(cpus.contains(cpu));
    }
    let all: Vec<String> = cpus.iter().map(|cpu| cpu.to_string()).collect();
    assert_eq!(lines[2], all.join(" "));
    assert_eq!(lines[3].split_whitespace().last().unwrap(), allowed_cpus());
}

#[test]
fn openmp_is_told_the_order_unless_the_user_has_told_it() {
    let script = "echo \"$OMP_PLACES $OMP_PROC_BIND $KMP_AFFINITY\"";
    let said = |placement: &str, variable: Option<(&str, &str)>| {
        let mut command = start(&["-q", "--placement", placement], &["sh", "-c", script]);
        command.envs(variable);
        text(&command.output().unwrap().stdout)
    };
    let close = said("compact", None);
    assert!(close.starts_with('{') && close.ends_with("} close \n"), "{close}");
    assert_eq!(close.matches('{').count(), nearfar_sys::thread_cpus().unwrap().len());
    assert!(said("memory-bind", None).ends_with("} spread \n"));
    assert_eq!(said("compact", Some(("KMP_AFFINITY", "none"))), "  none\n");
    assert_eq!(said("scatter", Some(("OMP_PROC_BIND", "false"))), " false \n");
    assert_eq!(said("interleave", None), "  \n");
}

#[test]
fn what_cannot_be_had_is_said_and_strict_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let script = format!("echo ran >'{}'", mark.display());
    for options in [["--placement", "bind:900"], ["--placement", "local:900"], ["--cpus", "60000"]]
    {
        let output = run(&options, &["sh", "-c", &script]);
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output.stderr).contains("refused: "), "{}", text(&output.stderr));
        assert!(mark.exists(), "{options:?}");
        fs::remove_file(&mark).unwrap();
        let view = report(&[&options[..], &["--strict"]].concat(), &["sh", "-c", &script], 125);
        assert!(!mark.exists(), "{options:?}");
        assert_eq!(view["status"], Value::Null);
        assert_eq!(view["pages_absent"], "the program was not started");
        let refused = view["refused"].as_array().unwrap();
        assert!(!refused.is_empty() && refused.iter().all(|part| part["reason"] != ""), "{view}");
    }
    let untouched = run(&["--strict"], &["true"]);
    assert_eq!(untouched.status.code(), Some(0), "{}", text(&untouched.stderr));
}

/// A signal that is sent to nearfar alone reaches the program, which may live on.
#[test]
fn signals_are_handed_on() {
    let script = "trap 'echo told; exit 4' TERM; echo up; while :; do sleep 0.02; done";
    let mut child = start(&["-q"], &["sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut first = [0; 3];
    std::io::Read::read_exact(&mut out, &mut first).unwrap();
    let kill = format!("kill -TERM {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(4));
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut out, &mut rest).unwrap();
    assert_eq!(rest, "told\n");
}

/// What a program leaves behind goes on, and a stopped one can be woken.
#[test]
fn daemons_and_stopped_programs_are_left_to_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let script = format!(
        "(while kill -CONT $$; do sleep 0.02; done; echo alive >'{}') 2>/dev/null & \
         kill -STOP $$; exit 6",
        mark.display()
    );
    assert_eq!(run(&["-q"], &["sh", "-c", &script]).status.code(), Some(6));
    while !mark.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// The kernel would not tell how children ended where SIGCHLD is ignored.
#[test]
fn ignored_signals_of_children_are_no_hindrance() {
    let line =
        format!("trap '' CHLD; exec '{}' run -q -- sh -c 'exit 5'", env!("CARGO_BIN_EXE_nearfar"));
    let status = Command::new("bash").args(["-c", &line]).status().unwrap();
    assert_eq!(status.code(), Some(5));
}

#[test]
fn a_placement_is_verified_by_running_in_turns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs");
    let script = format!("echo run >>'{}'; echo noise; sleep 0.01", path.display());
    let report = folder.path().join("run.json");
    let options = ["--verify", "--placement", "interleave", "--report", report.to_str().unwrap()];
    let status = run(&options, &["sh", "-c", &script]).status.code();
    let view: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
    let found = &view["verification"];
    let rounds = found["rounds"].as_u64().unwrap();
    let runs = fs::read_to_string(&path).unwrap().lines().count() as u64;
    assert_eq!(runs, 2 * rounds, "{view}");
    assert!((8..=30).contains(&rounds));
    // Whether one is slower is for the machine to say.
    let expected = if found["verdict"] == "slower" { 1 } else { 0 };
    assert_eq!(status, Some(expected), "{view}");
    let output = run(&["--verify"], &["sh", "-c", "echo noise; exit 3"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stdout.is_empty());
    assert!(text(&output.stderr).contains("without --verify"), "{}", text(&output.stderr));
}

#[test]
fn auto_goes_by_a_record_of_this_machine_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let simulated = path("simulated.jsonl");
    let simulate = ["characterize", "--simulate", "joe0", "--suite", "quick", "--out", &simulated];
    assert!(nearfar().args(simulate).output().unwrap().status.success());
    let by = |record: &str| start(&["--placement", "auto", "--record", record], &["true"]);
    refuse(&mut by(&simulated), 2, &["simulated machine"]);
    refuse(&mut by(&path("none.jsonl")), 2, &["a record of this machine", "none.jsonl"]);
}
