//! What was written, in messages.

/// Text between quotation marks, with control characters escaped, and cut if it is long.
pub(super) fn quotation(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_texts_are_cut_and_between_characters() {
        let text = |len: usize| "\u{e9}".repeat(len);
        assert_eq!(quotation(&text(60)), format!("\"{}\"", text(60)));
        assert_eq!(quotation(&text(61)), format!("\"{}\"...", text(60)));
        assert_eq!(quotation("a\u{7}"), "\"a\\u{7}\"");
    }
}
