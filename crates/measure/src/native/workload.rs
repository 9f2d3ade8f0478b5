//! A workload's run as a window.

use std::time::Duration;

use nearfar_machine::Machine;
use nearfar_record::{Reason, ReasonCode, ResultCheck, Workload};
use nearfar_sys::Refusal;
use nearfar_workloads::{Clock, NoRun, Ran, ThreadNodes, Workload as Named, run};

use crate::executor::Window;
use crate::experiment::last_level_bytes;

/// Runs it once; `start` is when that begins.
///
/// # Errors
/// When threads, memory or proof cannot be had, or the result is not the known one.
pub(super) fn run_workload(
    workload: &Workload,
    machine: &Machine,
    start: Duration,
) -> Result<Window, Reason> {
    let named: Named = workload
        .workload
        .parse()
        .map_err(|error| Reason { code: ReasonCode::NoVariant, text: format!("{error}") })?;
    let cpus = workload.thread_cpus.as_slice();
    let nodes = ThreadNodes::of_cpus(machine, cpus);
    let caches = last_level_bytes(machine, cpus);
    let Ran { run, .. } =
        run(&*named.program(), (cpus, caches), &workload.placement, &nodes, Clock::default())
            .map_err(refused)?;
    if let Some(wrong) = run.checks.iter().find(|check| !check.holds()) {
        return Err(not_verified(&workload.workload, wrong));
    }
    Ok(Window {
        start,
        length: Duration::from_nanos(run.timed_ns),
        actors: Vec::new(),
        disturbances: Vec::new(),
        run: None,
        workload: Some(run),
    })
}

fn refused(why: NoRun) -> Reason {
    let code = match &why {
        NoRun::Team(_) => ReasonCode::Threads,
        NoRun::Refused(Refusal::Unproven { .. }) => ReasonCode::Unproven,
        NoRun::Refused(_) | NoRun::NoNodes => ReasonCode::Denied,
        NoRun::NoRoom { .. } => ReasonCode::NoRoom,
        NoRun::Misplaced { .. } => ReasonCode::Misplaced,
    };
    Reason { code, text: why.to_string() }
}

fn not_verified(name: &str, wrong: &ResultCheck) -> Reason {
    let ResultCheck { quantity, expected, found, .. } = wrong;
    Reason {
        code: ReasonCode::NotVerified,
        text: format!("the {quantity} of {name} is {found}, {expected} expected"),
    }
}
