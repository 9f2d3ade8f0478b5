//! Words as a shell takes them, for commands that are printed to be typed.

/// Text as a shell takes it for one word.
pub fn shell_word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,%+@".contains(letter);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.into(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// A path as a shell takes it for one word, and a program for no option.
pub fn shell_path(path: &str) -> String {
    match path.starts_with('-') {
        true => shell_word(&format!("./{path}")),
        false => shell_word(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_they_must_be() {
        assert_eq!(shell_word("/a-b/c_1.gguf"), "/a-b/c_1.gguf");
        assert_eq!(shell_word("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("-x"), "-x");
        assert_eq!(shell_path("-x y"), "'./-x y'");
    }
}
