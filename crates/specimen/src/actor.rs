//! Actors made by hand.

use nearfar_machine::{Binding, CpuSet, MemoryPolicy};
use nearfar_record::{Actor, Chase, Compute, Pages, Pinning, Stream};

/// Threads of a kernel, one on each of these CPUs.
pub fn stream(kernel: &str, variant: &str, cpus: CpuSet, memory: MemoryPolicy) -> Stream {
    let thread_cpus: Vec<u32> = cpus.iter().collect();
    Stream {
        kernel: kernel.into(),
        variant: variant.into(),
        threads: u32::try_from(thread_cpus.len()).unwrap_or(u32::MAX),
        pinning: Pinning::OnePerCore,
        thread_cpus,
        binding: Binding { cpus, memory },
        write_memory: None,
        working_set_bytes: 1 << 30,
        llc_multiple: Some(4.0),
        pages: Pages::Transparent,
        pause_cycles: 0,
    }
}

/// A working set that fits in no cache.
pub const IN_MEMORY: u64 = 64 << 20;

/// A chase by the first of these CPUs.
pub fn chase(cpus: CpuSet, node: u32, working_set_bytes: u64, pages: Pages) -> Actor {
    Actor::Chase(Chase {
        thread_cpu: cpus.first().unwrap_or(0),
        binding: Binding { cpus, memory: MemoryPolicy::Preferred(node) },
        working_set_bytes,
        llc_multiple: Some(if working_set_bytes >= IN_MEMORY { 4.0 } else { 0.5 }),
        group_bytes: 256 << 10,
        pages,
    })
}

/// Threads that compute, one on each of these CPUs.
pub fn compute(kernel: &str, variant: &str, cpus: CpuSet) -> Actor {
    Actor::Compute(Compute {
        kernel: kernel.into(),
        variant: variant.into(),
        thread_cpus: cpus.iter().collect(),
        cpus,
    })
}
