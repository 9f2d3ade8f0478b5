//! Text from files and devices, made safe for a terminal.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

/// The text with control characters (C0, DEL, C1), separators of lines and bidirectional
/// overrides escaped: a label from a stranger's file can neither move the cursor, nor end the
/// line or turn it around.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c.escape_unicode().to_string())
}

/// Writes a view as one line of JSON in which such characters are escaped too.
///
/// # Errors
/// When it cannot be written.
pub fn write_json(mut out: impl Write, view: &(impl Serialize + ?Sized)) -> io::Result<()> {
    view.serialize(&mut Serializer::with_formatter(&mut out, PrintableJson))?;
    out.write_all(b"\n")
}

/// Whether terminals obey a character, or show nothing, instead of showing it.
pub fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{feff}')
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escaped(text: &str, escape: impl Fn(char) -> String) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let letter = |c: char| if is_obeyed(c) { escape(c) } else { c.to_string() };
    Cow::Owned(text.chars().map(letter).collect())
}

struct PrintableJson;

impl Formatter for PrintableJson {
    /// Zero has no sign.
    fn write_f64<W: Write + ?Sized>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        CompactFormatter.write_f64(out, value + 0.0)
    }

    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        // All of them are below U+10000.
        let json = escaped(fragment, |c| format!("\\u{:04x}", u32::from(c)));
        out.write_all(json.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{7f}\u{9b}2J\u{202e}\u{2028}\u{1b}[2J\n\\\"\u{1f600}";

    #[test]
    fn control_characters_are_shown_not_sent() {
        assert_eq!(printable("Intel Xeon"), "Intel Xeon");
        assert_eq!(printable("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\\u{a}");
        assert_eq!(printable("\u{202e}x"), "\\u{202e}x");
        assert_eq!(printable("a\u{2028}b\u{2029}"), "a\\u{2028}b\\u{2029}");
    }

    #[test]
    fn zero_has_no_sign() {
        let mut json = Vec::new();
        write_json(&mut json, &[-0.0, 0.0, -1.5]).unwrap();
        assert_eq!(String::from_utf8(json).unwrap(), "[0.0,0.0,-1.5]\n");
    }

    #[test]
    fn json_keeps_every_character_and_sends_none_that_a_terminal_obeys() {
        let mut json = Vec::new();
        write_json(&mut json, &[(HOSTILE, HOSTILE)]).unwrap();
        let json = String::from_utf8(json).unwrap();
        let read: [(String, String); 1] = serde_json::from_str(&json).unwrap();
        assert_eq!(read[0], (HOSTILE.into(), HOSTILE.into()));
        assert_eq!(printable(json.trim_end()), json.trim_end());
    }
}
