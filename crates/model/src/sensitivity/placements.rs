//! Where a program is to run, to see how sensitive it is.

use std::collections::BTreeSet;

use nearfar_machine::{Binding, CpuSet, InitiatorKind, Machine, MemoryPolicy, NodeSet};
use nearfar_record::CommandPlacement;

use super::reference::ReferenceClasses;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlacementChoice {
    /// On the CPUs of one cluster (the first where `None`): its own node, one node of every
    /// farther class, and pages dealt out over all nodes.
    Classes(Option<u32>),
    /// The CPUs of every cluster with every node.
    Matrix,
}

/// Why there is nothing to choose.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPlacements {
    /// One node is as good as another where there is one.
    #[error("this process may use one memory node, {0}: there is nothing to choose")]
    OneNode(NodeSet),
    /// There is no such cluster, or none of its CPUs may be used.
    #[error("there is no cluster {asked} whose CPUs this process may use; there are {usable}")]
    NoCluster {
        /// The number that was asked for.
        asked: u32,
        /// Those that there are, as a list.
        usable: String,
    },
    /// Every cluster's own memory is out of reach.
    #[error("none of the clusters whose CPUs this process may use has memory that it may use")]
    NoLocal,
}

/// The placements of a choice. Farther nodes are told apart by the classes of a record, or where
/// there is none by the firmware's distances; nodes of which nothing is known each stand alone.
///
/// # Errors
/// When there is nothing to choose from.
pub fn command_placements(
    machine: &Machine,
    choice: PlacementChoice,
    reference: Option<&ReferenceClasses>,
) -> Result<Vec<CommandPlacement>, NoPlacements> {
    let nodes = usable_nodes(machine);
    if nodes.len() < 2 {
        return Err(NoPlacements::OneNode(nodes));
    }
    let clusters = usable_clusters(machine);
    match choice {
        PlacementChoice::Matrix => {
            let on = |(cluster, cpu_node, cpus): &(u32, Option<u32>, CpuSet), node| {
                CommandPlacement::on_node(*cluster, *cpu_node, cpus.clone(), node)
            };
            let of_cluster = |cluster| nodes.iter().map(move |node| on(cluster, node));
            Ok(clusters.iter().flat_map(of_cluster).collect())
        }
        PlacementChoice::Classes(asked) => {
            let own = |cluster: u32| local_node(machine, cluster);
            let found = match asked {
                Some(asked) => clusters.iter().find(|(cluster, ..)| *cluster == asked),
                None => clusters.iter().find(|(cluster, ..)| own(*cluster).is_some()),
            };
            let Some((cluster, cpu_node, cpus)) = found else {
                let Some(asked) = asked else { return Err(NoPlacements::NoLocal) };
                let usable: CpuSet = clusters.iter().map(|(cluster, ..)| *cluster).collect();
                return Err(NoPlacements::NoCluster { asked, usable: usable.to_string() });
            };
            let local = own(*cluster).ok_or(NoPlacements::NoLocal)?;
            let on = |node| CommandPlacement::on_node(*cluster, *cpu_node, cpus.clone(), node);
            let mut placements: Vec<CommandPlacement> =
                levels(machine, *cluster, local, &nodes, reference).into_iter().map(on).collect();
            placements.push(CommandPlacement {
                cluster: *cluster,
                cpu_node: *cpu_node,
                memory_node: None,
                binding: Binding { cpus: cpus.clone(), memory: MemoryPolicy::Interleave(nodes) },
            });
            Ok(placements)
        }
    }
}

/// The local node, then one node of every farther level, the lowest of each.
fn levels(
    machine: &Machine,
    cluster: u32,
    local: u32,
    nodes: &NodeSet,
    reference: Option<&ReferenceClasses>,
) -> Vec<u32> {
    let level = |node: u32| -> (u64, u64) {
        let class = reference.and_then(|classes| classes.class(cluster, node));
        let unknown = (2, u64::from(node));
        match class {
            Some(class) => (0, class as u64),
            None => machine.distance(local, node).map_or(unknown, |distance| (1, distance)),
        }
    };
    let others = nodes.iter().filter(|&node| node != local);
    let mut by_level: Vec<((u64, u64), u32)> = others.map(|node| (level(node), node)).collect();
    by_level.sort_unstable();
    let mut seen = BTreeSet::new();
    let of_others = by_level.into_iter().filter(|(level, _)| seen.insert(*level));
    let nodes: Vec<u32> = of_others.map(|(_, node)| node).collect();
    std::iter::once(local).chain(nodes).collect()
}

/// Nodes that may be used and have memory.
fn usable_nodes(machine: &Machine) -> NodeSet {
    let with_memory = machine.nodes.iter().filter(|node| node.memory_bytes != Some(0));
    let numbers = with_memory.map(|node| node.os_index);
    numbers.filter(|&node| machine.allowed_nodes.contains(node)).collect()
}

/// Number, lowest node with CPUs, and CPUs that may be used, of every cluster that has some.
fn usable_clusters(machine: &Machine) -> Vec<(u32, Option<u32>, CpuSet)> {
    let initiators = machine.initiators(InitiatorKind::Cluster);
    let clusters = machine.clusters();
    let usable = initiators.iter().filter(|initiator| !initiator.cores.is_empty());
    let of = |index: u32| clusters.iter().find(|cluster| cluster.index == index);
    usable
        .filter_map(|initiator| {
            let cluster = of(initiator.cluster)?;
            Some((cluster.index, cluster.cpu_node, initiator.cpus()))
        })
        .collect()
}

/// A cluster's own node: the one with its CPUs, else the lowest that is local to it; `None` where
/// none of them may be used.
pub fn local_node(machine: &Machine, cluster: u32) -> Option<u32> {
    let cluster = machine.clusters().into_iter().find(|it| it.index == cluster)?;
    let usable = usable_nodes(machine);
    let own = cluster.memory_nodes.intersection(&usable);
    cluster.cpu_node.filter(|&node| own.contains(node)).or_else(|| own.first())
}
