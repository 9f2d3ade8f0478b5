//! The class map: the matrix of groups of CPUs and memory nodes with borders where
//! the class changes. The number in brackets is the class, so that nothing is told
//! by colour alone.

use std::collections::BTreeMap;

use nearfar_machine::{CpuGroupSet, NodeSet};
use nearfar_model::Classes;
use nearfar_units::format_significant;

use super::pair_words::group_label;
use super::who::Who;
use crate::answer::Room;

/// The map of a record's classes, for terminals in colours.
pub(crate) fn class_map(model: &Classes, who: &Who, is_coloured: bool) -> ClassMap {
    let mut pairs: BTreeMap<(u32, u32), MapCell> = BTreeMap::new();
    for out in &model.left_out {
        let text = if out.refused.is_some() { "refused" } else { NOT_MEASURED };
        pairs.insert((out.cpu_group, out.memory_node), MapCell::without_class(text));
    }
    for set in &model.sets {
        for class in &set.classes {
            pairs.extend(class.pairs.iter().map(|pair| {
                let text = format!("{} ({})", format_significant(pair.best / 1e9, 3), class.class);
                let class = Some((set.cpu_group, class.class));
                ((pair.cpu_group, pair.memory_node), MapCell { text, class })
            }));
        }
    }
    let rows: CpuGroupSet = pairs.keys().map(|&(index, _)| index).collect();
    let columns: NodeSet = pairs.keys().map(|&(_, node)| node).collect();
    let mut cell = |index: u32, node: u32| {
        pairs.remove(&(index, node)).unwrap_or_else(|| MapCell::without_class(NOT_MEASURED))
    };
    let mut row = |index: u32| {
        (
            group_label(model.group_by, index, who),
            columns.iter().map(|node| cell(index, node)).collect(),
        )
    };
    ClassMap {
        columns: columns.iter().map(|node| format!("node {node}")).collect(),
        rows: rows.iter().map(&mut row).collect(),
        is_coloured,
    }
}

/// Characters of a line of it in a document.
pub(crate) const MAP_WIDTH: usize = 100;

/// Of a pair that was not measured in the way that is classed.
const NOT_MEASURED: &str = "-";

/// A matrix of classed values.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassMap {
    columns: Vec<String>,
    /// Labels and cells, as many as there are columns.
    rows: Vec<(String, Vec<MapCell>)>,
    is_coloured: bool,
}

/// A pair.
#[derive(Debug, Clone, PartialEq)]
struct MapCell {
    text: String,
    /// Set and number; classes of different sets are different even where their numbers are equal.
    class: Option<(Option<u32>, usize)>,
}

/// Background and foreground of classes from the fastest to the slowest, as indexes
/// of the terminal's 256 colours: from yellow over grey to blue as in the cividis map (Nunez
/// and others, 2018), so that lightness falls steadily, also for the colour-blind. Both are set, so that
/// the terminal's own background does not matter.
const PALETTE: [(u8, u8); 6] = [(227, 16), (185, 16), (143, 16), (102, 16), (60, 231), (17, 231)];

/// Box-drawing characters by the lines that meet: 1 up, 2 down, 4 left, 8 right.
const JOINTS: [char; 16] =
    [' ', '╵', '╷', '│', '╴', '┘', '┐', '┤', '╶', '└', '┌', '├', '─', '┴', '┬', '┼'];

impl ClassMap {
    /// The map with what it shows above it, as [`Self::lines`]. Where that takes several blocks
    /// the first screen's has the classes alone, whose bandwidths a table has.
    pub(crate) fn text(&self, room: Room) -> String {
        let map = if room.full || self.fits(room.width) { self } else { &self.of_classes() };
        let shows = if map == self { "GB/s and (class)" } else { "classes" };
        format!("Map: {shows}; rows: CPUs; columns: memory\n{}", map.lines(room.width))
    }

    fn of_classes(&self) -> Self {
        let class = |cell: &MapCell| match cell.class {
            Some((_, class)) => MapCell { text: class.to_string(), class: cell.class },
            None => cell.clone(),
        };
        let number = |column: &String| column.trim_start_matches("node ").to_string();
        let row = |(label, cells): &(String, Vec<MapCell>)| {
            (label.clone(), cells.iter().map(class).collect())
        };
        Self {
            columns: self.columns.iter().map(number).collect(),
            rows: self.rows.iter().map(row).collect(),
            is_coloured: self.is_coloured,
        }
    }

    /// Whether all columns stand beside each other.
    fn fits(&self, width: usize) -> bool {
        self.columns_of_a_block(width) >= self.columns.len()
    }

    /// Widths of a label and of a cell.
    fn widths(&self) -> [usize; 2] {
        let longest = |texts: &mut dyn Iterator<Item = &String>| {
            texts.map(|text| text.chars().count()).max().unwrap_or(0) + 2
        };
        let cells = self.rows.iter().flat_map(|(_, cells)| cells);
        [
            longest(&mut self.rows.iter().map(|(label, _)| label)),
            longest(&mut cells.map(|cell| &cell.text).chain(&self.columns)),
        ]
    }

    fn columns_of_a_block(&self, width: usize) -> usize {
        let [label_width, cell_width] = self.widths();
        (width.saturating_sub(label_width + 1) / (cell_width + 1)).max(1)
    }

    /// The map in lines of at most `width` characters where a single column fits
    /// into them; the columns of a wide machine are set in blocks below each other.
    fn lines(&self, width: usize) -> String {
        let cells = || self.rows.iter().flat_map(|(_, cells)| cells);
        let [label_width, cell_width] = self.widths();
        let columns = self.columns_of_a_block(width);
        let slowest = cells().filter_map(|cell| cell.class).map(|(_, class)| class).max();
        let slowest = slowest.unwrap_or(0);
        let block = |first: usize| {
            let of_block = first..(first + columns).min(self.columns.len());
            let row = |(label, cells): &'_ (String, Vec<MapCell>)| {
                (label.clone(), cells[of_block.clone()].to_vec())
            };
            let map = Self {
                columns: self.columns[of_block.clone()].to_vec(),
                rows: self.rows.iter().map(row).collect(),
                is_coloured: self.is_coloured,
            };
            Block { map, cell_width, label_width, slowest }.text()
        };
        let blocks: Vec<String> = (0..self.columns.len()).step_by(columns).map(block).collect();
        blocks.join("\n")
    }

    /// The cell in a row and a column, both counted from 1; around all is nothing.
    fn cell(&self, row: usize, column: usize) -> Option<&MapCell> {
        let (_, cells) = self.rows.get(row.checked_sub(1)?)?;
        cells.get(column.checked_sub(1)?)
    }

    /// Whether a line stands between two cells.
    fn has_line(&self, one: (usize, usize), other: (usize, usize)) -> bool {
        match (self.cell(one.0, one.1), self.cell(other.0, other.1)) {
            (Some(one), Some(other)) => !one.is_like(other),
            (one, other) => one.is_some() || other.is_some(),
        }
    }
}

impl MapCell {
    fn without_class(text: &str) -> Self {
        Self { text: text.into(), class: None }
    }

    /// Whether no border stands between the two.
    fn is_like(&self, other: &Self) -> bool {
        self.class == other.class && (self.class.is_some() || self.text == other.text)
    }
}

/// Escape sequences before a cell of a class, when `slowest` is the slowest class's
/// number; nothing where all pairs are of one class.
fn colour(class: usize, slowest: usize) -> String {
    if slowest == 0 {
        return String::new();
    }
    let last = PALETTE.len() - 1;
    // Few classes take colours far apart.
    let step = if slowest <= last { (class * last + slowest / 2) / slowest } else { class };
    let (background, foreground) = PALETTE[step.min(last)];
    format!("\u{1b}[48;5;{background}m\u{1b}[38;5;{foreground}m")
}

/// Columns of a map that stand beside each other.
struct Block {
    map: ClassMap,
    cell_width: usize,
    label_width: usize,
    slowest: usize,
}

impl Block {
    fn text(&self) -> String {
        let mut text = " ".repeat(self.label_width + 1);
        for label in &self.map.columns {
            text += &format!("{label:>width$}  ", width = self.cell_width - 1);
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        for (row, (label, cells)) in (1..).zip(&self.map.rows) {
            text += &self.line_above(row);
            text += &self.row(row, label, cells);
        }
        text + &self.line_above(self.map.rows.len() + 1)
    }

    /// Left out where the class changes in no column.
    fn line_above(&self, row: usize) -> String {
        let columns = self.map.columns.len();
        let has_line = |column| self.map.has_line((row - 1, column), (row, column));
        if !(1..=columns).any(has_line) {
            return String::new();
        }
        let mut text = " ".repeat(self.label_width);
        for column in 1..=columns + 1 {
            let left_of = |row| self.map.has_line((row, column - 1), (row, column));
            let joint = usize::from(left_of(row - 1))
                | usize::from(left_of(row)) << 1
                | usize::from(has_line(column - 1)) << 2
                | usize::from(has_line(column)) << 3;
            text.push(JOINTS[joint]);
            if column <= columns {
                text += &if has_line(column) { "─" } else { " " }.repeat(self.cell_width);
            }
        }
        text + "\n"
    }

    fn row(&self, row: usize, label: &str, cells: &[MapCell]) -> String {
        let mut text = format!(" {label:<width$}", width = self.label_width - 1);
        for (column, cell) in (1..).zip(cells) {
            text.push(if self.map.has_line((row, column - 1), (row, column)) {
                '│'
            } else {
                ' '
            });
            let class = cell.class.filter(|_| self.map.is_coloured);
            let colour = class.map_or(String::new(), |(_, it)| colour(it, self.slowest));
            let reset = if colour.is_empty() { "" } else { "\u{1b}[0m" };
            text += &format!("{colour}{:>width$} {reset}", cell.text, width = self.cell_width - 1);
        }
        text + "│\n"
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    use super::*;

    const WIDTH: usize = 100;

    /// A map from rows of (GB/s, class); a class of 9 stands for not measured, 8 for refused.
    fn map(rows: &[&[(f64, usize)]]) -> ClassMap {
        let cell = |&(gb_per_s, class): &(f64, usize)| match class {
            9 => MapCell::without_class(NOT_MEASURED),
            8 => MapCell::without_class("refused"),
            _ => MapCell {
                text: format!("{} ({class})", format_significant(gb_per_s, 3)),
                class: Some((None, class)),
            },
        };
        ClassMap {
            columns: (0..rows[0].len()).map(|node| format!("node {node}")).collect(),
            rows: (0..)
                .zip(rows)
                .map(|(index, cells)| {
                    (format!("initiator {index}"), cells.iter().map(cell).collect())
                })
                .collect(),
            is_coloured: true,
        }
    }

    /// Without escape sequences; the text holds no other `m` after an escape.
    fn plain(text: &str) -> String {
        let mut parts = text.split('\u{1b}');
        let mut plain = parts.next().unwrap().to_string();
        parts.for_each(|part| plain += part.split_once('m').unwrap().1);
        plain
    }

    #[test]
    fn borders_stand_where_the_class_changes() {
        let two_packages = map(&[
            &[(9.3, 0), (5.6, 1), (3.1, 2), (3.1, 2)],
            &[(5.6, 1), (9.3, 0), (3.1, 2), (3.1, 2)],
            &[(3.1, 2), (3.1, 2), (9.3, 0), (5.6, 1)],
            &[(3.1, 2), (3.1, 2), (5.6, 1), (9.3, 0)],
        ]);
        let rows_alike = map(&[&[(12.0, 0), (0.0, 9)], &[(11.9, 0), (0.0, 9)]]);
        let refused = map(&[&[(12.0, 0), (0.0, 8)], &[(0.0, 8), (0.0, 9)]]);
        let mut of_two_sets = map(&[&[(9.0, 0)], &[(9.0, 0)]]);
        of_two_sets.rows[1].1[0].class = Some((Some(1), 0));
        let wide = map(&[&[(9.0, 0), (3.0, 1), (3.0, 1), (3.0, 1), (3.0, 1)]]);
        let drawn = [
            plain(&two_packages.lines(100)),
            rows_alike.lines(100),
            refused.lines(100),
            of_two_sets.lines(100),
            plain(&wide.lines(36)),
        ];
        expect_file!["../../tests/golden/class_map.txt"].assert_eq(&drawn.join("\n\n"));
        assert_eq!(
            plain(&wide.lines(0)).lines().count(),
            5 * 5 - 1,
            "one column each at the least"
        );
    }

    #[test]
    fn sixty_four_nodes_keep_to_the_width() {
        let rows: Vec<Vec<(f64, usize)>> = (0..64)
            .map(|row| (0..64).map(|column| (1.5, usize::from(row != column))).collect())
            .collect();
        let rows: Vec<&[(f64, usize)]> = rows.iter().map(Vec::as_slice).collect();
        let text = plain(&map(&rows).lines(WIDTH));
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
        assert_eq!(text.matches("1.50 (0)").count(), 64);
        assert_eq!(text.matches("1.50 (1)").count(), 64 * 63);
    }

    #[test]
    fn cells_are_coloured_by_class() {
        let text = map(&[&[(9.0, 0), (3.0, 1)]]).lines(100);
        let row = text.lines().nth(2).unwrap();
        assert_eq!(
            row,
            " initiator 0 │\u{1b}[48;5;227m\u{1b}[38;5;16m 9.00 (0) \u{1b}[0m│\
             \u{1b}[48;5;17m\u{1b}[38;5;231m 3.00 (1) \u{1b}[0m│"
        );
    }

    /// Relative luminance of one of the 256 colours (WCAG 2.1; xterm's colour cube).
    fn luminance(index: u8) -> f64 {
        const STEPS: [f64; 6] = [0.0, 95.0, 135.0, 175.0, 215.0, 255.0];
        let cube = usize::from(index - 16);
        let linear = |level: usize| {
            let value = STEPS[level] / 255.0;
            if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(cube / 36) + 0.7152 * linear(cube / 6 % 6) + 0.0722 * linear(cube % 6)
    }

    #[test]
    fn the_palette_can_be_read_and_darkens_steadily() {
        for (background, foreground) in PALETTE {
            let (a, b) = (luminance(background), luminance(foreground));
            let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            assert!(contrast >= 4.5, "{background} on {foreground}: {contrast:.1}");
        }
        for pair in PALETTE.windows(2) {
            let ratio = (luminance(pair[0].0) + 0.05) / (luminance(pair[1].0) + 0.05);
            assert!(ratio > 1.25, "{pair:?}: {ratio:.2}");
        }
    }

    #[test]
    fn few_classes_take_colours_far_apart_and_many_stay_in_the_palette() {
        assert_ne!(colour(0, 2), colour(1, 2));
        assert_eq!(colour(1, 1), colour(5, 5));
        let distinct: std::collections::BTreeSet<String> = (0..6).map(|c| colour(c, 5)).collect();
        assert_eq!(distinct.len(), 6);
        assert_eq!(colour(40, 60), colour(5, 5));
    }
}
