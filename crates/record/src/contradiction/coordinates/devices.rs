//! Transfers to and from devices: `devices`.

use nearfar_machine::TransferDirection;

use super::{check_cpu_node, check_loop, check_node, cluster_of};
use crate::case::{Actor, Case};
use crate::contradiction::history::KnownParts;
use crate::device_coordinates::{
    DeviceCoordinates, DeviceStreamCoordinates, TransferBeside, TransferCoordinates,
};
use crate::transfer::Transfer;

pub(super) fn check_device(
    known: &KnownParts,
    place: &DeviceCoordinates,
    case: &Case,
) -> Result<(), String> {
    match place {
        DeviceCoordinates::Transfer(place) => check_transfer(known, place, case),
        DeviceCoordinates::Streams(place) => check_streams(known, place, case),
    }
}

fn check_transfer(
    known: &KnownParts,
    place: &TransferCoordinates,
    case: &Case,
) -> Result<(), String> {
    let position = usize::try_from(place.actor).unwrap_or(usize::MAX);
    let Some(actor @ Actor::Transfer(transfer)) = case.actors.get(position) else {
        return Err(format!("its coordinates say a transfer at {position}, which is none"));
    };
    let cluster = cluster_of(known, place.cluster, actor)?;
    check_cpu_node(cluster, place.cpu_node)?;
    match place.memory_node {
        Some(node) => check_node(actor, node)?,
        None if transfer.direction == TransferDirection::ToPeer => {}
        None => return Err("its coordinates say no memory node, and its pages have one".into()),
    }
    let said = (&place.device, &place.peer, place.direction, place.host_memory, place.bytes);
    let Transfer { device, peer, direction, host_memory, bytes, .. } = transfer;
    if said != (device, peer, *direction, *host_memory, *bytes) {
        return Err("its coordinates and its actor say other devices, ways or bytes".into());
    }
    check_beside(place, position, case)
}

/// The other actor is what the coordinates say.
fn check_beside(place: &TransferCoordinates, position: usize, case: &Case) -> Result<(), String> {
    let mut others = case.actors.iter().enumerate().filter(|(other, _)| *other != position);
    let other = others.next().map(|(_, actor)| actor);
    if others.next().is_some() {
        return Err("more than one actor beside a transfer".into());
    }
    match (&place.beside, other) {
        (None, None) => Ok(()),
        (Some(TransferBeside::Streams { kernel, variant, threads }), Some(actor)) => {
            check_loop(actor, kernel, variant, *threads)?;
            if actor.as_stream().is_none() {
                return Err("what runs beside the transfer is no stream".into());
            }
            place.memory_node.map_or(Ok(()), |node| check_node(actor, node))
        }
        (Some(TransferBeside::Device { device }), Some(Actor::Transfer(other)))
            if *device == other.device && other.device != place.device =>
        {
            Ok(())
        }
        _ => Err("its coordinates and its actors say other things beside the transfer".into()),
    }
}

fn check_streams(
    known: &KnownParts,
    place: &DeviceStreamCoordinates,
    case: &Case,
) -> Result<(), String> {
    super::only_stream(case)?;
    let actor = &case.actors[0];
    check_loop(actor, &place.kernel, &place.variant, place.threads)?;
    check_node(actor, place.memory_node)?;
    check_cpu_node(cluster_of(known, place.cluster, actor)?, place.cpu_node)
}
