//! Rows by columns of cells, as most experiments give them.

use crate::figure::Unit;
use crate::table::{Cell, Column, Table};

/// A grid with the rows and columns in the order in which they first come.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    rows: Vec<String>,
    columns: Vec<String>,
    cells: Vec<(usize, usize, Cell)>,
}

impl Grid {
    /// One whose columns come in this order.
    pub fn with_columns(columns: impl Iterator<Item = String>) -> Self {
        Self { columns: columns.collect(), ..Self::default() }
    }

    /// Adds a cell; of several at one place the first counts.
    pub fn add(&mut self, row: String, column: String, cell: Cell) {
        let row = position(&mut self.rows, row);
        let column = position(&mut self.columns, column);
        if !self.cells.iter().any(|(at, beside, _)| (*at, *beside) == (row, column)) {
            self.cells.push((row, column, cell));
        }
    }

    /// As a table; `None` for an empty one.
    pub fn table(self, caption: String, corner: &str, unit: Unit) -> Option<Table> {
        if self.rows.is_empty() {
            return None;
        }
        let mut rows: Vec<Vec<Cell>> = self
            .rows
            .into_iter()
            .map(|row| {
                let empty = std::iter::repeat_with(|| Cell::Empty).take(self.columns.len());
                std::iter::once(Cell::text(row)).chain(empty).collect()
            })
            .collect();
        for (row, column, cell) in self.cells {
            rows[row][column + 1] = cell;
        }
        let columns = self.columns.into_iter().map(|name| Column::of(name, unit));
        let columns = std::iter::once(Column::words(corner)).chain(columns).collect();
        Some(Table { caption, columns, rows, notes: Vec::new() })
    }
}

fn position(names: &mut Vec<String>, name: String) -> usize {
    names.iter().position(|known| *known == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    })
}
