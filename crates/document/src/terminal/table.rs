//! Tables for terminals.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// A table whose columns behind those that name a row, the first `names`, are set in blocks below each
/// other where they are too many for this many characters; of all but the first numbers are set right.
/// Each block has the names, or as many of them as leave room for a figure.
pub(crate) fn columns_in_blocks(
    most: usize,
    header: &[String],
    rows: &[Vec<String>],
    names: usize,
    is_number: impl Fn(usize) -> bool,
) -> String {
    let named = |names: usize| (0..names).map(|it| width_of(header, rows, it)).sum::<usize>();
    let has_room = |names: &usize| {
        let widest = (*names..header.len()).map(|it| width_of(header, rows, it)).max();
        MARGIN + named(*names) + widest.unwrap_or(0) <= most + AT_END
    };
    let names = (1..=names).rev().find(has_room).unwrap_or(1);
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let mut width = most;
    for column in names..header.len() {
        width += width_of(header, rows, column);
        match blocks.last_mut() {
            Some(block) if width <= most + AT_END => block.push(column),
            _ => {
                width = MARGIN + named(names) + width_of(header, rows, column);
                blocks.push((0..names).chain([column]).collect());
            }
        }
    }
    let pick = |row: &[String], block: &[usize]| -> Vec<String> {
        block.iter().filter_map(|&column| row.get(column).cloned()).collect()
    };
    let tables: Vec<String> = blocks
        .iter()
        .map(|block| {
            let rows = rows.iter().map(|row| pick(row, block)).collect();
            let is_right = |at: usize| at > 0 && is_number(block[at]);
            aligned(pick(header, block), rows, is_right)
        })
        .collect();
    tables.join("\n")
}

/// Whether a table needs no more than this many characters.
pub(crate) fn fits(header: &[String], rows: &[Vec<String>], most: usize) -> bool {
    let columns = (0..header.len()).map(|column| width_of(header, rows, column));
    MARGIN + columns.sum::<usize>() <= most + AT_END
}

/// Characters of `most` that are left for a column where the others have what they need; a few in any case.
pub(crate) fn room_for(
    most: usize,
    header: &[String],
    rows: &[Vec<String>],
    column: usize,
) -> usize {
    const FEWEST: usize = 24;
    let others = (0..header.len()).filter(|&other| other != column);
    let taken: usize = others.map(|other| width_of(header, rows, other)).sum();
    (most + AT_END).saturating_sub(MARGIN + taken + PADDING).max(FEWEST)
}

/// Characters of a column with what stands around it.
fn width_of(header: &[String], rows: &[Vec<String>], column: usize) -> usize {
    let cells = std::iter::once(header).chain(rows.iter().map(Vec::as_slice));
    let lines = cells.filter_map(|row| row.get(column)).flat_map(|text| text.lines());
    lines.map(|line| line.chars().count()).max().unwrap_or(0) + PADDING
}

/// Spaces around a cell.
const PADDING: usize = 2;

/// Of these the last of a line, which nobody sees.
const AT_END: usize = 1;

/// Spaces before a table.
const MARGIN: usize = 1;

fn aligned(
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    is_right: impl Fn(usize) -> bool,
) -> String {
    let columns = header.len();
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    table.add_rows(rows);
    for column in (0..columns).filter(|&column| is_right(column)) {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let text: Vec<String> =
        table.to_string().lines().map(|line| format!(" {}", line.trim_end())).collect();
    text.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: usize = 100;

    #[test]
    fn every_block_has_all_columns_that_name_a_row() {
        let header = ["where", "threads", "of A", "of B"].map(String::from);
        let rows = ["1", "8"].map(|threads| ["local", threads, "7", "9"].map(String::from).into());
        let text = columns_in_blocks(22, &header, &rows, 2, |column| column > 0);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 7, "{text}");
        assert!(lines[5].contains("local") && lines[5].ends_with("1     9"), "{text}");
        // A table whose names leave no room repeats the first alone.
        let narrow = columns_in_blocks(16, &header, &rows, 2, |column| column > 0);
        assert!(narrow.lines().nth(1).is_some_and(|line| line.contains("local")), "{narrow}");
    }

    #[test]
    fn columns_that_do_not_fit_are_set_below_with_their_labels() {
        let header: Vec<String> = (0..40).map(|column| format!("column {column}")).collect();
        let rows: Vec<Vec<String>> =
            ["a", "b"].map(|row| (0..40).map(|column| format!("{row}{column}")).collect()).into();
        let text = columns_in_blocks(WIDTH, &header, &rows, 1, |_| true);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        for column in 1..40 {
            assert_eq!(
                text.matches(&format!("column {column} ")).count()
                    + text.matches(&format!("column {column}\n")).count(),
                1,
                "{column}"
            );
            assert_eq!(
                text.split_whitespace().filter(|word| *word == format!("b{column}")).count(),
                1
            );
        }
        let blocks = text.split("\n\n").count();
        assert!(blocks > 1);
        assert_eq!(text.split_whitespace().filter(|word| *word == "a0").count(), blocks);
        assert_eq!(columns_in_blocks(WIDTH, &header[..3], &[], 1, |_| true).lines().count(), 1);
    }
}
