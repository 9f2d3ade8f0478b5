//! A program at a placement: `commands`.

use nearfar_machine::MemoryPolicy;

use super::{check_cpu_node, check_node, cluster_of};
use crate::case::Case;
use crate::command::{CommandPlacement, CommandProgram};
use crate::contradiction::history::KnownParts;
use crate::coordinates::CommandCoordinates;
use crate::header::Header;

pub(super) fn check_command(
    header: &Header,
    known: &KnownParts,
    place: &CommandCoordinates,
    case: &Case,
) -> Result<(), String> {
    let Some(command) = case.command() else {
        return Err("it has one actor, a program".into());
    };
    let cluster = cluster_of(known, place.cluster, &case.actors[0])?;
    check_cpu_node(cluster, place.cpu_node)?;
    match place.memory_node {
        Some(node) => check_node(&case.actors[0], node)?,
        None if matches!(command.binding.memory, MemoryPolicy::Interleave(_)) => {}
        None => {
            return Err(format!(
                "its coordinates say pages on several nodes, its actor mem={}",
                command.binding.memory
            ));
        }
    }
    if place.command != command.label {
        return Err(format!(
            "its coordinates say the program {}, its actor {}",
            place.command, command.label
        ));
    }
    let Some(asked) = &header.inputs.commands else {
        return Err("nobody asked for programs".into());
    };
    let program = CommandProgram {
        label: command.label.clone(),
        program: command.program.clone(),
        arguments: command.arguments.clone(),
    };
    let placement = CommandPlacement {
        cluster: place.cluster,
        cpu_node: place.cpu_node,
        memory_node: place.memory_node,
        binding: command.binding.clone(),
    };
    if asked.programs.contains(&program) && asked.placements.contains(&placement) {
        return Ok(());
    }
    Err(format!("nobody asked for the program {} by {}", command.label, command.binding))
}
