//! `characterize`: measures and writes a record.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use nearfar_document::{DryRun, KernelList, MeasuredRecord, PlannedExperiment, Room};
use nearfar_kernels::find;
use nearfar_measure::native::NativeExecutor;
use nearfar_measure::simulated::SimulatedExecutor;
use nearfar_measure::{
    Engine, Executor, HostLock, Interrupt, Outcome, Rates, before_measuring, estimate, store_method,
};
use nearfar_record::{Absence, Executor as ExecutorKind, Header, Record, RecordWriter};
use nearfar_units::format_duration;

use super::topo::list_simulated;
use crate::args::CharacterizeArguments;
use crate::exit_status::ExitStatus;
use crate::output::AnswerForm;
use crate::progress::Progress;
use crate::{live_machine, output, record_file, record_header};

pub fn run(arguments: &CharacterizeArguments) -> anyhow::Result<ExitStatus> {
    if arguments.simulate.as_deref() == Some("list") {
        return list_simulated(arguments.json);
    }
    if arguments.kernel.iter().any(|name| name == "list") {
        return list_kernels(arguments);
    }
    let to_stdout = arguments.out.as_deref() == Some(Path::new("-"));
    if arguments.resume && to_stdout {
        bail!("--resume needs a file; standard output cannot be gone on with");
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
    let Prepared { _lock, record, path, mut executor } = prepared?;
    let executor = executor.as_mut();
    if arguments.dry_run {
        return dry_run(arguments, &record, executor);
    }
    let rates = match arguments.budget {
        Some(budget) => Some(check_budget(budget, &record, executor)?),
        None => None,
    };
    let path = match path {
        Some(path) => path,
        None => record_file::new_path(&record.header.host, &record.header.started)?,
    };
    let mut writer = if arguments.resume {
        RecordWriter::append(&path, &record)?
    } else if to_stdout {
        RecordWriter::stdout()
    } else {
        RecordWriter::create(&path, arguments.force)?
    };
    // When memory runs out, this process and not its neighbours is to go. Without
    // the right to say so nothing changes.
    nearfar_sys::raise_oom_score(Path::new("/")).ok();
    let session = Session { executor, writer: &mut writer, interrupt: &interrupt };
    let outcome = session.measure(record, rates)?;
    finish(arguments, &outcome, &path, to_stdout)
}

/// What is to be measured, and who answers.
struct Prepared {
    _lock: Option<HostLock>,
    record: Record,
    path: Option<PathBuf>,
    executor: Box<dyn Executor>,
}

fn prepare(arguments: &CharacterizeArguments, interrupt: &Interrupt) -> anyhow::Result<Prepared> {
    // A simulated machine disturbs nobody and is disturbed by nobody.
    let simulated = is_simulated(arguments)?;
    // Before a record that is resumed is read, which must not grow meanwhile; of a new one wrong choices
    // are told first. Even a look at the machine's speed would disturb a measurement of others.
    let take = |does: bool| does.then(HostLock::take).transpose();
    let resumed = take(!simulated && arguments.resume)?;
    let (record, path) = record_and_path(arguments, simulated)?;
    let _lock = resumed.or(take(!simulated && !arguments.resume)?);
    let executor = executor(&record.header, interrupt)?;
    Ok(Prepared { _lock, record, path, executor })
}

/// Whether a simulated machine answers: a new one, or the one of the record that is
/// gone on with.
fn is_simulated(arguments: &CharacterizeArguments) -> anyhow::Result<bool> {
    if !arguments.resume {
        return Ok(arguments.simulate.is_some());
    }
    let (record, _) = record_header::to_resume(arguments)?;
    Ok(record.header.simulation.is_some())
}

/// The record to measure into, and its path where one is known.
fn record_and_path(
    arguments: &CharacterizeArguments,
    simulated: bool,
) -> anyhow::Result<(Record, Option<PathBuf>)> {
    if arguments.resume {
        let (record, path) = record_header::to_resume(arguments)?;
        if let Some(finding) = record.sealing.finding() {
            output::say(&format!("note: {}: {finding}", path.display()));
        }
        record_header::refuse_another_version(&path, &record)?;
        if !simulated {
            let machine = live_machine::read_to_measure()?;
            record_header::refuse_another_machine(&path, &record, &machine)?;
        }
        return Ok((record, Some(path)));
    }
    let record = match &arguments.simulate {
        Some(name) => record_header::of_simulated(arguments, &nearfar_flow::read_machine(name)?)?,
        None => {
            let machine = live_machine::read_to_measure()?;
            record_header::of_this_machine(arguments, machine)?
        }
    };
    Ok((record, arguments.out.clone()))
}

/// Who answers the cases of a record.
fn executor(header: &Header, interrupt: &Interrupt) -> anyhow::Result<Box<dyn Executor>> {
    let Some(simulation) = &header.simulation else {
        let devices = header.inputs.devices.clone().unwrap_or_default();
        let executor = NativeExecutor::new(
            header.machine.clone(),
            store_method(&header.environment.cpu),
            header.environment.memory_bytes,
            header.inputs.seed,
            interrupt.clone(),
        );
        return Ok(Box::new(executor.with_devices(devices.accelerators)));
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
    pub fn measure(self, record: Record, rates: Option<Rates>) -> anyhow::Result<Outcome> {
        let resumed = record.length > 0;
        let header = &record.header;
        let is_simulated = header.simulation.is_some();
        let overrides = if is_simulated { Vec::new() } else { nearfar_topology::overrides() };
        let warnings = before_measuring(&header.machine, &header.environment, &overrides);
        let progress = Progress::new();
        let mut watch = |status: nearfar_measure::Status<'_>| progress.update(status);
        let Self { executor, writer, interrupt } = self;
        let mut engine = Engine::new(executor, writer, interrupt, &mut watch, record);
        if let Some(rates) = rates {
            engine.expect_rates(rates);
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

fn dry_run(
    arguments: &CharacterizeArguments,
    record: &Record,
    executor: &mut dyn Executor,
) -> anyhow::Result<ExitStatus> {
    let rates = look(executor)?;
    let estimate = estimate(record, &executor.variants(), rates);
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
    output::answer(AnswerForm::short(arguments.json), &view, || view.answer())
}

/// How fast the machine seems. Refuses a budget in which a new record's least rounds are
/// unlikely to end; a resumed one may have little left to do.
fn check_budget(
    budget: Duration,
    record: &Record,
    executor: &mut dyn Executor,
) -> anyhow::Result<Rates> {
    let rates = look(executor)?;
    let estimate = estimate(record, &executor.variants(), rates);
    let (cases, least) = (estimate.case_ids.len(), estimate.least);
    if record.length == 0 && budget < least {
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
    use signal_hook::consts::{SIGINT, SIGTERM};
    for signal in [SIGINT, SIGTERM] {
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
        output::say(text.trim_end());
    } else {
        output::print(&text).with_context(|| {
            let path = path.display().to_string();
            format!("all that was measured is in {}", nearfar_document::printable(&path))
        })?;
    }
    Ok(match outcome.interrupted_by {
        Some(signal) => ExitStatus::Interrupted(signal),
        None if outcome.refused > 0 => ExitStatus::Refused,
        None => ExitStatus::Done,
    })
}
