//! `characterize --run`: one machine of many. It is named by its launcher, knows of no other, ends by itself, and
//! leaves a record and a summary whatever became of it.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use nearfar_fleet::{
    Identity, MachineName, MachineSummary, Measurement, MeasurementEnd, MeasurementStatus,
    RunFolder,
};
use nearfar_machine::LocalRank;
use nearfar_measure::{HostLockError, Interrupt, Outcome, now_utc};
use nearfar_record::{ReasonCode, Record, RecordWriter};

use super::characterize::{Prepared, Session, prepare, register_signals};
use crate::args::CharacterizeArguments;
use crate::exit_status::ExitStatus;
use crate::{output, record_file};

/// What the interrupt says when the time is over; no signal of Linux has this number.
const OUT_OF_TIME: usize = 1 << 16;

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// What this machine is called in a run.
pub fn name_of_this_machine(given: Option<&str>) -> anyhow::Result<MachineName> {
    Ok(MachineName::find(given, variable, &record_file::host_name())?)
}

pub fn run(arguments: &CharacterizeArguments, folder: &Path) -> anyhow::Result<ExitStatus> {
    let begun = Instant::now();
    let machine = name_of_this_machine(arguments.machine.as_deref())?;
    if let Some(second) = LocalRank::find(variable).filter(|it| it.rank > 0) {
        output::note(&format!(
            "{machine}: process {} of its machine ({}): the first one measures",
            second.rank, second.variable
        ));
        return Ok(ExitStatus::Done);
    }
    let interrupt = Interrupt::default();
    register_signals(&interrupt)?;
    let prepared = prepare(arguments, &interrupt);
    if let Err(error) = &prepared
        && matches!(error.downcast_ref(), Some(HostLockError::Taken))
    {
        output::note(&format!("{machine}: {error}; this process measures nothing"));
        return Ok(ExitStatus::Done);
    }
    let measurement = RunFolder::new(folder)
        .begin(&machine)
        .with_context(|| format!("cannot write to the run's folder {}", folder.display()))?;
    let is_simulated = arguments.simulate.is_some();
    let identity = if is_simulated { Identity::default() } else { Identity::read(Path::new("/")) };
    let mut partial = None;
    let measured = prepared.and_then(|prepared| {
        partial = partial_machine(&prepared.record);
        match &partial {
            Some(part) if !arguments.allow_partial => Err(anyhow!(
                "{part}; give it the whole machine (Slurm: --exclusive and srun --cpu-bind=none; Open MPI: \
                 --bind-to none), or measure the part by --allow-partial"
            )),
            _ => measure(prepared, &measurement, &interrupt, arguments.budget, begun),
        }
    });
    let kept = measurement.keep_record().context("cannot keep the record")?;
    let mut end = MeasurementEnd {
        ended: now_utc(),
        status: MeasurementStatus::Measured,
        why: None,
        partial,
        record: kept.then(|| measurement.record_name()),
    };
    let (summary, status) = match measured {
        Ok(outcome) => {
            let status = outcome_status(&outcome, &interrupt, &mut end);
            (MachineSummary::new(machine, &outcome.record, identity, end), status)
        }
        Err(error) => {
            end.status = MeasurementStatus::Failed;
            end.why = Some(format!("{error:#}"));
            output::complain(&error);
            (MachineSummary::without_record(machine, identity, end), ExitStatus::Refused)
        }
    };
    measurement.write_summary(&summary).context("cannot write the summary")?;
    if arguments.json {
        output::print(&String::from_utf8(summary.to_line()?)?)?;
    } else if summary.status != MeasurementStatus::Failed {
        let cells = summary.cells.len();
        let why = summary.why.map_or_else(String::new, |why| format!("; {why}"));
        output::print(&format!(
            "{}: {cells} cells, {}{why}\n",
            summary.machine,
            measurement.record().display()
        ))?;
    }
    Ok(status)
}

/// Says in which part of the machine this process is held; `None` where it has all.
fn partial_machine(record: &Record) -> Option<String> {
    let machine = &record.header.machine;
    let (cpus, nodes) = (machine.cpus(), &machine.allowed_nodes);
    let all_nodes = machine.nodes.iter().map(|node| node.os_index).collect();
    if machine.allowed_cpus != cpus {
        return Some(format!("this process may use the CPUs {} of {cpus}", machine.allowed_cpus));
    }
    if *nodes != all_nodes {
        return Some(format!("this process may use the memory nodes {nodes} of {all_nodes}"));
    }
    let limit = record.header.environment.cgroup.cpu_limit?;
    let count = cpus.len();
    (limit < count as f64)
        .then(|| format!("its control group allows the time of {limit} of {count} CPUs"))
}

fn measure(
    prepared: Prepared,
    measurement: &Measurement,
    interrupt: &Interrupt,
    budget: Option<Duration>,
    begun: Instant,
) -> anyhow::Result<Outcome> {
    let Prepared { _lock, record, mut executor, .. } = prepared;
    // A simulated machine has a clock of its own, by which the engine ends.
    if let Some(budget) = budget.filter(|_| record.header.simulation.is_none()) {
        let cell = interrupt.cell();
        thread::spawn(move || {
            thread::sleep(budget.saturating_sub(begun.elapsed()));
            cell.store(OUT_OF_TIME, Ordering::Relaxed);
        });
    }
    let mut writer = RecordWriter::create(&measurement.running(), true)?;
    nearfar_sys::raise_oom_score(Path::new("/")).ok();
    Session { executor: executor.as_mut(), writer: &mut writer, interrupt }
        .measure(record, None, None)
}

/// How a measurement ended that left a record.
fn outcome_status(
    outcome: &Outcome,
    interrupt: &Interrupt,
    end: &mut MeasurementEnd,
) -> ExitStatus {
    let has_run_out = interrupt.cell().load(Ordering::Relaxed) == OUT_OF_TIME;
    let is_cut =
        outcome.record.absent.iter().any(|absent| absent.reason.code == ReasonCode::Budget);
    match outcome.interrupted_by {
        Some(signal) if !has_run_out => {
            end.status = MeasurementStatus::Interrupted;
            end.why = Some(format!("signal {signal} ended it"));
            ExitStatus::Interrupted(signal)
        }
        _ if has_run_out || is_cut => {
            end.status = MeasurementStatus::OutOfTime;
            end.why = Some("its time (--budget) was over".into());
            ExitStatus::Done
        }
        _ => ExitStatus::Done,
    }
}
