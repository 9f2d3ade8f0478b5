//! `model flow` of simulated machines, by the command line.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::answers::{json, printed, simulated};
use crate::support::{nearfar, refuse};

fn simulate(folder: &Path, machine: &str, experiments: &str) -> PathBuf {
    let options = ["--suite", "standard", "--kernel", "load,triad", "--only", experiments];
    simulated(folder, machine, &options)
}

#[test]
fn the_flow_of_eight_nodes_is_fitted_told_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "two-socket-8-nodes", "pairs,links,roofs,mixes");
    let path = record.to_str().unwrap();
    let view = json(&["model", path, "flow"]);
    assert_eq!(view["kernel"], "load");
    assert!(view["model_error"].as_f64().unwrap() < 0.03, "{}", view["model_error"]);
    // The machine's file: controllers of 36 GB/s of the triad, of which load moves 1.3 times.
    let parts = view["parts"].as_array().unwrap();
    let controllers: Vec<&Value> =
        parts.iter().filter(|it| it["part"]["kind"] == "controller").collect();
    assert_eq!(controllers.len(), 8);
    for controller in controllers {
        let ours = controller["gb_per_s"].as_f64().unwrap();
        assert!((ours / (36.0 * 1.3) - 1.0).abs() < 0.04, "{controller}");
    }
    let text = printed(&["model", path, "flow"]);
    assert!(text.contains("SIMULATED"), "{text}");
    for words in ["Every cluster on its own node", "believe no difference below", "each foretold"] {
        assert!(text.contains(words), "{text}");
    }
    // All cores at work and slowed by parts that are far from full: no advice to add threads.
    let asked = ["predict", path, "--stream", "cpus=0-127 mem=interleave:0-7"];
    let view = json(&asked);
    assert!(!view["streams"][0]["limit"].is_null(), "{view}");
    assert_eq!(view["free_cores"], 0);
    let text = printed(&asked);
    assert!(text.contains("Of what slows streams"), "{text}");
    assert!(!text.contains("more threads would move more"), "{text}");
    // One thread waits for itself, and there are cores for more.
    let text = printed(&["predict", path, "--stream", "cpus=0 mem=bind:0"]);
    assert!(text.contains("more threads would move more, and 127 cores are"), "{text}");
}

#[test]
fn streams_that_meet_get_less_than_alone_and_questions_that_have_no_answer_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "e7-4870", "pairs,roofs,mixes");
    let path = record.to_str().unwrap();
    let local = "cpus=0-9 mem=first-touch";
    let far = "cpus=10-19 mem=bind:0";
    let ask = ["predict", path, "--stream", local, "--stream", far];
    let view = json(&ask);
    let streams = view["streams"].as_array().unwrap();
    for stream in streams {
        let of = |name: &str| stream[name].as_f64().unwrap();
        assert!(of("together_gb_per_s") < of("alone_gb_per_s"), "{stream}");
        assert!(of("kept_share") < 1.0);
        assert_eq!(stream["threads"][0]["threads"], 10);
    }
    let text = printed(&["predict", path, "--stream", local, "--stream", far]);
    assert!(text.contains("Together expect"), "{text}");
    for (asked, word) in [
        (["cpus=9999 mem=bind:0", local], "CPU 9999"),
        (["cpus=0 mem=bind:77", far], "no node 77"),
        (["cpus=0-3 mem=bind:0", local], "both use the core"),
    ] {
        let mut command = nearfar();
        command.args(["predict", path, "--stream", asked[0], "--stream", asked[1]]);
        refuse(&mut command, 2, &[word]);
    }
}

#[test]
fn a_record_without_mixes_or_pairs_says_what_would_add_them() {
    let folder = tempfile::tempdir().unwrap();
    let lone = simulate(folder.path(), "e7-4870", "pairs");
    let mixed = simulate(folder.path(), "e7-4870", "mixes");
    for (record, word) in [(lone, "mixes"), (mixed, "pairs")] {
        let mut command = nearfar();
        command.arg("model").arg(&record).arg("flow");
        refuse(&mut command, 2, &[&format!("holds no {word}"), &format!("--only {word}")]);
    }
}
