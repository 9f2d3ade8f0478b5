//! Records of every experiment: an honest one is read, one in which a number or a word is
//! another is not, but for what nothing else in a record says.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod every_line;

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{Core, MemoryNode, Source};
use nearfar_record::{Case, Header, Line, ProofMethod, read_record};
use serde_json::{Value, json};

fn text(lines: &[Value]) -> Vec<u8> {
    lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect()
}

fn lines(header: Header) -> Vec<Value> {
    let lines = every_line::record(header);
    lines.iter().map(|line| serde_json::to_value(line).unwrap()).collect()
}

fn headers() -> [Header; 2] {
    [every_line::known_header(), every_line::unknown_header(Source::Simulated("x".into()))]
}

#[test]
fn records_of_every_experiment_are_read() {
    for header in headers() {
        let lines = lines(header);
        let record = read_record(text(&lines).as_slice()).unwrap();
        assert!(record.samples.len() > 30 && record.cases.len() > 30);
        assert_eq!(record.resumed.len(), 2);
    }
}

/// Words that stand in fields of a name.
type Words = BTreeMap<String, Vec<Value>>;

fn collect_words(value: &Value, name: &str, words: &mut Words) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, inner)| collect_words(inner, name, words));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_words(item, name, words)),
        Value::String(_) => {
            let known = words.entry(name.into()).or_default();
            if !known.contains(value) {
                known.push(value.clone());
            }
        }
        _ => {}
    }
}

/// Another value in a place.
struct Edit {
    /// Names of fields down to it; positions in lists are left out.
    path: String,
    pointer: String,
    value: Value,
}

/// Other values for each number and word of a line: near and far ones, and words that stand in
/// such a place elsewhere.
fn edits(value: &Value, path: &str, pointer: &str, words: &Words, found: &mut Vec<Edit>) {
    let mut add = |value| found.push(Edit { path: path.into(), pointer: pointer.into(), value });
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                edits(inner, &path, &format!("{pointer}/{name}"), words, found);
            }
        }
        Value::Array(items) => {
            for (position, inner) in items.iter().enumerate() {
                edits(inner, path, &format!("{pointer}/{position}"), words, found);
            }
        }
        Value::Number(number) => match number.as_u64() {
            Some(number) => {
                let near = [number + 1, number.saturating_sub(1)];
                let others = near.into_iter().chain([4711, u64::from(u32::MAX)]);
                others.filter(|&other| other != number).for_each(|other| add(json!(other)));
            }
            None => add(json!(-number.as_f64().unwrap())),
        },
        Value::String(_) => {
            let name = path.rsplit('.').next().unwrap();
            let known = words.get(name).into_iter().flatten();
            known.filter(|word| *word != value).cloned().for_each(add);
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// The places below a field of a case or of its first sample in which another value goes through,
/// for each experiment.
fn unheld(kind: &str, field: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let header = every_line::known_header();
    let mut words = Words::new();
    lines(header.clone()).iter().for_each(|line| collect_words(line, "", &mut words));
    let mut tried = 0;
    for case in every_line::cases(&header) {
        let experiment = case.coordinates[0].experiment().to_string();
        let honest = lines_of(&header, &case);
        assert!(read_record(text(&honest).as_slice()).is_ok(), "{}", case.id);
        let position = honest.iter().position(|line| line.get(kind).is_some()).unwrap();
        let part = &honest[position][kind][field];
        let mut all = Vec::new();
        edits(part, "", &format!("/{kind}/{field}"), &words, &mut all);
        tried += all.len();
        for Edit { path, pointer, value } in all {
            let mut lines = honest.clone();
            *lines[position].pointer_mut(&pointer).unwrap() = value;
            if read_record(text(&lines).as_slice()).is_ok() {
                found.entry(experiment.clone()).or_default().insert(path);
            }
        }
    }
    assert!(tried > 200, "{tried} edits only");
    found
}

/// A record of one case with two samples.
fn lines_of(header: &Header, case: &Case) -> Vec<Value> {
    let second = if case.rounds(&header.inputs).unwrap().windows > 1 { (0, 1) } else { (1, 0) };
    let sample = |sequence, place| {
        every_line::sample(case, sequence, place, ProofMethod::MovePages, Vec::new())
    };
    let lines = [
        Line::Header(Box::new(header.clone())),
        Line::Case(case.clone()),
        Line::Sample(sample(0, (0, 0))),
        Line::Sample(sample(1, second)),
    ];
    lines.iter().map(|line| serde_json::to_value(line).unwrap()).collect()
}

fn expected(places: &[(&str, &[&str])]) -> BTreeMap<String, BTreeSet<String>> {
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    places.iter().map(|(experiment, paths)| ((*experiment).to_string(), words(paths))).collect()
}

/// Coordinates are those of the actors. What is left says what a case is for, or which of several
/// it is; and a memory without pages has none whatever the other's number.
#[test]
fn coordinates_are_held_by_the_actors() {
    let split = ["load_pages.fast", "load_pages.slow", "store_pages.fast", "store_pages.slow"];
    let free = expected(&[
        ("hybrid", &[&split[..], &["slow_node"]].concat()),
        ("latency", &["walk"]),
        ("mixes", &["index"]),
        ("pairs", &["stage"]),
        ("roofs", &["purpose"]),
        ("scaling", &["affinity"]),
    ]);
    assert_eq!(unheld("case", "coordinates"), free);
}

/// Where coordinates are silent, actors are their own word: where a set in a cache lies, which
/// policy puts pages on a node, and sizes within a page.
#[test]
fn actors_are_held_by_the_coordinates_and_the_machine() {
    let silent = ["pages", "pinning", "working_set_bytes"];
    let with = |more: &'static str| [&silent[..], &[more]].concat();
    let free = expected(&[
        ("devices", &with("binding")),
        ("hybrid", &with("binding")),
        ("latency", &with("group_bytes")),
        ("links", &silent),
        ("mixes", &with("binding")),
        ("pairs", &with("binding")),
        ("roofs", &with("binding")),
        ("scaling", &with("binding")),
        ("sharing", &silent),
    ]);
    assert_eq!(unheld("case", "actors"), free);
}

/// A case of a whole package has each of its clusters, one of a cluster alone has no other.
#[test]
fn clusters_of_a_link_are_those_that_it_names() {
    let mut header = every_line::known_header();
    let machine = &mut header.machine;
    let (cpus, locality) = ("4-5".parse().unwrap(), "4-5".parse().unwrap());
    machine.nodes.push(MemoryNode { os_index: 6, cpus, locality, ..machine.nodes[0].clone() });
    machine.cores.extend(["4", "5"].map(|cpu| Core { cpus: cpu.parse().unwrap() }));
    machine.packages[0].cpus = "0-1,4-5".parse().unwrap();
    machine.allowed_cpus = "0-5".parse().unwrap();
    machine.allowed_nodes = "0-6".parse().unwrap();
    header.fingerprint = header.machine.fingerprint();
    let of = |id: &str, cluster: Value| {
        let cases = every_line::cases(&header);
        let mut lines = lines_of(&header, cases.iter().find(|case| case.id == id).unwrap());
        lines[1]["case"]["coordinates"][0]["cluster"] = cluster;
        read_record(text(&lines).as_slice()).err().map(|error| error.to_string())
    };
    let one_way = "links/package0-package1/one_way/load/avx512";
    assert_eq!(of(one_way, json!(0)), None);
    let idle = of(one_way, Value::Null).unwrap();
    assert!(idle.contains("of package 0 has no actor"), "{idle}");
    let both = of("links/package0-package1/both_ways/load/avx512", json!(0)).unwrap();
    assert!(both.contains("2 actors for cluster0 alone"), "{both}");
}

/// A run of a program is of one that was asked for, on a machine that has its CPUs and nodes.
#[test]
fn runs_of_programs_are_held_by_the_plan_and_the_machine() {
    let header = every_line::known_header();
    let cases = every_line::cases(&header);
    let honest = lines_of(&header, cases.iter().find(|case| case.command().is_some()).unwrap());
    let is_read = |lines: &[Value]| read_record(text(lines).as_slice()).is_ok();
    assert!(is_read(&honest));
    let refused = |position: usize, pointer: &str, value: Value| {
        let mut lines = honest.clone();
        *lines[position].pointer_mut(pointer).unwrap() = value.clone();
        assert!(!is_read(&lines), "{pointer} as {value} was read");
    };
    refused(0, "/header/inputs/commands", Value::Null);
    refused(0, "/header/inputs/commands/programs", json!([]));
    refused(0, "/header/inputs/commands/placements", json!([]));
    refused(0, "/header/inputs/commands/programs/0/label", json!(""));
    refused(0, "/header/inputs/commands/metric", Value::Null);
    refused(1, "/case/actors/0/label", json!("other"));
    refused(1, "/case/actors/0/program", json!("./other"));
    refused(1, "/case/actors/0/arguments/0", json!("-m"));
    refused(1, "/case/actors/0/binding", json!("cpus=0-1 mem=bind:1"));
    refused(1, "/case/actors/0/binding", json!("cpus=0-9 mem=preferred:1"));
    refused(1, "/case/coordinates/0/command", json!("other"));
    refused(1, "/case/coordinates/0/memory_node", Value::Null);
    refused(2, "/sample/run", Value::Null);
    refused(2, "/sample/run/metric", Value::Null);
    refused(2, "/sample/run/metric", json!(-1.0));
    refused(2, "/sample/run/cpus_seen", json!("0-1,77"));
    refused(2, "/sample/run/pages", Value::Null);
    refused(2, "/sample/run/pages_unknown", json!("nobody looked"));
    refused(2, "/sample/run/pages/page_bytes", json!(4095));
    refused(2, "/sample/run/pages/method", json!("move_pages"));
    refused(2, "/sample/run/pages/pages", json!({"77": 1}));
    let counters = "/header/inputs/commands/counters";
    let tried = honest[0].pointer(counters).unwrap().clone();
    refused(0, counters, Value::Null);
    refused(0, counters, json!([]));
    refused(0, counters, json!([tried[0], tried[1], tried[0]]));
    refused(0, &format!("{counters}/0/check"), Value::Null);
    refused(0, &format!("{counters}/0/check/expected"), json!(-1.0));
    refused(0, &format!("{counters}/0/events"), json!([]));
    refused(0, &format!("{counters}/0/source"), Value::Null);
    refused(0, &format!("{counters}/0/unavailable"), json!("not believed"));
    refused(0, &format!("{counters}/1/unavailable"), Value::Null);
    refused(2, "/sample/run/counts", json!([]));
    refused(2, "/sample/run/counts/0/quantity", json!("cycles"));
    refused(2, "/sample/run/counts/0/count", Value::Null);
    refused(2, "/sample/run/counts/0/count", json!(-1.0));
    refused(2, "/sample/run/counts/0/counted_share", Value::Null);
    for share in [0.0, -0.5, 1.5] {
        refused(2, "/sample/run/counts/0/counted_share", json!(share));
    }
    refused(2, "/sample/run/counts/0/unavailable", json!("no turn"));
    let other = cases.iter().find(|case| case.command().is_none()).unwrap();
    let mut lines = lines_of(&header, other);
    lines[2]["sample"]["run"] = honest[2]["sample"]["run"].clone();
    assert!(!is_read(&lines), "a run of a program in a case that has none");
}

/// What a window moved and computed is held by sums, methods and passes; pages and passes by
/// one more or less are not, nor where a thread is that may be anywhere, the loop of one that
/// did nothing, and the most that a set in a cache can have fetched from memory.
#[test]
fn counts_are_held_by_each_other() {
    let pages = |place: &str| -> BTreeSet<String> {
        let fields = ["method", "pages.*", "unknown"];
        let times = ["before", "after"];
        times
            .iter()
            .flat_map(|time| fields.map(|field| format!("{place}.{time}.{field}")))
            .collect()
    };
    let mut free: BTreeSet<String> = [
        "page_sizes.huge_bytes",
        "page_sizes.resident_bytes",
        "threads.cpu_after",
        "threads.cpu_before",
        "threads.involuntary_switches",
        // Of transfers, whose drivers map memory as they like.
        "threads.minor_faults",
        "threads.off_cpu_ns",
        "threads.passes",
        "traffic_bytes_max",
        "traffic_method",
        "transfer.copies",
        "transfer.device_ns",
        "unroll",
    ]
    .map(ToString::to_string)
    .into();
    free.extend(pages("proof").into_iter().chain(pages("write_proof")));
    let without_node = |path: String| match path.split_once(".pages.") {
        Some((place, _)) => format!("{place}.pages.*"),
        None => path,
    };
    let mut found = unheld("sample", "actors");
    let scaling = found.remove("scaling").unwrap();
    let is_cpu = |path: &String| path.starts_with("threads.cpu_");
    assert!(!found.values().flatten().any(is_cpu), "{found:?}");
    let found = found.into_values().flatten().chain(scaling).map(without_node);
    assert_eq!(found.collect::<BTreeSet<String>>(), free);
}
