//! Where a task can run.

use std::collections::BTreeMap;

use nearfar_machine::{CpuSet, GroupBy};
use nearfar_model::Pairs;
use nearfar_record::Record;

/// CPUs from which memory was measured: a group of CPUs of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Whether it is an initiator, an L3 domain or a core.
    pub kind: GroupBy,
    /// Its number among its kind.
    pub cpu_group: u32,
    /// The initiator that it belongs to.
    pub initiator: u32,
    /// The lowest node with CPUs of its initiator; `None` where it has none.
    pub cpu_node: Option<u32>,
    /// Its CPUs that the measuring process was allowed to use.
    pub cpus: CpuSet,
}

/// The groups of CPUs of a record's machine that have CPUs, and those that only its cases name, by
/// their number.
pub(crate) fn places(record: &Record, matrix: &Pairs) -> Vec<Place> {
    let machine = &record.header.machine;
    let kind = record.header.inputs.group_by;
    let cpu_nodes: BTreeMap<u32, Option<u32>> =
        machine.initiators().into_iter().map(|it| (it.index, it.cpu_node)).collect();
    let mut places: BTreeMap<u32, Place> = BTreeMap::new();
    for cpu_group in machine.cpu_groups(kind) {
        let cpus = cpu_group.cpus();
        if !cpus.is_empty() {
            let cpu_node = cpu_nodes.get(&cpu_group.initiator).copied().flatten();
            let (index, initiator) = (cpu_group.index, cpu_group.initiator);
            places.insert(index, Place { kind, cpu_group: index, initiator, cpu_node, cpus });
        }
    }
    for row in &matrix.cpu_groups {
        places.entry(row.index).or_insert_with(|| Place {
            kind,
            cpu_group: row.index,
            initiator: row.initiator,
            cpu_node: row.cpu_node,
            cpus: row.cpus.clone(),
        });
    }
    places.into_values().collect()
}
