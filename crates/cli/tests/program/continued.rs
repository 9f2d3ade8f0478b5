//! Records that are continued: by the arguments that they were begun with, by what is added, by the
//! remedies that are printed. And what a folder holds of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nearfar_lab::measuring;
use nearfar_record::{Experiment, Record, Suite, read_record};
use serde_json::Value;

use crate::support::{nearfar, refuse, run, text};

/// A record of a simulated machine in a folder.
fn simulated(folder: &Path, name: &str, options: &[&str]) -> PathBuf {
    let path = folder.join(name);
    let mut command = nearfar();
    command.arg("characterize").args(options).arg("--out").arg(&path);
    assert!(run(&mut command).status.success());
    path
}

fn in_folder(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = nearfar();
    command.current_dir(folder).args(arguments);
    command
}

fn done(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn read(path: &Path) -> Record {
    read_record(fs::File::open(path).unwrap()).unwrap()
}

/// What `model` says would add what it lacks is typed until nothing more is said.
fn type_every_remedy(machine: &str, name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let suite = ["--simulate", machine, "--suite", "quick", "--kernel", "load"];
    let path = simulated(folder, name, &suite);
    let mut typed: BTreeSet<String> = BTreeSet::new();
    loop {
        let told = done(&run(&mut in_folder(folder, &["model", "--full", name])));
        let lines = told.lines().map(str::trim);
        let remedies: Vec<String> = lines
            .filter(|line| line.starts_with("nearfar characterize --append "))
            .map(String::from)
            .collect();
        // What the noise leaves open between splits no full grid closes: that is told again.
        let is_last = |remedy: &String| remedy.ends_with("--suite full --only sharing");
        let (last, remedies): (Vec<String>, Vec<String>) =
            remedies.into_iter().partition(|it| is_last(it) && typed.contains(it));
        assert!(last.len() <= 1, "{last:?}");
        let Some(remedy) = remedies.iter().find(|remedy| !typed.contains(*remedy)) else {
            assert!(remedies.is_empty(), "{machine}: typed, and told again: {remedies:?}");
            break;
        };
        let words: Vec<&str> = remedy.split(' ').skip(1).collect();
        let output = run(&mut in_folder(folder, &words));
        assert_eq!(output.status.code(), Some(0), "{machine}: {remedy}: {}", text(&output.stderr));
        typed.insert(remedy.clone());
    }
    let record = read(&path);
    assert!(!typed.is_empty() && record.header.inputs.experiments.len() > 4, "{typed:?}");
    assert_eq!(record.header.inputs.suite, Suite::Quick);
}

#[test]
fn every_remedy_of_models_works_when_typed() {
    type_every_remedy("intel-2p", "packed.jsonl.zst");
}

#[test]
fn something_is_added_to_a_record_and_all_models_see_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let suite = ["--simulate", "joe0", "--suite", "quick", "--kernel", "load"];
    let path = simulated(folder, "r.jsonl", &suite);
    let before = read(&path);
    let add = |more: &[&str]| {
        let mut command = in_folder(folder, &["characterize", "--append", "r.jsonl"]);
        command.args(more);
        command
    };
    // What would be added is told without adding it.
    let planned = done(&run(&mut add(&["--only", "mixes", "--dry-run", "--json"])));
    let planned: Value = serde_json::from_str(&planned).unwrap();
    let ids = planned["case_ids"].as_array().unwrap();
    assert!(!ids.is_empty() && ids.iter().all(|id| id.as_str().unwrap().starts_with("mixes/")));
    assert_eq!(read(&path), before);
    done(&run(&mut add(&["--only", "mixes"])));
    let after = read(&path);
    assert_eq!(after.cases.len(), before.cases.len() + ids.len());
    assert_eq!(
        after.header.inputs.experiments,
        [Experiment::Pairs, Experiment::Mixes, Experiment::Latency]
    );
    let shown = done(&run(&mut in_folder(folder, &["show", "r.jsonl", "--json"])));
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["experiments"].as_array().unwrap().len(), 3, "{}", shown["experiments"]);
    // The same once more has nothing to do.
    done(&run(&mut add(&["--only", "mixes"])));
    let again = read(&path);
    assert_eq!((&again.cases, &again.samples), (&after.cases, &after.samples));
    assert_eq!(again.all_inputs().count(), 2);

    refuse(&mut add(&[]), 2, &["--only"]);
    refuse(&mut add(&["--only", "roofs", "--pages", "small"]), 2, &["--pages transparent"]);
    refuse(&mut add(&["--only", "roofs", "--group-by", "l3"]), 2, &["--group-by memory"]);
    refuse(&mut add(&["--only", "roofs", "--simulate", "amd-2p"]), 2, &["--simulate joe0"]);
    refuse(&mut add(&["--only", "roofs", "--isa", "neon"]), 2, &["joe0 has no variant 'neon'"]);
    assert_eq!(read(&path).samples, again.samples);
}

/// Without seals, so that an edit is none.
fn edited(path: &Path, edits: &[(&str, &str)]) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| {
            line.rsplit_once(",\"seal\":").map_or(line.into(), |(line, _)| format!("{line}}}"))
        })
        .collect();
    for (from, to) in edits {
        assert!(lines[0].contains(from), "{from}");
        lines[0] = lines[0].replace(from, to);
    }
    fs::write(path, lines.join("\n") + "\n").unwrap();
}

#[test]
fn a_record_of_another_version_is_not_added_to() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let path = simulated(folder, "r.jsonl", &["--simulate", "joe0", "--only", "mixes"]);
    edited(&path, &[("\"nearfar\":\"", "\"nearfar\":\"9")]);
    let mut add = in_folder(folder, &["characterize", "--append", "r.jsonl", "--only", "roofs"]);
    refuse(&mut add, 2, &["another nearfar", "there", "here"]);
}

/// A record of this machine, which is measured in a second.
#[test]
fn a_record_of_another_system_is_not_added_to() {
    measuring(|| {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let small =
            ["--only", "pairs", "--kernel", "load", "--working-set", "1MiB", "--window", "1ms"];
        let mut measure =
            in_folder(folder, &["characterize", "--samples", "1", "--out", "r.jsonl"]);
        let output = run(measure.args(small));
        assert!(matches!(output.status.code(), Some(0 | 3)), "{}", text(&output.stderr));
        let path = folder.join("r.jsonl");
        let whole = fs::read(&path).unwrap();
        let record = read(&path);
        let release = record.header.environment.kernel_release.clone().unwrap();
        let release = format!("\"kernel_release\":\"{release}\"");
        let host = format!("\"host\":\"{}\"", record.header.host);
        for (from, to, named) in [
            (&release, "\"kernel_release\":\"1.2.13\"", "another Linux (1.2.13 there"),
            (&host, "\"host\":\"elsewhere\"", "another host (elsewhere there"),
        ] {
            fs::write(&path, &whole).unwrap();
            edited(&path, &[(from, to)]);
            let mut add =
                in_folder(folder, &["characterize", "--append", "r.jsonl", "--only", "mixes"]);
            refuse(&mut add, 2, &[named]);
        }
        fs::write(&path, &whole).unwrap();
        let mut add =
            in_folder(folder, &["characterize", "--append", "r.jsonl", "--only", "links"]);
        let output = run(&mut add);
        assert!(matches!(output.status.code(), Some(0 | 3)), "{}", text(&output.stderr));
        assert!(read(&path).header.inputs.experiments.contains(&Experiment::Links));
    });
}

#[test]
fn a_record_keeps_its_multiple_of_the_caches() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let begun = ["--simulate", "joe0", "--only", "pairs", "--cache-multiple", "8"];
    let path = simulated(folder, "r.jsonl", &begun);
    let multiples = || -> Vec<Option<u32>> {
        read(&path).all_inputs().map(|inputs| inputs.cache_multiple).collect()
    };
    assert_eq!(multiples(), [Some(8)]);
    done(&run(&mut in_folder(folder, &["characterize", "--resume", "--out", "r.jsonl"])));
    assert_eq!(multiples(), [Some(8)]);
    let append = ["characterize", "--append", "r.jsonl", "--only", "exchange"];
    done(&run(&mut in_folder(folder, &append)));
    assert_eq!(multiples(), [Some(8); 2]);
    let mut other = in_folder(folder, &append);
    refuse(
        other.args(["--cache-multiple", "16"]),
        2,
        &["--cache-multiple 8", "begin a new record"],
    );
}

/// What was looked for before a record began is not looked for again.
#[test]
fn a_record_of_this_machine_keeps_the_sizes_that_were_screened() {
    measuring(|| {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let only = ["--only", "pairs", "--kernel", "load", "--window", "1ms", "--samples", "1"];
        let measure = ["characterize", "--out", "r.jsonl"];
        let kept = |command: &mut Command| {
            let output = run(command);
            assert!(matches!(output.status.code(), Some(0 | 3)), "{}", text(&output.stderr));
            let record = read(&folder.join("r.jsonl"));
            let inputs = record.all_inputs();
            inputs
                .map(|inputs| (inputs.cache_multiple, inputs.size_screen.clone()))
                .collect::<Vec<_>>()
        };
        let begun = kept(in_folder(folder, &measure).args(only));
        assert!(begun[0].0.is_some() && begun[0].1.is_some(), "{begun:?}");
        assert_eq!(
            kept(&mut in_folder(folder, &["characterize", "--resume", "--out", "r.jsonl"])),
            begun
        );
        let append = ["characterize", "--append", "r.jsonl", "--only", "mixes"];
        for (multiple, _) in kept(&mut in_folder(folder, &append)) {
            assert_eq!(multiple, begun[0].0);
        }
    });
}

#[test]
fn resuming_takes_the_arguments_that_the_record_was_begun_with() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let begun = [
        "--simulate",
        "joe0",
        "--suite",
        "quick",
        "--only",
        "latency,pairs",
        "--kernel",
        "load,triad",
        "--isa",
        "avx2",
        "--window",
        "5ms",
        "--working-set",
        "64MiB",
        "--samples",
        "2",
        "--runs",
        "3",
        "--grid",
        "full",
        "--pages",
        "small",
        "--seed",
        "7",
        "--group-by",
        "l3",
        "--noise",
        "0",
    ];
    simulated(folder, "r.jsonl", &begun);
    let resume = |more: &[&str]| {
        let mut command = in_folder(folder, &["characterize", "--resume", "--out", "r.jsonl"]);
        command.args(more);
        command
    };
    done(&run(&mut resume(&begun)));
    done(&run(&mut resume(&[])));
    for (given, there) in [
        (["--suite", "standard"], "--suite quick"),
        (["--only", "pairs"], "--only pairs,latency"),
        (["--kernel", "load"], "--kernel load,triad"),
        (["--isa", "sse2"], "--isa avx2"),
        (["--window", "6ms"], "--window 5"),
        (["--working-set", "1MiB"], "--working-set 64MiB"),
        (["--samples", "3"], "--samples 2"),
        (["--runs", "4"], "--runs 3"),
        (["--grid", "sparse"], "--grid full"),
        (["--pages", "huge"], "--pages small"),
        (["--seed", "8"], "--seed 7"),
        (["--group-by", "core"], "--group-by l3"),
        (["--simulate", "amd-2p"], "--simulate joe0"),
    ] {
        let named = format!("r.jsonl was begun with {there}");
        refuse(&mut resume(&given), 2, &[&named, &format!("not {}", given.join(" "))]);
    }
    let other = ["--simulate", "joe0", "--noise", "auto"];
    refuse(&mut resume(&other), 2, &["begun with --noise 0, not --noise auto"]);
    // The record of a simulated machine that nobody gave a name.
    let state = folder.join("state");
    let named = |more: &[&str]| {
        let mut command = in_folder(folder, &["characterize", "--simulate", "joe0"]);
        command.env("XDG_STATE_HOME", &state).args(["--only", "mixes"]).args(more);
        command
    };
    done(&run(&mut named(&[])));
    done(&run(&mut named(&["--resume"])));
    let files: Vec<_> = fs::read_dir(state.join("nearfar")).unwrap().collect();
    assert_eq!(files.len(), 1);
    assert_eq!(read(&files[0].as_ref().unwrap().path()).resumed.len(), 1);
}

#[test]
fn a_folder_of_records_is_listed_the_newest_first() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let old = simulated(folder, "old", &["--simulate", "joe0", "--only", "mixes"]);
    let new = simulated(folder, "new.jsonl.zst", &["--simulate", "amd-2p", "--only", "mixes"]);
    let torn = folder.join("torn");
    let whole = fs::read_to_string(&old).unwrap();
    fs::write(&torn, &whole[..whole.len() - 200]).unwrap();
    for (path, year) in [(&old, "2024"), (&torn, "2025")] {
        let text = fs::read_to_string(path).unwrap();
        let (before, started) = text.split_once("\"started\":\"").unwrap();
        let edited = format!("{before}\"started\":\"{year}{}", &started[4..]);
        fs::write(path, edited).unwrap();
    }
    fs::write(folder.join("notes.txt"), "no record\n").unwrap();
    fs::create_dir(folder.join("programs")).unwrap();
    let listed = done(&run(&mut in_folder(folder, &["list", ".", "--json"])));
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed["other_files"], 1);
    let records = listed["records"].as_array().unwrap();
    let names: Vec<&str> = records.iter().map(|it| it["path"].as_str().unwrap()).collect();
    assert_eq!(names, ["./new.jsonl.zst", "./torn", "./old"]);
    let states: Vec<&str> = records.iter().map(|it| it["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["finished", "unfinished", "finished"]);
    let of_new = read(&new);
    assert_eq!(records[0]["samples"], of_new.samples.len());
    assert_eq!(records[0]["cases"], of_new.cases.len());
    assert_eq!(records[1]["cases"], Value::Null);
    assert_eq!(records[0]["simulated"], "amd-2p");
    let told = done(&run(&mut in_folder(folder, &["list", "."])));
    for part in ["3 records in .", "1 file is no record", "not finished", "simulated joe0"] {
        assert!(told.contains(part), "{told}");
    }
    assert!(told.lines().all(|line| line.len() <= 80), "{told}");
    refuse(&mut in_folder(folder, &["list", "nowhere"]), 2, &["nowhere"]);
    let mut none = in_folder(folder, &["list"]);
    let told = done(&run(none.env("XDG_STATE_HOME", folder.join("nothing"))));
    assert!(told.contains("no records in "), "{told}");
}

/// What was left out for faster variants was told as the reason why nothing was measured.
#[test]
fn a_record_that_ends_in_screening_is_told_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let options =
        ["--simulate", "two-socket-8-nodes", "--only", "pairs", "--kernel", "load", "--runs", "1"];
    let path = simulated(folder.path(), "whole.jsonl", &options);
    let whole = fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let last = lines.iter().rposition(|line| line.contains("\"screened_out\"")).unwrap();
    fs::write(folder.path().join("r.jsonl"), lines[..=last].concat()).unwrap();
    let said = text(&run(&mut in_folder(folder.path(), &["advise", "r.jsonl"])).stderr);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("pairs was begun, and is not finished"), "{said}");
    assert!(said.contains("nearfar characterize --resume --out r.jsonl"), "{said}");
}
