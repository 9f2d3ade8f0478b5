//! Coordinates that are not those of the case's actors.

mod commands;
mod devices;
mod hybrid;
mod latency;
mod roofs;
mod several;

use nearfar_machine::{Cluster, Machine, MemoryPolicy, NodeSet};

use super::history::KnownParts;
use crate::case::{Actor, Case, Stream};
use crate::coordinates::{Affinity, Coordinates, PairCoordinates, ScalingCoordinates};
use crate::header::Header;

/// Says in what coordinates and actors differ.
pub(super) fn check_coordinates(
    header: &Header,
    known: &KnownParts,
    coordinates: &Coordinates,
    case: &Case,
) -> Result<(), String> {
    let (machine, experiment) = (&header.machine, coordinates.experiment());
    if !header.inputs.experiments.contains(&experiment) {
        return Err(format!("it is of {experiment}, which is not measured"));
    }
    let pauses = case.actors.iter().filter_map(Actor::as_stream);
    let pauses = pauses.map(|stream| stream.pause_cycles).max().unwrap_or(0);
    if pauses > 0 && !matches!(coordinates, Coordinates::Latency(_)) {
        return Err(format!("its threads pause for {pauses} cycles, as only beside a chase"));
    }
    match coordinates {
        Coordinates::Pairs(pair) => check_pair(known, pair, case),
        Coordinates::Scaling(scaling) => check_scaling(scaling, case),
        Coordinates::Sharing(sharing) => several::check_sharing(machine, known, sharing, case),
        Coordinates::Links(link) => several::check_link(machine, known, link, case),
        Coordinates::Roofs(roof) => roofs::check_roof(machine, known, roof, case),
        Coordinates::Hybrid(hybrid) => hybrid::check_hybrid(known, hybrid, case),
        Coordinates::Mixes(_) => check_mix(case),
        Coordinates::Latency(latency) => latency::check_latency(known, latency, case),
        Coordinates::Devices(device) => devices::check_device(known, device, case),
        Coordinates::Commands(command) => commands::check_command(header, known, command, case),
    }
}

/// The only actor of a case, a stream.
fn only_stream(case: &Case) -> Result<&Stream, String> {
    match case.actors.as_slice() {
        [Actor::Stream(stream)] => Ok(stream),
        _ => Err("it has one actor, a stream".into()),
    }
}

/// An actor runs what its coordinates say.
fn check_loop(actor: &Actor, kernel: &str, variant: &str, threads: u32) -> Result<(), String> {
    if (actor.kernel(), actor.variant(), actor.threads()) == (kernel, variant, threads) {
        return Ok(());
    }
    Err(format!(
        "its coordinates say {kernel} in {variant} by {threads} threads, its actor {} in {} by {}",
        actor.kernel(),
        actor.variant(),
        actor.threads()
    ))
}

fn check_node(actor: &Actor, node: u32) -> Result<(), String> {
    match actor.memory() {
        Some(policy) if policy.nodes() == Some(NodeSet::single(node)) => Ok(()),
        Some(policy) => {
            Err(format!("its coordinates say memory node {node}, its actor mem={policy}"))
        }
        None => Err(format!("its coordinates say memory node {node}, its actor has no memory")),
    }
}

/// The cluster of that number, of which the actor's CPUs are.
fn cluster_of<'a>(known: &'a KnownParts, index: u32, actor: &Actor) -> Result<&'a Cluster, String> {
    let Some(cluster) = known.clusters.iter().find(|cluster| cluster.index == index) else {
        return Err(format!("the machine has no cluster{index}"));
    };
    if actor.cpus().is_subset(&cluster.cpus) {
        return Ok(cluster);
    }
    Err(format!("its CPUs are {}, those of cluster{index} {}", actor.cpus(), cluster.cpus))
}

/// A cluster that has a core that may be used, and no actor.
fn idle_cluster<'a>(
    machine: &Machine,
    known: &'a KnownParts,
    actors: &[Actor],
    is_asked: impl Fn(&Cluster) -> bool,
) -> Option<&'a Cluster> {
    known.clusters.iter().find(|cluster| {
        is_asked(cluster)
            && !machine.allowed_cores(&cluster.cpus).is_empty()
            && !actors.iter().any(|actor| actor.cpus().intersects(&cluster.cpus))
    })
}

/// Coordinates name the lowest node with CPUs of their cluster.
fn check_cpu_node(cluster: &Cluster, cpu_node: Option<u32>) -> Result<(), String> {
    let in_words = |node: Option<u32>| node.map_or("none".into(), |node| node.to_string());
    if cluster.cpu_node == cpu_node {
        return Ok(());
    }
    Err(format!(
        "its coordinates say {} for the lowest node with CPUs of cluster{}, which is {}",
        in_words(cpu_node),
        cluster.index,
        in_words(cluster.cpu_node)
    ))
}

fn check_pair(known: &KnownParts, pair: &PairCoordinates, case: &Case) -> Result<(), String> {
    let stream = only_stream(case)?;
    check_loop(&case.actors[0], &pair.kernel, &pair.variant, pair.threads)?;
    check_node(&case.actors[0], pair.memory_node)?;
    let PairCoordinates { initiator: kind, index, cluster, .. } = pair;
    let found = known.initiators.iter().find(|initiator| initiator.index == *index);
    match found.filter(|initiator| initiator.kind == *kind && initiator.cluster == *cluster) {
        None => Err(format!("the machine has no {kind}{index} in cluster {cluster}")),
        Some(initiator) if initiator.cpus() != stream.binding.cpus => Err(format!(
            "its CPUs are {}, those of {kind}{index} {}",
            stream.binding.cpus,
            initiator.cpus()
        )),
        Some(_) => {
            let cluster = cluster_of(known, pair.cluster, &case.actors[0])?;
            check_cpu_node(cluster, pair.cpu_node)
        }
    }
}

fn check_scaling(scaling: &ScalingCoordinates, case: &Case) -> Result<(), String> {
    let stream = only_stream(case)?;
    check_loop(&case.actors[0], &scaling.kernel, &scaling.variant, scaling.threads)?;
    if stream.binding.memory != MemoryPolicy::FirstTouch {
        let policy = &stream.binding.memory;
        return Err(format!("its pages go by mem={policy}, and not to whom touches them first"));
    }
    let affinity = scaling.affinity;
    if (affinity == Affinity::Unbound) == case.actors[0].is_pinned() {
        let found = if case.actors[0].is_pinned() { "pinned" } else { "not pinned" };
        return Err(format!("its coordinates say {}, its threads are {found}", affinity.as_str()));
    }
    Ok(())
}

fn check_mix(case: &Case) -> Result<(), String> {
    match case.actors.iter().find(|actor| actor.as_stream().is_none()) {
        Some(other) => Err(format!("{} in a set of streams", other.kernel())),
        None => Ok(()),
    }
}
