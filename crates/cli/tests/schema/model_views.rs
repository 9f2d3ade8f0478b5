//! The views of `model`, `predict` and `reproduce`, with every optional field given
//! and null, and what the program prints.

use nearfar_machine::{Direction, InitiatorKind, Machine, Scope, Source, TheoreticalMaximum};
use nearfar_model::{
    Class, ClassFigure, ClassPair, ClassRule, ClassSet, Classes, DataAccess, LeftOut, Mapping,
    MappingPlace, Reach, ThreadChoice,
};
use nearfar_record::{Executor, Record, read_record};
use nearfar_report::{
    AlphaKind, AlphaSource, ClassesView, FittedView, ModelView, PredictView, ReproduceView,
    UnavailableView,
};
use nearfar_reproduce::{Measure, Paper, Row, Status};
use serde_json::{Value, json};

use crate::{assert_valid, every_line, program, record_text, validator};

fn record(machine: Machine) -> Record {
    let mut header = every_line::known_header();
    header.fingerprint = machine.fingerprint();
    header.machine = machine;
    read_record(record_text(&every_line::record(header)).as_slice()).unwrap()
}

fn gamma(scope: Scope) -> TheoreticalMaximum {
    TheoreticalMaximum {
        name: "DDR4-3200x8".into(),
        scope,
        direction: Direction::Shared,
        bytes_per_s: 204.8e9,
        source: "a standard".into(),
    }
}

fn pair(cluster: u32, cpu_node: Option<u32>, memory_node: u32) -> ClassPair {
    ClassPair {
        initiator: cluster,
        cluster,
        cpu_node,
        memory_node,
        best: 9.3e9,
        median: 9.2e9,
        interval: (9.1e9, 9.3e9),
        kernel: "triad".into(),
        variant: "avx512".into(),
        threads: 1,
        rounds: 6,
    }
}

/// Classes of which nothing that can be null is, or all is.
fn classes(known: bool) -> Classes {
    let figure = |threads| ClassFigure { kernel: "load".into(), threads, max: 1e10, min: 9e9 };
    let class = Class {
        class: 0,
        max: 9.3e9,
        min: 9.3e9,
        wide: known,
        widened_by_noise: !known,
        border_within_noise: known,
        // A cluster that the machine does not hold has no relation to a node.
        pairs: vec![if known { pair(0, Some(0), 1) } else { pair(7, None, 1) }],
        others: vec![figure(ThreadChoice::Count(1)), figure(ThreadChoice::All)],
    };
    Classes {
        rule: ClassRule {
            variant: known.then(|| "avx512".into()),
            threads: if known { ThreadChoice::Count(4) } else { ThreadChoice::All },
            per_initiator: known,
            ..ClassRule::default()
        },
        noise: known.then_some(0.004),
        standard_error: known.then_some(0.002),
        fewest_rounds: 6,
        absent_kernels: vec!["triad_nt".into()],
        left_out: vec![LeftOut {
            initiator: 0,
            memory_node: 2,
            refused: known.then(|| "no room".into()),
        }],
        sets: vec![ClassSet { initiator: known.then_some(0), classes: vec![class] }],
        notes: vec!["a note".into()],
    }
}

fn classes_views() -> Vec<ClassesView> {
    let known = record(every_line::known_machine());
    let unknown = record(every_line::unknown_machine(Source::Simulated("x".into())));
    let reason = Err("the modules cannot be read".into());
    vec![
        ClassesView::new(&known, &classes(true), &Ok(gamma(Scope::Node))),
        ClassesView::new(&unknown, &classes(false), &reason),
    ]
}

fn predict_views() -> Vec<PredictView> {
    let record = record(every_line::known_machine());
    let shares = vec![0.5, 0.5];
    let access = DataAccess { shares: shares.clone(), d: 0.4, d_serial: 0.33, d_overlap: 0.73 };
    let source = AlphaSource {
        record: Some(&record),
        alphas: vec![0.5, 0.3],
        alphas_are: AlphaKind::Absolute,
        gamma: Ok(gamma(Scope::Channel)),
        unit: Some(204.8e9),
    };
    let mapping =
        Mapping { shares, d: 0.4, slowest_alpha: 0.3, count: u128::MAX, example: vec![1, 0] };
    let given = AlphaSource {
        record: None,
        alphas_are: AlphaKind::Given,
        gamma: Err("not given".into()),
        unit: None,
        ..source.clone()
    };
    let place = |index, cpu_node| MappingPlace { index, cpu_node };
    let reach = Reach { places: vec![place(4, Some(8)), place(5, None)], targets: Vec::new() };
    let mappings = [mapping];
    let kind = Some(InitiatorKind::L3);
    vec![
        PredictView::of_mappings(source.clone(), &mappings, &reach, kind).unwrap(),
        PredictView::of_mappings(given.clone(), &mappings, &reach, None).unwrap(),
        PredictView::of_shares(source, std::slice::from_ref(&access)).unwrap(),
        PredictView::of_shares(given, &[access]).unwrap(),
    ]
}

fn reproduce_view() -> ReproduceView {
    let row = |status, ours: Option<f64>, why: Option<&str>| Row {
        item: "table 1, a machine, class 0, GB/s".into(),
        printed: 9.3,
        ours,
        error: ours.map(|ours| ours / 9.3 - 1.0),
        status,
        judged_by: ours.map(|_| Measure::Model),
        tolerance: ours.map(|_| 0.03),
        round_trip: status == Status::Pass,
        why: why.map(String::from),
    };
    ReproduceView::new(&[Paper {
        key: "someone2000".into(),
        title: "Someone, A Title, 2000".into(),
        rows: vec![
            row(Status::Pass, Some(9.3), None),
            row(Status::Explained, Some(9.2), Some("a reason")),
            row(Status::Fail, Some(0.0), Some("no reason")),
            row(Status::Given, None, None),
        ],
    }])
}

/// The views by their schemas' names.
pub fn views() -> Vec<(&'static str, Value)> {
    let mut views = Vec::new();
    for classes in classes_views() {
        views.push(("classes", serde_json::to_value(&classes).unwrap()));
        let fitted = [FittedView::Classes(Box::new(classes))];
        let unavailable = [Some("a command".to_string()), None].map(|remedy| UnavailableView {
            model: "sharing",
            why: "why".into(),
            remedy,
        });
        let record = record(every_line::known_machine());
        let all = ModelView::new(&record, &fitted, unavailable.into());
        views.push(("model", serde_json::to_value(all).unwrap()));
    }
    views.extend(
        predict_views().iter().map(|view| ("predict", serde_json::to_value(view).unwrap())),
    );
    views.push(("reproduce", serde_json::to_value(reproduce_view()).unwrap()));
    views
}

#[test]
fn every_scope_and_way_of_grouping_is_in_the_schema() {
    let validator = validator("classes");
    let view = serde_json::to_value(&classes_views()[0]).unwrap();
    for scope in [Scope::Channel, Scope::Stack, Scope::Node, Scope::Link, Scope::Given] {
        let mut view = view.clone();
        view["gamma"]["scope"] = json!(scope.as_str());
        assert_valid(&validator, &view);
    }
    for kind in [InitiatorKind::Cluster, InitiatorKind::L3, InitiatorKind::Core] {
        let mut view = view.clone();
        view["initiator"] = serde_json::to_value(kind).unwrap();
        assert_valid(&validator, &view);
    }
    for executor in [Executor::Native, Executor::Simulated] {
        let mut view = view.clone();
        view["executor"] = serde_json::to_value(executor).unwrap();
        assert_valid(&validator, &view);
    }
}

#[test]
fn a_count_beyond_64_bits_is_the_largest_there_is() {
    assert_eq!(predict_views()[0].rows[0].mappings, Some(u64::MAX));
}

#[test]
fn the_models_of_a_simulated_machine() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    let path = file.to_str().unwrap();
    program::nearfar(&["characterize", "--simulate", "amd-2p", "--suite", "quick", "--out", path]);
    let json = |arguments: &[&str]| program::json_of(&program::nearfar(arguments), &[0]);
    let classes = json(&["model", path, "classes", "--json", "--gamma", "DDR3-2133"]);
    assert_valid(&validator("classes"), &classes);
    let all = program::nearfar(&["model", path, "--json", "--gamma", "DDR3-2133"]);
    let lines = String::from_utf8(all.stdout).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_valid(&validator("model"), &lines[0]);
    assert_eq!(lines[0]["models"].as_array().unwrap().len(), lines.len() - 1);
    assert_eq!(lines[1], classes);
    for line in &lines[1..] {
        let format = line["schema"].as_str().unwrap();
        let name = format.strip_prefix("nearfar.").unwrap().strip_suffix("/1").unwrap();
        assert_valid(&validator(name), line);
    }
    let own = json(&["model", path, "classes", "--json", "--per-initiator", "--threads", "all"]);
    assert_valid(&validator("classes"), &own);
    assert_eq!(own["gamma"], Value::Null);
    for question in [["--share", "0.5,0.25,0.25"], ["--reach", "0,1,2,2"], ["--data", "0"]] {
        let arguments = ["predict", path, question[0], question[1], "--json"];
        assert_valid(&validator("predict"), &json(&arguments));
    }
}

#[test]
fn every_paper() {
    let all = program::json_of(&program::nearfar(&["reproduce", "--json"]), &[0]);
    assert_valid(&validator("reproduce"), &all);
    let keys: Vec<&str> = all["papers"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|paper| paper["key"].as_str())
        .collect();
    assert_eq!(keys, nearfar_reproduce::papers());
}
