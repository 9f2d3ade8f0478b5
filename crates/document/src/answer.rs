//! What a command tells a person: the answer first, what it rests on behind it, then what to type next.

use crate::document::Section;
use crate::subject::ClassMap;
use crate::table::Table;

/// What a command tells, in the order of reading. The terminal writer sets it for the room that there is
/// ([`Answer::text`]); subjects know no layout.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer(pub(crate) Vec<(Shown, Part)>);

/// In which of a command's two answers a part is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// In both.
    Always,
    /// In the first screen alone: what stands there for more.
    First,
    /// With `--full` alone.
    Full,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Words behind `first`, below which further lines begin. Code stands between backticks and is not
    /// divided.
    Words { first: String, words: String, emphasis: Emphasis },
    /// What follows is of this.
    Title(String),
    /// A table. The first screen has its first `first_rows` rows and none of its notes.
    Table { table: Table, first_rows: usize },
    /// Pairs with borders where their class changes.
    ClassMap(ClassMap),
    /// Lines that keep their ends, for instance a file's text.
    Lines(String),
    /// Nothing, to divide what stands around it.
    Gap,
    /// What to type next, each with what it gives.
    Next(Vec<(String, String)>),
}

/// What words are of; terminals colour it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Emphasis {
    #[default]
    Plain,
    Good,
    Caution,
    Failed,
}

/// The room that a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Characters of a line.
    pub width: usize,
    /// Whether all is shown and not the first screen alone.
    pub full: bool,
}

/// What a terminal has at the least, and a file.
pub const NARROWEST: usize = 80;

impl Answer {
    /// One that begins with these words.
    pub fn saying(words: impl Into<String>) -> Self {
        Self::default().and_says(words)
    }

    pub fn and_says(self, words: impl Into<String>) -> Self {
        self.and(Shown::Always, Part::words("", words))
    }

    pub fn and_table(self, table: Table, first_rows: usize) -> Self {
        self.and(Shown::Always, Part::Table { table, first_rows })
    }

    pub fn and_gap(self) -> Self {
        self.and(Shown::Always, Part::Gap)
    }

    pub fn and_next<'a>(self, next: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let next = next.into_iter().map(|(command, what)| (command.into(), what.into())).collect();
        self.and_gap().and(Shown::Always, Part::Next(next))
    }

    /// Without what to type next.
    #[must_use]
    pub fn without_next(mut self) -> Self {
        while let Some(at) = self.0.iter().position(|(_, part)| matches!(part, Part::Next(_))) {
            let is_behind_gap = at > 0 && self.0[at - 1].1 == Part::Gap;
            self.0.drain(at - usize::from(is_behind_gap)..=at);
        }
        self
    }

    pub fn and(mut self, shown: Shown, part: Part) -> Self {
        self.0.push((shown, part));
        self
    }

    pub fn and_all(mut self, shown: Shown, parts: impl IntoIterator<Item = Part>) -> Self {
        self.0.extend(parts.into_iter().map(|part| (shown, part)));
        self
    }

    /// Behind this what another tells.
    pub fn and_answer(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// What is shown of it with `--full`.
    pub(crate) fn full(self) -> impl Iterator<Item = Part> {
        self.0.into_iter().filter(|(shown, _)| *shown != Shown::First).map(|(_, part)| part)
    }

    /// A section whole, with `--full` alone.
    pub fn and_full_section(self, section: Section) -> Self {
        let title = section.title.to_string();
        self.and_all(Shown::Full, [Part::Gap, Part::Title(title)])
            .and_all(Shown::Full, parts_of(section))
    }

    /// A section of which the first screen has what follows from it and the head of its first table.
    pub fn and_section(self, section: Section, first_rows: usize) -> Self {
        const FINDINGS: usize = 4;
        const FINDINGS_CHARACTERS: usize = 1200;
        let tables = section.tables.len();
        let notes = section.tables.first().map_or(0, |table| table.notes.len());
        let rows = section.tables.first().map_or(0, |table| table.rows.len());
        let findings = section.findings.len();
        let mut room = FINDINGS_CHARACTERS;
        let fits = |finding: &&String| {
            let length = finding.chars().count();
            room.checked_sub(length).inspect(|&left| room = left).is_some()
        };
        let shown = section.findings.iter().take(FINDINGS).take_while(fits);
        let shown: Vec<Part> = shown.map(|finding| Part::words("-> ", finding)).collect();
        let mut left = Vec::new();
        let mut leave = |count: usize, one: &str, many: &str| match count {
            0 => {}
            1 => left.push(format!("1 {one}")),
            _ => left.push(format!("{count} {many}")),
        };
        leave(tables.saturating_sub(1), "more table", "more tables");
        leave(rows.saturating_sub(first_rows), "more row", "more rows");
        leave(findings - shown.len(), "more remark", "more remarks");
        leave(notes, "note", "notes");
        let table = section.tables.first().cloned();
        let first = self
            .and_all(Shown::First, [Part::words("", &section.about)])
            .and_all(Shown::First, shown)
            .and_all(Shown::First, table.map(|table| Part::Table { table, first_rows }));
        let more =
            (!left.is_empty()).then(|| Part::words("", format!("--full: {}.", left.join(", "))));
        first.and_all(Shown::First, more).and_all(Shown::Full, parts_of(section))
    }

    /// As a terminal shows it, with the escape sequences of its colours.
    pub fn text(&self, room: Room) -> String {
        crate::terminal::answer_text(self, room)
    }
}

impl Part {
    /// Words that hang below their first line.
    pub fn words(first: impl Into<String>, words: impl Into<String>) -> Self {
        Self::Words { first: first.into(), words: words.into(), emphasis: Emphasis::Plain }
    }

    /// A table with all its rows, in the first screen too.
    pub fn table(table: Table) -> Self {
        Self::Table { table, first_rows: usize::MAX }
    }
}

fn parts_of(section: Section) -> impl Iterator<Item = Part> {
    let about = (!section.about.is_empty()).then(|| Part::words("", section.about));
    let findings = section.findings.into_iter().map(|finding| Part::words("-> ", finding));
    let gap = (findings.len() > 0).then_some(Part::Gap);
    about.into_iter().chain(section.tables.into_iter().map(Part::table)).chain(gap).chain(findings)
}
