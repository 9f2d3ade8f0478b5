//! Bandwidth classes in words, a table and the map.

use nearfar_machine::{NodeSet, Scope};
use nearfar_model::ThreadChoice;
use nearfar_units::format_significant;

use crate::class_map::{ClassMap, MapCell, MapRow, WIDTH};
use crate::classes::{ClassFigureView, ClassPairView, ClassView, ClassesView, GammaView};
use crate::figures::{rounded, simulated_line};
use crate::pair_words::{InitiatorSet, initiators, pair_words};
use crate::printable::printable;
use crate::table::{table, table_with_numbers};

impl ClassesView {
    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{}, {}\n", printable(&self.host), printable(&self.started));
        text += simulated_line(self.executor);
        text += &format!("Bandwidth classes: {}\n\n", self.rule());
        text += &self.class_table();
        text += &self.alpha_line();
        text += &self.note_lines();
        text += &self.other_table();
        text + "\n" + &self.map()
    }

    /// The classes in two lines and the map.
    pub(crate) fn summary(&self) -> String {
        let levels: Vec<String> = self
            .classes
            .iter()
            .map(|class| range_text(class.max_gb_per_s, class.min_gb_per_s))
            .collect();
        format!(
            "Bandwidth classes, {}: {} GB/s (more by `nearfar model`)\n{}",
            self.judged(),
            levels.join("; "),
            self.map()
        )
    }

    /// What was classed.
    fn judged(&self) -> String {
        let kernels: Vec<String> =
            self.kernels.iter().map(|kernel| printable(kernel).into_owned()).collect();
        format!("best round of {} by {}", kernels.join(", "), threads_words(self.threads.0))
    }

    /// What was classed, and how far a class may span.
    fn rule(&self) -> String {
        let variant = match &self.variant {
            Some(variant) => format!("variant {}", printable(variant)),
            None => "all variants".into(),
        };
        let own = if self.per_initiator { "; every initiator by itself" } else { "" };
        format!(
            "{}, {variant}, useful GB/s.\nA class spans at most {} % of its maximum and what noise \
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
            let all = self.pairs_of_set(class.index);
            let mut row = vec![
                class.class.to_string(),
                range_text(class.max_gb_per_s, class.min_gb_per_s),
                class.alpha.map_or("unknown".into(), |alpha| format!("{alpha:.4}")),
                format!("{:.4}", class.alpha_relative),
                pair_words(&class.pairs, &all, self.initiator).join("\n") + &marks(class),
            ];
            if let Some(index) = class.index {
                row.insert(0, initiators(self.initiator, &InitiatorSet::single(index)));
            }
            rows.push(row);
        }
        let last = header.len() - 1;
        table_with_numbers(header, rows, usize::from(self.per_initiator)..last)
    }

    fn pairs_of_set(&self, index: Option<u32>) -> Vec<&ClassPairView> {
        let of_set = self.classes.iter().filter(|class| class.index == index);
        of_set.flat_map(|class| &class.pairs).collect()
    }

    fn alpha_line(&self) -> String {
        match (&self.gamma, &self.gamma_unknown) {
            (Some(gamma), _) => format!(" alpha = class maximum / {}\n", gamma.words()),
            (None, Some(reason)) => format!(" alpha is unknown: {}\n", printable(reason)),
            (None, None) => String::new(),
        }
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
            text += &format!(" - {}\n", printable(note));
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
        // Classes of every initiator would make a table as wide as the machine.
        if kinds.is_empty() || self.per_initiator {
            return String::new();
        }
        let classes = self.classes.iter().map(|class| format!("class {}", class.class));
        let header: Vec<String> = std::iter::once(String::new()).chain(classes).collect();
        let cell = |class: &ClassView, kind: &ClassFigureView| {
            let figure = class.others.iter().find(|figure| figure.is_like(kind));
            figure.map_or("-".into(), |figure| range_text(figure.max_gb_per_s, figure.min_gb_per_s))
        };
        let rows = kinds
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
            table(header, rows, 1)
        )
    }

    /// The class map: pairs by initiator and node, with borders between classes.
    #[must_use]
    pub fn map(&self) -> String {
        let pairs = || self.classes.iter().flat_map(|class| &class.pairs);
        let rows: InitiatorSet = pairs().map(|pair| pair.index).collect();
        let columns: NodeSet = pairs().map(|pair| pair.memory_node).collect();
        let nodes: Vec<u32> = columns.iter().collect();
        let mut cells = vec![vec![None; nodes.len()]; rows.len()];
        let numbers: Vec<u32> = rows.iter().collect();
        for class in &self.classes {
            for pair in &class.pairs {
                let row = numbers.binary_search(&pair.index);
                let column = nodes.binary_search(&pair.memory_node);
                if let (Ok(row), Ok(column)) = (row, column) {
                    cells[row][column] = Some(MapCell {
                        gb_per_s: pair.gb_per_s,
                        set: class.index,
                        class: class.class,
                    });
                }
            }
        }
        let label = |number: &u32| initiators(self.initiator, &InitiatorSet::single(*number));
        let map = ClassMap {
            columns: nodes.iter().map(|node| format!("node {node}")).collect(),
            rows: numbers
                .iter()
                .zip(cells)
                .map(|(number, cells)| MapRow { label: label(number), cells })
                .collect(),
        };
        format!(
            "Map: GB/s and (class); rows: who accesses; columns: whose memory\n{}",
            map.text(WIDTH)
        )
    }
}

impl GammaView {
    /// `17.067 GB/s (DDR3-2133, of a channel; JEDEC ..)`
    pub(crate) fn words(&self) -> String {
        let scope = match self.scope {
            Scope::Channel => ", one channel",
            Scope::Stack => ", one stack",
            Scope::Node => ", one memory node",
            Scope::Link => ", one link",
            Scope::Given => "",
        };
        format!(
            "{} GB/s ({}{scope}; {})",
            format_significant(self.gb_per_s, 4),
            printable(&self.name),
            printable(&self.source)
        )
    }
}

impl ClassFigureView {
    fn is_like(&self, other: &Self) -> bool {
        self.kernel == other.kernel && self.threads == other.threads
    }
}

/// What to know of a class, in brackets after its pairs.
fn marks(class: &ClassView) -> String {
    let words: Vec<&str> = [
        (class.wide, "spans over 10 %"),
        (class.widened_by_noise, "wider by noise"),
        (class.border_within_noise, "the next class is within the noise"),
    ]
    .into_iter()
    .filter_map(|(holds, word)| holds.then_some(word))
    .collect();
    if words.is_empty() { String::new() } else { format!("\n[{}]", words.join("; ")) }
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
