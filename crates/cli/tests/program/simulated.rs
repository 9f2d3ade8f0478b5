//! Simulated machines by the command line: characterized, resumed, described by files.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

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
        assert_eq!(
            cell["figures"][0]["bandwidth_gb_per_s"]["spread_between_rounds"].as_f64(),
            Some(0.0)
        );
    }
}

#[test]
fn plans_and_what_is_resumed_name_their_executor() {
    let folder = tempfile::tempdir().unwrap();
    let path = simulate(folder.path(), "amd-2p", &["--only", "pairs"]);
    let resume = ["characterize", "--resume", "--json", "--out", &path];
    assert_eq!(json(&run(nearfar().args(resume)))["executor"], "simulated");
    let plan = ["characterize", "--simulate", "amd-2p", "--dry-run", "--json"];
    assert_eq!(json(&run(nearfar().args(plan)))["executor"], "simulated");
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

/// 87 MB twice: held as objects they took four times as much, each.
#[test]
fn long_records_are_compared_in_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = simulate(folder.path(), "amd-2p", &["--suite", "full"]);
    assert!(std::fs::metadata(&path).unwrap().len() > 60 << 20);
    let within = "ulimit -d 131072; exec \"$@\"";
    let mut command = Command::new("bash");
    command.args(["-c", within, "bash", env!("CARGO_BIN_EXE_nearfar"), "compare", &path, &path]);
    let output = run(&mut command);
    assert!(output.status.success(), "{}", text(&output.stderr));
}
