//! What streams get that run at the same time, by the flow model.

use nearfar_model::{FilledPart, FlowPrediction, PredictedStream};
use nearfar_record::Estimate;
use nearfar_units::BytesPerSecond;

use super::flow::{part_words, percents};
use super::result::ModelResult;
use super::who::Who;
use crate::answer::Answer;
use crate::document::Section;
use crate::figure::Figure;
use crate::table::{Cell, Column, GB, Table, WORDS};

/// So many parts are shown; `--json` has all.
const SHOWN_PARTS: usize = 8;

/// For people.
pub fn predicted_streams(of: &ModelResult<FlowPrediction>) -> Answer {
    let section = section(&of.result, &of.measured.who);
    of.measured.answer().and_gap().and_section(section, FIRST_ROWS)
}

/// Rows of the first screen.
const FIRST_ROWS: usize = 16;

fn section(of: &FlowPrediction, who: &Who) -> Section {
    Section::new(
        "predict-flow",
        "Streams at the same time",
        format!(
            "Streams of {} ({}), useful GB/s, by the flow model, within {} (its error is {}, on \
             {}).",
            of.kernel.kernel,
            of.kernel.variant,
            percents(of.trust.interval_error),
            percents(of.trust.model_error),
            of.trust.judged_by
        ),
        vec![streams(&of.streams, who), parts(&of.parts, who)],
    )
    .with_findings(findings(of, who))
}

fn streams(streams: &[PredictedStream], who: &Who) -> Table {
    let plain = |rate: &Estimate<BytesPerSecond>| Cell::Figure(Figure::plain(rate.value));
    let row = |(index, it): (usize, &PredictedStream)| {
        let threads: u32 = it.threads.iter().map(|own| own.threads).sum();
        let limit = it.limit.as_ref().map_or_else(|| "latency".into(), |it| part_words(it, who));
        vec![
            Cell::Text(format!("stream {index}")),
            Cell::Text(threads.to_string()),
            plain(&it.alone),
            Cell::Figure(Figure::of(&it.together)),
            Cell::Text(percents(it.kept_share)),
            Cell::Text(limit),
        ]
    };
    let binding =
        |(index, it): (usize, &PredictedStream)| format!("stream {index}: {}", it.binding);
    Table::new(
        "Bandwidth of each stream",
        Column::all(
            ["", "threads", "alone", "together", "kept", "limited by"],
            [WORDS, WORDS, GB, GB, WORDS, WORDS],
        ),
        streams.iter().enumerate().map(row),
    )
    .with_notes(streams.iter().enumerate().map(binding))
}

fn parts(parts: &[FilledPart], who: &Who) -> Table {
    let row = |it: &FilledPart| [part_words(&it.part, who), percents(it.filled_share)];
    let rows = parts.iter().take(SHOWN_PARTS).map(|it| row(it).map(Cell::Text).into());
    Table::new("The most used parts", ["part", "filled"].map(Column::words), rows)
}

fn findings(of: &FlowPrediction, who: &Who) -> Vec<String> {
    let mut sentences = Vec::new();
    let are_several = of.streams.len() > 1;
    if are_several {
        sentences.push(format!("Together expect {}.", Figure::of(&of.sum).words()));
    }
    let is_limit = |it: &&FilledPart| of.streams.iter().any(|stream| stream.limit == Some(it.part));
    // The fullest stand first.
    if let Some(fullest) = of.parts.iter().find(is_limit) {
        sentences.push(format!(
            "The most used limit is {} ({}): more threads there gain little; if other parts are \
             less used, move data or threads off it.",
            part_words(&fullest.part, who),
            percents(fullest.filled_share)
        ));
    } else {
        let free = match of.free_cores {
            0 => "no core is free: these streams move no more".into(),
            1 => "more threads would move more, and 1 core is free".into(),
            cores => format!("more threads would move more, and {cores} cores are free"),
        };
        sentences.push(format!("Latency-bound: {free}."));
    }
    let least = of.trust.least_difference_share;
    if are_several && of.streams.iter().all(|it| 1.0 - it.kept_share < least) {
        sentences.push("The streams hardly slow each other: no loss is significant.".into());
    }
    sentences.extend(of.notes.iter().cloned());
    sentences
}
