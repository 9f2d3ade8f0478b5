//! A chase, alone or beside traffic: `latency`.

use super::{check_cpu_node, check_loop, check_node, cluster_of};
use crate::case::{Actor, Case};
use crate::contradiction::history::KnownParts;
use crate::coordinates::{ChaseWalk, LatencyCoordinates, LatencyLoad};

pub(super) fn check_latency(
    known: &KnownParts,
    latency: &LatencyCoordinates,
    case: &Case,
) -> Result<(), String> {
    let expected = 1 + usize::from(latency.load.is_some());
    let (Some(Actor::Chase(chase)), true) = (case.actors.first(), case.actors.len() == expected)
    else {
        return Err("a chase comes first, and after it at most what loads the memory".into());
    };
    let cluster = cluster_of(known, latency.cluster, &case.actors[0])?;
    check_cpu_node(cluster, latency.cpu_node)?;
    check_node(&case.actors[0], latency.memory_node)?;
    if chase.working_set_bytes != latency.working_set_bytes {
        return Err(format!(
            "its coordinates say {} bytes, its chase walks through {}",
            latency.working_set_bytes, chase.working_set_bytes
        ));
    }
    if chase.pages != latency.pages {
        return Err("its chase has other pages than its coordinates say".into());
    }
    let (group, set) = (chase.group_bytes, chase.working_set_bytes);
    // A set that is smaller than a group is one group.
    if latency.walk == ChaseWalk::Anywhere && group != set {
        return Err(format!("a walk anywhere in {set} bytes, in groups of {group}"));
    }
    match (&latency.load, case.actors.get(1)) {
        (Some(load), Some(actor)) => check_load(latency.memory_node, load, actor),
        _ => Ok(()),
    }
}

fn check_load(node: u32, load: &LatencyLoad, actor: &Actor) -> Result<(), String> {
    check_loop(actor, &load.kernel, &load.variant, load.threads)?;
    check_node(actor, node)?;
    let Some(stream) = actor.as_stream() else {
        return Err("what loads the memory is no stream".into());
    };
    if stream.pause_cycles != load.pause_cycles {
        return Err(format!(
            "its coordinates say pauses of {} cycles, its actor makes {}",
            load.pause_cycles, stream.pause_cycles
        ));
    }
    Ok(())
}
