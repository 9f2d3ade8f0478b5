//! A chart of latency over traffic: measured points and the law's line of each read share, as finely as
//! on the page.

use std::io::{self, Write};

use super::escape::text;
use super::scaling_chart::LINES;
use crate::table::{Cell, Table};

/// Draws the table of curves: what makes the traffic, traffic, time. The
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
        let path = |points: &[[f64; 2]]| -> String {
            points.iter().map(|[x, y]| format!("({x:.4e},{y:.4e})")).collect()
        };
        let measured: Vec<[f64; 2]> = std::iter::once(idle)
            .chain(curve)
            .filter_map(|row| Some([value(row.get(1)?)?, value(row.get(2)?)?]))
            .collect();
        let name = match curve.first().and_then(|row| row.first()) {
            Some(Cell::Text(name)) => name,
            _ => continue,
        };
        let law = table.laws.iter().find(|(of, _)| of == name).map(|(_, points)| path(points));
        let name = text(name);
        writeln!(
            out,
            "\\definecolor{{line{number}}}{{HTML}}{{{colour}}}\n\
             \\addplot[line{number},only marks,mark={mark},mark size=1.5pt] coordinates {{{}}};\n\
             \\addlegendentry{{{name}: measured}}",
            path(&measured)
        )?;
        if let Some(law) = law.filter(|law| !law.is_empty()) {
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

#[cfg(test)]
mod tests {
    use nearfar_flow::read_machine;
    use nearfar_measure::{simulated::simulate, suite_inputs};
    use nearfar_record::{Experiment, Inputs, Suite};

    use crate::{Document, write_tex};

    /// Few points were measured, and the law bends between them.
    #[test]
    fn a_law_is_drawn_finely() {
        let inputs = suite_inputs(Suite::Standard);
        let inputs = Inputs { experiments: vec![Experiment::Latency], ..inputs };
        let record = simulate(&read_machine("amd-2p").unwrap(), inputs, true).unwrap();
        let mut out = Vec::new();
        write_tex(&Document::new(&record), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let laws: Vec<&str> = lines
            .windows(2)
            .filter(|pair| pair[1].starts_with("\\addlegendentry") && pair[1].ends_with(": law}"))
            .map(|pair| pair[0])
            .collect();
        assert!(!laws.is_empty());
        assert!(laws.iter().all(|law| law.matches('(').count() > 40), "{laws:?}");
    }
}
