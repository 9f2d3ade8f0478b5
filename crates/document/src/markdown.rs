//! A document for an issue or a wiki: GitHub's Markdown.

use std::io::{self, Write};

use crate::printable::printable;

use crate::document::{Document, Section};
use crate::table::{Cell, Reasons, Table};

/// Writes a document as Markdown. Foreign text is escaped: what a record holds cannot become
/// markup, and no line of it can begin a block.
///
/// # Errors
/// What writing fails with.
pub fn write_markdown(document: &Document, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "# nearfar: {}\n", escaped(&document.title))?;
    for caution in &document.cautions {
        writeln!(out, "> **{}**\n", with_code(caution))?;
    }
    write_list(&document.first_words(), out)?;
    document.matrices.iter().try_for_each(|table| write_table(table, out))?;
    write_list(&document.summary, out)?;
    for section in &document.sections {
        write_section(section, out)?;
    }
    writeln!(out, "Made by {}.", escaped(document.program))
}

fn write_section(section: &Section, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "## {}\n\n{}\n", escaped(section.title), escaped(&section.about))?;
    write_list(&section.findings, out)?;
    for table in &section.tables {
        write_table(table, out)?;
    }
    if let Some(text) = &section.model_text {
        writeln!(
            out,
            "<details><summary>The models in full</summary>\n\n{}\n</details>\n",
            block(text)
        )?;
    }
    Ok(())
}

fn write_list(sentences: &[String], out: &mut impl Write) -> io::Result<()> {
    for sentence in sentences {
        writeln!(out, "- {}", with_code(sentence))?;
    }
    if sentences.is_empty() { Ok(()) } else { writeln!(out) }
}

fn write_table(table: &Table, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "**{}**\n", escaped(&table.caption))?;
    let headings: Vec<String> =
        table.columns.iter().map(|column| escaped(&column.heading())).collect();
    writeln!(out, "| {} |", headings.join(" | "))?;
    let rules =
        table.columns.iter().map(|column| if column.unit.is_some() { "---:" } else { "---" });
    writeln!(out, "| {} |", rules.collect::<Vec<_>>().join(" | "))?;
    // A reason that holds for many cells is told once.
    let mut reasons = Reasons::default();
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|cell| cell_text(cell, &mut reasons)).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    writeln!(out)?;
    for line in reasons.lines() {
        writeln!(out, "{}\n", escaped(&line))?;
    }
    write_list(&table.notes, out)
}

fn cell_text<'a>(cell: &'a Cell, reasons: &mut Reasons<'a>) -> String {
    match cell {
        Cell::Figure(figure) => {
            let interval = figure.interval_text.as_ref().filter(|text| **text != figure.text);
            let interval = interval.map_or_else(String::new, |text| format!(" ({text})"));
            escaped(&format!("{}{interval}", cell.words()))
        }
        Cell::Absent { kind, why } => reasons.mark(*kind, why),
        Cell::Text(_) | Cell::Empty => escaped(&cell.words()),
    }
}

/// Text in which nothing is markup, on one line.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    // Addresses become links without any mark: not where a letter of them is an entity.
    let text = printable(text).replace("://", "\u{0}//").replace("www.", "www\u{1}");
    let text = text.trim_start();
    // What begins a list or a heading's rule: a dash or plus, or a number with a dot or bracket.
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let mut next = text.chars().skip(digits);
    let begins = match (next.next(), next.next()) {
        (Some('-' | '+'), None | Some(' ' | '-' | '+')) if digits == 0 => Some(0),
        (Some('.' | ')'), None | Some(' ')) if digits > 0 => Some(digits),
        _ => None,
    };
    for (position, c) in text.chars().enumerate() {
        if begins == Some(position) {
            escaped.push('\\');
        }
        match c {
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '&' => escaped += "&amp;",
            '\u{0}' => escaped += "&#58;",
            '\u{1}' => escaped += "&#46;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' | '$' | '@' => {
                escaped.push('\\');
                escaped.push(c);
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

/// A sentence in which nothing is markup but its commands, which stand between backticks.
fn with_code(sentence: &str) -> String {
    let parts: Vec<&str> = sentence.split('`').collect();
    let mut set = String::with_capacity(sentence.len());
    for (position, part) in parts.iter().enumerate() {
        let is_last = position + 1 == parts.len();
        // Blanks beside code are its own; only the sentence's first are none.
        let blank = if position > 0 && part.starts_with(' ') { " " } else { "" };
        match (position % 2, is_last || part.trim().is_empty()) {
            (1, false) => set += &format!("`{}`", printable(part)),
            (1, true) if is_last => set += &format!("\\`{blank}{}", escaped(part)),
            (1, true) => set += "\\`\\`",
            _ => set += &format!("{blank}{}", escaped(part)),
        }
    }
    set
}

/// Lines that are shown as they are, in a fence that they cannot close.
fn block(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let lines: String = text.lines().map(|line| format!("{}\n", printable(line))).collect();
    format!("{fence}text\n{lines}{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_stays_text() {
        assert_eq!(escaped("<b>|`x`|</b>"), "&lt;b&gt;\\|\\`x\\`\\|&lt;/b&gt;");
        assert_eq!(escaped("a\nb\u{202e}"), "a\\\\u{a}b\\\\u{202e}");
        assert_eq!(escaped("[x](http://h) @you"), "\\[x\\](http&#58;//h) \\@you");
        assert_eq!(escaped("www.evil.example"), "www&#46;evil.example");
        assert_eq!(escaped("- 1. item"), "\\- 1. item");
        assert_eq!(escaped("    12) item"), "12\\) item");
        assert_eq!(escaped("9.28 GB/s"), "9.28 GB/s");
    }

    #[test]
    fn commands_are_code_and_a_backtick_alone_is_one() {
        assert_eq!(with_code("try `a <b> _c_` or <b>"), "try `a <b> _c_` or &lt;b&gt;");
        assert_eq!(with_code("`all`"), "`all`");
        assert_eq!(with_code("one ` alone"), "one \\` alone");
        assert_eq!(with_code("two `` _x_"), "two \\`\\` \\_x\\_");
        assert_eq!(with_code("a `b` - c"), "a `b` \\- c");
    }

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        assert!(block("a ```` b").starts_with("`````text\n"));
        assert!(block("a").starts_with("```text\n"));
    }
}
