//! The best of several programs on each pair of an initiator and a node, and their classes: as the
//! thesis takes the best of several compilers (braithwaite2012, section 3.3), with any program.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_record::{Better, RunSummary};
use nearfar_stats::{PartitionRule, deviation_of_largest, partition, pooled_deviation};
use serde::Serialize;

use super::ProgramSensitivity;
use crate::class_rule::ClassRule;

/// The program that is best where an initiator's CPUs use a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BestOfPair {
    pub initiator: u32,
    /// Its lowest node with CPUs, or null.
    pub cpu_node: Option<u32>,
    pub memory_node: u32,
    /// The program's label.
    pub label: String,
    /// Its figures.
    pub runs: RunSummary,
}

/// Pairs on which programs are about as good.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramClass {
    /// 0 is the best.
    pub class: usize,
    /// The best round on any of its pairs: time, s, or the metric.
    pub best: f64,
    /// The best round on its worst pair.
    pub worst: f64,
    /// Its best performance / that of class 0.
    pub alpha_relative: f64,
    /// Whether the border to the next class is within what noise explains.
    pub border_within_noise: bool,
    /// (initiator, node).
    pub pairs: Vec<(u32, u32)>,
}

/// By initiator, then by node; empty where programs ran on the CPUs of one initiator only.
pub(super) fn best_of_pairs(programs: &[ProgramSensitivity], better: Better) -> Vec<BestOfPair> {
    let placements = programs.iter().flat_map(|program| &program.placements);
    let initiators: BTreeSet<u32> = placements.map(|runs| runs.initiator).collect();
    if initiators.len() < 2 {
        return Vec::new();
    }
    let mut best: BTreeMap<(u32, u32), BestOfPair> = BTreeMap::new();
    for program in programs {
        for placed in &program.placements {
            let (Some(node), Some(runs)) = (placed.memory_node, &placed.runs) else { continue };
            let key = (placed.initiator, node);
            let is_better = best.get(&key).is_none_or(|known| match better {
                Better::Higher => runs.figure.median > known.runs.figure.median,
                Better::Lower => runs.figure.median < known.runs.figure.median,
            });
            if is_better {
                let found = BestOfPair {
                    initiator: placed.initiator,
                    cpu_node: placed.cpu_node,
                    memory_node: node,
                    label: program.label.clone(),
                    runs: runs.clone(),
                };
                best.insert(key, found);
            }
        }
    }
    best.into_values().collect()
}

/// Classes of the best rounds, by the rule and the span of bandwidth's classes; none where a
/// figure is not positive.
pub(super) fn classes_of(best: &[BestOfPair], better: Better) -> Vec<ProgramClass> {
    let figure = |pair: &BestOfPair| match better {
        Better::Higher => pair.runs.most,
        Better::Lower => pair.runs.least,
    };
    let performance = |pair: &BestOfPair| match better {
        Better::Higher => figure(pair),
        Better::Lower => 1.0 / figure(pair),
    };
    let values: Vec<f64> = best.iter().map(performance).collect();
    let deviations: Vec<(f64, usize)> = best
        .iter()
        .filter_map(|pair| Some((pair.runs.deviation?, pair.runs.figure.count)))
        .collect();
    let rounds = best.iter().map(|pair| pair.runs.figure.count).min().unwrap_or(0);
    let noise = pooled_deviation(&deviations).map(|noise| noise * deviation_of_largest(rounds));
    let noise = noise.filter(|noise| noise.is_finite());
    let rule = PartitionRule { span: ClassRule::default().span, noise };
    let parts = partition(&values, &rule).unwrap_or_default();
    let fastest = parts.first().map_or(1.0, |part| part.max);
    let back = |performance: f64| match better {
        Better::Higher => performance,
        Better::Lower => 1.0 / performance,
    };
    let class = |(class, part): (usize, &nearfar_stats::Part)| ProgramClass {
        class,
        best: back(part.max),
        worst: back(part.min),
        alpha_relative: part.max / fastest,
        border_within_noise: part.border_within_noise,
        pairs: part
            .members
            .iter()
            .filter_map(|&member| best.get(member))
            .map(|pair| (pair.initiator, pair.memory_node))
            .collect(),
    };
    parts.iter().enumerate().map(class).collect()
}
