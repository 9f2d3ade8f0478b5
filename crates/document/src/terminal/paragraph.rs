//! Text in lines of limited width.

/// Longer lines are hard to read.
const LONGEST: usize = 100;

/// How far a command stands behind the text around it.
const COMMAND_INDENT: usize = 4;

/// The words of a text in lines of at most `width` characters, the first one behind
/// `first`, the others behind this many spaces. A longer word has a line of its own. Code, which
/// stands between two backticks, is not divided where a line holds it; a command has a line of its own, whole
/// and without backticks, which a shell would obey.
pub(crate) fn paragraph(width: usize, first: &str, text: &str) -> String {
    let indent = first.chars().count();
    let room = width.min(LONGEST).saturating_sub(indent).max(1);
    let mut paragraph = String::new();
    let mut add = |line: &str, indent: usize| {
        let start = if paragraph.is_empty() { first.into() } else { " ".repeat(indent) };
        paragraph += format!("{start}{line}").trim_end();
        paragraph.push('\n');
    };
    let pieces = pieces(text);
    for (number, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Words(text) => {
                for line in folded(words(text, room), room) {
                    add(&with_bare_names(&line), indent);
                }
            }
            Piece::Command(command) => {
                if number == 0 {
                    add("", indent);
                }
                // A long one begins farther to the left.
                let hang = indent + COMMAND_INDENT;
                let is_long = hang + command.chars().count() > width;
                add(command, if is_long { COMMAND_INDENT / 2 } else { hang });
            }
        }
    }
    paragraph
}

/// A text whose commands have lines of their own, and that is not divided else.
pub fn with_bare_commands(text: &str) -> String {
    let lines: Vec<String> = pieces(text)
        .into_iter()
        .map(|piece| match piece {
            Piece::Words(words) => with_bare_names(&words),
            Piece::Command(command) => format!("{}{command}", " ".repeat(COMMAND_INDENT)),
        })
        .collect();
    lines.join("\n")
}

enum Piece {
    Words(String),
    Command(String),
}

/// Words and the commands between them: code that begins with a program's name and has more words.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut left, mut searched) = (text.to_string(), 0);
    while let Some(begin) = left[searched..].find('`').map(|at| searched + at) {
        let Some(length) = left[begin + 1..].find('`') else { break };
        let (code, rest) =
            (&left[begin + 1..begin + 1 + length], left[begin + length + 2..].to_string());
        if !is_command(code) {
            searched = begin + length + 2;
            continue;
        }
        let before = left[..begin].trim_end().to_string();
        let before = before.as_str();
        // Parentheses and marks around it would stand alone.
        let opened = before.strip_suffix('(');
        let before = opened.unwrap_or(before).trim_end();
        if !before.is_empty() {
            pieces.push(Piece::Words(before.into()));
        }
        pieces.push(Piece::Command(code.into()));
        let rest = match opened {
            Some(_) => rest.replacen(')', "", 1),
            None => rest,
        };
        left = rest.trim_start_matches([',', ';', '.', ':', ' ']).into();
        searched = 0;
    }
    if !left.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Words(left));
    }
    pieces
}

/// Whether code is to be typed as it stands: a program's name and at least two more words.
fn is_command(code: &str) -> bool {
    code.split(' ').count() > 2 && begins_with_program(code)
}

fn begins_with_program(code: &str) -> bool {
    let is_name = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    code.split_once(' ').is_some_and(|(program, _)| is_name(program))
}

/// A line in which the names of commands, as `nearfar advise`, have no backticks.
fn with_bare_names(line: &str) -> String {
    let mut bare = String::new();
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once('`') {
        bare += before;
        rest = match behind.split_once('`') {
            Some((code, behind)) if begins_with_program(code) => {
                bare += code;
                behind
            }
            Some((code, behind)) => {
                bare += &format!("`{code}`");
                behind
            }
            None => {
                bare.push('`');
                behind
            }
        };
    }
    bare + rest
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
        let (words, code) = ("word ".repeat(14), "`A = some code with blanks`");
        let text = paragraph(WIDTH, "", &format!("{words}{code} and more"));
        assert_eq!(text, format!("{}\n{code} and more\n", words.trim()));
    }

    /// What is to be typed can be pasted: backticks would be obeyed by a shell, and a line's end too.
    #[test]
    fn commands_stand_bare_on_lines_of_their_own() {
        let long = format!("nearfar characterize --append {} --only mixes", "r".repeat(60));
        let text = paragraph(WIDTH, "note: ", &format!("no mixes; `{long}` adds them"));
        assert_eq!(text, format!("note: no mixes;\n  {long}\n      adds them\n"));
        let text =
            paragraph(WIDTH, "", "lacking (`nearfar show r --full` says why). By `nearfar ps`");
        assert_eq!(text, "lacking\n    nearfar show r --full\nsays why. By nearfar ps\n");
        let text = paragraph(WIDTH, "", "disturbed (`nearfar show r --remarks`). Then `--full`");
        assert_eq!(text, "disturbed\n    nearfar show r --remarks\nThen `--full`\n");
        assert_eq!(paragraph(WIDTH, "now  ", "`taskset -p 1`"), "now\n         taskset -p 1\n");
        assert_eq!(with_bare_commands("try `nearfar ps --all`."), "try\n    nearfar ps --all");
        assert_eq!(with_bare_commands("one ` and `two"), "one ` and `two");
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
