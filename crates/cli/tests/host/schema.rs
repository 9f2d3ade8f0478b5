//! What is printed and recorded of this machine, held against `docs/schema`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::support::{measuring, nearfar, run, text};

/// Every value is as the schema of that format says.
fn assert_valid(format: &str, values: &[Value]) {
    let path = format!("../../docs/schema/{}.json", format.replace('/', "-"));
    let schema = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let schema = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for value in values {
        let wrong: Vec<String> = validator.iter_errors(value).map(|it| it.to_string()).collect();
        assert!(wrong.is_empty(), "{format}: {wrong:?}\n{value:#}");
    }
}

/// The JSON that `characterize` prints, or another command.
fn printed(output: &Output) -> Value {
    let known = matches!(output.status.code(), Some(0 | 3));
    assert!(known, "{}: {}", output.status, text(&output.stderr));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_valid(value["schema"].as_str().unwrap(), std::slice::from_ref(&value));
    value
}

/// Of every experiment, as far as the machine has it.
const SMALL: &str = "--json --suite standard --samples 1 --runs 1 --working-set 8MiB --window 1ms";

#[test]
fn a_plan_a_measurement_its_record_and_its_tables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    measuring(|| {
        let dry_run =
            printed(&run(nearfar().args(["characterize", "--dry-run"]).args(SMALL.split(' '))));
        assert_eq!(dry_run["case_ids"].as_array().unwrap().len() as u64, dry_run["cases"]);
        let made = printed(&run(nearfar()
            .arg("characterize")
            .args(SMALL.split(' '))
            .arg("--out")
            .arg(&path)));
        assert_eq!(made["record"], path.to_str().unwrap());
        assert_eq!(made["executor"], "native");
        printed(&run(nearfar().args(["characterize", "--json", "--resume", "--out"]).arg(&path)));
        let record = fs::read_to_string(&path).unwrap();
        let lines: Vec<Value> =
            record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_valid("nearfar.record/2", &lines);
        let kinds: BTreeSet<&str> = lines
            .iter()
            .flat_map(|line| line.as_object().unwrap().keys())
            .map(String::as_str)
            .collect();
        assert!(kinds.is_superset(&["header", "case", "resumed", "finished"].into()), "{kinds:?}");
        let samples = lines.iter().filter_map(|line| line["sample"]["case"].as_str());
        let measured: BTreeSet<&str> =
            samples.map(|case| case.split('/').next().unwrap()).collect();
        let everywhere = ["latency", "pairs", "roofs", "scaling"];
        assert!(measured.is_superset(&everywhere.into()), "{measured:?}");
        let shown = printed(&run(nearfar().args(["show", "--json"]).arg(&path)));
        assert_eq!(shown["samples"], made["samples"]);
    });
}
