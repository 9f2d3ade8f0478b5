//! Memory on several nodes by weights. The kernel has one set of weights for the whole system,
//! which root sets (Linux 6.9): where that is the one asked for it does the work. Elsewhere pages
//! come in turn over the nodes, and those of large mappings are moved from outside while the
//! program runs (move_pages(2)), again and again, so that new ones follow.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nearfar_machine::{MemoryPolicy, NodeSet};
use nearfar_measure::native::Turn;
use nearfar_sys::{
    Errno, HUGE_PAGE_BYTES, MappedPages, MappingKind, Refusal, base_page_bytes, count_page_sizes,
    move_process_pages, process_pages, task_state,
};
use serde::Serialize;

use crate::kernel_weights::kernel_weights;
use crate::loss::Loss;
use crate::program_memory::total;

/// Bytes of a mapping's pages from which on they are moved: what is smaller decides little, and
/// each call costs.
const LEAST_MOVED_BYTES: u64 = 4 << 20;

const NUMA_BALANCING: &str = "/proc/sys/kernel/numa_balancing";

/// How weights are brought about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WeightsBy {
    /// By the kernel's weighted interleave.
    Kernel,
    MovedPages,
}

/// The policy that the program starts with, and how weights come about where it asks for some that
/// are not equal.
pub fn policy_for(asked: &MemoryPolicy, root: &Path) -> (MemoryPolicy, Option<WeightsBy>) {
    let MemoryPolicy::Weighted(weights) = asked else {
        return (asked.clone(), None);
    };
    let nodes: NodeSet = weights.keys().copied().collect();
    if has_ratios_of(weights, &weights.keys().map(|&node| (node, 1)).collect()) {
        return (MemoryPolicy::Interleave(nodes), None);
    }
    let of_kernel = kernel_weights(root, weights.keys().copied());
    match of_kernel.is_ok_and(|of_kernel| has_ratios_of(weights, &of_kernel)) {
        true => (asked.clone(), Some(WeightsBy::Kernel)),
        false => (MemoryPolicy::Interleave(nodes), Some(WeightsBy::MovedPages)),
    }
}

/// Whether weights are multiples of others.
fn has_ratios_of(weights: &BTreeMap<u32, u32>, others: &BTreeMap<u32, u32>) -> bool {
    let Some((first, &weight)) = weights.first_key_value() else {
        return false;
    };
    let same = |(node, &own): (&u32, &u32)| {
        let (Some(&other), Some(&of_first)) = (others.get(node), others.get(first)) else {
            return false;
        };
        u64::from(own) * u64::from(of_first) == u64::from(weight) * u64::from(other)
    };
    weights.iter().all(same)
}

/// Weights that come about by moving pages.
#[derive(Debug)]
pub(crate) struct MovedWeights {
    turn: Turn,
    moved: u64,
    has_huge_pages: bool,
    has_shared_memory: bool,
    /// Why the kernel moved no pages, or not those of one process.
    refusal: Option<Refusal>,
    /// Pages that stayed elsewhere because a node had no room, at the last look.
    without_room: u64,
}

impl MovedWeights {
    pub fn new(weights: &BTreeMap<u32, u32>) -> Self {
        Self {
            turn: Turn::new(weights),
            moved: 0,
            has_huge_pages: false,
            has_shared_memory: false,
            refusal: None,
            without_room: 0,
        }
    }

    /// Moves the pages of a process's large mappings to their nodes; tells how many moved.
    pub fn deal(&mut self, pid: u32, mappings: &[MappedPages]) -> u64 {
        let mut moved = 0;
        let smaps = fs::read_to_string(format!("/proc/{pid}/smaps")).unwrap_or_default();
        self.without_room = 0;
        for mapping in mappings {
            self.has_shared_memory |= matches!(mapping.kind, MappingKind::Shared(_));
            let is_own = matches!(mapping.kind, MappingKind::Anonymous | MappingKind::Heap);
            let Some(range) = mapping.range.filter(|_| is_own) else {
                continue;
            };
            if total(&mapping.nodes).saturating_mul(mapping.page_bytes) < LEAST_MOVED_BYTES {
                continue;
            }
            let has_huge_pages =
                count_page_sizes(&smaps, range).is_ok_and(|sizes| sizes.huge_bytes > 0);
            self.has_huge_pages |= has_huge_pages;
            let block_bytes = if has_huge_pages { HUGE_PAGE_BYTES } else { base_page_bytes() };
            match move_process_pages(pid, range, block_bytes, |block| self.turn.node_of(block)) {
                Ok(found) => {
                    moved += found.moved;
                    let without_room = found.left.get(&Some(Errno(libc::ENOMEM)));
                    self.without_room += without_room.copied().unwrap_or_default();
                }
                // What has ended meanwhile refuses nothing: of a process without memory the kernel says
                // EINVAL.
                Err(_) if is_gone(pid) => {}
                Err(refusal) => self.refusal = Some(refusal),
            }
        }
        self.moved = self.moved.saturating_add(moved);
        moved
    }

    /// Whether any page has been moved.
    pub fn has_moved(&self) -> bool {
        self.moved > 0
    }

    /// What could not be moved.
    pub fn losses(self) -> Vec<Loss> {
        let what = "moving pages to their nodes";
        let full = (self.without_room > 0).then(|| Loss {
            what: what.into(),
            reason: format!(
                "a node had no room: {} pages that belong there stayed elsewhere",
                self.without_room
            ),
            remedy: Some("give it a smaller weight, or free memory there (numactl -H)".into()),
        });
        let refused = self.refusal.map(|refusal| Loss::refused(what, &refusal));
        full.into_iter().chain(refused).collect()
    }

    /// What is to be known of it, in sentences.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!(
            "weights came about by moving pages of mappings of {} MiB and more while it ran: {} moved",
            LEAST_MOVED_BYTES >> 20,
            self.moved
        )];
        if self.has_shared_memory {
            notes.push("shared memory is not moved: it stays where it was touched first".into());
        }
        if self.has_huge_pages {
            notes.push(format!(
                "huge pages move as a whole: shares are in steps of {} MiB",
                HUGE_PAGE_BYTES >> 20
            ));
        }
        notes.extend(numa_balancing_note());
        notes
    }
}

/// Whether a process has ended, or given up its memory to end.
fn is_gone(pid: u32) -> bool {
    let root = Path::new("/");
    match process_pages(root, pid) {
        Ok(pages) => pages.is_empty(),
        Err(_) => task_state(root, pid).is_none_or(|state| state == 'Z'),
    }
}

/// What is to be known of pages that were moved, where the kernel moves pages itself.
pub(crate) fn numa_balancing_note() -> Option<String> {
    let is_on = fs::read_to_string(NUMA_BALANCING).is_ok_and(|text| text.trim() != "0");
    is_on.then(|| {
        format!(
            "the kernel's NUMA balancing is on and may move them again; turn it off by {NUMA_BALANCING}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_does_it_where_it_has_the_ratios() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("sys/kernel/mm/mempolicy/weighted_interleave");
        fs::create_dir_all(&folder).unwrap();
        for (node, weight) in [(0, 4), (1, 2), (2, 2)] {
            fs::write(folder.join(format!("node{node}")), format!("{weight}\n")).unwrap();
        }
        let policy = |text: &str| policy_for(&text.parse().unwrap(), root.path());
        let read = |text: &str| text.parse::<MemoryPolicy>().unwrap();
        for same in ["weighted:0=4,1=2,2=2", "weighted:0=2,1=1,2=1", "weighted:0=200,1=100"] {
            assert_eq!(policy(same), (read(same), Some(WeightsBy::Kernel)), "{same}");
        }
        for other in ["weighted:0=3,1=1", "weighted:0=2,1=1,3=1"] {
            let (start, by) = policy(other);
            assert_eq!(by, Some(WeightsBy::MovedPages));
            assert_eq!(start, MemoryPolicy::Interleave(read(other).nodes().unwrap()));
        }
        assert_eq!(policy("weighted:1=7,2=7"), (read("interleave:1-2"), None));
        assert_eq!(policy("bind:1"), (read("bind:1"), None));
        let none = policy_for(&read("weighted:0=2,1=1"), Path::new("/no/such/root"));
        assert_eq!(none, (read("interleave:0-1"), Some(WeightsBy::MovedPages)));
    }
}
