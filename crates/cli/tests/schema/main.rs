//! What the program prints for programs, held against `docs/schema`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod advise;
mod advise_device;
mod compare;
mod contract;
mod document;
#[path = "../../../record/tests/every_line/mod.rs"]
mod every_line;
mod model_devices;
mod model_distribution;
mod model_flow;
mod model_hybrid;
mod model_latency;
mod model_roofline;
mod model_sharing;
mod model_strategy;
mod model_views;
mod mutation;
mod mutilated;
mod profile;
mod program;
mod record_doctor;
mod refusal;
mod run;
mod sensitivity;
mod show_view;
mod style;
mod topology_export;
mod vocabulary;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use jsonschema::Validator;
use nearfar_machine::Source;
use nearfar_record::{Executor, Experiment, Line, ProofMethod, ReasonCode, read_record};
use nearfar_report::{
    CharacterizeView, DoctorView, DryRunView, KernelsView, MachinesView, ShowView, TopoView,
};
use serde_json::Value;

use contract::{property_paths, schema};

fn validator(name: &str) -> Validator {
    jsonschema::validator_for(&schema(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Complains about every place where a document is not what its schema says.
fn assert_valid(validator: &Validator, document: &Value) {
    let wrong: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{}\n{document:#}", wrong.join("\n"));
}

/// Machines that were not read from this system.
fn described() -> [Source; 3] {
    [
        Source::Xml("machine.xml".into()),
        Source::Synthetic("node:2 core:2 pu:1".into()),
        Source::Simulated("twelve-nodes".into()),
    ]
}

/// A record with lines of every kind and every optional field given and null, a refusal of
/// every case and every warning.
fn every_line() -> Vec<Value> {
    let header = every_line::known_header();
    let cases = every_line::cases(&header);
    let mut lines = every_line::record(header);
    let refused = cases.iter().map(|case| every_line::refused(case, ReasonCode::NoRoom));
    lines.extend(refused.map(Line::Absent));
    lines.extend(vocabulary::cautions().iter().map(|caution| Line::Warning(caution.warning())));
    lines.extend(
        described().map(|source| Line::Header(Box::new(every_line::unknown_header(source)))),
    );
    lines.iter().map(sealed).collect()
}

/// A line as a record holds it, with a seal.
fn sealed(line: &Line) -> Value {
    let mut value = serde_json::to_value(line).unwrap();
    value["seal"] = "0123456789abcdef".into();
    value
}

fn record_text(lines: &[Line]) -> Vec<u8> {
    let mut text = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut text, line).unwrap();
        text.write_all(b"\n").unwrap();
    }
    text
}

/// The views of every command, with every optional field given and null, made once.
static EVERY_VIEW: LazyLock<Vec<(&'static str, Value)>> = LazyLock::new(make_views);

fn make_views() -> Vec<(&'static str, Value)> {
    let mut views = Vec::new();
    let mut add = |name, view: serde_json::Result<Value>| views.push((name, view.unwrap()));
    add("topo", serde_json::to_value(TopoView::new(&every_line::known_machine())));
    for source in described() {
        let machine = every_line::unknown_machine(source);
        add("topo", serde_json::to_value(TopoView::new(&machine)));
    }
    for header in
        [every_line::known_header(), every_line::unknown_header(Source::Simulated("x".into()))]
    {
        let mut lines = every_line::record(header);
        for _ in 0..2 {
            let record = read_record(record_text(&lines).as_slice()).unwrap();
            add("show", serde_json::to_value(ShowView::new(&record)));
            lines.retain(|line| matches!(line, Line::Header(_) | Line::Case(_)));
        }
    }
    let checks = ["fine", "warning", "failed", "unknown"].map(|standing| {
        let remedy = (standing != "fine").then_some("do this");
        serde_json::from_value(serde_json::json!({
            "check": "load", "standing": standing, "finding": "what", "remedy": remedy
        }))
        .unwrap()
    });
    let doctor = DoctorView { schema: "nearfar.doctor/1", checks: checks.into() };
    add("doctor", serde_json::to_value(doctor));
    for interrupted_by in [None, Some(15)] {
        let view = CharacterizeView {
            schema: "nearfar.characterize/1",
            executor: Executor::Native,
            record: "r.jsonl".into(),
            cases: 4,
            measured: 3,
            omitted: 1,
            refused: 1,
            samples: 24,
            seconds: 1.5,
            interrupted_by,
            warnings: vocabulary::cautions().iter().map(|caution| caution.warning()).collect(),
        };
        add("characterize", serde_json::to_value(view));
    }
    let dry_run = DryRunView {
        schema: "nearfar.dry-run/1",
        executor: Executor::Simulated,
        cases: 1,
        rounds: 8,
        seconds_at_most: 1.5,
        buffers_bytes: 1 << 30,
        touch_gb_per_s: 1.5,
        copy_gb_per_s: 5.5,
        case_ids: vec!["pairs/cluster0/node0/load/avx512/t1".into()],
    };
    add("dry-run", serde_json::to_value(dry_run));
    let machines = MachinesView::new(vec![("amd-2p".into(), "two packages".into())]);
    add("machines", serde_json::to_value(machines));
    add("kernels", serde_json::to_value(KernelsView::new(|_| vec!["avx2".into()])));
    views.extend(advise::views());
    views.extend(advise_device::views());
    views.extend(compare::views());
    views.extend(model_views::views());
    views.extend(model_devices::views());
    views.extend(model_distribution::views());
    views.extend(model_flow::views());
    views.extend(model_hybrid::views());
    views.extend(model_latency::views());
    views.extend(model_roofline::views());
    views.extend(model_sharing::views());
    views.extend(model_strategy::views());
    views.extend(document::views());
    views.extend(profile::views());
    views.extend(record_doctor::views());
    views.extend(run::views());
    views.extend(sensitivity::views());
    views.extend(show_view::views());
    views.extend(topology_export::views());
    views
}

/// The paths of a schema that a document has.
fn paths_in(document: &Value, path: &str, known: &BTreeSet<String>, found: &mut BTreeSet<String>) {
    match document {
        Value::Object(fields) => {
            let names_are_data = known.contains(&contract::join(path, "*"));
            for (name, value) in fields {
                let path = contract::join(path, if names_are_data { "*" } else { name });
                paths_in(value, &path, known, found);
                found.insert(path);
            }
        }
        Value::Array(items) => {
            items.iter().for_each(|item| paths_in(item, &format!("{path}[]"), known, found));
        }
        _ => {}
    }
}

#[test]
fn lines_of_every_kind_are_what_the_schema_says_and_leave_nothing_out() {
    let validator = validator("record");
    let known = property_paths(&schema("record"));
    let mut found = BTreeSet::new();
    for line in every_line() {
        assert_valid(&validator, &line);
        paths_in(&line, "", &known, &mut found);
    }
    assert_eq!(found, known, "left: in lines; right: in the schema");
}

#[test]
fn views_of_every_kind_are_what_the_schemas_say_and_leave_nothing_out() {
    let mut found: std::collections::BTreeMap<&str, BTreeSet<String>> = Default::default();
    for (name, view) in EVERY_VIEW.iter() {
        assert_valid(&validator(name), view);
        paths_in(view, "", &property_paths(&schema(name)), found.entry(name).or_default());
    }
    for (name, paths) in found {
        assert_eq!(paths, property_paths(&schema(name)), "{name}");
    }
}

#[test]
fn topo_of_this_machine_and_of_described_ones() {
    let validator = validator("topo");
    assert_valid(&validator, &program::json_of(&program::nearfar(&["topo", "--json"]), &[0]));
    for (text, nodes) in [
        ("node:4 core:4 pu:1", 4),
        ("pack:2 [numa] l3:2 core:2 pu:2", 2),
        ("pack:2 node:2 l3:1(size=32MB) l2:2 core:1 pu:2", 4),
        ("pu:1", 1),
    ] {
        let output = program::nearfar(&["topo", "--json", "--synthetic", text]);
        let topo = program::json_of(&output, &[0]);
        assert_valid(&validator, &topo);
        assert_eq!(topo["nodes"].as_array().unwrap().len(), nodes, "{text}");
        assert_eq!(topo["source"]["synthetic"], text);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../topology/tests/machines");
    let files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 2);
    for file in files {
        let output = program::nearfar(&["topo", "--json", "--xml", file.to_str().unwrap()]);
        assert_valid(&validator, &program::json_of(&output, &[0]));
    }
}

#[test]
fn doctor_of_this_machine() {
    let doctor = program::json_of(&program::nearfar(&["doctor", "--json"]), &[0, 1]);
    assert_valid(&validator("doctor"), &doctor);
}

#[test]
fn lists_of_machines_and_kernels() {
    for command in ["characterize", "topo"] {
        let output = program::nearfar(&[command, "--simulate", "list", "--json"]);
        let machines = program::json_of(&output, &[0]);
        assert_valid(&validator("machines"), &machines);
        assert!(machines["machines"].as_array().unwrap().len() >= 5);
    }
    let kernels = |arguments: &[&str]| {
        let arguments = [&["characterize", "--kernel", "list", "--json"], arguments].concat();
        let kernels = program::json_of(&program::nearfar(&arguments), &[0]);
        assert_valid(&validator("kernels"), &kernels);
        let named = |view: &&Value| view["kernel"] == "triad";
        kernels["kernels"].as_array().unwrap().iter().find(named).unwrap()["variants"].clone()
    };
    let own = kernels(&[]);
    assert!(own.as_array().unwrap().contains(&"portable".into()), "{own}");
    assert_eq!(kernels(&["--simulate", "amd-2p"])[0], "open64");
}

/// The program's own lines of all experiments.
#[test]
fn records_of_every_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    let (path, validator) = (file.to_str().unwrap(), validator("record"));
    let standard = ["--suite", "standard", "--samples", "1", "--out", path];
    program::nearfar(&[&["characterize", "--simulate", "amd-2p"][..], &standard].concat());
    let lines = program::lines_of(&file);
    lines.iter().for_each(|line| assert_valid(&validator, line));
    let samples = lines.iter().filter_map(|line| line["sample"]["case"].as_str());
    let experiments: BTreeSet<String> =
        samples.map(|case| case.split('/').next().unwrap().to_string()).collect();
    assert_eq!(experiments, Experiment::OF_MACHINE.map(|experiment| experiment.to_string()).into());
}

#[test]
fn tables_of_a_record_with_everything_and_of_one_without_figures() {
    let validator = validator("show");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    let header = every_line::known_header();
    let cases = every_line::cases(&header);
    let idle = cases.iter().find(|case| case.id.contains("/ddot/")).unwrap();
    // Windows in which no byte was moved have a median of 0, and no relative spread.
    let windows = [(0, 0), (1, 1)].map(|(sequence, window)| {
        let method = ProofMethod::MovePages;
        every_line::sample(idle, sequence, (0, window), method, Vec::new())
    });
    let mut still = vec![Line::Header(Box::new(header.clone())), Line::Case(idle.clone())];
    still.extend(windows.map(Line::Sample));
    let header_only = vec![Line::Header(Box::new(header.clone()))];
    for lines in [every_line::record(header), still, header_only] {
        std::fs::write(&file, record_text(&lines)).unwrap();
        let output = program::nearfar(&["show", file.to_str().unwrap(), "--json"]);
        assert_valid(&validator, &program::json_of(&output, &[0]));
    }
}
