//! Groups of threads that run at the same time: `sharing` and `links`.

use nearfar_machine::{Cluster, Machine, MemoryPolicy, Package};

use super::{check_loop, check_node, cluster_of, idle_cluster};
use crate::case::{Actor, Case};
use crate::contradiction::history::KnownParts;
use crate::coordinates::{LinkCoordinates, SharingCoordinates, Way};

pub(super) fn check_sharing(
    machine: &Machine,
    known: &KnownParts,
    sharing: &SharingCoordinates,
    case: &Case,
) -> Result<(), String> {
    let SharingCoordinates { local_cluster, remote_cluster, .. } = *sharing;
    for cluster in [local_cluster, remote_cluster] {
        if !known.clusters.iter().any(|known| known.index == cluster) {
            return Err(format!("the machine has no cluster{cluster}"));
        }
    }
    if local_cluster == remote_cluster {
        return Err(format!("cluster{local_cluster} beside itself"));
    }
    let groups = [(local_cluster, sharing.local_threads), (remote_cluster, sharing.remote_threads)];
    let groups: Vec<(u32, u32)> = groups.into_iter().filter(|group| group.1 > 0).collect();
    if case.actors.len() != groups.len() {
        return Err(format!("{} actors for {} groups", case.actors.len(), groups.len()));
    }
    for (actor, (cluster, threads)) in case.actors.iter().zip(groups) {
        check_loop(actor, &sharing.kernel, &sharing.variant, threads)?;
        check_node(actor, sharing.memory_node)?;
        cluster_of(known, cluster, actor)?;
    }
    let node = machine.node(sharing.memory_node);
    let near = known.clusters.iter().find(|cluster| cluster.index == local_cluster);
    match node.zip(near) {
        Some((node, near)) if node.locality.intersects(&near.cpus) => Ok(()),
        _ => Err(format!("node {} is not local to cluster{local_cluster}", sharing.memory_node)),
    }
}

pub(super) fn check_link(
    machine: &Machine,
    known: &KnownParts,
    link: &LinkCoordinates,
    case: &Case,
) -> Result<(), String> {
    let package = |index: u32| {
        let found = machine.packages.iter().find(|package| package.os_index == index);
        found.ok_or_else(|| format!("the machine has no package {index}"))
    };
    let (from, to) = (package(link.from_package)?, package(link.to_package)?);
    if from.os_index == to.os_index {
        return Err(format!("a link of package {} to itself", from.os_index));
    }
    let (forth, back): (Vec<&Actor>, Vec<&Actor>) =
        case.actors.iter().partition(|actor| actor.cpus().intersects(&from.cpus));
    for (actors, own, other) in [(&forth, from, to), (&back, to, from)] {
        for actor in actors {
            check_loop(actor, &link.kernel, &link.variant, actor.threads())?;
            check_direction(machine, actor, own, other)?;
        }
    }
    let threads: u64 = forth.iter().map(|actor| u64::from(actor.threads())).sum();
    if threads != u64::from(link.threads) {
        return Err(format!("{} threads where its coordinates say {}", threads, link.threads));
    }
    if back.is_empty() == (link.way == Way::BothWays) {
        let actors = back.len();
        return Err(format!("{} with {actors} actors on the other package", link.way.as_str()));
    }
    let Some(cluster) = link.cluster else {
        let is_own = |cluster: &Cluster| cluster.cpus.is_subset(&from.cpus);
        let Some(idle) = idle_cluster(machine, known, &case.actors, is_own) else { return Ok(()) };
        return Err(format!(
            "cluster{} of package {} has no actor, and none is said to be alone",
            idle.index, from.os_index
        ));
    };
    match case.actors.as_slice() {
        [only] => cluster_of(known, cluster, only).map(|_| ()),
        actors => Err(format!("{} actors for cluster{cluster} alone", actors.len())),
    }
}

/// An actor's CPUs are of one package and its pages of the other.
fn check_direction(
    machine: &Machine,
    actor: &Actor,
    own: &Package,
    other: &Package,
) -> Result<(), String> {
    if !actor.cpus().is_subset(&own.cpus) {
        let cpus = actor.cpus();
        return Err(format!("its CPUs {cpus} are not those of package {}", own.os_index));
    }
    let nodes = actor.memory().and_then(MemoryPolicy::nodes).unwrap_or_default();
    let is_of_other =
        |node: u32| machine.node(node).is_some_and(|node| node.locality.intersects(&other.cpus));
    if !nodes.is_empty() && nodes.iter().all(is_of_other) {
        return Ok(());
    }
    Err(format!("its pages are on the nodes {nodes}, and not on package {}", other.os_index))
}
