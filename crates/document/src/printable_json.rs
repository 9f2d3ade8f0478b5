//! JSON whose texts are made printable as they are written.

use std::io::{self, Write};

use crate::printable::printable;
use serde_json::ser::{CharEscape, Formatter};

/// Writes JSON without blanks, as serde_json does, but for texts: what `printable` escapes stands
/// there in the letters of its escape.
#[derive(Debug)]
pub(crate) struct PrintableJson;

impl Formatter for PrintableJson {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let shown = printable(fragment);
        // A fragment holds no backslash of its own: those are of escapes, and double in JSON.
        let shown =
            if shown.len() == fragment.len() { shown } else { shown.replace('\\', "\\\\").into() };
        out.write_all(shown.as_bytes())
    }

    fn write_char_escape<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        let control = match escape {
            CharEscape::Quote => return out.write_all(b"\\\""),
            CharEscape::ReverseSolidus => return out.write_all(b"\\\\"),
            CharEscape::Solidus => return out.write_all(b"\\/"),
            CharEscape::Backspace => 0x08,
            CharEscape::FormFeed => 0x0c,
            CharEscape::LineFeed => b'\n',
            CharEscape::CarriageReturn => b'\r',
            CharEscape::Tab => b'\t',
            CharEscape::AsciiControl(byte) => byte,
        };
        write!(out, "\\\\u{{{control:x}}}")
    }
}

#[cfg(test)]
mod tests {
    use crate::printable::printable;
    use proptest::prelude::*;
    use serde::Serialize;
    use serde_json::ser::Serializer;

    use super::*;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        text.serialize(&mut Serializer::with_formatter(&mut out, PrintableJson)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn controls_are_shown_and_quotes_stay() {
        assert_eq!(written("a\"b\\c\u{1b}"), r#""a\"b\\c\\u{1b}""#);
    }

    proptest! {
        #[test]
        fn what_is_read_back_is_what_is_printable(text in any::<String>()) {
            let back: String = serde_json::from_str(&written(&text)).unwrap();
            prop_assert_eq!(back, printable(&text).into_owned());
        }
    }
}
