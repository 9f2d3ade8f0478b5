//! Records written by hand as `show` prints them. `UPDATE_EXPECT=1 cargo test` writes the
//! expected texts again.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod absences;
mod evidence;
mod hybrid;
mod latency;
mod links;
mod mixes;
mod roofs;
mod scaling;
mod sharing;

use std::fs;
use std::path::Path;

use nearfar_machine::{MemoryKind, MemoryNode, MemoryPolicy};
use nearfar_record::{Actor, Case, Experiment, Record};
use nearfar_report::ShowView;
use nearfar_specimen::{done, machine, record_of};
use serde_json::Value;

/// A record without cases of two packages with two cores and a node each, and a node of HBM that is
/// both's.
fn record(experiments: &[Experiment]) -> Record {
    let mut machine = machine(2, 1, 2);
    machine.nodes.push(MemoryNode {
        os_index: 2,
        kind: MemoryKind::Hbm,
        cpus: "".parse().unwrap(),
        locality: "0-3".parse().unwrap(),
        ..machine.nodes[0].clone()
    });
    machine.allowed_nodes = "0-2".parse().unwrap();
    record_of(machine, experiments)
}

fn stream(kernel: &str, cpus: &str, memory: MemoryPolicy) -> Actor {
    Actor::Stream(nearfar_specimen::stream(kernel, "avx2", cpus.parse().unwrap(), memory))
}

/// Adds a case with rounds that are all alike: GB of each thread of each actor.
fn add(record: &mut Record, case: Case, rounds: usize, gb: &[&[f64]]) {
    let bytes = |each: &&[f64]| each.iter().map(|gb| 1e9 * gb).collect::<Vec<f64>>();
    let seen = case.actors.iter().zip(gb).map(|(actor, each)| done(actor, &bytes(each)));
    let seen: Vec<_> = seen.collect();
    nearfar_specimen::add(record, case, vec![seen; rounds]);
}

/// The record's text is the one in `expected/NAME.txt`; its JSON is returned.
fn shown(name: &str, record: &Record) -> Value {
    let view = ShowView::new(record);
    let text = view.text();
    let expected =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/show/expected/{name}.txt"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&expected, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&expected).unwrap());
    assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
    serde_json::to_value(&view).unwrap()
}

/// Whether two numbers are the same but for rounding.
fn near(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - expected).abs() <= 1e-9 * expected.abs().max(1.0))
}
