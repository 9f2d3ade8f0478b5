//! A record as a document: its sections in the order of reading, and what the models say first; and as
//! `show` prints it.

use nearfar_model::{FittedModel, best_pairs};
use nearfar_record::{Executor, Experiment, Record, Warning};
use serde::Serialize;

use super::figures::{capitalised, simulated_line};
use super::model::model_findings;
use super::origin::Origin;
use super::show::unfinished_words;
use super::sources::{ReportChoices, Sources};
use super::{
    classes, devices, distribution, environment, exchange, flow, health, hybrid, latency, links,
    matrix, network, pairs, paper_tables, program, roofline, sharing, strategy, tiles, workloads,
};
use crate::document::{Document, PROGRAM, Section};

/// A record as a document; `report RECORD -o FILE.json` writes it. All forms of the document show
/// the same figures, rounded once.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: Origin,
    /// What it says.
    #[serde(flatten)]
    pub document: Document,
}

/// Sentences of a summary; more are in the sections.
const MOST_SENTENCES: usize = 6;

impl Document {
    pub fn new(record: &Record) -> Self {
        Self::with_choices(record, &ReportChoices::default())
    }

    /// The document of a record with these choices.
    pub fn with_choices(record: &Record, choices: &ReportChoices) -> Self {
        Self::of(&Sources::of_report(record, choices))
    }

    pub(crate) fn of(sources: &Sources<'_>) -> Self {
        let header = &sources.record.header;
        let best = best_pairs(&sources.show.pairs);
        let bandwidths = best.as_ref().and_then(|best| matrix::bandwidth(sources, best));
        Self {
            title: format!("{}, {}", header.host, header.started),
            is_simulated: header.executor == Executor::Simulated,
            program: PROGRAM,
            cautions: cautions(sources),
            summary: summary(sources),
            tiles: tiles::tiles(sources, best.as_ref()),
            health: Some(health::health(&sources.figures)),
            matrices: bandwidths.into_iter().chain(matrix::latency(sources)).collect(),
            sections: sections(sources),
            paper_tables: paper_tables::paper_tables(sources),
        }
    }
}

impl Report {
    /// The document of a record with these choices.
    pub fn new(record: &Record, choices: &ReportChoices) -> Self {
        Self {
            schema: "nearfar.report/1",
            measured: Origin::new(record),
            document: Document::with_choices(record, choices),
        }
    }
}

fn cautions(sources: &Sources<'_>) -> Vec<String> {
    let mut cautions = Vec::new();
    cautions.extend(simulated_line(sources.show.measured.executor).map(|line| format!("{line}.")));
    cautions.extend(
        sources.show.measured.sealing.finding.iter().map(|finding| format!("WARNING: {finding}.")),
    );
    if sources.show.disturbed == sources.show.samples {
        let warnings = sources.record.warnings.iter().filter(|it| it.code == Warning::DISTURBED);
        cautions.extend(warnings.map(|warning| format!("{}.", capitalised(&warning.message))));
    }
    let cached = sources.record.warnings.iter();
    let cached = cached.filter(|warning| warning.code == Warning::MAY_CONTAIN_CACHE);
    cautions.extend(cached.map(|warning| format!("{}.", capitalised(&warning.message))));
    cautions.extend(
        unfinished_words(sources.record)
            .map(|(first, why)| format!("{}{why}.", capitalised(first))),
    );
    cautions
}

/// Classes, NUMA factor, then of each further model the first thing to do.
fn summary(sources: &Sources<'_>) -> Vec<String> {
    let who = &sources.show.measured.who;
    let mut sentences: Vec<String> =
        sources.classes().and_then(classes::answer).into_iter().collect();
    sentences.extend(sources.latency().and_then(|model| latency::answer(model, who)));
    let others = sources
        .models
        .iter()
        .filter(|model| !matches!(model, FittedModel::Classes(_) | FittedModel::Latency(_)));
    sentences.extend(others.filter_map(|model| model_findings(model, who).into_iter().next()));
    sentences.truncate(MOST_SENTENCES);
    sentences
}

/// All that the record holds something for.
pub(super) fn sections(sources: &Sources<'_>) -> Vec<Section> {
    const ORDER: [Experiment; 12] = [
        Experiment::Pairs,
        Experiment::Latency,
        Experiment::Exchange,
        Experiment::Scaling,
        Experiment::Sharing,
        Experiment::Links,
        Experiment::Roofs,
        Experiment::Hybrid,
        Experiment::Mixes,
        Experiment::Devices,
        Experiment::Network,
        Experiment::Workloads,
    ];
    let mut sections = vec![sources.topo.section(sources.show.cpu.as_deref())];
    sections.extend(ORDER.into_iter().filter_map(|experiment| of_experiment(sources, experiment)));
    sections.extend(sources.strategy().map(strategy::section));
    let who = &sources.show.measured.who;
    sections.extend(sources.program.map(|program| program::places_section(program, who)));
    sections.push(environment::section(sources));
    sections.extend(environment::not_measured(sources));
    sections
}

/// What the record holds of an experiment.
pub(super) fn of_experiment(sources: &Sources<'_>, experiment: Experiment) -> Option<Section> {
    let show = &sources.show;
    let who = &show.measured.who;
    match experiment {
        Experiment::Pairs => pairs::section(sources),
        Experiment::Latency => latency::section(&show.latency, sources.latency(), who),
        Experiment::Exchange => sources.exchanges().and_then(exchange::section),
        Experiment::Scaling => sources.distribution().map(distribution::section),
        Experiment::Sharing => sharing::section(&show.sharing, sources.sharing(), who),
        Experiment::Links => links::section(sources),
        Experiment::Roofs => roofline::section(&show.roofs, sources.roofline(), who),
        Experiment::Hybrid => hybrid::section(&show.hybrid, sources.hybrid(), who),
        Experiment::Mixes if show.mixes.is_empty() => None,
        Experiment::Mixes => Some(flow::section(&show.mixes, sources.flow(), who)),
        Experiment::Devices if show.devices.is_empty() => None,
        Experiment::Devices => devices::section(&show.devices, sources.devices()),
        Experiment::Workloads => sources.workloads().map(|model| workloads::section(model, who)),
        Experiment::Network => sources.network().map(|model| network::section(model, who)),
        Experiment::Commands => None,
    }
}
