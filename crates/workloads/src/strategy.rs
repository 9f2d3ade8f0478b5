//! How a run's pages come to lie where they do.
//!
//! Source: ribeiro2010, section 4 (First-Touch, Parallel-Init, Round-Robin, Memory-Bind).

use nearfar_machine::{Machine, MemoryPolicy, NodeSet, PlacementStrategy};
use nearfar_record::ArrayPlacement;
use nearfar_sys::{Refusal, base_page_bytes, bind_range, move_pages, prove_part};

use crate::array::Array;
use crate::team::Team;

/// Where a team's threads are, for what places pages by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadNodes {
    /// The memory node of each thread, by their numbers; empty where threads may move, or one of
    /// them is on a node without memory.
    pub of: Vec<u32>,
    /// Nodes with memory that the process may use.
    pub allowed: NodeSet,
}

impl ThreadNodes {
    /// Of threads that are each tied to one of these CPUs.
    pub fn of_cpus(machine: &Machine, cpus: &[u32]) -> Self {
        let allowed = machine.allowed_nodes.clone();
        let node_of = |&cpu: &u32| {
            let node = machine.nodes.iter().find(|node| node.cpus.contains(cpu));
            node.map(|node| node.os_index).filter(|&node| allowed.contains(node))
        };
        Self { of: cpus.iter().map(node_of).collect::<Option<_>>().unwrap_or_default(), allowed }
    }

    /// The nodes that the threads are on; all that are allowed where that is not known.
    pub fn in_use(&self) -> NodeSet {
        if self.of.is_empty() { self.allowed.clone() } else { self.of.iter().copied().collect() }
    }
}

/// Has the pages of all arrays come to lie where they are to. The number of pages that moved from
/// one node to another.
///
/// # Errors
/// When the kernel refuses a policy, or will not say where pages are.
pub fn place(
    arrays: &mut [Array],
    placement: &ArrayPlacement,
    team: &Team,
    nodes: &ThreadNodes,
) -> Result<u64, Refusal> {
    let (policy, strategy) = match placement {
        ArrayPlacement::Policy(policy) => (policy.clone(), PlacementStrategy::ParallelInit),
        ArrayPlacement::Strategy(strategy @ PlacementStrategy::RoundRobin) => {
            (MemoryPolicy::Interleave(nodes.in_use()), *strategy)
        }
        ArrayPlacement::Strategy(strategy) => (MemoryPolicy::FirstTouch, *strategy),
    };
    let bound = arrays.iter().try_for_each(|array| bind_range(array.addresses(), &policy));
    // Without it pages come to lie the same, but NUMA balancing may move them: the proof decides.
    if policy != MemoryPolicy::FirstTouch {
        bound?;
    }
    for array in &mut *arrays {
        if strategy == PlacementStrategy::ParallelInit {
            touch_own(array, team);
        } else {
            touch_all(array, team);
        }
    }
    if strategy != PlacementStrategy::MemoryBind || nodes.of.is_empty() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::ArrayPlan;

    /// A range with a policy of its own is left alone by NUMA balancing: in numa_maps (numa(5)) it is
    /// any but `default`.
    #[test]
    fn every_strategy_gives_each_array_a_policy() {
        let Ok(_) = std::fs::read("/proc/self/numa_maps") else { return };
        let allowed = nearfar_sys::usable_nodes("/".as_ref()).unwrap();
        let node = allowed.first().unwrap();
        let nodes = ThreadNodes { of: vec![node; 2], allowed };
        let team = Team::of_threads(2).unwrap();
        let array =
            |is_hot| Array::map(ArrayPlan::shared::<f64>("a", (4096, 1), 2, is_hot)).unwrap();
        for strategy in PlacementStrategy::ALL {
            let mut arrays = [array(true), array(false)];
            place(&mut arrays, &ArrayPlacement::Strategy(strategy), &team, &nodes).unwrap();
            let maps = std::fs::read_to_string("/proc/self/numa_maps").unwrap();
            let expected = match strategy {
                PlacementStrategy::RoundRobin => {
                    [format!("interleave:{node} "), format!("interleave:{node} ")]
                }
                PlacementStrategy::MemoryBind => [format!("bind:{node} "), "local ".into()],
                _ => ["local ".into(), "local ".into()],
            };
            for (array, expected) in arrays.iter().zip(expected) {
                let start = format!("{:x} ", array.addresses().start());
                let policy = maps.lines().find_map(|line| line.strip_prefix(&start)).unwrap();
                assert!(policy.starts_with(&expected), "{strategy}: {policy}, not {expected}");
            }
        }
    }
}
