//! A chart of bandwidth by threads: a line for each affinity, with a band from the least run to
//! the most.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::escape::text;
use crate::table::{Cell, Table};

/// Colours that colour-blind readers tell apart (Okabe and Ito 2008), with marks and dashes, so
/// that none is told by its colour alone.
pub(super) const LINES: [(&str, &str, &str); 4] = [
    ("0072B2", "*", "solid"),
    ("D55E00", "square*", "dashed"),
    ("009E73", "triangle*", "dotted"),
    ("CC79A7", "diamond*", "dashdotted"),
];

/// The runs of one number of threads: their mean, and from the least to the most where the table says so.
struct Point {
    threads: u32,
    mean: f64,
    range: Option<[f64; 2]>,
}

/// Draws the table of runs whose first column are threads and affinities and whose third are means; nothing
/// where there are fewer than two counts of threads.
pub(super) fn write_chart(table: &Table, out: &mut impl Write) -> io::Result<()> {
    let lines = lines(table);
    let counts = lines.iter().flat_map(|(_, points)| points.iter().map(|point| point.threads));
    let counts: BTreeSet<u32> = counts.collect();
    if counts.len() < 2 {
        return Ok(());
    }
    let ticks: Vec<String> = counts.iter().map(u32::to_string).collect();
    let heading = table.columns.get(2).map(crate::table::Column::heading).unwrap_or_default();
    writeln!(
        out,
        "\\begin{{center}}\\begin{{tikzpicture}}\\begin{{axis}}[width=0.8\\linewidth,\
         height=0.38\\linewidth,xlabel={{threads}},ylabel={{{}}},\
         title={{{}}},xtick={{{}}},ymin=0,grid=major,legend pos=outer north east,\
         label style={{font=\\footnotesize}},tick label style={{font=\\footnotesize}},\
         title style={{font=\\small}},legend style={{font=\\footnotesize}}]",
        text(&heading),
        text(&table.caption),
        ticks.join(",")
    )?;
    for (number, (affinity, points)) in lines.iter().enumerate() {
        let (colour, mark, dash) = LINES[number % LINES.len()];
        writeln!(out, "\\definecolor{{line{number}}}{{HTML}}{{{colour}}}")?;
        let path = |value: fn(&Point) -> Option<f64>| -> String {
            let value = |point: &Point| Some((point.threads, value(point)?));
            let finite = points.iter().filter_map(value).filter(|(_, value)| value.is_finite());
            finite.map(|(threads, value)| format!("({threads},{value:.4e})")).collect()
        };
        let low = path(|point| point.range.map(|[low, _]| low));
        let high = path(|point| point.range.map(|[_, high]| high));
        if points.len() > 1 && !low.is_empty() && !high.is_empty() {
            writeln!(
                out,
                "\\addplot[name path=low{number},draw=none,forget plot] coordinates {{{low}}};\n\
                 \\addplot[name path=high{number},draw=none,forget plot] coordinates {{{high}}};\n\
                 \\addplot[line{number},fill opacity=0.2,draw=none,forget plot] \
                 fill between[of=low{number} and high{number}];"
            )?;
        }
        writeln!(
            out,
            "\\addplot[line{number},{dash},mark={mark},mark options={{solid}}] coordinates {{{}}};\n\
             \\addlegendentry{{{}}}",
            path(|point| Some(point.mean)),
            text(affinity)
        )?;
    }
    writeln!(out, "\\end{{axis}}\\end{{tikzpicture}}\\end{{center}}")
}

/// The rows with a figure, by affinity; a row can be of several.
fn lines(table: &Table) -> Vec<(&str, Vec<Point>)> {
    let mut lines: Vec<(&str, Vec<Point>)> = Vec::new();
    for row in &table.rows {
        let [Cell::Text(place), _, Cell::Figure(mean), _, Cell::Text(range), ..] = row.as_slice()
        else {
            continue;
        };
        let Some((threads, affinities)) = place.split_once(' ') else { continue };
        let Ok(threads) = threads.parse() else { continue };
        let range = range.split_once(" to ");
        let range = range.and_then(|(low, high)| Some([low.parse().ok()?, high.parse().ok()?]));
        for affinity in affinities.split(", ") {
            let point = Point { threads, mean: mean.value, range };
            match lines.iter_mut().find(|(known, _)| *known == affinity) {
                Some((_, points)) => points.push(point),
                None => lines.push((affinity, vec![point])),
            }
        }
    }
    lines.iter_mut().for_each(|(_, points)| points.sort_by_key(|point| point.threads));
    lines
}
