//! Where the data of a run lies.

use std::fmt;
use std::time::Duration;

use clap::ValueEnum;
use nearfar_measure::experiment::{CpuPlaces, WorkingSet, memory_working_set};

use crate::surroundings::Surroundings;

/// Where the data of a run lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// The first-level data cache.
    #[value(name = "L1")]
    L1,
    /// The second-level cache.
    #[value(name = "L2")]
    L2,
    /// Memory.
    #[value(name = "memory")]
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
    memory_working_set(caches, surroundings.environment.available_bytes, None)
}
