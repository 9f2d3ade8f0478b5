//! Pairs of an initiator and a memory node, and the selectors by which a machine file
//! speaks of many at once.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;

use nearfar_machine::{Machine, MemoryKind, Relation};

use crate::bounds::{self, BadKey};
use crate::machine_file::{LinkEntry, MachineFile};

/// A pair with everything that a selector can ask for.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    /// Positions of the initiator and of the memory node.
    pub row: usize,
    pub column: usize,
    pub initiator: u32,
    /// The initiator's lowest node with CPUs.
    pub cpu_node: Option<u32>,
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
pub(crate) struct Pairs {
    pub all: Vec<Pair>,
    /// Those that a file can name: by the initiator's node with CPUs and the memory node.
    names: BTreeSet<(u32, u32)>,
}

impl Pairs {
    pub fn of(file: &MachineFile, machine: &Machine) -> Self {
        let entries = file.node.as_deref().unwrap_or_default();
        let package_of = |node: u32| {
            let position = machine.nodes.iter().position(|known| known.os_index == node)?;
            Some(entries.get(position)?.package)
        };
        let mut all = Vec::new();
        for (row, initiator) in machine.initiators().iter().enumerate() {
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
                let distance = initiator.cpu_node.and_then(|it| machine.distance(it, memory_node));
                all.push(Pair {
                    row,
                    column,
                    initiator: initiator.index,
                    cpu_node: initiator.cpu_node,
                    memory_node,
                    kind: node.kind,
                    distance,
                    relation,
                    cpu_package,
                    memory_package,
                });
            }
        }
        let names = all.iter().filter_map(|pair| Some((pair.cpu_node?, pair.memory_node)));
        Self { names: names.collect(), all }
    }

    /// Refuses to name pairs that there are not.
    pub fn check(&self, key: &str, named: Option<&BTreeSet<(u32, u32)>>) -> Result<(), BadKey> {
        match named.into_iter().flatten().find(|pair| !self.names.contains(pair)) {
            None => Ok(()),
            Some((from, to)) => Err(BadKey::new(
                key,
                format!("names [{from}, {to}]; a pair is a node with cores and a memory node"),
            )),
        }
    }

    /// The cells of a matrix with the positions of their pairs; rows are initiators, columns memory nodes.
    pub fn cells(
        &self,
        key: &str,
        matrix: Option<&[Vec<f64>]>,
        allowed: &RangeInclusive<f64>,
    ) -> Result<Vec<(usize, f64)>, BadKey> {
        let mut cells = Vec::new();
        for (row, of_row) in matrix.into_iter().flatten().enumerate() {
            for (column, &value) in of_row.iter().enumerate() {
                let key = format!("{key}[{row}][{column}]");
                bounds::number(&key, value, allowed)?;
                let is_own = |pair: &Pair| (pair.row, pair.column) == (row, column);
                let position = self.all.iter().position(is_own).ok_or_else(|| {
                    BadKey::new(
                        key,
                        "is of no pair: rows are nodes with cores, columns memory nodes",
                    )
                })?;
                cells.push((position, value));
            }
        }
        Ok(cells)
    }

    /// The positions of the pairs that an entry with these conditions is about: every one that is
    /// given must hold.
    pub fn selected(
        &self,
        key: &str,
        named: Option<&BTreeSet<(u32, u32)>>,
        relation: Option<Relation>,
        distance: Option<u64>,
        kind: Option<MemoryKind>,
    ) -> Result<Vec<usize>, BadKey> {
        self.check(&format!("{key}.pairs"), named)?;
        let is_own = |pair: &Pair| {
            named.is_none_or(|named| is_among(pair, named))
                && relation.is_none_or(|asked| asked == pair.relation)
                && distance.is_none_or(|asked| Some(asked) == pair.distance)
                && kind.is_none_or(|asked| asked == pair.kind)
        };
        let positions = (0..self.all.len()).filter(|&position| is_own(&self.all[position]));
        let positions: Vec<usize> = positions.collect();
        if positions.is_empty() {
            return Err(BadKey::new(key, "selects no pair of this machine"));
        }
        Ok(positions)
    }
}

fn is_among(pair: &Pair, named: &BTreeSet<(u32, u32)>) -> bool {
    pair.cpu_node.is_some_and(|from| named.contains(&(from, pair.memory_node)))
}

impl Pair {
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
