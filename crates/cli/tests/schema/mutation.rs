//! Damages a valid document in one place, so that a schema that lets anything
//! pass is found out.

use std::mem;

use serde_json::{Value, json};

use crate::contract::join;

/// What was done to a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

/// Positions looked at in one array; the rest is of the same types.
const POSITIONS: usize = 3;

/// Shows a document with every damage to every place of it, one at a time: what was done, where, and
/// the document. A place is for people and for lists: positions in arrays are left out.
pub fn damage_everywhere(document: &Value, mut show: impl FnMut(Damage, &str, &Value)) {
    let mut damaged = Damaged { document: document.clone(), steps: Vec::new(), show: &mut show };
    damaged.damage_below(document, "");
    assert_eq!(damaged.document, *document, "a damage was left");
}

/// A document that is damaged in place, and mended before the next damage.
struct Damaged<'a, Show> {
    document: Value,
    steps: Vec<Step>,
    show: &'a mut Show,
}

impl<Show: FnMut(Damage, &str, &Value)> Damaged<'_, Show> {
    fn put(&mut self, damage: Damage, path: &str, replacement: Value) {
        let kept = mem::replace(self.place(), replacement);
        (self.show)(damage, path, &self.document);
        *self.place() = kept;
    }

    fn place(&mut self) -> &mut Value {
        self.steps.iter().fold(&mut self.document, |value, step| step.get_mut(value))
    }

    fn damage_below(&mut self, value: &Value, path: &str) {
        for other in values_of_other_types(value) {
            self.put(Damage::WrongType, path, other);
        }
        self.put(Damage::Negative, path, json!(-1.5));
        if !value.is_null() {
            self.put(Damage::Null, path, Value::Null);
        }
        if value.is_string() {
            self.put(Damage::OtherWord, path, json!("no such word"));
        }
        match value {
            Value::Object(fields) => {
                let mut more = fields.clone();
                more.insert("no_such_field".into(), json!({}));
                self.put(Damage::UnknownField, path, Value::Object(more));
                for (name, below) in fields {
                    let path = join(path, name);
                    let mut fewer = fields.clone();
                    fewer.remove(name);
                    self.put(Damage::MissingField, &path, Value::Object(fewer));
                    self.steps.push(Step::Field(name.clone()));
                    self.damage_below(below, &path);
                    self.steps.pop();
                }
            }
            Value::Array(items) => {
                for (position, below) in items.iter().enumerate().take(POSITIONS) {
                    self.steps.push(Step::Position(position));
                    self.damage_below(below, &format!("{path}[]"));
                    self.steps.pop();
                }
            }
            _ => {}
        }
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
    fn get_mut<'a>(&self, value: &'a mut Value) -> &'a mut Value {
        match self {
            Self::Field(name) => &mut value[name],
            Self::Position(position) => &mut value[position],
        }
    }
}
