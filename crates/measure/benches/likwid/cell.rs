//! One cell of the comparison: a kernel at a level with so many threads.

use nearfar_kernels::{Kernel, Variant};
use nearfar_machine::{Binding, MemoryPolicy};
use nearfar_measure::experiment::{WorkingSet, cache_bytes, lay_out_slices};
use nearfar_record::{Actor, Case, Pages, Pinning, Stream};

use crate::level::Level;
use crate::likwid_bench::Workgroup;
use crate::surroundings::Surroundings;

/// A kernel at a level with so many threads.
#[derive(Debug)]
pub struct Cell {
    pub level: Level,
    pub kernel: &'static Kernel,
    pub variant: Variant,
    /// The test of likwid-bench that does the same.
    pub test: String,
    pub workgroup: Workgroup,
    /// Units of 1000 bytes, all arrays of all threads: likwid's measure of size.
    pub kilobytes: u64,
}

impl Cell {
    /// Rounds have one thread or one on every core.
    pub fn threads(&self) -> usize {
        self.workgroup.cpus.len()
    }

    /// As a case that the executor runs.
    pub fn case(&self, surroundings: &Surroundings) -> Case {
        let threads = self.threads() as u64;
        let cpus = self.workgroup.cpus.iter().copied().collect();
        let caches = match self.level {
            Level::Memory => cache_bytes(&surroundings.machine, &cpus, surroundings.node),
            Level::L1 | Level::L2 => None,
        };
        let bytes = self.working_set_bytes();
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
                threads: u32::try_from(threads).unwrap_or(u32::MAX),
                pinning: Pinning::OnePerCore,
                thread_cpus: self.workgroup.cpus.clone(),
                working_set_bytes: bytes,
                llc_multiple: caches.map(|caches| bytes as f64 / caches as f64),
                pages: Pages::Transparent,
            })],
        }
    }

    /// Bytes of our arrays. likwid cuts its own to whole turns of its loop; in a
    /// cache so do we, at 512 bytes, the longest turn of any kernel.
    fn working_set_bytes(&self) -> u64 {
        const TURN: u64 = 512;
        let (arrays, threads) = (self.kernel.arrays() as u64, self.threads() as u64);
        let bytes = 1000 * self.kilobytes;
        match self.level {
            Level::Memory => lay_out_slices(WorkingSet { wanted: bytes, most: u64::MAX }, arrays, threads).total_bytes,
            Level::L1 | Level::L2 => {
                (bytes / arrays / threads / TURN).max(1) * TURN * arrays * threads
            }
        }
    }
}
