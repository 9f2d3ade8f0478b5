//! Where a program is to run, to see how sensitive it is.

use std::collections::BTreeSet;

use nearfar_machine::{Binding, CpuSet, GroupBy, Machine, MemoryPolicy, NodeSet};
use nearfar_record::CommandPlacement;

use super::reference::ReferenceClasses;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlacementChoice {
    /// On the CPUs of one initiator (the first where `None`): its own node, one node of every
    /// farther class, and pages dealt out over all nodes.
    Classes(Option<u32>),
    /// The CPUs of every initiator with every node.
    Matrix,
}

/// Why there is nothing to choose.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPlacements {
    #[error("this process may use one memory node, {0}: there is nothing to choose")]
    OneNode(NodeSet),
    #[error("there is no initiator {asked} whose CPUs this process may use; there are {usable}")]
    NoInitiator { asked: u32, usable: String },
    #[error("none of the initiators whose CPUs this process may use has memory that it may use")]
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
    let initiators = usable_initiators(machine);
    match choice {
        PlacementChoice::Matrix => {
            let on = |(initiator, cpu_node, cpus): &(u32, Option<u32>, CpuSet), node| {
                CommandPlacement::on_node(*initiator, *cpu_node, cpus.clone(), node)
            };
            let of_initiator = |initiator| nodes.iter().map(move |node| on(initiator, node));
            Ok(initiators.iter().flat_map(of_initiator).collect())
        }
        PlacementChoice::Classes(asked) => {
            let own = |initiator: u32| local_node(machine, initiator);
            let found = match asked {
                Some(asked) => initiators.iter().find(|(initiator, ..)| *initiator == asked),
                None => initiators.iter().find(|(initiator, ..)| own(*initiator).is_some()),
            };
            let Some((initiator, cpu_node, cpus)) = found else {
                let Some(asked) = asked else { return Err(NoPlacements::NoLocal) };
                let usable: CpuSet = initiators.iter().map(|(initiator, ..)| *initiator).collect();
                return Err(NoPlacements::NoInitiator { asked, usable: usable.to_string() });
            };
            let local = own(*initiator).ok_or(NoPlacements::NoLocal)?;
            let on = |node| CommandPlacement::on_node(*initiator, *cpu_node, cpus.clone(), node);
            let mut placements: Vec<CommandPlacement> =
                levels(machine, *initiator, local, &nodes, reference).into_iter().map(on).collect();
            placements.push(CommandPlacement {
                initiator: *initiator,
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
    initiator: u32,
    local: u32,
    nodes: &NodeSet,
    reference: Option<&ReferenceClasses>,
) -> Vec<u32> {
    let level = |node: u32| -> (u64, u64) {
        let class = reference.and_then(|classes| classes.class(initiator, node));
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
    let with_memory = machine.nodes.iter().filter(|node| node.has_memory());
    let numbers = with_memory.map(|node| node.os_index);
    numbers.filter(|&node| machine.allowed_nodes.contains(node)).collect()
}

/// Number, lowest node with CPUs, and CPUs that may be used, of every initiator that has some.
fn usable_initiators(machine: &Machine) -> Vec<(u32, Option<u32>, CpuSet)> {
    let cpu_groups = machine.cpu_groups(GroupBy::Memory);
    let initiators = machine.initiators();
    let usable = cpu_groups.iter().filter(|cpu_group| !cpu_group.cores.is_empty());
    let of = |index: u32| initiators.iter().find(|initiator| initiator.index == index);
    usable
        .filter_map(|cpu_group| {
            let initiator = of(cpu_group.initiator)?;
            Some((initiator.index, initiator.cpu_node, cpu_group.cpus()))
        })
        .collect()
}

/// An initiator's own node, or the nearest memory of CPUs that have none; `None` where its own may not be used.
pub fn local_node(machine: &Machine, initiator: u32) -> Option<u32> {
    let initiator = machine.initiators().into_iter().find(|own| own.index == initiator)?;
    let is_nearest = |node: &u32| machine.nearest_memory(&initiator).contains(*node);
    let home = machine.home_memory(&initiator).filter(is_nearest)?;
    usable_nodes(machine).contains(home).then_some(home)
}
