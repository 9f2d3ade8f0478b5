//! Tables of fields in documents, from the schemas of what they describe. A table stands between
//! `<!-- WORDS: make docs -->`, whose words say of what it is, and `<!-- end -->`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::schema_text::{fields, required};

const BEGIN: &str = ": make docs -->\n";
const END: &str = "<!-- end -->";

/// What has sections of its own.
const SECTIONS: [(&str, &str); 3] =
    [("Coordinates", "coordinates"), ("Actor", "actors"), ("ReasonCode", "reason codes")];

/// A document with its tables made again.
pub fn renewed(document: &str, table: impl Fn(&str) -> String) -> String {
    let mut parts = document.split(BEGIN);
    let mut text = parts.next().unwrap().to_string();
    assert!(text.len() < document.len(), "no table");
    for part in parts {
        let (_, rest) = part.split_once(END).unwrap();
        let words = text.rsplit("<!-- ").next().unwrap().to_string();
        text += &format!("{BEGIN}\n{}\n{END}{rest}", table(&words));
    }
    text
}

/// `fields of KIND`, of a kind of line; `fields of TYPE WORD ..`, of the variant that these words tag;
/// `words of TYPE`.
pub fn field_table(root: &Value, words: &str) -> String {
    if let Some(name) = words.strip_prefix("words of ") {
        let rows = words_of(&root["$defs"][name]);
        let rows = rows.iter().map(|(word, why)| format!("| `{word}` | {} |\n", without_stop(why)));
        return format!("| word | meaning |\n| --- | --- |\n{}", rows.collect::<String>());
    }
    let mut words = words.strip_prefix("fields of ").unwrap().split(' ');
    let name = words.next().unwrap();
    let tags: Vec<&str> = words.collect();
    let kind = variants(root).find_map(|line| line["properties"].get(name));
    let prefix = if kind.is_some() { name } else { "" };
    let mut node = kind.map_or(&root["$defs"][name], |kind| target(root, kind).node);
    for word in &tags {
        let is_meant =
            |it: &&Value| tag_of(it).is_some_and(|tag| it["properties"][tag]["const"] == *word);
        node = variants(node).find(is_meant).unwrap();
    }
    let mut table = FieldTable { root, tags, described: BTreeMap::new(), rows: String::new() };
    table.add_fields(prefix, node);
    assert!(!table.rows.is_empty(), "{name} has no fields");
    format!("| field | type | meaning |\n| --- | --- | --- |\n{}", table.rows)
}

const COLUMN_HEADING: &str =
    "| column | type | unit | what it is | empty |\n| --- | --- | --- | --- | --- |\n";

/// pandas' name of a column's type.
fn dtype(node: &Value) -> &'static str {
    match type_of(node) {
        "integer" => "UInt64",
        "number" => "Float64",
        "boolean" => "boolean",
        _ => "string",
    }
}

/// `columns FIRST to LAST` of a row of the CSV.
pub fn column_table(row: &Value, words: &str) -> String {
    let (first, last) = words.strip_prefix("columns ").unwrap().split_once(" to ").unwrap();
    let [first, last] = [first, last].map(|end| required(row).position(|it| it == end).unwrap());
    let mut table = String::from(COLUMN_HEADING);
    for name in required(row).take(last + 1).skip(first) {
        let RowColumn { dtype, unit, what, empty, words } = row_column(row, name);
        let colon = if words.is_empty() { "" } else { ": " };
        table += &format!(
            "| `{name}` | {dtype} | {unit} | {what}{colon}{} | {empty} |\n",
            words.join(", ")
        );
    }
    table
}

/// A column that is a field of a row.
struct RowColumn<'a> {
    dtype: &'static str,
    unit: &'a str,
    what: &'a str,
    empty: &'a str,
    words: Vec<String>,
}

fn row_column<'a>(row: &'a Value, name: &str) -> RowColumn<'a> {
    let column = target(row, &row["properties"][name]);
    let (rest, empty) =
        column.description.split_once("Empty: ").unwrap_or((column.description, ""));
    let (what, unit) = rest.split_once("Unit: ").unwrap_or((rest, ""));
    let what = if what.is_empty() { text(column.node, "description") } else { what };
    let words = words_of(column.node).iter().map(|(word, _)| format!("`{word}`")).collect();
    let [what, unit, empty] = [what, unit, empty].map(without_stop);
    RowColumn { dtype: dtype(column.node), unit, what, empty, words }
}

/// A column of the coordinates of all experiments: the fields of that name.
#[derive(Default)]
struct PlaceColumn {
    dtype: &'static str,
    unit: &'static str,
    /// What it is, with the experiments of which it is that.
    meanings: Vec<(String, Vec<String>)>,
    words: Vec<String>,
}

/// The columns of coordinates by their names, in the order of the types; not those that a row has
/// of its actor.
fn place_columns(record: &Value, row: &Value) -> Vec<(String, PlaceColumn)> {
    let mut columns: Vec<(String, PlaceColumn)> = Vec::new();
    for variant in variants(&record["$defs"]["Coordinates"]) {
        let experiment = text(&variant["properties"]["experiment"], "const");
        if experiment == "commands" {
            // Its samples have no actors, and so no rows.
            continue;
        }
        let mut leaves = Vec::new();
        add_leaves(record, "", variant, "", &mut leaves);
        for (name, node, what) in leaves {
            if row["properties"].get(&name).is_some() {
                continue;
            }
            let at = columns.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                columns.push((name.clone(), PlaceColumn::default()));
                columns.len() - 1
            });
            let column = &mut columns[at].1;
            column.dtype = dtype(node);
            column.unit = if name.ends_with("_cycles") { "cycles" } else { "" };
            let words = words_of(node).into_iter().map(|(word, _)| format!("`{word}`"));
            let new: Vec<String> = words.filter(|word| !column.words.contains(word)).collect();
            column.words.extend(new);
            let what = if what.is_empty() { name.replace('_', " ") } else { what };
            match column.meanings.iter_mut().find(|(known, _)| *known == what) {
                Some((_, of)) if of.iter().any(|it| it == experiment) => {}
                Some((_, of)) => of.push(experiment.into()),
                None => column.meanings.push((what, vec![experiment.into()])),
            }
        }
    }
    columns
}

/// The fields below a node that are no objects, as `document/src/flat_fields.rs` names them.
fn add_leaves<'a>(
    root: &'a Value,
    path: &str,
    node: &'a Value,
    description: &str,
    leaves: &mut Vec<(String, &'a Value, String)>,
) {
    let it = target(root, node);
    let description = if description.is_empty() { it.description } else { description };
    let is_object = |it: &Value| it.get("properties").is_some();
    if is_object(it.node) || variants(it.node).any(is_object) {
        for object in [it.node].into_iter().chain(variants(it.node)) {
            for name in required(object) {
                let within = if path.is_empty() || path == name {
                    name.to_string()
                } else {
                    format!("{path}_{name}")
                };
                let field = &object["properties"][name];
                let own = text(field, "description");
                // A field that says nothing of itself is what it is a part of, as a tag is.
                let says_nothing = own.is_empty() && text(field, "$ref").is_empty();
                let says_nothing = says_nothing && !path.is_empty();
                let own = if says_nothing { description } else { own };
                add_leaves(root, &within, field, own, leaves);
            }
        }
        return;
    }
    // In a table an unknown field is an empty cell.
    let what = without_stop(description).replace("null", "empty");
    leaves.push((path.into(), it.node, what));
}

/// All columns of a sample with their types and units, a line for each.
pub fn column_list(record: &Value, row: &Value) -> String {
    let own = required(row).map(|name| {
        let RowColumn { dtype, unit, .. } = row_column(row, name);
        (name.to_string(), dtype, unit)
    });
    let places = place_columns(record, row).into_iter();
    let places = places.map(|(name, column)| (name, column.dtype, column.unit));
    let lines = own.chain(places).map(|(name, dtype, unit)| {
        let line = format!("{name} {dtype} {unit}");
        line.trim_end().to_string() + "\n"
    });
    lines.collect()
}

/// Their table.
pub fn place_table(record: &Value, row: &Value) -> String {
    let mut table = String::from(COLUMN_HEADING);
    let listed =
        |of: &[String]| of.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    for (name, PlaceColumn { dtype, unit, meanings, words }) in place_columns(record, row) {
        let what: Vec<String> = match &meanings[..] {
            [(what, _)] => vec![what.clone()],
            several => several.iter().map(|(what, of)| format!("{}: {what}", listed(of))).collect(),
        };
        let mut of: Vec<String> = meanings.into_iter().flat_map(|(_, of)| of).collect();
        of.dedup();
        let colon = if words.is_empty() { "" } else { ": " };
        let what = format!("{}{colon}{}", what.join("; "), words.join(", ")).replace('|', "\\|");
        table +=
            &format!("| `{name}` | {dtype} | {unit} | {what} | other than {} |\n", listed(&of));
    }
    table
}

struct FieldTable<'a> {
    root: &'a Value,
    /// Words of the variant that the table is of, whose own rows say nothing.
    tags: Vec<&'a str>,
    /// Where the fields of a type stand already.
    described: BTreeMap<&'a str, String>,
    rows: String,
}

impl<'a> FieldTable<'a> {
    fn add_row(&mut self, path: &str, kind: &str, meaning: &str) {
        self.rows += &format!("| `{path}` | {kind} | {} |\n", meaning.trim().replace('|', "\\|"));
    }

    /// The rows of an object's fields, and below them of those within.
    fn add_fields(&mut self, path: &str, object: &'a Value) {
        for name in fields(object) {
            let field = &object["properties"][name];
            if field["const"].as_str().is_none_or(|word| !self.tags.contains(&word)) {
                self.add_field(&joined(path, name), field, text(field, "description"));
            }
        }
        self.add_variants(path, object);
    }

    fn add_field(&mut self, path: &str, field: &'a Value, description: &str) {
        let kind = kind_of(self.root, field);
        let mut it = target(self.root, field);
        let description = if description.is_empty() { it.description } else { description };
        let mut path_within = path.to_string();
        while type_of(it.node) == "array" {
            it = target(self.root, &it.node["items"]);
            path_within += "[]";
        }
        let section = SECTIONS.iter().find(|(name, _)| *name == it.name);
        let has_fields = it.node.get("properties").is_some()
            || variants(it.node).any(|it| it["type"] == "object");
        let meaning = match section {
            Some((_, section)) => {
                format!("{description} See [{section}](#{}).", section.replace(' ', "-"))
            }
            _ if !has_fields => format!("{description} {}", in_words(&words_of(it.node))),
            _ => match self.described.get(it.name) {
                Some(first) => format!("{description} Its fields are those of `{first}`."),
                None => {
                    self.add_row(
                        path,
                        &kind,
                        &format!("{description} {}", in_words(&words_of(it.node))),
                    );
                    if !it.name.is_empty() {
                        self.described.insert(it.name, path_within.clone());
                    }
                    return self.add_fields(&path_within, it.node);
                }
            },
        };
        self.add_row(path, &kind, &meaning);
    }

    /// Rows of a type of which there are several kinds: the word that tells them apart, and their
    /// fields, each with the kinds that have it.
    fn add_variants(&mut self, path: &str, object: &'a Value) {
        let objects = || variants(object).filter(|it| it["type"] == "object");
        let mut words = Vec::new();
        let mut fields: Vec<VariantField<'_>> = Vec::new();
        for variant in objects() {
            let tag = tag_of(variant);
            let word = tag.map_or("", |tag| text(&variant["properties"][tag], "const"));
            words.push((word, text(variant, "description")));
            for name in required(variant).filter(|name| Some(*name) != tag) {
                let field = &variant["properties"][name];
                let said = if tag.is_some() { field } else { variant };
                let said = target(self.root, said).description;
                let place = fields.iter().position(|known| known.name == name);
                let place = place.unwrap_or_else(|| {
                    fields.push(VariantField { name, field, kinds: Vec::new() });
                    fields.len() - 1
                });
                let kinds = &mut fields[place].kinds;
                match kinds.iter_mut().find(|(known, _)| *known == said) {
                    Some((_, of)) => *of += &format!(", `{word}`"),
                    None => kinds.push((said, format!("Of `{word}`"))),
                }
            }
        }
        let tag = objects().find_map(tag_of);
        if let Some(tag) = tag {
            self.add_row(&joined(path, tag), "word", &in_words(&words));
        }
        for VariantField { name, field, kinds } in fields {
            let told = kinds.iter().map(|(said, of)| match (tag, *said) {
                (None, _) => (*said).to_string(),
                (_, "") => format!("{of}."),
                _ => format!("{of}: {said}"),
            });
            self.add_field(&joined(path, name), field, &told.collect::<Vec<_>>().join(" "));
        }
    }
}

/// A field of some variants of a type.
struct VariantField<'a> {
    name: &'a str,
    field: &'a Value,
    /// What is said of it, and the variants of which that is said.
    kinds: Vec<(&'a str, String)>,
}

/// What a schema says once references and null are taken away.
struct Target<'a> {
    node: &'a Value,
    /// Its type's name; empty for one that has none.
    name: &'a str,
    may_be_null: bool,
    description: &'a str,
}

fn target<'a>(root: &'a Value, schema: &'a Value) -> Target<'a> {
    let either = schema["anyOf"].as_array().filter(|either| either[1]["type"] == "null");
    let mut node = either.map_or(schema, |either| &either[0]);
    let name = text(node, "$ref").trim_start_matches("#/$defs/");
    if !name.is_empty() {
        node = &root["$defs"][name];
    }
    let said = text(schema, "description");
    Target {
        node,
        name,
        may_be_null: either.is_some() || node["type"][1] == "null",
        description: if said.is_empty() { text(node, "description") } else { said },
    }
}

/// The type in words.
fn kind_of(root: &Value, schema: &Value) -> String {
    let it = target(root, schema);
    let mut within =
        it.node["patternProperties"].as_object().into_iter().flat_map(|it| it.values());
    let within =
        within.next().or_else(|| it.node.get("additionalProperties").filter(|it| it.is_object()));
    let has_words = !words_of(it.node).is_empty();
    let has_objects = variants(it.node).any(|it| it["type"] == "object");
    let kind = match (type_of(it.node), within) {
        _ if has_words => {
            if has_objects {
                "word or object".into()
            } else {
                "word".into()
            }
        }
        ("array", _) => format!("list of {}", several(&kind_of(root, &it.node["items"]))),
        (_, Some(within)) => format!("object of {}", several(&kind_of(root, within))),
        ("string", _) => "text".into(),
        ("boolean", _) => "true or false".into(),
        ("", _) => "object".into(),
        (other, _) => other.to_string(),
    };
    if it.may_be_null { kind + " or null" } else { kind }
}

fn several(kind: &str) -> String {
    kind.strip_prefix("list ").map_or_else(|| format!("{kind}s"), |rest| format!("lists {rest}"))
}

fn type_of(node: &Value) -> &str {
    node["type"].as_str().or_else(|| node["type"][0].as_str()).unwrap_or_default()
}

fn text<'a>(node: &'a Value, key: &str) -> &'a str {
    node[key].as_str().unwrap_or_default()
}

fn variants(node: &Value) -> impl Iterator<Item = &Value> {
    node["oneOf"].as_array().into_iter().flatten()
}

/// The property by which a variant is told.
fn tag_of(variant: &Value) -> Option<&str> {
    required(variant).find(|name| variant["properties"][*name]["const"].is_string())
}

/// The words that a text can be, with what they mean.
fn words_of(node: &Value) -> Vec<(&str, &str)> {
    let one = node["const"].as_str();
    let listed = node["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let own = one.into_iter().chain(listed).map(|word| (word, ""));
    let described = variants(node)
        .flat_map(|it| words_of(it).into_iter().map(|(word, _)| (word, text(it, "description"))));
    own.chain(described).collect()
}

fn in_words(words: &[(&str, &str)]) -> String {
    let words = words.iter().map(|(word, what)| {
        let colon = if what.is_empty() { "" } else { ": " };
        format!("`{word}`{colon}{}", without_stop(what))
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() { String::new() } else { words.join("; ") + "." }
}

fn without_stop(text: &str) -> &str {
    let text = text.trim();
    text.strip_suffix('.').unwrap_or(text)
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.into() } else { format!("{path}.{name}") }
}
