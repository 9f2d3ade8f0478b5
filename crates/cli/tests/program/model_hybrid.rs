//! `model hybrid` of simulated machines, by the command line.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::answers::{json, printed, simulated};
use crate::support::{nearfar, refuse};

fn simulate(folder: &Path, machine: &str, suite: &str) -> PathBuf {
    simulated(folder, machine, &["--only", "hybrid", "--suite", suite])
}

/// The words without their breaks.
fn unfolded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn knights_landing_is_told_where_to_put_its_buffers() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "knl-flat", "standard");
    let path = record.to_str().unwrap();
    let said = printed(&["model", path, "hybrid"]);
    assert!(said.contains("SIMULATED"), "{said}");
    let words = unfolded(&said);
    for sentence in [
        "reads only: put what is read on the fast node 1 (mem=preferred:1); expect 9",
        "two thirds reads: put all buffers on the fast node 1 (mem=preferred:1); expect 1",
        "where data comes to lie by itself",
        "If only half of the data finds room on the fast node",
        "Two memories at a time are modelled",
        "true relative RMS",
    ] {
        assert!(words.contains(sentence), "'{sentence}' is not in {said}");
    }
    let view = json(&["model", path, "hybrid"]);
    let thetas = view["pairs"][0]["overlaps"].as_array().unwrap();
    assert_eq!(thetas.len(), 12);
    let printed_theta = |longest: &str, beside: &str| {
        let own = thetas.iter().find(|it| it["dominating"] == longest && it["beside"] == beside);
        own.unwrap()["overlap_theta"].as_f64().unwrap()
    };
    // denoyelle2019, table 6.
    assert!((printed_theta("lf", "ls") - 0.722).abs() < 0.05);
    assert!((printed_theta("ss", "sf") - 0.726).abs() < 0.05);
    assert!(view["pairs"][0]["errors"]["relative_rms"].as_f64().unwrap() < 0.025);
}

#[test]
fn a_negative_overlap_shows_only_without_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "skylake-hybrid", "standard");
    let path = record.to_str().unwrap();
    let theta = |arguments: &[&str]| {
        let view = json(&[&["model", path, "hybrid"], arguments].concat());
        let overlaps = view["pairs"][0]["overlaps"].as_array().unwrap().clone();
        let own = overlaps.iter().find(|it| it["dominating"] == "lf" && it["beside"] == "ss");
        own.unwrap()["overlap_theta"].as_f64().unwrap()
    };
    assert!(theta(&[]).abs() < 1e-12);
    assert!((theta(&["--unbounded"]) + 0.102).abs() < 0.05);
    let said = printed(&["model", path, "hybrid"]);
    assert!(unfolded(&said).contains("ss beside lf: held at 0; without bounds -0."), "{said}");
}

#[test]
fn shares_that_are_asked_for_are_answered_beside_the_usual_ones() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "knl-flat", "standard");
    let path = record.to_str().unwrap();
    let asked = ["predict", path, "--load-share", "1", "--fast-share", "0.5"];
    let view = json(&[&asked[..], &["--fast-share", "1"]].concat());
    let placements = view["pairs"][0]["answer"]["placements"].as_array().unwrap();
    let of = |name: &str| placements.iter().filter(|it| it["name"] == name).collect::<Vec<_>>();
    let gb = |placement: &Value| placement["gb_per_s"].as_f64().unwrap();
    assert_eq!(of("asked").len(), 2);
    assert!((gb(of("asked")[1]) - gb(of("all_fast")[0])).abs() < 1e-9);
    assert!((gb(of("asked")[0]) - gb(of("even")[0])).abs() < 1e-9);
    // Half in either memory: 1 / (0.5 / 38.1 + 0.611 x 0.5 / 92).
    assert!((gb(of("even")[0]) / 60.8 - 1.0).abs() < 0.03);
    assert_eq!(of("all_fast")[0]["load_policy"], "mem=preferred:1");
    assert_eq!(of("half_fast")[0]["load_policy"], "mem=weighted:0=1,1=1");
    assert_eq!(of("all_fast")[0]["store_policy"], Value::Null);
    assert_eq!(view["pairs"][0]["answer"]["recommended"], "all_fast");
    let said = printed(&asked);
    assert!(said.contains("SIMULATED") && said.contains("best together"), "{said}");
}

#[test]
fn what_cannot_be_answered_is_refused_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "knl-flat", "standard");
    for (arguments, words) in [
        (&["--load-share", "1.5"][..], &["1.5", "from 0 to 1"][..]),
        (&["--load-share", "nan"], &["nan", "from 0 to 1"]),
        (&["--load-share", "0.5", "--fast-share", "2"], &["'2'", "from 0 to 1"]),
        (&["--fast-share", "0.5"], &["--load-share"]),
    ] {
        refuse(nearfar().arg("predict").arg(&record).args(arguments), 2, words);
    }
    let lines = fs::read_to_string(&record).unwrap();
    let header = lines.lines().next().unwrap().to_string();
    let empty = folder.path().join("empty.jsonl");
    fs::write(&empty, header + "\n").unwrap();
    for arguments in [&["predict"][..], &["model"]] {
        let mut command = nearfar();
        command.args(arguments).arg(&empty);
        let more: &[&str] =
            if arguments[0] == "model" { &["hybrid"] } else { &["--load-share", "0.5"] };
        refuse(command.args(more), 2, &["no hybrid model", "characterize"]);
    }
}

#[test]
fn text_keeps_to_a_hundred_columns() {
    let folder = tempfile::tempdir().unwrap();
    for (machine, suite) in
        [("knl-flat", "standard"), ("skylake-hybrid", "full"), ("two-socket-cxl", "full")]
    {
        let record = simulate(folder.path(), machine, suite);
        let path = record.to_str().unwrap();
        for arguments in [
            &["model", path, "hybrid"][..],
            &["predict", path, "--load-share", "0.67", "--fast-share", "0.333333"],
        ] {
            printed(arguments);
        }
    }
}
