//! Rows by columns of cells, each coloured by one of its statistics.

use serde::Serialize;

use super::{Selectors, drawn, position, words};
use crate::figure::{Behind, Figure};
use crate::table::{AbsenceKind, Cell};

/// Layers of cells over the same rows and columns.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct HeatMap {
    row_title: &'static str,
    column_title: &'static str,
    rows: Vec<String>,
    columns: Vec<String>,
    selectors: Selectors,
    /// What cells can be coloured by.
    statistics: Vec<Statistic>,
    /// What the numbers of groups are, where cells have such; borders part unlike neighbours.
    groups: Option<&'static str>,
    layers: Vec<Layer>,
    /// Why cells are hatched; a cell names its reason by position.
    reasons: Vec<String>,
    /// Why there is nothing where nothing stands, where that is known.
    blank: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
struct Statistic {
    name: &'static str,
    unit: &'static str,
    /// Whether less is better.
    less: bool,
}

#[derive(Debug, Clone, Serialize)]
struct Layer {
    choice: Vec<usize>,
    cells: Vec<HeatCell>,
}

/// A cell: figures by statistic, or the reason why there are none.
#[derive(Debug, Clone, Serialize)]
struct HeatCell {
    row: usize,
    column: usize,
    /// A value and its text for each statistic, null where there is none.
    figures: Vec<Option<(f64, String)>>,
    /// What hovering shows, in lines.
    words: Vec<String>,
    /// The samples behind the first figure that has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    behind: Option<Behind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<usize>,
    /// How it is absent, and the position of the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<(&'static str, usize)>,
}

/// Where a cell stands.
pub(crate) struct Place {
    /// An option of each selector.
    pub choice: Vec<String>,
    pub row: String,
    pub column: String,
}

/// What stands in a cell.
pub(crate) enum Content {
    /// A figure for each statistic, and the group of the cell.
    Figures(Vec<Option<Figure>>, Option<usize>),
    /// Why there is none.
    Absent(AbsenceKind, String),
}

impl Content {
    /// Figures, or why the first of them is absent.
    pub fn of(cell: Cell, others: Vec<Option<Figure>>) -> Option<Self> {
        match cell {
            Cell::Figure(figure) => {
                let figures = std::iter::once(Some(figure)).chain(others).collect();
                Some(Self::Figures(figures, None))
            }
            Cell::Absent { kind, why } => Some(Self::Absent(kind, why)),
            Cell::Text(_) | Cell::Empty => None,
        }
    }
}

impl HeatMap {
    /// An empty one. Statistics: a name, a unit, and whether less is better.
    pub fn new(
        [row_title, column_title]: [&'static str; 2],
        selectors: &[&'static str],
        statistics: &[(&'static str, &'static str, bool)],
    ) -> Self {
        let statistics =
            statistics.iter().map(|&(name, unit, less)| Statistic { name, unit, less }).collect();
        Self {
            row_title,
            column_title,
            rows: Vec::new(),
            columns: Vec::new(),
            selectors: Selectors::new(selectors),
            statistics,
            groups: None,
            layers: Vec::new(),
            reasons: Vec::new(),
            blank: None,
        }
    }

    /// Cells have groups of this name.
    pub fn group_as(&mut self, name: &'static str) {
        self.groups = Some(name);
    }

    /// Why there is nothing where nothing stands.
    pub fn explain_blanks(&mut self, why: Option<String>) {
        self.blank = why;
    }

    /// The first columns, where their order is not that of the cells.
    pub fn set_columns(&mut self, columns: Vec<String>) {
        self.columns = columns;
    }

    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Adds a cell; of several at one place the first counts.
    pub fn add(&mut self, place: &Place, content: Content) {
        let choice = self.selectors.choose(&place.choice);
        let row = position(&mut self.rows, &place.row);
        let column = position(&mut self.columns, &place.column);
        let known = self.layers.iter().position(|layer| layer.choice == choice);
        let layer = known.unwrap_or_else(|| {
            self.layers.push(Layer { choice, cells: Vec::new() });
            self.layers.len() - 1
        });
        if self.layers[layer].cells.iter().any(|cell| (cell.row, cell.column) == (row, column)) {
            return;
        }
        let cell = match content {
            Content::Figures(figures, group) => self.figures(row, column, &figures, group),
            Content::Absent(kind, why) => HeatCell {
                row,
                column,
                figures: Vec::new(),
                words: vec![format!("{}: {why}", kind.as_str())],
                behind: None,
                group: None,
                absent: Some((kind.as_str(), position(&mut self.reasons, &why))),
            },
        };
        self.layers[layer].cells.push(cell);
    }

    fn figures(
        &self,
        row: usize,
        column: usize,
        figures: &[Option<Figure>],
        group: Option<usize>,
    ) -> HeatCell {
        let told = self.statistics.iter().zip(figures).filter_map(|(statistic, figure)| {
            Some(format!("{}: {}", statistic.name, words(figure.as_ref()?)))
        });
        let grouped = self.groups.zip(group).map(|(name, group)| format!("{name} {group}"));
        let behind = figures.iter().flatten().find_map(|figure| figure.behind.clone());
        HeatCell {
            row,
            column,
            figures: figures
                .iter()
                .map(|figure| {
                    let figure = figure.as_ref()?;
                    let mark = if figure.only_disturbed { "!" } else { "" };
                    Some((drawn(figure.value), format!("{}{mark}", figure.text)))
                })
                .collect(),
            words: told.chain(grouped).collect(),
            behind,
            group,
            absent: None,
        }
    }

    /// The samples behind its cells.
    pub fn behind(&self) -> impl Iterator<Item = &Behind> {
        let cells = self.layers.iter().flat_map(|layer| &layer.cells);
        cells.filter_map(|cell| cell.behind.as_ref())
    }
}
