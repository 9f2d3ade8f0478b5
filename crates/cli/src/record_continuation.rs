//! Whether a record that is there may be continued, by which arguments, and what is added to it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use nearfar_machine::Machine;
use nearfar_measure::{read_environment, suite_experiments, suite_inputs};
use nearfar_record::{Cpu, Experiment, Header, Inputs, Record, Sealing};
use nearfar_units::{Bytes, nanoseconds};

use crate::args::{CharacterizeArguments, Noise};
use crate::record_header::{chosen_experiments, with_options};
use crate::{output, record_file};

/// Which record is continued: the one that `--append` names, that of `--out`, or the newest one of
/// the machine.
pub fn path(arguments: &CharacterizeArguments) -> anyhow::Result<PathBuf> {
    if let Some(named) = arguments.append.as_ref().or(arguments.out.as_ref()) {
        return Ok(named.clone());
    }
    match &arguments.simulate {
        Some(name) => {
            record_file::newest(&format!("simulated-{}", nearfar_flow::read_machine(name)?.name))
        }
        None => record_file::newest(&record_file::host_name()),
    }
}

/// The record that is continued. Refuses one that cannot be, or that was begun by other arguments.
pub fn read(arguments: &CharacterizeArguments, path: &Path) -> anyhow::Result<Record> {
    let mut record = record_file::read(path)?;
    refuse_edited(path, &record)?;
    if record.header.inputs.commands.is_some() {
        bail!(
            "{} is a record of programs, which cannot be continued; run `nearfar sensitivity` again",
            path.display()
        );
    }
    if let Some(finding) = record.sealing.finding() {
        output::note(&format!("note: {}: {finding}", path.display()));
    }
    refuse_another(path, "nearfar", &record.header.versions.nearfar, env!("CARGO_PKG_VERSION"))?;
    if arguments.resume {
        refuse_other_arguments(arguments, path, &record)?;
    }
    record.set_budget(arguments.budget.map(nanoseconds));
    Ok(record)
}

/// What is added to a record; `None` where it was asked for before.
pub fn added_inputs(
    arguments: &CharacterizeArguments,
    path: &Path,
    record: &Record,
) -> anyhow::Result<Option<Inputs>> {
    let Some(begun) = record.all_inputs().next() else { return Ok(None) };
    let unlike = differences(arguments, &record.header, begun)?;
    if let Some(Difference { there, given, .. }) = unlike.iter().find(|it| !it.can_be_added) {
        bail!(
            "{} was begun with {there}: a record holds figures of one such choice; begin a new record \
             for {given}",
            path.display()
        );
    }
    let suite = arguments.given_suite().unwrap_or(begun.suite);
    let base = if suite == begun.suite {
        begun.clone()
    } else {
        Inputs {
            group_by: begun.group_by,
            variant: begun.variant.clone(),
            pages: begun.pages,
            working_set_bytes: begun.working_set_bytes,
            cache_multiple: begun.cache_multiple,
            chase_multiple: begun.chase_multiple,
            size_screen: begun.size_screen.clone(),
            seed: begun.seed,
            ..suite_inputs(suite)
        }
    };
    let experiments = match chosen_experiments(arguments) {
        Some(chosen) => chosen,
        None if suite != begun.suite => suite_experiments(suite),
        None if unlike.is_empty() => {
            bail!("say what to add: experiments by --only, or what a larger --suite measures")
        }
        None => begun.experiments.clone(),
    };
    let budget_ns = arguments.budget.map(nanoseconds);
    let base = Inputs { experiments, budget_ns, devices: None, network: None, ..base };
    let inputs = with_options(arguments, base)?;
    let known = record.all_inputs().any(|known| {
        known.experiments.len() >= inputs.experiments.len()
            && inputs.experiments.iter().all(|it| known.experiments.contains(it))
            && Inputs {
                experiments: inputs.experiments.clone(),
                budget_ns,
                devices: None,
                network: None,
                ..known.clone()
            } == inputs
    });
    Ok((!known).then_some(inputs))
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

fn refuse_another(path: &Path, what: &str, there: &str, now: &str) -> anyhow::Result<()> {
    if there != now {
        bail!(
            "{} was measured with another {what} ({there} there, {now} here); begin a new record",
            path.display()
        );
    }
    Ok(())
}

/// Figures of two machines, or of one under two systems, must not be mixed.
pub fn refuse_another_machine(
    path: &Path,
    record: &Record,
    machine: &Machine,
) -> anyhow::Result<()> {
    let here = read_environment(Path::new("/"));
    let there = &record.header.environment;
    let cpu = |cpu: &Cpu| {
        let number = |name: &str, value: Option<u32>| Some(format!("{name} {}", value?));
        let microcode = cpu.microcode.as_ref().map(|revision| format!("microcode {revision}"));
        let parts = [
            cpu.vendor.clone(),
            cpu.model_name.clone(),
            number("family", cpu.family),
            number("model", cpu.model),
            number("stepping", cpu.stepping),
            microcode,
        ];
        parts.into_iter().flatten().collect::<Vec<String>>().join(", ")
    };
    refuse_another(path, "host", &record.header.host, &record_file::host_name())?;
    refuse_another(path, "CPU", &cpu(&there.cpu), &cpu(&here.cpu))?;
    refuse_another_fingerprint(path, record, machine)?;
    if let (Some(there), Some(here)) = (&there.kernel_release, &here.kernel_release) {
        refuse_another(path, "Linux", there, here)?;
    }
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

/// An argument with which a record was begun otherwise.
struct Difference {
    /// As it was begun: `--suite quick`, or `no --kernel`.
    there: String,
    /// As it was given now.
    given: String,
    /// Whether figures of both can stand in one record.
    can_be_added: bool,
}

/// Arguments that were given and are not those that the record was begun with, or that something was
/// added by later.
fn refuse_other_arguments(
    arguments: &CharacterizeArguments,
    path: &Path,
    record: &Record,
) -> anyhow::Result<()> {
    let mut first = None;
    for inputs in record.all_inputs() {
        let Some(difference) = differences(arguments, &record.header, inputs)?.into_iter().next()
        else {
            return Ok(());
        };
        first.get_or_insert(difference);
    }
    let Some(Difference { there, given, can_be_added }) = first else { return Ok(()) };
    let path = path.display();
    if can_be_added {
        bail!(
            "{path} was begun with {there}, not {given}: leave that out to go on, or add to the record \
             by --append {path} {given}"
        );
    }
    bail!(
        "{path} was begun with {there}, not {given}: leave that out to go on, or begin a new record"
    );
}

/// The arguments that were given and that the record was not begun with.
fn differences(
    arguments: &CharacterizeArguments,
    header: &Header,
    inputs: &Inputs,
) -> anyhow::Result<Vec<Difference>> {
    let mut found = Vec::new();
    let mut compare = |option: &str, given: Option<String>, there: Option<String>, added: bool| {
        let Some(given) = given.filter(|given| there.as_ref() != Some(given)) else { return };
        found.push(Difference {
            there: there
                .map_or_else(|| format!("no --{option}"), |there| format!("--{option} {there}")),
            given: format!("--{option} {given}"),
            can_be_added: added,
        });
    };
    let simulation = header.simulation.as_ref();
    if let Some(name) = &arguments.simulate {
        let machine = nearfar_flow::read_machine(name)?;
        let is_it = simulation.is_some_and(|there| there.file == machine.text);
        let there = if is_it { Some(name.clone()) } else { simulation.map(|it| it.name.clone()) };
        compare("simulate", Some(name.clone()), there, false);
    }
    let noise = |is_on: bool| if is_on { "auto" } else { "0" }.to_string();
    compare(
        "noise",
        arguments.noise.map(|given| noise(given == Noise::Auto)),
        simulation.map(|it| noise(it.noise)),
        false,
    );
    let word = |word: &str| Some(word.to_string());
    let names = |experiments: &[Experiment]| {
        let names: Vec<&str> = experiments.iter().map(|it| it.as_str()).collect();
        names.join(",")
    };
    // As it is typed: one word.
    let bytes = |bytes: Bytes| bytes.to_string().replace(' ', "");
    let time = |time: Duration| match time.as_nanos() % 1_000_000 {
        0 => format!("{}ms", time.as_millis()),
        _ => format!("{}us", time.as_micros()),
    };
    let suite = arguments.given_suite().map(|suite| suite.as_str().to_string());
    compare("suite", suite, word(inputs.suite.as_str()), true);
    let only = chosen_experiments(arguments).map(|chosen| names(&chosen));
    compare("only", only, Some(names(&inputs.experiments)), true);
    let group_by = arguments.group_by.map(|it| it.as_str().to_string());
    compare("group-by", group_by, word(inputs.group_by.as_str()), false);
    let kernels = inputs.kernels.as_ref().map(|names| names.join(","));
    compare(
        "kernel",
        crate::record_header::named_kernels(arguments).map(|it| it.join(",")),
        kernels,
        true,
    );
    compare("isa", arguments.isa.clone(), inputs.variant.clone(), true);
    let window = Duration::from_nanos(inputs.window_ns);
    compare("window", arguments.window.map(time), Some(time(window)), true);
    let working_set = inputs.working_set_bytes.map(|it| bytes(Bytes(it)));
    compare("working-set", arguments.working_set.map(bytes), working_set, true);
    let multiple = inputs.cache_multiple.map(|number| number.to_string());
    let given = arguments.cache_multiple.map(|number| number.to_string());
    compare("cache-multiple", given, multiple, false);
    let is_fixed = inputs.min_rounds == inputs.max_rounds && inputs.windows_per_round == 1;
    let samples = is_fixed.then(|| inputs.max_rounds.to_string());
    compare("samples", arguments.samples.map(|it| it.to_string()), samples, true);
    compare("runs", arguments.runs.map(|it| it.to_string()), Some(inputs.runs.to_string()), true);
    let grid = arguments.grid.map(|it| it.as_str().to_string());
    compare("grid", grid, word(inputs.grid.as_str()), true);
    let pages = arguments.pages.map(|it| it.as_str().to_string());
    compare("pages", pages, word(inputs.pages.as_str()), false);
    compare("seed", arguments.seed.map(|it| it.to_string()), Some(inputs.seed.to_string()), false);
    Ok(found)
}
