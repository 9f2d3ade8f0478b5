//! What `doctor RECORD` prints, with every optional field given and null.

use nearfar_machine::Source;
use nearfar_record::Executor;
use nearfar_report::{PartView, RecordDoctorView, ShortfallView};
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
        ratio: 0.8,
        ratio_interval: [0.78, 0.82],
        cells: 12,
        cells_of_part: 48,
        fewest_twins: 7,
        memory_share: (parts[0].part == "memory").then_some(0.75),
        kernels: vec!["load".into(), "triad".into()],
        threads: vec![1, 16],
    };
    let mut view = RecordDoctorView {
        schema: "nearfar.record-doctor/1",
        host: "node17".into(),
        started: "2025-03-01T12:00:00Z".into(),
        executor: Executor::Native,
        cells_compared: 1280,
        groups: 60,
        noise: Some(0.01),
        cells_alone: 1,
        findings: parts().chunks(2).map(finding).collect(),
        checks: vec![check(Some("do this")), check(None)],
    };
    let mut views = vec![("record-doctor", serde_json::to_value(&view).unwrap())];
    view.executor = Executor::Simulated;
    view.noise = None;
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
        let finding = doctor["checks"][0]["finding"].as_str().unwrap();
        assert!(finding.starts_with("nothing to compare with: "), "{finding}");
    }
}

#[test]
fn a_simulated_fault_and_a_maximum_that_is_too_low_are_failures() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.jsonl");
    let path = file.to_str().unwrap();
    let machine = "two-socket-8-nodes-degraded";
    let output = program::nearfar(&["characterize", "--simulate", machine, "--out", path]);
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
