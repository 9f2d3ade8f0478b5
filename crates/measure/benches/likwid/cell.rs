//! One cell of the comparison: a kernel at a level with so many threads.

use nearfar_kernels::{Kernel, Variant};
use nearfar_machine::{Binding, MemoryPolicy};
use nearfar_measure::experiment::CpuPlaces;
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
