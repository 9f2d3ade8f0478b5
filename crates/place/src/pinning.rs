//! Which thread runs on which CPU: told to OpenMP's libraries in their own words, and to the
//! threads of other programs from outside (sched_setaffinity(2) of another thread).
//!
//! A process's first thread stays free: what it starts later, programs and OpenMP's threads,
//! would begin with its CPUs. Threads that a program has pinned itself, and those of a process
//! that has one of OpenMP's libraries loaded, are left alone: two hands would undo each other.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap};
use std::env;
use std::fs;
use std::path::Path;

use nearfar_machine::{CpuSet, Machine, PlacementStrategy};
use nearfar_measure::experiment::{compact_order, scatter_order};
use nearfar_sys::{Errno, Refusal, parent_of, pin_task, task_cpus};

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
    pub fn openmp_settings(&self) -> Option<[(&'static str, String); 2]> {
        if OPENMP_VARIABLES.iter().any(|name| env::var_os(name).is_some()) {
            return None;
        }
        let places: Vec<String> =
            self.openmp_order.iter().map(|cpu| format!("{{{cpu}}}")).collect();
        Some([("OMP_PLACES", places.join(",")), ("OMP_PROC_BIND", self.openmp_bind.into())])
    }
}

/// The threads that were pinned. All of it takes the same time however many there are.
#[derive(Debug)]
pub(crate) struct PinnedThreads {
    pinning: Pinning,
    /// What a thread may use that nobody has pinned.
    free: CpuSet,
    /// By the thread's number.
    places: HashMap<u32, Place>,
    /// Numbers in the order that were given back, and the first that was never taken.
    given_back: BinaryHeap<Reverse<usize>>,
    untaken: usize,
    /// How many threads of a process were given a CPU: what they start begins with it.
    of_cpu: HashMap<(u32, u32), usize>,
    openmp: HashMap<u32, OpenMp>,
    /// Why a thread was not pinned that was there.
    pub refusal: Option<Refusal>,
}

#[derive(Debug)]
struct Place {
    process: u32,
    /// Its number in the order.
    number: usize,
    cpu: u32,
}

/// Whether a process has one of OpenMP's libraries, which it may load later than its first threads:
/// it is asked again at its second thread, its fourth, its eighth and so on.
#[derive(Debug, Default)]
struct OpenMp {
    is_there: bool,
    threads: u32,
}

impl PinnedThreads {
    pub fn new(pinning: Pinning, free: CpuSet) -> Self {
        Self {
            pinning,
            free,
            places: HashMap::new(),
            given_back: BinaryHeap::new(),
            untaken: 0,
            of_cpu: HashMap::new(),
            openmp: HashMap::new(),
            refusal: None,
        }
    }

    /// Gives the first thread of a process that a pinned thread has started all CPUs back.
    pub fn free_process(&mut self, process: u32) {
        let cpus = task_cpus(process);
        let is_started_by_pinned = cpus.is_ok_and(|cpus| {
            cpus != self.free
                && parent_of(Path::new("/"), process).is_some_and(|parent| self.has(parent, &cpus))
        });
        if is_started_by_pinned {
            // It may have ended.
            pin_task(process, &self.free).ok();
        }
    }

    /// Pins a new thread, unless somebody else has pinned it.
    pub fn pin(&mut self, process: u32, tid: u32) {
        let Ok(cpus) = task_cpus(tid) else { return };
        let is_left_alone = cpus != self.free && !self.has(process, &cpus);
        if is_left_alone || self.has_openmp(process) {
            return;
        }
        let order = &self.pinning.order;
        let Reverse(number) = self.given_back.peek().copied().unwrap_or(Reverse(self.untaken));
        let Some(&cpu) = order.get(number % order.len().max(1)) else {
            return;
        };
        match pin_task(tid, &CpuSet::single(cpu)) {
            Ok(()) => {
                if self.given_back.pop().is_none() {
                    self.untaken += 1;
                }
                *self.of_cpu.entry((process, cpu)).or_default() += 1;
                self.places.insert(tid, Place { process, number, cpu });
            }
            // It has ended.
            Err(refusal) if refusal.errno() == Some(Errno(libc::ESRCH)) => {}
            Err(refusal) => self.refusal = Some(refusal),
        }
    }

    /// Whether one of a process's threads was given these CPUs.
    fn has(&self, process: u32, cpus: &CpuSet) -> bool {
        cpus.len() == 1 && cpus.first().is_some_and(|cpu| self.of_cpu.contains_key(&(process, cpu)))
    }

    fn has_openmp(&mut self, process: u32) -> bool {
        let known = self.openmp.entry(process).or_default();
        known.threads += 1;
        if !known.is_there && known.threads.is_power_of_two() {
            known.is_there = has_openmp(process);
        }
        known.is_there
    }

    /// Forgets a thread that has ended, whose place is free again.
    pub fn forget(&mut self, tid: u32) {
        self.openmp.remove(&tid);
        let Some(Place { process, number, cpu }) = self.places.remove(&tid) else { return };
        self.given_back.push(Reverse(number));
        if let Entry::Occupied(mut threads) = self.of_cpu.entry((process, cpu)) {
            *threads.get_mut() -= 1;
            if *threads.get() == 0 {
                threads.remove();
            }
        }
    }
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
