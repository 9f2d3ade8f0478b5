//! How large arrays must be so that memory, and not a cache, is measured.

use nearfar_machine::{CpuSet, Machine};

/// Working sets of memory are so many times the caches involved (STREAM's rule).
const CACHE_MULTIPLE: u64 = 4;

/// Where no cache's size is known. Larger than any last-level cache of 2026 that
/// one socket has, times two.
const UNKNOWN_CACHE_WORKING_SET: u64 = 1 << 30;

/// Never less: below it fixed costs and page granularity would show.
const SMALLEST_WORKING_SET: u64 = 32 << 20;

/// Slices of at least this size start at a 2 MiB border, so that huge pages of
/// different threads and arrays never mix.
const HUGE_PAGE: u64 = 2 << 20;
const BASE_PAGE: u64 = 4 << 10;

/// Sum of the last-level caches of these CPUs and of the node's memory-side
/// cache; `None` where a size is not known.
#[must_use]
pub fn cache_bytes(machine: &Machine, cpus: &CpuSet, node: u32) -> Option<u64> {
    let caches = machine.last_level_caches(cpus);
    let cpu_side: Option<u64> = caches.iter().map(|cache| cache.bytes).sum();
    let memory_side = machine.node(node).and_then(|node| node.memory_side_cache_bytes);
    match cpu_side {
        Some(bytes) if !caches.is_empty() => Some(bytes + memory_side.unwrap_or(0)),
        _ => None,
    }
}

/// Bytes for a case on memory: four times the caches involved, at most a quarter
/// of `available`, or what was forced.
#[must_use]
pub fn memory_working_set(caches: Option<u64>, available: Option<u64>, forced: Option<u64>) -> u64 {
    if let Some(bytes) = forced {
        return bytes;
    }
    let wanted = caches.map_or(UNKNOWN_CACHE_WORKING_SET, |bytes| bytes * CACHE_MULTIPLE);
    let most = available.map_or(u64::MAX, |bytes| bytes / 4);
    wanted.max(SMALLEST_WORKING_SET).min(most)
}

/// How a stream's arrays are cut: every thread has one slice of each array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slices {
    /// Bytes of one slice, a multiple of the page that borders are aligned to.
    pub slice_bytes: u64,
    /// Bytes of all slices of all arrays.
    pub total_bytes: u64,
}

/// Cuts about `working_set` bytes into equal slices. Large slices are rounded to
/// 2 MiB, small ones to 4 KiB, none below one page.
#[must_use]
pub fn lay_out_slices(working_set: u64, arrays: u64, threads: u64) -> Slices {
    let raw = working_set / (arrays * threads);
    let page = if raw >= 4 * HUGE_PAGE { HUGE_PAGE } else { BASE_PAGE };
    let slice_bytes = (raw / page).max(1) * page;
    Slices { slice_bytes, total_bytes: slice_bytes * arrays * threads }
}
