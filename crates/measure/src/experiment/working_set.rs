//! How large arrays must be so that memory, and not a cache, is measured.

use nearfar_machine::Machine;
use nearfar_record::Inputs;

/// Each array has at least this many times the caches involved (STREAM's rule); all arrays together, where
/// no size was looked for.
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

/// Whether the nodes' own memory sizes can be believed: they add up to what
/// /proc/meminfo says. In some virtual machines they do not.
pub fn node_memory_is_known(machine: &Machine, memory_bytes: Option<u64>) -> bool {
    let of_nodes: Option<u64> = machine.nodes.iter().map(|node| node.memory_bytes).sum();
    of_nodes.zip(memory_bytes).is_some_and(|(nodes, all)| nodes.abs_diff(all) <= all / 10)
}

/// Bytes that a case on memory should have, and may have at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkingSet {
    /// A multiple of the caches involved, or what was forced.
    pub wanted: u64,
    /// A quarter of the memory that is available; not for a size that was forced.
    pub most: u64,
}

/// Bytes for a case on memory with this many arrays: the planned multiple of the caches involved, at most a
/// quarter of `available` (the least of machine, control group and node), or what was forced.
pub fn memory_working_set(
    caches: Option<u64>,
    available: Option<u64>,
    inputs: &Inputs,
    arrays: u64,
) -> WorkingSet {
    if let Some(bytes) = inputs.working_set_bytes {
        return WorkingSet { wanted: bytes, most: u64::MAX };
    }
    let multiple = cache_multiple(inputs, arrays);
    let wanted = caches.map_or(UNKNOWN_CACHE_WORKING_SET, |bytes| bytes.saturating_mul(multiple));
    let most = available.map_or(u64::MAX, |bytes| bytes / 4);
    WorkingSet { wanted: wanted.max(SMALLEST_WORKING_SET).min(most), most }
}

/// How many times the caches a case with this many arrays has: a power of two that gives each array four
/// times, and at least the planned one.
pub fn cache_multiple(inputs: &Inputs, arrays: u64) -> u64 {
    inputs.cache_multiple.map_or(CACHE_MULTIPLE, |planned| {
        u64::from(planned).max((CACHE_MULTIPLE * arrays).next_power_of_two())
    })
}

/// How a stream's arrays are cut: every thread has one slice of each array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slices {
    /// Bytes of the smallest slice for each element that it has per step, a multiple of the
    /// page that borders are aligned to: a slice of an array with this many elements per step
    /// is this many times as long.
    pub slice_bytes: u64,
    /// Bytes of all slices of all arrays.
    pub total_bytes: u64,
}

/// Cuts a working set into equal slices. Large slices are whole 2 MiB, small ones
/// whole 4 KiB, none below one page: rounded up, so that the set is not smaller
/// than wanted, or down where up would be more than allowed. `widths` are the elements of each
/// array per step of the kernel, 1 for each array of a catalog's kernel.
pub fn lay_out_steps(working_set: WorkingSet, widths: &[u32], threads: u64) -> Slices {
    let slices = widths.iter().copied().map(u64::from).sum::<u64>() * threads;
    let raw = working_set.wanted.div_ceil(slices);
    let page = if raw >= 4 * HUGE_PAGE { HUGE_PAGE } else { BASE_PAGE };
    let up = raw.div_ceil(page) * page;
    let slice_bytes = if up * slices <= working_set.most { up } else { (raw / page).max(1) * page };
    Slices { slice_bytes, total_bytes: slice_bytes * slices }
}

/// Bytes from the start of one slice to the start of the next. Small slices stand
/// two pages apart: prefetchers run on past a slice's end, and a line that they fetch
/// from another thread's destination goes back and forth in every pass (on sets of
/// 24 KiB a thread, two threads were slower than one). In large ones that is nothing.
pub fn slice_stride(slice_bytes: u64) -> u64 {
    if slice_bytes < HUGE_PAGE { slice_bytes + 2 * BASE_PAGE } else { slice_bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn wanted(
        caches: Option<u64>,
        available: Option<u64>,
        (cache_multiple, working_set_bytes): (Option<u32>, Option<u64>),
        arrays: u64,
    ) -> u64 {
        let suite = crate::suite_inputs(nearfar_record::Suite::Quick);
        let inputs = Inputs { cache_multiple, working_set_bytes, ..suite };
        memory_working_set(caches, available, &inputs, arrays).wanted
    }

    #[test]
    fn a_multiple_of_the_caches_but_a_quarter_of_the_memory() {
        let set = |caches, available, forced| wanted(caches, available, (None, forced), 3);
        assert_eq!(set(Some(32 * MIB), Some(8192 * MIB), None), 128 * MIB);
        assert_eq!(set(Some(512 * MIB), Some(4096 * MIB), None), 1024 * MIB);
        assert_eq!(set(Some(MIB), None, None), 32 * MIB);
        assert_eq!(set(None, Some(16384 * MIB), None), 1024 * MIB);
        assert_eq!(set(Some(512 * MIB), Some(MIB), Some(8 * MIB)), 8 * MIB);
    }

    /// Powers of two, with four times the caches for each array.
    #[test]
    fn a_planned_multiple_holds_streams_rule_for_each_array() {
        let multiple = |planned, arrays| {
            wanted(Some(32 * MIB), None, (Some(planned), None), arrays) / (32 * MIB)
        };
        assert_eq!([1, 2, 3, 4].map(|arrays| multiple(4, arrays)), [4, 8, 16, 16]);
        assert_eq!([1, 3].map(|arrays| multiple(8, arrays)), [8, 16]);
        assert_eq!([1, 3].map(|arrays| multiple(32, arrays)), [32, 32]);
    }

    #[test]
    fn slices_are_whole_pages_and_never_more_than_allowed() {
        for (caches, available) in [(33, 100_000), (33, 160), (260, 24_000), (1, 9)] {
            for arrays in 1..=3_u64 {
                for threads in [1, 2, 3, 7, 64] {
                    let inputs = crate::suite_inputs(nearfar_record::Suite::Quick);
                    let (caches, room) = (Some(caches * MIB), Some(available * MIB));
                    let set = memory_working_set(caches, room, &inputs, arrays);
                    let widths = vec![1; usize::try_from(arrays).unwrap()];
                    let slices = lay_out_steps(set, &widths, threads);
                    assert_eq!(slices.slice_bytes % BASE_PAGE, 0);
                    assert_eq!(slices.total_bytes, slices.slice_bytes * arrays * threads);
                    assert!(slices.total_bytes <= set.most);
                    if set.wanted < set.most / 2 {
                        assert!(slices.total_bytes >= set.wanted);
                    }
                }
            }
        }
    }
}
