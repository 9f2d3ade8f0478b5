//! `sensitivity`: programs at every class of placement.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use nearfar_document::ProgramRuns;
use nearfar_machine::Machine;
use nearfar_measure::{HostLock, Interrupt, Outcome, suite_inputs};
use nearfar_model::{
    ClassRule, NoPlacements, PlacementChoice, RecordFigures, ReferenceClasses, classes,
    command_placements, sensitivity,
};
use nearfar_place::{CommandExecutor, MetricPattern, ProgramCounters, read_programs};
use nearfar_record::{
    Better, CommandInputs, CommandProgram, Experiment, Header, Inputs, Metric, Record,
    RecordWriter, Suite, TriedCounter,
};
use nearfar_units::nanoseconds;
use nearfar_workloads::Workload;

use super::characterize::{Session, register_signals};
use crate::args::SensitivityArguments;
use crate::exit_status::ExitStatus;
use crate::{live_machine, output, record_continuation, record_file, record_header};

/// Runs at each placement before its interval is looked at: fewer have none of 95 %.
const LEAST_ROUNDS: u32 = 6;

/// Half-width of the interval of a placement, as a fraction of its median, at which it is done.
const TARGET: f64 = 0.02;

pub fn run(arguments: &SensitivityArguments) -> anyhow::Result<ExitStatus> {
    if let Some(path) = &arguments.from {
        let record = record_file::read(path)?;
        let reference = reference(arguments, &record.header.machine)?;
        let shown = path.display().to_string();
        return show(arguments, &record, Some(shown), reference.as_ref());
    }
    arguments.metric.as_deref().map(MetricPattern::new).transpose()?;
    let programs = programs(arguments)?;
    let machine = live_machine::read_to_measure()?;
    let reference = reference(arguments, &machine)?;
    let choice = match arguments.matrix {
        true => PlacementChoice::Matrix,
        false => PlacementChoice::Classes(arguments.initiator),
    };
    let classes = reference.as_ref().map(|(_, classes)| classes);
    let (placements, nothing) = match command_placements(&machine, choice, classes) {
        Ok(placements) => (placements, None),
        Err(why @ NoPlacements::OneNode(_)) => (Vec::new(), Some(why.to_string())),
        Err(why) => return Err(why.into()),
    };
    let commands = CommandInputs {
        programs,
        placements,
        metric: arguments.metric.clone().map(|pattern| Metric {
            pattern,
            unit: arguments.unit.clone(),
            better: if arguments.lower_is_better { Better::Lower } else { Better::Higher },
        }),
        timeout_ns: arguments.timeout.map(nanoseconds),
        counters: None,
        pressures: Vec::new(),
    };
    let inputs = inputs(arguments.rounds, commands);
    let record = record_header::new_of_this_machine(inputs, machine);
    if let Some(why) = nothing {
        return print(arguments, &ProgramRuns::new(&record, Err(why), None));
    }
    let (outcome, path) = measure(arguments, record)?;
    show(arguments, &outcome.record, Some(path.display().to_string()), reference.as_ref())?;
    Ok(match outcome.interrupted_by {
        Some(signal) => ExitStatus::Interrupted(signal),
        None if outcome.refused > 0 => ExitStatus::Refused,
        None => ExitStatus::Done,
    })
}

/// The programs with their names, each of which is there once.
fn programs(arguments: &SensitivityArguments) -> anyhow::Result<Vec<CommandProgram>> {
    let of_nearfar = arguments.workload.iter().map(|it| workload_program(*it));
    let mut programs: Vec<CommandProgram> = of_nearfar.collect::<anyhow::Result<_>>()?;
    if let Some((program, words)) = arguments.program.split_first() {
        let file = Path::new(program).file_name().and_then(|name| name.to_str());
        let label = arguments.label.clone().unwrap_or_else(|| file.unwrap_or(program).into());
        let program = program.clone();
        programs.push(CommandProgram::new(label, program, words.to_vec()));
    }
    programs.extend(arguments.command.iter().cloned());
    if let Some(path) = &arguments.programs {
        programs.extend(read_programs(path)?);
    }
    for (position, program) in programs.iter().enumerate() {
        if program.label.trim().is_empty() || program.program.is_empty() {
            bail!("a program needs a name; give one by --label NAME");
        }
        if programs[..position].iter().any(|earlier| earlier.label == program.label) {
            bail!(
                "two programs are called '{}'; give each a name of its own by --label or --command \
                 LABEL=CMD..",
                program.label
            );
        }
    }
    Ok(programs)
}

/// A workload as a program: nearfar itself, which runs it under the placement that it is started
/// under, and verifies it.
fn workload_program(workload: Workload) -> anyhow::Result<CommandProgram> {
    let program = std::env::current_exe().context("cannot find out where nearfar itself is")?;
    let program = program.to_str().context("the path of nearfar is no text")?;
    let arguments = ["workload", &workload.to_string(), "--json"].map(String::from).to_vec();
    let unit = format!("{}/s", workload.program().unit());
    Ok(CommandProgram {
        metric: Some(Metric {
            pattern: r#""rate":([0-9.eE+-]+)"#.into(),
            unit: Some(unit),
            better: Better::Higher,
        }),
        must_print: Some(r#""is_verified":true"#.into()),
        ..CommandProgram::new(workload.to_string(), program, arguments)
    })
}

fn inputs(rounds: u32, commands: CommandInputs) -> Inputs {
    Inputs {
        experiments: vec![Experiment::Commands],
        // A run takes as long as it takes.
        window_ns: 0,
        windows_per_round: 1,
        min_rounds: LEAST_ROUNDS.min(rounds),
        max_rounds: rounds,
        target: TARGET,
        commands: Some(commands),
        ..suite_inputs(Suite::Quick)
    }
}

/// The classes of `--record`, which must be of the same machine, and its name.
fn reference(
    arguments: &SensitivityArguments,
    machine: &Machine,
) -> anyhow::Result<Option<(String, ReferenceClasses)>> {
    let Some(path) = &arguments.record else { return Ok(None) };
    let record = record_file::read(path)?;
    record_continuation::refuse_another_fingerprint(path, &record, machine)?;
    let classes = classes(&RecordFigures::new(&record), &ClassRule::default())
        .with_context(|| format!("{}", path.display()))?;
    let set = classes.sets.first().context("the record has no classes")?;
    Ok(Some((path.display().to_string(), ReferenceClasses::of(set))))
}

fn measure(
    arguments: &SensitivityArguments,
    mut record: Record,
) -> anyhow::Result<(Outcome, PathBuf)> {
    let _lock = HostLock::take()?;
    let counters = arguments.counters.then(|| try_out_counters(&mut record.header));
    let header = &record.header;
    let path = match &arguments.out {
        Some(path) => path.clone(),
        None => record_file::new_path_of_runs(&header.host, &header.started)?,
    };
    let mut writer = RecordWriter::create(&path, arguments.force)?;
    let interrupt = Interrupt::default();
    register_signals(&interrupt)?;
    let commands = record.header.inputs.commands.as_ref().context("no programs were planned")?;
    let mut executor = CommandExecutor::new(commands, interrupt.clone())?;
    if let Some(counters) = counters {
        executor = executor.with_counters(counters);
    }
    let session = Session { executor: &mut executor, writer: &mut writer, interrupt: &interrupt };
    Ok((session.measure(record, None, None)?, path))
}

/// Tries the counters of the runs out, which the header tells of.
fn try_out_counters(header: &mut Header) -> ProgramCounters {
    let (machine, cpu) = (&header.machine, &header.environment.cpu);
    let counters = ProgramCounters::try_out(machine, cpu, &TriedCounter::QUANTITIES);
    if let Some(commands) = &mut header.inputs.commands {
        commands.counters = Some(counters.tried());
    }
    counters
}

fn show(
    arguments: &SensitivityArguments,
    record: &Record,
    path: Option<String>,
    reference: Option<&(String, ReferenceClasses)>,
) -> anyhow::Result<ExitStatus> {
    let classes = reference.map(|(_, classes)| classes);
    let found = sensitivity(&RecordFigures::new(record), classes)
        .context("the record holds no runs of programs; `nearfar sensitivity -- CMD` makes one")?;
    let reference = reference.map(|(name, classes)| (name.clone(), classes));
    let mut view = ProgramRuns::new(record, Ok(found), reference);
    view.record = path;
    print(arguments, &view)
}

fn print(arguments: &SensitivityArguments, view: &ProgramRuns) -> anyhow::Result<ExitStatus> {
    output::answer(arguments.form(), view, || view.answer())
}
