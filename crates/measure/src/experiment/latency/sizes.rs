//! How large the sets of a chase are.

use nearfar_machine::Machine;
use nearfar_record::Chase;

use crate::experiment::cache_window::{cache_levels, cache_window};
use crate::experiment::setting::Setting;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Sets are whole pages.
const PAGE: u64 = 4 * KIB;

/// The smallest set on memory, and the smallest of a curve.
const SMALLEST_ON_MEMORY: u64 = 64 * MIB;
const SMALLEST: u64 = 8 * KIB;

/// To lay and prove more takes most of a second. The case says by its multiple of the caches what a set
/// that was cut off is worth.
const LARGEST: u64 = 2 * GIB;

/// Where the caches are not known: then the chase makes a whole pass first.
const BESIDE_UNKNOWN_CACHES: u64 = GIB;

/// How many sizes a curve has where time is short, with that on memory.
const FEW: usize = 6;

/// Of a set the chase touches one line in this many. In caches that find lines by plain bits of
/// the address these lines crowd in as large a part of the cache, and the set counts as a whole;
/// where the address is hashed, as in most last-level caches, only the lines count.
const LINES_PER_NODE: u64 = Chase::NODE_BYTES / 64;

/// Bytes of a walk on memory by a thread on this CPU: its lines are twice the caches that it
/// sees, or the planned multiple, or what was forced; of memory at most a quarter of the room.
pub(super) fn memory_bytes(setting: Setting<'_>, cpu: u32, node: u32) -> u64 {
    if let Some(forced) = setting.inputs.working_set_bytes {
        return (forced / PAGE).max(1) * PAGE;
    }
    let caches = setting.places.cache_bytes([cpu], &[node]);
    let lines = u64::from(setting.inputs.chase_multiple.unwrap_or(2));
    let wanted =
        caches.map_or(BESIDE_UNKNOWN_CACHES, |bytes| bytes.saturating_mul(lines * LINES_PER_NODE));
    let wanted = wanted.clamp(SMALLEST_ON_MEMORY, LARGEST).next_multiple_of(2 * MIB);
    let room = setting.available_on(node).map_or(u64::MAX, |bytes| bytes / 4);
    (wanted.min(room) / PAGE).max(1) * PAGE
}

/// Lines of a set / caches; `None` where their size is not known.
pub(super) fn llc_multiple(bytes: u64, caches: Option<u64>) -> Option<f64> {
    caches.map(|caches| (bytes / LINES_PER_NODE) as f64 / caches as f64)
}

/// Sizes below the one on memory, ascending: powers of two and those between, or a few of them.
pub(super) fn curve(machine: &Machine, cpu: u32, memory: u64, all: bool) -> Vec<u64> {
    let sizes = ladder(memory);
    if all {
        return sizes;
    }
    let windows: Vec<(u64, u64, u64)> = cache_levels(machine, &[cpu])
        .into_iter()
        .filter_map(|level| cache_window(machine, &[cpu], level).ok())
        .map(|window| (window.least, window.middle(), window.most))
        .collect();
    let within = |least: u64, most: u64| {
        sizes.iter().copied().filter(move |size| (least..=most).contains(size))
    };
    // The middle of each cache, and the most that the largest ones hold.
    let middles = windows.iter().filter_map(|&(least, middle, most)| {
        within(least, most).min_by_key(|&size| distance(size, middle))
    });
    let tops = windows.iter().rev().filter_map(|&(least, _, most)| within(least, most).next_back());
    let mut few: Vec<u64> = Vec::new();
    for size in middles.chain(tops) {
        if few.len() + 1 < FEW && !few.contains(&size) {
            few.push(size);
        }
    }
    if windows.is_empty() {
        // Nothing is known of the caches: each size is eight times the one before.
        few = (0..5).map(|step| (16 * KIB) << (3 * step)).filter(|&size| size < memory).collect();
    }
    few.sort_unstable();
    few
}

/// 8, 12, 16, 24 KiB and so on below a size.
fn ladder(below: u64) -> Vec<u64> {
    let powers = std::iter::successors(Some(SMALLEST), |&size| size.checked_mul(2));
    powers.flat_map(|size| [size, size / 2 * 3]).take_while(|&size| size < below).collect()
}

/// How many times one is larger than the other, in thousandths.
fn distance(one: u64, other: u64) -> u64 {
    one.max(other).saturating_mul(1000) / one.min(other).max(1)
}

/// A size in ids: `16KiB`, `64MiB`, `24B`.
pub(in crate::experiment) fn size_word(bytes: u64) -> String {
    let (unit, word) = [(GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")]
        .into_iter()
        .find(|&(unit, _)| bytes.is_multiple_of(unit))
        .unwrap_or((1, "B"));
    format!("{}{word}", bytes / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ladder_has_two_steps_for_each_power_of_two() {
        let kib: Vec<u64> = ladder(65 * KIB).into_iter().map(|size| size / KIB).collect();
        assert_eq!(kib, [8, 12, 16, 24, 32, 48, 64]);
        assert!(ladder(8 * KIB).is_empty());
        assert!(ladder(u64::MAX).len() > 90);
    }

    #[test]
    fn sizes_in_ids_are_exact() {
        assert_eq!(size_word(16 * KIB), "16KiB");
        assert_eq!(size_word(64 * MIB), "64MiB");
        assert_eq!(size_word(GIB), "1GiB");
        assert_eq!(size_word(1536 * KIB), "1536KiB");
        assert_eq!(size_word(66 * MIB), "66MiB");
    }
}
