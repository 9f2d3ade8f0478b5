//! Simulated machines by the command line: characterized, classed, predicted with,
//! resumed; and the thesis worked out again.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::support::{nearfar, refuse, run, text};

/// A record of a simulated machine in `folder`.
fn simulate(folder: &Path, machine: &str, options: &[&str]) -> String {
    let path = folder.join("r.jsonl").display().to_string();
    let mut command = nearfar();
    command.args(["characterize", "--force", "--simulate", machine, "--out", &path]).args(options);
    let output = run(&mut command);
    assert!(output.status.success(), "{}", text(&output.stderr));
    path
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Maximum and alpha of each class.
fn classes(record: &str, options: &[&str]) -> Vec<(f64, Option<f64>)> {
    let mut command = nearfar();
    command.args(["model", record, "classes", "--json"]).args(options);
    let view = json(&run(&mut command));
    let of = |class: &Value| (class["max_gb_per_s"].as_f64().unwrap(), class["alpha"].as_f64());
    view["classes"].as_array().unwrap().iter().map(of).collect()
}

fn assert_close(found: f64, wanted: f64, tolerance: f64) {
    assert!((found / wanted - 1.0).abs() <= tolerance, "{found} instead of {wanted}");
}

/// Table 3.4 and 4.1 of the thesis, through noise.
#[test]
fn the_classes_of_the_thesis_are_found() {
    let folder = tempfile::tempdir().unwrap();
    for (machine, wanted) in [
        ("amd-2p", &[9.3, 5.6, 3.1][..]),
        ("intel-2p", &[10.5, 7.1][..]),
        ("amd-4p", &[8.0, 5.5, 4.0, 3.2][..]),
    ] {
        let record =
            simulate(folder.path(), machine, &["--suite", "standard", "--kernel", "triad"]);
        let found = classes(&record, &["--gamma", "DDR3-2133"]);
        assert_eq!(found.len(), wanted.len(), "{machine}: {found:?}");
        for ((max, alpha), wanted) in found.into_iter().zip(wanted) {
            assert_close(max, *wanted, 0.03);
            assert_close(alpha.unwrap(), wanted / 17.066, 0.03);
        }
    }
}

#[test]
fn alpha_without_a_theoretical_maximum_is_null_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "amd-2p", &["--kernel", "triad"]);
    let view = json(&run(nearfar().args(["model", &record, "classes", "--json"])));
    assert!(view["gamma"].is_null());
    for class in view["classes"].as_array().unwrap() {
        assert!(class["alpha"].is_null());
        assert!(class["alpha_relative"].as_f64().unwrap() <= 1.0);
    }
    let output = run(nearfar().args(["model", &record, "classes"]));
    let said = text(&output.stdout);
    assert!(said.contains("--gamma") && said.contains("SIMULATED"), "{said}");
}

/// The same seed gives the same samples, whether or not the run was interrupted.
#[test]
fn an_interrupted_simulation_goes_on_as_if_it_had_not_been() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--kernel", "load,triad", "--seed", "5"];
    let path = simulate(folder.path(), "amd-2p", &options);
    let whole = std::fs::read_to_string(&path).unwrap();
    // In no order: a round that is gone on with runs what is missing in an order of its own.
    let samples = |text: &str| -> BTreeSet<(String, u64, u64, u64)> {
        let lines = text.lines().filter(|line| line.starts_with("{\"sample\""));
        lines
            .map(|line| {
                let sample = &serde_json::from_str::<Value>(line).unwrap()["sample"];
                let number = |field: &str| sample[field].as_u64().unwrap();
                let bytes = sample["actors"][0]["useful_bytes"].as_u64().unwrap();
                let case = sample["case"].as_str().unwrap().to_string();
                (case, number("round"), number("window"), bytes)
            })
            .collect()
    };
    std::fs::write(&path, &whole[..whole.len() / 3]).unwrap();
    let output = run(nearfar().args(["characterize", "--resume", "--out", &path]));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(samples(&std::fs::read_to_string(&path).unwrap()), samples(&whole));
    let other = simulate(folder.path(), "amd-2p", &["--kernel", "load,triad", "--seed", "6"]);
    assert_ne!(samples(&std::fs::read_to_string(other).unwrap()), samples(&whole));
}

#[test]
fn without_noise_every_round_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = simulate(folder.path(), "intel-2p", &["--kernel", "triad", "--noise", "0"]);
    let view = json(&run(nearfar().args(["show", &path, "--json"])));
    for cell in view["pairs"].as_array().unwrap() {
        assert_eq!(cell["figures"][0]["spread_between_rounds"].as_f64(), Some(0.0));
    }
}

#[test]
fn simulated_machines_are_listed_shown_and_refused_by_name() {
    let listed = text(&run(nearfar().args(["characterize", "--simulate", "list"])).stdout);
    assert!(listed.contains("amd-2p") && listed.contains("two-socket-cxl"), "{listed}");
    let topo = json(&run(nearfar().args(["topo", "--simulate", "two-socket-cxl", "--json"])));
    let cpu_less = |node: &&Value| node["cpu_less"].as_bool() == Some(true);
    assert_eq!(topo["nodes"].as_array().unwrap().iter().filter(cpu_less).count(), 1);
    refuse(nearfar().args(["characterize", "--simulate", "amd-9p"]), 2, &["amd-9p", "amd-2p"]);
    refuse(nearfar().args(["topo", "--simulate", "./none.toml"]), 2, &["none.toml"]);
    refuse(
        nearfar().args(["characterize", "--simulate", "amd-2p", "--isa", "avx512"]),
        2,
        &["avx512", "open64"],
    );
}

/// A machine file of a user's own, and one that is wrong.
#[test]
fn a_file_describes_a_machine() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let own = "extends = \"amd-2p\"\nname = \"mine\"\ntitle = \"my machine\"\n";
    std::fs::write(&file, own).unwrap();
    let file = file.display().to_string();
    let path = simulate(folder.path(), &file, &["--kernel", "triad"]);
    let head = text(&run(nearfar().args(["show", &path])).stdout);
    assert!(head.contains("simulated-mine"), "{head}");
    std::fs::write(&file, format!("{own}colour = \"red\"\n")).unwrap();
    refuse(nearfar().args(["characterize", "--simulate", &file]), 2, &["colour", "line 4"]);
}

#[test]
fn the_prediction_of_the_thesis() {
    let view = json(&run(nearfar().args([
        "predict",
        "--alpha",
        "0.5449,0.3281,0.1816",
        "--share",
        "0.5,0.25,0.25",
        "--json",
    ])));
    assert_close(view["d"].as_f64().unwrap(), 0.399_875, 1e-9);
    assert_close(view["d_serial"].as_f64().unwrap(), 0.327_2, 1e-3);
    assert_close(view["d_overlap"].as_f64().unwrap(), 0.726_4, 1e-3);
}

#[test]
fn the_thesis_is_reproduced() {
    let view = json(&run(nearfar().args(["reproduce", "braithwaite2012", "--json"])));
    let paper = &view["papers"][0];
    assert_eq!(paper["fail"].as_u64(), Some(0));
    assert!(paper["pass"].as_u64().unwrap() >= 100);
}

/// One slow memory and one narrow link: both are named, and nothing of the healthy one.
#[test]
fn doctor_names_what_falls_short() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--suite", "standard", "--kernel", "load,triad"];
    let record = simulate(folder.path(), "two-socket-8-nodes-degraded", &options);
    let output = run(nearfar().args(["doctor", &record]));
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().filter(|line| line.starts_with("FAILED")).count(), 2, "{said}");
    let record = simulate(folder.path(), "two-socket-8-nodes", &options);
    let output = run(nearfar().args(["doctor", &record]));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
}
