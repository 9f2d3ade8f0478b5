//! Runs of workloads that cannot have been.

use super::history::KnownParts;
use super::placement::MAY_BE_NEW;
use crate::header::{Executor, Header};
use crate::sample::{ProofMethod, Sample};
use crate::workload_run::{Workload, WorkloadRun};

/// Says what in a sample of a workload cannot be.
pub(super) fn check_workload(
    header: &Header,
    known: &KnownParts,
    workload: &Workload,
    sample: &Sample,
) -> Result<(), String> {
    let name = &workload.workload;
    if !sample.actors.is_empty() || sample.run.is_some() {
        return Err(format!("streams or a program in a run of {name}"));
    }
    let Some(run) = &sample.workload else {
        return Err(format!("a sample of {name} without its run"));
    };
    if run.timed_ns != sample.window_ns {
        return Err(format!("{name} ran for {} ns in a window of another length", run.timed_ns));
    }
    if !(run.work.is_finite() && run.work > 0.0) {
        return Err(format!("{name} did work of {} {}", run.work, run.unit));
    }
    let bytes = run.arrays.iter().fold(0, |sum: u64, array| sum.saturating_add(array.bytes));
    if bytes != workload.working_set_bytes {
        return Err(format!("arrays of {bytes} bytes where others were planned"));
    }
    let phases = run.phases.iter().fold(0, |sum: u64, phase| sum.saturating_add(phase.time_ns));
    if phases > run.timed_ns {
        return Err(format!("phases of {phases} ns in {} ns", run.timed_ns));
    }
    check_result(header, name, run)?;
    for array in &run.arrays {
        for pages in [&array.proof.before, &array.proof.after] {
            let simulated = header.executor == Executor::Simulated;
            if simulated != (pages.method == ProofMethod::Simulated) {
                let method = pages.method.as_str();
                return Err(format!("nobody can have said '{method}' of these pages"));
            }
            if let Some(node) = pages.pages.keys().find(|&&node| !known.nodes.contains(node)) {
                return Err(format!("pages on node {node}, which {MAY_BE_NEW}"));
            }
        }
    }
    Ok(())
}

/// A real machine computed the known result, a simulated one computed none.
fn check_result(header: &Header, name: &str, run: &WorkloadRun) -> Result<(), String> {
    match header.executor {
        Executor::Native if !run.is_verified() => {
            Err(format!("the result of {name} is not the known one; such a run is refused"))
        }
        Executor::Simulated if !run.checks.is_empty() => {
            Err(format!("a simulated machine computed the result of {name}"))
        }
        _ => Ok(()),
    }
}
