//! Headers that this program cannot have written.

use nearfar_machine::MemoryModule;

use super::bounds::{check_date, check_environment, check_machine};
use super::command::check_tried;
use crate::command::CommandInputs;
use crate::experiment::Experiment;
use crate::header::{Executor, Header, Inputs};

/// Says what in a header cannot be.
pub(crate) fn check_header(header: &Header) -> Result<(), String> {
    let mut modules = header.machine.memory_modules.iter().flatten();
    if let Some(absurd) = modules.find_map(MemoryModule::absurdity) {
        return Err(absurd);
    }
    if header.fingerprint != header.machine.fingerprint() {
        return Err("the fingerprint is not that of the machine beside it".into());
    }
    check_date(&header.started)?;
    check_machine(&header.machine)?;
    check_environment(&header.environment)?;
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
    let rounds = 1..=Inputs::MAX_ROUNDS;
    if !rounds.contains(&inputs.min_rounds)
        || !(inputs.min_rounds..=Inputs::MAX_ROUNDS).contains(&inputs.max_rounds)
    {
        return Err(format!("{} to {} rounds", inputs.min_rounds, inputs.max_rounds));
    }
    if !rounds.contains(&inputs.windows_per_round) {
        return Err(format!("{} windows a round", inputs.windows_per_round));
    }
    if !rounds.contains(&inputs.runs) {
        return Err(format!("{} runs of a case of scaling", inputs.runs));
    }
    if inputs.window_ns > Inputs::MAX_WINDOW_NS {
        return Err(format!("windows of {} ns", inputs.window_ns));
    }
    if !(inputs.target > 0.0 && inputs.target <= 1.0) {
        return Err(format!("a target of {:e}", inputs.target));
    }
    let sizes = Inputs::MIN_WORKING_SET..=Inputs::MAX_WORKING_SET;
    if let Some(bytes) = inputs.working_set_bytes.filter(|bytes| !sizes.contains(bytes)) {
        return Err(format!("a working set of {bytes} bytes"));
    }
    let multiples = [inputs.cache_multiple, inputs.chase_multiple].into_iter().flatten();
    let is_planned =
        |multiple: &u32| multiple.is_power_of_two() && *multiple <= Inputs::MAX_MULTIPLE;
    if let Some(multiple) = multiples.into_iter().find(|multiple| !is_planned(multiple)) {
        return Err(format!("{multiple} times the caches"));
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
