//! The parts of a document, each from what its experiment measured and its model says.

mod environment;
mod links;
mod machine;
mod mixes;
mod not_measured;
mod pairs;
mod paper_tables;

use crate::subject::{FittedView, ModelKind};
use nearfar_record::Experiment;
pub(crate) use pairs::why_thinned;
pub(crate) use paper_tables::paper_tables;

use crate::document::{Section, Sources};
use crate::subject;

/// All that the record holds something for, in the order of reading.
pub(crate) fn all(sources: &Sources<'_>) -> Vec<Section> {
    const ORDER: [Experiment; 9] = [
        Experiment::Pairs,
        Experiment::Latency,
        Experiment::Scaling,
        Experiment::Sharing,
        Experiment::Links,
        Experiment::Roofs,
        Experiment::Hybrid,
        Experiment::Mixes,
        Experiment::Devices,
    ];
    let measured = ORDER.into_iter().filter_map(|experiment| of(sources, experiment));
    let rest = [strategy(sources), environment::section(sources), not_measured::section(sources)];
    machine::section(sources)
        .into_iter()
        .chain(measured)
        .chain(rest.into_iter().flatten())
        .collect()
}

/// What the record holds of an experiment.
pub(crate) fn of(sources: &Sources<'_>, experiment: Experiment) -> Option<Section> {
    match experiment {
        Experiment::Pairs => pairs::section(sources),
        Experiment::Latency => latency(sources),
        Experiment::Scaling => scaling(sources),
        Experiment::Sharing => sharing(sources),
        Experiment::Links => links::section(sources),
        Experiment::Roofs => roofline(sources),
        Experiment::Hybrid => hybrid(sources),
        Experiment::Mixes => mixes::section(sources),
        Experiment::Devices => devices(sources),
        Experiment::Commands => None,
    }
}

fn latency(sources: &Sources<'_>) -> Option<Section> {
    let model = match model(sources, ModelKind::Latency) {
        Some(FittedView::Latency(view)) => Some(&view.result),
        _ => None,
    };
    subject::latency_section(&sources.show.latency, model)
}

fn scaling(sources: &Sources<'_>) -> Option<Section> {
    match model(sources, ModelKind::Distribution)? {
        FittedView::Distribution(view) => Some(subject::distribution_section(&view.result)),
        _ => None,
    }
}

fn devices(sources: &Sources<'_>) -> Option<Section> {
    let model = match model(sources, ModelKind::Devices) {
        Some(FittedView::Devices(view)) => Some(&view.result),
        _ => None,
    };
    let transfers = &sources.show.devices;
    if transfers.is_empty() { None } else { subject::devices::section(transfers, model) }
}

fn sharing(sources: &Sources<'_>) -> Option<Section> {
    let model = match model(sources, ModelKind::Sharing) {
        Some(FittedView::Sharing(view)) => Some(&view.result),
        _ => None,
    };
    subject::sharing_section(&sources.show.sharing, model)
}

fn roofline(sources: &Sources<'_>) -> Option<Section> {
    let model = match model(sources, ModelKind::Roofline) {
        Some(FittedView::Roofline(view)) => Some(&view.result),
        _ => None,
    };
    subject::roofline::section(&sources.show.roofs, model)
}

fn hybrid(sources: &Sources<'_>) -> Option<Section> {
    let model = match model(sources, ModelKind::Hybrid) {
        Some(FittedView::Hybrid(view)) => Some(&view.result),
        _ => None,
    };
    subject::hybrid::section(&sources.show.hybrid, model)
}

fn strategy(sources: &Sources<'_>) -> Option<Section> {
    match model(sources, ModelKind::Strategy)? {
        FittedView::Strategy(view) => Some(subject::strategy::section(&view.result)),
        _ => None,
    }
}

fn model<'a>(sources: &'a Sources<'_>, kind: ModelKind) -> Option<&'a FittedView> {
    sources.models.iter().find(|model| model.kind() == kind)
}

/// What these models say to do, and their texts.
fn meaning(sources: &Sources<'_>, kinds: &[ModelKind]) -> (Vec<String>, Option<String>) {
    let models = || kinds.iter().filter_map(|&kind| model(sources, kind));
    let findings = models().flat_map(FittedView::advice).collect();
    let texts: Vec<String> = models().map(|model| without_colours(&model.body())).collect();
    (findings, (!texts.is_empty()).then(|| texts.join("\n").trim_start_matches('\n').into()))
}

/// A text without what colours it on a terminal: ESC [ to m.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_a_terminal_are_left_out() {
        assert_eq!(without_colours("a\u{1b}[48;5;17mb\u{1b}[0m m"), "ab m");
        assert_eq!(without_colours("map m"), "map m");
    }
}
