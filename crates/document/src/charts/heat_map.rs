//! Rows by columns of cells, each coloured by one of its statistics.

use std::iter;

use serde::Serialize;

use super::{Selectors, drawn, position, words};
use crate::figure::{Behind, Figure};
use crate::table::Cell;

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
    /// The layer that is shown before anything is chosen, where it is not the fullest.
    first: Option<Vec<usize>>,
}

#[derive(Debug, Clone, Serialize)]
struct Statistic {
    name: &'static str,
    unit: &'static str,
    /// Whether less is better.
    less: bool,
    /// Why cells have no figure of it, where that is known.
    blank: Option<String>,
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

impl HeatMap {
    /// An empty one. Statistics: a name, a unit, and whether less is better.
    pub fn new(
        [row_title, column_title]: [&'static str; 2],
        selectors: &[&'static str],
        statistics: &[(&'static str, &'static str, bool)],
    ) -> Self {
        let statistic = |&(name, unit, less): &_| Statistic { name, unit, less, blank: None };
        let statistics = statistics.iter().map(statistic).collect();
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
            first: None,
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

    /// Why cells that have other figures have none of this statistic.
    pub fn explain_statistic(&mut self, name: &str, why: impl Into<String>) {
        if let Some(statistic) = self.statistics.iter_mut().find(|it| it.name == name) {
            statistic.blank = Some(why.into());
        }
    }

    /// What is shown before anything is chosen.
    pub fn show_first(&mut self, choice: &[String]) {
        self.first = Some(self.selectors.choose(choice));
    }

    /// The first rows, where their order is not that of the cells.
    pub fn set_rows(&mut self, rows: Vec<String>) {
        self.rows = rows;
    }

    /// The first columns, where their order is not that of the cells.
    pub fn set_columns(&mut self, columns: Vec<String>) {
        self.columns = columns;
    }

    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Adds a cell with what else is known of it, a figure for each further statistic; of several at
    /// one place the first counts. Words are not drawn.
    pub fn add(&mut self, place: &Place, cell: Cell, others: Vec<Option<Figure>>) {
        self.add_of_group(place, cell, others, None);
    }

    /// The same of a cell that is of a group.
    pub fn add_of_group(
        &mut self,
        place: &Place,
        cell: Cell,
        others: Vec<Option<Figure>>,
        group: Option<usize>,
    ) {
        let (figures, absent) = match cell {
            Cell::Figure(figure) => (iter::once(Some(figure)).chain(others).collect(), None),
            Cell::Absent { kind, why } => (Vec::new(), Some((kind.as_str(), why))),
            Cell::Text(_) | Cell::Empty => return,
        };
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
        let told = self.statistics.iter().zip(&figures).filter_map(|(statistic, figure)| {
            Some(format!("{}: {}", statistic.name, words(figure.as_ref()?)))
        });
        let grouped = self.groups.zip(group).map(|(name, group)| format!("{name} {group}"));
        let why = absent.as_ref().map(|(kind, why)| format!("{kind}: {why}"));
        let drawn = |figure: &Option<Figure>| {
            let figure = figure.as_ref()?;
            let mark = if figure.only_disturbed { "!" } else { "" };
            Some((drawn(figure.value), format!("{}{mark}", figure.text)))
        };
        let cell = HeatCell {
            row,
            column,
            words: told.chain(grouped).chain(why).collect(),
            behind: figures.iter().flatten().find_map(|figure| figure.behind.clone()),
            figures: figures.iter().map(drawn).collect(),
            group,
            absent: absent.map(|(kind, why)| (kind, position(&mut self.reasons, &why))),
        };
        self.layers[layer].cells.push(cell);
    }

    /// Adds a layer as a whole: a figure of the first statistic for each row and column, or none.
    pub fn fill(
        &mut self,
        choice: &[String],
        rows: &[String],
        columns: Vec<String>,
        figure: impl Fn(usize, usize) -> Option<Figure>,
    ) {
        let choice = self.selectors.choose(choice);
        let columns: Vec<usize> =
            columns.iter().map(|name| position(&mut self.columns, name)).collect();
        let name = self.statistics[0].name;
        let mut cells = Vec::with_capacity(rows.len() * columns.len());
        for (row, named) in rows.iter().enumerate() {
            if row == self.rows.len() {
                self.rows.push(named.clone());
            }
            cells.extend(columns.iter().enumerate().filter_map(|(place, &column)| {
                let figure = figure(row, place)?;
                Some(HeatCell {
                    row,
                    column,
                    words: vec![format!("{name}: {}", words(&figure))],
                    figures: vec![Some((drawn(figure.value), figure.text))],
                    behind: None,
                    group: None,
                    absent: None,
                })
            }));
        }
        self.layers.push(Layer { choice, cells });
    }

    /// The samples behind its cells.
    pub fn behind(&self) -> impl Iterator<Item = &Behind> {
        let cells = self.layers.iter().flat_map(|layer| &layer.cells);
        cells.filter_map(|cell| cell.behind.as_ref())
    }
}
