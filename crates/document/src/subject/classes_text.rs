//! Bandwidth classes in words, a table and the map.

use std::collections::BTreeMap;

use nearfar_machine::{NodeSet, Scope, TheoreticalMaximum};
use nearfar_model::ThreadChoice;
use nearfar_units::format_significant;

use super::class_map::{ClassMap, MapCell, MapRow};
use super::classes::{ClassFigureView, ClassView, ClassesView};
use super::figures::rounded;
use super::pair_position::PairPosition;
use super::pair_words::{InitiatorSet, initiators, pair_words};
use crate::printable::printable;
use crate::terminal::paragraph::{WIDTH, folded, paragraph};
use crate::terminal::table::{room_for, table_in_blocks, table_with_numbers};

impl ClassesView {
    /// For people.
    pub fn text(&self) -> String {
        self.measured.heading() + &self.body()
    }

    /// The classes, below what they are of.
    pub(crate) fn body(&self) -> String {
        let mut text = paragraph("", &format!("Bandwidth classes: {}", self.rule()));
        text.push('\n');
        text += &self.class_table();
        text += &self.alpha_line();
        text += &self.note_lines();
        text += &self.other_table();
        text + "\n" + &self.map()
    }

    fn judged(&self) -> String {
        let kernels = printable(&self.kernels.join(", ")).into_owned();
        let threads = threads_words(self.threads.0);
        let absent = printable(&self.absent_kernels.join(", ")).into_owned();
        let absent = match self.absent_kernels.len() {
            0 => String::new(),
            1 => format!(" ({absent} was not measured)"),
            _ => format!(" ({absent} were not measured)"),
        };
        format!("best round of {kernels} by {threads}{absent}")
    }

    /// What was classed, and how far a class may span.
    fn rule(&self) -> String {
        let variant = match &self.variant {
            Some(variant) => format!("variant {}", printable(variant)),
            None => "all variants".into(),
        };
        let own = if self.per_initiator { "; every initiator by itself" } else { "" };
        format!(
            "{}, {variant}, useful GB/s. A class spans at most {} % of its maximum and what noise \
             explains{own}.",
            self.judged(),
            rounded(self.class_span * 100.0, 2)
        )
    }

    fn class_table(&self) -> String {
        let mut header: Vec<String> =
            ["class", "GB/s", "alpha", "to class 0", "pairs"].map(String::from).into();
        if self.per_initiator {
            header.insert(0, String::new());
        }
        let mut rows = Vec::new();
        for class in &self.classes {
            let mut row = vec![
                class.class.to_string(),
                range_text(class.max_gb_per_s, class.min_gb_per_s),
                class.alpha.map_or("unknown".into(), |alpha| format_significant(alpha, 4)),
                format_significant(class.alpha_relative, 4),
            ];
            if let Some(index) = class.index {
                row.insert(0, initiators(self.initiator, &InitiatorSet::single(index)));
            }
            rows.push(row);
        }
        let last = header.len() - 1;
        let room = room_for(&header, &rows, last);
        for (row, class) in rows.iter_mut().zip(&self.classes) {
            let phrases = self.pair_phrases(class);
            let lines = phrases.iter().flat_map(|phrase| folded(phrase.split(' '), room));
            row.push(lines.collect::<Vec<_>>().join("\n"));
        }
        table_with_numbers(header, rows, usize::from(self.per_initiator)..last)
    }

    /// The pairs of a class in phrases, and what to know of it.
    fn pair_phrases(&self, class: &ClassView) -> Vec<String> {
        let of_class: Vec<PairPosition> = class.pairs.iter().map(PairPosition::from).collect();
        let of_set = |position: &&PairPosition| {
            class.index.is_none_or(|initiator| initiator == position.index)
        };
        let all: Vec<PairPosition> = self.positions.iter().filter(of_set).copied().collect();
        let mut phrases = pair_words(&of_class, &all, self.initiator);
        let marks = class_marks([class.wide, class.widened_by_noise, class.border_within_noise]);
        phrases.extend((!marks.is_empty()).then(|| marks.trim_start().to_string()));
        phrases
    }

    fn alpha_line(&self) -> String {
        if let Some(gamma) = &self.gamma {
            return paragraph(
                " ",
                &format!("alpha = class maximum / {}", printable(&maximum_words(gamma))),
            );
        }
        let unknown = |reason: &String| format!("alpha is unknown: {}", printable(reason));
        let reason = self.gamma_unknown.iter().map(unknown);
        let mut text: String = reason.map(|unknown| paragraph(" ", &unknown)).collect();
        text.extend(self.gamma_remedy.iter().map(|remedy| paragraph("   -> ", remedy)));
        text
    }

    fn note_lines(&self) -> String {
        let rounds = self.fewest_rounds;
        let mut text = match self.noise {
            Some(noise) => format!(
                " rounds of a pair: {rounds} or more, which scatter by {} %\n",
                format_significant(noise * 100.0, 2)
            ),
            None => " one round a pair: their noise is not known\n".into(),
        };
        for note in &self.notes {
            text += &paragraph(" - ", &printable(note));
        }
        text
    }

    /// What other kernels and thread counts give on the pairs of each class.
    fn other_table(&self) -> String {
        let mut kinds: Vec<&ClassFigureView> = Vec::new();
        for figure in self.classes.iter().flat_map(|class| &class.others) {
            if !kinds.iter().any(|known| known.is_like(figure)) {
                kinds.push(figure);
            }
        }
        if kinds.is_empty() {
            return String::new();
        }
        if self.per_initiator {
            return "\nOther kernels and thread counts on the same pairs: a table as wide as the \
                    machine has\ninitiators; --json has them, and without --per-initiator there \
                    is a table.\n"
                .into();
        }
        let classes = self.classes.iter().map(|class| format!("class {}", class.class));
        let header: Vec<String> = std::iter::once(String::new()).chain(classes).collect();
        let cell = |class: &ClassView, kind: &ClassFigureView| {
            let figure = class.others.iter().find(|figure| figure.is_like(kind));
            figure.map_or("-".into(), |figure| range_text(figure.max_gb_per_s, figure.min_gb_per_s))
        };
        let rows: Vec<Vec<String>> = kinds
            .iter()
            .map(|kind| {
                let name = printable(&kind.kernel);
                let label = format!("{name}, {}", threads_words(kind.threads.0));
                let cells = self.classes.iter().map(|class| cell(class, kind));
                std::iter::once(label).chain(cells).collect()
            })
            .collect();
        format!(
            "\nThe same pairs by other kernels and thread counts, GB/s\n{}",
            table_in_blocks(&header, &rows)
        )
    }

    /// The class map: pairs by initiator and node, with borders between classes.
    pub fn map(&self) -> String {
        let mut pairs: BTreeMap<(u32, u32), MapCell> = BTreeMap::new();
        for out in &self.left_out {
            let cell = out.refused.as_ref().map_or(MapCell::NotMeasured, |_| MapCell::Refused);
            pairs.insert((out.index, out.memory_node), cell);
        }
        for class in &self.classes {
            pairs.extend(class.pairs.iter().map(|pair| {
                let cell = MapCell::Classed {
                    gb_per_s: pair.gb_per_s,
                    set: class.index,
                    class: class.class,
                };
                ((pair.index, pair.memory_node), cell)
            }));
        }
        let rows: InitiatorSet = pairs.keys().map(|&(index, _)| index).collect();
        let columns: NodeSet = pairs.keys().map(|&(_, node)| node).collect();
        let cell = |index: u32, node: u32| {
            pairs.get(&(index, node)).copied().unwrap_or(MapCell::NotMeasured)
        };
        let row = |index: u32| MapRow {
            label: initiators(self.initiator, &InitiatorSet::single(index)),
            cells: columns.iter().map(|node| cell(index, node)).collect(),
        };
        let map = ClassMap {
            columns: columns.iter().map(|node| format!("node {node}")).collect(),
            rows: rows.iter().map(row).collect(),
        };
        format!(
            "Map: GB/s and (class); rows: who accesses; columns: whose memory\n{}",
            map.text(WIDTH)
        )
    }
}

/// `17.07 GB/s (DDR3-2133, one channel; JEDEC ..)`, `51.20 GB/s (given)`.
pub(crate) fn maximum_words(maximum: &TheoreticalMaximum) -> String {
    let gb_per_s = format_significant(maximum.gb_per_s(), 4);
    let scope = match maximum.scope {
        Scope::Channel => ", one channel",
        Scope::Stack => ", one stack",
        Scope::Node => ", one memory node",
        Scope::Link => ", one link",
        Scope::Given => return format!("{gb_per_s} GB/s (given)"),
    };
    format!("{gb_per_s} GB/s ({}{scope}; {})", maximum.name, maximum.source)
}

impl ClassFigureView {
    fn is_like(&self, other: &Self) -> bool {
        self.kernel == other.kernel && self.threads == other.threads
    }
}

/// What to know of a class, in brackets behind its pairs.
pub(crate) fn class_marks([wide, widened, border]: [bool; 3]) -> String {
    let words: Vec<&str> = [
        (wide, "spans over 10 %"),
        (widened, "wider by noise"),
        (border, "the next class is within the noise"),
    ]
    .into_iter()
    .filter_map(|(holds, word)| holds.then_some(word))
    .collect();
    if words.is_empty() { String::new() } else { format!(" [{}]", words.join("; ")) }
}

fn range_text(max_gb_per_s: f64, min_gb_per_s: f64) -> String {
    let max = format_significant(max_gb_per_s, 3);
    let min = format_significant(min_gb_per_s, 3);
    if max == min { max } else { format!("{max} - {min}") }
}

pub(crate) fn threads_words(threads: ThreadChoice) -> String {
    match threads {
        ThreadChoice::Count(1) => "one thread".into(),
        ThreadChoice::Count(count) => format!("{count} threads"),
        ThreadChoice::All => "all threads".into(),
    }
}
