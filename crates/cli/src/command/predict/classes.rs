//! What programs get whose accesses are shared out over classes.

use anyhow::{Context, bail};
use nearfar_machine::NodeSet;
use nearfar_model::{
    AccessPrediction, ClassAlphas, ClassSet, Classes, Reach, RecordFigures, Target, classes,
    reach_of_data, reach_of_positions,
};

use super::tell;
use crate::args::PredictArguments;
use crate::exit_status::ExitStatus;
use crate::record_file;

pub(super) fn answer(arguments: &PredictArguments) -> anyhow::Result<ExitStatus> {
    if !arguments.alpha.is_empty() {
        let gamma = arguments.classes.gamma.clone();
        let alphas = ClassAlphas::given(arguments.alpha.clone(), gamma);
        return tell(arguments, None, predict(arguments, alphas)?);
    }
    let (_, record) = record_file::read_named_or_newest(arguments.record.as_deref())?;
    let classes = classes(&RecordFigures::new(&record), &arguments.classes.rule(false))?;
    let set = classes.sets.first().context("the record has no classes")?;
    let alphas = ClassAlphas::of(&set.classes, &classes.gamma);
    let prediction = if arguments.data.is_empty() {
        predict(arguments, alphas)?
    } else {
        alphas.processes(reach_of_nodes(&classes, set, &arguments.data)?)?
    };
    tell(arguments, Some(&record), prediction)
}

/// What shares and reaches that were given come to.
fn predict(arguments: &PredictArguments, alphas: ClassAlphas) -> anyhow::Result<AccessPrediction> {
    if arguments.share.is_empty() {
        let classes = arguments.reach.iter().map(|reach| &reach.0);
        let target =
            |of: &Vec<usize>| Target { class_from: of.iter().copied().map(Some).collect() };
        return Ok(alphas.processes(reach_of_positions(classes.map(target).collect()))?);
    }
    let shares: Vec<Vec<f64>> = arguments.share.iter().map(|shares| shares.0.clone()).collect();
    Ok(alphas.programs(&shares)?)
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
    Ok(reach_of_data(set, classes.group_by, nodes))
}
