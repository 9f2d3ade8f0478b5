//! `advise` by the command line, on simulated machines.

use std::path::{Path, PathBuf};

use nearfar_machine::Binding;
use serde_json::Value;

use crate::support::{nearfar, refuse, run, text};

fn simulate(folder: &Path, machine: &str, experiments: &str) -> PathBuf {
    let path = folder.join(format!("{machine}.jsonl"));
    let output = run(nearfar()
        .args(["characterize", "--simulate", machine, "--suite", "standard", "--only", experiments])
        .args(["--kernel", "load,triad", "--out"])
        .arg(&path));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    path
}

fn printed(record: &Path, arguments: &[&str]) -> String {
    let output = run(nearfar().arg("advise").arg(record).args(arguments));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn asked(record: &Path, arguments: &[&str]) -> Value {
    let arguments = [arguments, &["--json"]].concat();
    serde_json::from_str(&printed(record, &arguments)).unwrap()
}

/// The recommended candidate of a view.
fn recommended(view: &Value) -> &Value {
    &view["candidates"][usize::try_from(view["recommended"].as_u64().unwrap()).unwrap()]
}

#[test]
fn eight_nodes_are_ranked_and_the_command_is_the_binding() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "two-socket-8-nodes", "pairs,links,roofs,mixes");
    let view = asked(&record, &["--clusters", "0", "--working-set", "8GiB"]);
    let default = view["candidates"].as_array().unwrap().iter().find(|it| it["is_default"] == true);
    let default = default.unwrap()["predicted_gb_per_s"].as_f64().unwrap();
    for candidate in view["candidates"].as_array().unwrap() {
        let binding: Binding = candidate["binding"].as_str().unwrap().parse().unwrap();
        let command = candidate["command"].as_str().unwrap();
        let asked = format!("--cpus {} --placement {} -- CMD", binding.cpus, binding.memory);
        assert!(command.ends_with(&asked), "{candidate}");
        let gain = candidate["predicted_gb_per_s"].as_f64().unwrap() / default - 1.0;
        assert!((candidate["gain"].as_f64().unwrap() - gain).abs() < 1e-9, "{candidate}");
        assert_eq!(candidate["fits"], true);
    }
    // The machine's file: controllers of 36 GB/s of the triad, 46.8 of load; one cluster can issue
    // more, and other nodes of its package are near.
    let best = recommended(&view);
    assert!(best["gain"].as_f64().unwrap() > 0.3, "{best}");
    assert!(best["binding"].as_str().unwrap().contains("interleave:0"), "{best}");
    let text = printed(&record, &["--clusters", "0", "--working-set", "8GiB"]);
    assert!(text.contains("SIMULATED") && text.contains("-> nearfar run --cpus 0-15 "), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");

    // Data of each thread's own lies best where it comes to lie by itself.
    let view = asked(&record, &["--clusters", "0,4", "--threads", "2", "--pattern", "private"]);
    assert_eq!(recommended(&view)["is_default"], true, "{view}");
    let text = printed(&record, &["--clusters", "0,4", "--threads", "2", "--pattern", "private"]);
    assert!(text.contains("Keep the default") && text.contains("--working-set"), "{text}");
}

#[test]
fn what_does_not_fit_is_named_and_not_recommended() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "knl-flat", "pairs,roofs,mixes,hybrid");
    let of = |size: &str| {
        let cluster = ["--clusters", "0", "--load-share", "0.8", "--top", "20"];
        asked(&record, &[&cluster[..], &["--working-set", size]].concat())
    };
    // The fast memory has 4 GiB.
    let small = of("3GiB");
    assert_eq!(recommended(&small)["binding"], "cpus=0-15 mem=preferred:1");
    assert_eq!(recommended(&small)["model"], "hybrid");
    let large = of("8GiB");
    let best = recommended(&large);
    assert_ne!(best["fits"], false, "{best}");
    let on_fast = "cpus=0-15 mem=preferred:1";
    let candidates = large["candidates"].as_array().unwrap();
    let too_large = candidates.iter().find(|it| it["binding"] == on_fast).unwrap();
    assert_eq!(too_large["fits"], false);
    assert!(too_large["reason"].as_str().unwrap().contains("does not fit"), "{too_large}");
    assert!(of("1024GiB")["recommended"].is_null());
}

#[test]
fn one_node_leaves_nothing_to_choose_and_impossible_demands_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let one = folder.path().join("one.toml");
    std::fs::write(
        &one,
        "name = \"one\"\ntitle = \"one node\"\nvariants = [\"sse2\"]\n[[node]]\npackage = 0\ncores = 4\n\
         memory = \"8GiB\"\n[[bandwidth]]\nrelation = \"local\"\none_thread = 5\nall_threads = 12\n",
    )
    .unwrap();
    let record = simulate(folder.path(), one.to_str().unwrap(), "pairs");
    let view = asked(&record, &[]);
    assert!(view["recommended"].is_null() && view["basis"].is_null());
    assert!(view["advice"][0].as_str().unwrap().contains("nothing to choose"), "{view}");

    let record = simulate(folder.path(), "e7-4870", "pairs");
    let ask = |arguments: &[&str], words: &[&str]| {
        refuse(nearfar().arg("advise").arg(&record).args(arguments), 2, words);
    };
    ask(&[], &["no flow model", "holds no mixes", "--only mixes"]);
    ask(&["--clusters", "9"], &["no cluster 9", "0, 1, 2, 3"]);
    ask(&["--clusters", "1,1"], &["cluster 1 is named twice"]);
    ask(&["--threads", "1000"], &["1000 threads", "40"]);
    ask(&["--threads", "1", "--clusters", "0,1"], &["2 clusters need a thread each"]);
    ask(&["--load-share", "1.5"], &["0 to 1"]);
    ask(&["--working-set", "0"], &["nothing to place"]);
}
