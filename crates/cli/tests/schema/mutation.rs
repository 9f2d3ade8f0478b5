//! Damages a valid document in one place, so that a schema that lets anything
//! pass is found out.

use serde_json::{Value, json};

use crate::contract::join;

/// What was done to a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// A field that no format has was added to an object.
    UnknownField,
    /// A field was taken away.
    MissingField,
    /// A value was replaced by one of another type.
    WrongType,
    /// A value was replaced by a negative number.
    Negative,
    /// A value was replaced by null.
    Null,
    /// A text was replaced by another.
    OtherWord,
}

/// A document with one damage.
#[derive(Debug)]
pub struct Damaged {
    pub damage: Damage,
    /// Where, for people and for lists: positions in arrays are left out.
    pub path: String,
    pub document: Value,
}

/// Positions looked at in one array; the rest is of the same types.
const POSITIONS: usize = 3;

/// Every damage to every place of a document.
pub fn damage_everywhere(document: &Value) -> Vec<Damaged> {
    let mut found = Vec::new();
    damage_below(document, &mut Vec::new(), "", &mut found);
    found
}

fn damage_below(root: &Value, steps: &mut Vec<Step>, path: &str, found: &mut Vec<Damaged>) {
    let value = steps.iter().fold(root, |value, step| step.get(value));
    let mut put = |damage, replacement: Value| {
        let mut document = root.clone();
        *steps.iter().fold(&mut document, |value, step| step.get_mut(value)) = replacement;
        found.push(Damaged { damage, path: path.into(), document });
    };
    for other in values_of_other_types(value) {
        put(Damage::WrongType, other);
    }
    put(Damage::Negative, json!(-1.5));
    if !value.is_null() {
        put(Damage::Null, Value::Null);
    }
    if value.is_string() {
        put(Damage::OtherWord, json!("no such word"));
    }
    match value {
        Value::Object(fields) => {
            let mut more = fields.clone();
            more.insert("no_such_field".into(), json!({}));
            put(Damage::UnknownField, Value::Object(more));
            for name in fields.keys() {
                let mut fewer = fields.clone();
                fewer.remove(name);
                let mut document = root.clone();
                *steps.iter().fold(&mut document, |value, step| step.get_mut(value)) =
                    Value::Object(fewer);
                let path = join(path, name);
                found.push(Damaged { damage: Damage::MissingField, path, document });
            }
            for name in fields.keys() {
                steps.push(Step::Field(name.clone()));
                damage_below(root, steps, &join(path, name), found);
                steps.pop();
            }
        }
        Value::Array(items) => {
            for position in 0..items.len().min(POSITIONS) {
                steps.push(Step::Position(position));
                damage_below(root, steps, &format!("{path}[]"), found);
                steps.pop();
            }
        }
        _ => {}
    }
}

/// Values that no field of any format takes, and some that are nearly right.
fn values_of_other_types(value: &Value) -> Vec<Value> {
    let mut values = vec![json!([[[]]]), json!({"no_such_field": {}})];
    match value {
        Value::Bool(_) => values.push(json!("true")),
        Value::Number(number) if number.is_f64() => values.push(json!(number.to_string())),
        Value::Number(number) => values.extend([json!(number.to_string()), json!(1e30)]),
        // Null can stand for a field of any type, true and false included.
        Value::Null => {}
        _ => values.push(json!(true)),
    }
    values
}

enum Step {
    Field(String),
    Position(usize),
}

impl Step {
    fn get<'a>(&self, value: &'a Value) -> &'a Value {
        match self {
            Self::Field(name) => &value[name],
            Self::Position(position) => &value[position],
        }
    }

    fn get_mut<'a>(&self, value: &'a mut Value) -> &'a mut Value {
        match self {
            Self::Field(name) => &mut value[name],
            Self::Position(position) => &mut value[position],
        }
    }
}
