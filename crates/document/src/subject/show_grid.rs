//! Tables whose rows and columns are coordinates of cases.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::terminal::table::table_in_blocks;

/// Each value once, where it comes first.
pub(crate) fn in_order<T: Clone + Eq + Hash>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut known = HashSet::new();
    values.into_iter().filter(|value| known.insert(value.clone())).collect()
}

pub(crate) struct Side<Key, Of, Label> {
    /// What stands there, in order.
    pub keys: Vec<Key>,
    /// Where a view stands.
    pub of: Of,
    /// The words for it.
    pub label: Label,
}

/// More cells than this are no table for people; a stranger's record can have coordinates that
/// no two cases share.
const MOST_CELLS: usize = 40_000;

/// A table of what `cell` says of the first view at each place; `blank` says it of a place that
/// has none.
pub(crate) fn grid<'v, V, Row: Eq + Hash, Column: Eq + Hash>(
    views: &[&'v V],
    rows: &Side<Row, impl Fn(&'v V) -> Row, impl Fn(&Row) -> String>,
    columns: &Side<Column, impl Fn(&'v V) -> Column, impl Fn(&Column) -> String>,
    mut cell: impl FnMut(&'v V) -> String,
    blank: impl Fn(&Row, &Column) -> String,
) -> String {
    if rows.keys.len().saturating_mul(columns.keys.len()) > MOST_CELLS {
        return format!(
            " {} rows and {} columns are too many for a table; --json has them\n",
            rows.keys.len(),
            columns.keys.len()
        );
    }
    let mut at: HashMap<(Row, Column), &V> = HashMap::new();
    for view in views {
        at.entry(((rows.of)(view), (columns.of)(view))).or_insert(view);
    }
    let by_row: HashMap<&Row, HashMap<&Column, &&V>> =
        at.iter().fold(HashMap::new(), |mut by_row, ((row, column), view)| {
            by_row.entry(row).or_default().insert(column, view);
            by_row
        });
    let lines: Vec<Vec<String>> = rows
        .keys
        .iter()
        .map(|row| {
            let of_row = by_row.get(row);
            let cells = columns.keys.iter().map(|column| {
                let view = of_row.and_then(|of_row| of_row.get(column));
                view.map_or_else(|| blank(row, column), |view| cell(view))
            });
            std::iter::once((rows.label)(row)).chain(cells).collect()
        })
        .collect();
    let header: Vec<String> =
        std::iter::once(String::new()).chain(columns.keys.iter().map(&columns.label)).collect();
    table_in_blocks(&header, &lines)
}

/// Such a table where a place without a view is a dot, and a line below it that says so.
pub(crate) fn dotted_grid<'v, V, Row: Eq + Hash, Column: Eq + Hash>(
    views: &[&'v V],
    rows: &Side<Row, impl Fn(&'v V) -> Row, impl Fn(&Row) -> String>,
    columns: &Side<Column, impl Fn(&'v V) -> Column, impl Fn(&Column) -> String>,
    cell: impl FnMut(&'v V) -> String,
) -> String {
    let has_dots = Cell::new(false);
    let dot = |_: &Row, _: &Column| {
        has_dots.set(true);
        ".".into()
    };
    let text = grid(views, rows, columns, cell, dot);
    if has_dots.get() { text + " . the record has no such case\n" } else { text }
}
