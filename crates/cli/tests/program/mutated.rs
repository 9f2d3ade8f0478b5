//! Records in which values were changed to what their types just allow, without seals, through every
//! command that reads a record: each answers or refuses, within bounds of time and memory.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use fastrand::Rng;
use serde_json::{Value, json};

use crate::support::text;

/// Records that are changed in `cargo test`, and in `make outer`.
const RECORDS: u64 = 60;
const MANY_RECORDS: u64 = 10_000;

/// Commands of each; the record is `m.jsonl`, which `r.jsonl` is a copy of.
const COMMANDS: [&str; 20] = [
    "show m.jsonl --full",
    "show m.jsonl --remarks",
    "show m.jsonl --json",
    "model m.jsonl --full",
    "model m.jsonl --json",
    "predict m.jsonl --processes 2",
    "predict m.jsonl --stream cpus=0,mem=0",
    "advise m.jsonl --full",
    "advise m.jsonl --instances --json",
    "doctor m.jsonl",
    "compare m.jsonl m.jsonl",
    "list .",
    "fleet compare .",
    "fleet drift m.jsonl r.jsonl",
    "report m.jsonl --force -o o.html",
    "report m.jsonl --force -o o.md",
    "report m.jsonl --force -o o.csv",
    "record scrub m.jsonl --force -o s.jsonl",
    "characterize --resume --out r.jsonl --dry-run",
    "characterize --resume --out r.jsonl",
];

/// At the limits of what numbers are read into, and of what they mean.
const NUMBERS: [&str; 20] = [
    "0",
    "-1",
    "1",
    "-0.0",
    "0.5",
    "1e308",
    "-1e308",
    "1e-308",
    "5e-324",
    "255",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775808",
    "18446744073709551615",
    "1e18",
    "-5.5",
    "1000000000",
];

/// Words that are read into something else, or shown.
const WORDS: [&str; 10] = [
    "",
    "9999-99-99T99:99:99Z",
    "\u{0}\u{1b}[31m",
    "0-4294967295",
    "\u{202e}\u{200b}",
    "a/b/c",
    "-1",
    "1e400",
    "\u{e9}\u{e9}",
    "2026-02-30T00:00:00Z",
];

/// Values within a value, by the places that lead to them.
fn places(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            let place = format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
            found.push(place.clone());
            places(value, &place, found);
        }),
        Value::Array(values) => values.iter().enumerate().for_each(|(index, value)| {
            found.push(format!("{place}/{index}"));
            places(value, &format!("{place}/{index}"), found);
        }),
        _ => {}
    }
}

fn change(value: &mut Value, random: &mut Rng) {
    *value = match value {
        Value::Bool(is) => json!(!*is),
        Value::Number(number) => match random.u32(..6) {
            0 => json!(number.as_f64().unwrap_or_default() * 1000.0),
            1 => number.as_u64().map_or(json!(-1), |number| json!(number.wrapping_add(1))),
            _ => serde_json::from_str(NUMBERS[random.usize(..NUMBERS.len())]).unwrap(),
        },
        Value::String(word) => match random.u32(..4) {
            0 => json!("x".repeat(100_000)),
            1 => json!(word.replace('0', "9")),
            _ => json!(WORDS[random.usize(..WORDS.len())]),
        },
        Value::Array(values) => match random.u32(..3) {
            0 => json!([]),
            1 => json!(values[..values.len().min(1)]),
            _ => Value::Array(values.iter().cycle().take(values.len() * 40).cloned().collect()),
        },
        Value::Object(_) => json!({}),
        Value::Null => serde_json::from_str(NUMBERS[random.usize(..NUMBERS.len())]).unwrap(),
    };
}

/// The lines of a record without their seals, a few values of them changed. Mostly numbers: what has
/// another type is refused at once.
fn changed(lines: &[Value], random: &mut Rng) -> String {
    let mut lines = lines.to_vec();
    for _ in 0..=random.u32(..4).min(random.u32(..4)) {
        let line = match random.u32(..4) {
            0 => 0,
            1 => lines.len() - 1,
            _ => random.usize(..lines.len()),
        };
        let mut found = Vec::new();
        places(&lines[line], "", &mut found);
        found.retain(|place| place.matches('/').count() > 1);
        if random.u32(..3) > 0 {
            found.retain(|place| lines[line].pointer(place).is_some_and(Value::is_number));
        }
        if !found.is_empty() {
            let place = &found[random.usize(..found.len())];
            change(lines[line].pointer_mut(place).unwrap(), random);
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn corpus() -> Vec<Vec<Value>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/record");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    paths.push(crate::records::record("two"));
    let read = |path: &std::path::PathBuf| -> Option<Vec<Value>> {
        let text = fs::read_to_string(path).ok()?;
        nearfar_record::read_record(text.as_bytes()).ok()?;
        let mut lines: Vec<Value> =
            text.lines().map(serde_json::from_str).collect::<Result<_, _>>().ok()?;
        lines.iter_mut().for_each(|line| drop(line.as_object_mut().unwrap().remove("seal")));
        Some(lines)
    };
    paths.iter().filter_map(read).collect()
}

/// Within 2 GiB of addresses, and a minute: a loaded machine takes its time.
fn bounded(folder: &Path, arguments: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_nearfar");
    let line = format!("ulimit -v 2097152; exec timeout 60 {program} {arguments}");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(folder).env("XDG_STATE_HOME", folder);
    command.output().unwrap()
}

/// How many of so many changed records were read, by the status of the first command.
fn hold(first: u64, count: u64) -> BTreeMap<i32, u64> {
    let corpus = corpus();
    assert!(corpus.len() > 10, "{} records", corpus.len());
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut statuses = BTreeMap::new();
    for number in first..first + count {
        let random = &mut Rng::with_seed(number);
        let record = changed(&corpus[random.usize(..corpus.len())], random);
        fs::write(folder.join("m.jsonl"), &record).unwrap();
        let others = (0..3).map(|_| COMMANDS[random.usize(1..COMMANDS.len())]).collect::<Vec<_>>();
        for (position, command) in std::iter::once(COMMANDS[0]).chain(others).enumerate() {
            fs::write(folder.join("r.jsonl"), &record).unwrap();
            let output = bounded(folder, command);
            let said = text(&output.stdout) + &text(&output.stderr);
            // Anything above 3 is a signal, a panic or the end of time.
            let status = output.status.code().filter(|status| (0..=3).contains(status));
            let is_debug =
                ["Some(", "Errno {", "Os {", "panicked"].iter().any(|it| said.contains(it));
            if status.is_none() || is_debug || said.len() > 10 << 20 {
                let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutated.jsonl");
                fs::write(&kept, &record).unwrap();
                let said: String = said.chars().take(2000).collect();
                panic!("record {number}, {}: {command}: {}: {said}", kept.display(), output.status);
            }
            if position == 0 {
                *statuses.entry(status.unwrap()).or_default() += 1;
                if status == Some(2) {
                    break;
                }
            }
        }
    }
    statuses
}

#[test]
fn no_changed_record_breaks_a_command() {
    let statuses = hold(0, RECORDS);
    // Changes of what is refused, or of what is not, lead nowhere.
    assert!(statuses[&0] > 5 && statuses[&2] > 5, "{statuses:?}");
}

#[test]
#[ignore = "make outer: some minutes"]
fn none_of_many_changed_records_breaks_a_command() {
    let statuses = hold(RECORDS, MANY_RECORDS);
    eprintln!("{MANY_RECORDS} changed records, by status: {statuses:?}");
    assert!(statuses[&0] > 500, "{statuses:?}");
}
