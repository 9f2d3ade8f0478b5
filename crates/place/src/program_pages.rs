//! Where a program's own memory is.

use std::collections::BTreeMap;

use nearfar_sys::{MappedPages, MappingKind};

/// How it was found out where the pages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CountMethod {
    /// By a look while the program ran.
    Sampled,
    /// When it was about to end, its memory still there.
    ExitStop,
}

impl CountMethod {
    /// Its word in a report.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sampled => "sampled",
            Self::ExitStop => "exit_stop",
        }
    }
}

/// Bytes of a program's own memory by node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramPages {
    /// How they were counted.
    pub method: CountMethod,
    /// Bytes by node.
    pub bytes: BTreeMap<u32, u64>,
}

impl ProgramPages {
    /// The share of each node; `None` where there is no memory.
    #[must_use]
    pub fn shares(&self) -> Option<BTreeMap<u32, f64>> {
        let all = total(&self.bytes);
        #[expect(clippy::cast_precision_loss, reason = "a share of bytes needs no more digits")]
        let share = |bytes: u64| bytes as f64 / all as f64;
        (all > 0).then(|| self.bytes.iter().map(|(&node, &bytes)| (node, share(bytes))).collect())
    }

    /// The largest difference to these shares, of any node; `None` where there is no memory.
    #[must_use]
    pub fn largest_deviation(&self, asked: &BTreeMap<u32, f64>) -> Option<f64> {
        let found = self.shares()?;
        let of = |shares: &BTreeMap<u32, f64>, node| shares.get(node).copied().unwrap_or(0.0);
        let nodes = found.keys().chain(asked.keys());
        Some(nodes.map(|node| (of(&found, node) - of(asked, node)).abs()).fold(0.0, f64::max))
    }
}

/// Of a process's pages its own anonymous memory (heap, stacks, mappings without a file), in bytes
/// by node. Files and what processes share is not placed by a policy of the process alone.
pub(crate) fn own_bytes(pages: &[MappedPages]) -> BTreeMap<u32, u64> {
    let mut bytes: BTreeMap<u32, u64> = BTreeMap::new();
    for mapping in pages.iter().filter(|it| it.kind != MappingKind::File) {
        for (&node, &count) in &mapping.nodes {
            let known = bytes.entry(node).or_default();
            *known = known.saturating_add(count.saturating_mul(mapping.page_bytes));
        }
    }
    bytes
}

/// All bytes.
pub(crate) fn total(bytes: &BTreeMap<u32, u64>) -> u64 {
    bytes.values().fold(0, |sum, &bytes| sum.saturating_add(bytes))
}

/// What is known of one process over its life. A program may free its memory before it ends: what
/// counts is the latest look that found at least nine tenths of the most that any look found.
#[derive(Debug, Default)]
pub(crate) struct ProcessPages {
    most: u64,
    kept: Option<ProgramPages>,
}

impl ProcessPages {
    /// Takes a look into account.
    pub fn note(&mut self, method: CountMethod, bytes: BTreeMap<u32, u64>) {
        let found = total(&bytes);
        // Between its exit stop and its end a process may be looked at once more.
        let is_too_late = self
            .kept
            .as_ref()
            .is_some_and(|kept| kept.method > method && total(&kept.bytes) >= found);
        if is_too_late {
            return;
        }
        self.most = self.most.max(found);
        if found >= self.most - self.most / 10 {
            self.kept = Some(ProgramPages { method, bytes });
        }
    }

    pub fn kept(&self) -> Option<&ProgramPages> {
        self.kept.as_ref()
    }
}

/// What all processes held together; `None` where none was looked at.
pub(crate) fn sum_of<'a>(
    processes: impl Iterator<Item = &'a ProgramPages>,
) -> Option<ProgramPages> {
    let mut sum: Option<ProgramPages> = None;
    for pages in processes {
        let sum = sum.get_or_insert_with(|| ProgramPages {
            method: CountMethod::ExitStop,
            bytes: BTreeMap::new(),
        });
        sum.method = sum.method.min(pages.method);
        for (&node, &bytes) in &pages.bytes {
            let known = sum.bytes.entry(node).or_default();
            *known = known.saturating_add(bytes);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use nearfar_sys::parse_process_pages;

    use super::*;

    // Linux 6.1 on a machine with four nodes.
    const NUMA_MAPS: &str = "\
555e05323000 interleave:0-3 file=/usr/bin/work mapped=200 N3=200 kernelpagesize_kB=4
555e06000000 interleave:0-3 heap anon=33 dirty=33 N0=9 N1=8 N2=8 N3=8 kernelpagesize_kB=4
7f0000000000 interleave:0-3 anon=2 dirty=2 N1=1 N2=1 kernelpagesize_kB=2048
7ffd00000000 interleave:0-3 stack anon=3 dirty=3 N0=3 kernelpagesize_kB=4
";

    #[test]
    fn own_memory_is_counted_and_files_are_not() {
        let bytes = own_bytes(&parse_process_pages(NUMA_MAPS, "").unwrap());
        let large = 2 << 20;
        let expected =
            [(0, 12 << 12), (1, (8 << 12) + large), (2, (8 << 12) + large), (3, 8 << 12)];
        assert_eq!(bytes, expected.into());
    }

    #[test]
    fn shares_and_their_deviation() {
        let method = CountMethod::Sampled;
        let pages = ProgramPages { method, bytes: [(0, 75), (1, 20), (3, 5)].into() };
        let asked = [(0, 0.75), (1, 0.25)].into();
        assert!((pages.largest_deviation(&asked).unwrap() - 0.05).abs() < 1e-12);
        let none = ProgramPages { method, bytes: [(0, 0)].into() };
        assert_eq!((none.shares(), none.largest_deviation(&asked)), (None, None));
    }

    #[test]
    fn memory_that_was_freed_before_the_end_still_counts() {
        let mut process = ProcessPages::default();
        process.note(CountMethod::Sampled, [(0, 10)].into());
        process.note(CountMethod::Sampled, [(1, 1000)].into());
        process.note(CountMethod::Sampled, [(1, 940)].into());
        process.note(CountMethod::ExitStop, [(0, 10)].into());
        let kept = process.kept().unwrap();
        assert_eq!((kept.method, &kept.bytes), (CountMethod::Sampled, &[(1, 940)].into()));
        process.note(CountMethod::ExitStop, [(0, 2000)].into());
        process.note(CountMethod::Sampled, [(1, 2000)].into());
        let one = process.kept().unwrap();
        assert_eq!((one.method, &one.bytes), (CountMethod::ExitStop, &[(0, 2000)].into()));
        let sum = sum_of(
            [one, &ProgramPages { method: CountMethod::Sampled, bytes: [(0, 5)].into() }]
                .into_iter(),
        );
        assert_eq!(
            sum,
            Some(ProgramPages { method: CountMethod::Sampled, bytes: [(0, 2005)].into() })
        );
        assert_eq!(sum_of([].into_iter()), None);
    }
}
