//! The files of papers with other numbers than theirs.

use nearfar_reproduce::{Paper, PaperFacts, PaperFile, ReproduceError, Row, Status};
use serde_json::Value;

/// A paper's file, and what is measured for it.
pub struct Changeable<Facts: PaperFacts> {
    pub file: Value,
    measured: Facts::Measured,
}

impl<Facts: PaperFacts> Changeable<Facts> {
    pub fn new() -> Self {
        let facts = PaperFile::<Facts>::parse(Facts::FILE).unwrap().facts;
        let file = serde_json::from_str(Facts::FILE).unwrap();
        Self { file, measured: facts.measure().unwrap() }
    }

    fn reproduce(&self, file: &Value) -> Result<Paper, ReproduceError> {
        PaperFile::<Facts>::parse(&file.to_string())?.reproduce(&self.measured)
    }

    pub fn number(&self, path: &str) -> f64 {
        self.file.pointer(path).unwrap().as_f64().unwrap()
    }

    /// The paper with another value at a place of its file.
    pub fn with(&self, path: &str, value: &Value) -> Result<Paper, ReproduceError> {
        let mut changed = self.file.clone();
        changed.pointer_mut(path).unwrap().clone_from(value);
        self.reproduce(&changed)
    }

    /// A wrong number must fail or contradict the others.
    pub fn assert_noticed(&self, path: &str, value: &Value) {
        match self.with(path, value) {
            Ok(paper) => assert!(paper.count(Status::Fail) > 0, "{path} as {value} is not noticed"),
            Err(ReproduceError::Contradiction { .. }) => {}
            Err(other) => panic!("{path} as {value}: {other}"),
        }
    }

    /// A number a part too large and too small.
    pub fn assert_both_noticed(&self, path: &str, part: f64) {
        for side in [1.0 + part, 1.0 - part] {
            self.assert_noticed(path, &(self.number(path) * side).into());
        }
    }

    /// Each of these changes makes the numbers contradict each other; a field that nobody knows is
    /// refused as well.
    pub fn assert_refused(&self, changes: &[(&str, Value)]) {
        for (path, value) in [("/key", Value::from("other"))].iter().chain(changes) {
            let refused = self.with(path, value).unwrap_err();
            assert!(matches!(refused, ReproduceError::Contradiction { .. }), "{path}: {refused}");
        }
        let mut odd = self.file.clone();
        odd["surplus"] = Value::Null;
        assert!(matches!(self.reproduce(&odd), Err(ReproduceError::Facts { .. })));
    }
}

/// The only row whose item ends so.
pub fn row<'p>(paper: &'p Paper, end: &str) -> &'p Row {
    paper.rows.iter().find(|row| row.item.ends_with(end)).unwrap()
}

/// JSON pointers to the numbers of a file that stand at such places.
pub fn numbers(file: &Value, is_asked: impl Fn(&str) -> bool) -> Vec<String> {
    fn walk(value: &Value, path: String, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                fields.iter().for_each(|(name, it)| walk(it, format!("{path}/{name}"), found));
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items.for_each(|(index, it)| walk(it, format!("{path}/{index}"), found));
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
