//! The labels of a sample.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use serde::Serialize;

use crate::flat_fields::{flat_fields, text_of};
use crate::printable::printable;

/// Labels in their order, each name once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Labels(Vec<(Cow<'static, str>, String)>);

impl Labels {
    /// With one more label.
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.0.push((name.into(), value.to_string()));
        self
    }

    /// With one more label, where its value is known.
    pub fn with_known(self, name: &'static str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// With the fields of a place in an experiment, by their names in the record; but for `except`.
    pub fn with_fields(mut self, place: &impl Serialize, except: &[&str]) -> Self {
        let fields = flat_fields(place).into_iter();
        let fields = fields.filter(|(name, _)| !except.contains(&name.as_str()));
        self.0.extend(fields.map(|(name, value)| (name.into(), text_of(&value))));
        self
    }

    /// These before those.
    pub fn followed_by(&self, others: Self) -> Self {
        Self(self.0.iter().cloned().chain(others.0).collect())
    }
}

impl fmt::Display for Labels {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (name, value)) in self.0.iter().enumerate() {
            if number > 0 {
                out.write_char(',')?;
            }
            write!(out, "{name}=\"{}\"", escape(value))?;
        }
        Ok(())
    }
}

/// The format's three escapes. Other control characters and those that turn the line around are
/// shown by their numbers, as on a terminal: some readers take them for ends of lines.
fn escape(value: &str) -> String {
    let lines = value.split('\n');
    let lines = lines.map(|line| printable(line).replace('\\', "\\\\").replace('"', "\\\""));
    lines.collect::<Vec<String>>().join("\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_leave_their_quotation_marks() {
        let labels = Labels::default().with("host", "a\"} 1\n# EOF\\").with("cpu", "\r\u{2028}x");
        assert_eq!(labels.to_string(), r#"host="a\"} 1\n# EOF\\",cpu="\\u{d}\\u{2028}x""#);
    }

    #[test]
    fn labels_that_are_not_known_are_absent() {
        let labels = Labels::default().with("node", 1).with_known("level", None::<u8>);
        assert_eq!(labels.to_string(), r#"node="1""#);
    }
}
