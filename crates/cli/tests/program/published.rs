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

/// What a memory node of each can carry; of `cxl-2s-lisa` nobody published it.
const MAXIMA: [(&str, &str); 14] = [
    ("ddr4-2s", "DDR4-3200x8"),
    ("epyc-7742", "DDR4-3200x8"),
    ("epyc-9224-nps2-cxl", "DDR5-4800x6"),
    ("epyc-9354p-nps1", "DDR5-4800x12"),
    ("epyc-9354p-nps4", "DDR5-4800x3"),
    ("skylake-uneven", "DDR4-2666x6"),
    ("xeon-6240", "DDR4-2933x6"),
    ("xeon-6548y", "DDR5-5200x8"),
    ("xeon-8468-snc4", "DDR5-4800x2"),
    ("xeon-8480", "DDR5-4800x8"),
    ("xeon-8480-highmem", "DDR5-4800x8"),
    ("xeon-8568-cxl", "DDR5-4800x8"),
    ("xeon-gold-5218", "DDR4-2933x6"),
    ("xeon-max-9480", "HBM2Ex4"),
];

#[test]
fn memory_is_normal_or_has_the_fault_that_its_source_tells() {
    let folder = TempDir::new().unwrap();
    for (machine, maximum) in MAXIMA {
        let record = format!("{machine}-normal.jsonl");
        let measure = ["characterize", "--simulate", machine, "--suite", "standard"];
        let only = ["--only", "pairs,latency", "--kernel", "load", "--out", &record];
        told(&folder, &[&measure[..], &only].concat());
        let mut doctor = nearfar();
        doctor.current_dir(folder.path()).args(["doctor", &record, "--gamma", maximum, "--json"]);
        let output = run(&mut doctor);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let of_normal = |standing: &str| -> Vec<String> {
            let checks = found["checks"].as_array().unwrap().iter();
            let alike = checks.filter(|it| it["check"] == "normal" && it["standing"] == standing);
            alike.map(|it| it["finding"].as_str().unwrap().to_string()).collect()
        };
        let failed = of_normal("failed");
        if machine == "skylake-uneven" {
            assert_eq!(failed.len(), 1, "{failed:?}");
            assert!(
                failed[0].contains("memory node 1")
                    && failed[0].contains("as with 1 of 6 channels"),
                "{failed:?}"
            );
        } else {
            assert_eq!(failed, Vec::<String>::new(), "{machine}");
            assert_eq!(of_normal("warning"), Vec::<String>::new(), "{machine}");
        }
        let unseen = of_normal("unknown").iter().any(|it| it.contains("limit first"));
        // By one thread a core chiplets' links carry less than their channels, and so do sixteen cores.
        let by_cores =
            ["epyc-9224-nps2-cxl", "epyc-9354p-nps4", "xeon-gold-5218"].contains(&machine);
        assert_eq!(unseen, by_cores, "{machine}: {:?}", of_normal("unknown"));
    }
}

/// Where all nodes become one the record has done that already: all cores with pages in turn over all nodes. It
/// was published of this machine in the other mode too.
#[test]
fn nodes_that_become_one_have_what_all_of_them_moved() {
    let folder = TempDir::new().unwrap();
    let measure = ["characterize", "--simulate", "epyc-9354p-nps4", "--suite", "standard"];
    let only = ["--only", "pairs,latency,roofs", "--kernel", "load", "--out", "nps4.jsonl"];
    told(&folder, &[&measure[..], &only].concat());
    let answer = told(&folder, &["predict", "nps4.jsonl", "--what-if", "nps=1", "--json"]);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let bandwidth = answer["bandwidth"].as_array().unwrap();
    let of: Vec<&Value> = bandwidth.iter().map(|it| &it["of"]).collect();
    assert_eq!(of, ["own_node", "all_own"]);
    for changed in bandwidth {
        let then = &changed["then_gb_per_s"];
        assert_eq!(then["because"], "measured_in_turn", "{changed}");
        let ends = then["interval"].as_array().unwrap();
        let ends = [&ends[0], &ends[1]].map(|end| end.as_f64().unwrap());
        assert!(ends[0] < PUBLISHED_IN_NPS1 && PUBLISHED_IN_NPS1 < ends[1], "{changed}");
    }
}

/// Of `machines/published/epyc-9354p-nps1.toml`, GB/s.
const PUBLISHED_IN_NPS1: f64 = 354.55;

#[test]
fn a_channel_less_is_named_where_the_memory_limits() {
    let folder = TempDir::new().unwrap();
    for (machine, channels, nodes) in
        [("xeon-8480", 8, 1), ("xeon-6548y", 8, 2), ("epyc-9354p-nps1", 12, 1)]
    {
        let maximum = MAXIMA.iter().find(|(name, _)| *name == machine).unwrap().1;
        let (file, record) = (format!("{machine}-less.toml"), format!("{machine}-less.jsonl"));
        let left = f64::from(channels - 2) / f64::from(channels);
        let mut text =
            format!("extends = \"{machine}\"\nname = \"less\"\ntitle = \"two channels less\"\n");
        for node in 0..nodes {
            text += &format!("[[fault]]\nkind = \"slow_memory\"\nnode = {node}\nfactor = {left}\n");
        }
        std::fs::write(folder.path().join(&file), text).unwrap();
        let measure = ["characterize", "--simulate", &file, "--suite", "standard"];
        let only = ["--only", "pairs", "--kernel", "load", "--out", &record];
        told(&folder, &[&measure[..], &only].concat());
        let mut doctor = nearfar();
        doctor.current_dir(folder.path()).args(["doctor", &record, "--gamma", maximum]);
        let output = run(&mut doctor);
        assert_eq!(output.status.code(), Some(1), "{machine}: {}", text_of(&output));
        let told = text_of(&output);
        assert!(told.contains("low:") && told.contains(&format!("of {channels}")), "{told}");
    }
}

fn text_of(output: &std::process::Output) -> String {
    text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
}
