//! How long accesses take beside traffic, by the families of curves.

use nearfar_model::{CurveAnswer, PairLatency};

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
    let row = |pair: &PairLatency| {
        let time = match pair.latency.as_result() {
            Ok(time) => Cell::Figure(Figure::of(time)),
            Err(why) => Cell::not_measured(why),
        };
        vec![
            Cell::Text(format!("{} on node {}", who.cpus(pair.initiator), pair.memory_node)),
            time,
            Cell::figure(pair.rise.map(Figure::ratio)),
        ]
    };
    let beyond =
        of.pairs.iter().filter(|pair| pair.latency.found().is_some() && !pair.is_within_measured);
    let beyond: Vec<String> = beyond
        .map(|pair| format!("{} on node {}", who.cpus(pair.initiator), pair.memory_node))
        .collect();
    let notes = vec!["The interval is of what would be measured there.".to_string()];
    let beyond = (!beyond.is_empty()).then(|| {
        format!(
            "Beyond the traffic that was measured, where the law stands alone: {}.",
            beyond.join(", ")
        )
    });
    // Why no pair has a time is the answer.
    let is_known = of.pairs.iter().any(|pair| pair.latency.found().is_some());
    let unknown = of.pairs.iter().filter(|_| !is_known).filter_map(|pair| {
        let why = pair.latency.as_result().err()?;
        Some(format!("{} on node {}: {why}.", who.cpus(pair.initiator), pair.memory_node))
    });
    let findings: Vec<String> = beyond.into_iter().chain(unknown).collect();
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
    .with_findings(findings)
}
