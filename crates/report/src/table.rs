//! Tables for terminals.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// A table with a header line, columns from `first_number` on set right.
pub(crate) fn table(header: Vec<String>, rows: Vec<Vec<String>>, first_number: usize) -> String {
    let columns = header.len();
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    table.add_rows(rows);
    for column in first_number..columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let text: Vec<String> =
        table.to_string().lines().map(|line| format!(" {}", line.trim_end())).collect();
    text.join("\n") + "\n"
}
