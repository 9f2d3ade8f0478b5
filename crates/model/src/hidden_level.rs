//! Pairs that the firmware's distances make twins of others although the machine is
//! wired so that they are further apart: both directions of several pairs are low alike.
//! Units: ratios.                  Source: ours.
//! Fails when: two links between packages that touch every package equally often are
//! degraded alike, both ways: they look as if the machine were built so.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::mem::discriminant;

use nearfar_stats::median;
use serde::Serialize;

use crate::place::{Parts, Place};
use crate::shortfall::{Against, Explained, Shortfall};
use crate::twin_cell::TwinCell;

/// Pairs that form a level of their own below their twins.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HiddenLevel {
    /// What the pairs are pairs of.
    pub between: Between,
    /// The pairs, both directions of each: initiator and memory node, or package of the
    /// cores and package of the memory.
    pub pairs: BTreeSet<(u32, u32)>,
    /// Median over the pairs of pair / median of the twins by the firmware.
    pub ratio: f64,
}

/// What the pairs of a level are pairs of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Between {
    /// An initiator and a memory node.
    Nodes,
    /// Two packages.
    Packages,
}

/// How a level's pairs may differ in what they lost: from half of it to one and a half.
const ALIKE: (f64, f64) = (0.5, 1.5);

/// The first level that findings show, and its cells. Paths are a level when they are
/// low both ways and more than one, or within a package, where there is no link that
/// could be at fault; links between packages when there are several and they touch
/// every package equally often.
pub(crate) fn hidden_level(
    explained: &Explained<'_>,
    cells: &[TwinCell],
    parts: &Parts,
) -> Option<(HiddenLevel, Vec<usize>)> {
    let below_twins = |finding: &&Shortfall| finding.against == Against::Twins;
    let mut findings = explained.findings.iter().filter(below_twins);
    findings.find_map(|finding| level(finding, explained, cells, parts))
}

fn level(
    finding: &Shortfall,
    explained: &Explained<'_>,
    cells: &[TwinCell],
    parts: &Parts,
) -> Option<(HiddenLevel, Vec<usize>)> {
    let (between, own) = match finding.place {
        Place::Path { initiator, node } => (Between::Nodes, (initiator, node)),
        Place::PackageLink { first, second } => (Between::Packages, (first, second)),
        _ => return None,
    };
    let groups: HashSet<usize> = parts
        .cells(finding.place)
        .iter()
        .map(|&cell| &cells[cell])
        .filter(|cell| {
            finding.kernels.contains(&cell.kernel) && finding.threads.contains(&cell.threads)
        })
        .map(|cell| cell.group)
        .collect();
    let lost = finding.ratio.ln();
    // What findings of other kinds explain is no distance.
    let is_other = |place: &Place| discriminant(place) != discriminant(&finding.place);
    let others = explained.findings.iter().map(|finding| finding.place).filter(is_other);
    let others: HashSet<usize> = others.flat_map(|place| parts.cells(place)).copied().collect();
    // ln(cell / twins) of pairs that nothing else explains, and both ends of each pair in the same
    // terms: initiators, or packages.
    let mut ratios: HashMap<(u32, u32), Vec<f64>> = HashMap::new();
    let mut ends: HashMap<(u32, u32), (u32, u32)> = HashMap::new();
    let mut by_ends: HashMap<(u32, u32), Vec<f64>> = HashMap::new();
    for (index, cell) in cells.iter().enumerate().filter(|(_, cell)| groups.contains(&cell.group)) {
        let (Some((pair, its_ends)), Some(comparison)) =
            (pair(between, cell), explained.comparisons.of(index))
        else {
            continue;
        };
        ends.insert(pair, its_ends);
        by_ends.entry(its_ends).or_default().push(comparison.ln_ratio);
        if !others.contains(&index) {
            ratios.entry(pair).or_default().push(comparison.ln_ratio);
        }
    }
    let &(from, to) = ends.get(&own)?;
    let other_way = by_ends.get(&(to, from)).and_then(|ratios| median(ratios));
    if other_way.is_some_and(|loss| loss >= ALIKE.0 * lost) {
        return None;
    }
    let losses: HashMap<(u32, u32), f64> =
        ratios.iter().filter_map(|(pair, ratios)| Some((*pair, median(ratios)?))).collect();
    let is_alike = |pair: &(u32, u32)| {
        losses.get(pair).is_some_and(|loss| *loss < ALIKE.0 * lost && *loss > ALIKE.1 * lost)
    };
    // The other way is no less low, or something else hides what it is.
    let may_be_alike =
        |pair: &(u32, u32)| losses.get(pair).is_none_or(|loss| *loss < ALIKE.0 * lost);
    let core = both_ways(&ends, is_alike, is_alike);
    if !is_wiring(between, own, &core, &ends, cells) {
        return None;
    }
    let pairs = both_ways(&ends, is_alike, may_be_alike);
    if !pairs.contains(&own) {
        return None;
    }
    let ratio = median(&core.iter().map(|pair| losses[pair]).collect::<Vec<f64>>())?.exp();
    // With every load, also those that do not show it: no other can be their twin.
    let members = (0..cells.len())
        .filter(|&cell| pair(between, &cells[cell]).is_some_and(|(pair, _)| pairs.contains(&pair)))
        .collect();
    Some((HiddenLevel { between, pairs, ratio }, members))
}

/// Pairs of which one way is so and the other way so, both ways of each.
fn both_ways(
    ends: &HashMap<(u32, u32), (u32, u32)>,
    one: impl Fn(&(u32, u32)) -> bool,
    other: impl Fn(&(u32, u32)) -> bool,
) -> BTreeSet<(u32, u32)> {
    let ends_of = |is: &dyn Fn(&(u32, u32)) -> bool| -> HashSet<(u32, u32)> {
        ends.iter().filter(|(pair, _)| is(pair)).map(|(_, ends)| *ends).collect()
    };
    let (one_ends, other_ends) = (ends_of(&one), ends_of(&other));
    ends.iter()
        .filter(|&(pair, &(from, to))| {
            (one(pair) && other_ends.contains(&(to, from)))
                || (other(pair) && one_ends.contains(&(to, from)))
        })
        .map(|(pair, _)| *pair)
        .collect()
}

/// A remote cell's pair, and its ends as initiators or packages.
fn pair(between: Between, cell: &TwinCell) -> Option<((u32, u32), (u32, u32))> {
    match between {
        Between::Nodes => {
            (!cell.local).then_some(((cell.initiator, cell.node), (cell.initiator, cell.home?)))
        }
        Between::Packages => {
            let packages = cell.initiator_package.zip(cell.node_package)?;
            (packages.0 != packages.1).then_some((packages, packages))
        }
    }
}

/// Whether pairs that are low both ways are rather built so than degraded.
fn is_wiring(
    between: Between,
    own: (u32, u32),
    pairs: &BTreeSet<(u32, u32)>,
    ends: &HashMap<(u32, u32), (u32, u32)>,
    cells: &[TwinCell],
) -> bool {
    match between {
        Between::Nodes => {
            let both_ways: BTreeSet<(u32, u32)> =
                pairs.iter().map(|pair| ends[pair]).map(|(a, b)| (a.min(b), a.max(b))).collect();
            let within_a_package = !pairs.is_empty()
                && cells.iter().any(|cell| {
                    (cell.initiator, cell.node) == own
                        && cell.initiator_package.is_some()
                        && cell.initiator_package == cell.node_package
                });
            both_ways.len() > 1 || within_a_package
        }
        Between::Packages => {
            // Of all packages that the finding's groups know.
            let mut touched: BTreeMap<u32, usize> =
                ends.values().map(|(from, _)| (*from, 0)).collect();
            for (from, _) in pairs {
                *touched.entry(*from).or_default() += 1;
            }
            let counts: BTreeSet<usize> = touched.into_values().collect();
            // Both directions of each are among them.
            pairs.len() > 2 && counts.len() == 1
        }
    }
}
