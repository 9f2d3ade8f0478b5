//! Which memory nodes have CPUs of their own, where only their locality is known.
//!
//! hwloc gives a node without CPUs the CPUs that it is local to, so that a node of
//! DRAM and one of HBM beside it look alike. The kernel's `nodeN/cpulist` tells
//! them apart; a saved topology does not carry it.

use nearfar_machine::{CpuSet, MemoryKind, MemoryNode, NodeSet};

/// What the note of [`infer`] says of its ground.
pub(crate) const INFERRED: &str = "inferred, the description does not say which nodes have CPUs";

/// Takes the CPUs from the nodes that seem to be memory-only: of nodes with one
/// locality all but the likeliest owner, and a node whose locality is made up of
/// smaller nodes'. The note names them; `None` where there are none.
pub(crate) fn infer(nodes: &mut [MemoryNode]) -> Option<String> {
    let owners: Vec<bool> = nodes.iter().map(|node| is_owner(node, nodes)).collect();
    let mut memory_only = NodeSet::new();
    for (node, owner) in nodes.iter_mut().zip(owners) {
        if !owner {
            memory_only.insert(node.os_index);
            node.cpus = CpuSet::new();
        }
    }
    (!memory_only.is_empty()).then(|| {
        format!(
            "nodes taken for memory-only: {memory_only}, as they are local to CPUs of other nodes \
             ({INFERRED})"
        )
    })
}

fn is_owner(node: &MemoryNode, nodes: &[MemoryNode]) -> bool {
    let outranked = nodes.iter().any(|other| {
        other.locality == node.locality
            && (rank(other.kind), other.os_index) < (rank(node.kind), node.os_index)
    });
    let inner: CpuSet = nodes
        .iter()
        .filter(|other| {
            other.locality.len() < node.locality.len() && other.locality.is_subset(&node.locality)
        })
        .flat_map(|other| other.locality.iter())
        .collect();
    !node.locality.is_empty() && !outranked && inner != node.locality
}

/// The order in which kinds of memory are likely to own the CPUs beside them.
fn rank(kind: MemoryKind) -> u32 {
    match kind {
        MemoryKind::Dram => 0,
        MemoryKind::Unknown => 1,
        MemoryKind::Hbm => 2,
        MemoryKind::Nvm | MemoryKind::Cxl => 3,
        MemoryKind::Gpu => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(os_index: u32, kind: MemoryKind, locality: &str) -> MemoryNode {
        let locality: CpuSet = locality.parse().unwrap();
        MemoryNode {
            os_index,
            kind,
            cpus: locality.clone(),
            locality,
            memory_bytes: None,
            memory_side_cache_bytes: None,
        }
    }

    fn owners(nodes: &mut [MemoryNode]) -> Vec<bool> {
        infer(nodes);
        nodes.iter().map(|node| !node.cpus.is_empty()).collect()
    }

    #[test]
    fn plain_nodes_keep_their_cpus_without_a_note() {
        let mut nodes = [node(0, MemoryKind::Unknown, "0-3"), node(1, MemoryKind::Unknown, "4-7")];
        assert_eq!(infer(&mut nodes), None);
        assert!(nodes.iter().all(|node| node.cpus == node.locality));
    }

    #[test]
    fn of_nodes_with_one_locality_dram_owns_the_cpus() {
        let mut nodes = [node(0, MemoryKind::Hbm, "0-3"), node(1, MemoryKind::Dram, "0-3")];
        assert_eq!(owners(&mut nodes), [false, true]);
        let mut unknown =
            [node(0, MemoryKind::Unknown, "0-3"), node(1, MemoryKind::Unknown, "0-3")];
        assert_eq!(owners(&mut unknown), [true, false]);
    }

    #[test]
    fn node_that_spans_the_others_is_memory_only() {
        let mut nodes = [
            node(0, MemoryKind::Unknown, "0-3"),
            node(1, MemoryKind::Unknown, "4-7"),
            node(2, MemoryKind::Unknown, "0-7"),
        ];
        assert_eq!(owners(&mut nodes), [true, true, false]);
        let mut partly = [node(0, MemoryKind::Unknown, "0-3"), node(1, MemoryKind::Unknown, "0-7")];
        assert_eq!(owners(&mut partly), [true, true], "CPUs 4-7 have no other node");
    }
}
