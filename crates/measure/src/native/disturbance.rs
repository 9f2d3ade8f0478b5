//! What disturbed a case's windows.

use std::path::Path;
use std::time::Duration;

use nearfar_machine::CpuSet;
use nearfar_record::{ActorSample, Disturbance};
use nearfar_sys::{steal_time, throttled};

/// CPU time that others took from a case, while it ran.
pub(super) struct Taken {
    stolen: Option<Duration>,
    throttled: Option<Duration>,
}

impl Taken {
    pub fn read(cpus: &CpuSet) -> Self {
        let root = Path::new("/");
        Self { stolen: steal_time(root, cpus), throttled: throttled(root) }
    }

    pub fn since(&self, before: &Self) -> Vec<Disturbance> {
        let grown = |now: Option<Duration>, then: Option<Duration>| {
            let grown = now?.saturating_sub(then?);
            u64::try_from(grown.as_micros()).ok().filter(|&microseconds| microseconds > 0)
        };
        let stolen = grown(self.stolen, before.stolen)
            .map(|microseconds| Disturbance::Stolen { microseconds });
        let throttled = grown(self.throttled, before.throttled)
            .map(|microseconds| Disturbance::Throttled { microseconds });
        stolen.into_iter().chain(throttled).collect()
    }
}

/// A thread without a CPU for more than this fraction of a window disturbs it. What
/// is shorter cannot change the figure by more, and on machines with many cores some
/// thread of every window is interrupted for microseconds.
const OFF_CPU_FRACTION: f64 = 0.005;

pub(super) fn disturbances_of(
    actors: &[ActorSample],
    length: Duration,
    pinned: bool,
) -> Vec<Disturbance> {
    let threads = || actors.iter().flat_map(|actor| &actor.threads);
    let off_cpu = Duration::from_nanos(threads().map(|t| t.off_cpu_ns).max().unwrap_or(0));
    let faults: u64 = threads().map(|thread| thread.minor_faults).sum();
    let moved = threads().filter(|thread| pinned && thread.cpu_before != thread.cpu_after).count();
    let mut found = Vec::new();
    if off_cpu > length.mul_f64(OFF_CPU_FRACTION) {
        found.push(Disturbance::Switched {
            times: threads().map(|thread| thread.involuntary_switches).sum(),
            microseconds: u64::try_from(off_cpu.as_micros()).unwrap_or(u64::MAX),
        });
    }
    if moved > 0 {
        found.push(Disturbance::Moved { threads: u32::try_from(moved).unwrap_or(u32::MAX) });
    }
    if faults > 0 {
        found.push(Disturbance::Faulted { times: faults });
    }
    found
}
