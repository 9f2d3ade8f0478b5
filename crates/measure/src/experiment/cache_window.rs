//! How large a set must be to lie in one cache and in none before it.

use nearfar_machine::{Cache, Machine};
use nearfar_record::{Reason, ReasonCode};
use nearfar_units::Bytes;

/// Nothing smaller is laid out.
const BASE_PAGE: u64 = 4 << 10;

/// Bytes of one thread with which a cache answers, all threads having as many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CacheWindow {
    /// Twice the thread's part of all caches before it: below, they answer as well.
    pub least: u64,
    /// Three quarters of its part of the cache: what else is in it, how it picks what to throw
    /// out, and pages that fall on the same sets take the rest.
    pub most: u64,
}

impl CacheWindow {
    /// The set that is as far above the caches before as below the cache's size; half of a
    /// cache that is the first.
    pub fn middle(self) -> u64 {
        if self.least == 0 {
            return self.most / 3 * 2;
        }
        let product = u128::from(self.least) * u128::from(self.most);
        u64::try_from(product.isqrt()).unwrap_or(self.most)
    }
}

/// Levels of the caches of these CPUs, the one next to the core first.
pub(super) fn cache_levels(machine: &Machine, cpus: &[u32]) -> Vec<u8> {
    let is_theirs = |cache: &&Cache| cpus.iter().any(|&cpu| cache.cpus.contains(cpu));
    let levels = machine.caches.iter().filter(is_theirs).map(|cache| cache.level);
    let mut levels: Vec<u8> = levels.filter_map(|level| u8::try_from(level).ok()).collect();
    levels.sort_unstable();
    levels.dedup();
    levels
}

/// Bytes of each thread that lie in the caches of a level, for one thread on each of these
/// CPUs. A cache is shared out equally among those that use it; where cores differ, the smallest
/// part counts for the cache, and the largest for those before it.
///
/// # Errors
/// [`ReasonCode::UnknownCache`] where a thread's cache or its size is not known;
/// [`ReasonCode::NoWindow`] where the caches before hold too much of it.
pub(super) fn cache_window(
    machine: &Machine,
    thread_cpus: &[u32],
    level: u8,
) -> Result<CacheWindow, Reason> {
    let mut window = CacheWindow { least: 0, most: u64::MAX };
    for &cpu in thread_cpus {
        let caches = || machine.caches.iter().filter(move |cache| cache.cpus.contains(cpu));
        if !caches().any(|cache| cache.level == u32::from(level)) {
            return Err(unknown(cpu, level, "is not known, or there is none"));
        }
        let mut before: u64 = 0;
        for cache in caches().filter(|cache| cache.level <= u32::from(level)) {
            let sharers = thread_cpus.iter().filter(|&&other| cache.cpus.contains(other)).count();
            let bytes =
                cache.bytes.ok_or_else(|| unknown(cpu, cache.level, "has no known size"))?;
            let part = bytes / (sharers as u64).max(1);
            if cache.level == u32::from(level) {
                window.most = window.most.min(part / 4 * 3);
            } else {
                before = before.saturating_add(part);
            }
        }
        window.least = window.least.max(before.saturating_mul(2));
    }
    if window.least.max(BASE_PAGE) <= window.most {
        return Ok(window);
    }
    Err(Reason {
        code: ReasonCode::NoWindow,
        text: format!(
            "a thread's set would have to be at least {} (twice the caches before it and a page) \
             and at most {} (three quarters of its part of the cache)",
            Bytes(window.least.max(BASE_PAGE)),
            Bytes(window.most)
        ),
    })
}

fn unknown(cpu: u32, level: impl Into<u32>, what: &str) -> Reason {
    Reason {
        code: ReasonCode::UnknownCache,
        text: format!("the level {} cache of CPU {cpu} {what}", level.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearfar_machine::CacheKind;
    use nearfar_specimen::empty_machine;

    const KIB: u64 = 1 << 10;

    fn machine(caches: &[(u32, Option<u64>, &str)]) -> Machine {
        let cache = |&(level, bytes, cpus): &(u32, Option<u64>, &str)| Cache {
            level,
            kind: CacheKind::Unified,
            bytes,
            line_bytes: Some(64),
            cpus: cpus.parse().unwrap(),
        };
        Machine { caches: caches.iter().map(cache).collect(), ..empty_machine() }
    }

    /// Two cores share the second level, four the third.
    fn shared() -> Machine {
        machine(&[
            (1, Some(32 * KIB), "0"),
            (1, Some(32 * KIB), "1"),
            (1, Some(32 * KIB), "2"),
            (1, Some(32 * KIB), "3"),
            (2, Some(512 * KIB), "0-1"),
            (2, Some(512 * KIB), "2-3"),
            (3, Some(4096 * KIB), "0-3"),
        ])
    }

    #[test]
    fn a_cache_is_shared_out_among_the_threads_that_use_it() {
        let window = |cpus: &[u32], level| {
            let window = cache_window(&shared(), cpus, level).unwrap();
            (window.least / KIB, window.most / KIB, window.middle() / KIB)
        };
        assert_eq!(window(&[0], 1), (0, 24, 16));
        assert_eq!(window(&[0], 2), (64, 384, 156));
        assert_eq!(window(&[0], 3), (2 * 544, 3072, 1828));
        assert_eq!(window(&[0, 1, 2, 3], 2), (64, 192, 110));
        assert_eq!(window(&[0, 1, 2, 3], 3), (2 * 288, 768, 665));
        // One of two that could share: the cache is its own.
        assert_eq!(window(&[0, 2], 2), (64, 384, 156));
        assert_eq!(cache_levels(&shared(), &[0, 2]), [1, 2, 3]);
    }

    #[test]
    fn of_unlike_cores_the_smallest_cache_counts() {
        let unlike = machine(&[
            (1, Some(48 * KIB), "0"),
            (1, Some(32 * KIB), "1"),
            (2, Some(2048 * KIB), "0"),
            (2, Some(1024 * KIB), "1"),
        ]);
        let window = cache_window(&unlike, &[0, 1], 2).unwrap();
        assert_eq!((window.least, window.most), (96 * KIB, 768 * KIB));
        assert_eq!(cache_window(&unlike, &[0, 1], 1).unwrap().most, 24 * KIB);
    }

    #[test]
    fn what_is_not_known_or_leaves_no_room_is_said() {
        let code = |caches: &[(u32, Option<u64>, &str)], level| {
            cache_window(&machine(caches), &[0, 1], level).unwrap_err().code
        };
        let first = (1, Some(32 * KIB), "0-1");
        assert_eq!(code(&[first, (2, None, "0-1")], 2), ReasonCode::UnknownCache);
        assert_eq!(code(&[(1, None, "0-1"), (2, Some(KIB), "0-1")], 2), ReasonCode::UnknownCache);
        assert_eq!(code(&[first], 2), ReasonCode::UnknownCache);
        // Of two cores one has no such cache.
        assert_eq!(code(&[first, (2, Some(KIB), "0")], 2), ReasonCode::UnknownCache);
        assert_eq!(code(&[first, (2, Some(40 * KIB), "0-1")], 2), ReasonCode::NoWindow);
        assert_eq!(code(&[(1, Some(4 * KIB), "0-1")], 1), ReasonCode::NoWindow);
        let huge = (2, Some(u64::MAX), "0-1");
        assert_eq!(code(&[huge, (3, Some(u64::MAX), "0-1")], 3), ReasonCode::NoWindow);
    }
}
