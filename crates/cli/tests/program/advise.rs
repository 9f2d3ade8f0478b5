//! `advise` by the command line, on simulated machines.

use std::path::{Path, PathBuf};

use nearfar_machine::{Binding, NodeSet};
use serde_json::Value;

use crate::records::{asked, json, line};
use crate::support::{run, text};

#[test]
fn gains_are_over_the_default_and_commands_are_the_bindings() {
    let words = "advise @eight --initiators 0 --working-set 8GiB --pattern shared";
    let view = &json(words)["uses"][0];
    let default = view["candidates"].as_array().unwrap().iter().find(|it| it["is_default"] == true);
    let default = default.unwrap()["predicted_gb_per_s"]["value"].as_f64().unwrap();
    for candidate in view["candidates"].as_array().unwrap() {
        let binding: Binding = candidate["bindings"][0].as_str().unwrap().parse().unwrap();
        let command = candidate["commands"][0].as_str().unwrap();
        // Over all nodes none is named.
        let memory = binding.memory.to_string().replace("interleave:0-7", "interleave");
        let asked = format!("--cpus {} --placement {memory} -- CMD", binding.cpus);
        assert!(command.ends_with(&asked), "{candidate}");
        let gain = candidate["predicted_gb_per_s"]["value"].as_f64().unwrap() / default - 1.0;
        assert!((candidate["gain"].as_f64().unwrap() - gain).abs() < 1e-9, "{candidate}");
        assert_eq!(candidate["room"], "fits");
    }
}

#[test]
fn the_first_screen_has_at_most_40_lines_of_80_columns_and_full_the_rest() {
    for words in [
        "advise @eight",
        "advise @eight --threads 8 --working-set 8GiB",
        "advise @eight --pattern regular --working-set 600GiB",
        "advise @many",
        "advise @knl-mixes --load-share 0.8",
        "advise @devices --device cuda0",
        "advise @eight --instances --working-set 80GB",
        "advise @sound --instances",
        "predict @knl-mixes --bytes-per-step 1GB",
        "predict @knl-mixes --bytes-per-step 1MB",
        "predict @eight --bytes-per-step 15.6GB --compute-per-step 20ms",
    ] {
        let said = |more: &str| text(&run(&mut asked(&format!("{words}{more}"))).stdout);
        let first = said("");
        assert!((5..=40).contains(&first.lines().count()), "{words}: {first}");
        let long: Vec<&str> = first.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{words}: {long:#?}");
        // All placements in place of the line that says how many more there are.
        assert!(said(" --full").lines().count() + 1 >= first.lines().count(), "{words}");
    }
}

/// A record of the suite quick asked for `--only mixes`, and one of those for `--only pairs`.
#[test]
fn a_quick_record_is_enough_and_says_what_it_rests_on() {
    let view = json("advise @sound");
    let uses = view["uses"].as_array().unwrap();
    assert_eq!(uses.len(), 2);
    assert_eq!([&uses[0]["pattern"], &uses[1]["pattern"]], ["private", "shared"]);
    for of_use in uses {
        assert_eq!(of_use["basis"]["model"], "pairs");
        let remedy = of_use["basis"]["without_flow"]["remedy"].as_str().unwrap();
        assert!(remedy.starts_with("nearfar characterize "), "{remedy}");
        assert!(of_use["recommended"].is_u64(), "{of_use}");
    }
    let said = text(&run(&mut asked("advise @sound")).stdout);
    assert!(said.contains("By pairs alone"), "{said}");
}

/// `--only mixes` was told first, and of the record that this left `--only pairs`.
#[test]
fn one_command_adds_what_a_quick_record_lacks() {
    for question in ["advise lacking.jsonl", "advise - <lacking.jsonl"] {
        assert!(run(&mut line("cp @sound lacking.jsonl")).status.success());
        let basis = json(question)["uses"][0]["basis"].clone();
        let remedy = basis["without_flow"]["remedy"].as_str().unwrap();
        let is_added = remedy.contains(" --append ");
        let out = if is_added { "" } else { " --force --out lacking.jsonl" };
        let typed = run(&mut line(&format!("{remedy}{out}")));
        assert_eq!(typed.status.code(), Some(0), "{remedy}: {}", text(&typed.stderr));
        assert_eq!(json(question)["uses"][0]["basis"]["model"], "flow", "{remedy}");
    }
}

/// The JSON has the form for every launcher, as `--as` prints it.
#[test]
fn forms_are_those_that_are_printed() {
    let words = "advise @eight --initiators 0 --pattern shared";
    let forms = json(words)["uses"][0]["forms"].clone();
    let forms = forms.as_array().unwrap();
    assert_eq!(forms.len(), 7);
    for form in forms {
        let name = form["launcher"].as_str().unwrap();
        let said = text(&run(&mut asked(&format!("{words} --as {name}"))).stdout);
        assert!(said.starts_with(form["texts"][0].as_str().unwrap()), "{name}: {said}");
        let lacks = said.replace("\n# ", " ").replace("# ", "");
        for lack in form["lacks"].as_array().unwrap() {
            assert!(lacks.contains(lack.as_str().unwrap()), "{name}: {said}");
        }
    }
}

/// The planted profile (of two threads, on initiator 0, a quarter of the pages on node 1) as if it had
/// been taken on a simulated machine.
fn profile(folder: &Path, machine: &str, change: impl Fn(&mut Value)) -> PathBuf {
    let planted = concat!(env!("CARGO_MANIFEST_DIR"), "/../document/tests/profiles/planted.json");
    let mut profile: Value = serde_json::from_slice(&std::fs::read(planted).unwrap()).unwrap();
    let topo = json(&format!("topo --simulate {machine}"));
    let of = |initiator: &Value| {
        let own: NodeSet = initiator["memory_nodes"].as_str().unwrap().parse().unwrap();
        let own: Vec<u32> = own.iter().collect();
        serde_json::json!({
            "index": initiator["index"], "cpus": initiator["cpus"], "cpu_node": own[0],
            "memory_nodes": own
        })
    };
    let initiators = topo["initiators"].as_array().unwrap().iter().map(of);
    profile["initiators"] = initiators.collect::<Vec<Value>>().into();
    change(&mut profile);
    let path = folder.join("profile.json");
    std::fs::write(&path, profile.to_string()).unwrap();
    path
}

#[test]
fn a_profile_fills_the_demand_and_tells_where_accesses_go_without_advice() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |words: &str, profile: &Path| {
        json(&format!("advise @intel-2p --pattern shared --profile {} {words}", profile.display()))
    };
    let uneven =
        |share: f64| move |it: &mut Value| it["figures"]["local_dram_share"] = share.into();
    let even = profile(folder.path(), "intel-2p", uneven(0.75));
    let initiator = "--initiators 0 --threads 4";
    let default_of = |view: &Value| {
        let all = view["uses"][0]["candidates"].as_array().unwrap();
        let default = all.iter().find(|it| it["is_default"] == true).unwrap();
        default["predicted_gb_per_s"]["value"].as_f64().unwrap()
    };
    let view = asked("--top 20", &even);
    assert_eq!(view["demand"]["threads"], 2);
    assert_eq!(view["demand"]["working_set_bytes"], 100_663_296);
    let taken = serde_json::json!(["threads", "working_set_bytes", "accesses"]);
    assert_eq!(view["profile"]["taken"], taken);
    assert_eq!(view["profile"]["accesses"][1]["share"], 0.25);
    assert_eq!(view["uses"][0]["basis"]["is_default_seen"], true, "{view}");

    // The command line wins; what is known of accesses still tells the default.
    let placed = json(&format!("advise @intel-2p --pattern shared {initiator}"));
    let seen = asked(initiator, &even);
    assert_eq!(seen["demand"]["threads"], 4);
    assert_eq!(seen["profile"]["taken"], serde_json::json!(["working_set_bytes", "accesses"]));
    let off = (default_of(&seen) / default_of(&placed) - 1.0).abs();
    assert!(off > 0.01, "a quarter on another node: {seen}");
    // Hot pages are near: that is nearer to all pages near.
    let hot = profile(folder.path(), "intel-2p", uneven(0.97));
    let hot = asked(initiator, &hot);
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
    let view = asked("--top 20", &blind);
    assert_eq!(view["uses"][0]["basis"]["is_default_seen"], false);
    for words in ["no look counted", "--working-set", "--load-share"] {
        assert!(view["profile"].to_string().contains(words), "{words}: {view:#}");
    }
}
