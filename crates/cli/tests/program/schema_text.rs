//! A schema as a text that people can read.

use serde_json::Value;

const WIDTH: usize = 110;

/// Keywords of a schema in the order in which one reads them; others follow.
const KEYWORDS: [&str; 12] = [
    "$schema",
    "$id",
    "title",
    "description",
    "$ref",
    "type",
    "const",
    "enum",
    "items",
    "oneOf",
    "required",
    "properties",
];

/// The schema, with properties in the order in which they are written.
pub fn schema_text(schema: &Value) -> String {
    written(schema, &KEYWORDS, 0) + "\n"
}

fn written(value: &Value, order: &[&str], indent: usize) -> String {
    let (brackets, parts): ([char; 2], Vec<String>) = match value {
        Value::Array(items) => {
            (['[', ']'], items.iter().map(|item| written(item, &KEYWORDS, indent + 2)).collect())
        }
        Value::Object(entries) => {
            let mut keys: Vec<&String> = entries.keys().collect();
            keys.sort_by_key(|key| order.iter().position(|it| it == key).unwrap_or(order.len()));
            let part = |key: &String| {
                let names: Vec<&str> = match key.as_str() {
                    "properties" => required(value).collect(),
                    "$defs" | "patternProperties" => Vec::new(),
                    _ => KEYWORDS.to_vec(),
                };
                format!("{key:?}: {}", written(&entries[key], &names, indent + 2))
            };
            (['{', '}'], keys.into_iter().map(part).collect())
        }
        _ => return value.to_string(),
    };
    let [open, close] = brackets;
    let fits = |line: &str| indent + line.len() < WIDTH && !line.contains('\n');
    let mut lines = vec![parts.join(", ")];
    if fits(&lines[0]) {
        return format!("{open}{}{close}", lines[0]);
    }
    lines.clear();
    for part in parts {
        match lines.last_mut() {
            Some(line) if value.is_array() && fits(&format!("{line}, {part}  ")) => {
                *line += &format!(", {part}");
            }
            _ => lines.push(part),
        }
    }
    let pad = " ".repeat(indent);
    format!("{open}\n{pad}  {}\n{pad}{close}", lines.join(&format!(",\n{pad}  ")))
}

/// The names of an object's properties: those that are always there first, in their order.
pub fn fields(schema: &Value) -> impl Iterator<Item = &str> {
    let all = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    required(schema).chain(all.filter(|name| !required(schema).any(|known| known == *name)))
}

/// Those that are always there, in the order in which they are written.
pub fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
}
