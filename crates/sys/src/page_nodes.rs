//! Proof of placement: on which node each page of a range is.

use std::collections::BTreeMap;

use nearfar_machine::NodeSet;

use crate::address_range::AddressRange;
use crate::numa_maps;
use crate::only_node::only_node;
use crate::page_query::{
    OWN, PageState, base_page_bytes, batches, query_get_mempolicy, query_move_pages, query_resident,
};
use crate::page_sizes::{HUGE_PAGE_BYTES, PageSizes, achieved_page_sizes};
use crate::proof_method::ProofMethod;
use crate::refusal::Refusal;

/// Where the pages of a range were at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageNodes {
    pub method: ProofMethod,
    /// Bytes of one page counted: the granularity of the query, not what backs it.
    pub page_bytes: u64,
    /// Pages on each node; nodes without pages are left out.
    pub nodes: BTreeMap<u32, u64>,
    /// Pages that are not present: never written, dropped or swapped out.
    pub absent: u64,
    /// Pages of which the kernel did not tell the node, the zero page among them.
    pub unknown: u64,
}

impl PageNodes {
    fn new(method: ProofMethod, page_bytes: usize) -> Self {
        let page_bytes = page_bytes as u64;
        Self { method, page_bytes, nodes: BTreeMap::new(), absent: 0, unknown: 0 }
    }

    fn count(&mut self, page: PageState) {
        match page {
            PageState::OnNode(node) => *self.nodes.entry(node).or_default() += 1,
            PageState::Absent => self.absent += 1,
            PageState::Unknown => self.unknown += 1,
        }
    }

    /// Pages of the range: on nodes, absent and unknown.
    pub fn pages(&self) -> u64 {
        self.nodes.values().sum::<u64>() + self.absent + self.unknown
    }

    pub fn on(&self, node: u32) -> u64 {
        self.nodes.get(&node).copied().unwrap_or(0)
    }
}

/// Finds the node of every base page by the first [`ProofMethod`] that works here.
/// `allowed_nodes` are the nodes with memory that this process may use
/// ([`usable_nodes`](crate::usable_nodes)).
///
/// # Errors
/// [`Refusal::Unproven`] with what every method said.
pub fn prove(
    range: impl Into<AddressRange>,
    allowed_nodes: &NodeSet,
) -> Result<PageNodes, Refusal> {
    let range = range.into();
    climb(range, |method| prove_with(method, range, allowed_nodes))
}

/// Where the pages of a part of a mapping were, and how large those of the mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartPages {
    /// Of the part. Its pages are huge ones where the whole mapping is in huge pages, else base
    /// pages.
    pub nodes: PageNodes,
    /// Of the whole mapping; `None` where they were not asked for, or smaps does not say.
    pub sizes: Option<PageSizes>,
}

/// As [`prove`], for a part of the range `whole`, which is made of whole mappings.
///
/// Where the sizes of pages are asked for, and /proc/self/smaps says at this moment that all of
/// `whole` is in huge pages, each of these is asked about once: a huge page is on one node as
/// long as it is one. That is a hundred times quicker; but smaps looks at every page of the
/// process. /proc/self/numa_maps counts whole mappings only and is asked about all of `whole`.
///
/// # Errors
/// [`Refusal::Unproven`] with what every method said.
pub fn prove_part(
    part: AddressRange,
    whole: AddressRange,
    allowed_nodes: &NodeSet,
    asks_sizes: bool,
) -> Result<PartPages, Refusal> {
    let sizes = asks_sizes.then(|| achieved_page_sizes(whole).ok()).flatten();
    let all_huge = sizes.is_some_and(|sizes| sizes.huge_bytes == whole.bytes() as u64);
    let page_bytes = if all_huge { HUGE_PAGE_BYTES } else { base_page_bytes() };
    let nodes = climb(part, |method| match method {
        ProofMethod::NumaMaps => numa_maps::read(whole),
        _ => ask(method, part, page_bytes, allowed_nodes),
    })?;
    Ok(PartPages { nodes, sizes })
}

fn climb(
    range: AddressRange,
    mut ask: impl FnMut(ProofMethod) -> Result<PageNodes, Refusal>,
) -> Result<PageNodes, Refusal> {
    let mut rungs = Vec::new();
    for method in ProofMethod::ALL {
        match ask(method) {
            Ok(found) => return Ok(found),
            Err(refusal) => rungs.push((method, refusal.cause())),
        }
    }
    Err(Refusal::Unproven { range: range.to_string(), rungs })
}

/// Finds the node of every base page by one method.
///
/// # Errors
/// When the method does not work here or for this range.
pub fn prove_with(
    method: ProofMethod,
    range: impl Into<AddressRange>,
    allowed_nodes: &NodeSet,
) -> Result<PageNodes, Refusal> {
    ask(method, range.into(), base_page_bytes(), allowed_nodes)
}

fn ask(
    method: ProofMethod,
    range: AddressRange,
    page_bytes: usize,
    allowed_nodes: &NodeSet,
) -> Result<PageNodes, Refusal> {
    let mut found = PageNodes::new(method, page_bytes);
    match method {
        ProofMethod::MovePages => {
            for pages in batches(range, page_bytes) {
                let states = query_move_pages(OWN, &pages, page_bytes)?;
                states.into_iter().for_each(|page| found.count(page));
            }
        }
        ProofMethod::GetMempolicy => {
            query_get_mempolicy(range, page_bytes, |page| found.count(page))?;
        }
        ProofMethod::NumaMaps => return numa_maps::read(range),
        ProofMethod::OneAllowedNode => {
            let node = only_node(allowed_nodes)?;
            query_resident(range, page_bytes, |_, resident| {
                found.count(if resident { PageState::OnNode(node) } else { PageState::Absent });
                Ok(())
            })?;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused() -> Refusal {
        Refusal::Argument { what: "this rung".into(), reason: "it is broken" }
    }

    #[test]
    fn ladder_takes_the_first_rung_that_holds() {
        let range = AddressRange::new(0x1000, 4096);
        for working in ProofMethod::ALL {
            let mut tried = Vec::new();
            let found = climb(range, |method| {
                tried.push(method);
                if method == working { Ok(PageNodes::new(method, 4096)) } else { Err(refused()) }
            });
            assert_eq!(found.unwrap().method, working);
            assert!(tried.is_sorted() && tried.last() == Some(&working));
        }
    }

    #[test]
    fn ladder_without_a_rung_says_what_each_one_said() {
        let refusal = climb(AddressRange::new(0x1000, 4096), |_| Err(refused())).unwrap_err();
        let Refusal::Unproven { rungs, .. } = &refusal else { panic!("{refusal}") };
        let methods: Vec<_> = rungs.iter().map(|(method, _)| *method).collect();
        assert_eq!(methods, ProofMethod::ALL);
        assert!(rungs.iter().all(|(_, said)| said.contains("broken")));
    }
}
