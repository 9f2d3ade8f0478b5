//! Programs of the user: each at every placement that was chosen for them, alone and beside streams
//! that load the same memory.

use nearfar_record::{
    Absent, Actor, Case, Command, CommandCoordinates, CommandPlacement, CommandProgram,
    Coordinates, LatencyLoad, Pressure, Stream,
};

use super::omitted::made;
use super::stream::StreamPlan;
use super::{Planned, Setting};
use crate::kernel_name::MemoryKernel;

/// The programs of the inputs at their placements; none where there are none.
pub(super) fn plan(setting: Setting<'_>) -> Planned {
    let mut planned = Planned::default();
    let Some(commands) = &setting.inputs.commands else { return planned };
    for program in &commands.programs {
        for at in &commands.placements {
            let command = command(program, at);
            let alone = Case {
                id: id(program, at),
                coordinates: vec![coordinates(program, at, None)],
                actors: vec![Actor::Command(command.clone())],
            };
            let beside = |pressure| under_pressure(setting, (program, at), pressure, &command);
            planned.extend(std::iter::once(Ok(alone)));
            planned.extend(commands.pressures.iter().map(beside));
        }
    }
    planned
}

fn id(program: &CommandProgram, at: &CommandPlacement) -> String {
    let memory = at.memory_node.map_or_else(|| "interleave".into(), |node| format!("node{node}"));
    format!("commands/{}/initiator{}/{memory}", program.label, at.initiator)
}

fn command(program: &CommandProgram, at: &CommandPlacement) -> Command {
    let CommandProgram { label, program, arguments, environment, .. } = program.clone();
    Command { label, program, arguments, environment, binding: at.binding.clone() }
}

fn coordinates(
    program: &CommandProgram,
    at: &CommandPlacement,
    load: Option<LatencyLoad>,
) -> Coordinates {
    let CommandPlacement { initiator, cpu_node, memory_node, .. } = *at;
    let command = program.label.clone();
    Coordinates::Commands(CommandCoordinates { command, initiator, cpu_node, memory_node, load })
}

/// The program beside threads on the memory that it is asked for on.
fn under_pressure(
    setting: Setting<'_>,
    (program, at): (&CommandProgram, &CommandPlacement),
    pressure: &Pressure,
    command: &Command,
) -> Result<Case, Absent> {
    let Pressure { kernel, pause_cycles, cpus } = pressure;
    let id = format!("{}/beside/{kernel}/pause{pause_cycles}", id(program, at));
    let of = setting.preferred(id.clone(), kernel)?;
    let (loads, stores) =
        MemoryKernel::named(kernel).map_or((0, 0), |it| (it.loads(), it.stores()));
    let memory = at.binding.memory.clone();
    let plan = StreamPlan::pinned(cpus.clone(), cpus.iter().collect(), &of, memory, 2);
    let load = LatencyLoad {
        kernel: of.kernel.clone(),
        variant: of.variant.clone(),
        threads: plan.threads,
        pause_cycles: *pause_cycles,
        loads,
        stores,
    };
    let actors = plan.on_memory(setting).map(|stream| {
        let stream = Actor::Stream(Stream { pause_cycles: *pause_cycles, ..stream });
        vec![stream, Actor::Command(command.clone())]
    });
    made(id, vec![coordinates(program, at, Some(load))], actors)
}
