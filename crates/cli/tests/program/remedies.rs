//! Every command that an answer prints as a remedy works when it is typed, and what was lacking is
//! there afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use nearfar_flow::builtin_machines;
use serde_json::Value;

use crate::records::{asked, folder};
use crate::support::{run, text};

/// What records are made of: by suite, and single experiments.
const RECORDS: [(&str, &str); 5] = [
    ("quick", "--suite quick --kernel load"),
    ("standard", "--suite standard --kernel load,triad --runs 5"),
    ("pairs", "--suite quick --kernel load --only pairs"),
    ("latency", "--suite quick --only latency"),
    ("mixes", "--suite quick --kernel load --only mixes"),
];

/// What is asked of each.
const QUESTIONS: [&str; 10] = [
    "advise RECORD",
    "advise RECORD --device cuda0",
    "model RECORD",
    "show RECORD",
    "doctor RECORD",
    "predict RECORD --point 1",
    "predict RECORD --load-share 0.5",
    "predict RECORD --processes 2",
    "predict RECORD --data 0",
    "topo RECORD --export-xml TOPOLOGY",
];

/// Commands that measure, in what an answer prints: each on a line of its own.
fn commands(said: &str) -> Vec<String> {
    let lines = said.lines().filter(|line| line.starts_with(' ')).map(str::trim);
    lines.filter(|line| line.starts_with("nearfar characterize")).map(String::from).collect()
}

fn answer(question: &str, record: &Path) -> (bool, String) {
    let topology = record.with_extension("xml");
    let words = question
        .replace("RECORD", record.to_str().unwrap())
        .replace("TOPOLOGY", topology.to_str().unwrap());
    let output = run(&mut asked(&words));
    let said = text(&output.stdout) + &text(&output.stderr);
    let is_told = output.status.code() != Some(2);
    (is_told, said)
}

/// Remedies of a record's models by the format for programs, which names each.
fn models_without(record: &Path) -> Vec<(String, Option<String>)> {
    let words = format!("model {} --json", record.display());
    let output = run(&mut asked(&words));
    let first = text(&output.stdout).lines().next().map(String::from).unwrap_or_default();
    let Ok(of_record) = serde_json::from_str::<Value>(&first) else { return Vec::new() };
    let unavailable = of_record["unavailable"].as_array().cloned().unwrap_or_default();
    let named = unavailable.iter().map(|it| {
        (it["model"].as_str().unwrap().to_string(), it["remedy"].as_str().map(String::from))
    });
    named.collect()
}

/// Types a remedy as it is printed, but for where a new record goes; and the record that it leaves: the
/// same where it adds to that.
fn typed(command: &str, record: &Path, new: &Path) -> PathBuf {
    let arguments = command.strip_prefix("nearfar ").unwrap();
    let is_added = arguments.contains("--append") || arguments.contains("--resume");
    assert!(is_added || arguments.contains("--simulate"), "of another machine: {command}");
    let out = if is_added { String::new() } else { format!(" --out {}", new.display()) };
    let output = run(&mut asked(&format!("{arguments}{out}")));
    let said = text(&output.stderr);
    // 3: of some cases a machine says nothing, as a simulated one of programs that its caches hold.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{command}: {said}");
    if is_added { record.into() } else { new.into() }
}

fn holds(machine: &str, records: &[(&str, &str)]) {
    let place = folder().join(format!("remedies-{machine}"));
    fs::create_dir_all(&place).unwrap();
    for (name, options) in records {
        let record = place.join(format!("{name}.jsonl"));
        let words =
            format!("characterize --simulate {machine} {options} --out {}", record.display());
        let output = run(&mut asked(&words));
        let said = text(&output.stdout) + &text(&output.stderr);
        // A machine can lack what an experiment needs: then nothing was measured, which is told.
        if output.status.code() != Some(0) {
            assert!(!said.is_empty(), "{machine}, {name}");
            continue;
        }
        // What is added to a record is taken away again.
        let whole = fs::read(&record).unwrap();
        let again = || fs::write(&record, &whole).unwrap();
        let mut done: BTreeSet<String> = BTreeSet::new();
        for (number, (model, remedy)) in models_without(&record).into_iter().enumerate() {
            let Some(command) = remedy else { continue };
            let mended = place.join(format!("{name}-{number}.jsonl"));
            let left = models_without(&typed(&command, &record, &mended));
            again();
            let is_left = left.iter().any(|(it, _)| *it == model);
            assert!(!is_left, "{machine}, {name}: no {model} model after `{command}`: {left:?}");
            done.insert(command);
        }
        for (number, question) in QUESTIONS.into_iter().enumerate() {
            let (is_told, said) = answer(question, &record);
            for command in commands(&said) {
                let mended = place.join(format!("{name}-of-{number}.jsonl"));
                let is_done = !done.insert(command.clone());
                if is_done && is_told {
                    continue;
                }
                let added = typed(&command, &record, &mended);
                if !is_told {
                    let (is_told, after) = answer(question, &added);
                    let what = format!("{machine}, {name}: {question} after `{command}`");
                    // What was measured can show that more must be, as where a law turns out to fit
                    // badly: one further remedy.
                    let further = commands(&after).into_iter().find(|further| *further != command);
                    let (is_told, last) = match further {
                        Some(further) if !is_told => {
                            answer(question, &typed(&further, &added, &mended))
                        }
                        _ => (is_told, String::new()),
                    };
                    assert!(is_told, "{what}: {after}\nthen: {last}\nbefore: {said}");
                }
                again();
            }
        }
    }
}

/// One package with two kinds of memory: the rest takes minutes.
#[test]
fn remedies_work_when_they_are_typed() {
    holds("skylake-hybrid", &RECORDS[..1]);
}

#[test]
#[ignore = "minutes: all simulated machines (make outer)"]
fn remedies_work_on_every_simulated_machine() {
    let machines = builtin_machines().unwrap();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((machine, _)) = machines.get(next.fetch_add(1, Ordering::Relaxed)) {
                    holds(machine, &RECORDS);
                }
            });
        }
    });
}
