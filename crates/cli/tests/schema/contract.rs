//! The schema files of `docs/schema` and the property paths in them.
//!
//! A path is written `header.machine.nodes[].os_index`; `.*` is any name of an
//! object whose names are data (`pages.*`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The schema of one output, by its name: `topo`, `show`, `record`.
pub fn schema(name: &str) -> Value {
    let path = docs().join(format!("schema/nearfar.{name}-1.json"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every path to a property that a schema describes.
pub fn property_paths(schema: &Value) -> BTreeSet<String> {
    property_paths_below(schema, schema)
}

/// Every path to a property that a part of a schema describes.
pub fn property_paths_below(schema: &Value, part: &Value) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    collect_paths(schema, part, "", &mut paths);
    paths
}

fn collect_paths(root: &Value, node: &Value, path: &str, paths: &mut BTreeSet<String>) {
    if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
        let pointer = reference.strip_prefix('#').expect("references stay in the file");
        let target = root.pointer(pointer).unwrap_or_else(|| panic!("{reference} leads nowhere"));
        collect_paths(root, target, path, paths);
    }
    for branch in ["oneOf", "anyOf"].iter().filter_map(|key| node.get(key)?.as_array()).flatten() {
        collect_paths(root, branch, path, paths);
    }
    for (name, property) in node.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        let path = join(path, name);
        collect_paths(root, property, &path, paths);
        paths.insert(path);
    }
    if let Some(items) = node.get("items") {
        collect_paths(root, items, &format!("{path}[]"), paths);
    }
    if let Some(names_are_data) = node.get("additionalProperties").filter(|more| more.is_object()) {
        let path = join(path, "*");
        collect_paths(root, names_are_data, &path, paths);
        paths.insert(path);
    }
}

pub fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.into() } else { format!("{path}.{name}") }
}
