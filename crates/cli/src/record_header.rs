//! What a new record begins with, and whether a record that is there may be gone
//! on with.

use std::path::{Path, PathBuf};

use anyhow::bail;
use nearfar_flow::SimulatedMachine;
use nearfar_kernels::{CATALOG, Variant, find};
use nearfar_machine::Machine;
use nearfar_measure::simulated::new_record;
use nearfar_measure::{now_utc, read_environment, suite_experiments, suite_inputs};
use nearfar_record::{Cpu, Executor, Experiment, Header, Inputs, Record, Sealing};
use nearfar_units::nanoseconds;

use crate::args::{CharacterizeArguments, Noise};
use crate::live_accelerators::live_accelerators;
use crate::record_file;

/// A record of this machine with nothing measured yet.
pub fn of_this_machine(
    arguments: &CharacterizeArguments,
    machine: Machine,
) -> anyhow::Result<Record> {
    if let Some(name) = &arguments.isa
        && !name.parse().is_ok_and(|variant: Variant| variant.is_available())
    {
        let names: Vec<String> = Variant::available().iter().map(ToString::to_string).collect();
        bail!("this CPU does not run '{name}'; it runs {}", names.join(", "));
    }
    let inputs = inputs(arguments)?;
    let measures_devices = inputs.experiments.contains(&Experiment::Devices);
    let devices = measures_devices.then(|| live_accelerators(&machine).inputs);
    Ok(new_of_this_machine(Inputs { devices, ..inputs }, machine))
}

/// A record of this machine with these inputs and nothing measured yet.
pub fn new_of_this_machine(inputs: Inputs, machine: Machine) -> Record {
    let host = record_file::host_name();
    let mut header = Header::new(host, now_utc(), Executor::Native, inputs, machine);
    header.versions.hwloc = Some(nearfar_topology::hwloc_version());
    header.environment = read_environment(Path::new("/"));
    Record::new(header)
}

/// A record of a simulated machine with nothing worked out yet.
pub fn of_simulated(
    arguments: &CharacterizeArguments,
    simulated: &SimulatedMachine,
) -> anyhow::Result<Record> {
    if let Some(name) = &arguments.isa
        && !simulated.variants.contains(name)
    {
        bail!(
            "{} has no variant '{name}'; it has {}",
            simulated.name,
            simulated.variants.join(", ")
        );
    }
    let noise = arguments.noise == Noise::Auto;
    Ok(new_record(simulated, inputs(arguments)?, noise))
}

fn inputs(arguments: &CharacterizeArguments) -> anyhow::Result<Inputs> {
    for name in &arguments.kernel {
        if find(name).is_none() {
            let names: Vec<&str> = CATALOG.iter().map(|kernel| kernel.name).collect();
            bail!("there is no kernel '{name}'; there are {}", names.join(", "));
        }
    }
    let of_suite = suite_inputs(arguments.suite());
    Ok(Inputs {
        experiments: experiments(arguments),
        group_by: arguments.group_by,
        kernels: named_kernels(arguments),
        variant: arguments.isa.clone(),
        pages: arguments.pages,
        working_set_bytes: arguments.working_set.map(|bytes| bytes.0),
        window_ns: arguments.window.map_or(of_suite.window_ns, nanoseconds),
        windows_per_round: arguments.samples.map_or(of_suite.windows_per_round, |_| 1),
        runs: arguments.runs.or(arguments.samples).unwrap_or(of_suite.runs),
        grid: arguments.grid.unwrap_or(of_suite.grid),
        min_rounds: arguments.samples.unwrap_or(of_suite.min_rounds),
        max_rounds: arguments.samples.unwrap_or(of_suite.max_rounds),
        budget_ns: arguments.budget.map(nanoseconds),
        seed: arguments.seed.unwrap_or(of_suite.seed),
        ..of_suite
    })
}

/// Each that was named, once.
fn named_kernels(arguments: &CharacterizeArguments) -> Option<Vec<String>> {
    let mut kernels: Vec<String> = Vec::new();
    for name in &arguments.kernel {
        if !kernels.contains(name) {
            kernels.push(name.clone());
        }
    }
    (!kernels.is_empty()).then_some(kernels)
}

/// Those that were chosen, in the order in which they are measured, or the suite's own.
fn experiments(arguments: &CharacterizeArguments) -> Vec<Experiment> {
    if arguments.only.is_empty() {
        return suite_experiments(arguments.suite());
    }
    let is_chosen = |experiment: &Experiment| arguments.only.contains(experiment);
    Experiment::OF_MACHINE.into_iter().filter(is_chosen).collect()
}

/// The record that `--resume` goes on with: `--out`, or the newest one of this host.
pub fn to_resume(arguments: &CharacterizeArguments) -> anyhow::Result<(Record, PathBuf)> {
    let newest = || record_file::newest(&record_file::host_name());
    let path = arguments.out.clone().map_or_else(newest, Ok)?;
    let mut record = record_file::read(&path)?;
    refuse_edited(&path, &record)?;
    if record.header.inputs.commands.is_some() {
        bail!(
            "{} is a record of programs, which cannot be gone on with; run `nearfar sensitivity` again",
            path.display()
        );
    }
    record.header.inputs.budget_ns = arguments.budget.map(nanoseconds);
    Ok((record, path))
}

/// Figures that somebody changed must not be mixed with measured ones.
fn refuse_edited(path: &Path, record: &Record) -> anyhow::Result<()> {
    if let (Sealing::Edited { .. }, Some(finding)) = (&record.sealing, record.sealing.finding()) {
        bail!(
            "{}: {finding}; go on with the record as it was written, or begin a new one",
            path.display()
        );
    }
    Ok(())
}

/// Figures of two versions of the kernels or of the solver must not be mixed.
pub fn refuse_another_version(path: &Path, record: &Record) -> anyhow::Result<()> {
    refuse_another(path, "nearfar", &record.header.versions.nearfar, env!("CARGO_PKG_VERSION"))
}

fn refuse_another(path: &Path, what: &str, there: &str, now: &str) -> anyhow::Result<()> {
    if there != now {
        bail!(
            "{} was measured with another {what} ({there} there, {now} here); begin a new record",
            path.display()
        );
    }
    Ok(())
}

/// Figures of two machines must not be mixed.
pub fn refuse_another_machine(
    path: &Path,
    record: &Record,
    machine: &Machine,
) -> anyhow::Result<()> {
    let here = read_environment(Path::new("/"));
    let cpu = |cpu: &Cpu| format!("{cpu:?}");
    refuse_another(path, "host", &record.header.host, &record_file::host_name())?;
    refuse_another(path, "CPU", &cpu(&record.header.environment.cpu), &cpu(&here.cpu))?;
    refuse_another_fingerprint(path, record, machine)?;
    let lost_cpus = record.header.machine.allowed_cpus.difference(&machine.allowed_cpus);
    let lost_nodes = record.header.machine.allowed_nodes.difference(&machine.allowed_nodes);
    if !lost_cpus.is_empty() || !lost_nodes.is_empty() {
        bail!(
            "{} was measured with CPUs {} and nodes {}; this process may only use CPUs {} and nodes {}; \
             go on where it may use all of them",
            path.display(),
            record.header.machine.allowed_cpus,
            record.header.machine.allowed_nodes,
            machine.allowed_cpus,
            machine.allowed_nodes
        );
    }
    Ok(())
}

/// Refuses a record whose machine has other packages, nodes, cores or caches.
pub fn refuse_another_fingerprint(
    path: &Path,
    record: &Record,
    machine: &Machine,
) -> anyhow::Result<()> {
    if record.header.fingerprint != machine.fingerprint() {
        bail!(
            "{} was measured on another machine, or this one has changed (fingerprint {} there, {} \
             here); begin a new record",
            path.display(),
            record.header.fingerprint,
            machine.fingerprint()
        );
    }
    Ok(())
}
