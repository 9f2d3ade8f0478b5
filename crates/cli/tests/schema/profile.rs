//! Profiles, with every optional field given and null, and what the program writes.

use serde_json::Value;

use crate::{assert_valid, program, validator};

/// Where null stands for something that is not known or does not apply.
pub const NULLS: &[&str] = &[
    "program.end",
    "cpu.vendor",
    "cpu.model_name",
    "cpu.family",
    "cpu.model",
    "cpu.stepping",
    "cpu.microcode",
    "clusters[].cpu_node",
    "most_bytes",
    "looks[].bytes",
    "access",
    "access_unknown",
    "classes",
    "counters[].meaning",
    "counters[].source",
    "counters[].count",
    "counters[].counted_share",
    "counters[].check",
    "counters[].unavailable",
    "figures.gflop_per_s",
    "figures.dram_read_gb_per_s",
    "figures.arithmetic_flops_per_byte",
    "figures.operational_flops_per_byte",
    "figures.local_dram_share",
    "figures.llc_miss_rate",
    "figures.instructions_per_cycle",
    "figures.memory_level_parallelism",
];

const PLANTED: &str = include_str!("../../../report/tests/profiles/planted.json");

fn planted() -> Value {
    let mut planted: Value = serde_json::from_str(PLANTED).unwrap();
    planted["notes"] = vec!["a note"].into();
    planted
}

/// One of which nothing is known.
fn unknown() -> Value {
    let mut unknown = planted();
    for path in ["most_bytes", "access", "classes"] {
        unknown[path] = Value::Null;
    }
    unknown["access_unknown"] = "no look counted its pages".into();
    unknown["program"]["end"] = serde_json::json!({ "signalled": 9 });
    unknown["clusters"][0]["cpu_node"] = Value::Null;
    for counter in unknown["counters"].as_array_mut().unwrap() {
        for field in ["count", "counted_share", "check", "meaning", "source"] {
            counter[field] = Value::Null;
        }
        counter["unavailable"] = "not believed".into();
    }
    let figures = unknown["figures"].as_object_mut().unwrap();
    for (name, value) in figures.iter_mut() {
        if name != "unknown" {
            *value = Value::Null;
        }
    }
    let names: Vec<String> = figures.keys().filter(|name| *name != "unknown").cloned().collect();
    for name in names {
        figures["unknown"][name] = "not counted".into();
    }
    unknown
}

/// As they are read and written again.
pub fn views() -> Vec<(&'static str, Value)> {
    let again = |profile: Value| {
        let read = nearfar_record::read_profile(profile.to_string().as_bytes()).unwrap();
        serde_json::to_value(read).unwrap()
    };
    [planted(), unknown()].map(|profile| ("profile", again(profile))).into()
}

#[test]
fn a_profile_of_a_program_and_what_is_shown_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.json");
    let path = file.to_str().unwrap();
    let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let watched = program::nearfar(&["profile", "--out", path, "--", "sh", "-c", busy]);
    assert_eq!(watched.status.code(), Some(0));
    let written: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_valid(&validator("profile"), &written);
    let shown = program::json_of(&program::nearfar(&["profile", path, "--json"]), &[0]);
    assert_eq!(shown, written);
}
