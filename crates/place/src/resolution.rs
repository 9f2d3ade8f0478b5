//! What a placement means on this machine: CPUs and a policy, from what this process may use.

use nearfar_machine::{Binding, CpuSet, Machine, MemoryPolicy, NodeSet};
use nearfar_model::PlacementStrategy;
use nearfar_sys::Refusal;

use crate::loss::Loss;
use crate::placement::Placement;

/// What this process may use.
#[derive(Debug, Clone)]
pub struct Usable {
    /// CPUs; what the kernel would not tell is not known.
    pub cpus: Result<CpuSet, Refusal>,
    /// Nodes with memory.
    pub nodes: Result<NodeSet, Refusal>,
}

/// A placement on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// What is asked for: no CPUs where they are not known, which leaves them as they are.
    pub asked: Binding,
    /// What of it this process may use.
    pub granted: Binding,
    /// What it may not.
    pub losses: Vec<Loss>,
}

/// Finds out what a placement means here. `cpus` narrows the CPUs. The machine is read only where
/// the placement follows from it.
pub fn resolve(
    placement: &Placement,
    cpus: Option<&CpuSet>,
    usable: &Usable,
    machine: impl FnOnce() -> Result<Machine, String>,
) -> Resolution {
    let mut losses = Vec::new();
    let own_cpus = usable.cpus.clone().unwrap_or_else(|refusal| {
        losses.push(Loss::refused("the CPUs that this process may use", &refusal));
        CpuSet::new()
    });
    let near = match placement {
        Placement::Local(Some(nodes)) => cpus_near(nodes, machine, &mut losses),
        _ => None,
    };
    let asked_cpus = match (cpus, near) {
        (Some(cpus), Some(near)) => cpus.intersection(&near),
        (Some(cpus), None) => cpus.clone(),
        (None, Some(near)) => near,
        (None, None) => own_cpus.clone(),
    };
    let memory = memory_policy(placement, usable, &mut losses);
    let asked = Binding { cpus: asked_cpus, memory };
    let granted = Binding {
        cpus: usable_cpus(&asked.cpus, &own_cpus, &mut losses),
        memory: usable_memory(&asked.memory, usable, &mut losses),
    };
    Resolution { asked, granted, losses }
}

/// The CPUs to which these nodes are local.
fn cpus_near(
    nodes: &NodeSet,
    machine: impl FnOnce() -> Result<Machine, String>,
    losses: &mut Vec<Loss>,
) -> Option<CpuSet> {
    let what = format!("the CPUs near {}", node_words(nodes));
    let machine = match machine() {
        Ok(machine) => machine,
        Err(reason) => {
            losses.push(Loss { what, reason, remedy: None });
            return None;
        }
    };
    let near: CpuSet = machine
        .nodes
        .iter()
        .filter(|node| nodes.contains(node.os_index))
        .flat_map(|node| node.locality.iter())
        .collect();
    if near.is_empty() {
        let reason = "this machine has none";
        losses.push(Loss { what, reason: reason.into(), remedy: Some(CHOOSE_NODES.into()) });
        return None;
    }
    Some(near)
}

const CHOOSE_NODES: &str = "choose from the nodes that 'nearfar topo' shows";

fn memory_policy(placement: &Placement, usable: &Usable, losses: &mut Vec<Loss>) -> MemoryPolicy {
    match placement {
        Placement::Memory(policy) => policy.clone(),
        // A policy for one node also holds where it has no CPUs of its own.
        Placement::Local(Some(nodes)) if nodes.len() == 1 => {
            nodes.first().map_or(MemoryPolicy::FirstTouch, MemoryPolicy::Preferred)
        }
        Placement::InterleaveAll | Placement::Strategy(PlacementStrategy::RoundRobin) => {
            match &usable.nodes {
                Ok(nodes) if !nodes.is_empty() => MemoryPolicy::Interleave(nodes.clone()),
                Ok(_) => MemoryPolicy::FirstTouch,
                Err(refusal) => {
                    losses.push(Loss::refused("interleaving over all nodes", refusal));
                    MemoryPolicy::FirstTouch
                }
            }
        }
        Placement::Local(_)
        | Placement::Spread
        | Placement::Compact
        | Placement::Scatter
        | Placement::Strategy(_) => MemoryPolicy::FirstTouch,
    }
}

/// Of these CPUs those that this process may use; none, which leaves them as they are, where it
/// may use none of them or the kernel does not say.
fn usable_cpus(asked: &CpuSet, own: &CpuSet, losses: &mut Vec<Loss>) -> CpuSet {
    if own.is_empty() {
        return asked.clone();
    }
    let granted = asked.intersection(own);
    let lost = asked.difference(own);
    if !lost.is_empty() || asked.is_empty() {
        losses.push(Loss {
            what: format!("CPUs {asked}"),
            reason: format!("this process may use {own}"),
            remedy: Some(
                "choose from Cpus_allowed_list in /proc/self/status, or widen the cpuset".into(),
            ),
        });
    }
    if granted.is_empty() { own.clone() } else { granted }
}

/// The policy over those of its nodes that this process may use.
fn usable_memory(asked: &MemoryPolicy, usable: &Usable, losses: &mut Vec<Loss>) -> MemoryPolicy {
    let (Ok(own), Some(nodes)) = (&usable.nodes, asked.nodes()) else {
        return asked.clone();
    };
    let lost = nodes.difference(own);
    if lost.is_empty() {
        return asked.clone();
    }
    losses.push(Loss {
        what: format!("memory on {}", node_words(&lost)),
        reason: format!("this process may use memory on {}", node_words(own)),
        remedy: Some(
            "choose from Mems_allowed_list in /proc/self/status and from nodes with memory".into(),
        ),
    });
    let kept = nodes.intersection(own);
    match asked {
        _ if kept.is_empty() => MemoryPolicy::FirstTouch,
        MemoryPolicy::Bind(_) => MemoryPolicy::Bind(kept),
        MemoryPolicy::Interleave(_) => MemoryPolicy::Interleave(kept),
        MemoryPolicy::Weighted(weights) => {
            let kept = weights.iter().filter(|(node, _)| kept.contains(**node));
            MemoryPolicy::Weighted(kept.map(|(&node, &weight)| (node, weight)).collect())
        }
        MemoryPolicy::FirstTouch | MemoryPolicy::Preferred(_) => asked.clone(),
    }
}

fn node_words(nodes: &NodeSet) -> String {
    if nodes.len() == 1 { format!("node {nodes}") } else { format!("nodes {nodes}") }
}
