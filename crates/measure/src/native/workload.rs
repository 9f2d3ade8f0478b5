//! A workload's run as a window.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nearfar_machine::{CpuSet, Machine};
use nearfar_record::{Disturbance, Reason, ReasonCode, ResultCheck, Workload, is_disturbing};
use nearfar_sys::{CpuWait, Refusal, cpu_waits};
use nearfar_units::nanoseconds;
use nearfar_workloads::{Clock, NoRun, Ran, ThreadNodes, Workload as Named, run};

use super::seen::Taken;
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
    let used: CpuSet = cpus.iter().copied().collect();
    let taken = Taken::read(&used);
    let waits = Arc::new(Mutex::new(Waits::of_new_threads()));
    let clock = {
        let waits = Arc::clone(&waits);
        Clock::watched(move |is_timed| {
            waits.lock().unwrap_or_else(PoisonError::into_inner).turn(is_timed);
        })
    };
    let Ran { run, .. } =
        run(&*named.program(), (cpus, caches), &workload.placement, &nodes, clock)
            .map_err(refused)?;
    if let Some(wrong) = run.checks.iter().find(|check| !check.holds()) {
        return Err(not_verified(&workload.workload, wrong));
    }
    let waits = waits.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = waits.disturbance(run.timed_ns).into_iter();
    Ok(Window {
        start,
        length: Duration::from_nanos(run.timed_ns),
        actors: Vec::new(),
        disturbances: waited.chain(Taken::read(&used).since(&taken)).collect(),
        run: None,
        workload: Some(run),
        cpu_distance: None,
    })
}

/// For how long the threads of a run were kept from a CPU while they could have run, in what is timed of
/// it. They wait for each other too, which is the run's own.
#[derive(Debug, Default)]
struct Waits {
    /// This program's own threads, which look on.
    others: BTreeSet<u32>,
    before: BTreeMap<u32, CpuWait>,
    sums: BTreeMap<u32, CpuWait>,
}

impl Waits {
    /// Of threads that are started from now on.
    fn of_new_threads() -> Self {
        Self { others: cpu_waits(Path::new("/")).into_keys().collect(), ..Self::default() }
    }

    fn turn(&mut self, is_timed: bool) {
        let now = cpu_waits(Path::new("/"));
        if is_timed {
            self.before = now;
            return;
        }
        for (thread, now) in now.into_iter().filter(|(thread, _)| !self.others.contains(thread)) {
            let before = self.before.get(&thread).copied().unwrap_or_default();
            let sum = self.sums.entry(thread).or_default();
            sum.waited += now.waited.saturating_sub(before.waited);
            sum.involuntary_switches +=
                now.involuntary_switches.saturating_sub(before.involuntary_switches);
        }
    }

    fn disturbance(&self, timed_ns: u64) -> Option<Disturbance> {
        let longest = self.sums.values().map(|it| it.waited).max()?;
        is_disturbing(nanoseconds(longest), timed_ns).then(|| Disturbance::Switched {
            times: self.sums.values().map(|it| it.involuntary_switches).sum(),
            microseconds: nanoseconds(longest) / 1000,
        })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_in_the_queue_for_a_cpu_disturbs_a_run() {
        let wait = |milliseconds| CpuWait {
            waited: Duration::from_millis(milliseconds),
            involuntary_switches: 1,
        };
        let waits =
            Waits { sums: BTreeMap::from([(1, wait(2)), (2, wait(6))]), ..Waits::default() };
        let found = Disturbance::Switched { times: 2, microseconds: 6000 };
        assert_eq!(waits.disturbance(1_000_000_000), Some(found));
        assert_eq!(waits.disturbance(2_000_000_000), None);
        assert_eq!(Waits::default().disturbance(1), None);
    }

    #[test]
    fn threads_that_were_there_before_are_none_of_a_runs() {
        let mut waits = Waits::of_new_threads();
        let this = cpu_waits(Path::new("/")).into_keys().collect::<BTreeSet<_>>();
        assert!(!this.is_empty() && this.is_subset(&waits.others), "{this:?}");
        waits.turn(true);
        waits.turn(false);
        assert!(waits.sums.keys().all(|thread| !this.contains(thread)), "{waits:?}");
    }
}
