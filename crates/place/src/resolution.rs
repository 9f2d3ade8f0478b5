//! What a placement means on this machine: CPUs and a policy, from what this process may use.

use std::collections::BTreeMap;
use std::path::Path;

use nearfar_machine::{Binding, CpuSet, Machine, MemoryPolicy, NodeSet, PlacementStrategy};

use crate::loss::Loss;
use crate::pinning::Pinning;
use crate::placement::Placement;
use crate::usable::{Usable, named};
use crate::watch::Steering;
use crate::weights::{WeightsBy, policy_for};

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
    /// What else is to be known of it, in sentences.
    pub notes: Vec<String>,
}

impl Resolution {
    /// What is to be done to a program while it runs under this.
    pub fn steering(&self, is_followed: bool) -> Steering {
        let moved = self.weights.as_ref().filter(|(_, by)| *by == WeightsBy::MovedPages);
        Steering {
            weights: moved.map(|(weights, _)| weights.clone()),
            is_bound: matches!(self.start.memory, MemoryPolicy::Bind(_)),
            is_interleaved: matches!(
                self.asked.memory,
                MemoryPolicy::Interleave(_) | MemoryPolicy::Weighted(_)
            ),
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
        (Placement::Local(Some(nodes)), Some(machine)) => {
            cpus_near(nodes, machine, &own_cpus, &mut losses)
        }
        _ => None,
    };
    let asked_cpus = match (cpus, near) {
        (Some(cpus), Some(near)) if !cpus.intersects(&near) => {
            losses.push(Loss {
                what: format!("{} for '{placement}'", named("CPU", cpus)),
                reason: format!("near its nodes are {}", named("CPU", &near)),
                remedy: Some(format!("try --cpus {near}, or leave --cpus out")),
            });
            cpus.clone()
        }
        (Some(cpus), Some(near)) => cpus.intersection(&near),
        (Some(cpus), None) => cpus.clone(),
        (None, Some(near)) => near,
        (None, None) => own_cpus.clone(),
    };
    let mut notes = Vec::new();
    let mut memory = memory_policy(placement, usable, &mut losses);
    if let (MemoryPolicy::Preferred(node), Some(machine)) = (&memory, &machine)
        && let Some((nearest, note)) = memory_instead(*node, machine)
    {
        memory = MemoryPolicy::Preferred(nearest);
        notes.push(note);
    }
    let asked = Binding { cpus: asked_cpus, memory };
    let cpus = match (cpus.is_some(), own_cpus.is_empty()) {
        (_, true) => asked.cpus.clone(),
        (is_named, false) => usable_cpus(&asked.cpus, &own_cpus, is_named, usable, &mut losses),
    };
    let granted = usable_memory(placement, &asked.memory, usable, &mut losses);
    let (memory, by) = policy_for(&granted, Path::new("/"));
    let weights = match granted {
        MemoryPolicy::Weighted(weights) => by.map(|by| (weights, by)),
        _ => None,
    };
    let pinning = machine.and_then(|machine| Pinning::of(placement, machine, &cpus));
    Resolution { asked, start: Binding { cpus, memory }, weights, pinning, losses, notes }
}

/// The nearest memory of a node that has CPUs and no memory, and a sentence on it.
fn memory_instead(node: u32, machine: &Machine) -> Option<(u32, String)> {
    machine.node(node).filter(|node| !node.has_memory())?;
    let own = machine.initiators().into_iter().find(|own| own.cpu_node == Some(node))?;
    let nearest = machine.home_memory(&own)?;
    let all = machine.nearest_memory(&own);
    let near = if all.len() > 1 { format!(", as near as {all}") } else { String::new() };
    Some((
        nearest,
        format!("node {node} has no memory: pages go to the nearest, node {nearest}{near}"),
    ))
}

/// The machine, where the placement follows from it: reading it takes far longer than all else.
fn needed_machine(
    placement: &Placement,
    machine: impl FnOnce() -> Result<Machine, String>,
    losses: &mut Vec<Loss>,
) -> Option<Machine> {
    let what = match placement {
        Placement::Local(Some(nodes)) => format!("the CPUs near {}", named("node", nodes)),
        _ if Pinning::is_asked_by(placement) => format!("the order of threads of '{placement}'"),
        _ => return None,
    };
    let remedy = || Some("see what 'nearfar topo' says (in a container: do not mask /sys)".into());
    machine().map_err(|reason| losses.push(Loss { what, reason, remedy: remedy() })).ok()
}

/// The CPUs to which these nodes are local; `None` where there are none.
fn cpus_near(
    nodes: &NodeSet,
    machine: &Machine,
    own: &CpuSet,
    losses: &mut Vec<Loss>,
) -> Option<CpuSet> {
    let all: NodeSet = machine.nodes.iter().map(|node| node.os_index).collect();
    let lost = nodes.difference(&all);
    // One node alone is missed as memory too, with all that is to be said.
    if !lost.is_empty() && nodes.len() > 1 {
        let usable = machine.nodes.iter().filter(|node| node.locality.is_subset(own));
        let usable = usable.filter(|node| node.has_memory());
        let usable: NodeSet = usable.map(|node| node.os_index).collect();
        let kept = nodes.intersection(&usable);
        let instead = if kept.is_empty() { usable } else { kept };
        losses.push(Loss {
            what: named("node", &lost),
            reason: format!("this machine has {}", named("node", &all)),
            remedy: Some(match instead.is_empty() {
                true => "try --placement local".into(),
                false => format!("try --placement local:{instead}"),
            }),
        });
    }
    let there = machine.nodes.iter().filter(|node| nodes.contains(node.os_index));
    let near: CpuSet = there
        .flat_map(|node| match node.cpus.is_empty() {
            true => machine.cpus_near(node).iter().collect::<Vec<u32>>(),
            false => node.cpus.iter().collect(),
        })
        .collect();
    if near.is_empty() && lost.is_empty() {
        losses.push(Loss {
            what: format!("the CPUs near {}", named("node", nodes)),
            reason: "no CPUs are local to it".into(),
            remedy: nodes.first().map(|node| format!("try --placement preferred:{node}")),
        });
    }
    (!near.is_empty()).then_some(near)
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

/// Of these CPUs those that this process may use; all that it may, where it may use none of them.
fn usable_cpus(
    asked: &CpuSet,
    own: &CpuSet,
    is_named: bool,
    usable: &Usable,
    losses: &mut Vec<Loss>,
) -> CpuSet {
    let granted = asked.intersection(own);
    let lost = asked.difference(own);
    let rest = if granted.is_empty() { own.clone() } else { granted };
    if !lost.is_empty() {
        losses.push(Loss {
            what: named("CPU", &lost),
            reason: usable.why_not_cpus(&lost, own),
            // Without the option it is the placement that asks for them.
            remedy: Some(match is_named {
                true => format!("try --cpus {rest}"),
                false => format!("try --placement local --cpus {rest}"),
            }),
        });
    }
    rest
}

/// The policy over those of its nodes that this process may use.
fn usable_memory(
    placement: &Placement,
    asked: &MemoryPolicy,
    usable: &Usable,
    losses: &mut Vec<Loss>,
) -> MemoryPolicy {
    let Some(nodes) = asked.nodes() else { return asked.clone() };
    let Ok(own) = &*usable.nodes else { return asked.clone() };
    let lost = nodes.difference(own);
    if lost.is_empty() {
        return asked.clone();
    }
    let kept = kept_memory(asked, &nodes.intersection(own));
    let instead = own.first().map(|first| match placement {
        Placement::Local(_) => format!("local:{first}"),
        _ => instead(asked, &kept, own, first),
    });
    losses.push(Loss {
        what: format!("memory on {}", named("node", &lost)),
        reason: usable.why_not_nodes(&lost, own),
        remedy: instead.map(|placement| format!("try --placement {placement}")),
    });
    kept
}

/// What of a policy is left over these of its nodes.
fn kept_memory(asked: &MemoryPolicy, kept: &NodeSet) -> MemoryPolicy {
    match asked {
        _ if kept.is_empty() => MemoryPolicy::FirstTouch,
        MemoryPolicy::Bind(_) => MemoryPolicy::Bind(kept.clone()),
        MemoryPolicy::Interleave(_) => MemoryPolicy::Interleave(kept.clone()),
        MemoryPolicy::Weighted(weights) => {
            let kept = weights.iter().filter(|(node, _)| kept.contains(**node));
            MemoryPolicy::Weighted(kept.map(|(&node, &weight)| (node, weight)).collect())
        }
        MemoryPolicy::FirstTouch | MemoryPolicy::Preferred(_) => asked.clone(),
    }
}

/// A placement that this process can have, as near to the one that it asked for as there is.
fn instead(asked: &MemoryPolicy, kept: &MemoryPolicy, own: &NodeSet, first: u32) -> String {
    match asked {
        _ if *kept != MemoryPolicy::FirstTouch => kept.to_string(),
        MemoryPolicy::Bind(_) => MemoryPolicy::Bind(own.clone()).to_string(),
        MemoryPolicy::Preferred(_) => MemoryPolicy::Preferred(first).to_string(),
        MemoryPolicy::FirstTouch | MemoryPolicy::Interleave(_) | MemoryPolicy::Weighted(_) => {
            MemoryPolicy::Interleave(own.clone()).to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::LazyCell;

    use nearfar_sys::Refusal;

    use super::*;
    use crate::usable::{Present, UsableNodes};

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
            machine: LazyCell::new(Box::new(|| {
                Some(Present { cpus: "0-5".parse().unwrap(), nodes: "0-2".parse().unwrap() })
            })),
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
            ("local:0,7", None, "cpus=0-1 mem=first-touch"),
            ("local:1", Some("0"), "cpus=0 mem=preferred:1"),
        ] {
            let found = resolution(placement, cpus, ("0-2", "0-1"));
            assert!(!found.losses.is_empty(), "{placement}");
            // Which way weights come about hangs on the kernel of the test.
            let start = start.parse::<Binding>().unwrap();
            assert_eq!(found.start.cpus, start.cpus, "{placement}");
            assert_eq!(found.start.memory.nodes(), start.memory.nodes(), "{placement}");
        }
    }

    /// What is named in place of what cannot be had is had.
    #[test]
    fn what_to_type_instead_can_be_had() {
        for (placement, cpus, reason) in [
            (
                "bind:9",
                None,
                "memory on node 9: this machine has memory nodes 0-2, and this process",
            ),
            (
                "bind:2",
                None,
                "memory on node 2: this process may use memory nodes 0-1 (Mems_allowed",
            ),
            ("preferred:9", None, "this machine has memory nodes 0-2"),
            ("interleave:1-4", None, "memory on nodes 2-4: this machine"),
            ("weighted:0=2,1=1,2=5", None, "memory on node 2"),
            ("weighted:8=2,9=1", None, "memory on nodes 8-9"),
            ("local:7", None, "memory on node 7"),
            ("local:0,7", None, "node 7: this machine has nodes 0-2"),
            ("local:8-9", None, "nodes 8-9: this machine has nodes 0-2"),
            ("local:1", Some("0"), "CPU 0 for 'local:1': near its nodes are CPUs 2-3"),
            ("local", Some("99"), "CPU 99: this machine has CPUs 0-5, and this process may use"),
            ("local", Some("2-4"), "CPUs 3-4: this process may use CPUs 0-2 (Cpus_allowed_list"),
        ] {
            let usable = ("0-2", "0-1");
            let lost = resolution(placement, cpus, usable).losses;
            assert!(lost[0].to_string().contains(reason), "{placement}: {}", lost[0]);
            let remedy = lost[0].remedy.clone().unwrap();
            let words: Vec<&str> = remedy.split([' ', ',']).collect();
            let named = |option: &str| {
                let place = words.iter().position(|word| *word == option)?;
                let rest = remedy.split_once(&format!("{option} "))?.1;
                let end = if place + 2 == words.len() { None } else { rest.find(", or") };
                Some(&rest[..end.unwrap_or(rest.len())])
            };
            let typed = (named("--placement").unwrap_or(placement), named("--cpus").or(cpus));
            let instead = resolution(typed.0, typed.1, ("0-3", "0-1")).losses;
            assert_eq!(instead, [], "{placement}: {remedy}");
        }
    }

    #[test]
    fn what_is_not_known_is_said() {
        let refusal = || Refusal::Argument { what: "it".into(), reason: "is not known" };
        let nodes = UsableNodes::new(Box::new(move || Err(refusal())));
        let machine = LazyCell::new(Box::new(|| None) as Box<dyn FnOnce() -> _>);
        let usable = Usable { cpus: Err(refusal()), nodes, machine };
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
