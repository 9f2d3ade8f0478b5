//! Records of every experiment, those that readers are fuzzed with: honest ones are read, those of
//! an older program as well, and what was damaged is refused. What is told of measured records
//! stands in `measure/tests/lies/edited.rs`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::path::Path;

use nearfar_record::{Line, read_record};
use serde_json::{Value, json};

const HONEST: [&str; 12] = [
    "appended", "devices", "hybrid", "latency", "links", "mixes", "network", "pairs", "programs",
    "roofs", "scaling", "sharing",
];

fn lines(name: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/record");
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Why it is not read, if it is not.
fn refusal(lines: &[Value]) -> Option<String> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    read_record(text.as_bytes()).err().map(|error| error.to_string())
}

/// Removes fields that are null, and says how many.
fn remove_nulls(value: &mut Value) -> usize {
    match value {
        Value::Object(fields) => {
            let before = fields.len();
            fields.retain(|_, value| !value.is_null());
            let removed = before - fields.len();
            removed + fields.values_mut().map(remove_nulls).sum::<usize>()
        }
        Value::Array(items) => items.iter_mut().map(remove_nulls).sum(),
        _ => 0,
    }
}

/// Of a program that did not know a field yet, as docs/record-format.md promises.
#[test]
fn a_missing_field_that_can_be_null_is_read_as_null() {
    let mut left_out = 0;
    for name in HONEST {
        let honest = lines(name);
        assert_eq!(refusal(&honest), None, "{name}");
        for line in honest {
            let mut older = line.clone();
            left_out += remove_nulls(&mut older);
            let read =
                |line: Value| serde_json::from_slice::<Line>(line.to_string().as_bytes()).unwrap();
            assert_eq!(read(older), read(line), "{name}");
        }
    }
    assert!(left_out > 40, "{left_out} fields were left out");
}

/// Each edit of an honest record by itself: the kind of the line of which the first is edited,
/// where, to what, and what is said then.
fn assert_refused(honest: &[Value], edits: &[(&str, Value, &str)]) {
    assert_eq!(refusal(honest), None);
    for (pointer, value, why) in edits {
        let kind = pointer.split('/').nth(1).unwrap();
        let mut damaged = honest.to_vec();
        let line = damaged.iter_mut().find(|line| line.get(kind).is_some()).unwrap();
        let place = line.pointer_mut(pointer).unwrap_or_else(|| panic!("there is no {pointer}"));
        *place = value.clone();
        let said = refusal(&damaged).unwrap_or_else(|| panic!("{pointer} as {value} was read"));
        assert!(said.contains(why), "{pointer} as {value}: {said}");
    }
}

#[test]
fn damaged_messages_are_refused() {
    let without_copy = json!({"sends": 3, "copied": 1});
    let honest = lines("network");
    assert_refused(
        &honest,
        &[
            ("/header/inputs/experiments", json!(["pairs"]), "no messages are measured"),
            ("/case/actors/0/message_bytes", json!(0), "messages of 0 bytes"),
            ("/case/actors/0/buffer_bytes", json!(8), "from a buffer of 8"),
            ("/case/actors/0/thread_cpus", json!([]), "0 threads"),
            ("/case/actors/0/binding", json!("cpus=0 mem=preferred:77"), "are not among"),
            ("/sample/actors/0/messages", Value::Null, "messages where none are sent"),
            ("/sample/actors/0/traffic_method", json!("cached"), "messages where none are sent"),
            ("/sample/actors/0/messages/message_bytes", json!(7), "were planned"),
            ("/sample/actors/0/messages/without_copy", without_copy, "where none are made"),
            ("/sample/actors/0/proof", Value::Null, "nothing proves where its pages were"),
        ],
    );
}

#[test]
fn damaged_runs_of_programs_are_refused() {
    let mut honest = lines("programs");
    honest[0]["header"]["inputs"]["commands"]["metric"] = json!({"pattern": "(.*)", "unit": null,
        "better": "higher"});
    for line in &mut honest {
        if let Some(metric) = line.pointer_mut("/sample/run/metric") {
            *metric = json!(1.5);
        }
    }
    let counters = honest[0].pointer("/header/inputs/commands/counters").unwrap();
    let counter_twice = json!([counters[1], counters[2], counters[1]]);
    assert_refused(
        &honest,
        &[
            ("/header/inputs/commands", Value::Null, "programs that are not run"),
            ("/header/inputs/commands/programs/0/label", json!(""), "without a name"),
            ("/header/inputs/commands/metric", Value::Null, "where none was asked for"),
            ("/header/inputs/commands/counters", json!([]), "are believed"),
            ("/header/inputs/commands/counters", counter_twice, "two counters of"),
            ("/header/inputs/commands/counters/1/check", Value::Null, "was not tried"),
            ("/header/inputs/commands/counters/1/check/expected", json!(-1.0), "-1 things"),
            ("/header/inputs/commands/counters/1/events", json!([]), "without a meaning"),
            ("/header/inputs/commands/counters/1/source", Value::Null, "without a meaning"),
            ("/header/inputs/commands/counters/1/unavailable", json!("no"), "are believed"),
            ("/header/inputs/commands/counters/0/unavailable", Value::Null, "was not tried"),
            ("/case/actors/0/label", json!(""), "a program without a name"),
            ("/case/actors/0/binding", json!("cpus=0-999 mem=preferred:1"), "are not among"),
            ("/case/actors/0/binding", json!("cpus=0-3 mem=preferred:77"), "are not among"),
            ("/sample/run", Value::Null, "without its run"),
            ("/sample/run/metric", Value::Null, "without the metric"),
            ("/sample/run/metric", json!(-1.0), "a metric of -1"),
            ("/sample/run/cpus_seen", json!("0-1,777"), "CPU 777"),
            ("/sample/run/pages_unknown", Value::Null, "nothing says where its pages were"),
            (
                "/sample/run/pages",
                json!({"method": "numa_maps", "page_bytes": 4096, "pages": {"0": 1}, "unknown": 0}),
                "said to be unknown, and where they were",
            ),
            ("/sample/run/counts", json!([]), "are believed"),
            ("/sample/run/counts/0/quantity", json!("cycles"), "are believed"),
            ("/sample/run/counts/0/count", Value::Null, "a count or a reason"),
            ("/sample/run/counts/0/count", json!(-1.0), "-1 instructions"),
            ("/sample/run/counts/0/counted_share", Value::Null, "must have a counted_share"),
            ("/sample/run/counts/0/counted_share", json!(1.5), "for 1.5 of the time"),
            ("/sample/run/counts/0/unavailable", json!("no turn"), "and not both"),
        ],
    );
    let unknown = "/sample/run/pages_unknown";
    let found = |page_bytes: u64, method: &str, node: &str| json!({"method": method, "page_bytes": page_bytes, "pages": {node: 1}, "unknown": 0});
    for line in &mut honest {
        if line.pointer(unknown).is_some() {
            line["sample"]["run"]["pages_unknown"] = Value::Null;
            line["sample"]["run"]["pages"] = found(4096, "numa_maps", "0");
        }
    }
    assert_refused(
        &honest,
        &[
            ("/sample/run/pages", found(4095, "numa_maps", "0"), "pages of 4095 bytes"),
            ("/sample/run/pages", found(4096, "move_pages", "0"), "nobody can have said"),
            ("/sample/run/pages", found(4096, "numa_maps", "77"), "pages on node 77"),
        ],
    );
    let mut other = lines("pairs");
    let sample = other.iter_mut().find(|line| line.get("sample").is_some()).unwrap();
    sample["sample"]["run"] =
        honest.iter().find_map(|line| line.pointer("/sample/run")).unwrap().clone();
    assert!(refusal(&other).unwrap().contains("in a case that has none"));
    other.retain(|line| line.get("case").is_none());
    assert!(refusal(&other).unwrap().contains("which is not planned"));
}

#[test]
fn damaged_transfers_are_refused() {
    assert_refused(
        &lines("devices"),
        &[
            ("/header/inputs/devices", Value::Null, "devices that are not measured"),
            ("/case/actors/0/device", json!(""), "a device without a name"),
            ("/case/actors/0/bytes", json!(0), "a working set of 0 bytes"),
            ("/sample/actors/0/transfer", Value::Null, "copies where no device makes any"),
            ("/sample/actors/0/transfer/copy_bytes", json!(4711), "copies of 4711 bytes"),
            ("/sample/actors/0/traffic_method", json!("counted"), "traffic of a device"),
            ("/sample/actors/0/threads/0/useful_bytes", json!(8), "its threads' sum"),
        ],
    );
}
