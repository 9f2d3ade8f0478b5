//! `model strategy` of simulated machines, by the command line.

use std::path::Path;

use crate::answers::{json, printed, simulated};
use crate::support::{nearfar, refuse};

/// The paper's conclusion: bind where the NUMA factor is high, interleave where it is low, and for
/// irregular access everywhere.
#[test]
fn the_paper_s_machines_get_the_paper_s_advice() {
    let folder = tempfile::tempdir().unwrap();
    for (machine, regular, words) in [
        ("itanium2", "memory-bind", ["`cpus=0-3 mem=bind:0`", "mem=interleave:0-3`"]),
        ("opteron-8", "round-robin", ["mem=interleave:0-7`", "interleave after all"]),
    ] {
        let arguments = ["--suite", "standard", "--only", "roofs,latency"];
        let path = simulated(folder.path(), machine, &arguments);
        let view = json(&["model", path.to_str().unwrap(), "strategy"]);
        let best = |place: usize| view["expectations"][place]["strategies"][0]["strategy"].clone();
        assert_eq!((best(0), best(1)), (regular.into(), "round-robin".into()), "{machine}");
        assert_eq!(view["expectations"][0]["strategies"][3]["strategy"], "first-touch");
        let text = printed(&["model", path.to_str().unwrap(), "strategy"]);
        for words in words.iter().chain(&["SIMULATED", "and none below 5 %"]) {
            assert!(text.contains(words), "'{words}' is not in {text}");
        }
    }
}

/// From clusters that ran alone the order is the same on these machines, and the text says that
/// less is known.
#[test]
fn pairs_stand_in_for_roofs_and_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = simulated(folder.path(), "itanium2", &["--suite", "quick"]);
    let view = json(&["model", path.to_str().unwrap(), "strategy"]);
    assert_eq!((&view["basis"], &view["variant"]), (&"pairs".into(), &"best".into()));
    assert_eq!(view["expectations"][0]["strategies"][0]["strategy"], "memory-bind");
    assert!(
        printed(&["model", path.to_str().unwrap(), "strategy"]).contains("clusters that ran alone")
    );
}

#[test]
fn machines_without_a_choice_and_records_without_figures_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = simulated(folder.path(), "skylake-hybrid", &["--suite", "standard"]);
    let strategy = |path: &Path| {
        let mut command = nearfar();
        command.arg("model").arg(path).arg("strategy");
        command
    };
    refuse(&mut strategy(&path), 2, &["no strategy model", "fewer than two clusters"]);
    let path = simulated(folder.path(), "itanium2", &["--suite", "quick", "--only", "pairs"]);
    refuse(&mut strategy(&path), 2, &["no strategy model", "--only latency"]);
    let path = simulated(folder.path(), "opteron-8", &["--suite", "quick", "--only", "latency"]);
    refuse(&mut strategy(&path), 2, &["neither roofs", "--only roofs,latency"]);
}
