//! `advise` by the command line, on simulated machines.

use std::path::{Path, PathBuf};

use nearfar_machine::Binding;
use serde_json::Value;

use crate::answers::simulated;
use crate::support::{nearfar, refuse, run, text};

fn simulate(folder: &Path, machine: &str, experiments: &str) -> PathBuf {
    let options = ["--suite", "standard", "--kernel", "load,triad", "--only", experiments];
    simulated(folder, machine, &options)
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

/// The planted profile (of two threads, on cluster 0, a quarter of the pages on node 1) as if it had
/// been taken on a simulated machine.
fn profile(folder: &Path, machine: &str, change: impl Fn(&mut Value)) -> PathBuf {
    let planted = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/profiles/planted.json");
    let mut profile: Value = serde_json::from_slice(&std::fs::read(planted).unwrap()).unwrap();
    let topo = run(nearfar().args(["topo", "--simulate", machine, "--json"]));
    let topo: Value = serde_json::from_slice(&topo.stdout).unwrap();
    let of = |cluster: &Value| {
        let own = cluster["memory_nodes"].clone();
        serde_json::json!({
            "index": cluster["index"], "cpus": cluster["cpus"], "cpu_node": own[0],
            "memory_nodes": own
        })
    };
    let clusters = topo["clusters"].as_array().unwrap().iter().map(of);
    profile["clusters"] = clusters.collect::<Vec<Value>>().into();
    change(&mut profile);
    let path = folder.join("profile.json");
    std::fs::write(&path, profile.to_string()).unwrap();
    path
}

#[test]
fn a_profile_fills_the_demand_and_tells_where_accesses_go_without_advice() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "intel-2p", "pairs,links,roofs,mixes");
    let uneven =
        |share: f64| move |it: &mut Value| it["figures"]["local_dram_share"] = share.into();
    let even = profile(folder.path(), "intel-2p", uneven(0.75));
    let even = even.to_str().unwrap();
    let cluster = ["--clusters", "0", "--threads", "4"];
    let default_of = |view: &Value| {
        let all = view["candidates"].as_array().unwrap();
        let default = all.iter().find(|it| it["is_default"] == true).unwrap();
        default["predicted_gb_per_s"].as_f64().unwrap()
    };
    let view = asked(&record, &["--profile", even]);
    assert_eq!(view["demand"]["threads"], 2);
    assert_eq!(view["demand"]["working_set_bytes"], 100_663_296);
    let taken = serde_json::json!(["threads", "working_set_bytes", "accesses"]);
    assert_eq!(view["profile"]["taken"], taken);
    assert_eq!(view["profile"]["accesses"][1]["share"], 0.25);
    assert!(view["demand"]["default_is"].as_str().unwrap().contains("profile"), "{view}");

    // The command line wins; what is known of accesses still tells the default.
    let placed = asked(&record, &cluster);
    let seen = asked(&record, &[&cluster[..], &["--profile", even]].concat());
    assert_eq!(seen["demand"]["threads"], 4);
    assert_eq!(seen["profile"]["taken"], serde_json::json!(["working_set_bytes", "accesses"]));
    let off = (default_of(&seen) / default_of(&placed) - 1.0).abs();
    assert!(off > 0.01, "a quarter on another node: {seen}");
    // Hot pages are near: that is nearer to all pages near.
    let hot = profile(folder.path(), "intel-2p", uneven(0.97));
    let hot = asked(&record, &[&cluster[..], &["--profile", hot.to_str().unwrap()]].concat());
    assert_eq!(hot["profile"]["uneven_local_share"], 0.97);
    let nearer = (default_of(&hot) / default_of(&placed) - 1.0).abs();
    assert!(nearer < off, "{nearer} and {off}");

    // What it does not know is said.
    let blind = profile(folder.path(), "intel-2p", |it| {
        it["access"] = Value::Null;
        it["classes"] = Value::Null;
        it["access_unknown"] = "no look counted its pages".into();
        it["most_bytes"] = Value::Null;
    });
    let blind = ["--profile", blind.to_str().unwrap()];
    let text = printed(&record, &blind);
    for words in ["From the profile of triad", "no look counted", "--working-set", "--load-share"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(asked(&record, &blind)["demand"]["default_is"].as_str().unwrap().contains("first"));
    let both = ["-", "--profile", "-"];
    refuse(nearfar().arg("advise").args(both), 2, &["both be standard input"]);
}

#[test]
fn verification_is_of_this_machine_alone() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "intel-2p", "pairs,links,roofs,mixes");
    let ran = folder.path().join("ran");
    let touch = ["--", "touch", ran.to_str().unwrap()];
    let ask = |arguments: &[&str], words: &[&str]| {
        refuse(nearfar().arg("advise").arg(&record).args(arguments), 2, words);
    };
    ask(&[&["--verify"], &touch[..]].concat(), &["simulated machine", "nothing of this one"]);
    ask(&["--verify"], &["COMMAND"]);
    ask(&touch, &["--verify"]);
    assert!(!ran.exists());
}

/// The thesis's machine: near, the package's other node, the other package. Of one hub each the
/// second device is near the other package; a PCIe address names it too.
#[test]
fn nodes_are_ranked_by_their_copies_to_a_device() {
    let folder = tempfile::tempdir().unwrap();
    let record = simulate(folder.path(), "amd-2p", "devices");
    let view = asked(&record, &["--device", "cuda0"]);
    let places = view["places"].as_array().unwrap();
    let nodes: Vec<u64> =
        places.iter().map(|place| place["memory_node"].as_u64().unwrap()).collect();
    assert_eq!(nodes, [0, 1, 2, 3], "{view:#}");
    let as_good: Vec<bool> =
        places.iter().map(|place| place["is_as_good"].as_bool().unwrap()).collect();
    assert_eq!(as_good, [true, false, false, false]);
    // Of table 5.5: 1 / 2.3192 + 1 / 2.2828 against 1 / 5.8503 + 1 / 6.58.
    let ratio = (1.0 / 2.3192 + 1.0 / 2.2828) / (1.0 / 5.8503 + 1.0 / 6.58);
    assert!((places[3]["time_ratio"].as_f64().unwrap() / ratio - 1.0).abs() < 0.02, "{view:#}");
    assert_eq!(view["command"], "nearfar run --placement local:0 -- COMMAND");
    let said = printed(&record, &["--device", "cuda0"]);
    assert!(said.contains("Tesla C2050") && said.contains("SIMULATED"), "{said}");
    let missing = ["it has cuda0, cuda1"];
    refuse(nearfar().arg("advise").arg(&record).args(["--device", "cuda7"]), 2, &missing);
    let two = simulate(folder.path(), "amd-2p-two-hubs", "devices");
    let view = asked(&two, &["--device", "0000:04:00.0"]);
    assert_eq!(view["places"][0]["memory_node"], 2, "{view:#}");
    let none = simulate(folder.path(), "joe0", "devices");
    let missing = ["no device that data could be copied to"];
    refuse(nearfar().arg("advise").arg(&none).args(["--device", "cuda0"]), 2, &missing);
}
