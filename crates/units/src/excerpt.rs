//! Foreign text within a message.

/// The most characters of a word or value that a message repeats.
const MOST: usize = 80;

/// The begin of a foreign text, for a message that repeats it: at most 80 characters, the
/// control characters among them escaped, `...` where there is more.
pub fn excerpt(text: &str) -> String {
    excerpt_of(text, MOST)
}

/// The same with at most this many characters, for what another parser said of foreign text.
pub fn excerpt_of(text: &str, most: usize) -> String {
    let mut short = String::new();
    for letter in text.chars().take(most) {
        if letter.is_control() {
            short.extend(letter.escape_default());
        } else {
            short.push(letter);
        }
    }
    if text.chars().nth(most).is_some() { short + "..." } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_repeats_so_much_of_a_text() {
        assert_eq!(excerpt("0-3,8"), "0-3,8");
        assert_eq!(excerpt("a\u{1b}[2J\n'é'"), "a\\u{1b}[2J\\n'é'");
        assert_eq!(excerpt(&"x".repeat(80)), "x".repeat(80));
        assert_eq!(excerpt(&"é".repeat(1 << 20)), "é".repeat(80) + "...");
        assert_eq!(excerpt_of("long", 2), "lo...");
    }
}
