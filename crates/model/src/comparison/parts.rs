//! Which parts of the machine the cases that differ have in common.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{Initiator, Machine, MemoryPolicy};
use nearfar_record::{Actor, Case};
use nearfar_stats::median;
use serde::Serialize;

use super::{Cell, ComparedCase, Verdict};
use crate::place::Place;

/// Parts that are named at most for each verdict.
const MOST_PARTS: usize = 4;

/// Fewer cases have nothing in common.
const FEWEST_CASES: usize = 2;

/// Of the cases that use a part, one in this many must differ.
const ONE_IN: usize = 4;

/// A part of the machine that cases which differ have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedPart {
    pub place: Place,
    /// Whether they are worse or better.
    pub verdict: Verdict,
    /// Cases with this verdict that use the part.
    pub cases: usize,
    /// Compared cases that use the part.
    #[serde(rename = "cases_of_part")]
    pub of: usize,
    /// Median over them of B / A, of times A / B: above 1 where B is better.
    #[serde(rename = "gain_ratio")]
    pub ratio: f64,
}

/// The fewest parts that cases which differ have in common: first the part that by itself tells best which
/// cases differ and which do not (the likelihood of one share of them among the cases that use it and another
/// among the rest), so that a part whose cases nearly all differ goes before one that has a few more
/// of them among many that do not; then those of the rest.
pub(super) fn parts_in_common(
    machine: &Machine,
    cells: &[Cell<'_>],
    compared: &[ComparedCase],
) -> Vec<ComparedPart> {
    if compared.iter().all(|case| !matches!(case.verdict, Verdict::Worse | Verdict::Better)) {
        return Vec::new();
    }
    let initiators = machine.initiators();
    let mut places: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
    for (index, cell) in cells.iter().enumerate() {
        for place in places_of(cell.matched.a_case, machine, &initiators) {
            places.entry(place).or_default().push(index);
        }
    }
    let paths = paths(&places, machine, &initiators);
    let mut parts = Vec::new();
    for verdict in [Verdict::Worse, Verdict::Better] {
        let mut left: BTreeSet<usize> =
            (0..compared.len()).filter(|&index| compared[index].verdict == verdict).collect();
        // What no part explains yet, those that do not differ too.
        let mut open: BTreeSet<usize> = (0..compared.len()).collect();
        for _ in 0..MOST_PARTS {
            let with = |of: &[usize]| -> Vec<usize> {
                of.iter().copied().filter(|&index| compared[index].verdict == verdict).collect()
            };
            let explained = |of: &[usize]| of.iter().filter(|index| left.contains(index)).count();
            let differs = |of: &[usize]| {
                let count = with(of).len();
                count > 0 && count * ONE_IN >= of.len()
            };
            let most_of_its =
                |place: Place| paths.get(&place).is_some_and(|paths| most_differ(paths, differs));
            let is_cause = |place: Place, of: &[usize]| match place {
                // Both ways, or it is one of them.
                Place::PackageLink { first, second } => [(first, second), (second, first)]
                    .into_iter()
                    .all(|(from, to)| most_of_its(Place::PackageToPackage { from, to })),
                _ => differs(of) || most_of_its(place),
            };
            let causes = places
                .iter()
                .filter(|(place, of)| explained(of) >= FEWEST_CASES && is_cause(**place, of));
            let told = |of: &[usize]| {
                let inside = of.iter().filter(|index| open.contains(index)).count();
                let differ = explained(of);
                likelihood(differ, inside) + likelihood(left.len() - differ, open.len() - inside)
            };
            let best = causes.max_by(|(one, a), (other, b)| {
                told(a).total_cmp(&told(b)).then(b.len().cmp(&a.len())).then(other.cmp(one))
            });
            let Some((&place, of)) = best else { break };
            let members = with(of);
            let gains: Vec<f64> = members.iter().map(|&index| cells[index].gain.exp()).collect();
            left.retain(|index| !members.contains(index));
            open.retain(|index| !members.contains(index));
            let Some(ratio) = median(&gains) else { break };
            parts.push(ComparedPart { place, verdict, cases: members.len(), of: of.len(), ratio });
        }
    }
    parts
}

/// Log of the likelihood that this many of these cases differ, at the share that fits best.
fn likelihood(differ: usize, of: usize) -> f64 {
    let (differ, of) = (differ as f64, of as f64);
    let of_part = |part: f64| if part > 0.0 { part * (part / of).ln() } else { 0.0 };
    of_part(differ) + of_part(of - differ)
}

/// The cases of each path that a part of the machine is on.
fn paths<'a>(
    places: &'a BTreeMap<Place, Vec<usize>>,
    machine: &Machine,
    initiators: &[Initiator],
) -> BTreeMap<Place, Vec<&'a [usize]>> {
    let mut paths: BTreeMap<Place, Vec<&[usize]>> = BTreeMap::new();
    for (place, of) in places {
        let Place::Path { initiator, node } = *place else { continue };
        let Some(initiator) = initiators.iter().find(|it| it.index == initiator) else { continue };
        for part in parts_of_path(initiator, node, machine) {
            paths.entry(part).or_default().push(of);
        }
    }
    paths
}

/// What an access passes besides the path itself.
fn parts_of_path(initiator: &Initiator, node: u32, machine: &Machine) -> Vec<Place> {
    let Initiator { index, cpus, .. } = initiator;
    let from = machine.only_package(cpus);
    let to = machine.node(node).and_then(|node| machine.only_package(&node.locality));
    let mut parts = vec![Place::Initiator { initiator: *index }, Place::Memory { node }];
    if let Some((from, to)) = from.zip(to).filter(|(from, to)| from != to) {
        parts.push(Place::PackageLink { first: from.min(to), second: from.max(to) });
        parts.push(Place::PackageToPackage { from, to });
        let nodes = machine.nodes.iter();
        let of_package = nodes.filter(|node| machine.only_package(&node.locality) == Some(to));
        // With one node it is the path.
        if of_package.count() > 1 {
            parts.push(Place::InitiatorToPackage { initiator: *index, to });
        }
    }
    parts
}

/// Whether two of three paths differ: what they share is then named and not they, though most cases
/// that use it ask too little of it to show it.
fn most_differ(paths: &[&[usize]], differs: impl Fn(&[usize]) -> bool) -> bool {
    paths.iter().filter(|of| differs(of)).count() * 3 >= paths.len() * 2
}

/// The parts that a case uses.
fn places_of(case: &Case, machine: &Machine, initiators: &[Initiator]) -> BTreeSet<Place> {
    let mut places = BTreeSet::new();
    for actor in &case.actors {
        let overlaps =
            |initiator: &&Initiator| initiator.cpus.iter().any(|cpu| actor.cpus().contains(cpu));
        for initiator in initiators.iter().filter(overlaps) {
            places.insert(Place::Initiator { initiator: initiator.index });
            for node in nodes_of(machine, actor, initiator) {
                places.insert(Place::Path { initiator: initiator.index, node });
                places.extend(parts_of_path(initiator, node, machine));
            }
        }
    }
    places
}

/// The nodes that an actor's threads on an initiator use; those of pages that are touched first are
/// the initiator's own.
fn nodes_of(machine: &Machine, actor: &Actor, initiator: &Initiator) -> BTreeSet<u32> {
    let named = |policy: &MemoryPolicy| policy.nodes();
    let Some(memory) = actor.memory() else { return BTreeSet::new() };
    let write = actor.as_stream().and_then(|stream| stream.write_memory.as_ref());
    let policies = [Some(memory), write];
    let nodes = policies
        .into_iter()
        .flatten()
        .map(|policy| named(policy).unwrap_or_else(|| machine.nearest_memory(initiator)));
    nodes.flat_map(|nodes| nodes.iter().collect::<Vec<u32>>()).collect()
}
