//! A chart of copies over their size: a line for each place.

use std::io::{self, Write};

use nearfar_units::Bytes;

use super::escape::text;
use super::scaling_chart::LINES;
use crate::table::{Cell, Table};

/// More lines than these are not told apart on paper; the table has their figures.
const MOST_LINES: usize = 16;

/// Labels of the axis that stand beside each other.
const MOST_LABELS: usize = 8;

/// Draws the table of places by the bytes of a copy; nothing where there are fewer than two sizes.
pub(super) fn write_chart(table: &Table, out: &mut impl Write) -> io::Result<()> {
    let size = |row: &Vec<Cell>| match row.first() {
        Some(Cell::Text(words)) => words.parse::<Bytes>().ok().filter(|bytes| bytes.0 > 0),
        _ => None,
    };
    let rows: Vec<(u64, &Vec<Cell>)> =
        table.rows.iter().filter_map(|row| Some((size(row)?.0, row))).collect();
    let lines = table.columns.len().saturating_sub(1);
    if rows.len() < 2 || !(1..=MOST_LINES).contains(&lines) {
        return Ok(());
    }
    let labelled = || rows.iter().step_by(rows.len().div_ceil(MOST_LABELS));
    let ticks: Vec<String> = labelled().map(|(bytes, _)| bytes.to_string()).collect();
    let labels: Vec<String> =
        labelled().map(|(bytes, _)| text(&Bytes(*bytes).to_string())).collect();
    writeln!(
        out,
        "\\begin{{center}}\\begin{{tikzpicture}}\\begin{{axis}}[width=0.76\\linewidth,\
         height=0.38\\linewidth,xmode=log,log basis x=2,xlabel={{bytes of a copy}},\
         ylabel={{GB/s}},title={{{}}},xtick={{{}}},xticklabels={{{}}},ymin=0,grid=major,\
         legend pos=outer north east,legend cell align=left,\
         label style={{font=\\footnotesize}},tick label style={{font=\\scriptsize}},\
         title style={{font=\\small}},legend style={{font=\\scriptsize}}]",
        text(&table.caption),
        ticks.join(","),
        labels.join(",")
    )?;
    for (number, column) in table.columns.iter().enumerate().skip(1) {
        let at = number - 1;
        let (colour, _, dash) = LINES[at % LINES.len()];
        // Lines of one colour differ in their marks.
        let (_, mark, _) = LINES[(at + at / LINES.len()) % LINES.len()];
        let point = |(bytes, row): &(u64, &Vec<Cell>)| match row.get(number) {
            Some(Cell::Figure(figure)) if figure.value.is_finite() => {
                Some(format!("({bytes},{:.4e})", figure.value))
            }
            _ => None,
        };
        let points: String = rows.iter().filter_map(point).collect();
        if points.is_empty() {
            continue;
        }
        writeln!(
            out,
            "\\definecolor{{line{at}}}{{HTML}}{{{colour}}}\n\
             \\addplot[line{at},{dash},mark={mark},mark size=1.5pt,mark options={{solid}}] \
             coordinates {{{points}}};\n\\addlegendentry{{{}}}",
            text(&column.name)
        )?;
    }
    writeln!(out, "\\end{{axis}}\\end{{tikzpicture}}\\end{{center}}")
}
