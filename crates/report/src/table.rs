//! Tables for terminals.

use std::ops::Range;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// A table with a header line, columns from `first_number` on set right.
pub(crate) fn table(header: Vec<String>, rows: Vec<Vec<String>>, first_number: usize) -> String {
    let columns = header.len();
    table_with_numbers(header, rows, first_number..columns)
}

/// A table with a header line, the columns `numbers` set right.
pub(crate) fn table_with_numbers(
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    numbers: Range<usize>,
) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    table.add_rows(rows);
    for column in numbers {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let text: Vec<String> =
        table.to_string().lines().map(|line| format!(" {}", line.trim_end())).collect();
    text.join("\n") + "\n"
}
