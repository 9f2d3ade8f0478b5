//! What `nearfar run --report` says of a program, held against what the program does
//! (`lab/programs/load.c`).

use std::fs;

use serde_json::Value;

use crate::run::{first_node, load, report, run};
use crate::support::text;

/// What is reported of a program that lives for a while with what it did: on a busy machine for longer,
/// until a look saw enough. What is reported in vain meanwhile may not be too much.
fn seen(
    options: &[&str],
    words: &[&str],
    is_right: impl Fn(&Value) -> bool,
    is_enough: impl Fn(&Value) -> bool,
) -> Value {
    let mut told = Value::Null;
    for ms in ["400", "3000", "20000"] {
        let program = load(&[words, &[ms]].concat());
        told = report(options, &program.iter().map(String::as_str).collect::<Vec<_>>(), 0);
        assert!(told["memory"].is_null() || is_right(&told["memory"]), "{told}");
        if is_enough(&told["memory"]) {
            break;
        }
    }
    assert!(is_enough(&told["memory"]), "{told}");
    told
}

fn own(memory: &Value) -> u64 {
    bytes_by_node(memory, "own_bytes_by_node")
}

fn bytes_by_node(memory: &Value, of: &str) -> u64 {
    let bytes = memory[of].as_object().into_iter().flat_map(|nodes| nodes.values());
    bytes.map(|bytes| bytes.as_u64().unwrap()).sum()
}

#[test]
fn memory_of_the_program_and_its_children_is_counted() {
    let node = first_node();
    for placement in [format!("preferred:{node}"), format!("bind:{node}"), "interleave".into()] {
        for (options, method) in [(&[][..], "seen"), (&["--follow"], "at_end")] {
            // Its first thread has ended by then.
            let told = seen(
                &[options, &["--placement", &placement]].concat(),
                &["leaderless", "64"],
                |memory| own(memory) < 80 << 20,
                |memory| own(memory) > 64 << 20 && memory["method"] == method,
            );
            let memory = &told["memory"];
            assert_eq!(told["refused"], Value::Array(vec![]));
            if placement != "interleave" {
                assert_eq!(memory["achieved_shares"][node.to_string()], 1.0, "{told}");
                assert_eq!(memory["largest_deviation"], 0.0, "{told}");
            }
            let (at, of) = (memory["at_seconds"].as_f64(), told["seconds"].as_f64());
            assert!(at > Some(0.0) && at <= of, "{told}");
        }
    }
    let program = load(&["leaderless", "64", "10"]).join(" ");
    let told = report(&["--follow"], &["sh", "-c", &format!("({program}); {program}; exit 3")], 3);
    let processes = told["processes"].as_array().unwrap().iter().map(own);
    let large = processes.filter(|bytes| (64 << 20..80 << 20).contains(bytes)).count();
    assert_eq!(large, 2, "each is counted when it ends: {told}");
    assert!(own(&told["memory"]) < 80 << 20, "one came after the other: {told}");
}

/// Children that have their parent's memory unchanged have no memory of their own.
#[test]
fn memory_in_common_counts_once() {
    for options in [&[][..], &["--follow"]] {
        let is_once = |memory: &Value| own(memory) < 80 << 20;
        seen(options, &["copies", "15", "64"], is_once, |memory| own(memory) > 60 << 20);
    }
}

/// What is a file's, was a file's, or is shared, is not the program's own.
#[test]
fn files_and_shared_memory_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, vec![1_u8; 48 << 20]).unwrap();
    let file = file.to_str().unwrap();
    let is_little = |memory: &Value| own(memory) < 4 << 20;
    let told = seen(&[], &["unmapped", file], is_little, |memory| !memory.is_null());
    assert!(!told["notes"].to_string().contains("freed"), "{told}");
    let changed = |memory: &Value| own(memory) + memory["changed_file_bytes"].as_u64().unwrap_or(0);
    let is_right = |memory: &Value| changed(memory) < 56 << 20;
    seen(&[], &["mapped", file], is_right, |memory| changed(memory) >= 48 << 20);
    let shared = |memory: &Value| bytes_by_node(memory, "shared_bytes_by_node");
    let told = seen(&[], &["shared", "32"], is_little, |memory| shared(memory) == 32 << 20);
    assert_eq!(told["memory"]["shared"][0]["kind"], "unnamed", "{told}");
}

/// A process may call itself whatever it likes.
#[test]
fn names_of_processes_do_not_reach_the_terminal_raw() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("a\u{1b}[2Jb");
    fs::copy(&load(&[])[0], &program).unwrap();
    let words = [program.to_str().unwrap(), "1", "leaderless", "8", "1"];
    let output = run(&["--follow", "--report", "--placement", "interleave"], &words);
    let said = text(&output.stderr);
    assert!(said.contains("farthest from what was asked:"), "{said}");
    assert!(!said.contains('\u{1b}') && said.contains(r"a\u{1b}[2Jb"), "{said}");
}

/// People and programs are told the same number, listed or not.
#[test]
fn all_threads_are_counted() {
    let load = load(&["waves", "5000", "50"]);
    let words: Vec<&str> = load.iter().map(String::as_str).collect();
    let told = report(&["--follow"], &words, 0);
    let (listed, unlisted) = (told["threads"].as_array().unwrap(), &told["threads_unlisted"]);
    assert_eq!(listed.len() as u64 + unlisted.as_u64().unwrap(), 5001, "{unlisted}");
    let said = text(&run(&["--follow", "--report"], &words).stderr);
    assert!(said.contains("5001 threads seen"), "{said}");
}
