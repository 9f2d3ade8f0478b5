//! `advise --verify` in a guest: a program runs in turns under what is advised and without it, up to a
//! verdict. What every run found from inside is held against the advice; times mean nothing here, so
//! that any verdict may come.
//!
//! The advice is of a record whose figures are computed, of a machine of the guest's shape with one
//! fast node. In the guest its header gets the guest's own machine, as if it had been measured there.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use nearfar_lab::{Ended, GuestMachine};
use nearfar_machine::{Binding, CpuSet};
use serde_json::Value;

use crate::run_expected::{Expected, Landing};
use crate::run_launch::{Truth, deviation, in_words, shares};
use crate::{left, table};

/// The nodes of `lab/machines/amd-2p.toml`; whatever a program asks of node 3 comes five times as fast.
const MACHINE: &str = r#"
name = "one-fast-node"
title = "four nodes of 2 CPUs, of which one is fast"
variants = ["sse2"]
node = [
    { package = 0, cores = 2, memory = "384 MiB" },
    { package = 0, cores = 2, memory = "384 MiB" },
    { package = 1, cores = 2, memory = "384 MiB" },
    { package = 1, cores = 2, memory = "384 MiB" },
]

[[bandwidth]]
one_thread = 2
all_threads = 3

[[bandwidth]]
pairs = [[0, 3], [1, 3], [2, 3], [3, 3]]
one_thread = 8
all_threads = 15
"#;

/// Where the guest's fingerprint and machine come into the record.
const ITS_MACHINE: &str = "the machine of the guest";

/// Pages of 4 KiB that the program touches.
const PAGES: u64 = 8 << 8;

/// A share may differ by so much: the promise of `nearfar run`.
const TOLERANCE: f64 = 0.01;

/// Shell lines that ask for advice and try it out. `own` is a record that was made in the guest before.
pub fn script(own: &str) -> String {
    format!(
        "
        mark='\"{ITS_MACHINE}\"'
        begin='\"fingerprint\":'
        end=',\"environment\":'
        own=$(head -n 1 {own})
        own=${{own#*\"$begin\"}}
        own=${{own%%\"$end\"*}}
        cat >/tmp/rest.jsonl <<'RECORD'\n{}RECORD
        first=$(head -n 1 /tmp/rest.jsonl)
        before=${{first%%\"$mark\"*}}
        after=${{first#*\"$mark\"}}
        printf '%s%s%s\\n' \"$before\" \"$own\" \"$after\" >/tmp/advised.jsonl
        tail -n +2 /tmp/rest.jsonl >>/tmp/advised.jsonl
        touch /out/advise.inside
        chmod 666 /out/advise.inside
        as-nobody nearfar advise /tmp/advised.jsonl --initiators 0 --working-set 8MiB --verify --json \
            -- sh -c 'toucher -m 8 -t 2 >>/out/advise.inside' \
            >/out/advise.json 2>/out/advise.said
        echo $? >/out/advise.status
    ",
        record()
    )
}

/// The record's lines, without seals, which would tell of the header's change.
fn record() -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    std::fs::write(file("machine.toml"), MACHINE).unwrap();
    let output = Command::new(Path::new(env!("CARGO_BIN_EXE_nearfar")))
        .args(["characterize", "--suite", "standard", "--only", "pairs,mixes", "--kernel", "load"])
        .args(["--noise", "0", "--simulate"])
        .arg(file("machine.toml"))
        .arg("--out")
        .arg(file("record.jsonl"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(file("record.jsonl")).unwrap();
    text.lines().map(|line| format!("{}\n", as_measured(line))).collect()
}

/// A line of a simulated machine's record as one of a machine that was measured.
fn as_measured(line: &str) -> String {
    let mut value: Value = serde_json::from_str(line).unwrap();
    value.as_object_mut().unwrap().remove("seal");
    for actor in value.pointer_mut("/sample/actors").into_iter().flat_map(as_list) {
        for when in ["before", "after"] {
            *actor.pointer_mut(&format!("/proof/{when}/method")).unwrap() = "move_pages".into();
        }
        // Enough for what its rates are of.
        let threads = actor.get_mut("threads").into_iter().flat_map(as_list);
        threads.for_each(|thread| thread["passes"] = 1000.into());
    }
    if let Some(header) = value.pointer_mut("/header").and_then(Value::as_object_mut) {
        header.insert("executor".into(), "native".into());
        header.insert("simulation".into(), Value::Null);
        header.insert("fingerprint".into(), ITS_MACHINE.into());
        header.remove("machine");
    }
    value.to_string()
}

fn as_list(value: &mut Value) -> impl Iterator<Item = &mut Value> {
    value.as_array_mut().into_iter().flatten()
}

/// Holds a verdict that is one of the documented ones, and where every run had its pages and threads,
/// against the advice.
pub fn judge(machine: &GuestMachine, ended: &Ended) {
    let file = |ending: &str| left(ended, &format!("advise.{ending}"));
    let said = file("said");
    let view: Value =
        serde_json::from_str(&file("json")).unwrap_or_else(|it| panic!("{it}: {said}"));
    // Of data that any thread uses, which stands last.
    let shared = view["uses"].as_array().unwrap().last().unwrap();
    let recommended = usize::try_from(shared["recommended"].as_u64().unwrap()).unwrap();
    let advised: Binding =
        shared["candidates"][recommended]["bindings"][0].as_str().unwrap().parse().unwrap();
    assert_eq!(advised.to_string(), "cpus=0-1 mem=preferred:3", "{view}");

    let verification = &view["verification"];
    let verdict = verification["verdict"].as_str().unwrap_or_else(|| panic!("{view}\n{said}"));
    assert!(["faster", "slower", "same", "undecided"].contains(&verdict), "{verdict}");
    let status = if verdict == "slower" { "1" } else { "0" };
    assert_eq!(file("status"), status, "{verdict}: {said}");
    let rounds = usize::try_from(verification["rounds"].as_u64().unwrap()).unwrap();
    assert!([8, 12, 16, 22, 30].contains(&rounds), "{rounds} rounds");
    for name in ["placed_median_seconds", "default_median_seconds", "ratio"] {
        assert!(verification[name].as_f64().unwrap() > 0.0, "{verification}");
    }
    assert!(said.contains("own memory") && !said.contains("refused"), "{said}");

    let inside = file("inside");
    let runs: Vec<Truth> = inside.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(runs.len(), 2 * rounds, "{inside}");
    let all: CpuSet = (0..machine.cpus()).collect();
    for (number, run) in runs.iter().enumerate() {
        // Which side goes first changes from round to round.
        let is_placed = [0, 3].contains(&(number % 4));
        let cpus = if is_placed { &advised.cpus } else { &all };
        let asked: BTreeMap<u32, f64> = match is_placed {
            true => advised.memory.nodes().unwrap().iter().map(|node| (node, 1.0)).collect(),
            false => Expected::new(Landing::Touched).asked(machine, run).unwrap(),
        };
        let found = shares(&run.pages);
        let words = format!("run {number}: {}, asked {}", in_words(&found), in_words(&asked));
        assert_eq!((run.pages.values().sum::<u64>(), run.unknown), (PAGES, 0), "{words}");
        assert!(deviation(&asked, &found) <= TOLERANCE, "{words}");
        for thread in &run.threads {
            let may_use: CpuSet = thread.cpus.iter().copied().collect();
            assert_eq!(may_use, *cpus, "run {number}: {thread:?}");
        }
    }
    table::say(&format!(
        "{:9} {:27} advise --verify: {advised}, {rounds} rounds, verdict {verdict}",
        machine.name, ended.release
    ));
}
