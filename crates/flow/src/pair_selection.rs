//! Pairs of an initiator and a memory node, and the selectors by which a machine file
//! speaks of many at once.

use std::collections::BTreeSet;
use std::fmt;

use nearfar_machine::{Initiator, Machine, MemoryKind, Relation};

use crate::bounds::BadKey;
use crate::machine_file::{LinkEntry, MachineFile};

/// A pair with everything that a selector can ask for.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    /// Position of the initiator.
    pub row: usize,
    /// Position of the memory node.
    pub column: usize,
    /// The initiator's index.
    pub initiator: u32,
    /// The initiator's lowest node with CPUs.
    pub cpu_node: Option<u32>,
    /// The node that is accessed.
    pub memory_node: u32,
    kind: MemoryKind,
    distance: Option<u64>,
    relation: Relation,
    cpu_package: Option<u32>,
    memory_package: Option<u32>,
}

impl fmt::Display for Pair {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cpu_node {
            Some(cpu_node) => write!(out, "[{cpu_node}, {}]", self.memory_node),
            None => write!(out, "[initiator {}, {}]", self.initiator, self.memory_node),
        }
    }
}

/// Every pair of a machine, initiator by initiator.
pub(crate) fn all_pairs(
    file: &MachineFile,
    machine: &Machine,
    initiators: &[Initiator],
) -> Vec<Pair> {
    let entries = file.node.as_deref().unwrap_or_default();
    let package_of = |node: u32| {
        let position = machine.nodes.iter().position(|known| known.os_index == node)?;
        Some(entries.get(position)?.package)
    };
    let mut pairs = Vec::new();
    for (row, initiator) in initiators.iter().enumerate() {
        let cpu_package = initiator.cpu_node.and_then(package_of);
        for (column, node) in machine.nodes.iter().enumerate() {
            let memory_node = node.os_index;
            let memory_package = entries.get(column).map(|entry| entry.package);
            let relation = if initiator.memory_nodes.contains(memory_node) {
                Relation::Local
            } else if cpu_package == memory_package {
                Relation::SamePackage
            } else {
                Relation::OtherPackage
            };
            pairs.push(Pair {
                row,
                column,
                initiator: initiator.index,
                cpu_node: initiator.cpu_node,
                memory_node,
                kind: node.kind,
                distance: initiator.cpu_node.and_then(|from| machine.distance(from, memory_node)),
                relation,
                cpu_package,
                memory_package,
            });
        }
    }
    pairs
}

/// The pairs by the numbers that a file names them by.
pub(crate) fn names_of(pairs: &[Pair]) -> BTreeSet<(u32, u32)> {
    pairs.iter().filter_map(|pair| Some((pair.cpu_node?, pair.memory_node))).collect()
}

/// Refuses pairs that are not among those `known`.
pub(crate) fn check_pairs(
    key: &str,
    named: Option<&BTreeSet<(u32, u32)>>,
    known: &BTreeSet<(u32, u32)>,
) -> Result<(), BadKey> {
    let Some(named) = named else { return Ok(()) };
    match named.iter().find(|pair| !known.contains(pair)) {
        None => Ok(()),
        Some((from, to)) => Err(BadKey::new(
            key,
            format!("names [{from}, {to}]; a pair is a node with cores and a memory node"),
        )),
    }
}

fn is_among(pair: &Pair, named: &BTreeSet<(u32, u32)>) -> bool {
    pair.cpu_node.is_some_and(|from| named.contains(&(from, pair.memory_node)))
}

impl Pair {
    /// Whether an entry with these conditions is about it: every one that is given must hold.
    pub fn is_selected(
        &self,
        pairs: Option<&BTreeSet<(u32, u32)>>,
        relation: Option<Relation>,
        distance: Option<u64>,
        kind: Option<MemoryKind>,
    ) -> bool {
        pairs.is_none_or(|named| is_among(self, named))
            && relation.is_none_or(|asked| asked == self.relation)
            && distance.is_none_or(|asked| Some(asked) == self.distance)
            && kind.is_none_or(|asked| asked == self.kind)
    }

    pub fn is_local(&self) -> bool {
        self.relation == Relation::Local
    }
}

impl LinkEntry {
    /// Whether it says at all what crosses it.
    pub fn has_selector(&self) -> bool {
        self.crosses.is_some()
            || self.from_package.is_some()
            || self.from_nodes.is_some()
            || self.to_package.is_some()
            || self.to_nodes.is_some()
    }

    /// Whether a pair crosses it: every selector that it has must hold.
    pub fn selects(&self, pair: &Pair) -> bool {
        let from = |nodes: &BTreeSet<u32>| pair.cpu_node.is_some_and(|node| nodes.contains(&node));
        self.crosses.as_ref().is_none_or(|named| is_among(pair, named))
            && self.from_package.is_none_or(|asked| Some(asked) == pair.cpu_package)
            && self.to_package.is_none_or(|asked| Some(asked) == pair.memory_package)
            && self.from_nodes.as_ref().is_none_or(from)
            && self.to_nodes.as_ref().is_none_or(|nodes| nodes.contains(&pair.memory_node))
    }
}
