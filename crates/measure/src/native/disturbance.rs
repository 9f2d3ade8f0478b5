//! What disturbed a case's windows.

use std::path::Path;
use std::time::Duration;

use nearfar_machine::CpuSet;
use nearfar_record::{ActorSample, Case, Disturbance, disturbances_of_threads, is_disturbing};
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

/// What disturbed one window: what the threads noted, and a clock that they contradict.
pub(super) fn disturbances_of(
    case: &Case,
    actors: &[ActorSample],
    length_ns: u64,
    clock_lag_ns: u64,
) -> Vec<Disturbance> {
    let mut found = disturbances_of_threads(case, actors, length_ns);
    if is_disturbing(clock_lag_ns, length_ns) {
        found.push(Disturbance::Clock { microseconds: clock_lag_ns / 1000 });
    }
    found
}
