//! Text in which TeX finds no command.

use std::fmt::Write;

use crate::printable::printable;

/// Letters of a word without a place to break it, after which one is made.
const LONGEST: usize = 16;

/// Running text on one line; what stands between two backticks is set as code.
pub(super) fn text(words: &str) -> String {
    let words = printable(words);
    let mut parts = words.split('`').peekable();
    let mut escaped = String::with_capacity(words.len());
    let mut is_code = false;
    while let Some(part) = parts.next() {
        if is_code && parts.peek().is_some() {
            write!(escaped, "\\texttt{{{}}}", with_breaks(part, code_letter)).ok();
            is_code = false;
        } else {
            if is_code {
                // The last backtick has no partner.
                escaped += "`{}";
            }
            escaped += &with_breaks(part, letter);
            is_code = true;
        }
    }
    escaped
}

/// A line of a text that is set in letters of equal width, its blanks kept.
pub(super) fn code_line(line: &str) -> String {
    let line = printable(line);
    let blanks = line.chars().take_while(|c| *c == ' ').count();
    let spaced = |c: char| if c == ' ' { "\\ ".into() } else { code_letter(c) };
    "~".repeat(blanks) + &with_breaks(&line[blanks..], spaced)
}

/// Letters one by one, with places to break a line behind such as join words, and in long words.
fn with_breaks(words: &str, letter: impl Fn(char) -> String) -> String {
    let mut escaped = String::with_capacity(words.len());
    let mut run = 0;
    let mut letters = words.chars().peekable();
    while let Some(c) = letters.next() {
        escaped += &letter(c);
        run = if c == ' ' { 0 } else { run + 1 };
        let is_joint = matches!(c, '/' | ',' | '_' | ';' | '.' | ':');
        // A number is not broken at its point.
        let is_joint = is_joint && run > 2 && !letters.peek().is_some_and(char::is_ascii_digit);
        if run >= LONGEST || is_joint {
            escaped += "\\allowbreak{}";
            run = 0;
        }
    }
    escaped
}

fn letter(c: char) -> String {
    match c {
        '\\' => "\\textbackslash{}".into(),
        '{' | '}' | '$' | '&' | '#' | '%' => format!("\\{c}"),
        // A letter, where the other fonts draw a line that no reader copies.
        '_' => "\\texttt{\\char95}".into(),
        '^' => "\\textasciicircum{}".into(),
        '~' => "\\textasciitilde{}".into(),
        '<' => "\\textless{}".into(),
        '>' => "\\textgreater{}".into(),
        '|' => "\\textbar{}".into(),
        '"' => "\\char34{}".into(),
        // Two of them would become another letter.
        '-' | '\'' | ',' | '!' | '?' => format!("{c}{{}}"),
        ' '..='~' => c.into(),
        _ => foreign_letter(c),
    }
}

/// Of a font of equal widths, in which every letter of ASCII has its place.
fn code_letter(c: char) -> String {
    match c {
        'a'..='z'
        | 'A'..='Z'
        | '0'..='9'
        | ' '
        | '.'
        | '/'
        | ':'
        | ';'
        | '('
        | ')'
        | '+'
        | '='
        | '*' => c.into(),
        ' '..='~' => format!("\\symbol{{{}}}", u32::from(c)),
        // As wide as all letters.
        '\u{b1}' => "\\makebox[0.525em]{$\\pm$}".into(),
        // The lines of charts, which the font lacks.
        '\u{2500}' | '\u{2574}' | '\u{2576}' => "\\symbol{45}".into(),
        '\u{2502}' | '\u{2575}' | '\u{2577}' => "\\symbol{124}".into(),
        '\u{250c}'..='\u{253c}' => "+".into(),
        _ => foreign_letter(c),
    }
}

/// Letters beyond ASCII that the fonts have; others by their numbers.
fn foreign_letter(c: char) -> String {
    match c {
        '\u{d7}' => "$\\times$".into(),
        '\u{b5}' | '\u{3bc}' => "$\\mu$".into(),
        '\u{b0}' => "${}^\\circ$".into(),
        '\u{b1}' => "$\\pm$".into(),
        '\u{ae}' => "\\textregistered{}".into(),
        '\u{2122}' => "\\texttrademark{}".into(),
        '\u{2264}' => "$\\le$".into(),
        '\u{2265}' => "$\\ge$".into(),
        '\u{2013}' => "--".into(),
        '\u{2014}' => "---".into(),
        '\u{2018}' => "`{}".into(),
        '\u{2019}' => "'{}".into(),
        '\u{a0}' => "~".into(),
        // Without eth and thorn, which these fonts lack.
        '\u{c0}'..='\u{cf}'
        | '\u{d1}'..='\u{d6}'
        | '\u{d8}'..='\u{dd}'
        | '\u{df}'..='\u{ef}'
        | '\u{f1}'..='\u{f6}'
        | '\u{f8}'..='\u{fd}'
        | '\u{ff}' => c.into(),
        _ => format!("[U+{:04X}]", u32::from(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of escaped text when all that was put there on purpose is taken away.
    fn rest(escaped: &str) -> String {
        let mut rest = escaped.to_string();
        let known = [
            "\\textbackslash{}",
            "\\textasciicircum{}",
            "\\textasciitilde{}",
            "\\textless{}",
            "\\textgreater{}",
            "\\textbar{}",
            "\\char34{}",
            "\\allowbreak{}",
            "\\{",
            "\\}",
            "\\$",
            "\\&",
            "\\#",
            "\\texttt{\\char95}",
            "\\%",
            "-{}",
            "'{}",
            ",{}",
            "!{}",
            "?{}",
        ];
        for word in known {
            rest = rest.replace(word, "");
        }
        rest
    }

    #[test]
    fn no_letter_of_ascii_is_a_command() {
        let all: String = (' '..='~').filter(|c| *c != '`').collect();
        let escaped = text(&all);
        for special in ['\\', '{', '}', '$', '&', '#', '_', '%', '^', '~', '<', '>', '|', '"'] {
            assert!(!rest(&escaped).contains(special), "{special} in {escaped}");
        }
        assert_eq!(text("\\input{x}"), "\\textbackslash{}input\\{x\\}");
    }

    #[test]
    fn code_is_set_as_code_and_a_lone_backtick_stays() {
        assert_eq!(text("run `ls` now"), "run \\texttt{ls} now");
        assert_eq!(text("a`b"), "a`{}b");
        assert_eq!(text("`\\x`"), "\\texttt{\\symbol{92}x}");
        assert_eq!(code_line("  a  b{"), "~~a\\ \\ b\\symbol{123}");
        assert_eq!(code_line("\u{250c}\u{2500}\u{2502}"), "+\\symbol{45}\\symbol{124}");
    }

    #[test]
    fn letters_that_fonts_lack_are_named() {
        assert_eq!(text("K\u{f6}ln 2\u{d7}"), "K\u{f6}ln 2$\\times$");
        assert_eq!(text("\u{4e2d}"), "[U+4E2D]");
        assert_eq!(text("--x"), "-{}-{}x");
        // Escaped as for a terminal, then for TeX.
        assert_eq!(text("\u{202e}"), "\\textbackslash{}u\\{202e\\}");
    }

    #[test]
    fn a_long_word_can_be_broken() {
        assert_eq!(text(&"x".repeat(40)).matches("\\allowbreak").count(), 2);
        assert!(text("pairs/initiator0").starts_with("pairs/\\allowbreak{}"));
    }
}
