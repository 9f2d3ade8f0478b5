//! Words as a shell takes them, for commands that are printed to be typed.

/// Text as a shell takes it for one word.
pub fn shell_word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,%+@".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.into();
    }
    if !text.contains(char::is_control) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    // As bash, ksh and zsh take it: a terminal shows no control character.
    let letter = |letter: char| match letter {
        '\'' | '\\' => format!("\\{letter}"),
        letter if letter.is_control() => {
            let mut bytes = [0; 4];
            letter.encode_utf8(&mut bytes).bytes().map(|byte| format!("\\x{byte:02x}")).collect()
        }
        letter => letter.to_string(),
    };
    format!("$'{}'", text.chars().map(letter).collect::<String>())
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
        assert_eq!(shell_word("a\u{1b}[2J'\n\\\u{85}"), r"$'a\x1b[2J\'\x0a\\\xc2\x85'");
        assert_eq!(shell_word("-x"), "-x");
        assert_eq!(shell_path("-x y"), "'./-x y'");
    }
}
