//! How long accesses take beside traffic, by the families of curves.

use nearfar_model::{CurveAnswer, PairLatency};

use super::predicted_places::{PredictedPlace, findings};
use super::result::ModelResult;
use super::who::Who;
use crate::answer::Answer;
use crate::document::Section;
use crate::figure::Figure;
use crate::table::{Cell, Column, NS, ONE, Table, WORDS};

/// Rows of the first screen.
const FIRST_ROWS: usize = 16;

/// For people.
pub fn accesses_beside_traffic(of: &ModelResult<CurveAnswer>) -> Answer {
    let section = section(&of.result, &of.measured.who);
    of.measured.answer().and_gap().and_section(section, FIRST_ROWS)
}

fn section(of: &CurveAnswer, who: &Who) -> Section {
    let place =
        |pair: &PairLatency| format!("{} on node {}", who.cpus(pair.initiator), pair.memory_node);
    let row = |pair: &PairLatency| {
        let time = match pair.latency.as_result() {
            Ok(time) => Cell::Figure(Figure::of(time)),
            Err(why) => Cell::unknown(why),
        };
        vec![Cell::Text(place(pair)), time, Cell::figure(pair.rise.map(Figure::ratio))]
    };
    let notes = vec!["The interval is of what would be measured there.".to_string()];
    let places: Vec<PredictedPlace<'_>> = (of.pairs.iter())
        .map(|pair| (place(pair), pair.latency.as_result().map(|_| pair.is_within_measured)))
        .collect();
    let table = Table::new(
        "Time of an access",
        Column::all(["CPUs and node", "time", "times idle"], [WORDS, NS, ONE]),
        of.pairs.iter().map(row),
    )
    .with_notes(notes);
    Section::new(
        "predict-curve",
        "Loaded latency",
        format!(
            "With {} of other traffic to the memory, {} of it reads, by the law of latency over \
             traffic.",
            Figure::plain(of.traffic).words(),
            Figure::ratio(of.read_share).text
        ),
        vec![table],
    )
    .with_findings(findings(&places))
}
