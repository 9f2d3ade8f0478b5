//! Loads and stores over a fast and a slow memory: `hybrid`.

use nearfar_machine::{MemoryPolicy, NodeSet};

use super::{check_loop, cluster_of, only_stream};
use crate::case::{Case, Stream};
use crate::contradiction::history::KnownParts;
use crate::coordinates::{HybridCoordinates, HybridPoint, PageSplit, TransferKind};

pub(super) fn check_hybrid(
    known: &KnownParts,
    hybrid: &HybridCoordinates,
    case: &Case,
) -> Result<(), String> {
    let stream = only_stream(case)?;
    check_loop(&case.actors[0], &hybrid.kernel, &hybrid.variant, hybrid.threads)?;
    cluster_of(known, hybrid.cluster, &case.actors[0])?;
    let HybridCoordinates { fast_node, slow_node, loads, stores, .. } = *hybrid;
    if fast_node == slow_node {
        return Err(format!("node {fast_node} is both the fast and the slow memory"));
    }
    if let Some(node) = [fast_node, slow_node].iter().find(|node| !known.nodes.contains(**node)) {
        return Err(format!("the machine has no memory node {node}"));
    }
    if !is_mix_of(&hybrid.kernel, loads, stores) {
        return Err(format!("{loads} loads for {stores} stores are not {}", hybrid.kernel));
    }
    for (count, split, what) in
        [(loads, hybrid.load_pages, "read"), (stores, hybrid.store_pages, "written")]
    {
        let deals = |split: PageSplit| split.fast > 0 || split.slow > 0;
        if (count > 0) != split.is_some() || !split.is_none_or(deals) {
            return Err(format!("of the array that is {what} no pages, or pages of none"));
        }
    }
    check_policies(hybrid, stream)?;
    check_point(hybrid)
}

/// Whether a mix's name, as far as its accesses go, is that of so many loads and stores.
fn is_mix_of(name: &str, loads: u32, stores: u32) -> bool {
    let loads = if loads > 0 { format!("{loads}l") } else { String::new() };
    let accesses = name.split('_').next().unwrap_or_default();
    match stores {
        0 => accesses == loads && !loads.is_empty(),
        _ => ["s", "nt"].iter().any(|kind| accesses == format!("{loads}{stores}{kind}")),
    }
}

/// Pages are dealt out by the policies as the coordinates say.
fn check_policies(hybrid: &HybridCoordinates, stream: &Stream) -> Result<(), String> {
    let first = &stream.binding.memory;
    let written = match (hybrid.load_pages, &stream.write_memory) {
        (Some(_), Some(own)) => own,
        (None, Some(own)) => {
            return Err(format!("nothing is read, yet what is written has mem={own} of its own"));
        }
        (_, None) => first,
    };
    for (split, policy) in [(hybrid.load_pages, first), (hybrid.store_pages, written)] {
        let Some(split) = split else { continue };
        if !is_dealt(policy, hybrid, split) {
            return Err(format!(
                "pages {} to {} on the nodes {} and {}, but mem={policy}",
                split.fast, split.slow, hybrid.fast_node, hybrid.slow_node
            ));
        }
    }
    Ok(())
}

fn is_dealt(policy: &MemoryPolicy, hybrid: &HybridCoordinates, split: PageSplit) -> bool {
    let (fast, slow) = (hybrid.fast_node, hybrid.slow_node);
    let alone = |node: u32| policy.nodes() == Some(NodeSet::single(node));
    match (split.fast, split.slow) {
        (_, 0) => alone(fast),
        (0, _) => alone(slow),
        (of_fast, of_slow) => match policy {
            MemoryPolicy::Weighted(weights) if weights.len() == 2 => {
                let pages = |node: u32| weights.get(&node).copied().map_or(0, u64::from);
                pages(fast) > 0
                    && pages(fast) * u64::from(of_slow) == pages(slow) * u64::from(of_fast)
            }
            MemoryPolicy::Interleave(nodes) => {
                of_fast == of_slow && *nodes == [fast, slow].into_iter().collect()
            }
            _ => false,
        },
    }
}

/// The kinds of transfer that take place are those that a corner or a pair names.
fn check_point(hybrid: &HybridCoordinates) -> Result<(), String> {
    let part = |split: Option<PageSplit>, of: fn(PageSplit) -> u32| split.map_or(0, of) > 0;
    let takes_place = |kind: TransferKind| match kind {
        TransferKind::FastLoad => part(hybrid.load_pages, |split| split.fast),
        TransferKind::FastStore => part(hybrid.store_pages, |split| split.fast),
        TransferKind::SlowLoad => part(hybrid.load_pages, |split| split.slow),
        TransferKind::SlowStore => part(hybrid.store_pages, |split| split.slow),
    };
    let named = match hybrid.point {
        HybridPoint::Corner { of } => vec![of],
        HybridPoint::Pair { dominating, beside } if dominating == beside => {
            return Err(format!("{} beside itself", beside.as_str()));
        }
        HybridPoint::Pair { dominating, beside } => vec![dominating, beside],
        HybridPoint::Surface => return Ok(()),
    };
    let other =
        TransferKind::ALL.into_iter().find(|kind| takes_place(*kind) != named.contains(kind));
    match other {
        Some(kind) if named.contains(&kind) => {
            Err(format!("{} does not take place", kind.as_str()))
        }
        Some(kind) => Err(format!("{} takes place as well", kind.as_str())),
        None => Ok(()),
    }
}
