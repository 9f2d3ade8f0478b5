//! How a placement deals memory that is there already out over nodes: a file's, a process's.

use std::collections::BTreeMap;

use nearfar_machine::{MemoryPolicy, shares_of};
use nearfar_measure::native::Turn;
use nearfar_sys::HUGE_PAGE_BYTES;

use crate::placement::Placement;

/// Blocks per node, where there is enough: shares are then within 1 %. A block has a base page at least
/// and a huge page at most.
const BLOCKS: u64 = 256;

/// Which node each block of memory goes to.
#[derive(Debug)]
pub struct PageDeal {
    turn: Turn,
    nodes: usize,
    /// The share of each node.
    pub shares: BTreeMap<u32, f64>,
}

impl PageDeal {
    /// By a placement and the policy that it means here; `None` where it names no nodes, as `local`.
    pub fn of(placement: &Placement, memory: &MemoryPolicy) -> Option<Self> {
        let weights: BTreeMap<u32, u32> = match (placement, memory) {
            (Placement::Local(Some(nodes)), _)
            | (_, MemoryPolicy::Bind(nodes) | MemoryPolicy::Interleave(nodes)) => {
                nodes.iter().map(|node| (node, 1)).collect()
            }
            (_, MemoryPolicy::Preferred(node)) => [(*node, 1)].into(),
            (_, MemoryPolicy::Weighted(weights)) => weights.clone(),
            (_, MemoryPolicy::FirstTouch) => return None,
        };
        let shares = shares_of(&weights);
        Some(Self { turn: Turn::new(&weights), nodes: weights.len(), shares })
    }

    /// The node of a block by its number.
    pub(crate) fn node_of(&self, block: u64) -> u32 {
        // A turn is short: what is left out of the number begins it anew.
        self.turn.node_of(usize::try_from(block % (1 << 31)).unwrap_or_default())
    }

    /// A block that parts so much finely enough.
    pub(crate) fn block_bytes(&self, bytes: u64, page_bytes: u64) -> u64 {
        let fine = (bytes / (BLOCKS * self.nodes as u64)).max(1).next_power_of_two();
        fine.clamp(page_bytes, page_bytes.max(HUGE_PAGE_BYTES as u64))
    }
}
