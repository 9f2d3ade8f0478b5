//! `model latency` of simulated machines, by the command line.

use serde_json::Value;

use crate::answers::{json, printed, simulated};
use crate::support::{nearfar, refuse};

/// ribeiro2010: 2 to 2.5 and 1.2 to 1.5, beside noise that only ever adds to a time.
#[test]
fn numa_factors_of_the_paper_s_machines_come_back_through_noise() {
    let folder = tempfile::tempdir().unwrap();
    for (machine, least, most) in [("itanium2", 2.0, 2.5), ("opteron-8", 1.2, 1.5)] {
        let arguments = ["--suite", "standard", "--only", "latency"];
        let path = simulated(folder.path(), machine, &arguments);
        let view = json(&["model", path.to_str().unwrap(), "latency"]);
        let span = &view["span"];
        for (field, expected) in [("least_numa_factor", least), ("most_numa_factor", most)] {
            let found = span[field].as_f64().unwrap();
            assert!((found / expected - 1.0).abs() < 0.03, "{machine} {field}: {span}");
        }
        for factor in view["factors"].as_array().unwrap() {
            assert_eq!(factor["is_firmware_wrong"], false, "{factor}");
            let is_own = factor["cluster"] == factor["memory_node"];
            assert_eq!(factor["is_local"], is_own, "{factor}");
        }
        let queue = &view["curves"][0]["queue"];
        assert!(queue["worst_error"].as_f64().unwrap() < 0.03, "{machine}: {queue}");
        let text = printed(&["model", path.to_str().unwrap(), "latency"]);
        assert!(text.contains("SIMULATED") && text.contains("\n-> Put a thread whose"), "{text}");
    }
}

/// The firmware of e5520 says 2.1 where the machine has 1.62.
#[test]
fn distances_that_the_firmware_invents_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = simulated(folder.path(), "e5520", &["--suite", "quick", "--only", "latency"]);
    let text = printed(&["model", path.to_str().unwrap(), "latency"]);
    for words in
        ["2 of 2 remote pairs contradicted", "it says 2.1", "-> Do not place by the firmware"]
    {
        assert!(text.contains(words), "'{words}' is not in {text}");
    }
}

#[test]
fn one_cluster_has_a_loaded_curve_and_no_factor() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--suite", "standard", "--only", "latency"];
    let path = simulated(folder.path(), "skylake-hybrid", &arguments);
    let view = json(&["model", path.to_str().unwrap(), "latency"]);
    assert_eq!(view["span"], Value::Null);
    assert!(view["span_unknown"].as_str().unwrap().contains("local"), "{view:#}");
    assert!(view["curves"][0]["queue"]["capacity_gb_per_s"].as_f64().unwrap() > 90.0);
}

#[test]
fn a_record_without_latencies_names_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = simulated(folder.path(), "itanium2", &["--suite", "quick", "--only", "pairs"]);
    let words = ["no latency model", "--simulate itanium2", "--only latency"];
    refuse(nearfar().arg("model").arg(&path).arg("latency"), 2, &words);
}
