//! How a memory node lies as an initiator sees it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::index_set::{CpuSet, NodeSet};
use crate::machine::{Machine, MemoryKind};

/// How an initiator and a memory node lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The node is one of the initiator's own.
    Local,
    /// Another node of the initiator's package.
    SamePackage,
    /// A node of another package.
    OtherPackage,
}

/// Where a memory node lies as an initiator sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodePosition {
    /// What its memory is made of.
    pub memory_kind: MemoryKind,
    /// How the two lie to each other; null where the node is of no single package, or either is not described.
    pub relation: Option<Relation>,
    /// The firmware's relative distance from the initiator's node, or null.
    pub distance: Option<u64>,
}

/// Initiators of a machine and their packages, each looked up once.
pub struct Relations<'a> {
    machine: &'a Machine,
    /// Own nodes, package.
    initiators: BTreeMap<u32, (NodeSet, Option<u32>)>,
}

impl<'a> Relations<'a> {
    pub fn new(machine: &'a Machine) -> Self {
        let initiators = machine.initiators().into_iter().map(|initiator| {
            let package = machine.only_package(&initiator.cpus);
            (initiator.index, (initiator.memory_nodes, package))
        });
        Self { machine, initiators: initiators.collect() }
    }

    /// Where a node lies as an initiator sees it, whose lowest node with CPUs is `cpu_node`.
    pub fn position(&self, initiator: u32, cpu_node: Option<u32>, node: u32) -> NodePosition {
        NodePosition {
            memory_kind: self.machine.memory_kind(node),
            relation: self.relation(initiator, node),
            distance: cpu_node.and_then(|from| self.machine.distance(from, node)),
        }
    }

    fn relation(&self, initiator: u32, node: u32) -> Option<Relation> {
        let (own, initiator_package) = self.initiators.get(&initiator)?;
        if own.contains(node) {
            return Some(Relation::Local);
        }
        let node_package = self.machine.only_package(&self.machine.node(node)?.locality);
        let same = (*initiator_package)? == node_package?;
        Some(if same { Relation::SamePackage } else { Relation::OtherPackage })
    }
}

impl Machine {
    /// The package that these CPUs belong to; `None` when they are of none or of several.
    pub fn only_package(&self, cpus: &CpuSet) -> Option<u32> {
        let mut touched = self.packages.iter().filter(|package| package.cpus.intersects(cpus));
        let first = touched.next()?;
        touched.next().is_none().then_some(first.os_index)
    }
}
