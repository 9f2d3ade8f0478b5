//! Machines of published figures, by the program.

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{nearfar, run, text};

/// What the program answers in a folder.
fn told(folder: &TempDir, arguments: &[&str]) -> String {
    let output = run(nearfar().current_dir(folder.path()).args(arguments));
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Those that are nothing else: what other machines can do is tested of these already.
fn published() -> Vec<String> {
    let built_in = nearfar_flow::builtin_machines().unwrap();
    let machines = nearfar_flow::published_machines().unwrap().into_iter().map(|it| it.name);
    machines.filter(|name| built_in.iter().all(|(known, _)| known != name)).collect()
}

#[test]
fn each_is_measured_modelled_advised_upon_and_reported() {
    let folder = TempDir::new().unwrap();
    let machines = published();
    assert!(machines.len() >= 9, "{machines:?}");
    for machine in machines {
        let record = format!("{machine}.jsonl");
        told(
            &folder,
            &["characterize", "--simulate", &machine, "--suite", "quick", "--out", &record],
        );
        for command in ["show", "model", "advise"] {
            let answer = told(&folder, &[command, &record]);
            assert!(!answer.is_empty(), "{machine}: {command}");
        }
        told(&folder, &["report", &record, "-o", "report.md"]);
        let report = std::fs::read_to_string(folder.path().join("report.md")).unwrap();
        assert!(report.contains(&machine), "{report}");
    }
}

#[test]
fn lists_and_topologies_say_where_figures_are_from() {
    let folder = TempDir::new().unwrap();
    let json =
        |arguments: &[&str]| -> Value { serde_json::from_str(&told(&folder, arguments)).unwrap() };
    let list = json(&["topo", "--simulate", "list", "--json"]);
    let of = |name: &str| {
        let machines = list["machines"].as_array().unwrap();
        machines.iter().find(|machine| machine["name"] == name).unwrap().clone()
    };
    for (name, origin) in [
        ("xeon-8468-snc4", "published"),
        ("epyc-7742", "published"),
        ("joe0", "paper"),
        ("two-socket-cxl", "ours"),
    ] {
        let machine = of(name);
        assert_eq!(machine["origin"], origin, "{name}");
        assert_eq!(machine["sources"].as_array().unwrap().is_empty(), origin != "published");
        let topology = json(&["topo", "--simulate", name, "--json"]);
        assert_eq!(topology["simulated"], machine);
    }
}
