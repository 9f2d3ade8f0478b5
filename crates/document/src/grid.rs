//! Rows by columns of cells, as most experiments give them.

use std::collections::HashMap;
use std::hash::Hash;

use crate::figure::Unit;
use crate::table::{Cell, Column, Table};

/// A grid with the rows and columns in the order in which they first come.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    rows: Names,
    columns: Names,
    cells: HashMap<(usize, usize), Cell>,
}

/// More cells than this are no table for people; a stranger's record can have coordinates that
/// no two cases share.
const MOST_CELLS: usize = 40_000;

impl Grid {
    /// One whose columns come in this order.
    pub fn with_columns(columns: impl Iterator<Item = String>) -> Self {
        let mut grid = Self::default();
        for column in columns {
            grid.columns.position(column);
        }
        grid
    }

    /// Adds a cell; of several at one place the first counts.
    pub fn add(&mut self, row: String, column: String, cell: Cell) {
        let place = (self.rows.position(row), self.columns.position(column));
        self.cells.entry(place).or_insert(cell);
    }

    /// As a table; `None` for an empty one.
    pub fn table(mut self, caption: String, corner: &str, unit: Unit) -> Option<Table> {
        let (rows, columns) = (self.rows.known.len(), self.columns.known.len());
        if rows == 0 {
            return None;
        }
        if rows.saturating_mul(columns) > MOST_CELLS {
            let note = format!(
                "{rows} rows and {columns} columns are too many for a table; --json has them."
            );
            let columns = vec![Column::words(corner)];
            return Some(Table::new(caption, columns, Vec::new()).with_notes(vec![note]));
        }
        let rows = self.rows.known.into_iter().enumerate().map(|(row, name)| {
            let cells =
                (0..columns).map(|column| self.cells.remove(&(row, column)).unwrap_or(Cell::Empty));
            std::iter::once(Cell::Text(name)).chain(cells).collect::<Vec<Cell>>()
        });
        let columns = self.columns.known.into_iter().map(|name| Column::of(name, unit));
        let columns = std::iter::once(Column::words(corner)).chain(columns);
        Some(Table::new(caption, columns, rows))
    }
}

/// Names in the order in which they first come.
#[derive(Debug, Default)]
struct Names {
    known: Vec<String>,
    positions: HashMap<String, usize>,
}

impl Names {
    fn position(&mut self, name: String) -> usize {
        let next = self.known.len();
        *self.positions.entry(name).or_insert_with_key(|name| {
            self.known.push(name.clone());
            next
        })
    }
}

/// Things by what they have in common, in the order of the first of each.
pub(crate) fn groups<'v, V, Key: Clone + Eq + Hash>(
    things: impl IntoIterator<Item = &'v V>,
    key: impl Fn(&'v V) -> Key,
) -> Vec<(Key, Vec<&'v V>)> {
    let mut positions: HashMap<Key, usize> = HashMap::new();
    let mut groups: Vec<(Key, Vec<&V>)> = Vec::new();
    for thing in things {
        let key = key(thing);
        let position = *positions.entry(key.clone()).or_insert(groups.len());
        if position == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[position].1.push(thing);
    }
    groups
}
