//! Simulated machines by the command line: listed, shown, characterized, resumed,
//! looked over.

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

/// Nobody is to take the machine's seconds for those at the keyboard, or its data for pages.
#[test]
fn what_a_simulation_says_of_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl").display().to_string();
    let simulated = ["characterize", "--simulate", "amd-2p"];
    let said = text(&run(nearfar().args(simulated).args(["--out", &path])).stdout);
    assert!(said.starts_with("SIMULATED: "), "{said}");
    assert!(said.contains("of the simulated machine's own clock"), "{said}");
    let resumed =
        json(&run(nearfar().args(["characterize", "--resume", "--json", "--out", &path])));
    assert_eq!(resumed["executor"], "simulated");

    let said = text(&run(nearfar().args(simulated).arg("--dry-run")).stdout);
    assert!(said.starts_with("SIMULATED: ") && !said.contains("just now"), "{said}");
    let plan = json(&run(nearfar().args(simulated).args(["--dry-run", "--json"])));
    assert_eq!(plan["executor"], "simulated");
    refuse(
        nearfar().args(simulated).args(["--budget", "1s"]),
        2,
        &["budget of 1.00 s is too small", "simulated machine's own clock"],
    );

    let said = text(&run(nearfar().args(["show", &path])).stdout);
    assert!(said.contains("a simulated machine has no pages"), "{said}");
    assert!(!said.contains("with proven pages") && !said.contains("by simulated"), "{said}");
}

#[test]
fn lists_are_of_the_machine_that_is_asked() {
    let list = |options: &[&str]| {
        let mut command = nearfar();
        text(&run(command.args(["characterize", "--kernel", "list"]).args(options)).stdout)
    };
    let own = list(&[]);
    assert!(own.contains("portable") && !own.contains("open64"), "{own}");
    let amd = list(&["--simulate", "amd-2p"]);
    assert!(amd.contains("open64, ") && !amd.contains("portable"), "{amd}");
    let machines = list(&["--simulate", "list"]);
    assert!(machines.contains("two-socket-cxl"), "{machines}");
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
    std::fs::write(&file, format!("{own}kernels.traid = 0.9\n")).unwrap();
    refuse(
        nearfar().args(["characterize", "--simulate", &file]),
        2,
        &["kernels.traid", "triad_nt"],
    );
    std::fs::write(&file, format!("{own}colour = \"red\"\n")).unwrap();
    refuse(nearfar().args(["characterize", "--simulate", &file]), 2, &["colour", "line 4"]);
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
