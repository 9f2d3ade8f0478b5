//! Where the pages of a workload's arrays are, and whether that is where they are to be.

use std::ops::Range;

use nearfar_machine::{MemoryPolicy, NodeSet, PlacementStrategy};
use nearfar_record::{ArrayPlacement, PLACED_FRACTION, PageNodes, ProofMethod, SHARE_TOLERANCE};
use nearfar_sys::{HUGE_PAGE_BYTES, PageRequest, Refusal, prove_part};

use crate::array::Array;
use crate::strategy::ThreadNodes;

/// Pages in the form that stands in records.
pub fn recorded_nodes(found: nearfar_sys::PageNodes) -> PageNodes {
    PageNodes {
        method: match found.method {
            nearfar_sys::ProofMethod::MovePages => ProofMethod::MovePages,
            nearfar_sys::ProofMethod::GetMempolicy => ProofMethod::GetMempolicy,
            nearfar_sys::ProofMethod::NumaMaps => ProofMethod::NumaMaps,
            nearfar_sys::ProofMethod::OneAllowedNode => ProofMethod::OneAllowedNode,
        },
        page_bytes: found.page_bytes,
        unknown: found.unknown + found.absent,
        pages: found.nodes,
    }
}

/// Where an array's pages are to be: parts, each by what holds for it.
enum Asked {
    /// On one node, all but what a huge page at either end carries along.
    On(u32),
    /// By a policy.
    By(MemoryPolicy),
    /// Wherever they are.
    Anywhere,
}

/// Where an array's pages are.
///
/// # Errors
/// When no one can tell; the inner one says where they are in place of where they should be.
pub fn prove_array(
    array: &Array,
    placement: &ArrayPlacement,
    nodes: &ThreadNodes,
) -> Result<Result<PageNodes, String>, Refusal> {
    let all = array.addresses();
    let prove = |part: &Range<usize>| {
        let found = prove_part(all.part(part.start, part.len()), all, &nodes.allowed, false)?;
        Ok(recorded_nodes(found.nodes))
    };
    let mut total: Option<PageNodes> = None;
    for (part, asked) in parts(array, placement, nodes) {
        if part.is_empty() {
            continue;
        }
        let found = prove(&part)?;
        // Only mappings are counted there, whosever part of them a page is.
        let counts_whole = found.method == ProofMethod::NumaMaps;
        let asked = match asked {
            Asked::On(_) if counts_whole && part.len() < all.bytes() => {
                Asked::By(MemoryPolicy::Bind(nodes.in_use()))
            }
            asked => asked,
        };
        if let Some(why) = misplacement(&found, &asked, array, nodes) {
            return Ok(Err(why));
        }
        total = Some(match total {
            Some(total) if !counts_whole => sum(total, found),
            _ => found,
        });
    }
    match total {
        Some(total) => Ok(Ok(total)),
        None => prove(&(0..all.bytes())).map(Ok),
    }
}

fn sum(mut total: PageNodes, part: PageNodes) -> PageNodes {
    part.pages.into_iter().for_each(|(node, pages)| *total.pages.entry(node).or_default() += pages);
    total.unknown += part.unknown;
    total
}

/// The parts of an array with what is asked of each.
fn parts(
    array: &Array,
    placement: &ArrayPlacement,
    nodes: &ThreadNodes,
) -> Vec<(Range<usize>, Asked)> {
    let all = 0..array.addresses().bytes();
    let master = || nodes.of.first().map_or(Asked::Anywhere, |&node| Asked::On(node));
    let by_owner = || {
        let owned = array.owned_pages();
        let end = owned.last().map_or(0, |last| last.end);
        let of = owned.into_iter().zip(&nodes.of).map(|(part, &node)| (part, Asked::On(node)));
        of.chain([(end..all.end, Asked::Anywhere)]).collect()
    };
    match placement {
        _ if nodes.allowed.len() == 1 => vec![(all, Asked::Anywhere)],
        ArrayPlacement::Policy(policy) => vec![(all, Asked::By(policy.clone()))],
        ArrayPlacement::Strategy(PlacementStrategy::RoundRobin) => {
            vec![(all, Asked::By(MemoryPolicy::Interleave(nodes.in_use())))]
        }
        ArrayPlacement::Strategy(_) if nodes.of.is_empty() => vec![(all, Asked::Anywhere)],
        ArrayPlacement::Strategy(PlacementStrategy::ParallelInit) => by_owner(),
        ArrayPlacement::Strategy(PlacementStrategy::MemoryBind) if array.plan.is_hot => by_owner(),
        ArrayPlacement::Strategy(_) => vec![(all, master())],
    }
}

/// In what pages are not where they are to be; `None` where they are.
fn misplacement(
    found: &PageNodes,
    asked: &Asked,
    array: &Array,
    nodes: &ThreadNodes,
) -> Option<String> {
    let total = found.pages.values().sum::<u64>() + found.unknown;
    // A huge page belongs to whoever touches it first, on both sides of a border between owners.
    let unit = match array.plan.pages() {
        PageRequest::Small => 1,
        PageRequest::Transparent | PageRequest::Huge2M => {
            (HUGE_PAGE_BYTES as u64).div_ceil(found.page_bytes)
        }
    };
    let on_at_least = |set: &NodeSet, slack: u64| {
        let there: u64 = found
            .pages
            .iter()
            .filter(|(node, _)| set.contains(**node))
            .map(|(_, pages)| pages)
            .sum();
        let enough = (there + slack) as f64 >= PLACED_FRACTION * total as f64;
        (!enough).then(|| format!("{there} of {total} pages are on node {set}"))
    };
    match asked {
        Asked::Anywhere => None,
        Asked::On(node) => {
            on_at_least(&NodeSet::single(*node), if unit > 1 { 2 * unit } else { 0 })
        }
        Asked::By(MemoryPolicy::Interleave(set)) => on_at_least(set, 0).or_else(|| {
            let even = total as f64 / set.len() as f64;
            let slack = (SHARE_TOLERANCE * total as f64).max(2.0 * unit as f64);
            let off = set.iter().map(|node| (node, found.pages.get(&node).copied().unwrap_or(0)));
            let off = off.into_iter().find(|&(_, pages)| (pages as f64 - even).abs() > slack);
            off.map(|(node, pages)| {
                format!("{pages} of {total} pages are on node {node}, {even:.0} should be")
            })
        }),
        Asked::By(policy) => {
            on_at_least(&policy.nodes().unwrap_or_else(|| nodes.allowed.clone()), 0)
        }
    }
}
