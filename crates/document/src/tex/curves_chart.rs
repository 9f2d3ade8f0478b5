//! A chart of latency over traffic: measured points and the law's line of each read share.

use std::io::{self, Write};

use super::escape::text;
use super::scaling_chart::LINES;
use crate::table::{Cell, Table};

/// Draws the table of curves: what makes the traffic, traffic, time, times idle, the law's time. The
/// first row is without traffic. Nothing where there are no others.
pub(super) fn write_chart(table: &Table, out: &mut impl Write) -> io::Result<()> {
    let Some((idle, loaded)) = table.rows.split_first().filter(|(_, loaded)| !loaded.is_empty())
    else {
        return Ok(());
    };
    writeln!(
        out,
        "\\begin{{center}}\\begin{{tikzpicture}}\\begin{{axis}}[width=0.70\\linewidth,\
         height=0.38\\linewidth,xlabel={{traffic, GB/s}},ylabel={{ns}},title={{{}}},xmin=0,ymin=0,\
         grid=major,legend pos=outer north east,legend cell align=left,\
         label style={{font=\\footnotesize}},tick label style={{font=\\scriptsize}},\
         title style={{font=\\small}},legend style={{font=\\scriptsize}}]",
        text(&table.caption)
    )?;
    let is_same = |one: &Vec<Cell>, next: &Vec<Cell>| one.first() == next.first();
    for (number, curve) in loaded.chunk_by(is_same).enumerate() {
        let (colour, mark, dash) = LINES[number % LINES.len()];
        let path = |column: usize| -> String {
            let mut points: Vec<(f64, f64)> = std::iter::once(idle)
                .chain(curve)
                .filter_map(|row| Some((value(row.get(1)?)?, value(row.get(column)?)?)))
                .collect();
            points.sort_by(|one, next| one.0.total_cmp(&next.0));
            points.into_iter().map(|(x, y)| format!("({x:.4e},{y:.4e})")).collect()
        };
        let name = match curve.first().and_then(|row| row.first()) {
            Some(Cell::Text(name)) => text(name),
            _ => continue,
        };
        writeln!(
            out,
            "\\definecolor{{line{number}}}{{HTML}}{{{colour}}}\n\
             \\addplot[line{number},only marks,mark={mark},mark size=1.5pt] coordinates {{{}}};\n\
             \\addlegendentry{{{name}: measured}}",
            path(2)
        )?;
        let law = path(4);
        if !law.is_empty() {
            writeln!(
                out,
                "\\addplot[line{number},{dash}] coordinates {{{law}}};\n\
                 \\addlegendentry{{{name}: law}}"
            )?;
        }
    }
    writeln!(out, "\\end{{axis}}\\end{{tikzpicture}}\\end{{center}}")
}

fn value(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Figure(figure) => Some(figure.value).filter(|value| value.is_finite()),
        _ => None,
    }
}
