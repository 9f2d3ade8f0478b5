//! What a cluster reaches: `roofs`.

use nearfar_machine::{Cache, Cluster, Machine, MemoryKind, MemoryPolicy};

use super::{check_loop, check_node, cluster_of, idle_cluster};
use crate::case::{Actor, Case};
use crate::contradiction::history::KnownParts;
use crate::coordinates::{Roof, RoofCoordinates};

pub(super) fn check_roof(
    machine: &Machine,
    known: &KnownParts,
    roof: &RoofCoordinates,
    case: &Case,
) -> Result<(), String> {
    let Some(actor) = case.actors.get(roof.actor as usize) else {
        return Err(format!("its coordinates say actor {}, which it has not", roof.actor));
    };
    check_loop(actor, &roof.kernel, &roof.variant, roof.threads)?;
    let cluster = cluster_of(known, roof.cluster, actor)?;
    let computes = matches!(actor, Actor::Compute(_));
    if computes != (roof.roof == Roof::Compute)
        || matches!(actor, Actor::Chase(_) | Actor::Transfer(_) | Actor::Command(_))
    {
        return Err(format!("{} does not reach such a roof", actor.kernel()));
    }
    match roof.roof {
        Roof::Compute => Ok(()),
        Roof::Cache { level } => check_cache(machine, u32::from(level), actor),
        Roof::Memory { node } if case.actors.len() == 1 => check_node(actor, node),
        Roof::Interleaved { kind } if case.actors.len() == 1 => check_kind(machine, kind, actor),
        Roof::Memory { .. } | Roof::Interleaved { .. } => {
            Err("another actor where the rest of the machine is idle".into())
        }
        Roof::AllLocal { node } => {
            check_own(cluster, node)?;
            check_node(actor, node)
        }
        Roof::Contended { node, clusters } => {
            if clusters < 2 || case.actors.len() != clusters as usize {
                return Err(format!("{} actors for {clusters} clusters", case.actors.len()));
            }
            case.actors.iter().try_for_each(|actor| check_node(actor, node))
        }
        Roof::Congested { kind } => match idle_cluster(machine, known, &case.actors, |_| true) {
            Some(idle) => Err(format!("cluster{} has no actor where all have one", idle.index)),
            None => check_kind(machine, kind, actor),
        },
    }
}

/// The set is in caches of that level, as far as their sizes are known.
fn check_cache(machine: &Machine, level: u32, actor: &Actor) -> Result<(), String> {
    let of_threads =
        |cache: &&Cache| actor.thread_cpus().iter().any(|&cpu| cache.cpus.contains(cpu));
    let caches = machine.caches.iter().filter(|cache| cache.level == level);
    let caches: Vec<&Cache> = caches.filter(of_threads).collect();
    if caches.is_empty() {
        return Err(format!("its threads have no cache of level {level}"));
    }
    let room: Option<u64> = caches.iter().map(|cache| cache.bytes).sum();
    match room.filter(|&room| room < actor.working_set_bytes()) {
        Some(room) => Err(format!(
            "{} bytes are not in caches of level {level}, which hold {room}",
            actor.working_set_bytes()
        )),
        None => Ok(()),
    }
}

fn check_own(cluster: &Cluster, node: u32) -> Result<(), String> {
    if cluster.memory_nodes.is_empty() || cluster.memory_nodes.contains(node) {
        return Ok(());
    }
    Err(format!("node {node} is not cluster{}'s own", cluster.index))
}

fn check_kind(machine: &Machine, kind: MemoryKind, actor: &Actor) -> Result<(), String> {
    let nodes = actor.memory().and_then(MemoryPolicy::nodes).unwrap_or_default();
    let is_of_kind = |node: u32| machine.node(node).is_some_and(|node| node.kind == kind);
    if !nodes.is_empty() && nodes.iter().all(is_of_kind) {
        return Ok(());
    }
    Err(format!("the nodes {nodes} are of another kind than its coordinates say"))
}
