//! The memory that a process has, page by page: whether it has it alone, and on which nodes it is.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use nearfar_sys::{
    AddressRange, HUGE_PAGE_BYTES, MappedPages, MappingKind, PageTable, PresentPage, Refusal,
    base_page_bytes, listed_page_nodes, mapping_details, process_pages,
};

use crate::page_deal::PageDeal;
use crate::program_memory::total;

/// Addresses that are looked at in one call.
const WINDOW_BYTES: usize = 64 << 20;

/// Pages of a mapping that are in memory, in the order of their addresses.
#[derive(Debug)]
pub(crate) struct PresentPart {
    pub pages: Vec<PresentPage>,
    pub page_bytes: usize,
    /// Whether it is dealt out in blocks of huge pages, as some of it lay in such when it was first seen.
    pub has_huge: bool,
}

#[cfg(test)]
impl PresentPart {
    /// A part of which only the size of its pages and blocks counts.
    pub fn without_pages(page_bytes: usize, has_huge: bool) -> Self {
        Self { pages: Vec::new(), page_bytes, has_huge }
    }
}

/// Goes over what a process has in memory, with `files` also over what it maps of files and shared
/// memory. What is reserved and not there is passed over; what comes or goes meanwhile may be missed.
///
/// # Errors
/// When the kernel does not let this user look into the process, or what `each` fails with.
pub(crate) fn walk(
    root: &Path,
    pid: u32,
    files: bool,
    blocks: &BlockChoices,
    mut each: impl FnMut(PresentPart) -> Result<ControlFlow<()>, Refusal>,
) -> Result<ControlFlow<()>, Refusal> {
    let table = PageTable::open(root, pid)?;
    let with_huge = mapping_details(root, pid, pid)?.with_huge_pages;
    for mapping in process_pages(root, pid)?.iter().filter(|it| files || has_own(it)) {
        // Without one it was gone before its end was read.
        let Some(range) = mapping.range else { continue };
        let page_bytes = usize::try_from(mapping.page_bytes).unwrap_or(base_page_bytes());
        let has_huge = blocks.choose(range, with_huge.contains(&mapping.start));
        for start in (range.start()..range.end()).step_by(WINDOW_BYTES.max(page_bytes)) {
            let bytes = WINDOW_BYTES.max(page_bytes).min(range.end() - start);
            let mut pages = table.present(AddressRange::new(start, bytes))?;
            pages.retain(|page| {
                let is_first = page.address.is_multiple_of(page_bytes);
                is_first && (files || !page.is_of_a_file)
            });
            if !pages.is_empty() && each(PresentPart { pages, page_bytes, has_huge })?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Whether some of it can be the process's own.
fn has_own(mapping: &MappedPages) -> bool {
    match mapping.kind {
        MappingKind::Anonymous | MappingKind::Heap | MappingKind::Stack => true,
        MappingKind::File => mapping.own_pages > 0,
        MappingKind::Shared(_) => false,
    }
}

/// Which mappings are dealt out in blocks of huge pages. One whose huge pages come or go while it is moved
/// keeps its blocks: dealt anew, what was moved would belong elsewhere.
#[derive(Debug, Default)]
pub(crate) struct BlockChoices(RefCell<BTreeMap<usize, (usize, bool)>>);

impl BlockChoices {
    /// What was chosen for a mapping when it, or a part of it, was first seen; `has_huge` where that is now.
    fn choose(&self, range: AddressRange, has_huge: bool) -> bool {
        let mut known = self.0.borrow_mut();
        let last = known.range(..range.end()).next_back();
        if let Some((_, &(_, choice))) = last.filter(|(_, (end, _))| *end > range.start()) {
            return choice;
        }
        known.insert(range.start(), (range.end(), has_huge));
        has_huge
    }
}

/// Where the deal has the pages of a process: blocks are counted from address 0, so that a mapping that
/// grows keeps them.
#[derive(Debug)]
pub(crate) struct AddressDeal<'a> {
    pub deal: &'a PageDeal,
    /// Of mappings without huge pages.
    pub block_bytes: usize,
    pub blocks: BlockChoices,
}

impl<'a> AddressDeal<'a> {
    /// A deal whose blocks are small enough to divide this many bytes evenly.
    pub fn of(deal: &'a PageDeal, bytes: u64) -> Self {
        let block = deal.block_bytes(bytes, base_page_bytes() as u64);
        let block_bytes = usize::try_from(block).unwrap_or(HUGE_PAGE_BYTES);
        Self { deal, block_bytes, blocks: BlockChoices::default() }
    }

    /// The node of a page of such a part.
    pub fn node_of(&self, address: usize, part: &PresentPart) -> u32 {
        let huge = if part.has_huge { HUGE_PAGE_BYTES } else { 0 };
        self.deal.node_of((address / self.block_bytes.max(part.page_bytes).max(huge)) as u64)
    }
}

/// Where the memory of a process is, bytes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PresentMemory {
    /// What no other process maps, by node.
    pub alone: BTreeMap<u32, u64>,
    /// Of this what is on another node than the deal has it.
    pub astray: u64,
    /// Of this what is on nodes that the kernel does not tell.
    pub unknown: u64,
    /// What other processes map too.
    pub shared: u64,
}

impl PresentMemory {
    /// Asks where each page is, held against a deal; no further once `is_to_end` says so.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn count(
        root: &Path,
        pid: u32,
        files: bool,
        deal: &AddressDeal<'_>,
        is_to_end: &dyn Fn() -> bool,
    ) -> Result<Self, Refusal> {
        let mut memory = Self::default();
        let _came_to_end = walk(root, pid, files, &deal.blocks, |part| {
            let addresses: Vec<usize> = part.pages.iter().map(|page| page.address).collect();
            let nodes = listed_page_nodes(pid, &addresses, part.page_bytes)?;
            for (page, node) in part.pages.iter().zip(nodes) {
                let wanted = deal.node_of(page.address, &part);
                memory.add(*page, node, wanted, part.page_bytes as u64);
            }
            Ok(if is_to_end() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(memory)
    }

    fn add(&mut self, page: PresentPage, node: Option<u32>, wanted: u32, bytes: u64) {
        match (page.is_alone, node) {
            (true, Some(node)) => {
                *self.alone.entry(node).or_default() += bytes;
                if node != wanted {
                    self.astray += bytes;
                }
            }
            (true, None) => self.unknown += bytes,
            (false, Some(_)) => self.shared += bytes,
            // The page of zeros, which stands where nothing was written.
            (false, None) => {}
        }
    }

    /// What no other process maps.
    pub fn bytes(&self) -> u64 {
        total(&self.alone).saturating_add(self.unknown)
    }
}

#[cfg(test)]
mod tests {
    use nearfar_sys::{Mapping, PageRequest};

    use super::*;

    const ROOT: &str = "/";

    #[test]
    fn pages_are_told_apart_by_who_maps_them() {
        let page = |is_of_a_file, is_alone| PresentPage { address: 0, is_of_a_file, is_alone };
        let mut memory = PresentMemory::default();
        memory.add(page(false, true), Some(2), 2, 4096);
        memory.add(page(true, true), Some(1), 2, 4096);
        memory.add(page(false, true), None, 2, 2 << 20);
        memory.add(page(true, false), Some(0), 2, 8192);
        memory.add(page(false, false), None, 2, 4096);
        let alone = [(1, 4096), (2, 4096)].into();
        let expected = PresentMemory { alone, astray: 4096, unknown: 2 << 20, shared: 8192 };
        assert_eq!(memory, expected);
        assert_eq!(memory.bytes(), (2 << 20) + 8192);
    }

    /// A reservation of 1 GiB with three pages has three pages.
    #[test]
    fn what_is_reserved_and_empty_is_passed_over() {
        let mut mapping = Mapping::new(1 << 30, PageRequest::Small).unwrap();
        let words = mapping.as_f64_mut();
        let last = words.len() - 1;
        for place in [0, last / 2, last] {
            words[place] = 1.0;
        }
        let range = AddressRange::from(&mapping);
        let mut found = Vec::new();
        let end =
            walk(Path::new(ROOT), std::process::id(), false, &BlockChoices::default(), |part| {
                let within =
                    |page: &&PresentPage| (range.start()..range.end()).contains(&page.address);
                found.extend(
                    part.pages.iter().filter(within).map(|page| page.address - range.start()),
                );
                Ok(ControlFlow::Continue(()))
            });
        assert!(end.unwrap().is_continue());
        let page = base_page_bytes();
        assert_eq!(found, [0, (last / 2 * 8) / page * page, (1 << 30) - page]);
    }

    #[test]
    fn mappings_keep_their_blocks() {
        let blocks = BlockChoices::default();
        let choose =
            |start, end, has_huge| blocks.choose(AddressRange::new(start, end - start), has_huge);
        assert!(choose(0x4000, 0x8000, true) && !choose(0x8000, 0x9000, false));
        // The huge pages of one were divided, the other has got some; each has grown as well.
        assert!(choose(0x4000, 0x8000, false) && !choose(0x8000, 0xa000, true));
        assert!(choose(0x3000, 0x8000, false), "one that grew downwards");
        assert!(choose(0x6000, 0x8000, false), "one that was split");
        assert!(choose(0x1000, 0x2000, true) && !choose(0xf000, 0x10000, false), "new ones");
    }

    #[test]
    fn blocks_of_huge_pages_are_not_divided() {
        let memory = "interleave:0-1".parse().unwrap();
        let deal = PageDeal::of(&"interleave:0-1".parse().unwrap(), &memory).unwrap();
        let fine = AddressDeal::of(&deal, 1 << 20);
        let part = PresentPart::without_pages;
        let nodes = |part: &PresentPart, step: usize| -> Vec<u32> {
            (0..4).map(|number| fine.node_of(number * step, part)).collect()
        };
        assert_eq!(nodes(&part(4096, false), 4096), [0, 1, 0, 1]);
        assert_eq!(nodes(&part(4096, true), 1 << 20), [0, 0, 1, 1]);
        assert_eq!(nodes(&part(1 << 30, false), 1 << 30), [0, 1, 0, 1]);
        let coarse = AddressDeal::of(&deal, 1 << 40);
        assert_eq!(coarse.block_bytes, HUGE_PAGE_BYTES);
    }
}
