//! The class map: the matrix of initiators and memory nodes with borders where
//! the class changes. The number in brackets is the class, so that nothing is told
//! by colour alone.

use nearfar_units::format_significant;

/// A matrix of classed values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClassMap {
    /// Labels of the columns.
    pub columns: Vec<String>,
    /// Rows, each with as many cells as there are columns.
    pub rows: Vec<MapRow>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MapRow {
    pub label: String,
    pub cells: Vec<MapCell>,
}

/// A pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum MapCell {
    /// It has a figure and is in a class.
    Classed {
        gb_per_s: f64,
        /// Classes of different sets are different even where their numbers are equal.
        set: Option<u32>,
        class: usize,
    },
    /// The machine refused it.
    Refused,
    /// It was not measured in the way that is classed.
    NotMeasured,
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
    /// The map in lines of at most `width` characters where a single column fits
    /// into them; the columns of a wide machine are set in blocks below each other.
    pub fn text(&self, width: usize) -> String {
        let cell_texts = self.rows.iter().flat_map(|row| &row.cells).map(|cell| cell.text());
        let cell_width = cell_texts
            .chain(self.columns.iter().cloned())
            .map(|text| text.chars().count() + 2)
            .max()
            .unwrap_or(0);
        let label_width =
            self.rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0) + 2;
        let columns = (width.saturating_sub(label_width + 1) / (cell_width + 1)).max(1);
        let slowest = self.slowest();
        let blocks: Vec<String> = (0..self.columns.len())
            .step_by(columns)
            .map(|first| {
                let last = (first + columns).min(self.columns.len());
                Block { map: self, first, last, cell_width, label_width, slowest }.text()
            })
            .collect();
        blocks.join("\n")
    }

    /// Number of the slowest class, over all sets.
    fn slowest(&self) -> usize {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        cells.filter_map(|cell| cell.class()).max().unwrap_or(0)
    }
}

impl MapCell {
    fn class(self) -> Option<usize> {
        match self {
            Self::Classed { class, .. } => Some(class),
            Self::Refused | Self::NotMeasured => None,
        }
    }

    /// Whether no border stands between the two.
    fn is_like(self, other: Self) -> bool {
        match (self, other) {
            (
                Self::Classed { set, class, .. },
                Self::Classed { set: other_set, class: other_class, .. },
            ) => (set, class) == (other_set, other_class),
            _ => self == other,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Classed { gb_per_s, class, .. } => {
                format!("{} ({class})", format_significant(gb_per_s, 3))
            }
            Self::Refused => "refused".into(),
            Self::NotMeasured => "-".into(),
        }
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

/// Columns `first..last` of a map.
struct Block<'a> {
    map: &'a ClassMap,
    first: usize,
    last: usize,
    cell_width: usize,
    label_width: usize,
    slowest: usize,
}

impl Block<'_> {
    fn text(&self) -> String {
        let mut text = " ".repeat(self.label_width + 1);
        for label in &self.map.columns[self.first..self.last] {
            text += &format!("{label:>width$}  ", width = self.cell_width - 1);
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        let rows = self.map.rows.len();
        for row in 0..rows {
            text += &self.line_above(row);
            text += &self.row(row);
        }
        text + &self.line_above(rows)
    }

    fn cell(&self, row: usize, column: usize) -> MapCell {
        self.map.rows[row].cells[column]
    }

    /// Whether a line stands left of a column; no row is above the first or below the last.
    fn line_left_of(&self, row: Option<usize>, column: usize) -> bool {
        row.is_some_and(|row| {
            column == self.first
                || column == self.last
                || !self.cell(row, column - 1).is_like(self.cell(row, column))
        })
    }

    fn has_line_above(&self, row: usize, column: usize) -> bool {
        (self.first..self.last).contains(&column)
            && (row == 0
                || row == self.map.rows.len()
                || !self.cell(row - 1, column).is_like(self.cell(row, column)))
    }

    /// Left out where the class changes in no column.
    fn line_above(&self, row: usize) -> String {
        if !(self.first..self.last).any(|column| self.has_line_above(row, column)) {
            return String::new();
        }
        let above = row.checked_sub(1);
        let below = (row < self.map.rows.len()).then_some(row);
        let mut text = " ".repeat(self.label_width);
        for column in self.first..=self.last {
            let left = column > self.first && self.has_line_above(row, column - 1);
            let right = self.has_line_above(row, column);
            let joint = usize::from(self.line_left_of(above, column))
                | usize::from(self.line_left_of(below, column)) << 1
                | usize::from(left) << 2
                | usize::from(right) << 3;
            text.push(JOINTS[joint]);
            if column < self.last {
                let line = if right { "─" } else { " " };
                text += &line.repeat(self.cell_width);
            }
        }
        text + "\n"
    }

    fn row(&self, row: usize) -> String {
        let MapRow { label, cells } = &self.map.rows[row];
        let mut text = format!(" {label:<width$}", width = self.label_width - 1);
        for (column, cell) in cells.iter().enumerate().take(self.last).skip(self.first) {
            text.push(if self.line_left_of(Some(row), column) { '│' } else { ' ' });
            let colour = cell.class().map_or(String::new(), |class| colour(class, self.slowest));
            let reset = if colour.is_empty() { "" } else { "\u{1b}[0m" };
            text +=
                &format!("{colour}{:>width$} {reset}", cell.text(), width = self.cell_width - 1);
        }
        text + "│\n"
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    use super::*;
    use crate::terminal::paragraph::WIDTH;

    /// A map from rows of (GB/s, class); a class of 9 stands for not measured, 8 for refused.
    fn map(rows: &[&[(f64, usize)]]) -> ClassMap {
        let cell = |&(gb_per_s, class): &(f64, usize)| match class {
            9 => MapCell::NotMeasured,
            8 => MapCell::Refused,
            _ => MapCell::Classed { gb_per_s, set: None, class },
        };
        ClassMap {
            columns: (0..rows[0].len()).map(|node| format!("node {node}")).collect(),
            rows: (0..)
                .zip(rows)
                .map(|(index, cells)| MapRow {
                    label: format!("cluster {index}"),
                    cells: cells.iter().map(cell).collect(),
                })
                .collect(),
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
        of_two_sets.rows[1].cells[0] = MapCell::Classed { gb_per_s: 9.0, set: Some(1), class: 0 };
        let wide = map(&[&[(9.0, 0), (3.0, 1), (3.0, 1), (3.0, 1), (3.0, 1)]]);
        let drawn = [
            plain(&two_packages.text(100)),
            rows_alike.text(100),
            refused.text(100),
            of_two_sets.text(100),
            plain(&wide.text(36)),
        ];
        expect_file!["../../tests/golden/class_map.txt"].assert_eq(&drawn.join("\n\n"));
        assert_eq!(plain(&wide.text(0)).lines().count(), 5 * 5 - 1, "one column each at the least");
    }

    #[test]
    fn sixty_four_nodes_keep_to_the_width() {
        let rows: Vec<Vec<(f64, usize)>> = (0..64)
            .map(|row| (0..64).map(|column| (1.5, usize::from(row != column))).collect())
            .collect();
        let rows: Vec<&[(f64, usize)]> = rows.iter().map(Vec::as_slice).collect();
        let text = plain(&map(&rows).text(WIDTH));
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
        assert_eq!(text.matches("1.50 (0)").count(), 64);
        assert_eq!(text.matches("1.50 (1)").count(), 64 * 63);
    }

    #[test]
    fn cells_are_coloured_by_class() {
        let text = map(&[&[(9.0, 0), (3.0, 1)]]).text(100);
        let row = text.lines().nth(2).unwrap();
        assert_eq!(
            row,
            " cluster 0 │\u{1b}[48;5;227m\u{1b}[38;5;16m 9.00 (0) \u{1b}[0m│\
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
