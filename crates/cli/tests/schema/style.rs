//! The schema files themselves: closed, complete, described, and of one mind
//! where they share a definition.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::contract::{docs, schema};

const NAMES: [&str; 33] = [
    "topo",
    "topology-export",
    "show",
    "doctor",
    "record-doctor",
    "characterize",
    "dry-run",
    "record",
    "classes",
    "model",
    "predict",
    "reproduce",
    "machines",
    "kernels",
    "devices",
    "distribution",
    "flow",
    "hybrid",
    "latency",
    "roofline",
    "sharing",
    "strategy",
    "predict-sharing",
    "predict-hybrid",
    "predict-roofline",
    "predict-flow",
    "profile",
    "report",
    "compare",
    "run",
    "advise",
    "advise-device",
    "sensitivity",
];

/// JSON Schema ignores words that it does not know: a misspelt one would check nothing.
const WORDS: [&str; 20] = [
    "$schema",
    "$id",
    "$ref",
    "$defs",
    "title",
    "description",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "oneOf",
    "anyOf",
    "enum",
    "const",
    "pattern",
];

#[test]
fn every_schema_file_is_valid_named_for_its_format_and_held_by_these_tests() {
    for name in NAMES {
        let schema = schema(name);
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        assert_eq!(schema["$id"], format!("nearfar.{name}/1"));
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
    let files: BTreeSet<String> = std::fs::read_dir(docs().join("schema"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(files, NAMES.map(|name| format!("nearfar.{name}-1.json")).into());
}

#[test]
fn every_object_is_closed_and_complete_and_every_property_is_described() {
    for name in NAMES {
        inspect(&schema(name), name);
    }
}

fn inspect(node: &Value, place: &str) {
    let Some(fields) = node.as_object() else {
        return;
    };
    for word in fields.keys() {
        let known = WORDS.contains(&word.as_str()) || ["minimum", "maximum"].contains(&&**word);
        assert!(known, "{place}: '{word}' is no word of JSON Schema used here");
    }
    if fields.get("type") == Some(&"object".into()) {
        let more = &node["additionalProperties"];
        match node.get("properties").and_then(Value::as_object) {
            Some(properties) => {
                assert_eq!(more, false, "{place} is open");
                let required: BTreeSet<&str> =
                    node["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
                assert_eq!(required, properties.keys().map(String::as_str).collect(), "{place}");
            }
            None => {
                assert!(more.is_object(), "{place} is open");
                assert!(node["propertyNames"].is_object(), "{place} takes any name");
            }
        }
    }
    for word in ["properties", "$defs"] {
        for (name, inner) in node.get(word).and_then(Value::as_object).into_iter().flatten() {
            let place = format!("{place}/{word}/{name}");
            let described = inner["description"].as_str().is_some_and(|text| text.ends_with('.'));
            assert!(described, "{place} is not described");
            inspect(inner, &place);
        }
    }
    for word in ["items", "additionalProperties", "propertyNames"] {
        node.get(word).into_iter().for_each(|inner| inspect(inner, &format!("{place}/{word}")));
    }
    for word in ["oneOf", "anyOf", "prefixItems"] {
        for inner in node.get(word).and_then(Value::as_array).into_iter().flatten() {
            inspect(inner, &format!("{place}/{word}"));
        }
    }
}

/// Where a name ends with a unit, the description says the same one.
#[test]
fn names_and_descriptions_agree_on_units() {
    const UNITS: [(&str, &str); 12] = [
        ("_bytes", "bytes"),
        ("_ns", "ns"),
        ("_bytes_per_s", "bytes/s"),
        ("_gb_per_s", "1e9 bytes/s"),
        ("/gt_per_s", "1e9/s"),
        ("/seconds", "s"),
        ("microseconds", "us"),
        ("_share", "fraction"),
        ("/llc_multiple", "ratio"),
        ("/confidence", "fraction"),
        ("/core_ghz", "1e9/s"),
        ("/pause_cycles", "cycles"),
    ];
    let mut seen = BTreeSet::new();
    for name in NAMES {
        for (path, description) in descriptions(&schema(name)) {
            for (ending, unit) in UNITS.iter().filter(|(ending, _)| path.ends_with(ending)) {
                let said = [".", ","]
                    .iter()
                    .any(|end| description.contains(&format!("Unit: {unit}{end}")));
                assert!(said, "{name}: {path} says: {description}");
                seen.insert(*ending);
            }
        }
    }
    assert_eq!(seen.len(), UNITS.len(), "endings that no name has");
}

fn descriptions(schema: &Value) -> BTreeMap<String, String> {
    fn collect(node: &Value, place: &str, found: &mut BTreeMap<String, String>) {
        for word in ["properties", "$defs"] {
            for (name, inner) in node.get(word).and_then(Value::as_object).into_iter().flatten() {
                let place = format!("{place}/{name}");
                if word == "properties" {
                    let text = inner["description"].as_str().unwrap_or_default();
                    found.insert(place.clone(), text.into());
                }
                collect(inner, &place, found);
            }
        }
        for inner in node.get("oneOf").and_then(Value::as_array).into_iter().flatten() {
            collect(inner, place, found);
        }
    }
    let mut found = BTreeMap::new();
    collect(schema, "", &mut found);
    found
}

#[test]
fn shared_definitions_agree_and_none_is_unused() {
    let mut seen: BTreeMap<String, (&str, Value)> = BTreeMap::new();
    // A view shows a thing by other fields than the record keeps of it.
    const OWN: [&str; 2] = ["device", "absent"];
    for name in NAMES {
        let schema = schema(name);
        let text = schema.to_string();
        for (definition, body) in schema["$defs"].as_object().into_iter().flatten() {
            assert!(
                text.contains(&format!("\"#/$defs/{definition}\"")),
                "{name}: {definition} is not used"
            );
            let known = seen.entry(definition.clone()).or_insert((name, body.clone()));
            assert!(
                known.1 == *body || OWN.contains(&definition.as_str()),
                "{definition} differs between {} and {name}",
                known.0
            );
        }
    }
}
