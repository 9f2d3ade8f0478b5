//! Programs under a placement.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;

use nearfar_lab::build_load;
use nearfar_machine::LocalRank;
use serde_json::Value;
use tempfile::TempDir;

use crate::schema::hold;
use crate::support::{nearfar, text};

/// What keeps nearfar beside the program; without any of it nearfar becomes the program.
const STAYING: [&[&str]; 2] = [&["--report"], &["--follow"]];

/// Each way to start a program.
fn ways() -> impl Iterator<Item = &'static [&'static str]> {
    [&[][..]].into_iter().chain(STAYING)
}

fn start(options: &[&str], program: &[&str]) -> Command {
    let mut command = nearfar();
    command.arg("run").args(options).arg("--").args(program);
    for name in ["OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"] {
        command.env_remove(name);
    }
    command
}

pub fn run(options: &[&str], program: &[&str]) -> Output {
    start(options, program).output().unwrap()
}

/// The report of a run that ends with this status.
pub fn report(options: &[&str], program: &[&str], status: i32) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let option = format!("--report={}", path.display());
    let output = run(&[&[option.as_str()], options].concat(), program);
    assert_eq!(output.status.code(), Some(status), "{}", text(&output.stderr));
    let report = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    hold(&report);
    report
}

/// `lab/programs/load.c`.
pub fn load(words: &[&str]) -> Vec<String> {
    static BUILT: LazyLock<TempDir> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        build_load(folder.path()).unwrap();
        folder
    });
    let program = BUILT.path().join("load").display().to_string();
    [&[program.as_str(), "1"], words].concat().iter().map(ToString::to_string).collect()
}

pub fn first_node() -> u32 {
    nearfar_sys::usable_nodes(Path::new("/")).unwrap().first().unwrap()
}

/// Each of a launcher's processes is on its part of the nodes, or on those of the CPUs that it has from its
/// launcher; without one there is none.
#[test]
fn near_a_rank_is_the_launcher_s_word() {
    let rank = |through: &[&str], set: &[(&str, &str)]| {
        let nearfar = env!("CARGO_BIN_EXE_nearfar");
        let words = [through, &[nearfar, "run", "--near", "rank", "--", "true"]].concat();
        let mut command = Command::new(words[0]);
        for name in LocalRank::variables() {
            command.env_remove(name);
        }
        let output = command.args(&words[1..]).envs(set.iter().copied()).output().unwrap();
        (output.status.code(), text(&output.stderr).to_string())
    };
    let alone = rank(&[], &[]);
    assert_eq!(alone.0, Some(125), "{alone:?}");
    assert!(alone.1.contains("no launcher says"), "{alone:?}");
    let of_thousand = [("MPI_LOCALRANKID", "0"), ("MPI_LOCALNRANKS", "1000")];
    let own = nearfar_sys::thread_cpus().unwrap();
    let attainable = nearfar_sys::attainable_cpus(Path::new("/")).unwrap();
    if attainable.is_subset(&own) {
        let free = rank(&[], &of_thousand);
        let on = format!("local rank 0 of 1000 (MPI_LOCALRANKID) is on node {}", first_node());
        assert_eq!(free.0, Some(0), "{free:?}");
        assert!(free.1.contains(&on), "{free:?}");
    }
    if attainable.len() > 1 {
        let cpu = own.first().unwrap().to_string();
        let bound = rank(&["taskset", "-c", &cpu], &of_thousand);
        let from = format!("(MPI_LOCALRANKID), with CPUs {cpu} from its launcher, is on node");
        assert_eq!(bound.0, Some(0), "{bound:?}");
        assert!(bound.1.contains(&from), "{bound:?}");
    }
}

/// A thread that its process ends before it has run never stops for whoever follows it.
#[test]
fn threads_that_end_before_they_begin_hold_nobody_up() {
    let program = load(&["unborn", "300"]);
    let program: Vec<&str> = program.iter().map(String::as_str).collect();
    report(&["--follow"], &program, 0);
}

#[test]
fn the_end_is_the_program_s_own() {
    for way in ways() {
        for (script, status, signal) in [
            ("exit 0", Some(0), None),
            ("exit 255", Some(255), None),
            ("kill -TERM $$", None, Some(15)),
            ("kill -KILL $$", None, Some(9)),
        ] {
            let ended = run(way, &["sh", "-c", script]).status;
            assert_eq!((ended.code(), ended.signal()), (status, signal), "{way:?} {script}");
        }
    }
}

/// The program has nearfar's own number and parent, nobody traces it, and no parent is left over.
#[test]
fn nearfar_becomes_the_program() {
    let script = "echo $$ $PPID $(grep TracerPid /proc/self/status)";
    let child = start(&[], &["sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let (nearfar, own) = (child.id(), std::process::id());
    let said = text(&child.wait_with_output().unwrap().stdout);
    assert_eq!(said, format!("{nearfar} {own} TracerPid: 0\n"));
    // A parent that stays does not trace either.
    let output = run(&["--report"], &["sh", "-c", script]);
    assert!(text(&output.stdout).ends_with("TracerPid: 0\n"), "{}", text(&output.stdout));
}

#[test]
fn standard_streams_are_the_program_s_own() {
    for way in ways() {
        let mut child = start(way, &["sh", "-c", "cat; echo aside >&2"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"through\0it").unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.stdout, b"through\0it");
        let said = text(&output.stderr);
        let is_reported = said.contains("nearfar: local: ");
        assert!(said.starts_with("aside\n"), "{way:?} {said}");
        assert_eq!(is_reported, way.contains(&"--report"), "{way:?} {said}");
        assert!(is_reported || said == "aside\n", "{way:?} {said}");
    }
}

/// The program's parent is a thread that lives until it ends.
#[test]
fn a_program_that_dies_with_its_parent_lives() {
    if Command::new("setpriv").arg("--help").output().is_err() {
        return; // util-linux is not there
    }
    let program = ["setpriv", "--pdeathsig", "KILL", "sh", "-c", "sleep 0.02; exit 5"];
    for way in ways() {
        let mut killed = 0;
        for _ in 0..20 {
            let spawn = |_| {
                start(way, &program).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
            };
            let started: Vec<Child> = (0..10).map(spawn).collect();
            for mut child in started {
                killed += usize::from(child.wait().unwrap().code() != Some(5));
            }
        }
        assert_eq!(killed, 0, "of 200 by {way:?}");
    }
}

#[test]
fn threads_and_programs_keep_to_the_cpus() {
    let cpus = nearfar_sys::thread_cpus().unwrap();
    let one = cpus.last().unwrap().to_string();
    let program = ["sh", "-c", "grep Cpus_allowed_list /proc/self/status"];
    let output = run(&["--cpus", &one], &program);
    assert_eq!(text(&output.stdout).split_whitespace().last().unwrap(), one);
    let told = report(&["--cpus", &one], &["sh", "-c", "sleep 0.2; true"], 0);
    for thread in told["threads"].as_array().unwrap() {
        assert_eq!(thread["cpus_allowed"], *one, "{told}");
    }
    assert_eq!(told["binding"], format!("cpus={one} mem=first-touch"));
}

/// Threads are pinned one by one where the program is followed; the first of a process stays free,
/// and so does what it starts. Without --follow they stay free, which is said.
#[test]
fn followed_threads_are_pinned_in_order() {
    let cpus = nearfar_sys::thread_cpus().unwrap();
    let program = load(&["threads", "5"]);
    let words: Vec<&str> = program.iter().map(String::as_str).collect();
    let told = report(&["--follow", "--placement", "compact"], &words, 0);
    let pinned: Vec<&str> = told["threads"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|thread| thread["cpus_allowed"].as_str())
        .filter(|list| list.parse::<u32>().is_ok_and(|cpu| cpus.contains(cpu)))
        .collect();
    assert_eq!(pinned.len(), if cpus.len() == 1 { 6 } else { 5 }, "{told}");
    let used: std::collections::BTreeSet<&str> = pinned.into_iter().collect();
    assert_eq!(used.len(), cpus.len().min(5), "{told}");
    let output =
        run(&["--placement", "compact"], &["grep", "Cpus_allowed_list", "/proc/self/status"]);
    assert_eq!(text(&output.stdout).split_whitespace().last().unwrap(), cpus.to_string());
    assert!(text(&output.stderr).contains("--follow pins each"), "{}", text(&output.stderr));
}

#[test]
fn what_cannot_be_had_starts_nothing_unless_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let script = format!("echo ran >'{}'", mark.display());
    for options in [["--placement", "bind:900"], ["--placement", "local:900"], ["--cpus", "60000"]]
    {
        let told = report(&options, &["sh", "-c", &script], 125);
        assert!(!mark.exists(), "{options:?}");
        assert_eq!(told["status"], Value::Null);
        assert_eq!(told["memory_absent"], "the program was not started");
        let refused = told["refused"].as_array().unwrap();
        assert!(!refused.is_empty() && refused.iter().all(|part| part["reason"] != ""), "{told}");
        let output = run(&options, &["sh", "-c", &script]);
        assert_eq!(output.status.code(), Some(125));
        assert!(text(&output.stderr).contains("--best-effort"), "{}", text(&output.stderr));
        let output = run(&[&options[..], &["--best-effort"]].concat(), &["sh", "-c", &script]);
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output.stderr).contains("nearfar: without "), "{}", text(&output.stderr));
        assert!(mark.exists(), "{options:?}");
        fs::remove_file(&mark).unwrap();
    }
}

/// What is refused is told with what this machine has and what to type instead, and that works when it
/// is typed. (`bind:9` and `--cpus 99` once started the program.)
#[test]
fn a_refusal_names_what_to_type_instead() {
    let nodes = nearfar_sys::nodes_with_memory(Path::new("/")).unwrap();
    let cpus = nearfar_sys::online_cpus(Path::new("/")).unwrap();
    for (options, has) in [
        (
            ["--placement", "bind:900"],
            format!("node 900: this machine has memory node{}", plural(&nodes)),
        ),
        (
            ["--placement", "preferred:900"],
            format!("this machine has memory node{}", plural(&nodes)),
        ),
        (["--placement", "interleave:900-901"], "memory on nodes 900-901".into()),
        (["--placement", "weighted:900=1,901=2"], "memory on nodes 900-901".into()),
        (["--placement", "local:900"], "memory on node 900".into()),
        (["--placement", "local:900-901"], "nodes 900-901: this machine has".into()),
        (["--cpus", "6000"], format!("CPU 6000: this machine has CPU{}", plural(&cpus))),
    ] {
        let said = text(&run(&options, &["true"]).stderr);
        assert!(said.contains(&has), "'{has}' is not in: {said}");
        let (_, remedy) = said.split_once("; try ").unwrap_or_else(|| panic!("{said}"));
        let words: Vec<&str> = remedy.lines().next().unwrap().split(' ').collect();
        let output = run(&words, &["true"]);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", text(&output.stderr));
    }
}

fn plural(set: &impl ToString) -> String {
    let list = set.to_string();
    if list.parse::<u32>().is_ok() { format!(" {list}") } else { format!("s {list}") }
}

/// `run --plcement interleave -- CMD` once started `--plcement`.
#[test]
fn a_mistyped_option_is_no_program() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let mark = mark.to_str().unwrap();
    for (options, meant) in [
        (&["--plcement", "interleave"][..], "'--placement'"),
        (&["--placement", "interleav"], "did you mean 'interleave'?"),
        (&["--cpu", "0"], "'--cpus'"),
        (&["--quite"], "'--quiet'"),
        (&["-x"], "unexpected argument '-x'"),
        // What says nothing where it stands is no better.
        (&["--placement", "spread", "--threads", "4"], "--threads is for `--placement auto`"),
        (&["--near", "rank", "--pattern", "shared"], "--pattern is for `--placement auto`"),
        (&["--record", "r.jsonl"], "--record is for `--placement auto` and `--near`"),
    ] {
        let output = run(options, &["touch", mark]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(125), "{options:?}: {said}");
        assert!(said.contains(meant) && !said.contains("as a value"), "{options:?}: {said}");
    }
    // Behind -- a word is a program, and there is none of these names.
    for (program, meant) in [
        ("--plcement=local", "did you mean --placement?"),
        ("interleave:0", "did you mean --placement interleave:0?"),
        ("-x", "options of nearfar stand before --"),
    ] {
        let output = run(&[], &[program, "touch", mark]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(127), "{program}: {said}");
        assert!(said.contains(meant), "{program}: {said}");
    }
    assert!(!Path::new(mark).exists());
}

/// A signal that is sent to nearfar alone reaches the program, which may live on.
#[test]
fn signals_are_handed_on() {
    for way in ways() {
        for signal in [
            "TERM", "USR2", "WINCH", "RTMIN", "ILL", "TRAP", "ABRT", "BUS", "FPE", "SEGV", "PIPE",
            "STKFLT", "XCPU", "XFSZ", "VTALRM", "PROF", "SYS",
        ] {
            let script =
                format!("trap 'echo told; exit 4' {signal}; echo up; while :; do sleep 0.02; done");
            let mut command = start(way, &["bash", "-c", &script]);
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
            let mut out = child.stdout.take().unwrap();
            let mut first = [0; 3];
            out.read_exact(&mut first).unwrap();
            let kill = format!("kill -{signal} {}", child.id());
            assert!(Command::new("bash").args(["-c", &kill]).status().unwrap().success());
            assert_eq!(child.wait().unwrap().code(), Some(4), "{way:?} {signal}");
            let mut rest = String::new();
            out.read_to_string(&mut rest).unwrap();
            assert_eq!(rest, "told\n");
        }
    }
}

/// A program begins with the mask and the signal at its parent's end that nearfar began with.
#[test]
fn blocked_signals_and_the_one_at_a_parents_end_are_handed_on() {
    let nearfar = env!("CARGO_BIN_EXE_nearfar");
    for way in ways() {
        let through = |program: &str, words: &[&str], asked: &[&str]| {
            let mut command = Command::new(program);
            let output = command.args(words).args([nearfar, "run"]).args(way).arg("--").args(asked);
            let output = output.output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{way:?}: {}", text(&output.stderr));
            text(&output.stdout)
        };
        let blocked =
            through("env", &["--block-signal=TRAP"], &["grep", "SigBlk", "/proc/self/status"]);
        assert_eq!(blocked, "SigBlk:\t0000000000000010\n", "{way:?}");
        let told = through("setpriv", &["--pdeathsig", "TERM"], &["setpriv", "--dump"]);
        assert!(told.to_lowercase().contains("parent death signal: term"), "{way:?}: {told}");
    }
}

/// A shell that suspends itself gives the terminal back to the one that waits for nearfar, and gets it again.
#[test]
fn an_interactive_shell_can_suspend_itself() {
    for way in STAYING {
        let mut terminal = Command::new("timeout");
        terminal.args(["120", "script", "-qfec", "bash --norc --noprofile -i", "/dev/null"]);
        terminal.env("NEARFAR", env!("CARGO_BIN_EXE_nearfar")).env("TERM", "dumb");
        terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut terminal = terminal.spawn().unwrap();
        let (mut keys, mut screen) =
            (terminal.stdin.take().unwrap(), terminal.stdout.take().unwrap());
        let mut seen = String::new();
        // What is typed has another text than what is waited for. Without an answer `timeout` ends the terminal.
        let mut type_and_await = |typed: &str, answer: &str| {
            keys.write_all(format!("{typed}\n").as_bytes()).unwrap();
            let from = seen.len();
            while !seen[from..].contains(answer) {
                let mut some = [0; 256];
                let read = screen.read(&mut some).unwrap();
                assert!(read > 0, "{way:?}: no {answer} after {typed} in {seen}");
                seen += &String::from_utf8_lossy(&some[..read]);
            }
        };
        let start = format!("$NEARFAR run {} -- bash --norc --noprofile -i", way.join(" "));
        type_and_await(&format!("{start}\necho in-$((40+2))"), "in-42");
        type_and_await("suspend\necho out-$((40+3))", "out-43");
        type_and_await("fg\necho in-$((40+4))", "in-44");
        type_and_await("exit 7\necho status-$?", "status-7");
        terminal.kill().unwrap();
        terminal.wait().unwrap();
    }
}

/// What a program leaves behind goes on, and who stops it can wake it, alone.
#[test]
fn daemons_and_stopped_programs_are_left_to_themselves() {
    for way in ways() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let script = format!(
            "(while kill -CONT $$; do sleep 0.02; done; echo alive >'{}') 2>/dev/null & \
             kill -STOP $$; exit 6",
            mark.display()
        );
        let mut command = start(way, &["sh", "-c", &script]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        assert_eq!(command.status().unwrap().code(), Some(6), "{way:?}");
        while !mark.exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

#[test]
fn a_placement_is_verified_by_running_in_turns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs");
    let script = format!("echo run >>'{}'; echo noise; sleep 0.01", path.display());
    let file = folder.path().join("run.json");
    let option = format!("--report={}", file.display());
    let options = ["--verify", "--placement", "interleave", &option];
    let output = run(&options, &["sh", "-c", &script]);
    let status = output.status.code();
    assert!(text(&output.stderr).contains("rounds, 95 %"), "{}", text(&output.stderr));
    let told: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    hold(&told);
    let found = &told["verification"];
    let rounds = found["rounds"].as_u64().unwrap();
    let runs = fs::read_to_string(&path).unwrap().lines().count() as u64;
    assert_eq!(runs, 2 * rounds, "{told}");
    assert!((8..=30).contains(&rounds));
    // Whether one is slower is for the machine to say.
    let expected = if found["verdict"] == "slower" { 1 } else { 0 };
    assert_eq!(status, Some(expected), "{told}");
    let output = run(&["--verify"], &["sh", "-c", "echo noise; exit 3"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stdout.is_empty());
    assert!(text(&output.stderr).contains("without --verify"), "{}", text(&output.stderr));
}

#[test]
fn a_signal_ends_verifying_whatever_the_program_makes_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs");
    for ending in ["exit 0", "exit 7"] {
        let script = format!(
            "echo run >>'{}'; trap '{ending}' TERM; kill -TERM $PPID; for i in $(seq 3000); do \
             sleep 0.01; done",
            path.display()
        );
        fs::write(&path, "").unwrap();
        let output = run(&["--verify"], &["sh", "-c", &script]);
        assert_eq!(output.status.code(), Some(143), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("nothing is compared"), "{}", text(&output.stderr));
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1);
    }
}
