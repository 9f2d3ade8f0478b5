//! Where pairs lie in the machine, measured or not.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{MemoryKind, Relation};
use nearfar_model::Classes;
use nearfar_record::{Coordinates, Record};

use super::classes::ClassPairView;
use super::relations::Relations;

/// Where a pair lies in the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PairPosition {
    /// The initiator's number.
    pub index: u32,
    pub memory_node: u32,
    pub memory_kind: MemoryKind,
    /// `None` where that is not said.
    pub relation: Option<Relation>,
    /// By the firmware; `None` where it gives none.
    pub distance: Option<u64>,
}

impl From<&ClassPairView> for PairPosition {
    fn from(pair: &ClassPairView) -> Self {
        Self {
            index: pair.index,
            memory_node: pair.memory_node,
            memory_kind: pair.memory_kind,
            relation: pair.relation,
            distance: pair.distance,
        }
    }
}

/// The positions of all pairs of an initiator in the classes, or left out of them, and a
/// memory node of the machine or the record, by initiator, then by node.
pub(crate) fn positions(record: &Record, classes: &Classes) -> Vec<PairPosition> {
    let pairs = classes.sets.iter().flat_map(|set| &set.classes).flat_map(|class| &class.pairs);
    let mut known: BTreeSet<(u32, u32)> =
        pairs.map(|pair| (pair.initiator, pair.memory_node)).collect();
    known.extend(classes.left_out.iter().map(|out| (out.initiator, out.memory_node)));
    let machine = &record.header.machine;
    let relations = Relations::new(machine);
    let with_memory = machine.nodes.iter().filter(|node| node.memory_bytes != Some(0));
    let mut nodes: BTreeSet<u32> = with_memory.map(|node| node.os_index).collect();
    nodes.extend(known.iter().map(|&(_, node)| node));
    let initiators: BTreeSet<u32> = known.iter().map(|&(initiator, _)| initiator).collect();
    let clusters = clusters_of(record);
    let mut positions = Vec::new();
    for &index in &initiators {
        let cluster = clusters.get(&index);
        positions.extend(nodes.iter().map(|&memory_node| PairPosition {
            index,
            memory_node,
            memory_kind: relations.kind(memory_node),
            relation: cluster.and_then(|&(cluster, _)| relations.of(cluster, memory_node)),
            distance: cluster.and_then(|&(_, node)| relations.distance(node, memory_node)),
        }));
    }
    positions
}

/// The cluster of each initiator and its lowest node with CPUs, as cases and absences say.
fn clusters_of(record: &Record) -> BTreeMap<u32, (u32, Option<u32>)> {
    let of_cases = record.cases.iter().flat_map(|case| &case.coordinates);
    let of_absent = record.absent.iter().flat_map(|absent| &absent.coordinates);
    of_cases
        .chain(of_absent)
        .filter_map(Coordinates::as_pair)
        .map(|pair| (pair.index, (pair.cluster, pair.cpu_node)))
        .collect()
}
