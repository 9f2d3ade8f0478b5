//! What `doctor RECORD` prints, with every optional field given and null.

use nearfar_machine::Source;
use nearfar_record::{Executor, Sealing};
use nearfar_report::{
    HiddenLevelView, NotComparedView, PartView, RecordDoctorView, SealingView, ShortfallView,
    UnmeasuredView, UnsteadinessView,
};
use serde_json::Value;

use crate::contract::schema;
use crate::{assert_valid, every_line, program, record_text, validator};

/// A part of every kind, with the fields that say which one it is.
fn parts() -> Vec<PartView> {
    let part = |part, fields: [Option<u32>; 5]| {
        let [cluster, initiator, memory_node, from_package, to_package] = fields;
        PartView { part, cluster, initiator, memory_node, from_package, to_package }
    };
    vec![
        part("memory", [None, None, Some(5), None, None]),
        part("cluster", [Some(3), None, None, None, None]),
        part("initiator", [Some(3), Some(7), None, None, None]),
        part("package_link", [None, None, None, Some(0), Some(1)]),
        part("package_to_package", [None, None, None, Some(1), Some(0)]),
        part("cluster_to_package", [Some(5), None, None, None, Some(0)]),
        part("path", [Some(5), None, Some(0), None, None]),
    ]
}

/// The views by their schemas' names.
pub fn views() -> Vec<(&'static str, Value)> {
    let check = |remedy: Option<&str>| {
        serde_json::from_value(serde_json::json!({
            "check": "twins", "standing": "failed", "finding": "what", "remedy": remedy
        }))
        .unwrap()
    };
    let finding = |parts: &[PartView]| ShortfallView {
        parts: parts.to_vec(),
        against: if parts[0].part == "path" { "other_direction" } else { "twins" },
        ratio: 0.8,
        ratio_interval: [0.78, 0.82],
        cells: 12,
        cells_of_part: 48,
        fewest_twins: 7,
        memory_share: (parts[0].part == "memory").then_some(0.75),
        kernels: vec!["load".into(), "triad".into()],
        threads: vec![1, 16],
    };
    let unsteady = |part: PartView| UnsteadinessView {
        part,
        scatter: 0.35,
        twins_scatter: 0.011,
        cells: 40,
        cells_of_part: 48,
        kernels: vec!["load".into()],
        threads: vec![1, 16],
    };
    let level = |between| HiddenLevelView { between, pairs: vec![[0, 3], [3, 0]], ratio: 0.94 };
    let unmeasured = |text: Option<String>| UnmeasuredView {
        memory_node: 2,
        cells: 12,
        cells_of_node: 48,
        reason: if text.is_some() { "no_room" } else { "no_sample" },
        text,
    };
    let mut view = RecordDoctorView {
        schema: "nearfar.record-doctor/1",
        host: "node17".into(),
        started: "2025-03-01T12:00:00Z".into(),
        executor: Executor::Native,
        sealing: SealingView::new(&Sealing::Fits),
        cells_compared: 1280,
        cells_not_compared: NotComparedView { no_twin: 4, few_rounds: 2, no_figure: 1 },
        groups: 60,
        noise: Some(0.01),
        resolution: Some(0.034),
        cells_alone: 1,
        findings: parts().chunks(2).map(finding).collect(),
        unsteady: parts().into_iter().map(unsteady).collect(),
        hidden_levels: vec![level("nodes"), level("packages")],
        unmeasured: vec![unmeasured(Some("no room".into())), unmeasured(None)],
        checks: vec![check(Some("do this")), check(None)],
    };
    let mut views = vec![("record-doctor", serde_json::to_value(&view).unwrap())];
    view.executor = Executor::Simulated;
    view.sealing = SealingView::new(&Sealing::Edited { lines: vec![1, 9], count: 7 });
    view.noise = None;
    view.resolution = None;
    views.push(("record-doctor", serde_json::to_value(&view).unwrap()));
    views
}

#[test]
fn every_part_of_the_schema_is_one_that_the_views_have() {
    let schema = schema("record-doctor");
    let words = schema.pointer("/$defs/part/properties/part/enum").unwrap();
    let parts: Vec<&str> = parts().iter().map(|part| part.part).collect();
    assert_eq!(*words, serde_json::json!(parts));
}

#[test]
fn doctor_of_a_record_with_everything_and_of_one_without_figures() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    let validator = validator("record-doctor");
    let lines = every_line::record(every_line::known_header());
    for lines in [&lines[..], &lines[..1]] {
        std::fs::write(&file, record_text(lines)).unwrap();
        let output = program::nearfar(&["doctor", file.to_str().unwrap(), "--json"]);
        let doctor = program::json_of(&output, &[0]);
        assert_valid(&validator, &doctor);
        assert_eq!(doctor["cells_compared"], 0);
        let checks = doctor["checks"].as_array().unwrap();
        let twins = checks.iter().find(|check| check["check"] == "twins").unwrap();
        let finding = twins["finding"].as_str().unwrap();
        assert!(finding.starts_with("nothing to compare with: "), "{finding}");
    }
}

#[test]
fn a_simulated_fault_and_a_maximum_that_is_too_low_are_failures() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    let path = file.to_str().unwrap();
    let machine = "two-socket-8-nodes-degraded";
    let output = program::nearfar(&[
        "characterize",
        "--simulate",
        machine,
        "--suite",
        "quick",
        "--out",
        path,
    ]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = program::nearfar(&["doctor", path, "--gamma", "1GB/s", "--json"]);
    let doctor = program::json_of(&output, &[1]);
    assert_valid(&validator("record-doctor"), &doctor);
    assert_eq!(doctor["executor"], "simulated");
    assert_eq!(doctor["findings"].as_array().unwrap().len(), 2);
    let last = doctor["checks"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["check"], &last["standing"]),
        (&"theoretical_maximum".into(), &"failed".into())
    );

    let lines = every_line::record(every_line::unknown_header(Source::Live));
    std::fs::write(&file, record_text(&lines)).unwrap();
    let output = program::nearfar(&["doctor", "--gamma", "DDR4-3200x8"]);
    assert_eq!(output.status.code(), Some(2), "a maximum without a record");
}

/// A node that is full and a wiring that the firmware hides are told, and are no failures.
#[test]
fn what_is_missing_or_built_so_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let machine = folder.path().join("full.toml");
    let text = "extends = \"two-socket-8-nodes\"\nname = \"full\"\ntitle = \"full\"\n\
                [[bandwidth]]\npairs = [[4, 7], [7, 4], [5, 6], [6, 5]]\none_thread = 13.0\n\
                all_threads = 28.0\n[[fault]]\nkind = \"full_memory\"\nnode = 2\n";
    std::fs::write(&machine, text).unwrap();
    let file = folder.path().join("r.jsonl");
    let (machine, path) = (machine.to_str().unwrap(), file.to_str().unwrap());
    program::nearfar(&["characterize", "--simulate", machine, "--suite", "quick", "--out", path]);
    let doctor = program::json_of(&program::nearfar(&["doctor", path, "--json"]), &[0]);
    assert_valid(&validator("record-doctor"), &doctor);
    let missing = &doctor["unmeasured"][0];
    assert_eq!((&missing["memory_node"], &missing["reason"]), (&2.into(), &"no_room".into()));
    assert_eq!(missing["cells"], missing["cells_of_node"]);
    assert_eq!(doctor["cells_not_compared"]["no_figure"], missing["cells"]);
    assert_eq!(doctor["hidden_levels"][0]["pairs"].as_array().unwrap().len(), 4);
    let text = program::nearfar(&["doctor", path]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("simulated-full, worked out 2"), "{text}");
}
