//! What `compare` prints, of records that differ in everything and of mutilated ones.

use nearfar_flow::{parse_machine, read_machine};
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{CaseStanding, ComparedGroup, ComparisonRule, Verdict};
use nearfar_record::{Inputs, Record, Suite};
use nearfar_report::CompareView;
use serde_json::Value;

use crate::contract::schema;
use crate::mutilated::{measured, mutilate};
use crate::{assert_valid, every_line, program, record_text, validator};

/// Where a comparison may hold null.
pub const NULLS: &[&str] = &[
    "cases[].a_gb_per_s",
    "cases[].a_gflop_per_s",
    "cases[].a_ns",
    "cases[].b_gb_per_s",
    "cases[].b_gflop_per_s",
    "cases[].b_ns",
    "environment[].a",
    "environment[].b",
    "groups[].shift",
    "not_compared[].a_reason",
    "not_compared[].b_reason",
    "parts[].part.cluster",
    "parts[].part.from_package",
    "parts[].part.initiator",
    "parts[].part.memory_node",
    "parts[].part.to_package",
    "resolution",
];

/// A machine with a slow node and one that has no room.
const FAULTY: &str = "extends = \"joe0\"\nname = \"faulty\"\ntitle = \"faulty\"\n\
                      [[fault]]\nkind = \"slow_memory\"\nnode = 1\nfactor = 0.8\n\
                      [[fault]]\nkind = \"full_memory\"\nnode = 2\n";

fn sound_and_faulty() -> (Record, Record) {
    let inputs = |seed| Inputs { seed, ..suite_inputs(Suite::Standard) };
    let sound = simulate(&read_machine("joe0").unwrap(), inputs(1), true).unwrap();
    let faulty = parse_machine("faulty.toml", FAULTY).unwrap();
    (sound, simulate(&faulty, inputs(1), true).unwrap())
}

fn view(a: &Record, b: &Record) -> CompareView {
    CompareView::new(a, b, ComparisonRule::default())
}

/// The views by their schemas' names.
pub fn views() -> Vec<(&'static str, Value)> {
    let (sound, faulty) = sound_and_faulty();
    let mut known = read(&every_line::record(every_line::known_header()));
    known.header.environment.unknown.clear();
    let pairs = [(&sound, &faulty), (&faulty, &sound), (&known, &sound), (&sound, &known)];
    pairs.map(|(a, b)| ("compare", serde_json::to_value(view(a, b)).unwrap())).into()
}

fn read(lines: &[nearfar_record::Line]) -> Record {
    nearfar_record::read_record(record_text(lines).as_slice()).unwrap()
}

#[test]
fn words_of_the_schema_are_those_of_the_model() {
    let schema = schema("compare");
    let words = |definition: &str| schema.pointer(&format!("/$defs/{definition}/enum")).unwrap();
    let groups = ComparedGroup::ALL.map(ComparedGroup::as_str);
    assert_eq!(*words("group_name"), serde_json::json!(groups));
    let verdicts = [Verdict::Worse, Verdict::Better, Verdict::Unclear, Verdict::Same];
    let verdicts = verdicts.map(Verdict::as_str);
    assert_eq!(*words("comparison_verdict"), serde_json::json!(verdicts));
    let standings = [
        CaseStanding::Measured,
        CaseStanding::Refused(String::new()),
        CaseStanding::Omitted(String::new()),
        CaseStanding::NoSample,
        CaseStanding::FewRounds,
        CaseStanding::OnlyDisturbed,
        CaseStanding::NoWork,
        CaseStanding::NotPlanned,
        CaseStanding::OtherActors,
    ];
    let standings: Vec<&str> = standings.iter().map(CaseStanding::as_str).collect();
    assert_eq!(*words("case_standing"), serde_json::json!(standings));
}

/// Figures that are no numbers would be null, which the schema refuses; lines keep to their width.
#[test]
fn mutilated_records_are_compared_without_a_panic() {
    let validator = validator("compare");
    let mut random = fastrand::Rng::with_seed(19);
    let sound = measured("e5520");
    let mut with_cases = 0;
    for trial in 0..24 {
        let mut broken = sound.clone();
        for _ in 0..=trial % 3 {
            mutilate(&mut broken, &mut random);
        }
        for (a, b) in [(&sound, &broken), (&broken, &sound), (&broken, &broken)] {
            let view = view(a, b);
            assert_valid(&validator, &serde_json::to_value(&view).unwrap());
            let text = view.text();
            assert!(!text.contains("NaN"), "{text}");
            with_cases += usize::from(!view.cases.is_empty());
        }
    }
    assert!(with_cases > 24, "{with_cases}");
}

#[test]
fn a_comparison_that_the_program_prints() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (a, b, machine) = (path("a.jsonl"), path("b.jsonl"), path("faulty.toml"));
    std::fs::write(&machine, FAULTY).unwrap();
    for (machine, path) in [("joe0", &a), (machine.as_str(), &b)] {
        let arguments = ["characterize", "--simulate", machine, "--suite", "quick", "--out", path];
        program::nearfar(&arguments);
    }
    let validator = validator("compare");
    let of = |a: &str, b: &str, status| {
        let view = program::json_of(&program::nearfar(&["compare", a, b, "--json"]), &[status]);
        assert_valid(&validator, &view);
        view
    };
    let worse = of(&a, &b, 1);
    assert!(worse["worse"].as_u64().unwrap() > 0);
    assert_eq!(worse["parts"][0]["part"]["memory_node"], 1);
    let refused = worse["not_compared"].as_array().unwrap();
    assert!(refused.iter().any(|case| case["b"] == "refused" && case["b_reason"].is_string()));
    assert_eq!(worse["worse"], of(&b, &a, 0)["better"]);
    assert_eq!(of(&a, &a, 0)["worse"], 0);
}
