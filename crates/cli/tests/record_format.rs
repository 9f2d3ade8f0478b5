//! Holds `docs/record-format.md` to the schema of a record and to the words that
//! records hold.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[path = "schema/contract.rs"]
mod contract;
#[path = "schema/vocabulary.rs"]
mod vocabulary;
#[path = "../../record/tests/every_line/vocabulary.rs"]
mod words;

use std::collections::BTreeSet;

use contract::{docs, property_paths, property_paths_below, schema};
use serde_json::Value;

fn text() -> String {
    std::fs::read_to_string(docs().join("record-format.md")).unwrap()
}

/// The text below a heading, up to the next heading of any depth.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let (_, rest) = text
        .split_once(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("there is no heading '{heading}'"));
    rest.split_once("\n#").map_or(rest, |(section, _)| section)
}

/// The cells of every table row that begins with a `word`.
fn rows(section: &str) -> Vec<Vec<&str>> {
    section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let inner = line.trim_start_matches('|').trim_end_matches('|');
            inner.split(" |").map(|cell| cell.trim().trim_matches('`')).collect()
        })
        .collect()
}

fn first_cells(section: &str) -> BTreeSet<String> {
    let rows = rows(section);
    let cells: BTreeSet<String> = rows.iter().map(|row| row[0].to_string()).collect();
    assert_eq!(cells.len(), rows.len(), "a row stands there twice");
    cells
}

fn kinds() -> Vec<String> {
    let paths = property_paths(&schema("record")).into_iter();
    paths.filter(|path| !path.contains('.') && path != "seal").collect()
}

/// A part of the format that has a table of its fields.
struct Part {
    /// The heading of its section.
    heading: String,
    fields: BTreeSet<String>,
    /// Those of its fields that accept null.
    nullable: BTreeSet<String>,
}

/// What is one of several kinds, each with fields of its own: the name of their definition and
/// the field that tells them apart.
const UNIONS: [(&str, &str); 2] = [("coordinates", "experiment"), ("actor", "actor")];

/// Lines, and every kind of what stands in them in several kinds.
fn parts() -> Vec<Part> {
    let schema = schema("record");
    let paths = property_paths(&schema);
    let nullable = nullable_paths(&schema, &schema);
    let is_in_union = |path: &str| {
        ["case.coordinates[].", "absent.coordinates[].", "case.actors[]."]
            .iter()
            .any(|union| path.starts_with(union))
    };
    let of_line = |kind: &String| {
        let prefix = format!("{kind}.");
        let is_its = |path: &&String| path.starts_with(&prefix) && !is_in_union(path);
        Part {
            heading: format!("## `{kind}`"),
            fields: paths.iter().filter(is_its).cloned().collect(),
            nullable: nullable.iter().filter(is_its).cloned().collect(),
        }
    };
    let mut parts: Vec<Part> = kinds().iter().map(of_line).collect();
    for (_, kind, branch, tag) in branches(&schema) {
        let mut fields = property_paths_below(&schema, &branch);
        assert!(fields.remove(tag), "{kind} is not told apart by {tag}");
        let nullable = nullable_paths(&schema, &branch);
        parts.push(Part { heading: format!("### `{kind}`"), fields, nullable });
    }
    parts
}

/// (definition, kind, schema, tag) of every kind of each union; an experiment with places of
/// several parts stands there once for each, as `devices/transfer`.
fn branches(schema: &Value) -> Vec<(&'static str, String, Value, &'static str)> {
    let mut found = Vec::new();
    for (definition, tag) in UNIONS {
        for branch in schema["$defs"][definition]["oneOf"].as_array().unwrap() {
            let pointer = branch["$ref"].as_str().unwrap().strip_prefix('#').unwrap();
            let branch = schema.pointer(pointer).unwrap();
            let kind = branch["properties"][tag]["const"].as_str().unwrap();
            let part = branch["properties"]["part"]["const"].as_str();
            let kind = part.map_or(kind.to_string(), |part| format!("{kind}/{part}"));
            found.push((definition, kind, branch.clone(), tag));
        }
    }
    found
}

#[test]
fn every_field_has_a_row_and_every_row_a_field() {
    let text = text();
    for part in parts() {
        assert_eq!(first_cells(section(&text, &part.heading)), part.fields, "{}", part.heading);
    }
}

#[test]
fn every_row_says_type_and_meaning() {
    let text = text();
    for part in parts() {
        for row in rows(section(&text, &part.heading)) {
            assert_eq!(row.len(), 5, "{row:?}");
            assert!(!row[1].is_empty() && !row[3].is_empty(), "{row:?}");
        }
    }
}

/// A field of the tables is said to be null exactly where the schema accepts it.
#[test]
fn rows_say_null_where_the_schema_does() {
    let text = text();
    let mut null = 0;
    for part in parts() {
        for row in rows(section(&text, &part.heading)) {
            assert_eq!(!row[4].is_empty(), part.nullable.contains(row[0]), "{row:?}");
            null += usize::from(!row[4].is_empty());
        }
    }
    assert!(null > 40, "{null} fields that can be null");
}

fn nullable_paths(schema: &Value, part: &Value) -> BTreeSet<String> {
    fn accepts_null(node: &Value) -> bool {
        node["type"].as_array().is_some_and(|types| types.contains(&"null".into()))
            || node["anyOf"]
                .as_array()
                .is_some_and(|branches| branches.iter().any(|branch| branch["type"] == "null"))
    }
    // A path accepts null where its own schema does: `$ref`s here never lead to null.
    fn walk(root: &Value, node: &Value, path: &str, found: &mut BTreeSet<String>) {
        if let Some(pointer) = node["$ref"].as_str().and_then(|text| text.strip_prefix('#')) {
            walk(root, root.pointer(pointer).unwrap(), path, found);
        }
        for word in ["oneOf", "anyOf"] {
            let branches = node[word].as_array().into_iter().flatten();
            branches.for_each(|branch| walk(root, branch, path, found));
        }
        if let Some(items) = node.get("items") {
            walk(root, items, &format!("{path}[]"), found);
        }
        for (name, property) in node["properties"].as_object().into_iter().flatten() {
            let path = contract::join(path, name);
            if accepts_null(property) {
                found.insert(path.clone());
            }
            walk(root, property, &path, found);
        }
    }
    let mut found = BTreeSet::new();
    walk(schema, part, "", &mut found);
    found
}

/// The line in a section's example.
fn example(section: &str) -> Value {
    let (_, rest) = section.split_once("```json\n").expect("an example");
    let (example, _) = rest.split_once("```").expect("an end of the example");
    serde_json::from_str(example).unwrap()
}

fn assert_is_line(line: Value, what: &str) {
    let validator = jsonschema::validator_for(&schema("record")).unwrap();
    validator.validate(&line).unwrap_or_else(|error| panic!("{what}: {error}"));
    serde_json::from_value::<nearfar_record::Line>(line).unwrap();
}

#[test]
fn every_example_is_a_line_of_its_kind() {
    let text = text();
    for kind in kinds() {
        let line = example(section(&text, &format!("## `{kind}`")));
        assert!(line.get(&kind).is_some(), "the example of {kind} is of another kind");
        assert_is_line(line, &kind);
    }
}

/// The example of an experiment is a case of it; all of them together have every kind of actor.
#[test]
fn every_experiment_has_a_case_as_an_example() {
    let text = text();
    let schema = schema("record");
    let mut actors = BTreeSet::new();
    let experiments = branches(&schema).into_iter().filter(|branch| branch.0 == "coordinates");
    for (_, experiment, ..) in experiments {
        let line = example(section(&text, &format!("### `{experiment}`")));
        let case = &line["case"];
        let experiment = experiment.split('/').next().unwrap();
        assert!(case["id"].as_str().unwrap().starts_with(&format!("{experiment}/")), "{case}");
        for coordinates in case["coordinates"].as_array().unwrap() {
            assert_eq!(coordinates["experiment"], experiment);
        }
        let kinds = case["actors"].as_array().unwrap().iter();
        actors.extend(kinds.map(|actor| actor["actor"].as_str().unwrap().to_string()));
        assert_is_line(line, experiment);
    }
    let all = branches(&schema).into_iter().filter(|branch| branch.0 == "actor");
    assert_eq!(actors, all.map(|(_, kind, ..)| kind).collect());
}

#[test]
fn every_reason_code_is_described() {
    let codes = words::reason_codes();
    let documented = first_cells(section(&text(), "### Reason codes"));
    assert_eq!(documented, codes.iter().map(|code| code.as_str().to_string()).collect());
    for code in codes {
        assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
    }
}

#[test]
fn every_warning_code_is_described() {
    let codes = vocabulary::cautions().into_iter().map(|caution| caution.warning().code).collect();
    assert_eq!(first_cells(section(&text(), "### Warning codes")), codes);
}

#[test]
fn every_disturbance_is_described_with_its_fields() {
    let text = text();
    let documented: BTreeSet<(String, BTreeSet<String>)> = rows(section(&text, "### Disturbances"))
        .iter()
        .map(|row| {
            let fields = row[1].split(',').map(|field| field.trim().trim_matches('`').into());
            (row[0].to_string(), fields.collect())
        })
        .collect();
    let expected = words::disturbances()
        .into_iter()
        .map(|disturbance| {
            let value = serde_json::to_value(disturbance).unwrap();
            let kind = value["disturbance"].as_str().unwrap().to_string();
            let fields = value.as_object().unwrap().keys().filter(|key| *key != "disturbance");
            (kind, fields.cloned().collect())
        })
        .collect();
    assert_eq!(documented, expected);
}
