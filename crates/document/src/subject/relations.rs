//! How a pair lies in the machine: near, in the same package, or further.

use std::collections::BTreeMap;

use nearfar_machine::{Machine, MemoryKind, NodeSet, Relation};

/// Clusters and nodes of a machine by number, each looked up once.
pub(crate) struct Relations<'a> {
    machine: &'a Machine,
    /// Own nodes, package.
    clusters: BTreeMap<u32, (NodeSet, Option<u32>)>,
    /// Kind, package.
    nodes: BTreeMap<u32, (MemoryKind, Option<u32>)>,
}

impl<'a> Relations<'a> {
    pub fn new(machine: &'a Machine) -> Self {
        let clusters = machine.clusters().into_iter().map(|cluster| {
            let package = machine.only_package(&cluster.cpus);
            (cluster.index, (cluster.memory_nodes, package))
        });
        let nodes = machine
            .nodes
            .iter()
            .map(|node| (node.os_index, (node.kind, machine.only_package(&node.locality))));
        Self { machine, clusters: clusters.collect(), nodes: nodes.collect() }
    }

    /// `None` where the node belongs to no single package, or either is not described.
    pub fn of(&self, cluster: u32, node: u32) -> Option<Relation> {
        let (own, cluster_package) = self.clusters.get(&cluster)?;
        if own.contains(node) {
            return Some(Relation::Local);
        }
        let (_, node_package) = self.nodes.get(&node)?;
        let same = (*cluster_package)? == (*node_package)?;
        Some(if same { Relation::SamePackage } else { Relation::OtherPackage })
    }

    /// The firmware's relative distance; `None` where it gives none.
    pub fn distance(&self, cpu_node: Option<u32>, node: u32) -> Option<u64> {
        self.machine.distance(cpu_node?, node)
    }

    pub fn kind(&self, node: u32) -> MemoryKind {
        self.nodes.get(&node).map_or(MemoryKind::Unknown, |(kind, _)| *kind)
    }
}
