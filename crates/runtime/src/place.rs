//! Where a task can run.

use std::collections::BTreeMap;

use nearfar_machine::{CpuSet, InitiatorKind};
use nearfar_model::Pairs;
use nearfar_record::Record;

/// CPUs from which memory was measured: an initiator of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Whether it is a cluster, an L3 domain or a core.
    pub kind: InitiatorKind,
    /// Its number among its kind.
    pub initiator: u32,
    /// The cluster that it belongs to.
    pub cluster: u32,
    /// The lowest node with CPUs of its cluster; `None` where it has none.
    pub cpu_node: Option<u32>,
    /// Its CPUs that the measuring process was allowed to use.
    pub cpus: CpuSet,
}

/// The initiators of a record's machine that have CPUs, and those that only its cases name, by
/// their number.
pub(crate) fn places(record: &Record, matrix: &Pairs) -> Vec<Place> {
    let machine = &record.header.machine;
    let kind = record.header.inputs.initiator;
    let cpu_nodes: BTreeMap<u32, Option<u32>> =
        machine.clusters().into_iter().map(|it| (it.index, it.cpu_node)).collect();
    let mut places: BTreeMap<u32, Place> = BTreeMap::new();
    for initiator in machine.initiators(kind) {
        let cpus = initiator.cpus();
        if !cpus.is_empty() {
            let cpu_node = cpu_nodes.get(&initiator.cluster).copied().flatten();
            let (index, cluster) = (initiator.index, initiator.cluster);
            places.insert(index, Place { kind, initiator: index, cluster, cpu_node, cpus });
        }
    }
    for row in &matrix.initiators {
        places.entry(row.index).or_insert_with(|| Place {
            kind,
            initiator: row.index,
            cluster: row.cluster,
            cpu_node: row.cpu_node,
            cpus: row.cpus.clone(),
        });
    }
    places.into_values().collect()
}
