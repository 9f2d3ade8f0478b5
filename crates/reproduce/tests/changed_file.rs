//! The files of papers with other numbers than theirs.

use nearfar_reproduce::{Paper, ReproduceError, Status};
use serde_json::Value;

/// JSON pointers to the numbers of a file that stand at such places.
pub fn numbers(file: &Value, is_asked: impl Fn(&str) -> bool) -> Vec<String> {
    fn walk(value: &Value, path: String, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                fields
                    .iter()
                    .for_each(|(name, value)| walk(value, format!("{path}/{name}"), found));
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items.for_each(|(index, value)| walk(value, format!("{path}/{index}"), found));
            }
            Value::Number(_) => found.push(path),
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(file, String::new(), &mut found);
    found.retain(|path| is_asked(path));
    found
}

/// The file with another value at a place.
pub fn changed(file: &Value, path: &str, value: impl Into<Value>) -> Value {
    let mut changed = file.clone();
    *changed.pointer_mut(path).unwrap() = value.into();
    changed
}

/// A wrong number must fail or contradict the others.
pub fn assert_noticed(result: Result<Paper, ReproduceError>, what: &str) {
    match result {
        Ok(paper) => assert!(paper.count(Status::Fail) > 0, "{what} is not noticed"),
        Err(ReproduceError::Contradiction { .. }) => {}
        Err(other) => panic!("{what}: {other}"),
    }
}

/// Each of these changes makes the numbers contradict each other; a field that nobody knows is
/// refused as well.
pub fn assert_refused(
    file: &Value,
    reproduce: impl Fn(&Value) -> Result<Paper, ReproduceError>,
    changes: &[(&str, Value)],
) {
    for (path, value) in [("/key", Value::from("other"))].iter().chain(changes) {
        let refused = reproduce(&changed(file, path, value.clone())).unwrap_err();
        assert!(matches!(refused, ReproduceError::Contradiction { .. }), "{path}: {refused}");
    }
    let mut odd = file.clone();
    odd["surplus"] = Value::Null;
    assert!(matches!(reproduce(&odd), Err(ReproduceError::Facts { .. })));
}
