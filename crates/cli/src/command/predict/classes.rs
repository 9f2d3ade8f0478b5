//! What programs get whose accesses are shared out over classes.

use anyhow::{Context, bail};
use nearfar_document::{AlphaKind, AlphaSource, PredictView};
use nearfar_machine::NodeSet;
use nearfar_model::{
    ClassSet, Classes, MappingPlace, Reach, RecordFigures, Target, alphas, classes, data_access,
    mappings, reach_of_data,
};
use nearfar_record::Record;

use crate::args::PredictArguments;
use crate::command::model::gamma;
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

pub(super) fn answer(arguments: &PredictArguments) -> anyhow::Result<ExitStatus> {
    let view = if arguments.alpha.is_empty() {
        let (_, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
        let classes = classes(&RecordFigures::new(&record), &arguments.classes.rule(false))?;
        let set = classes.sets.first().context("the record has no classes")?;
        let source = alphas_of_record(arguments, &record, set);
        if arguments.data.is_empty() {
            predict(arguments, source)?
        } else {
            let reach = reach_of_nodes(&classes, set, &arguments.data)?;
            let mappings = mappings(&reach.targets, &source.alphas)?;
            let kind = Some(record.header.inputs.initiator);
            PredictView::of_mappings(source, &mappings, &reach, kind)
        }
    } else {
        predict(arguments, given_alphas(arguments))?
    };
    let view = view.context("nothing was asked for: give --share, --reach or --data")?;
    if arguments.json {
        output::print_json(&view)?;
    } else {
        output::print(&view.text())?;
    }
    Ok(ExitStatus::Done)
}

fn given_alphas(arguments: &PredictArguments) -> AlphaSource<'static> {
    let gamma = arguments.classes.gamma.clone();
    AlphaSource {
        record: None,
        alphas: arguments.alpha.clone(),
        alphas_are: AlphaKind::Given,
        unit: gamma.as_ref().map(|gamma| gamma.bytes_per_s),
        gamma: gamma
            .ok_or_else(|| "the alphas were given, and what they are relative to was not".into()),
    }
}

fn alphas_of_record<'a>(
    arguments: &PredictArguments,
    record: &'a Record,
    set: &ClassSet,
) -> AlphaSource<'a> {
    let alphas = alphas(&set.classes, gamma(&arguments.classes, &record.header.machine));
    let fastest = set.classes.first().map(|class| class.max);
    let (values, alphas_are, unit) = match (alphas.absolute, &alphas.gamma) {
        (Some(absolute), Ok(gamma)) => (absolute, AlphaKind::Absolute, Some(gamma.bytes_per_s)),
        _ => (alphas.relative, AlphaKind::Relative, fastest),
    };
    AlphaSource { record: Some(record), alphas: values, alphas_are, gamma: alphas.gamma, unit }
}

/// What shares and reaches that were given come to.
fn predict(
    arguments: &PredictArguments,
    source: AlphaSource<'_>,
) -> anyhow::Result<Option<PredictView>> {
    if !arguments.share.is_empty() {
        let shares = arguments.share.iter();
        let accesses = shares.map(|shares| data_access(&source.alphas, &shares.0));
        let accesses = accesses.collect::<Result<Vec<_>, _>>()?;
        return Ok(PredictView::of_shares(source, &accesses));
    }
    let reach = reach_as_given(arguments);
    let mappings = mappings(&reach.targets, &source.alphas)?;
    Ok(PredictView::of_mappings(source, &mappings, &reach, None))
}

/// Places are numbered from 0 in the order in which they were given.
fn reach_as_given(arguments: &PredictArguments) -> Reach {
    let targets: Vec<Target> = arguments
        .reach
        .iter()
        .map(|classes| Target { class_from: classes.0.iter().copied().map(Some).collect() })
        .collect();
    let places = targets.iter().map(|target| target.class_from.len()).max().unwrap_or(0);
    let place = |index| MappingPlace { index, cpu_node: None };
    Reach { places: (0..).take(places).map(place).collect(), targets }
}

fn reach_of_nodes(classes: &Classes, set: &ClassSet, nodes: &[u32]) -> anyhow::Result<Reach> {
    let pairs = set.classes.iter().flat_map(|class| &class.pairs);
    let known: NodeSet = pairs.map(|pair| pair.memory_node).collect();
    if let Some(&node) = nodes.iter().find(|&&node| !known.contains(node)) {
        let mut of_node = classes.left_out.iter().filter(|out| out.memory_node == node);
        if let Some(reason) = of_node.find_map(|out| out.refused.as_deref()) {
            bail!(
                "memory node {node} is in no class: the machine refused it ({reason}); the \
                 record's classes hold the nodes {known}"
            );
        }
        bail!("memory node {node} is in no class; the record's classes hold the nodes {known}");
    }
    Ok(reach_of_data(set, nodes))
}
