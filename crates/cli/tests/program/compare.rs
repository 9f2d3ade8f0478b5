//! Two records beside each other, by the command line.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::support::{nearfar, refuse, run, text};

/// A record of a simulated machine, named by `name`, with these lines in its file.
fn simulate(folder: &Path, name: &str, lines: &str, seed: &str) -> PathBuf {
    let machine = folder.join(format!("{name}.toml"));
    fs::write(&machine, format!("extends = \"joe0\"\nname = \"{name}\"\ntitle = \"t\"\n{lines}"))
        .unwrap();
    let path = folder.join(format!("{name}.jsonl"));
    let output = run(nearfar()
        .args(["characterize", "--suite", "quick", "--seed", seed, "--simulate"])
        .arg(&machine)
        .arg("--out")
        .arg(&path));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    path
}

fn compare(arguments: &[&str], status: i32) -> String {
    let output = run(nearfar().arg("compare").args(arguments));
    assert_eq!(output.status.code(), Some(status), "{}", text(&output.stderr));
    let text = text(&output.stdout);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    text
}

const SLOWER: &str = "[[bandwidth]]\npairs = [[0, 1]]\none_thread = 3.3\nall_threads = 15.4\n";

#[test]
fn a_slower_pair_is_worse_and_named_after_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let a = simulate(folder.path(), "sound", "", "1");
    let b = simulate(folder.path(), "slower", SLOWER, "2");
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let said = compare(&[a, b], 1);
    let at = |words: &str| said.find(words).unwrap_or_else(|| panic!("no '{words}' in\n{said}"));
    assert!(said.starts_with("A: simulated-sound, "));
    let order = [
        "B: simulated-slower, ",
        "what differs beside the figures",
        "simulated machine: A sound; B slower",
        "seed: A 1; B 2",
        "worse: path from cluster 0 to node 1: in ",
        "B / A (95 % interval)",
        "pairs/cluster0/node1/",
    ];
    let places = order.map(at);
    assert!(places.is_sorted(), "{said}");
    assert!(!said.contains("cluster1/"), "{said}");

    let back = compare(&[b, a], 0);
    assert!(back.contains("better: path from cluster 0 to node 1: in "), "{back}");
    let wide = compare(&[a, b, "--floor", "20%"], 0);
    assert!(wide.contains("0 worse and 0 better by more than 20 %"), "{wide}");
    let same = compare(&[a, a], 0);
    assert!(same.contains("nothing that the records tell of machine"), "{same}");
}

/// Every access takes a seventh longer: one finding, and no case by itself.
#[test]
fn what_all_times_have_in_common_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let a = simulate(folder.path(), "sound", "", "1");
    let longer = [("relation = \"local\"", 109), ("relation = \"same_package\"", 135)];
    let further = [("distance = 31", 189), ("distance = 32", 203)];
    let lines = longer.into_iter().chain(further);
    let lines: String =
        lines.map(|(which, ns)| format!("[[latency]]\n{which}\nns = {ns}\n")).collect();
    let b = simulate(folder.path(), "slower", &lines, "2");
    let said = compare(&[a.to_str().unwrap(), b.to_str().unwrap()], 1);
    assert!(said.contains("worse: B takes 1.1"), "{said}");
    assert!(said.contains("of A in all of times of accesses (16 cases)"), "{said}");
    assert!(said.contains("compared: 0 worse and 0 better"), "{said}");
}

#[test]
fn one_record_may_be_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let a = simulate(folder.path(), "sound", "", "1");
    let named = a.to_str().unwrap();
    for arguments in [["-", named], [named, "-"]] {
        let output = run(nearfar().arg("compare").args(arguments).stdin(File::open(&a).unwrap()));
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("0 worse and 0 better"));
    }
    refuse(nearfar().args(["compare", "-", "-"]), 2, &["both records are standard input"]);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let a = simulate(folder.path(), "sound", "", "1");
    let header = fs::read_to_string(&a).unwrap().lines().next().unwrap().to_string() + "\n";
    let empty = folder.path().join("empty.jsonl");
    fs::write(&empty, header).unwrap();
    let missing = folder.path().join("missing.jsonl");
    refuse(
        nearfar().arg("compare").args([&a, &empty]),
        2,
        &["nothing to compare", "not planned in B"],
    );
    refuse(nearfar().arg("compare").args([&a, &missing]), 2, &["cannot open the record"]);
    refuse(nearfar().arg("compare").arg(&a), 2, &["<B>"]);
    for name in ["x.csv", "x.prom", "x.docx", "x"] {
        let said = &["a comparison is written as .html, .md, .tex or .json"];
        refuse(nearfar().arg("compare").args([&a, &a]).args(["-o", name]), 2, said);
    }
    for floor in ["2", "-1%", "NaN", "60%"] {
        let floor = format!("--floor={floor}");
        refuse(nearfar().arg("compare").args([&a, &a]).arg(floor), 2, &["percentage"]);
    }
}
