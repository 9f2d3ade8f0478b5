//! Text in lines of limited width.

/// Longer lines are hard to read.
const LONGEST: usize = 100;

/// The words of a text in lines of at most `width` characters, the first one behind
/// `first`, the others behind this many spaces. A longer word has a line of its own. Code, which
/// stands between two backticks, is not divided where a line holds it.
pub(crate) fn paragraph(width: usize, first: &str, text: &str) -> String {
    let indent = first.chars().count();
    let room = width.min(LONGEST).saturating_sub(indent).max(1);
    let mut paragraph = String::new();
    for (number, line) in folded(words(text, room), room).iter().enumerate() {
        let start = if number == 0 { first.into() } else { " ".repeat(indent) };
        paragraph += format!("{start}{line}").trim_end();
        paragraph.push('\n');
    }
    paragraph
}

/// Words, and code of at most `room` characters as one.
fn words(text: &str, room: usize) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    let ends_word = move |letter: char| {
        is_code ^= letter == '`';
        letter == ' ' && !is_code
    };
    text.split(ends_word).flat_map(move |word| {
        let is_divided = word.chars().count() > room;
        word.split(move |letter| is_divided && letter == ' ')
    })
}

/// Words with a space between them, in lines of at most `width` characters. What counts as a
/// word, and is not divided, may hold spaces itself.
pub(crate) fn folded<'a>(words: impl IntoIterator<Item = &'a str>, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && line + 1 + word.chars().count() > width {
            lines.push(word.into());
        } else if let Some(last) = lines.last_mut() {
            if line > 0 {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: usize = 80;

    #[test]
    fn words_are_kept_whole_and_in_order() {
        assert_eq!(folded(["one", "two", "three"], 7), ["one two", "three"]);
        assert_eq!(folded(["one", "two", "three"], 3), ["one", "two", "three"]);
        assert_eq!(folded(["one two", "three"], 5), ["one two", "three"]);
        assert_eq!(folded([""], 5), [""]);
        assert_eq!(folded(["äöü", "äöü"], 7), ["äöü äöü"], "characters count, not bytes");
    }

    #[test]
    fn code_is_not_divided() {
        let (words, code) = ("word ".repeat(14), "`a command with blanks`");
        let text = paragraph(WIDTH, "", &format!("{words}{code} and more"));
        assert_eq!(text, format!("{}\n{code} and more\n", words.trim()));
    }

    #[test]
    fn paragraphs_hang_below_their_first_line() {
        let text = "word ".repeat(50);
        let lines: Vec<String> =
            paragraph(WIDTH, " note: ", text.trim()).lines().map(Into::into).collect();
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH));
        assert!(lines[0].starts_with(" note: word") && lines[1].starts_with("       word"));
        let words = lines.iter().map(|line| line.matches("word").count()).sum::<usize>();
        assert_eq!(words, 50);
    }
}
