//! The parts of a document, each from what its experiment measured and its model says.

mod environment;
mod links;
mod machine;
mod mixes;
mod not_measured;
mod pairs;
mod paper_tables;

pub(crate) use machine::nearest;
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
    let strategy = sources.strategy().map(subject::strategy::section);
    let rest = [strategy, environment::section(sources), not_measured::section(sources)];
    machine::section(sources)
        .into_iter()
        .chain(measured)
        .chain(rest.into_iter().flatten())
        .collect()
}

/// What the record holds of an experiment.
pub(crate) fn of(sources: &Sources<'_>, experiment: Experiment) -> Option<Section> {
    let show = &sources.show;
    match experiment {
        Experiment::Pairs => pairs::section(sources),
        Experiment::Latency => subject::latency_section(&show.latency, sources.latency()),
        Experiment::Scaling => sources.distribution().map(subject::distribution_section),
        Experiment::Sharing => subject::sharing_section(&show.sharing, sources.sharing()),
        Experiment::Links => links::section(sources),
        Experiment::Roofs => subject::roofline::section(&show.roofs, sources.roofline()),
        Experiment::Hybrid => subject::hybrid::section(&show.hybrid, sources.hybrid()),
        Experiment::Mixes => mixes::section(sources),
        Experiment::Devices => devices(sources),
        Experiment::Commands => None,
    }
}

fn devices(sources: &Sources<'_>) -> Option<Section> {
    let model = sources.devices();
    let transfers = &sources.show.devices;
    if transfers.is_empty() { None } else { subject::devices::section(transfers, model) }
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
