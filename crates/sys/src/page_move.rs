//! Moves pages that are present to other nodes (move_pages(2)).

use std::collections::BTreeMap;
use std::ffi::c_int;

use crate::address_range::AddressRange;
use crate::page_query::{
    MPOL_MF_MOVE, MPOL_MF_MOVE_ALL, NO_ANSWER, OWN, PageState, base_page_bytes, batches,
    call_move_pages, query_move_pages,
};
use crate::page_sizes::HUGE_PAGE_BYTES;
use crate::refusal::{Errno, Refusal};

/// The kernel gives up a call at the first pages that will not move, and some will a moment
/// later: what is left is tried again as long as it becomes less, this many times at most.
const ATTEMPTS: usize = 8;

/// What became of pages that were to be on certain nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MovedPages {
    /// Pages that were there already.
    pub there: u64,
    pub moved: u64,
    /// Pages that did not, by the kernel's reason; `None` where it gave none. `ENOENT`: not
    /// present. `ENOMEM`: the node has no room. `EBUSY`: in use by the kernel.
    pub left: BTreeMap<Option<Errno>, u64>,
}

impl MovedPages {
    pub fn pages(&self) -> u64 {
        self.there + self.moved + self.left()
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.there += other.there;
        self.moved += other.moved;
        for (reason, pages) in other.left {
            *self.left.entry(reason).or_default() += pages;
        }
    }

    /// Pages that are not where they should be.
    pub fn left(&self) -> u64 {
        self.left.values().sum()
    }
}

/// Which pages may be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Those that one process has alone; others are left with `EACCES`.
    Alone,
    /// Also those that other processes map, where this user may (CAP_SYS_NICE).
    WhereAllowed,
}

/// What move_pages(2) says of a node: it has no room, no memory, or may not be used.
const OF_A_NODE: [c_int; 3] = [libc::ENOMEM, libc::ENODEV, libc::EACCES];

/// Moves every page of `range` to the node that `node_of` says, by its number within the range.
/// A page is `page_bytes` long: a base page, or a huge one where all of the range is in huge
/// pages. Pages that are there already are left alone; a policy of the range is not looked at
/// and stays.
///
/// # Errors
/// When the kernel refuses the call, or a node: it does not exist, has no memory (`ENODEV`) or
/// is not allowed (`EACCES`). Some pages may have moved then.
pub fn move_pages(
    range: AddressRange,
    page_bytes: usize,
    node_of: impl Fn(usize) -> u32,
) -> Result<MovedPages, Refusal> {
    let first = range.pages(page_bytes).next().unwrap_or_default();
    move_range(OWN, range, page_bytes, Sharing::Alone, |page| node_of((page - first) / page_bytes))
}

/// Moves the pages of a range of another process of this user to the nodes that `node_of` says, by
/// the number of the block of `block_bytes` that a page lies in, counted from address 0: a range
/// that grows later keeps its blocks. A block is a base page or more. Pages that are there already
/// are left alone.
///
/// A huge page moves as a whole with one of its base pages: where blocks are as large as huge pages, one
/// of each is asked for first.
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
    let whole = block_bytes >= HUGE_PAGE_BYTES;
    let mut all = MovedPages::default();
    for pages in batches(range, base_page_bytes()) {
        all.add(move_listed_pages(pid, &pages, base_page_bytes(), whole, |page| {
            node_of(page / block_bytes)
        })?);
    }
    Ok(all)
}

/// Moves pages of a process, by their addresses in ascending order, to the nodes that `node_of` says by
/// these; those that other processes map are left with `EACCES`. A page is `page_bytes` long. With
/// `whole` some may lie in huge pages, which move as a whole with one of their pages.
///
/// # Errors
/// As [`move_process_pages`].
pub fn move_listed_pages(
    pid: u32,
    pages: &[usize],
    page_bytes: usize,
    whole: bool,
    node_of: impl Fn(usize) -> u32,
) -> Result<MovedPages, Refusal> {
    move_batch(pid, pages, page_bytes, Sharing::Alone, whole, &node_of)
}

/// The node of each of these pages of a process; `None` of those that are not there, or of which the
/// kernel does not tell it.
///
/// # Errors
/// As [`move_process_pages`].
pub fn listed_page_nodes(
    pid: u32,
    pages: &[usize],
    page_bytes: usize,
) -> Result<Vec<Option<u32>>, Refusal> {
    let node = |state| match state {
        PageState::OnNode(node) => Some(node),
        PageState::Absent | PageState::Unknown => None,
    };
    Ok(query_move_pages(pid, pages, page_bytes)?.into_iter().map(node).collect())
}

/// Moves pages of a process to the nodes that `node_of` says by their addresses.
pub(crate) fn move_range(
    pid: u32,
    range: AddressRange,
    page_bytes: usize,
    sharing: Sharing,
    node_of: impl Fn(usize) -> u32,
) -> Result<MovedPages, Refusal> {
    let mut all = MovedPages::default();
    for pages in batches(range, page_bytes) {
        all.add(move_batch(pid, &pages, page_bytes, sharing, false, &node_of)?);
    }
    Ok(all)
}

fn move_batch(
    pid: u32,
    pages: &[usize],
    page_bytes: usize,
    sharing: Sharing,
    whole: bool,
    node_of: &impl Fn(usize) -> u32,
) -> Result<MovedPages, Refusal> {
    let find = || Strays::find(pid, pages, page_bytes, node_of);
    let mut strays = find()?;
    let there = strays.there;
    let mut said = BTreeMap::new();
    if whole {
        for (&node, pages) in &strays.to_move {
            let mut first_of_each = pages.clone();
            first_of_each.dedup_by_key(|page| *page / HUGE_PAGE_BYTES);
            request(pid, &first_of_each, node, sharing, &mut said)?;
        }
        strays = find()?;
    }
    for _ in 0..ATTEMPTS {
        let before = strays.count();
        if before == 0 {
            break;
        }
        said.clear();
        for (&node, pages) in &strays.to_move {
            request(pid, pages, node, sharing, &mut said)?;
        }
        strays = find()?;
        if strays.count() >= before {
            break;
        }
    }
    let moved = strays.there.saturating_sub(there);
    Ok(MovedPages { there, moved, left: strays.reasons(said) })
}

/// Pages that are not where they should be.
#[derive(Default)]
struct Strays {
    /// Pages that are.
    there: u64,
    /// Addresses by the node that they should be on.
    to_move: BTreeMap<u32, Vec<usize>>,
    /// Pages that cannot be moved because they are not in memory.
    absent: u64,
    /// Pages of which the kernel does not say where they are.
    unknown: u64,
}

impl Strays {
    fn find(
        pid: u32,
        pages: &[usize],
        page_bytes: usize,
        node_of: &impl Fn(usize) -> u32,
    ) -> Result<Self, Refusal> {
        let mut found = Self::default();
        for (&page, state) in pages.iter().zip(query_move_pages(pid, pages, page_bytes)?) {
            let wanted = node_of(page);
            match state {
                PageState::OnNode(node) if node == wanted => found.there += 1,
                PageState::OnNode(_) => found.to_move.entry(wanted).or_default().push(page),
                PageState::Absent => found.absent += 1,
                PageState::Unknown => found.unknown += 1,
            }
        }
        Ok(found)
    }

    fn count(&self) -> usize {
        self.to_move.values().map(Vec::len).sum()
    }

    /// Why pages are left: of those that could move, by what the kernel said of this many when they
    /// were asked to.
    fn reasons(&self, said: BTreeMap<Errno, u64>) -> BTreeMap<Option<Errno>, u64> {
        let mut unexplained = self.count() as u64;
        let mut reasons = BTreeMap::new();
        for (errno, pages) in said {
            let pages = pages.min(unexplained);
            unexplained -= pages;
            reasons.insert(Some(errno), pages);
        }
        *reasons.entry(Some(Errno(libc::ENOENT))).or_default() += self.absent;
        *reasons.entry(None).or_default() += self.unknown + unexplained;
        reasons.retain(|_, &mut pages| pages > 0);
        reasons
    }
}

/// Asks for these pages to be moved to one node, and counts what the kernel says of those that
/// it did not move. Node by node: one without room refuses its call and no other's.
fn request(
    pid: u32,
    pages: &[usize],
    node: u32,
    sharing: Sharing,
    said: &mut BTreeMap<Errno, u64>,
) -> Result<(), Refusal> {
    let asked = format_args!("{} pages to node {node}", pages.len());
    let nodes = vec![c_int::try_from(node).unwrap_or(c_int::MAX); pages.len()];
    let mut states = vec![NO_ANSWER; pages.len()];
    let mut call = |flags| call_move_pages(pid, pages, Some((&nodes, flags)), &mut states, asked);
    let mut called = match sharing {
        Sharing::WhereAllowed => call(MPOL_MF_MOVE_ALL),
        Sharing::Alone => call(MPOL_MF_MOVE),
    };
    let is_forbidden =
        called.as_ref().is_err_and(|refusal| refusal.errno() == Some(Errno(libc::EPERM)));
    if sharing == Sharing::WhereAllowed && is_forbidden {
        called = call(MPOL_MF_MOVE);
    }
    if let Err(refusal) = called {
        match refusal.errno() {
            // Before Linux 4.17: not one of the pages could be moved.
            Some(Errno(libc::ENOENT)) => {}
            Some(errno) if pid != OWN && OF_A_NODE.contains(&errno.0) => {
                *said.entry(errno).or_default() += pages.len() as u64;
                return Ok(());
            }
            _ => return Err(refusal),
        }
    }
    for state in states.into_iter().filter(|&state| state != NO_ANSWER && state < 0) {
        *said.entry(Errno(-state)).or_default() += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{Mapping, PageRequest};

    const PAGES: usize = 100;

    fn mapping() -> Mapping {
        let bytes = PAGES * base_page_bytes();
        let mut mapping = Mapping::new(bytes, PageRequest::Small).unwrap();
        mapping.as_f64_mut().fill(2.5);
        mapping
    }

    fn move_all(mapping: &Mapping, node: u32) -> Result<MovedPages, Refusal> {
        move_pages(mapping.into(), base_page_bytes(), |_| node)
    }

    #[test]
    fn pages_go_to_every_node_and_keep_what_they_hold() {
        let mapping = mapping();
        for node in crate::usable_nodes("/".as_ref()).unwrap().iter() {
            let found = move_all(&mapping, node).unwrap();
            assert_eq!((found.pages(), found.left()), (PAGES as u64, 0), "{found:?}");
            let again = move_all(&mapping, node).unwrap();
            assert_eq!(again, MovedPages { there: PAGES as u64, ..MovedPages::default() });
        }
        assert!(mapping.as_f64().iter().all(|number| number.to_bits() == 2.5_f64.to_bits()));
    }

    #[test]
    fn each_page_is_asked_about_by_its_number() {
        let nodes: Vec<u32> = crate::usable_nodes("/".as_ref()).unwrap().iter().collect();
        let mapping = mapping();
        let (first, last) = (nodes[0], nodes[nodes.len() - 1]);
        let node_of = |page: usize| if page % 10 < 3 { first } else { last };
        let found = move_pages((&mapping).into(), base_page_bytes(), node_of).unwrap();
        assert_eq!((found.pages(), found.left()), (PAGES as u64, 0), "{found:?}");
        let proof = crate::prove(&mapping, &nodes.iter().copied().collect()).unwrap();
        let expected = if first == last { PAGES as u64 } else { 30 };
        assert_eq!(proof.on(first), expected, "{proof:?}");
    }

    #[test]
    fn nodes_that_are_not_there_are_refused() {
        let mapping = mapping();
        for node in [1023, 65_535, u32::MAX] {
            let refusal = move_all(&mapping, node).unwrap_err();
            assert_eq!(refusal.errno(), Some(Errno(libc::ENODEV)), "{refusal}");
            assert!(refusal.to_string().contains("has_memory"), "{refusal}");
        }
        let node = crate::usable_nodes("/".as_ref()).unwrap().first().unwrap();
        assert_eq!(move_all(&mapping, node).unwrap().left(), 0, "a refusal left pages astray");
    }

    #[test]
    fn absent_pages_and_the_zero_page_are_left() {
        let node = crate::usable_nodes("/".as_ref()).unwrap().first().unwrap();
        let mut mapping = Mapping::new(10 * base_page_bytes(), PageRequest::Small).unwrap();
        let page = base_page_bytes() / size_of::<f64>();
        mapping.as_f64_mut()[..4 * page].fill(1.0);
        assert_eq!(mapping.as_f64()[5 * page].to_bits(), 0);
        let found = move_all(&mapping, node).unwrap();
        let left = BTreeMap::from([(Some(Errno(libc::ENOENT)), 5), (None, 1)]);
        assert_eq!((found.pages(), found.left), (10, left));
    }

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

    /// Pages that lie apart, some huge and some not, are told and moved by their addresses.
    #[test]
    fn listed_pages_are_told_and_moved_one_by_one() {
        let nodes: Vec<u32> = crate::usable_nodes("/".as_ref()).unwrap().iter().collect();
        let mut mapping = Mapping::new(8 << 20, PageRequest::Transparent).unwrap();
        mapping.as_f64_mut().fill(1.5);
        let (pid, page) = (std::process::id(), base_page_bytes());
        let all: Vec<usize> = AddressRange::from(&mapping).pages(page).collect();
        let some: Vec<usize> = all.iter().copied().filter(|it| it / page % 3 > 0).collect();
        let node_of = |address: usize| nodes[address / HUGE_PAGE_BYTES % nodes.len()];
        let moved = move_listed_pages(pid, &some, page, true, node_of).unwrap();
        assert_eq!((moved.pages(), moved.left()), (some.len() as u64, 0), "{moved:?}");
        let found = listed_page_nodes(pid, &some, page).unwrap();
        assert!(found.iter().zip(&some).all(|(node, &at)| *node == Some(node_of(at))));
        assert_eq!(listed_page_nodes(pid, &[page], page).unwrap(), [None]);
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

    #[test]
    fn reasons_are_told_of_no_more_pages_than_are_left() {
        let to_move = BTreeMap::from([(1, vec![4096; 5])]);
        let strays = Strays { there: 0, to_move, absent: 2, unknown: 1 };
        let said = BTreeMap::from([(Errno(libc::EBUSY), 3), (Errno(libc::ENOMEM), 1)]);
        let expected = BTreeMap::from([
            (None, 2),
            (Some(Errno(libc::ENOENT)), 2),
            (Some(Errno(libc::ENOMEM)), 1),
            (Some(Errno(libc::EBUSY)), 3),
        ]);
        assert_eq!(strays.reasons(said), expected);
        let many = BTreeMap::from([(Errno(libc::EBUSY), 30)]);
        assert_eq!(strays.reasons(many)[&Some(Errno(libc::EBUSY))], 5);
    }
}
