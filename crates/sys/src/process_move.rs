//! Moves pages of another process (move_pages(2)).

use std::collections::BTreeMap;
use std::ffi::c_int;

use crate::address_range::AddressRange;
use crate::page_move::MovedPages;
use crate::page_query::{NO_ANSWER, base_page_bytes, batch, call_move_pages};
use crate::page_sizes::HUGE_PAGE_BYTES;
use crate::refusal::{Errno, Refusal};

/// Moves the pages of a range of another process of this user to the nodes that `node_of` says, by
/// the number of the block of `block_bytes` that a page lies in, counted from address 0: a range
/// that grows later keeps its blocks. A block is a base page or more. Pages that are there already
/// are left alone.
///
/// A huge page moves as a whole with its first base page: where blocks are as large as huge pages,
/// those are asked about first.
///
/// # Errors
/// When the kernel refuses: the process is gone (`ESRCH`) or may not be looked into (`EPERM`). Some
/// pages may have moved then. Pages for a node that refuses them are left, with the reason.
pub fn move_process_pages(
    pid: u32,
    range: AddressRange,
    block_bytes: usize,
    node_of: impl Fn(usize) -> u32,
) -> Result<MovedPages, Refusal> {
    let mut moved = MovedPages::default();
    if block_bytes >= HUGE_PAGE_BYTES {
        let first = range.start().next_multiple_of(HUGE_PAGE_BYTES);
        let firsts = (first..range.end()).step_by(HUGE_PAGE_BYTES);
        moved.moved = move_strays(pid, firsts, block_bytes, &node_of)?.moved;
    }
    let pages = (range.start()..range.end()).step_by(base_page_bytes());
    let found = move_strays(pid, pages, block_bytes, &node_of)?;
    moved.moved += found.moved;
    moved.there = found.there.saturating_sub(moved.moved - found.moved);
    moved.left = found.left;
    Ok(moved)
}

fn move_strays(
    pid: u32,
    mut pages: impl Iterator<Item = usize>,
    block_bytes: usize,
    node_of: &impl Fn(usize) -> u32,
) -> Result<MovedPages, Refusal> {
    let mut moved = MovedPages::default();
    let mut states: Vec<c_int> = Vec::new();
    loop {
        let asked: Vec<usize> = pages.by_ref().take(batch(base_page_bytes())).collect();
        if asked.is_empty() {
            return Ok(moved);
        }
        answer(pid, &asked, None, &mut states)?;
        let mut strays: BTreeMap<c_int, Vec<usize>> = BTreeMap::new();
        for (&page, &state) in asked.iter().zip(&states) {
            let wanted = c_int::try_from(node_of(page / block_bytes)).unwrap_or(c_int::MAX);
            match state {
                _ if state == wanted => moved.there += 1,
                0.. => strays.entry(wanted).or_default().push(page),
                _ => *moved.left.entry(reason(state)).or_default() += 1,
            }
        }
        // Node by node: one without room refuses its call and no other's.
        for (wanted, pages) in strays {
            let nodes = vec![wanted; pages.len()];
            let refused = match answer(pid, &pages, Some(&nodes), &mut states) {
                Ok(()) => None,
                Err(refusal) => {
                    let errno = refusal.errno().filter(|errno| OF_A_NODE.contains(&errno.0));
                    let errno = errno.ok_or(refusal)?;
                    // Some may have moved.
                    answer(pid, &pages, None, &mut states)?;
                    Some(errno)
                }
            };
            for &state in &states {
                match state {
                    _ if state == wanted => moved.moved += 1,
                    _ => *moved.left.entry(refused.or(reason(state))).or_default() += 1,
                }
            }
        }
    }
}

/// What move_pages(2) says of a node: it has no room, no memory, or may not be used.
const OF_A_NODE: [c_int; 3] = [libc::ENOMEM, libc::ENODEV, libc::EACCES];

/// What the kernel said of a page that is not where it should be.
fn reason(state: c_int) -> Option<Errno> {
    (state != NO_ANSWER && state < 0).then(|| Errno(-state))
}

fn answer(
    pid: u32,
    pages: &[usize],
    nodes: Option<&[c_int]>,
    states: &mut Vec<c_int>,
) -> Result<(), Refusal> {
    states.clear();
    states.resize(pages.len(), NO_ANSWER);
    let what = format_args!("{} pages of process {pid}", pages.len());
    match call_move_pages(pid, pages, nodes, states, what) {
        // Before Linux 4.17: not one of the pages could be moved.
        Err(refusal) if refusal.errno() == Some(Errno(libc::ENOENT)) => Ok(()),
        outcome => outcome.map(|_| ()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{Mapping, PageRequest};

    /// The calls that go to another process go to this one as well, by its number.
    #[test]
    fn pages_are_dealt_by_their_addresses() {
        let nodes: Vec<u32> = crate::usable_nodes("/".as_ref()).unwrap().iter().collect();
        let mut mapping = Mapping::new(8 << 20, PageRequest::Small).unwrap();
        mapping.as_f64_mut().fill(1.5);
        let range = AddressRange::from(&mapping);
        let node_of = |block: usize| nodes[block % nodes.len()];
        let pages = (8 << 20) / base_page_bytes() as u64;
        for block_bytes in [base_page_bytes(), HUGE_PAGE_BYTES] {
            let pid = std::process::id();
            let moved = move_process_pages(pid, range, block_bytes, node_of).unwrap();
            assert_eq!((moved.pages(), moved.left()), (pages, 0), "{moved:?}");
            let again = move_process_pages(pid, range, block_bytes, node_of).unwrap();
            assert_eq!(again, MovedPages { there: pages, ..MovedPages::default() });
        }
        assert!(mapping.as_f64().iter().all(|number| number.to_bits() == 1.5_f64.to_bits()));
    }

    #[test]
    fn a_node_that_takes_no_pages_does_not_stop_the_rest() {
        let node = crate::usable_nodes("/".as_ref()).unwrap().first().unwrap();
        let mut mapping = Mapping::new(1 << 20, PageRequest::Small).unwrap();
        mapping.as_f64_mut().fill(1.5);
        let pages = (1 << 20) / base_page_bytes() as u64;
        let node_of = |block: usize| if block.is_multiple_of(2) { 1000 } else { node };
        let (pid, block) = (std::process::id(), base_page_bytes());
        let moved = move_process_pages(pid, (&mapping).into(), block, node_of).unwrap();
        assert_eq!((moved.pages() - moved.left(), moved.left()), (pages / 2, pages / 2));
        assert_eq!(moved.left.keys().collect::<Vec<_>>(), [&Some(Errno(libc::ENODEV))]);
    }

    #[test]
    fn pages_that_are_not_there_are_left() {
        let mapping = Mapping::new(1 << 20, PageRequest::Small).unwrap();
        let moved = move_process_pages(std::process::id(), (&mapping).into(), 4096, |_| 0).unwrap();
        assert_eq!((moved.there, moved.moved), (0, 0));
        assert_eq!(moved.left(), (1 << 20) / base_page_bytes() as u64);
        assert!(move_process_pages(u32::MAX, (&mapping).into(), 4096, |_| 0).is_err());
    }
}
