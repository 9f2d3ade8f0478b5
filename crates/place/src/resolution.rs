//! What a placement means on this machine: CPUs and a policy, from what this process may use.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::path::Path;

use nearfar_machine::{Binding, CpuSet, Machine, MemoryPolicy, NodeSet};
use nearfar_model::PlacementStrategy;
use nearfar_sys::Refusal;

use crate::loss::Loss;
use crate::pinning::Pinning;
use crate::placement::Placement;
use crate::watch::Steering;
use crate::weights::{WeightsBy, policy_for};

/// What this process may use.
#[derive(Debug)]
pub struct Usable {
    /// CPUs; what the kernel would not tell is not known.
    pub cpus: Result<CpuSet, Refusal>,
    /// Nodes with memory: read where the placement names some, because that takes as long as all else.
    pub nodes: UsableNodes,
}

/// Nodes that are read when they are needed.
pub type UsableNodes =
    LazyCell<Result<NodeSet, Refusal>, Box<dyn FnOnce() -> Result<NodeSet, Refusal>>>;

/// A placement on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// What is asked for: no CPUs where they are not known, which leaves them as they are.
    pub asked: Binding,
    /// What of it this process may use, and with which policy the program starts.
    pub start: Binding,
    /// The weights of nodes, where some are asked for that are not equal, and how they come about.
    pub weights: Option<(BTreeMap<u32, u32>, WeightsBy)>,
    /// In which order threads take CPUs, where the placement asks for one.
    pub pinning: Option<Pinning>,
    /// What it may not.
    pub losses: Vec<Loss>,
}

impl Resolution {
    /// What is to be done to a program while it runs under this.
    pub fn steering(&self, is_followed: bool) -> Steering {
        let moved = self.weights.as_ref().filter(|(_, by)| *by == WeightsBy::MovedPages);
        Steering {
            weights: moved.map(|(weights, _)| weights.clone()),
            is_bound: matches!(self.start.memory, MemoryPolicy::Bind(_)),
            is_followed,
            pinning: self.pinning.clone().map(|pinning| (pinning, self.start.cpus.clone())),
        }
    }
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
    let are_cpus_asked = cpus.is_some()
        || matches!(placement, Placement::Local(Some(_)))
        || Pinning::is_asked_by(placement);
    let own_cpus = usable.cpus.clone().unwrap_or_else(|refusal| {
        if are_cpus_asked {
            losses.push(Loss::refused("the CPUs that this process may use", &refusal));
        }
        CpuSet::new()
    });
    let machine = needed_machine(placement, machine, &mut losses);
    let near = match (placement, &machine) {
        (Placement::Local(Some(nodes)), Some(machine)) => cpus_near(nodes, machine, &mut losses),
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
    let cpus = usable_cpus(&asked.cpus, &own_cpus, &mut losses);
    let granted = usable_memory(&asked.memory, usable, &mut losses);
    let (memory, by) = policy_for(&granted, Path::new("/"));
    let weights = match granted {
        MemoryPolicy::Weighted(weights) => by.map(|by| (weights, by)),
        _ => None,
    };
    let pinning = machine.and_then(|machine| Pinning::of(placement, machine, &cpus));
    Resolution { asked, start: Binding { cpus, memory }, weights, pinning, losses }
}

/// The machine, where the placement follows from it: reading it takes far longer than all else.
fn needed_machine(
    placement: &Placement,
    machine: impl FnOnce() -> Result<Machine, String>,
    losses: &mut Vec<Loss>,
) -> Option<Machine> {
    let what = match placement {
        Placement::Local(Some(nodes)) => format!("the CPUs near {}", node_words(nodes)),
        _ if Pinning::is_asked_by(placement) => format!("the order of threads of '{placement}'"),
        _ => return None,
    };
    let remedy = || Some("see what 'nearfar topo' says (in a container: do not mask /sys)".into());
    machine().map_err(|reason| losses.push(Loss { what, reason, remedy: remedy() })).ok()
}

/// The CPUs to which these nodes are local.
fn cpus_near(nodes: &NodeSet, machine: &Machine, losses: &mut Vec<Loss>) -> Option<CpuSet> {
    let near: CpuSet = machine
        .nodes
        .iter()
        .filter(|node| nodes.contains(node.os_index))
        .flat_map(|node| node.locality.iter())
        .collect();
    if near.is_empty() {
        losses.push(Loss {
            what: format!("the CPUs near {}", node_words(nodes)),
            reason: "this machine has none".into(),
            remedy: Some("choose from the nodes that 'nearfar topo' shows".into()),
        });
        return None;
    }
    Some(near)
}

fn memory_policy(placement: &Placement, usable: &Usable, losses: &mut Vec<Loss>) -> MemoryPolicy {
    match placement {
        Placement::Memory(policy) => policy.clone(),
        // A policy for one node also holds where it has no CPUs of its own.
        Placement::Local(Some(nodes)) if nodes.len() == 1 => {
            nodes.first().map_or(MemoryPolicy::FirstTouch, MemoryPolicy::Preferred)
        }
        Placement::InterleaveAll | Placement::Strategy(PlacementStrategy::RoundRobin) => {
            match &*usable.nodes {
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
    let Some(nodes) = asked.nodes() else { return asked.clone() };
    let Ok(own) = &*usable.nodes else { return asked.clone() };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Result<Machine, String> {
        // Three nodes with two CPUs each, and one without.
        let machine = nearfar_topology::parse_synthetic("pack:3 [numa] core:2 pu:1");
        machine.map_err(|error| error.to_string())
    }

    fn resolution(placement: &str, cpus: Option<&str>, usable: (&str, &str)) -> Resolution {
        let nodes: NodeSet = usable.1.parse().unwrap();
        let usable = Usable {
            cpus: Ok(usable.0.parse().unwrap()),
            nodes: UsableNodes::new(Box::new(|| Ok(nodes))),
        };
        let cpus = cpus.map(|list| list.parse::<CpuSet>().unwrap());
        resolve(&placement.parse().unwrap(), cpus.as_ref(), &usable, machine)
    }

    const ALL: (&str, &str) = ("0-5", "0-2");

    #[test]
    fn placements_become_bindings() {
        for (placement, cpus, binding) in [
            ("local", None, "cpus=0-5 mem=first-touch"),
            ("local:1", None, "cpus=2-3 mem=preferred:1"),
            ("local:0,2", None, "cpus=0-1,4-5 mem=first-touch"),
            ("local:0,2", Some("1-4"), "cpus=1,4 mem=first-touch"),
            ("spread", Some("0,2"), "cpus=0,2 mem=first-touch"),
            ("interleave", None, "cpus=0-5 mem=interleave:0-2"),
            ("round-robin", None, "cpus=0-5 mem=interleave:0-2"),
            ("memory-bind", None, "cpus=0-5 mem=first-touch"),
            ("bind:0-1", Some("5"), "cpus=5 mem=bind:0-1"),
            ("weighted:0=2,2=1", None, "cpus=0-5 mem=weighted:0=2,2=1"),
        ] {
            let found = resolution(placement, cpus, ALL);
            assert_eq!(found.asked.to_string(), binding, "{placement}");
            assert_eq!(found.losses, [], "{placement}");
            assert_eq!(found.start.cpus, found.asked.cpus);
            let pinned = ["spread", "round-robin", "memory-bind"].contains(&placement);
            assert_eq!(found.pinning.is_some(), pinned, "{placement}");
        }
    }

    #[test]
    fn what_may_not_be_used_is_lost_and_the_rest_is_taken() {
        for (placement, cpus, start) in [
            ("interleave:0-2", None, "cpus=0-2 mem=interleave:0-1"),
            ("bind:2", None, "cpus=0-2 mem=first-touch"),
            ("weighted:0=2,1=1,2=5", None, "cpus=0-2 mem=interleave:0-1"),
            ("local:2", None, "cpus=0-2 mem=first-touch"),
            ("first-touch", Some("2-4"), "cpus=2 mem=first-touch"),
            ("first-touch", Some("9"), "cpus=0-2 mem=first-touch"),
            ("local:7", None, "cpus=0-2 mem=first-touch"),
        ] {
            let found = resolution(placement, cpus, ("0-2", "0-1"));
            assert!(!found.losses.is_empty(), "{placement}");
            // Which way weights come about hangs on the kernel of the test.
            let start = start.parse::<Binding>().unwrap();
            assert_eq!(found.start.cpus, start.cpus, "{placement}");
            assert_eq!(found.start.memory.nodes(), start.memory.nodes(), "{placement}");
        }
    }

    #[test]
    fn what_is_not_known_is_said() {
        let refusal = || Refusal::Argument { what: "it".into(), reason: "is not known" };
        let nodes = UsableNodes::new(Box::new(move || Err(refusal())));
        let usable = Usable { cpus: Err(refusal()), nodes };
        let found =
            |text: &str| resolve(&text.parse().unwrap(), None, &usable, || Err("hidden".into()));
        let local = found("local");
        assert_eq!(
            (local.start.to_string().as_str(), local.losses.len()),
            ("cpus= mem=first-touch", 0)
        );
        assert_eq!((found("compact").losses.len(), found("interleave").losses.len()), (2, 1));
        let bound = found("bind:1");
        assert_eq!(bound.start.memory.to_string(), "bind:1", "the kernel will judge");
        let near = found("local:1");
        assert!(near.losses.iter().any(|loss| loss.reason == "hidden"), "{near:?}");
        assert!(found("compact").pinning.is_none());
    }
}
