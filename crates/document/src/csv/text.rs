//! Text from elsewhere in a cell.

use std::borrow::Cow;

use crate::printable::printable;
use serde::{Serialize, Serializer};

/// Text on one line, which a spreadsheet takes for text where it is written as such.
#[derive(Debug, Default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Text<'a>(Cow<'a, str>);

/// Spreadsheets take a cell that begins so for a formula; some the wide forms as well. Tab and
/// carriage return, which they skip, are escaped before.
/// Source: OWASP, CSV Injection.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// What tells a spreadsheet that text follows.
const MARK: char = '\'';

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(printable(text))
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(printable(&text).into_owned()))
    }
}

impl Text<'_> {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A text that begins with the mark gets one more, so that taking the first one off gives
    /// every text back.
    fn marked(&self) -> Cow<'_, str> {
        let text = self.as_str();
        let begins = text.trim_start().chars().next();
        if begins.is_some_and(|first| FORMULA.contains(&first) || first == MARK) {
            return Cow::Owned(format!("{MARK}{text}"));
        }
        Cow::Borrowed(text)
    }
}

impl Serialize for Text<'_> {
    /// Marked where people read it; a frame's column is text by its type.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.serialize_str(&self.marked());
        }
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(text: &str) -> String {
        Text::from(text).marked().into_owned()
    }

    #[test]
    fn formulas_are_text() {
        for text in ["=cmd()", "+1", "-1", "@SUM(A1)", "＝1", " =1", "'=1", "'"] {
            assert_eq!(cell(text), format!("'{text}"));
        }
        assert_eq!(cell("\t=1"), "\\u{9}=1");
        assert_eq!(cell("\r=1"), "\\u{d}=1");
        assert_eq!(cell("\n=1"), "\\u{a}=1");
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in ["", "pairs/initiator0", "a=b", "1-2", "it's", "<b>", "a,\"b\"", "ümlaut"] {
            assert_eq!(cell(text), text);
        }
        assert_eq!(cell("a\u{202e}b\u{1b}[2J"), "a\\u{202e}b\\u{1b}[2J");
    }
}
