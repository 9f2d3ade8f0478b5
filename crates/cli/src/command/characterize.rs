//! `characterize`: measures and writes a record.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use nearfar_document::{DryRun, KernelList, MeasuredRecord, PlannedExperiment, Room};
use nearfar_kernels::find;
use nearfar_measure::native::NativeExecutor;
use nearfar_measure::simulated::{SimulatedExecutor, with_devices};
use nearfar_measure::{
    DEFAULT_CACHE_MULTIPLE, Engine, Executor, HostLock, Interrupt, Outcome, Rates,
    before_measuring, estimate, now_utc, screen_sizes, store_method,
};
use nearfar_record::{
    Absence, Appended, Executor as ExecutorKind, Experiment, Header, Inputs, Record, RecordWriter,
    Suite, WriteError,
};
use nearfar_units::{Bytes, format_duration};

use super::run_member;
use super::topo::list_simulated;
use crate::args::CharacterizeArguments;
use crate::exit_status::ExitStatus;
use crate::output::AnswerForm;
use crate::progress::Progress;
use crate::{live_machine, live_network, output, record_continuation, record_file, record_header};

pub fn run(arguments: &CharacterizeArguments) -> anyhow::Result<ExitStatus> {
    if arguments.simulate.as_deref() == Some("list") {
        return list_simulated(arguments.json);
    }
    if arguments.kernel.iter().any(|name| name == "list") {
        return list_kernels(arguments);
    }
    if let Some(folder) = &arguments.run {
        return run_member::run(arguments, folder);
    }
    let to_stdout = arguments.out.as_deref() == Some(Path::new("-"));
    if arguments.resume && to_stdout {
        bail!("--resume needs a file; standard output cannot be continued");
    }
    if to_stdout && nearfar_sys::began_without_output() {
        bail!("--out - has nowhere to go: standard output is closed; give --out FILE");
    }
    let interrupt = Interrupt::default();
    // A plan has nothing to keep: a signal ends it at once.
    if !arguments.dry_run {
        register_signals(&interrupt)?;
    }
    let prepared = prepare(arguments, &interrupt);
    if let Some(signal) = interrupt.signal() {
        output::say(&format!("nearfar: ended by signal {signal} before anything was measured"));
        return Ok(ExitStatus::Interrupted(signal));
    }
    let Prepared { _lock, record, path, addition, mut executor } = prepared?;
    let executor = executor.as_mut();
    if arguments.dry_run {
        return dry_run(arguments, with_addition(record, addition), executor);
    }
    let rates = match arguments.budget {
        Some(budget) => Some(check_budget(budget, &record, executor)?),
        None => None,
    };
    let path = match path {
        Some(path) => path,
        None => record_file::new_path(&record.header.host, &record.header.started)?,
    };
    let mut writer = if !record.is_new() {
        RecordWriter::append(&path, &record)?
    } else if to_stdout {
        RecordWriter::stdout()
    } else {
        RecordWriter::create(&path, arguments.force).map_err(|why| match why {
            WriteError::Exists(path) => anyhow!(
                "{} exists already; go on with it by --resume, overwrite it by --force, or choose \
                 another file with --out",
                path.display()
            ),
            why => why.into(),
        })?
    };
    // When memory runs out, this process and not its neighbours is to go. Without
    // the right to say so nothing changes.
    nearfar_sys::raise_oom_score(Path::new("/")).ok();
    let session = Session { executor, writer: &mut writer, interrupt: &interrupt };
    let added = addition.as_ref().map(|inputs| inputs.experiments.clone());
    let mut outcome = session.measure(record, rates, addition)?;
    if writer.has_given_up() {
        output::note(&format!(
            "note: nothing was measured, so that {} is still the record that was there",
            path.display()
        ));
    }
    outcome.record.file = (!to_stdout).then(|| path.clone());
    // A simulated machine's record is none of this host.
    outcome.record.is_newest =
        arguments.out.is_none() && arguments.append.is_none() && arguments.simulate.is_none();
    if let Some(experiments) = added.filter(|_| outcome.addition_left) {
        let names: Vec<&str> = experiments.iter().map(|it| it.as_str()).collect();
        output::note(&format!(
            "note: {} was not begun: first comes what the record lacked before; the same command goes on",
            names.join(", ")
        ));
    }
    finish(arguments, &outcome, &path, to_stdout)
}

/// What is to be measured, and who answers.
pub(super) struct Prepared {
    pub _lock: Option<HostLock>,
    pub record: Record,
    path: Option<PathBuf>,
    /// What is added to the record.
    addition: Option<Inputs>,
    pub executor: Box<dyn Executor>,
}

pub(super) fn prepare(
    arguments: &CharacterizeArguments,
    interrupt: &Interrupt,
) -> anyhow::Result<Prepared> {
    let goes_on = arguments.resume || arguments.append.is_some();
    let (lock, record, path, addition) =
        if goes_on { prepare_old(arguments)? } else { prepare_new(arguments)? };
    let mut header = record.header.clone();
    if let Some(devices) = addition.as_ref().and_then(|inputs| inputs.devices.clone()) {
        header.inputs.devices = Some(devices);
    }
    if let Some(network) = addition.as_ref().and_then(|inputs| inputs.network.clone()) {
        header.inputs.network = Some(network);
    }
    for inputs in record.all_inputs().chain(&addition) {
        check_working_set(&header, inputs)?;
    }
    let executor = executor(arguments, &header, interrupt)?;
    Ok(Prepared { _lock: lock, record, path, addition, executor })
}

type Begun = (Option<HostLock>, Record, Option<PathBuf>, Option<Inputs>);

fn prepare_new(arguments: &CharacterizeArguments) -> anyhow::Result<Begun> {
    let Some(name) = &arguments.simulate else {
        record_header::check_variant(arguments, None)?;
        let machine = live_machine::read_to_measure()?;
        let record = record_header::of_this_machine(arguments, machine)?;
        // Wrong choices are told first. Even a look at the machine's speed would disturb a
        // measurement of others.
        return Ok((Some(HostLock::take()?), record, arguments.out.clone(), None));
    };
    let simulated = nearfar_flow::read_machine(name)?;
    record_header::check_variant(arguments, Some(&simulated))?;
    // A simulated machine disturbs nobody and is disturbed by nobody.
    Ok((None, record_header::of_simulated(arguments, &simulated)?, arguments.out.clone(), None))
}

fn prepare_old(arguments: &CharacterizeArguments) -> anyhow::Result<Begun> {
    let path = record_continuation::path(arguments)?;
    let simulation = record_file::read_header(&path)?.simulation;
    // Before the record is read, which must not grow meanwhile.
    let lock = simulation.is_none().then(HostLock::take).transpose()?;
    let record = record_continuation::read(arguments, &path)?;
    record_file::note_torn(&record);
    let machine = match &simulation {
        Some(_) => None,
        None => {
            let machine = live_machine::read_to_measure()?;
            record_continuation::refuse_another_machine(&path, &record, &machine)?;
            Some(machine)
        }
    };
    if arguments.append.is_none() {
        return Ok((lock, record, Some(path), None));
    }
    let simulated = simulation
        .as_ref()
        .map(|it| nearfar_flow::parse_machine(&it.name, &it.file))
        .transpose()?;
    record_header::check_variant(arguments, simulated.as_ref())?;
    let addition = record_continuation::added_inputs(arguments, &path, &record)?;
    let addition = addition.map(|inputs| match (&simulated, &machine) {
        _ if !inputs.experiments.contains(&Experiment::Devices) => inputs,
        _ if record.header.inputs.devices.is_some() => {
            Inputs { devices: record.header.inputs.devices.clone(), ..inputs }
        }
        (Some(simulated), _) => with_devices(simulated, inputs),
        (None, Some(machine)) => record_header::with_devices_here(inputs, machine),
        (None, None) => inputs,
    });
    let addition = match (addition, &machine) {
        (Some(inputs), Some(machine)) => {
            Some(live_network::with_network_here(arguments, inputs, machine)?)
        }
        (addition, _) => addition,
    };
    Ok((lock, record, Some(path), addition))
}

/// Refuses arrays that the machine has no memory for.
fn check_working_set(header: &Header, inputs: &Inputs) -> anyhow::Result<()> {
    let Some(bytes) = inputs.working_set_bytes else { return Ok(()) };
    let environment = &header.environment;
    let (room, what) = match (environment.available_bytes, environment.memory_bytes) {
        (Some(available), _) => (available, "available"),
        (None, Some(memory)) => (memory, "there"),
        (None, None) => return Ok(()),
    };
    if bytes > room {
        bail!(
            "--working-set {} does not fit: {} of memory are {what}; give 64 KiB to {}, or leave it out \
             for a multiple of the caches",
            Bytes(bytes),
            Bytes(room),
            Bytes(room / 2)
        );
    }
    Ok(())
}

/// The record as it will be planned.
fn with_addition(mut record: Record, addition: Option<Inputs>) -> Record {
    if let Some(inputs) = addition {
        record.note_appended(Appended { at: now_utc(), inputs });
    }
    record
}

/// Who answers the cases of a record.
fn executor(
    arguments: &CharacterizeArguments,
    header: &Header,
    interrupt: &Interrupt,
) -> anyhow::Result<Box<dyn Executor>> {
    let Some(simulation) = &header.simulation else {
        let devices = header.inputs.devices.clone().unwrap_or_default();
        let executor = NativeExecutor::new(
            header.machine.clone(),
            store_method(&header.environment.cpu),
            header.environment.memory_bytes,
            header.inputs.seed,
            interrupt.clone(),
        );
        let executor = executor.with_devices(devices.accelerators);
        let peer = live_network::peer(arguments, header.inputs.network.as_ref())?;
        return Ok(match peer {
            Some(peer) => Box::new(executor.with_peer(peer)),
            None => Box::new(executor),
        });
    };
    let simulated = nearfar_flow::parse_machine(&simulation.name, &simulation.file)?;
    if simulated.machine.fingerprint() != header.fingerprint {
        bail!(
            "the record's machine is not the one that its file describes: one of them was changed by hand"
        );
    }
    let seed = header.inputs.seed;
    let noise = simulation.noise;
    Ok(Box::new(SimulatedExecutor::new(simulated, noise, seed, interrupt.clone())?))
}

/// What one run of the program measures with.
pub(super) struct Session<'a> {
    pub executor: &'a mut dyn Executor,
    pub writer: &'a mut RecordWriter,
    pub interrupt: &'a Interrupt,
}

impl Session<'_> {
    pub fn measure(
        self,
        mut record: Record,
        rates: Option<Rates>,
        mut addition: Option<Inputs>,
    ) -> anyhow::Result<Outcome> {
        let resumed = !record.is_new();
        match &mut addition {
            None if !resumed => {
                let inputs = record.header.inputs.clone();
                record.header.inputs = with_screened_sizes(self.executor, &record.header, inputs);
            }
            // What was measured on memory before has its sizes.
            Some(inputs) if !record.all_inputs().any(streams_on_memory) => {
                *inputs = with_screened_sizes(self.executor, &record.header, inputs.clone());
            }
            _ => {}
        }
        let header = &record.header;
        let is_simulated = header.simulation.is_some();
        let overrides = if is_simulated { Vec::new() } else { nearfar_topology::overrides() };
        let warnings = before_measuring(&header.machine, &header.environment, &overrides);
        let budget = record.inputs().budget_ns.map(Duration::from_nanos);
        let progress = Progress::new(budget);
        let mut watch = |status: nearfar_measure::Status<'_>| progress.update(status);
        let Self { executor, writer, interrupt } = self;
        let mut engine = Engine::new(executor, writer, interrupt, &mut watch, record);
        if let Some(rates) = rates {
            engine.expect_rates(rates);
        }
        if let Some(inputs) = addition {
            engine.append(inputs);
        }
        if resumed {
            engine.resume()?;
        } else {
            engine.begin(&warnings)?;
        }
        let outcome = engine.measure();
        progress.finish();
        Ok(outcome?)
    }
}

fn streams_on_memory(inputs: &Inputs) -> bool {
    inputs.experiments.iter().any(|experiment| experiment.streams_on_memory())
}

/// Inputs with the working sets that this machine needs, by a look at several sizes. A simulated machine's
/// memory contains no cache.
fn with_screened_sizes(executor: &mut dyn Executor, header: &Header, inputs: Inputs) -> Inputs {
    if header.simulation.is_some() {
        return inputs;
    }
    let most = match inputs.suite {
        Suite::Quick => QUICK_SCREEN,
        Suite::Standard | Suite::Full => LONG_SCREEN,
    };
    let of_budget = inputs.budget_ns.map(|budget| Duration::from_nanos(budget) / 8);
    let limit = of_budget.map_or(most, |budget| budget.min(most));
    let header = Header { inputs, ..header.clone() };
    // Who asks to end is heard by the engine, and what cannot be measured is refused there.
    let sizes = executor
        .look()
        .ok()
        .and_then(|rates| screen_sizes(executor, &header, rates, limit).ok().flatten());
    match sizes {
        Some(sizes) => sizes.applied(header.inputs),
        None => header.inputs,
    }
}

/// Time for a look at sizes of working sets.
const QUICK_SCREEN: Duration = Duration::from_secs(6);
const LONG_SCREEN: Duration = Duration::from_secs(20);

/// The kernels with the variants of this program, or of the simulated machine.
fn list_kernels(arguments: &CharacterizeArguments) -> anyhow::Result<ExitStatus> {
    let view = match &arguments.simulate {
        Some(name) => {
            let machine = nearfar_flow::read_machine(name)?;
            KernelList::new(|kernel| machine.variants(kernel))
        }
        None => KernelList::new(|name| {
            let variants = find(name).map(nearfar_kernels::Kernel::variants).unwrap_or_default();
            variants.iter().map(ToString::to_string).collect()
        }),
    };
    output::answer(AnswerForm::short(arguments.json), &view, || view.answer())
}

fn look(executor: &mut dyn Executor) -> anyhow::Result<Rates> {
    executor.look().map_err(|reason| anyhow::anyhow!("cannot measure here: {}", reason.text))
}

/// The record with the working sets that are expected of a machine at whose sizes nobody has looked yet.
fn with_expected_sizes(record: &Record) -> Record {
    let mut expected = record.clone();
    let (header, is_new) = (&mut expected.header, record.is_new());
    if is_new && header.simulation.is_none() && header.inputs.working_set_bytes.is_none() {
        header.inputs.cache_multiple.get_or_insert(DEFAULT_CACHE_MULTIPLE);
    }
    expected
}

fn dry_run(
    arguments: &CharacterizeArguments,
    record: Record,
    executor: &mut dyn Executor,
) -> anyhow::Result<ExitStatus> {
    let rates = look(executor)?;
    let estimate = estimate(&with_expected_sizes(&record), &executor.variants(), rates);
    let view = DryRun {
        schema: "nearfar.dry-run/1",
        executor: record.header.executor,
        cases: estimate.case_ids.len(),
        rounds: estimate.rounds,
        seconds_at_most: estimate.total.as_secs_f64(),
        buffers_bytes: estimate.buffers_bytes,
        touch_gb_per_s: rates.touch / 1e9,
        copy_gb_per_s: rates.stream / 1e9,
        experiments: estimate
            .experiments
            .into_iter()
            .map(|(experiment, cases)| PlannedExperiment { experiment, cases })
            .collect(),
        case_ids: estimate.case_ids,
    };
    let form = AnswerForm { as_json: arguments.json, full: output::is_verbose() };
    output::answer(form, &view, || view.answer())
}

/// How fast the machine seems. Refuses a budget in which a new record's least rounds are
/// unlikely to end; a resumed one may have little left to do.
fn check_budget(
    budget: Duration,
    record: &Record,
    executor: &mut dyn Executor,
) -> anyhow::Result<Rates> {
    let rates = look(executor)?;
    let estimate = estimate(&with_expected_sizes(record), &executor.variants(), rates);
    let (cases, least) = (estimate.case_ids.len(), estimate.least);
    if record.is_new() && budget < least {
        let clock = match record.header.executor {
            ExecutorKind::Native => "",
            ExecutorKind::Simulated => " (both are time of the simulated machine's own clock)",
        };
        let takes = if cases == 1 { "case takes" } else { "cases take" };
        bail!(
            "the budget of {} is too small: {cases} {takes} up to {} with the rounds that each \
             gets{clock}; give --budget {}s, fewer experiments by --only, fewer --kernel, a smaller \
             --suite, or fewer rounds by --samples",
            format_duration(budget),
            format_duration(least),
            least.as_secs() + 1
        );
    }
    Ok(rates)
}

/// Makes signals that ask the program to end interrupt the measurement.
pub(super) fn register_signals(interrupt: &Interrupt) -> anyhow::Result<()> {
    for signal in nearfar_sys::ending_signals() {
        let number = usize::try_from(signal).context("a signal's number is positive")?;
        signal_hook::flag::register_usize(signal, interrupt.cell(), number)
            .context("cannot watch for signals")?;
    }
    Ok(())
}

fn finish(
    arguments: &CharacterizeArguments,
    outcome: &Outcome,
    path: &Path,
    to_stdout: bool,
) -> anyhow::Result<ExitStatus> {
    let record = &outcome.record;
    let count = |wanted: Absence| {
        let absent = record.absent.iter().filter(|absent| absent.absence == wanted);
        absent.map(|absent| absent.case.as_str()).collect::<BTreeSet<_>>().len()
    };
    let measured: BTreeSet<&str> =
        record.samples.iter().map(|sample| sample.case.as_str()).collect();
    let view = MeasuredRecord {
        schema: "nearfar.characterize/1",
        executor: record.header.executor,
        record: path.display().to_string(),
        cases: record.cases.len(),
        measured: measured.len(),
        omitted: count(Absence::Omitted),
        refused: count(Absence::Refused),
        samples: record.samples.len(),
        seconds: outcome.elapsed.as_secs_f64(),
        interrupted_by: outcome.interrupted_by,
        warnings: record.warnings.clone(),
    };
    let room = Room { width: output::width(), full: false };
    let text =
        if arguments.json { output::json_line(&view)? } else { view.answer(record).text(room) };
    if to_stdout {
        output::say_laid_out(text.trim_end());
    } else {
        output::print(&text).with_context(|| {
            let path = path.display().to_string();
            format!("all that was measured is in {}", nearfar_document::printable(&path))
        })?;
    }
    Ok(match outcome.interrupted_by {
        Some(signal) => ExitStatus::Interrupted(signal),
        None if outcome.refused > 0 || record.samples.is_empty() => ExitStatus::Refused,
        None => ExitStatus::Done,
    })
}
