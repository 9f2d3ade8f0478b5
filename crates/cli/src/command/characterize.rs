//! `characterize`: measures and writes a record.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::ValueEnum;
use nearfar_kernels::{CATALOG, find};
use nearfar_machine::Machine;
use nearfar_measure::experiment::pairs;
use nearfar_measure::native::NativeExecutor;
use nearfar_measure::{
    Engine, Estimate, Executor, HostLock, Interrupt, Outcome, Rates, SCREENING_ROUNDS,
    before_measuring, estimate, now_utc, read_environment, setting, store_method,
};
use nearfar_record::{
    Absence, Executor as ExecutorKind, Header, Inputs, Record, RecordWriter, SCHEMA, Suite,
    Versions,
};
use nearfar_report::{CharacterizeView, DryRunView};
use nearfar_units::{format_duration, nanoseconds};

use crate::args::{CharacterizeArguments, ExperimentName};
use crate::exit_status::ExitStatus;
use crate::progress::Progress;
use crate::{output, record_file};

pub fn run(
    arguments: &CharacterizeArguments,
    hwloc_overrides: &[String],
) -> anyhow::Result<ExitStatus> {
    if arguments.kernel.iter().any(|name| name == "list") {
        return list_kernels();
    }
    let to_stdout = arguments.out.as_deref() == Some(Path::new("-"));
    if arguments.resume && to_stdout {
        bail!("--resume needs a file; standard output cannot be gone on with");
    }
    // Before anything is read or looked at: the record that is resumed must not grow
    // meanwhile, and even a look at the machine's speed would disturb a measurement.
    let _lock = HostLock::take()?;
    let root = Path::new("/");
    let machine = nearfar_topology::read_live(root)?;
    let (record, path) = if arguments.resume {
        resumed_record(arguments, &machine)?
    } else {
        (new_record(arguments, machine)?, arguments.out.clone())
    };
    let interrupt = Interrupt::default();
    let header = &record.header;
    let mut executor = NativeExecutor::new(
        header.machine.clone(),
        store_method(&header.environment.cpu),
        header.environment.memory_bytes,
        header.inputs.seed,
        interrupt.clone(),
    );
    if arguments.dry_run {
        return dry_run(arguments, &record, &mut executor);
    }
    let expected_round = match arguments.budget {
        Some(budget) => check_budget(budget, &record, &mut executor)?,
        None => Duration::ZERO,
    };
    let path = match path {
        Some(path) => path,
        None => record_file::new_path(&header.host, &header.started)?,
    };
    let mut writer = if arguments.resume {
        RecordWriter::append(&path, record.length)?
    } else if to_stdout {
        RecordWriter::stdout()
    } else {
        RecordWriter::create(&path, arguments.force)?
    };
    register_signals(&interrupt)?;
    // When memory runs out, this process and not its neighbours is to go. Without
    // the right to say so nothing changes.
    nearfar_sys::raise_oom_score(root).ok();
    let session = Session { executor: &mut executor, writer: &mut writer, interrupt: &interrupt };
    let outcome = session.measure(record, expected_round, hwloc_overrides)?;
    finish(arguments, &outcome, &path, to_stdout)
}

/// What one run of the program measures with.
struct Session<'a> {
    executor: &'a mut NativeExecutor,
    writer: &'a mut RecordWriter,
    interrupt: &'a Interrupt,
}

impl Session<'_> {
    fn measure(
        self,
        record: Record,
        expected_round: Duration,
        hwloc_overrides: &[String],
    ) -> anyhow::Result<Outcome> {
        let resumed = record.length > 0;
        let header = &record.header;
        let warnings: Vec<_> =
            before_measuring(&header.machine, &header.environment, hwloc_overrides)
                .iter()
                .map(nearfar_measure::Caution::warning)
                .collect();
        let progress = Progress::new();
        let mut watch = |status: nearfar_measure::Status<'_>| progress.update(status);
        let Self { executor, writer, interrupt } = self;
        let mut engine = Engine::new(executor, writer, interrupt, &mut watch, record);
        engine.expect_round(expected_round);
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

fn list_kernels() -> anyhow::Result<ExitStatus> {
    let mut text = String::new();
    for kernel in &CATALOG {
        let variants: Vec<String> = kernel.variants().iter().map(ToString::to_string).collect();
        text += &format!("{:9} {:22} {}\n", kernel.name, kernel.formula, variants.join(", "));
    }
    output::print(&text)?;
    Ok(ExitStatus::Done)
}

fn new_record(arguments: &CharacterizeArguments, machine: Machine) -> anyhow::Result<Record> {
    for name in &arguments.kernel {
        if find(name).is_none() {
            let names: Vec<&str> = CATALOG.iter().map(|kernel| kernel.name).collect();
            bail!("there is no kernel '{name}'; there are {}", names.join(", "));
        }
    }
    if let Some(variant) = arguments.isa
        && !variant.is_available()
    {
        let names: Vec<String> =
            nearfar_kernels::Variant::available().iter().map(ToString::to_string).collect();
        bail!("this CPU does not run {variant}; it runs {}", names.join(", "));
    }
    let environment = read_environment(Path::new("/"));
    let header = Header {
        schema: SCHEMA.into(),
        versions: Versions {
            nearfar: env!("CARGO_PKG_VERSION").into(),
            hwloc: Some(nearfar_topology::linked_version()),
        },
        host: record_file::host_name(),
        started: now_utc(),
        executor: ExecutorKind::Native,
        inputs: inputs(arguments),
        fingerprint: machine.fingerprint(),
        machine,
        environment,
    };
    Ok(Record::new(header))
}

fn inputs(arguments: &CharacterizeArguments) -> Inputs {
    let suite = Suite::from(arguments.suite);
    let (window, windows_per_round, min_rounds, max_rounds) = match suite {
        Suite::Quick => (Duration::from_millis(50), 1, 6, 7),
        Suite::Standard => (Duration::from_millis(100), 2, 6, 7),
        Suite::Full => (Duration::from_millis(100), 3, 10, 12),
    };
    let kernels = (!arguments.kernel.is_empty()).then(|| arguments.kernel.clone());
    Inputs {
        suite,
        experiments: experiments(arguments),
        initiator: arguments.initiator.into(),
        kernels,
        variant: arguments.isa.map(|variant| variant.to_string()),
        pages: arguments.pages.into(),
        working_set_bytes: arguments.working_set.map(|bytes| bytes.0),
        window_ns: nanoseconds(arguments.window.unwrap_or(window)),
        windows_per_round: if arguments.samples.is_some() { 1 } else { windows_per_round },
        min_rounds: arguments.samples.unwrap_or(min_rounds),
        max_rounds: arguments.samples.unwrap_or(max_rounds),
        target: 0.01,
        budget_ns: arguments.budget.map(nanoseconds),
        seed: arguments.seed.unwrap_or(1),
    }
}

fn experiments(arguments: &CharacterizeArguments) -> Vec<String> {
    let chosen =
        if arguments.only.is_empty() { ExperimentName::value_variants() } else { &arguments.only };
    chosen
        .iter()
        .map(|experiment| match experiment {
            ExperimentName::Pairs => "pairs".into(),
        })
        .collect()
}

fn resumed_record(
    arguments: &CharacterizeArguments,
    machine: &Machine,
) -> anyhow::Result<(Record, Option<PathBuf>)> {
    let newest = || record_file::newest(&record_file::host_name());
    let path = arguments.out.clone().map_or_else(newest, Ok)?;
    let mut record = record_file::read(&path)?;
    if record.header.executor == ExecutorKind::Simulated {
        bail!("{} is of a simulated machine; this machine cannot go on with it", path.display());
    }
    refuse_another_machine(&path, &record, machine)?;
    record.header.inputs.budget_ns = arguments.budget.map(nanoseconds);
    Ok((record, Some(path)))
}

/// Figures of two machines, or of two versions of the kernels, must not be mixed.
fn refuse_another_machine(path: &Path, record: &Record, machine: &Machine) -> anyhow::Result<()> {
    let here = read_environment(Path::new("/"));
    let pairs = [
        ("host", record.header.host.clone(), record_file::host_name()),
        ("nearfar", record.header.versions.nearfar.clone(), env!("CARGO_PKG_VERSION").into()),
        ("CPU", format!("{:?}", record.header.environment.cpu), format!("{:?}", here.cpu)),
    ];
    for (what, there, now) in pairs {
        if there != now {
            bail!(
                "{} was measured with another {what} ({there} there, {now} here); begin a new record",
                path.display()
            );
        }
    }
    if record.header.fingerprint != machine.fingerprint() {
        bail!(
            "{} was measured on another machine, or this one has changed (fingerprint {} there, {} \
             here); begin a new record",
            path.display(),
            record.header.fingerprint,
            machine.fingerprint()
        );
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

fn look(executor: &mut NativeExecutor) -> anyhow::Result<Rates> {
    executor.look().map_err(|reason| anyhow::anyhow!("cannot measure here: {}", reason.text))
}

/// The plan's estimate: screening, then the matrix with as many variants as are kept.
fn plan_estimate(
    record: &Record,
    executor: &NativeExecutor,
    rates: Rates,
) -> (Estimate, Vec<String>) {
    let variants = executor.variants();
    let inputs = &record.header.inputs;
    let setting = setting(&record.header, &variants);
    let screening = pairs::screening_cases(setting);
    let (choices, _) = pairs::choose_variants(setting, record);
    let (matrix, _) = pairs::matrix_cases(setting, &choices);
    let machine = &record.header.machine;
    let of_screening = estimate(&screening, SCREENING_ROUNDS, inputs, machine, rates);
    let of_matrix = estimate(&matrix, inputs.max_rounds, inputs, machine, rates);
    let ids = screening.iter().chain(&matrix).map(|case| case.id.clone()).collect();
    let total = Estimate {
        cases: screening.len() + matrix.len(),
        total: of_screening.total + of_matrix.total,
        buffers_bytes: of_matrix.buffers_bytes,
        ..of_matrix
    };
    (total, ids)
}

fn dry_run(
    arguments: &CharacterizeArguments,
    record: &Record,
    executor: &mut NativeExecutor,
) -> anyhow::Result<ExitStatus> {
    let rates = look(executor)?;
    let (estimate, case_ids) = plan_estimate(record, executor, rates);
    let view = DryRunView {
        schema: "nearfar.dry-run/1",
        cases: estimate.cases,
        rounds: estimate.rounds,
        seconds_at_most: estimate.total.as_secs_f64(),
        buffers_bytes: estimate.buffers_bytes,
        touch_gb_per_s: rates.touch / 1e9,
        copy_gb_per_s: rates.stream / 1e9,
        case_ids,
    };
    if arguments.json {
        output::print_json(&view)?;
    } else {
        output::print(&view.text())?;
    }
    Ok(ExitStatus::Done)
}

/// The longest round to expect. Refuses a budget in which a new record's least
/// rounds are unlikely to end; a resumed one may have little left to do.
fn check_budget(
    budget: Duration,
    record: &Record,
    executor: &mut NativeExecutor,
) -> anyhow::Result<Duration> {
    let rates = look(executor)?;
    let (estimate, _) = plan_estimate(record, executor, rates);
    let inputs = &record.header.inputs;
    // The estimate is for the most rounds, screening included.
    let least = estimate.total - estimate.round * (inputs.max_rounds - inputs.min_rounds);
    if record.length == 0 && budget < least {
        bail!(
            "the budget of {} is too small: {} cases with {} rounds each take up to {}; give \
             --budget {}s, fewer --kernel, a smaller --suite, or fewer rounds by --samples",
            format_duration(budget),
            estimate.cases,
            inputs.min_rounds,
            format_duration(least),
            least.as_secs() + 1
        );
    }
    Ok(if record.length == 0 { estimate.round } else { Duration::ZERO })
}

fn register_signals(interrupt: &Interrupt) -> anyhow::Result<()> {
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
        let cases: std::collections::BTreeSet<&str> = record
            .absent
            .iter()
            .filter(|absent| absent.absence == wanted)
            .map(|absent| absent.case.as_str())
            .collect();
        cases.len()
    };
    let measured: std::collections::BTreeSet<&str> =
        record.samples.iter().map(|sample| sample.case.as_str()).collect();
    let view = CharacterizeView {
        schema: "nearfar.characterize/1",
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
    let text = if arguments.json { serde_json::to_string(&view)? + "\n" } else { view.text() };
    if to_stdout {
        output::say(text.trim_end());
    } else {
        output::print(&text)?;
    }
    Ok(match outcome.interrupted_by {
        Some(signal) => ExitStatus::Interrupted(signal),
        None if outcome.refused > 0 => ExitStatus::Refused,
        None => ExitStatus::Done,
    })
}
