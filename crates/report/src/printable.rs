//! Text from files and devices, made safe for a terminal.

use std::borrow::Cow;

/// The text with control characters (C0, DEL, C1), separators of lines and bidirectional
/// overrides escaped: a label from a stranger's file can neither move the cursor, nor end the
/// line or turn it around.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let dangerous = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.chars().any(dangerous) {
        return Cow::Borrowed(text);
    }
    let escape = |c: char| {
        if dangerous(c) { c.escape_unicode().to_string() } else { c.to_string() }
    };
    Cow::Owned(text.chars().map(escape).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_not_sent() {
        assert_eq!(printable("Intel Xeon"), "Intel Xeon");
        assert_eq!(printable("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\\u{a}");
        assert_eq!(printable("\u{202e}x"), "\\u{202e}x");
        assert_eq!(printable("a\u{2028}b\u{2029}"), "a\\u{2028}b\\u{2029}");
    }
}
