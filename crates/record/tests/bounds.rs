//! Records whose numbers, dates or sizes nothing has: refused, by the line, in little time and memory.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::io::Write;
use std::path::Path;

use nearfar_record::read_record;
use serde_json::{Value, json};

fn lines(name: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/record");
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &mut lines {
        line.as_object_mut().unwrap().remove("seal");
    }
    lines
}

fn text(lines: &[Value]) -> Vec<u8> {
    lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect()
}

fn refusal(text: &[u8]) -> Option<String> {
    read_record(text).err().map(|error| error.to_string())
}

#[test]
fn numbers_and_dates_are_those_of_their_options() {
    let inputs = "/header/inputs";
    let machine = "/header/machine";
    // The record, the line, where in it, what stands there instead, and what is said of it.
    let edits: &[(&str, usize, String, Value, &str)] = &[
        ("pairs", 0, format!("{inputs}/max_rounds"), json!(u32::MAX), "6 to 4294967295 rounds"),
        ("pairs", 0, format!("{inputs}/min_rounds"), json!(0), "0 to 8 rounds"),
        ("pairs", 0, format!("{inputs}/windows_per_round"), json!(1 << 30), "windows a round"),
        ("pairs", 0, format!("{inputs}/runs"), json!(u32::MAX), "runs of a case"),
        ("pairs", 0, format!("{inputs}/window_ns"), json!(u64::MAX), "windows of"),
        ("pairs", 0, format!("{inputs}/target"), json!(-0.01), "a target of -1e-2"),
        ("pairs", 0, format!("{inputs}/target"), json!(1e300), "a target of 1e300"),
        ("pairs", 0, format!("{inputs}/working_set_bytes"), json!(1), "working set of 1 bytes"),
        ("pairs", 0, format!("{inputs}/working_set_bytes"), json!(u64::MAX), "working set of"),
        ("pairs", 0, format!("{inputs}/cache_multiple"), json!(3), "3 times the caches"),
        ("pairs", 0, format!("{inputs}/chase_multiple"), json!(1 << 20), "times the caches"),
        ("pairs", 0, "/header/started".into(), json!("2026-99-99T99:99:99Z"), "is no time"),
        ("pairs", 0, "/header/started".into(), json!("yesterday"), "is no time"),
        ("pairs", 0, "/header/environment/load_average".into(), json!(-3.0), "a load average of"),
        ("pairs", 0, "/header/environment/cgroup/cpu_limit".into(), json!(-1.5), "a limit of CPU"),
        ("pairs", 0, format!("{machine}/devices/0/link/bytes_per_s"), json!(-1.0), "a link's rate"),
        ("pairs", 0, format!("{machine}/devices/1/link/gt_per_s"), json!(1e300), "a link's rate"),
        (
            "pairs",
            0,
            format!("{machine}/firmware_figures/0/read_latency_ns"),
            json!(-120.5),
            "a figure of the firmware of -1.205e2",
        ),
        ("pairs", 8, "/sample/start_ns".into(), json!(1_u64 << 63), "a window that closes at"),
        ("appended", 9, "/finished/seconds".into(), json!(1e300), "a run of 1e300 s"),
        ("appended", 9, "/finished/seconds".into(), json!(-1.0), "a run of -1e0 s"),
        ("appended", 9, "/finished/at".into(), json!("2026-11-24 14:30:35"), "is no time"),
        ("appended", 10, "/resumed/at".into(), json!("2026-02-30T00:00:00Z"), "is no time"),
        ("appended", 11, "/appended/at".into(), json!(""), "is no time"),
        ("appended", 11, "/appended/inputs/max_rounds".into(), json!(u32::MAX), "rounds"),
    ];
    for (name, line, place, value, says) in edits {
        let mut lines = lines(name);
        assert_eq!(refusal(&text(&lines)), None, "{name}");
        let (folder, field) = place.rsplit_once('/').unwrap();
        let folder = lines[*line].pointer_mut(folder).unwrap();
        // Older records lack some.
        folder.as_object_mut().unwrap().insert(field.into(), value.clone());
        let said = refusal(&text(&lines)).unwrap_or_else(|| panic!("{place}: {value} is read"));
        let begin = format!("line {} of the record cannot be understood: ", line + 1);
        assert!(said.starts_with(&begin) && said.contains(says), "{place}: {said}");
    }
}

/// A warning of a record with a code of its own.
fn warning(code: usize) -> Value {
    json!({"warning": {
        "code": format!("c{code}"), "message": "m", "remedy": "r", "of_samples": false
    }})
}

#[test]
fn kinds_of_warnings_and_runs_of_the_program_are_few() {
    let mut of_one_kind = lines("pairs");
    of_one_kind.extend((0..200_000).map(|_| warning(1)));
    assert_eq!(read_record(&text(&of_one_kind)[..]).unwrap().warnings.len(), 1);
    let mut of_many = lines("pairs");
    let before = of_many.len();
    of_many.extend((0..40_000).map(warning));
    let said = refusal(&text(&of_many)).unwrap();
    assert!(said.starts_with(&format!("line {}", before + 1001)), "{said}");
    let resumed = json!({"resumed": {
        "at": "2026-11-24T14:30:36Z", "samples": 7, "torn_line_dropped": false, "budget_ns": null
    }});
    let mut continued = lines("pairs");
    continued.extend(std::iter::repeat_n(resumed, 1000));
    assert_eq!(refusal(&text(&continued)), None);
    continued.push(continued.last().unwrap().clone());
    assert!(refusal(&text(&continued)).unwrap().contains("more than 1000 times"));
}

/// Valid lines that compress well: 200 KiB hold a few GiB of them.
#[test]
fn what_unpacks_beyond_measure_is_refused() {
    let mut packed = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    packed.write_all(&text(&lines("pairs"))).unwrap();
    let block = text(&vec![warning(1); 10_000]);
    while packed.get_ref().len() < 100 << 10 {
        packed.write_all(&block).unwrap();
    }
    let packed = packed.finish().unwrap();
    let said = refusal(&packed).unwrap();
    assert!(said.contains("more than 500 times their size"), "{said}");
}
