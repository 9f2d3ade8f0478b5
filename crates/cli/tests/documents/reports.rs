//! Records, most of simulated machines, and the reports of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use nearfar_record::Seal;
use serde_json::{Value, json};

/// Runs the program, which must succeed; what it printed.
pub fn nearfar(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nearfar"));
    command.args(arguments);
    let output = nearfar_lab::run_in_turn(|| command.output().unwrap());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// The records of machines that were computed, each once.
static RECORDS: Mutex<BTreeMap<String, Arc<OnceLock<Vec<u8>>>>> = Mutex::new(BTreeMap::new());

/// A record of a simulated machine, by its name or file, with all experiments that its parts allow.
pub fn simulate(folder: &Path, machine: &str) -> PathBuf {
    let name = Path::new(machine).file_stem().unwrap().to_str().unwrap();
    let path = folder.join(format!("{name}.jsonl"));
    let record = RECORDS.lock().unwrap().entry(machine.into()).or_default().clone();
    let text = record.get_or_init(|| {
        let out = path.to_str().unwrap();
        let suite = ["--suite", "standard", "--force", "--out", out];
        nearfar(&[&["characterize", "--simulate", machine], &suite[..]].concat());
        fs::read(&path).unwrap()
    });
    fs::write(&path, text).unwrap();
    path
}

/// The report of a record in the form of this ending, and its file.
pub fn report(record: &Path, ending: &str) -> (String, PathBuf) {
    let path = record.with_extension(ending);
    nearfar(&["report", record.to_str().unwrap(), "-o", path.to_str().unwrap()]);
    (fs::read_to_string(&path).unwrap(), path)
}

/// What `show --json` prints of a record, in a file beside it.
pub fn show_json(record: &Path) -> PathBuf {
    let path = record.with_extension("show");
    fs::write(&path, nearfar(&["show", "--json", record.to_str().unwrap()])).unwrap();
    path
}

/// Lines without seals as a record holds them, each with its own.
pub fn sealed(lines: &[Value]) -> Vec<u8> {
    let mut previous = None;
    let mut text = Vec::new();
    for line in lines {
        let object = serde_json::to_vec(line).unwrap();
        let object = object.strip_suffix(b"}").unwrap();
        let seal = Seal::of(previous, object);
        text.extend_from_slice(object);
        text.extend_from_slice(format!(",\"seal\":\"{seal}\"}}\n").as_bytes());
        previous = Some(seal);
    }
    text
}

/// A record of eight nodes of which the machine refused two: what a container does that may
/// place no page there.
pub fn refused_record(folder: &Path) -> PathBuf {
    let whole = fs::read_to_string(simulate(folder, "two-socket-8-nodes")).unwrap();
    let is_refused = |id: &str| {
        id.starts_with("pairs/") && (id.contains("/node5/") || id.contains("initiator2/node7/"))
    };
    let (mut lines, mut refused, mut samples) = (Vec::new(), BTreeSet::new(), 0);
    for line in whole.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("seal").unwrap();
        if line["sample"]["case"].as_str().is_some_and(is_refused) {
            continue;
        }
        if let Some(sample) = line.get_mut("sample") {
            sample["sequence"] = samples.into();
            samples += 1;
        }
        let case = line["case"].clone();
        lines.push(line);
        let Some(id) = case["id"].as_str().filter(|id| is_refused(id)) else { continue };
        if refused.insert(id.to_string()) {
            let reason = json!({ "code": "misplaced", "text": "a node said no" });
            lines.push(json!({ "absent": {
                "case": id, "coordinates": case["coordinates"], "absence": "refused",
                "reason": reason, "round": 0,
            } }));
        }
    }
    assert!(!refused.is_empty());
    let path = folder.join("refused-8-nodes.jsonl");
    fs::write(&path, sealed(&lines)).unwrap();
    path
}

/// A small record of the machine that the tests run on; `None` if another program measures it.
pub fn this_machine(folder: &Path) -> Option<PathBuf> {
    let path = folder.join("this-machine.jsonl");
    let quick = ["characterize", "--suite", "quick", "--kernel", "load,triad"];
    let small = ["--working-set", "8MiB", "--window", "5ms", "--out", path.to_str().unwrap()];
    nearfar_lab::measuring(|| {
        nearfar(&[quick.as_slice(), &small].concat());
    });
    path.exists().then_some(path)
}
