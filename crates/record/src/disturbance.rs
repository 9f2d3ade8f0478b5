//! What disturbed a window, and what of it follows from the threads' own notes. The
//! engine marks samples by this definition and the reader holds records against it.

use serde::{Deserialize, Serialize};

use crate::case::{Actor, Case};
use crate::sample::{ActorSample, ThreadSample};

/// A thread without a CPU for more than 1/200 of a window disturbs it. What is shorter
/// cannot change the figure by more, and on machines with many cores some thread of every
/// window is interrupted for microseconds.
pub const LEAST_DISTURBING_SHARE: u64 = 200;

/// What disturbed a window.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "disturbance", rename_all = "snake_case", deny_unknown_fields)]
pub enum Disturbance {
    /// The operating system took the CPU from a thread for longer than 0.5 % of the window.
    Switched {
        /// Times that CPUs were taken, over all threads.
        times: u64,
        /// Longest time that one thread had no CPU.
        microseconds: u64,
    },
    /// Pinned threads were on another CPU than their own when the window opened or closed.
    Moved { threads: u32 },
    /// Pages were faulted in while the window was open.
    Faulted {
        /// Faults, over all threads.
        times: u64,
    },
    /// The hypervisor ran something else on the CPUs used; counted over the case's windows of the
    /// round together, and noted in each.
    Stolen {
        /// By /proc/stat, in ticks.
        microseconds: u64,
    },
    /// The control group's CPU quota stopped the process; counted and noted likewise.
    Throttled { microseconds: u64 },
    /// A thread had more CPU time than time passed by the clock, by more than 0.5 % of the window:
    /// the clock stood still or was put back.
    Clock {
        /// Most that a thread had too much.
        microseconds: u64,
    },
}

impl Disturbance {
    /// Whether it follows from what the threads noted, by [`disturbances_of_threads`].
    pub fn is_of_threads(&self) -> bool {
        match self {
            Self::Switched { .. } | Self::Moved { .. } | Self::Faulted { .. } => true,
            Self::Stolen { .. } | Self::Throttled { .. } | Self::Clock { .. } => false,
        }
    }
}

/// What the threads of a window of this case noted that disturbs it.
pub fn disturbances_of_threads(
    case: &Case,
    actors: &[ActorSample],
    window_ns: u64,
) -> Vec<Disturbance> {
    // The thread of a transfer waits for its device, whose driver maps memory as it likes.
    let waits = |actor: &Actor| matches!(actor, Actor::Transfer(_) | Actor::Messages(_));
    let working = || case.actors.iter().zip(actors).filter(|&(actor, _)| !waits(actor));
    let threads = || working().flat_map(|(_, sample)| &sample.threads);
    let off_cpu = threads().map(|thread| thread.off_cpu_ns).max().unwrap_or(0);
    let faults = threads().map(|thread| thread.minor_faults).fold(0, u64::saturating_add);
    let moved = case.actors.iter().zip(actors).map(|(actor, sample)| threads_moved(actor, sample));
    let moved: usize = moved.sum();
    let mut found = Vec::new();
    if is_disturbing(off_cpu, window_ns) {
        let switches = threads().map(|thread| thread.involuntary_switches);
        found.push(Disturbance::Switched {
            times: switches.fold(0, u64::saturating_add),
            microseconds: off_cpu / 1000,
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

/// Whether so much of a window is more than may be overlooked.
pub fn is_disturbing(ns: u64, window_ns: u64) -> bool {
    ns > window_ns / LEAST_DISTURBING_SHARE
}

/// Pinned threads that were on another CPU than their own. Where the kernel does not
/// say on which, nothing is known to have moved.
fn threads_moved(actor: &Actor, sample: &ActorSample) -> usize {
    let is_elsewhere = |thread: &ThreadSample, own: u32| {
        [thread.cpu_before, thread.cpu_after].into_iter().flatten().any(|cpu| cpu != own)
    };
    // Threads that are not pinned have no CPU of their own.
    let threads = sample.threads.iter().zip(actor.thread_cpus());
    threads.filter(|&(thread, &own)| is_elsewhere(thread, own)).count()
}
