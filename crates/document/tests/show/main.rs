//! Records made by hand as `show` prints them: the text of each is in `../golden/show/NAME.txt`, its
//! figures, for some, in `NAME.json`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod hybrid;
mod latency;
mod marks;
mod packages;
mod roofs;
mod scaling;

use std::path::Path;

use expect_test::{ExpectFile, expect_file};
use nearfar_document::{
    Document, NARROWEST, Room, ShowChoice, ShownRecord, show_answer, write_markdown,
};
use nearfar_machine::{MemoryKind, MemoryNode, MemoryPolicy};
use nearfar_record::{
    Actor, Case, Coordinates, ExchangeCoordinates, Experiment, HandOver, MixCoordinates, Record,
};
use nearfar_specimen::{done, machine, record_of};
use serde_json::Value;

/// A record as a case needs it.
type Made = fn() -> Record;

const RECORDS: [(&str, Made); 12] = [
    ("pairs", packages::pairs),
    ("sharing", packages::sharing),
    ("links", packages::links),
    ("scaling", scaling::two_modes),
    ("roofs", roofs::roofs),
    ("hybrid", hybrid::surface),
    ("mixes", marks::mixes),
    ("latency", latency::curves),
    ("latency_noise", latency::faster_by_noise),
    ("proofs", marks::proofs),
    ("absences", marks::absences),
    ("cells_without_figures", marks::cells_without_figures),
];

/// The text says all that is special about these.
const VARIATIONS: [(&str, Made); 16] = [
    ("pairs_by_turns", packages::pairs_by_turns),
    ("sharing_too_large", packages::sharing_too_large),
    ("scaling_alike", scaling::alike),
    ("scaling_many", scaling::many),
    ("roofs_by_clock", roofs::clock_that_changes),
    ("roofs_without_arithmetic", roofs::without_arithmetic),
    ("hybrid_edges", hybrid::surface_to_the_edges),
    ("hybrid_one_kind", hybrid::one_kind),
    ("hybrid_single_points", hybrid::single_points),
    ("hybrid_without_corner", hybrid::without_corner),
    ("latency_intervals", latency::intervals),
    ("latency_intervals_elsewhere", latency::intervals_elsewhere),
    ("latency_caches", latency::caches),
    ("latency_one_round_without_access", latency::one_round_without_access),
    ("latency_without_access", latency::without_access),
    ("proofs_misplaced", marks::misplaced),
];

fn golden(file: &str) -> ExpectFile {
    expect_file![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/show").join(file)]
}

#[test]
fn records_are_shown_as_in_their_golden_files() {
    for (name, record) in RECORDS.iter().chain(&VARIATIONS) {
        let record = record();
        let text = |full| {
            let choice = ShowChoice { full, ..ShowChoice::default() };
            show_answer(&record, &choice).text(Room { width: NARROWEST, full })
        };
        let text = text(false) + "\n######## --full\n" + &text(true);
        golden(&format!("{name}.txt")).assert_eq(&text);
    }
    for (name, record) in &RECORDS {
        let figures = serde_json::to_value(ShownRecord::new(&record())).unwrap();
        golden(&format!("{name}.json")).assert_eq(&in_lines(figures));
    }
}

/// Two memories of one kind are near and far: nobody looks for fast memory on such a machine.
#[test]
fn memory_of_one_kind_is_not_called_fast() {
    let words = |record: &Record| {
        let mut text = Vec::new();
        write_markdown(&Document::new(record), &mut text).unwrap();
        String::from_utf8(text).unwrap()
    };
    let (one_kind, two_kinds) = (words(&hybrid::one_kind()), words(&hybrid::surface()));
    assert!(two_kinds.contains("## Fast and slow memory"), "{two_kinds}");
    assert!(one_kind.contains("## Near and far memory together"), "{one_kind}");
    let fast: Vec<&str> = one_kind.lines().filter(|line| line.contains("fast")).collect();
    assert!(fast.is_empty(), "{fast:?}");
}

/// Times of hand-overs that were all disturbed are none, and are there.
#[test]
fn cases_that_give_no_figures_are_told_from_none() {
    let mut record = record(&[]);
    let place = ExchangeCoordinates {
        first_cpu: 0,
        second_cpu: 1,
        memory_node: 0,
        by: HandOver::StoreLoad,
    };
    nearfar_specimen::add_alone(&mut record, Coordinates::Exchange(place), &[8e7; 6]);
    let case = record.cases[0].id.clone();
    nearfar_specimen::disturb(&mut record, &case);
    let said = |experiment| {
        let choice =
            ShowChoice { experiments: vec![experiment], full: true, ..ShowChoice::default() };
        show_answer(&record, &choice).text(Room { width: 200, full: true })
    };
    let held = said(Experiment::Exchange);
    assert!(held.contains("holds 1 case of it without a figure: nearfar model"), "{held}");
    assert!(said(Experiment::Network).contains("holds nothing of it"));
}

/// A view with an item to a line and figures as far as arithmetic in another order leaves them the same.
fn in_lines(mut view: Value) -> String {
    round(&mut view);
    let lines = |values: &Vec<Value>| -> String {
        values.iter().map(Value::to_string).collect::<Vec<_>>().join(",\n")
    };
    let fields = view.as_object().unwrap().iter().map(|(name, value)| match value.as_array() {
        Some(values) => format!("\"{name}\": [\n{}\n]", lines(values)),
        None => format!("\"{name}\": {value}"),
    });
    format!("{{\n{}\n}}\n", fields.collect::<Vec<_>>().join(",\n"))
}

fn round(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            *value = format!("{:.9e}", number.as_f64().unwrap()).parse::<f64>().unwrap().into();
        }
        Value::Array(values) => values.iter_mut().for_each(round),
        Value::Object(fields) => fields.values_mut().for_each(round),
        _ => {}
    }
}

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

/// A set of streams.
fn mix(index: u32, actors: Vec<Actor>) -> Case {
    let coordinates = vec![Coordinates::Mixes(MixCoordinates { index })];
    Case { id: format!("mixes/{index}"), coordinates, actors }
}

/// What is changed in the samples of a case, whose first actor's first thread moved so much.
fn set_first_thread(record: &mut Record, case: usize, bytes: impl Fn(u64) -> u64) {
    let case = record.cases[case].id.clone();
    let of = record.samples.iter_mut().filter(|sample| sample.case == case);
    for (sample, round) in of.zip(1..) {
        sample.actors[0].threads[0].useful_bytes = bytes(round);
    }
}
