//! Holds a record's figures against what a memory node can carry at most.
//! Units: traffic bytes/s, the least that can have crossed (`traffic_bytes_min`).
//! Fails when: caches served a part of a working set, or pages were not where they
//! were proven to be; a figure above the maximum says that one of these, or the
//! maximum itself, is wrong.

use nearfar_machine::{Scope, TheoreticalMaximum};
use nearfar_record::Sample;
use nearfar_stats::median;

use crate::pairs::pairs;
use crate::record_figures::RecordFigures;

/// Figures of a record against a node's maximum.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryLimit {
    pub maximum: TheoreticalMaximum,
    /// Cells that were held against it.
    pub cells: usize,
    /// The highest share of the maximum that a cell reaches, a fraction.
    pub highest_share: f64,
    /// Cells above it, the highest first.
    pub above: Vec<AboveLimit>,
}

/// A cell above the maximum.
#[derive(Debug, Clone, PartialEq)]
pub struct AboveLimit {
    /// The case, by its id.
    pub case: String,
    /// Median over undisturbed windows, traffic bytes/s at least.
    pub traffic_bytes_per_s: f64,
    /// Working set / caches involved, where known.
    pub llc_multiple: Option<f64>,
}

/// Holds every cell on ordinary memory against a node's maximum: its highest variant, in
/// whatever order that walks, with each number of threads. A figure that the user gave is taken as a node's.
///
/// # Errors
/// When the maximum is of something else than a node, or there are no figures.
pub fn memory_limit(
    figures: &RecordFigures<'_>,
    maximum: TheoreticalMaximum,
) -> Result<MemoryLimit, String> {
    of_a_node(&maximum).map_err(|why| {
        format!("{why}; name a node's maximum with --gamma, for example DDR4-3200x2")
    })?;
    let machine = &figures.record().header.machine;
    let matrix = pairs(figures);
    let ordinary = |node: u32| machine.node(node).is_some_and(|node| node.kind.may_be_ordinary());
    let mut cells: Vec<AboveLimit> = matrix
        .cells()
        .filter(|&(_, node, _, _, _)| ordinary(node))
        .filter_map(|(_, _, _, _, cell)| {
            let figure = cell.highest()?;
            Some(AboveLimit {
                case: figure.case.clone(),
                traffic_bytes_per_s: traffic(figures.samples_of(&figure.case))?,
                llc_multiple: figure.llc_multiple,
            })
        })
        .collect();
    cells.sort_by(|a, b| b.traffic_bytes_per_s.total_cmp(&a.traffic_bytes_per_s));
    let Some(highest) = cells.first() else {
        return Err("the record holds no figures of ordinary memory".into());
    };
    let highest_share = highest.traffic_bytes_per_s / maximum.bytes_per_s;
    let compared = cells.len();
    cells.retain(|cell| cell.traffic_bytes_per_s > maximum.bytes_per_s);
    Ok(MemoryLimit { maximum, cells: compared, highest_share, above: cells })
}

/// A maximum that is of a memory node.
///
/// # Errors
/// When it is of something less.
pub(crate) fn of_a_node(maximum: &TheoreticalMaximum) -> Result<&TheoreticalMaximum, String> {
    if matches!(maximum.scope, Scope::Node | Scope::Given) {
        return Ok(maximum);
    }
    Err(format!(
        "{} is what a {} carries, and how many of them a memory node has is not known",
        maximum.name, maximum.scope
    ))
}

/// The median over a case's undisturbed windows of the least traffic, bytes/s; over
/// all windows where each was disturbed.
fn traffic(samples: &[&Sample]) -> Option<f64> {
    let all: Vec<f64> = samples.iter().map(|sample| traffic_of_window(sample)).collect();
    let quiet: Vec<f64> = samples
        .iter()
        .filter(|sample| !sample.is_disturbed())
        .map(|sample| traffic_of_window(sample))
        .collect();
    median(&quiet).or_else(|| median(&all))
}

fn traffic_of_window(sample: &Sample) -> f64 {
    let bytes: f64 = sample.actors.iter().map(|actor| actor.traffic_bytes_min as f64).sum();
    let seconds = sample.window_ns as f64 / 1e9;
    bytes / seconds
}
