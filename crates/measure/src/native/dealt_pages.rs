//! Pages of a pool dealt out over nodes by our own hand, by weights that are the case's own: the
//! kernel's weighted interleave has one set of weights for the whole system, which root sets, from
//! Linux 6.9 on.
//!
//! Pages that are there are moved (move_pages(2)), so that one pool serves all splits of the same
//! nodes. Where the kernel does not move them, memory is mapped for each split: with a policy for
//! every run of pages, else touched by threads of each node.

use std::collections::BTreeMap;
use std::ops::Range;

use nearfar_machine::MemoryPolicy;
use nearfar_record::{PLACED_FRACTION, Pages, Reason, ReasonCode};
use nearfar_sys::{
    HUGE_PAGE_BYTES, MovedPages, Refusal, achieved_page_sizes, base_page_bytes, bind_range,
    move_pages,
};

use super::pool::{Pool, PoolRequest, denied};
use super::turn::Turn;

/// Huge pages that each node should have of a thread's slice, on average: with fewer, slices would
/// differ in their shares by more than about one in a hundred.
const HUGE_PAGES_PER_NODE: u64 = 64;

/// The same where turns run on from slice to slice: what one has too much of a node the next has
/// too little of.
const INTERLEAVED_HUGE_PAGES: u64 = 8;

/// Elements whose pages are dealt out over nodes by these weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Split {
    pub range: Range<usize>,
    pub weights: BTreeMap<u32, u32>,
}

/// Why pages are not dealt out.
#[derive(Debug)]
pub(super) enum NotDealt {
    /// The kernel does not move pages here: they are to be placed as they are touched.
    MoveRefused(Refusal),
    /// Another way would not help.
    Refused(Reason),
}

/// The pages to deal out, of a set of which threads have slices of at least this many bytes:
/// transparent huge pages where slices have many on each node, else base pages. Reserved pages
/// are dealt out as they are: they were asked for by that size.
pub(super) fn dealt_page_size(asked: Pages, nodes: usize, slice_bytes: u64) -> Pages {
    page_size(asked, HUGE_PAGES_PER_NODE * nodes as u64, slice_bytes)
}

/// The pages of memory that the kernel shares out evenly, of which the whole and not a thread's
/// slice must keep its shares.
pub(super) fn interleaved_page_size(asked: Pages, nodes: usize, slice_bytes: u64) -> Pages {
    page_size(asked, INTERLEAVED_HUGE_PAGES * nodes as u64, slice_bytes)
}

/// Transparent huge pages where a slice has this many, else base pages.
fn page_size(asked: Pages, huge_pages: u64, slice_bytes: u64) -> Pages {
    let enough = huge_pages * HUGE_PAGE_BYTES as u64;
    match asked {
        Pages::Transparent if slice_bytes < enough => Pages::Small,
        other => other,
    }
}

/// Bytes of the pages that are dealt out.
pub(super) fn dealt_bytes(pages: Pages) -> usize {
    match pages {
        Pages::Small => base_page_bytes(),
        Pages::Transparent | Pages::Huge => HUGE_PAGE_BYTES,
    }
}

impl Pool {
    /// Maps memory whose pages will be moved: they lie anywhere, as far as possible on the
    /// policy's nodes, and NUMA balancing leaves them alone.
    ///
    /// # Errors
    /// When there is no room, or threads cannot be started.
    pub fn map_movable(request: PoolRequest<'_>) -> Result<Self, Reason> {
        let mut pool = Self::reserve(request)?;
        // Where this is refused pages are moved from where they come to lie.
        bind_range(pool.mapping(), request.policy).ok();
        pool.fill_all(request)?;
        Ok(pool)
    }

    /// Moves pages to where these splits put them; those that are there stay.
    ///
    /// # Errors
    /// When the kernel does not move pages, or not all of them.
    pub fn deal(&self, splits: &[Split]) -> Result<(), NotDealt> {
        let all_huge = self.pages != Pages::Small
            && achieved_page_sizes(self.mapping())
                .is_ok_and(|sizes| sizes.huge_bytes == self.bytes());
        let page_bytes = if all_huge { HUGE_PAGE_BYTES } else { base_page_bytes() };
        let dealt_pages = (dealt_bytes(self.pages) / page_bytes).max(1);
        for split in splits {
            let turn = Turn::new(&split.weights);
            let moved = move_pages(self.addresses(&split.range), page_bytes, |page| {
                turn.node_of(page / dealt_pages)
            });
            let moved =
                moved.map_err(|refusal| match refusal.errno().map(|errno| errno.name()) {
                    Some(Some("EPERM" | "ENOSYS")) => NotDealt::MoveRefused(refusal),
                    _ if matches!(refusal, Refusal::Unanswered { .. }) => {
                        NotDealt::MoveRefused(refusal)
                    }
                    _ => NotDealt::Refused(denied(refusal)),
                })?;
            check_moved(&moved, split).map_err(NotDealt::Refused)?;
        }
        Ok(())
    }

    /// Maps memory whose pages are touched where these splits put them: by a policy for every run
    /// of pages, else by a thread of each node.
    ///
    /// # Errors
    /// When there is no room, or neither works; `move_refused` is part of the answer then.
    pub fn map_split(
        request: PoolRequest<'_>,
        splits: &[Split],
        move_refused: &str,
    ) -> Result<Self, Reason> {
        let mut pool = Self::reserve(request)?;
        match pool.bind_runs(splits) {
            Ok(()) => pool.fill_all(request)?,
            Err(refusal) => {
                pool.fill_from_nodes(splits, request).map_err(|no_way| {
                    no_way.unwrap_or_else(|| Reason {
                        code: ReasonCode::Denied,
                        text: format!("pages cannot be dealt out: {move_refused}; {refusal}"),
                    })
                })?;
            }
        }
        Ok(pool)
    }

    /// Sets a policy for every run of pages.
    fn bind_runs(&self, splits: &[Split]) -> Result<(), Refusal> {
        for split in splits {
            let range = self.addresses(&split.range);
            let turn = Turn::new(&split.weights);
            for (run, node) in turn.runs_of_bytes(range.bytes(), dealt_bytes(self.pages)) {
                let run = range.part(run.start, run.len());
                bind_range(run, &MemoryPolicy::Preferred(node))?;
            }
        }
        Ok(())
    }
}

/// Whether so few pages stayed behind that the proof may judge.
fn check_moved(moved: &MovedPages, split: &Split) -> Result<(), Reason> {
    let placed = (moved.there + moved.moved) as f64 >= PLACED_FRACTION * moved.pages() as f64;
    if placed {
        return Ok(());
    }
    let reasons: Vec<String> = moved
        .left
        .iter()
        .map(|(errno, pages)| match errno {
            Some(errno) => format!("{errno}: {pages}"),
            None => format!("no reason given: {pages}"),
        })
        .collect();
    Err(Reason {
        code: ReasonCode::Misplaced,
        text: format!(
            "{} of {} pages could not be moved to where '{}' puts them ({}): a node may be full, or \
             the kernel has no free huge page there",
            moved.left(),
            moved.pages(),
            MemoryPolicy::Weighted(split.weights.clone()),
            reasons.join(", ")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearfar_machine::Machine;
    use nearfar_sys::{PageNodes, prove_part};

    use super::super::pool::node_cpus;
    use super::super::pool::tests::{holds_pattern, live, request};

    #[test]
    fn huge_pages_are_dealt_out_where_slices_have_many() {
        let huge = HUGE_PAGE_BYTES as u64;
        assert_eq!(dealt_page_size(Pages::Transparent, 2, 128 * huge), Pages::Transparent);
        assert_eq!(dealt_page_size(Pages::Transparent, 2, 127 * huge), Pages::Small);
        assert_eq!(interleaved_page_size(Pages::Transparent, 2, 16 * huge), Pages::Transparent);
        assert_eq!(interleaved_page_size(Pages::Transparent, 2, 15 * huge), Pages::Small);
        assert_eq!(dealt_page_size(Pages::Huge, 2, huge), Pages::Huge);
        assert_eq!(dealt_page_size(Pages::Small, 2, 1 << 40), Pages::Small);
    }

    /// Pages of a part of the pool, which must all be on their nodes.
    fn found(pool: &Pool, range: &Range<usize>, machine: &Machine) -> PageNodes {
        let part = prove_part(pool.addresses(range), pool.mapping(), &machine.allowed_nodes, true);
        let nodes = part.unwrap().nodes;
        assert_eq!(nodes.absent + nodes.unknown, 0, "{nodes:?}");
        nodes
    }

    /// On a machine with one node all pages are there; guests have more.
    #[test]
    fn pages_are_dealt_out_in_every_way() {
        let (machine, pattern) = live();
        let nodes: Vec<u32> = machine.allowed_nodes.iter().collect();
        let ends = [nodes[0], nodes[nodes.len() - 1]];
        let split = |range, weights: [u32; 2]| Split {
            range,
            weights: ends.into_iter().zip(weights).collect(),
        };
        let splits = [split(0..400 * 512, [3, 1]), split(400 * 512..1000 * 512, [1, 9])];
        let policy = MemoryPolicy::Interleave(ends.into_iter().collect());
        let request = request(&policy, Pages::Small, 1000 * 4096, (&machine, &pattern));
        let check = |pool: &mut Pool| {
            assert!(holds_pattern(pool, &pattern, 0..1000 * 512));
            for (split, expected) in splits.iter().zip([[300, 100], [60, 540]]) {
                let found = found(pool, &split.range, &machine);
                let of_last = if ends[0] == ends[1] { found.pages() } else { expected[1] };
                assert_eq!((found.pages(), found.on(ends[1])), (expected.iter().sum(), of_last));
            }
        };
        let mut movable = Pool::map_movable(request).unwrap();
        for splits in [&[split(0..1000 * 512, [1, 1])][..], &splits] {
            movable.deal(splits).unwrap();
        }
        check(&mut movable);
        let mut bound = Pool::map_split(request, &splits, "").unwrap();
        check(&mut bound);
        let mut touched = Pool::reserve(request).unwrap();
        // A node without CPUs cannot touch.
        let has_cpus = ends.iter().all(|&node| node_cpus(node, &machine).is_some());
        let outcome = touched.fill_from_nodes(&splits, request);
        assert_eq!(outcome.is_ok(), has_cpus);
        if has_cpus {
            check(&mut touched);
        }
    }

    #[test]
    fn huge_pages_are_dealt_out_whole() {
        let (machine, pattern) = live();
        let nodes: Vec<u32> = machine.allowed_nodes.iter().collect();
        let weights: BTreeMap<u32, u32> = nodes.iter().map(|&node| (node, 1)).collect();
        let policy = MemoryPolicy::Interleave(machine.allowed_nodes.clone());
        let huge_pages = 4 * nodes.len();
        let bytes = (huge_pages * HUGE_PAGE_BYTES) as u64;
        let request = request(&policy, Pages::Transparent, bytes, (&machine, &pattern));
        let all = 0..huge_pages * HUGE_PAGE_BYTES / size_of::<f64>();
        let pool = Pool::map_movable(request).unwrap();
        pool.deal(&[Split { range: all.clone(), weights }]).unwrap();
        let found = found(&pool, &all, &machine);
        for &node in &nodes {
            assert_eq!(found.on(node) * found.page_bytes, 4 * HUGE_PAGE_BYTES as u64, "{found:?}");
        }
    }

    #[test]
    fn nodes_that_are_not_there_are_refused() {
        let (machine, pattern) = live();
        let policy = MemoryPolicy::Preferred(machine.allowed_nodes.first().unwrap());
        let request = request(&policy, Pages::Small, 1 << 20, (&machine, &pattern));
        let nowhere = [Split { range: 0..1000, weights: [(1023, 1)].into() }];
        let pool = Pool::map_movable(request).unwrap();
        match pool.deal(&nowhere).unwrap_err() {
            NotDealt::Refused(reason) => assert!(reason.text.contains("ENODEV"), "{reason:?}"),
            NotDealt::MoveRefused(refusal) => panic!("another way would not help: {refusal}"),
        }
        let refused = Pool::map_split(request, &nowhere, "moving: no");
        let reason = refused.unwrap_err();
        assert_eq!(reason.code, ReasonCode::Denied);
        assert!(reason.text.contains("moving: no") && reason.text.contains("mbind"), "{reason:?}");
        let bound: MemoryPolicy = "bind:0".parse().unwrap();
        let request = PoolRequest { policy: &bound, ..request };
        assert!(Pool::map(request).is_err());
    }

    #[test]
    fn pages_left_behind_are_told_with_their_reasons() {
        let split = Split { range: 0..1, weights: [(0, 3), (1, 1)].into() };
        let moved = |left| MovedPages { there: 900, moved: 90, left };
        check_moved(&moved([(None, 0)].into()), &split).unwrap();
        let busy = moved([(Some(nearfar_sys::Errno(12)), 9), (None, 1)].into());
        let reason = check_moved(&busy, &split).unwrap_err();
        for part in ["10 of 1000", "weighted:0=3,1=1", "ENOMEM", ": 9", "no reason given: 1"] {
            assert!(reason.text.contains(part), "{part} is not in {}", reason.text);
        }
    }
}
