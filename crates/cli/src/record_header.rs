//! What a new record begins with.

use std::path::Path;

use anyhow::bail;
use nearfar_flow::SimulatedMachine;
use nearfar_kernels::{CATALOG, Variant, find};
use nearfar_machine::Machine;
use nearfar_measure::simulated::new_record;
use nearfar_measure::{DEFAULT_CACHE_MULTIPLE, now_utc, read_environment, suite_inputs};
use nearfar_record::{Executor, Experiment, Header, Inputs, Record};
use nearfar_units::{did_you_mean, nanoseconds};
use nearfar_workloads::{Workload, WorkloadName};

use crate::args::{CharacterizeArguments, Noise};
use crate::live_accelerators::live_accelerators;
use crate::live_network::with_network_here;
use crate::record_file;

/// A record of this machine with nothing measured yet.
pub fn of_this_machine(
    arguments: &CharacterizeArguments,
    machine: Machine,
) -> anyhow::Result<Record> {
    let inputs = with_devices_here(with_options(arguments, base(arguments))?, &machine);
    let inputs = with_network_here(arguments, inputs, &machine)?;
    Ok(new_of_this_machine(inputs, machine))
}

/// The same inputs with the devices of this machine, where they are measured.
pub fn with_devices_here(inputs: Inputs, machine: &Machine) -> Inputs {
    let measures_devices = inputs.experiments.contains(&Experiment::Devices);
    let devices = measures_devices.then(|| live_accelerators(machine).inputs);
    Inputs { devices, ..inputs }
}

/// A record of this machine with these inputs and nothing measured yet.
pub fn new_of_this_machine(inputs: Inputs, machine: Machine) -> Record {
    let host = record_file::host_name();
    let mut header = Header::new(host, now_utc(), Executor::Native, inputs, machine);
    header.versions.hwloc = Some(nearfar_topology::hwloc_version());
    header.environment = read_environment(Path::new("/"));
    Record::new(header)
}

/// A record of a simulated machine with nothing computed yet.
pub fn of_simulated(
    arguments: &CharacterizeArguments,
    simulated: &SimulatedMachine,
) -> anyhow::Result<Record> {
    let noise = arguments.noise != Some(Noise::Off);
    Ok(new_record(simulated, with_options(arguments, base(arguments))?, noise))
}

/// Refuses an instruction set that nothing can run in.
pub fn check_variant(
    arguments: &CharacterizeArguments,
    simulated: Option<&SimulatedMachine>,
) -> anyhow::Result<()> {
    let Some(name) = &arguments.isa else { return Ok(()) };
    match simulated {
        Some(simulated) if !simulated.variants.contains(name) => {
            bail!(
                "{} has no variant '{name}'; it has {}",
                simulated.name,
                simulated.variants.join(", ")
            )
        }
        None if !name.parse().is_ok_and(|variant: Variant| variant.is_available()) => {
            let runs = Variant::every().filter(|it| it.is_available());
            let names: Vec<&str> = runs.map(Variant::word).collect();
            bail!("this CPU does not run '{name}'; it runs {}", names.join(", "));
        }
        _ => Ok(()),
    }
}

/// What is measured where nothing else is said.
fn base(arguments: &CharacterizeArguments) -> Inputs {
    let of_suite = suite_inputs(arguments.suite());
    let experiments = chosen_experiments(arguments).unwrap_or(of_suite.experiments);
    Inputs { experiments, budget_ns: arguments.budget.map(nanoseconds), ..of_suite }
}

/// The multiple of the caches that is not looked for: machines of a fleet have one.
fn cache_multiple(arguments: &CharacterizeArguments) -> Option<u32> {
    let of_fleet = arguments.run.is_some() && arguments.working_set.is_none();
    let of_fleet = of_fleet && arguments.simulate.is_none();
    arguments.cache_multiple.or(of_fleet.then_some(DEFAULT_CACHE_MULTIPLE))
}

/// Inputs with what the options say otherwise, but for the experiments.
pub fn with_options(arguments: &CharacterizeArguments, base: Inputs) -> anyhow::Result<Inputs> {
    let experiments = chosen_experiments(arguments).unwrap_or_else(|| base.experiments.clone());
    for name in &arguments.kernel {
        if name.parse::<Workload>().is_ok() && !experiments.contains(&Experiment::Workloads) {
            bail!(
                "--kernel {name}: it is one of the papers' programs, which --only workloads runs"
            );
        }
        if find(name).is_none() && name.parse::<Workload>().is_err() {
            // `cg.X` and `cg` are meant as programs.
            let word = name.split('.').next().unwrap_or(name);
            if let (Err(why), true) =
                (name.parse::<Workload>(), word.parse::<WorkloadName>().is_ok())
            {
                bail!("--kernel {name}: {why}");
            }
            let names: Vec<&str> = CATALOG.iter().map(|kernel| kernel.name).collect();
            let meant = did_you_mean(name, names.iter().copied());
            bail!("there is no kernel '{name}'{meant}; there are {}", names.join(", "));
        }
    }
    Ok(Inputs {
        group_by: arguments.group_by.unwrap_or(base.group_by),
        kernels: named_kernels(arguments).or(base.kernels),
        variant: arguments.isa.clone().or(base.variant),
        pages: arguments.pages.unwrap_or(base.pages),
        working_set_bytes: arguments.working_set.map(|bytes| bytes.0).or(base.working_set_bytes),
        cache_multiple: cache_multiple(arguments).or(base.cache_multiple),
        window_ns: arguments.window.map_or(base.window_ns, nanoseconds),
        windows_per_round: arguments.samples.map_or(base.windows_per_round, |_| 1),
        runs: arguments.runs.or(arguments.samples).unwrap_or(base.runs),
        grid: arguments.grid.unwrap_or(base.grid),
        min_rounds: arguments.samples.unwrap_or(base.min_rounds),
        max_rounds: arguments.samples.unwrap_or(base.max_rounds),
        seed: arguments.seed.unwrap_or(base.seed),
        ..base
    })
}

/// Each that was named, once.
pub fn named_kernels(arguments: &CharacterizeArguments) -> Option<Vec<String>> {
    let mut kernels: Vec<String> = Vec::new();
    for name in &arguments.kernel {
        if !kernels.contains(name) {
            kernels.push(name.clone());
        }
    }
    (!kernels.is_empty()).then_some(kernels)
}

/// Those that were chosen, in the order in which they are measured.
pub fn chosen_experiments(arguments: &CharacterizeArguments) -> Option<Vec<Experiment>> {
    let is_chosen = |experiment: &Experiment| arguments.only.contains(experiment);
    let chosen: Vec<_> = Experiment::OF_MACHINE.into_iter().filter(is_chosen).collect();
    (!chosen.is_empty()).then_some(chosen)
}
