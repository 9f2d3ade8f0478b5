//! How a run's pages come to lie where they do.
//!
//! Source: ribeiro2010, section 4 (First-Touch, Parallel-Init, Round-Robin, Memory-Bind).

use nearfar_machine::{MemoryPolicy, NodeSet};
use nearfar_sys::{Refusal, base_page_bytes, bind_range, move_pages, prove_part};
use nearfar_units::words;
use serde::{Deserialize, Serialize};

use crate::array::Array;
use crate::team::Team;

/// Who places a workload's pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// The master writes everything first: all pages are on its node.
    FirstTouch,
    /// Each thread writes first what it will compute on.
    ParallelInit,
    /// The pages of all arrays take turns over the threads' nodes.
    RoundRobin,
    /// The master writes everything first; then the pages of the hot arrays are bound, and moved, to
    /// the nodes of the threads that compute on them.
    MemoryBind,
}

words!(Strategy);

/// Where a team's threads are, for what places pages by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadNodes {
    /// The memory node of each thread, by their numbers; empty where threads may move.
    pub of: Vec<u32>,
    /// Nodes with memory that the process may use.
    pub allowed: NodeSet,
}

impl ThreadNodes {
    /// The nodes that the threads are on; all that are allowed where that is not known.
    fn in_use(&self) -> NodeSet {
        if self.of.is_empty() { self.allowed.clone() } else { self.of.iter().copied().collect() }
    }
}

/// Has the pages of all arrays come to lie by a strategy. The number of pages that moved from one
/// node to another.
///
/// # Errors
/// When the kernel refuses a policy, or will not say where pages are.
pub fn place(
    arrays: &mut [Array],
    strategy: Strategy,
    team: &Team,
    nodes: &ThreadNodes,
) -> Result<u64, Refusal> {
    if strategy == Strategy::RoundRobin {
        let policy = MemoryPolicy::Interleave(nodes.in_use());
        arrays.iter().try_for_each(|array| bind_range(array.addresses(), &policy))?;
    }
    for array in &mut *arrays {
        if strategy == Strategy::ParallelInit {
            touch_own(array, team);
        } else {
            touch_all(array, team);
        }
    }
    if strategy != Strategy::MemoryBind || nodes.of.is_empty() {
        return Ok(0);
    }
    let hot = arrays.iter().filter(|array| array.plan.is_hot);
    hot.map(|array| bind_to_owners(array, nodes)).sum()
}

fn touch(bytes: &mut [u8]) {
    // A page at a time: what is in it stays zero.
    bytes.iter_mut().step_by(base_page_bytes()).for_each(|byte| *std::hint::black_box(byte) = 0);
}

fn touch_all(array: &mut Array, team: &Team) {
    team.lead(|| touch(array.page_bytes_mut()));
}

fn touch_own(array: &mut Array, team: &Team) {
    let owned = array.owned_pages();
    let all = array.page_bytes_mut();
    let end = owned.last().map_or(0, |last| last.end);
    let (shared, rest) = all.split_at_mut(end);
    team.each(crate::team::cut(shared, &owned, 1), |_, part| touch(part));
    team.lead(|| touch(rest));
}

/// Binds each thread's part of an array to its node; the number of pages that moved.
fn bind_to_owners(array: &Array, nodes: &ThreadNodes) -> Result<u64, Refusal> {
    let mut moved = 0;
    for (owned, &node) in array.owned_pages().into_iter().zip(&nodes.of) {
        if owned.is_empty() {
            continue;
        }
        let part = array.addresses().part(owned.start, owned.len());
        bind_range(part, &MemoryPolicy::Bind(NodeSet::single(node)))?;
        let before = prove_part(part, part, &nodes.allowed, false)?.nodes.on(node);
        move_pages(part, base_page_bytes(), |_| node)?;
        let after = prove_part(part, part, &nodes.allowed, false)?.nodes.on(node);
        moved += after.saturating_sub(before);
    }
    Ok(moved)
}
