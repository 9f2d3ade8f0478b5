//! Which thread runs on which CPU: told to OpenMP's libraries in their own words, and to the
//! threads of other programs from outside (sched_setaffinity(2) of another thread).
//!
//! A process's first thread stays free: what it starts later, programs and OpenMP's threads,
//! would begin with its CPUs. Threads that a program has pinned itself, and those of a process
//! that has one of OpenMP's libraries loaded, are left alone: two hands would undo each other.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;

use nearfar_machine::{CpuSet, Machine};
use nearfar_measure::experiment::{compact_order, scatter_order};
use nearfar_model::PlacementStrategy;
use nearfar_sys::{Errno, Refusal, Task, pin_task, pin_thread, thread_cpus};

use crate::placement::Placement;

/// The order in which threads take CPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinning {
    /// The CPUs of threads as they come; after the last one the first one's turn is again.
    pub order: Vec<u32>,
    /// The CPUs as OpenMP's libraries are told them.
    pub openmp_order: Vec<u32>,
    /// How OpenMP's threads take these: `close` is one after the other, `spread` evenly over all,
    /// by the number of threads, which nobody else knows beforehand.
    pub openmp_bind: &'static str,
}

/// Variables by which a user tells OpenMP's libraries where threads go.
const OPENMP_VARIABLES: [&str; 4] =
    ["OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"];

/// Names by which OpenMP's libraries are mapped: those of GCC, LLVM and Intel.
const OPENMP_LIBRARIES: [&str; 3] = ["/libgomp", "/libomp", "/libiomp5"];

impl Pinning {
    /// Whether a placement asks for an order of threads.
    #[must_use]
    pub fn is_asked_by(placement: &Placement) -> bool {
        match placement {
            Placement::Compact | Placement::Scatter | Placement::Spread => true,
            Placement::Strategy(strategy) => {
                matches!(strategy, PlacementStrategy::RoundRobin | PlacementStrategy::MemoryBind)
            }
            Placement::Local(_) | Placement::Memory(_) | Placement::InterleaveAll => false,
        }
    }

    /// The order of a placement's threads over these CPUs; `None` where it asks for none.
    #[must_use]
    pub fn of(placement: &Placement, machine: Machine, cpus: &CpuSet) -> Option<Self> {
        if !Self::is_asked_by(placement) {
            return None;
        }
        let machine = Machine { allowed_cpus: cpus.clone(), ..machine };
        let near = || compact_order(&machine);
        let far = || scatter_order(&machine);
        Some(match placement {
            Placement::Compact => {
                Self { order: near(), openmp_order: near(), openmp_bind: "close" }
            }
            Placement::Scatter => Self { order: far(), openmp_order: far(), openmp_bind: "close" },
            _ => Self { order: far(), openmp_order: near(), openmp_bind: "spread" },
        })
    }

    /// The settings for OpenMP's libraries; `None` where the user has made one himself.
    #[must_use]
    pub fn openmp_settings(&self) -> Option<[(&'static str, String); 2]> {
        if OPENMP_VARIABLES.iter().any(|name| env::var_os(name).is_some()) {
            return None;
        }
        let places: Vec<String> =
            self.openmp_order.iter().map(|cpu| format!("{{{cpu}}}")).collect();
        Some([("OMP_PLACES", places.join(",")), ("OMP_PROC_BIND", self.openmp_bind.into())])
    }
}

/// Whether threads can be pinned here, by pinning this one to what it may use already.
pub(crate) fn try_pinning() -> Result<(), Refusal> {
    pin_thread(&thread_cpus()?)
}

/// The threads that were pinned.
#[derive(Debug)]
pub(crate) struct PinnedThreads {
    pinning: Pinning,
    /// What a thread may use that nobody has pinned.
    free: CpuSet,
    /// By the thread's number.
    places: BTreeMap<u32, Place>,
    /// Why a thread was not pinned that was there.
    pub refusal: Option<Refusal>,
}

/// The place of a pinned thread.
#[derive(Debug)]
struct Place {
    process: u32,
    /// Its number in the order.
    number: usize,
    cpu: u32,
}

impl PinnedThreads {
    pub fn new(pinning: Pinning, free: CpuSet) -> Self {
        Self { pinning, free, places: BTreeMap::new(), refusal: None }
    }

    /// Pins a thread if it is new and nobody else has pinned it. The first of a process that a
    /// pinned thread has started gets all CPUs back.
    pub fn pin(&mut self, process: u32, thread: &Task) {
        let Task { tid, cpus, .. } = thread;
        if *tid == process {
            if *cpus != self.free && parent_of(process).is_some_and(|it| self.has(it, cpus)) {
                // It may have ended.
                pin_task(process, &self.free).ok();
            }
            return;
        }
        let is_left_alone = *cpus != self.free && !self.has(process, cpus);
        if self.places.contains_key(tid) || is_left_alone || has_openmp(process) {
            return;
        }
        let taken: BTreeSet<usize> = self.places.values().map(|place| place.number).collect();
        let number = (0..).find(|number| !taken.contains(number)).unwrap_or(0);
        let order = &self.pinning.order;
        let Some(&cpu) = order.get(number % order.len().max(1)) else {
            return;
        };
        match pin_task(*tid, &CpuSet::single(cpu)) {
            Ok(()) => _ = self.places.insert(*tid, Place { process, number, cpu }),
            // It has ended.
            Err(refusal) if refusal.errno() == Some(Errno(libc::ESRCH)) => {}
            Err(refusal) => self.refusal = Some(refusal),
        }
    }

    /// Whether one of a process's threads was given these CPUs: what it starts begins with them.
    fn has(&self, process: u32, cpus: &CpuSet) -> bool {
        self.places
            .values()
            .any(|place| place.process == process && CpuSet::single(place.cpu) == *cpus)
    }

    /// Forgets all threads but these.
    pub fn keep(&mut self, living: &BTreeSet<u32>) {
        self.places.retain(|tid, _| living.contains(tid));
    }

    /// Forgets a thread that has ended, whose place is free again.
    pub fn forget(&mut self, tid: u32) {
        self.places.remove(&tid);
    }
}

/// The process that has started another.
fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // A name may hold blanks and parentheses; the last closing one ends it.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Whether one of OpenMP's libraries is mapped.
fn has_openmp(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/maps"))
        .is_ok_and(|maps| OPENMP_LIBRARIES.iter().any(|name| maps.contains(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openmp_is_told_the_order() {
        let order = vec![0, 2, 4, 1, 3, 5];
        let pinning = Pinning { order: vec![], openmp_order: order, openmp_bind: "close" };
        let [places, bind] = pinning.openmp_settings().unwrap();
        assert_eq!(places, ("OMP_PLACES", "{0},{2},{4},{1},{3},{5}".into()));
        assert_eq!(bind, ("OMP_PROC_BIND", "close".into()));
    }

    #[test]
    fn placements_have_the_orders_of_their_names() {
        let machine = nearfar_topology::parse_synthetic("pack:2 [numa] core:3 pu:1").unwrap();
        let order = |text: &str, cpus: &str| {
            Pinning::of(&text.parse().unwrap(), machine.clone(), &cpus.parse().unwrap())
                .map(|pinning| (pinning.order, pinning.openmp_order, pinning.openmp_bind))
        };
        let (near, far) = (vec![0, 1, 2, 3, 4, 5], vec![0, 3, 1, 4, 2, 5]);
        assert_eq!(order("compact", "0-5"), Some((near.clone(), near.clone(), "close")));
        assert_eq!(order("scatter", "0-5"), Some((far.clone(), far.clone(), "close")));
        assert_eq!(order("spread", "0-5"), Some((far, near, "spread")));
        assert_eq!(order("spread", "1-3"), Some((vec![1, 3, 2], vec![1, 2, 3], "spread")));
        for text in ["local", "bind:0", "interleave", "first-touch", "parallel-init"] {
            assert_eq!(order(text, "0-5"), None, "{text}");
        }
    }
}
