//! The fields of a result as one level of names: what the columns of the CSV and the labels of
//! metrics are called follows from what a record says, and from nothing else.

use serde::Serialize;
use serde_json::Value;

/// What serde writes of a value: each field that is known, by its name, those within another by both
/// (`roof_limit`). The tag of a variant that is named as its field is that name alone.
pub(crate) fn flat_fields(value: &impl Serialize) -> Vec<(String, Value)> {
    let mut fields = Vec::new();
    // What a record holds was read from JSON: it can be written as such.
    if let Ok(value) = serde_json::to_value(value) {
        add("", value, &mut fields);
    }
    fields
}

fn add(path: &str, value: Value, fields: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                add(&joined(path, &name), value, fields);
            }
        }
        Value::Null => {}
        known => fields.push((path.into(), known)),
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() || path == name { name.into() } else { format!("{path}_{name}") }
}

/// A field's value without quotation marks.
pub(crate) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}
