//! `nearfar run` where a part of a placement is refused: the program does not start; with
//! `--best-effort` it does, and what was lost is said to people and in the report.

use std::fs;
use std::process::Output;

use nearfar_lab::{build_lab_program, build_touchers};
use nearfar_sys::thread_cpus;
use serde_json::Value;

use crate::support::{Place, assert_said, can, refused_by_host, skip};

/// Memory that the program touches.
const BYTES: u64 = 8 << 20;

/// Words of a line of shell that make a file, by which it shows whether the program ran, and
/// then become a program that touches [`BYTES`], holds them for this many ms and says so.
fn program(hold_ms: u32) -> String {
    format!("bash -c 'touch ran; exec ./toucher -m 8 -h {hold_ms}'")
}

fn place() -> Place {
    let place = Place::new();
    build_touchers(&place.path("")).unwrap();
    place
}

/// What `nearfar run` did; its report, where it wrote one.
struct Ran {
    output: Output,
    report: Option<Value>,
    program_ran: bool,
}

/// Runs the program by a line's begin, as `./nearfar run --placement bind:0`, under a filter.
fn run(place: &Place, filter: Option<&str>, begin: &str) -> Ran {
    run_for(place, filter, begin, 100)
}

fn run_for(place: &Place, filter: Option<&str>, begin: &str, hold_ms: u32) -> Ran {
    let program = program(hold_ms);
    for name in ["ran", "report.json"] {
        fs::remove_file(place.path(name)).ok();
    }
    let output = place.sh_under(filter, &format!("exec {begin} --report=report.json -- {program}"));
    let report = fs::read_to_string(place.path("report.json")).ok();
    let report = report.map(|text| serde_json::from_str(&text).unwrap());
    Ran { output, report, program_ran: place.path("ran").exists() }
}

/// The program ran, and nothing but its line is on standard output; the report.
fn assert_ran(ran: &Ran) -> &Value {
    assert_said(&ran.output, 0, &[]);
    assert!(ran.program_ran);
    let truth: Value = serde_json::from_slice(&ran.output.stdout).unwrap();
    assert!(truth["pages"].is_object(), "{truth}");
    let report = ran.report.as_ref().unwrap();
    assert_eq!((&report["schema"], &report["status"]), (&"nearfar.run/2".into(), &0.into()));
    report
}

/// The program does not run under a part of its placement, and these words skip why; with
/// `--best-effort` it does, and they are in the report and said to people.
fn assert_lost(place: &Place, filter: Option<&str>, begin: &str, words: &[&str]) {
    // Becoming the program, and staying beside it.
    let alone = place.sh_under(filter, &format!("exec {begin} -- touch ran-alone"));
    assert_said(&alone, 125, words);
    assert!(!place.path("ran-alone").exists(), "{filter:?} {begin}");
    let ran = run(place, filter, begin);
    assert_said(&ran.output, 125, words);
    assert!(!ran.program_ran && ran.output.stdout.is_empty(), "{filter:?} {begin}");
    let ran = run(place, filter, &format!("{begin} --best-effort"));
    let report = assert_ran(&ran);
    let refused = report["refused"].to_string();
    for word in words {
        assert!(refused.contains(word), "{filter:?} {begin}: {refused} without {word}");
    }
    for refusal in report["refused"].as_array().unwrap() {
        let words = |part: &str| refusal[part].as_str().is_some_and(|words| !words.is_empty());
        // Of what the kernel granted only in part the reason says what to choose from.
        let remedy = words("remedy") || refusal["reason"].to_string().contains("choose from");
        assert!(words("what") && words("reason") && remedy, "{refusal}");
    }
}

/// Nothing is refused.
fn assert_kept(ran: &Ran) {
    let report = assert_ran(ran);
    assert_eq!(report["refused"], Value::Array(Vec::new()), "{report}");
}

/// Calls of memory policies as a container's profile refuses them, as a sandbox lacks them, and
/// as one answers that only pretends.
#[test]
fn run_without_memory_policies() {
    let place = place();
    if refused_by_host().contains("set_mempolicy") {
        skip("this machine refuses memory policies by itself");
        return;
    }
    let node = nearfar_sys::usable_nodes("/".as_ref()).unwrap().first().unwrap();
    for error in ["EPERM", "ENOSYS"] {
        let calls = ["mbind", "set_mempolicy", "get_mempolicy", "move_pages"];
        let filter = calls.map(|call| format!("{call}={error}")).join(",");
        for placement in
            [format!("bind:{node}"), format!("preferred:{node}"), format!("interleave:{node}")]
        {
            let begin = format!("./nearfar run --placement {placement}");
            assert_lost(&place, Some(&filter), &begin, &["set_mempolicy", error]);
        }
        let begin = "./nearfar run --placement first-touch";
        assert_kept(&run(&place, Some(&filter), begin));
    }
    let begin = format!("./nearfar run --placement bind:{node}");
    assert_lost(&place, Some("set_mempolicy=OK"), &begin, &["set_mempolicy"]);
    assert_kept(&run(&place, None, &begin));
}

/// What runs cannot be moved, whether the call is refused, is not there, or is only pretended.
#[test]
fn move_without_its_call() {
    let place = Place::new();
    let node = nearfar_sys::usable_nodes("/".as_ref()).unwrap().first().unwrap();
    let line = format!(
        "sleep 60 & sleeper=$!; ./nearfar move --pid $sleeper bind:{node}; status=$?; kill $sleeper; \
         exit $status"
    );
    for filter in ["move_pages=EPERM", "move_pages=ENOSYS", "move_pages=OK"] {
        let output = place.sh_under(Some(filter), &line);
        assert_said(&output, 3, &["move_pages(2) is forbidden here", "on the host"]);
    }
    if !refused_by_host().contains("move_pages") {
        assert_said(&place.sh(&line), 0, &[]);
    }
}

/// Threads cannot be placed.
#[test]
fn run_without_affinity() {
    let cpus = thread_cpus().unwrap();
    if cpus.len() < 2 {
        skip("on one CPU there is nothing to choose");
        return;
    }
    let (place, first) = (place(), cpus.first().unwrap());
    let begin = format!("./nearfar run --placement first-touch --cpus {first}");
    for filter in ["sched_setaffinity=EPERM", "sched_setaffinity=ENOSYS", "sched_setaffinity=OK"] {
        assert_lost(&place, Some(filter), &begin, &["sched_setaffinity"]);
    }
    let ran = run(&place, None, &begin);
    assert_kept(&ran);
    let truth: Value = serde_json::from_slice(&ran.output.stdout).unwrap();
    assert_eq!(truth["threads"][0]["cpus"], Value::from(vec![first]), "{truth}");
}

/// Half of the machine is taken away by affinity: a placement on all of it uses what is left,
/// one that names the rest loses it.
#[test]
fn run_on_half_of_the_machine() {
    let cpus = thread_cpus().unwrap();
    if cpus.len() < 2 {
        skip("one CPU has no half");
        return;
    }
    let place = place();
    let (first, last) = (cpus.first().unwrap(), cpus.last().unwrap());
    let within = format!("taskset -c {first} ./nearfar run");
    for placement in ["first-touch", "compact", "scatter", "spread", "local"] {
        let ran = run(&place, None, &format!("{within} --placement {placement}"));
        assert_kept(&ran);
        let truth: Value = serde_json::from_slice(&ran.output.stdout).unwrap();
        assert_eq!(truth["threads"][0]["seen"], Value::from(vec![first]), "{placement}: {truth}");
    }
    let both = format!("{within} --placement first-touch --cpus {first},{last}");
    assert_lost(&place, None, &both, &[&last.to_string()]);
}

/// Without ptrace(2) a program can be looked at and not followed.
#[test]
fn run_without_tracing() {
    let place = place();
    for error in ["EPERM", "ENOSYS"] {
        let filter = format!("ptrace={error}");
        // Where others use the CPUs a look takes long, and the next one waits the longer.
        let is_seen = [100, 1000, 10_000].into_iter().any(|hold_ms| {
            let begin = "./nearfar run --placement first-touch";
            let ran = run_for(&place, Some(&filter), begin, hold_ms);
            assert_kept(&ran);
            let report = ran.report.unwrap();
            assert_eq!(report["memory"]["method"], "seen", "{report}");
            let counted = report["memory"]["own_bytes_by_node"].as_object().unwrap().values();
            counted.map(|bytes| bytes.as_u64().unwrap()).sum::<u64>() >= BYTES
        });
        assert!(is_seen, "{error}: its memory is seen while it holds it");
        let followed = run(&place, Some(&filter), "./nearfar run --follow");
        assert_said(&followed.output, 125, &["--follow", "ptrace"]);
        assert!(!followed.program_ran);
    }
    let ran = run(&place, None, "./nearfar run --follow");
    assert_eq!(assert_ran(&ran)["memory"]["method"], "at_end");
}

/// As in a control group whose pids.max is used up: to become a program takes no process.
#[test]
fn run_without_another_process() {
    let (place, under_filter) = (
        place(),
        build_lab_program("under_filter", env!("CARGO_BIN_EXE_nearfar").as_ref()).unwrap(),
    );
    let under_filter = under_filter.display();
    let begin =
        format!("exec {under_filter} clone=EAGAIN,clone3=EAGAIN,fork=EAGAIN,vfork=EAGAIN --");
    let output = place.sh(&format!("{begin} ./nearfar run -- ./toucher -m 8"));
    assert_said(&output, 0, &[]);
    for way in ["--report", "--follow"] {
        let output = place.sh(&format!("{begin} ./nearfar run {way} -- true"));
        assert_said(&output, 125, &["cannot start 'true'", "os error 11"]);
    }
}

/// Where /proc is hidden, the program runs and its pages are unknown.
#[test]
fn run_without_proc() {
    if !can("a mount namespace", "unshare -m -n mount -t tmpfs none /mnt") {
        return;
    }
    let place = place();
    for name in ["ran", "report.json"] {
        fs::remove_file(place.path(name)).ok();
    }
    let line = "exec unshare -m -n bash -c 'mount -t tmpfs none /proc && exec ./nearfar run \
                --placement first-touch --report=report.json -- ./toucher -m 8 -h 300'";
    let output = place.sh(line);
    assert_said(&output, 0, &[]);
    let truth: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(truth["pages"].is_object(), "{truth}");
    let report: Value =
        serde_json::from_str(&fs::read_to_string(place.path("report.json")).unwrap()).unwrap();
    assert!(report["memory"].is_null(), "{report}");
    assert!(report["memory_absent"].as_str().unwrap().contains("/proc"), "{report}");
}
