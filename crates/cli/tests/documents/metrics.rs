//! The metrics: strict parsers read them, docs/metrics.md names them, `show` has the same values.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::hostile_record::hostile_record;
use crate::python;
use crate::reports::{nearfar, report, show_json, simulate};

/// Unit and labels of each family of docs/metrics.md; a label in brackets may be missing.
fn declared() -> BTreeMap<String, (String, Vec<String>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let text = fs::read_to_string(path).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| `nearfar_"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 6, "{row}");
        let labels = cells[3].split_whitespace().map(|label| label.replace('`', ""));
        (cells[1].trim_matches('`').into(), (cells[2].into(), labels.collect()))
    })
    .collect()
}

/// A family as the text has it: its unit, and its samples' labels and values.
#[derive(Debug, Default)]
struct Family {
    unit: String,
    samples: Vec<(BTreeMap<String, String>, f64)>,
}

/// Reads the text by the grammar of OpenMetrics, without help of the code that wrote it.
fn parse(text: &str) -> BTreeMap<String, Family> {
    let body = text.strip_suffix("# EOF\n").expect("the text ends in # EOF");
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut series = BTreeSet::new();
    let mut current = String::new();
    for line in body.split_terminator('\n') {
        if let Some(comment) = line.strip_prefix("# ") {
            let mut words = comment.splitn(3, ' ');
            let (kind, name, rest) =
                (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
            match kind {
                "HELP" => {
                    assert!(!families.contains_key(name), "{name} is there twice");
                    assert!(rest.ends_with('.') && !rest.contains(['\\', '"']), "{rest}");
                    families.insert(name.into(), Family::default());
                    current = name.into();
                }
                "TYPE" => assert_eq!((name, rest), (&*current, "gauge")),
                "UNIT" => {
                    assert!(name == current && name.ends_with(&format!("_{rest}")), "{line}");
                    families.get_mut(name).unwrap().unit = rest.into();
                }
                _ => panic!("{line}"),
            }
            continue;
        }
        let (name, rest) = line.split_once('{').unwrap();
        assert_eq!(name, current, "{line}");
        let (labels, value) = labels(rest);
        assert!(series.insert(format!("{name}{labels:?}")), "twice: {line}");
        let value: f64 = value.strip_prefix(' ').unwrap().parse().unwrap();
        assert!(value.is_finite(), "{line}");
        families.get_mut(name).unwrap().samples.push((labels, value));
    }
    families
}

/// The labels up to their closing brace, and what follows it.
fn labels(mut rest: &str) -> (BTreeMap<String, String>, &str) {
    let mut labels = BTreeMap::new();
    loop {
        let (name, after) = rest.split_once("=\"").unwrap();
        let mut value = String::new();
        let mut letters = after.char_indices();
        let end = loop {
            match letters.next().expect("a closing quotation mark") {
                (at, '"') => break at,
                (_, '\\') => value.push(match letters.next().unwrap().1 {
                    'n' => '\n',
                    letter @ ('\\' | '"') => letter,
                    other => panic!("the format has no \\{other}"),
                }),
                (_, letter) => value.push(letter),
            }
        };
        assert!(labels.insert(name.to_string(), value).is_none(), "{name} twice");
        rest = &after[end + 1..];
        match rest.split_at(1) {
            (",", next) => rest = next,
            ("}", next) => return (labels, next),
            other => panic!("{other:?}"),
        }
    }
}

/// Families, units and labels are those that docs/metrics.md declares.
fn check(text: &str) -> BTreeMap<String, Family> {
    let declared = declared();
    let families = parse(text);
    for (name, family) in &families {
        let (unit, declared) = declared.get(name).unwrap_or_else(|| panic!("{name} is undeclared"));
        assert_eq!(&family.unit, unit, "{name}");
        assert!(!family.samples.is_empty(), "{name} has no samples");
        for (labels, _) in &family.samples {
            let given: BTreeSet<&str> = labels.keys().map(String::as_str).collect();
            let always = declared.iter().filter(|label| !label.starts_with('['));
            let mut always: BTreeSet<&str> = always.map(String::as_str).collect();
            always.extend(["host", "executor"]);
            assert!(always.is_subset(&given), "{name}: {given:?}");
            let all: BTreeSet<&str> =
                declared.iter().map(|label| label.trim_matches(['[', ']'])).collect();
            let unknown =
                given.iter().find(|label| !all.contains(*label) && !always.contains(*label));
            assert_eq!(unknown, None, "{name}");
        }
    }
    families
}

fn check_in_python(metrics: &Path, show: &Path) {
    let program = include_str!("check_metrics.py");
    let said = python::run(program, &[metrics, show]);
    assert!(said.contains("the figures of show: "), "{said}");
}

fn only(families: &BTreeMap<String, Family>, name: &str) -> f64 {
    let samples = &families[name].samples;
    assert_eq!(samples.len(), 1, "{name}");
    samples[0].1
}

#[test]
fn strict_parsers_read_them_and_find_the_figures_of_show() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = BTreeSet::new();
    for machine in ["two-socket-8-nodes", "knl-flat", "amd-2p"] {
        let record = simulate(folder.path(), machine);
        let (text, metrics) = report(&record, "prom");
        let families = check(&text);
        assert!(only(&families, "nearfar_repeated_series").abs() < 0.5);
        let simulated = |(labels, _): &(BTreeMap<String, String>, f64)| {
            labels["executor"] == "simulated" && labels["host"].ends_with(machine)
        };
        assert!(families.values().flat_map(|family| &family.samples).all(simulated));
        check_in_python(&metrics, &show_json(&record));
        seen.extend(families.into_keys());
    }
    assert_eq!(seen, declared().into_keys().collect(), "families of docs/metrics.md");
}

#[test]
fn a_record_full_of_markup_stays_in_its_quotation_marks() {
    let folder = tempfile::tempdir().unwrap();
    let record = hostile_record(folder.path());
    let (text, metrics) = report(&record, "prom");
    for forbidden in ['\u{202e}', '\u{1b}', '\0', '\r', '\u{2028}'] {
        assert!(!text.contains(forbidden), "{forbidden:?}");
    }
    let families = check(&text);
    let (labels, _) = &families["nearfar_record_info"].samples[0];
    assert!(labels["host"].contains("\"} 1\n# EOF\n\\u{202e}desrever"), "{}", labels["host"]);
    // Its text is no time.
    assert!(!families.contains_key("nearfar_started_timestamp_seconds"));
    check_in_python(&metrics, &show_json(&record));
}

/// The same case under two names: no collector takes two samples with the same labels.
#[test]
fn figures_with_the_same_labels_are_counted_and_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("r.jsonl");
    let out = record.to_str().unwrap();
    nearfar(&[
        "characterize",
        "--simulate",
        "amd-2p",
        "--suite",
        "quick",
        "--kernel",
        "triad",
        "--samples",
        "2",
        "--out",
        out,
    ]);
    let whole = fs::read_to_string(&record).unwrap();
    let plain = report(&record, "prom").0;
    let case = whole.lines().find(|line| line.starts_with("{\"case\"")).unwrap();
    let id = case.split('"').nth(5).unwrap();
    // Its samples go to the second name, from the second round on.
    let mut lines: Vec<String> = Vec::new();
    for line in whole.lines() {
        let moves = line.starts_with("{\"sample\"") && !line.contains("\"round\":0,");
        let other = line.replace(&format!("\"{id}\""), &format!("\"{id}/again\""));
        lines.push(if moves { other.clone() } else { line.into() });
        if line == case {
            lines.push(other);
        }
    }
    fs::write(&record, lines.join("\n") + "\n").unwrap();
    let families = check(&report(&record, "prom").0);
    // Median and bounds of the sum and the pace, confidence, share of disturbed samples, caches.
    assert!((only(&families, "nearfar_repeated_series") - 9.0).abs() < 0.5);
    assert!((only(&parse(&plain), "nearfar_repeated_series")).abs() < 0.5);
    let count = |families: &BTreeMap<String, Family>| {
        families["nearfar_bandwidth_bytes_per_second"].samples.len()
    };
    assert_eq!(count(&families), count(&parse(&plain)));
}
