//! One cell of the comparison: a kernel at a level with this many threads.

use std::fmt;
use std::time::Duration;

use anyhow::{Context, bail};
use nearfar_kernels::{Kernel, Variant};
use nearfar_machine::{Binding, MemoryPolicy};
use nearfar_measure::experiment::{CpuPlaces, WorkingSet, memory_working_set};
use nearfar_measure::native::NativeExecutor;
use nearfar_measure::{DEFAULT_CACHE_MULTIPLE, Executor, Failure, WindowRequest, suite_inputs};
use nearfar_record::{
    Actor, Aggregate, Case, Inputs, Pages, Part, Pinning, Sample, Stream, Suite, Work,
};

use crate::likwid_bench::Workgroup;
use crate::surroundings::Surroundings;

/// Where the data of a run lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    L1,
    L2,
    Memory,
}

impl fmt::Display for Level {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::L1 => "L1",
            Self::L2 => "L2",
            Self::Memory => "memory",
        })
    }
}

impl Level {
    pub const ALL: [Self; 3] = [Self::L1, Self::L2, Self::Memory];

    /// How long one run of either tool lasts. Longer for memory, where a pass
    /// takes a good part of it and a run is a whole number of passes for likwid.
    pub fn run_time(self) -> Duration {
        match self {
            Self::L1 | Self::L2 => Duration::from_millis(300),
            Self::Memory => Duration::from_millis(400),
        }
    }

    /// Bytes of all arrays of one thread on each of these CPUs: at most half of each
    /// thread's share of the cache, or what nearfar takes for memory.
    ///
    /// # Errors
    /// When the size of the cache is not known; the reason, in words.
    pub fn working_set(
        self,
        surroundings: &Surroundings,
        cpus: &[u32],
    ) -> Result<WorkingSet, String> {
        let depth = match self {
            Self::L1 => 1,
            Self::L2 => 2,
            Self::Memory => return Ok(memory_set(surroundings, cpus)),
        };
        let shares: Option<Vec<u64>> = cpus
            .iter()
            .map(|&cpu| {
                let caches = &surroundings.machine.caches;
                let cache = caches.iter().find(|c| c.level == depth && c.cpus.contains(cpu))?;
                let sharers = cpus.iter().filter(|&&other| cache.cpus.contains(other)).count();
                Some(cache.bytes? / sharers as u64)
            })
            .collect();
        let smallest = shares.and_then(|shares| shares.into_iter().min());
        let smallest = smallest.ok_or_else(|| format!("the size of {self} is not known"))?;
        let half = smallest / 2 * cpus.len() as u64;
        Ok(WorkingSet { wanted: half, most: half })
    }
}

fn memory_set(surroundings: &Surroundings, cpus: &[u32]) -> WorkingSet {
    let places = CpuPlaces::of(&surroundings.machine);
    let caches = places.cache_bytes(cpus.iter().copied(), &[surroundings.node]);
    let inputs =
        Inputs { cache_multiple: Some(DEFAULT_CACHE_MULTIPLE), ..suite_inputs(Suite::Quick) };
    memory_working_set(caches, surroundings.environment.available_bytes, &inputs, 3)
}

/// A kernel at a level with this many threads.
#[derive(Debug)]
pub struct Cell {
    pub level: Level,
    pub kernel: &'static Kernel,
    pub variant: Variant,
    /// The test of likwid-bench that does the same.
    pub test: String,
    pub workgroup: Workgroup,
    /// Bytes of all our arrays of all threads.
    pub working_set_bytes: u64,
}

impl Cell {
    pub fn threads(&self) -> usize {
        self.workgroup.cpus.len()
    }

    /// The size of likwid's arrays, which it takes in units of 1000 bytes and cuts to
    /// whole turns of its loop.
    pub fn kilobytes(&self) -> u64 {
        self.working_set_bytes / 1000
    }

    /// As a case that the executor runs.
    pub fn case(&self, surroundings: &Surroundings) -> Case {
        let (threads, bytes) = (self.threads(), self.working_set_bytes);
        let places = CpuPlaces::of(&surroundings.machine);
        let caches = match self.level {
            Level::Memory => {
                places.cache_bytes(self.workgroup.cpus.iter().copied(), &[surroundings.node])
            }
            Level::L1 | Level::L2 => None,
        };
        Case {
            id: format!("{}/{}/{}/t{threads}", self.level, self.kernel.name, self.variant),
            coordinates: Vec::new(),
            actors: vec![Actor::Stream(Stream {
                kernel: self.kernel.name.into(),
                variant: self.variant.to_string(),
                // As in `pairs`: all cores touch the pages, whichever run the kernel.
                binding: Binding {
                    cpus: surroundings.all.cpus.iter().copied().collect(),
                    memory: MemoryPolicy::Preferred(surroundings.node),
                },
                write_memory: None,
                threads: u32::try_from(threads).unwrap_or(u32::MAX),
                pinning: Pinning::OnePerCore,
                thread_cpus: self.workgroup.cpus.clone(),
                working_set_bytes: bytes,
                llc_multiple: caches.map(|caches| bytes as f64 / caches as f64),
                pages: Pages::Transparent,
                pause_cycles: 0,
            })],
        }
    }
}

/// Useful bytes/s of one window of a case, paced, and whether it was disturbed. Disturbed windows
/// count: other programs do not see what disturbed their runs.
///
/// # Errors
/// When the case is refused or interrupted.
pub fn run_window(
    case: &Case,
    executor: &mut NativeExecutor,
    shortest: Duration,
) -> anyhow::Result<(f64, bool)> {
    let request = WindowRequest { round: 0, first: 0, count: 1, shortest };
    let window = match executor.run(case, request) {
        Ok(windows) => windows.into_iter().next().context("one window was asked for")?,
        Err(Failure::Refused(reason)) => bail!("{}: {}", case.id, reason.text),
        Err(Failure::Interrupted) => bail!("{}: interrupted", case.id),
    };
    let sample = Sample {
        case: case.id.clone(),
        sequence: 0,
        round: 0,
        window: 0,
        start_ns: 0,
        window_ns: u64::try_from(window.length.as_nanos())?,
        actors: window.actors,
        disturbances: window.disturbances,
        run: None,
        workload: None,
        cpu_distance: None,
    };
    let rate = sample.rate(Part::Case, Work::UsefulBytes, Aggregate::Paced);
    Ok((rate, sample.is_disturbed()))
}
