//! Moves pages that are present to other nodes (move_pages(2)).

use std::collections::BTreeMap;
use std::ffi::c_int;

use crate::address_range::AddressRange;
use crate::page_query::{NO_ANSWER, OWN, PageState, batch, call_move_pages, query_move_pages};
use crate::refusal::{Errno, Refusal};

/// The kernel gives up a call at the first pages that will not move, and some will a moment
/// later: what is left is tried again as long as it becomes less, so many times at most.
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

    /// Pages that are not where they should be.
    pub fn left(&self) -> u64 {
        self.left.values().sum()
    }
}

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
    let mut strays = Strays::find(range, page_bytes, &node_of)?;
    let mut moved = MovedPages { there: strays.there, ..MovedPages::default() };
    for _ in 0..ATTEMPTS {
        let before = strays.count();
        if before == 0 {
            break;
        }
        let mut reasons = BTreeMap::new();
        for (&node, pages) in &strays.to_move {
            for pages in pages.chunks(batch(page_bytes)) {
                request(pages, node, &mut reasons)?;
            }
        }
        strays = Strays::find(range, page_bytes, &node_of)?;
        moved.left = strays.reasons(reasons);
        if strays.count() >= before {
            break;
        }
    }
    moved.moved = strays.there.saturating_sub(moved.there);
    if moved.left.is_empty() {
        moved.left = strays.reasons(BTreeMap::new());
    }
    Ok(moved)
}

/// Pages that are not where they should be.
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
        range: AddressRange,
        page_bytes: usize,
        node_of: &impl Fn(usize) -> u32,
    ) -> Result<Self, Refusal> {
        let mut found = Self { there: 0, to_move: BTreeMap::new(), absent: 0, unknown: 0 };
        let mut number = 0;
        query_move_pages(range, page_bytes, |page, state| {
            let wanted = node_of(number);
            number += 1;
            match state {
                PageState::OnNode(node) if node == wanted => found.there += 1,
                PageState::OnNode(_) => found.to_move.entry(wanted).or_default().push(page),
                PageState::Absent => found.absent += 1,
                PageState::Unknown => found.unknown += 1,
            }
        })?;
        Ok(found)
    }

    fn count(&self) -> usize {
        self.to_move.values().map(Vec::len).sum()
    }

    /// Why pages are left: of those that could move, by what the kernel said of so many when they
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
/// it did not move.
fn request(pages: &[usize], node: u32, reasons: &mut BTreeMap<Errno, u64>) -> Result<(), Refusal> {
    let asked = || format!("{} pages to node {node}", pages.len());
    let wanted = c_int::try_from(node)
        .map_err(|_| Refusal::call("move_pages", asked(), Errno(libc::ENODEV)))?;
    let mut states = vec![NO_ANSWER; pages.len()];
    match call_move_pages(OWN, pages, Some(&vec![wanted; pages.len()]), &mut states, asked()) {
        // Before Linux 4.17: not one of the pages could be moved.
        Err(refusal) if refusal.errno() == Some(Errno(libc::ENOENT)) => {}
        outcome => _ = outcome?,
    }
    for state in states.into_iter().filter(|&state| state != NO_ANSWER && state < 0) {
        *reasons.entry(Errno(-state)).or_default() += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{Mapping, PageRequest};
    use crate::page_query::base_page_bytes;

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
