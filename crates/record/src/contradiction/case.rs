//! Cases that no plan for the header's machine holds.

use nearfar_machine::{Initiator, Machine, NodeSet};

use crate::case::{Actor, Case, Coordinates, Pinning, Stream};

/// Says what in a case cannot be. `initiators` are those of the kind that the header asks for.
pub(super) fn check_case(
    machine: &Machine,
    initiators: &[Initiator],
    case: &Case,
) -> Result<(), String> {
    let of_case = |what: String| format!("the case {}: {what}", case.id);
    if case.actors.is_empty() {
        return Err(of_case("nothing moves data in it".into()));
    }
    for Actor::Stream(stream) in &case.actors {
        check_stream(machine, stream).map_err(of_case)?;
    }
    for coordinates in &case.coordinates {
        check_coordinates(initiators, coordinates, case).map_err(of_case)?;
    }
    Ok(())
}

fn check_stream(machine: &Machine, stream: &Stream) -> Result<(), String> {
    let binding = &stream.binding;
    if stream.threads == 0 || stream.working_set_bytes == 0 {
        return Err(format!(
            "{} threads on a working set of {} bytes",
            stream.threads, stream.working_set_bytes
        ));
    }
    if binding.cpus.is_empty() || !binding.cpus.is_subset(&machine.allowed_cpus) {
        return Err(format!(
            "its CPUs {} are not among those that could be used, {}",
            binding.cpus, machine.allowed_cpus
        ));
    }
    let known: NodeSet = machine.nodes.iter().map(|node| node.os_index).collect();
    if let Some(nodes) = binding.memory.nodes()
        && (nodes.is_empty() || !nodes.is_subset(&known))
    {
        return Err(format!("its memory nodes {nodes} are not among the machine's, {known}"));
    }
    check_thread_cpus(stream)
}

fn check_thread_cpus(stream: &Stream) -> Result<(), String> {
    let cpus = &stream.thread_cpus;
    let wanted = if stream.pinning == Pinning::Unbound { 0 } else { stream.threads as usize };
    if cpus.len() != wanted {
        return Err(format!("{} CPUs of threads where there are {wanted}", cpus.len()));
    }
    if let Some(outside) = cpus.iter().find(|&&cpu| !stream.binding.cpus.contains(cpu)) {
        return Err(format!("a thread's CPU {outside} is outside of {}", stream.binding.cpus));
    }
    let mut sorted = cpus.clone();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("two threads on CPU {}", pair[0])),
        None => Ok(()),
    }
}

fn check_coordinates(
    initiators: &[Initiator],
    coordinates: &Coordinates,
    case: &Case,
) -> Result<(), String> {
    let Coordinates::Pairs {
        initiator: kind,
        index,
        cluster,
        memory_node,
        kernel,
        variant,
        threads,
        ..
    } = coordinates;
    let [Actor::Stream(stream)] = case.actors.as_slice() else {
        return Err("a pair has one actor".into());
    };
    let of_stream = (&stream.kernel, &stream.variant, stream.threads);
    if of_stream != (kernel, variant, *threads) {
        return Err(format!(
            "its coordinates say {kernel} in {variant} by {threads} threads, its actor {} in {} by {}",
            stream.kernel, stream.variant, stream.threads
        ));
    }
    if stream.binding.memory.nodes() != Some(NodeSet::single(*memory_node)) {
        return Err(format!(
            "its coordinates say memory node {memory_node}, its actor mem={}",
            stream.binding.memory
        ));
    }
    let found = initiators.iter().find(|initiator| initiator.index == *index);
    match found.filter(|initiator| initiator.kind == *kind && initiator.cluster == *cluster) {
        None => Err(format!("the machine has no {kind}{index} in cluster {cluster}")),
        Some(initiator) if initiator.cpus() != stream.binding.cpus => Err(format!(
            "its CPUs are {}, those of {kind}{index} {}",
            stream.binding.cpus,
            initiator.cpus()
        )),
        Some(_) => Ok(()),
    }
}
