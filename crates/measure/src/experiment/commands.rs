//! Programs of the user: each at every placement that was chosen for them.

use nearfar_record::{
    Actor, Case, Command, CommandCoordinates, CommandPlacement, CommandProgram, Coordinates,
};

use super::{Planned, Setting};

/// The programs of the inputs at their placements; none where there are none.
pub(super) fn plan(setting: Setting<'_>) -> Planned {
    let Some(commands) = &setting.inputs.commands else { return Planned::default() };
    let of_program = |program| commands.placements.iter().map(move |at| case(program, at));
    Planned { cases: commands.programs.iter().flat_map(of_program).collect(), absent: Vec::new() }
}

fn case(program: &CommandProgram, placement: &CommandPlacement) -> Case {
    let CommandProgram { label, program, arguments, environment, .. } = program.clone();
    let CommandPlacement { initiator, cpu_node, memory_node, binding } = placement.clone();
    let memory = memory_node.map_or_else(|| "interleave".into(), |node| format!("node{node}"));
    Case {
        id: format!("commands/{label}/initiator{initiator}/{memory}"),
        coordinates: vec![Coordinates::Commands(CommandCoordinates {
            command: label.clone(),
            initiator,
            cpu_node,
            memory_node,
        })],
        actors: vec![Actor::Command(Command { label, program, arguments, environment, binding })],
    }
}
