//! `sensitivity` where there is one memory node, and of records that were made elsewhere.

use std::fs;

use serde_json::Value;

use crate::records::record;
use crate::support::{nearfar, refuse, run, text};

fn has_one_node() -> bool {
    let topo = run(nearfar().args(["topo", "--json"]));
    let topo: Value = serde_json::from_slice(&topo.stdout).unwrap();
    topo["nodes"].as_array().unwrap().len() == 1
}

/// Nothing is run, so that not even a program that there is not does harm.
#[test]
fn one_node_leaves_nothing_to_choose() {
    if !has_one_node() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let witness = folder.path().join("ran");
    for more in [&[][..], &["--matrix"], &["--counters"]] {
        let arguments = |json: &'static [&str]| {
            let mut command = nearfar();
            command.arg("sensitivity").args(more).args(json).args(["--", "touch"]).arg(&witness);
            command.env("XDG_STATE_HOME", folder.path());
            run(&mut command)
        };
        let said = arguments(&[]);
        assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
        assert!(text(&said.stdout).contains("there is nothing to choose"), "{said:?}");
        let json: Value = serde_json::from_slice(&arguments(&["--json"]).stdout).unwrap();
        assert!(json["nothing_to_choose"].as_str().unwrap().contains("one memory node"));
        assert_eq!(json["programs"], Value::Array(Vec::new()));
    }
    assert!(!witness.exists());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no record was begun");
}

/// A record of runs on amd-2p, written by hand: a program that only moves data, in classes of
/// 9.3, 5.6 and 3.1 GB/s, and one with a hostile name that failed.
#[test]
fn runs_are_shown_beside_the_classes_of_their_machine() {
    let folder = tempfile::tempdir().unwrap();
    let machine = record("amd-2p").display().to_string();
    let runs = folder.path().join("runs.jsonl");
    fs::write(&runs, runs_on(&machine)).unwrap();
    let runs = runs.to_str().unwrap();
    let shown = run(nearfar().args(["sensitivity", "--from", runs, "--record", &machine]));
    let said = text(&shown.stdout);
    assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
    assert!(said.lines().all(|line| line.chars().count() <= 100), "{said}");
    assert!(said.contains("node 0, its own") && said.contains("nodes 0-3 in turn"), "{said}");
    assert!(!said.contains('\u{1b}') && said.contains("no licence"), "{said}");
    let json = run(nearfar().args(["sensitivity", "--json", "--from", runs, "--record", &machine]));
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let program = &json["programs"][0];
    let share = program["memory_share"]["share"].as_f64().unwrap();
    assert!((share - 1.0).abs() < 0.05, "{share}");
    for placement in program["placements"].as_array().unwrap() {
        assert_eq!(placement["standing"], "within", "{placement}");
    }
    let other = ["sensitivity", "--record", &machine, "--", "true"];
    refuse(nearfar().args(other), 2, &["another machine"]);
    let resume = ["characterize", "--resume", "--out", runs];
    refuse(nearfar().args(resume), 2, &["a record of programs", "nearfar sensitivity"]);
    // Without the machine's classes, and as one of several records.
    let alone = run(nearfar().args(["sensitivity", "--from", runs]));
    assert!(text(&alone.stdout).contains("give a record of this machine by --record"));
    let show = text(&run(nearfar().args(["show", runs])).stdout);
    assert!(show.contains("8 placements of programs"), "{show}");
}

/// Counts beside times: of program a in every run but the first of each placement, whose counter
/// of requests had no turn; that of cycles was not believed.
#[test]
fn what_was_counted_of_runs_is_shown_beside_their_times() {
    let folder = tempfile::tempdir().unwrap();
    let machine = record("amd-2p").display().to_string();
    let runs = folder.path().join("runs.jsonl");
    fs::write(&runs, counted(&runs_on(&machine))).unwrap();
    let runs = runs.to_str().unwrap();
    for more in [&["--record", machine.as_str()][..], &[]] {
        let shown = run(nearfar().args(["sensitivity", "--from", runs]).args(more));
        let said = text(&shown.stdout);
        assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
        assert!(said.lines().all(|line| line.chars().count() <= 100), "{said}");
        assert!(said.contains("by the CPU's counters") && said.contains("20 %"), "{said}");
        assert_eq!(said.matches("unavailable: cycles: not believed").count(), 1, "{said}");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("20 of 24 runs could be counted throughout: requests"), "{said}");
        assert!(said.contains("scaled up to all of the time, from 50 % of it"), "{said}");
        assert!(!said.contains('\u{1b}'), "{said}");
    }
    let json = run(nearfar().args(["sensitivity", "--json", "--from", runs]));
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let counters = json["counters"].as_array().unwrap();
    assert_eq!((counters.len(), &counters[0]["unavailable"]), (4, &"not believed".into()));
    for placement in json["programs"][0]["placements"].as_array().unwrap() {
        let counted = &placement["counted"];
        assert_eq!(
            (&counted["llc_miss_rate"]["median"], &counted["llc_miss_rate"]["count"]),
            (&0.2.into(), &5.into()),
            "{counted}"
        );
        assert_eq!(counted["llc_misses_per_1000_instructions"]["median"], 10.0);
        let why = counted["instructions_per_cycle"]["unknown"].as_str().unwrap();
        assert_eq!(why, "cycles: not believed");
    }
    // A program that failed has no counts either.
    assert_eq!(json["programs"][1]["placements"][0]["counted"], Value::Null);
}

/// The record with counters in its header and counts in its samples.
fn counted(record: &str) -> String {
    let quantities = ["cycles", "instructions", "llc_requests", "llc_misses"];
    let tried = quantities.map(|quantity| {
        let unavailable = (quantity == "cycles").then_some("not believed");
        serde_json::json!({"quantity": quantity, "events": ["an\u{1b}[2Jevent"], "meaning": "m",
            "source": "s", "unavailable": unavailable,
            "check": {"work": "w", "expected": 1e6, "counted": 1e6}})
    });
    let lines = record.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if let Some(commands) = line.pointer_mut("/header/inputs/commands") {
            commands["counters"] = tried.to_vec().into();
        }
        let is_first = line.pointer("/sample/round") == Some(&0.into());
        if let Some(run) = line.pointer_mut("/sample/run") {
            let count = |quantity: &str, count: f64| match quantity == "llc_requests" && is_first {
                true => serde_json::json!({"quantity": quantity, "count": null,
                    "counted_share": null, "unavailable": "no turn\u{1b}[2J"}),
                false => serde_json::json!({"quantity": quantity, "count": count,
                    "counted_share": 0.5, "unavailable": null}),
            };
            run["counts"] = serde_json::json!([
                count("instructions", 2e9),
                count("llc_requests", 1e8),
                count("llc_misses", 2e7)
            ]);
        }
        format!("{line}\n")
    });
    lines.collect()
}

/// Lines of a record as a reader takes them.
fn runs_on(machine: &str) -> String {
    let first = fs::read_to_string(machine).unwrap().lines().next().unwrap().to_string();
    let mut header: Value = serde_json::from_str(&first).unwrap();
    header.as_object_mut().unwrap().remove("seal");
    let fields = header["header"].as_object_mut().unwrap();
    fields["executor"] = "native".into();
    fields["simulation"] = Value::Null;
    let hostile = "b\u{1b}[2J";
    let at = |node: Option<u32>| {
        let memory = node.map_or("interleave:0-3".into(), |node| format!("preferred:{node}"));
        serde_json::json!({"initiator": 0, "cpu_node": 0, "memory_node": node,
            "binding": format!("cpus=0-3 mem={memory}")})
    };
    let placements = [Some(0), Some(1), Some(2), None];
    let program =
        |label: &str| serde_json::json!({"label": label, "program": "./it", "arguments": []});
    let inputs = fields["inputs"].as_object_mut().unwrap();
    inputs["experiments"] = serde_json::json!(["commands"]);
    inputs["window_ns"] = 0.into();
    inputs["commands"] = serde_json::json!({"programs": [program("a"), program(hostile)],
        "placements": placements.map(at), "metric": null, "timeout_ns": null});
    let mut lines = vec![header];
    let mut samples = Vec::new();
    for label in ["a", hostile] {
        for (number, node) in placements.into_iter().enumerate() {
            let id = format!("commands/{label}/{number}");
            let coordinates = serde_json::json!([{"experiment": "commands", "command": label,
                "initiator": 0, "cpu_node": 0, "memory_node": node}]);
            let mut actor = program(label);
            actor["actor"] = "command".into();
            actor["binding"] = at(node)["binding"].clone();
            lines.push(serde_json::json!({"case": {"id": id, "coordinates": coordinates,
                "actors": [actor]}}));
            if label != "a" {
                samples.push(serde_json::json!({"absent": {"case": id, "coordinates": coordinates,
                    "absence": "refused", "round": 0,
                    "reason": {"code": "command_failed", "text": "no licence\u{1b}[2J"}}}));
                continue;
            }
            // ns of 9.3 GB at each class; data in turn wait for each other.
            let ns = [1.0, 9.3 / 5.6, 9.3 / 3.1, (1.0 + 9.3 / 5.6 + 2.0 * 9.3 / 3.1) / 4.0][number];
            for round in 0..6_u64 {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "seconds of a test"
                )]
                let window_ns = (ns * 1e9) as u64 + round * 1_000_000;
                let sequence = number as u64 * 6 + round;
                samples.push(serde_json::json!({"sample": {"case": id, "sequence": sequence,
                    "round": round, "window": 0, "start_ns": sequence * 4_000_000_000_u64,
                    "window_ns": window_ns, "actors": [], "disturbances": [],
                    "run": {"metric": null, "pages": null, "pages_unknown": "too short",
                        "cpus_seen": ""}}}));
            }
        }
    }
    lines.extend(samples);
    lines.iter().map(|line| format!("{line}\n")).collect()
}
