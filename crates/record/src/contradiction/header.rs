//! Headers that this program cannot have written.

use nearfar_machine::MemoryModule;

use super::command::check_tried;
use crate::command::CommandInputs;
use crate::experiment::Experiment;
use crate::header::{Executor, Header, Inputs};

/// Far above what any suite asks for; the engine makes room for this many.
const MOST_WINDOWS: u32 = 10_000;

/// Ten times as many as a paper made.
const MOST_RUNS: u32 = 10_000;

/// Says what in a header cannot be.
pub(crate) fn check_header(header: &Header) -> Result<(), String> {
    let mut modules = header.machine.memory_modules.iter().flatten();
    if let Some(absurd) = modules.find_map(MemoryModule::absurdity) {
        return Err(absurd);
    }
    if header.fingerprint != header.machine.fingerprint() {
        return Err("the fingerprint is not that of the machine beside it".into());
    }
    check_inputs(&header.inputs)?;
    match (header.executor, &header.simulation) {
        (Executor::Native, Some(_)) => Err("a machine was measured, yet one is simulated".into()),
        (Executor::Simulated, _) | (Executor::Native, None) => Ok(()),
    }
}

/// Says what in inputs that were added to a record cannot be.
pub(super) fn check_added(begun_with: &Inputs, added: &Inputs) -> Result<(), String> {
    check_inputs(added)?;
    if added.commands.is_some() || begun_with.commands.is_some() {
        return Err("something is added to programs, or programs to something".into());
    }
    let same = |inputs: &Inputs| (inputs.group_by, inputs.pages, inputs.seed);
    if same(begun_with) != same(added) {
        return Err(
            "CPUs are grouped otherwise from here on, or pages or the seed are others".into()
        );
    }
    Ok(())
}

fn check_inputs(inputs: &Inputs) -> Result<(), String> {
    if inputs.min_rounds == 0 || inputs.max_rounds < inputs.min_rounds {
        return Err(format!("{} to {} rounds", inputs.min_rounds, inputs.max_rounds));
    }
    if inputs.windows_per_round == 0 || inputs.windows_per_round > MOST_WINDOWS {
        return Err(format!("{} windows a round", inputs.windows_per_round));
    }
    if inputs.runs == 0 || inputs.runs > MOST_RUNS {
        return Err(format!("{} runs of a case of scaling", inputs.runs));
    }
    if let Some(commands) = &inputs.commands {
        check_commands(commands)?;
    }
    if inputs.commands.is_some() != inputs.experiments.contains(&Experiment::Commands) {
        return Err("programs that are not run, or runs of no programs".into());
    }
    if inputs.devices.is_some() != inputs.experiments.contains(&Experiment::Devices) {
        return Err("devices that are not measured, or transfers that nobody looked for".into());
    }
    if inputs.network.is_some() && !inputs.experiments.contains(&Experiment::Network) {
        return Err("another machine where no messages are measured".into());
    }
    let mut kernels = inputs.kernels.clone().unwrap_or_default();
    kernels.sort_unstable();
    if let Some(twice) = kernels.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("the kernel {} twice", twice[0]));
    }
    let mut experiments = inputs.experiments.clone();
    experiments.sort_unstable();
    if let Some(twice) = experiments.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("the experiment {} twice", twice[0]));
    }
    Ok(())
}

/// Programs have names, each its own, and something to run.
fn check_commands(commands: &CommandInputs) -> Result<(), String> {
    let mut labels: Vec<&str> =
        commands.programs.iter().map(|program| program.label.as_str()).collect();
    labels.sort_unstable();
    if let Some(twice) = labels.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("two programs with the name {}", twice[0]));
    }
    if labels.contains(&"") || commands.programs.iter().any(|program| program.program.is_empty()) {
        return Err("a program without a name".into());
    }
    check_tried(commands.counters.as_deref().unwrap_or_default())
}
