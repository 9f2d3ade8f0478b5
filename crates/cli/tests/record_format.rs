//! Holds `docs/record-format.md` to the schema of a record and to the words that
//! records hold.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

#[path = "schema/contract.rs"]
mod contract;
#[path = "schema/vocabulary.rs"]
mod vocabulary;

use std::collections::BTreeSet;

use contract::{docs, property_paths, schema};
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

#[test]
fn every_field_has_a_row_and_every_row_a_field() {
    let text = text();
    let paths = property_paths(&schema("record"));
    for kind in kinds() {
        let prefix = format!("{kind}.");
        let expected: BTreeSet<String> =
            paths.iter().filter(|path| path.starts_with(&prefix)).cloned().collect();
        assert_eq!(first_cells(section(&text, &format!("## `{kind}`"))), expected, "{kind}");
    }
}

#[test]
fn every_row_says_type_and_meaning() {
    let text = text();
    for kind in kinds() {
        for row in rows(section(&text, &format!("## `{kind}`"))) {
            assert_eq!(row.len(), 5, "{row:?}");
            assert!(!row[1].is_empty() && !row[3].is_empty(), "{row:?}");
        }
    }
}

/// A field of the tables is said to be null exactly where the schema accepts it.
#[test]
fn rows_say_null_where_the_schema_does() {
    let text = text();
    let nullable = nullable_paths(&schema("record"));
    for kind in kinds() {
        for row in rows(section(&text, &format!("## `{kind}`"))) {
            assert_eq!(!row[4].is_empty(), nullable.contains(row[0]), "{row:?}");
        }
    }
}

fn nullable_paths(schema: &Value) -> BTreeSet<String> {
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
    walk(schema, schema, "", &mut found);
    assert!(found.len() > 40, "{found:?}");
    found
}

#[test]
fn every_example_is_a_line_of_its_kind() {
    let text = text();
    let validator = jsonschema::validator_for(&schema("record")).unwrap();
    for kind in kinds() {
        let section = section(&text, &format!("## `{kind}`"));
        let (_, rest) = section.split_once("```json\n").expect("an example");
        let (example, _) = rest.split_once("```").expect("an end of the example");
        let line: Value = serde_json::from_str(example).unwrap();
        assert!(line.get(&kind).is_some(), "the example of {kind} is of another kind");
        validator.validate(&line).unwrap_or_else(|error| panic!("{kind}: {error}"));
        serde_json::from_value::<nearfar_record::Line>(line).unwrap();
    }
}

#[test]
fn every_reason_code_is_described() {
    let codes = vocabulary::reason_codes();
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
    let expected = vocabulary::disturbances()
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
