//! Who accesses memory. An initiator is the set of CPUs that share their local memory nodes (hwloc's
//! and the HMAT's word; the "cluster" of denoyelle2019, section 3). L3 domain and core are finer groups.

use std::collections::BTreeMap;

use nearfar_units::words;
use serde::{Deserialize, Serialize};

use crate::index_set::{CpuSet, NodeSet};
use crate::machine::Machine;

/// CPUs with the same local memory nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Initiator {
    /// Number in the order of the first CPU, from 0.
    pub index: u32,
    /// Its CPUs, allowed or not.
    pub cpus: CpuSet,
    /// Its local nodes: of all nodes that are local to these CPUs, those local to
    /// the fewest. A memory-only node that serves a whole package or machine is
    /// local to no single initiator; it is a target for all.
    pub memory_nodes: NodeSet,
    /// The lowest local node that has CPUs; null for an initiator without one.
    pub cpu_node: Option<u32>,
}

/// How finely the machine's CPUs are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GroupBy {
    /// CPUs with the same local memory: initiators.
    Memory,
    /// CPUs that share a last-level cache.
    L3,
    /// One core with its hardware threads.
    Core,
}

/// A group of CPUs that accesses memory in a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuGroup {
    /// How its CPUs were grouped.
    pub kind: GroupBy,
    /// Number among its kind, from 0.
    pub index: u32,
    /// The initiator that it belongs to.
    pub initiator: u32,
    /// Its cores' CPUs, only those that the process may use, each core by itself.
    pub cores: Vec<CpuSet>,
}

impl GroupBy {
    /// All, the coarsest first.
    pub const ALL: [Self; 3] = [Self::Memory, Self::L3, Self::Core];

    /// The word for one of its groups, before its number.
    pub fn group(self) -> &'static str {
        match self {
            Self::Memory => "initiator",
            Self::L3 => "l3",
            Self::Core => "core",
        }
    }
}

impl CpuGroup {
    /// All its CPUs that the process may use.
    pub fn cpus(&self) -> CpuSet {
        self.cores.iter().flat_map(CpuSet::iter).collect()
    }
}

impl Machine {
    /// The initiators, by their first CPU. CPUs without any local node form a
    /// initiator without memory.
    pub fn initiators(&self) -> Vec<Initiator> {
        let mut nearest = self.nearest_nodes();
        let mut groups: Vec<(NodeSet, CpuSet)> = Vec::new();
        let mut places: BTreeMap<NodeSet, usize> = BTreeMap::new();
        for cpu in self.cpus().iter() {
            let nodes = nearest.remove(&cpu).unwrap_or_default();
            match places.get(&nodes) {
                Some(&place) => {
                    groups[place].1.insert(cpu);
                }
                None => {
                    places.insert(nodes.clone(), groups.len());
                    groups.push((nodes, CpuSet::single(cpu)));
                }
            }
        }
        let own_cpus = self.nodes.iter().filter(|node| !node.cpus.is_empty());
        let with_cpus: NodeSet = own_cpus.map(|node| node.os_index).collect();
        (0..)
            .zip(groups)
            .map(|(index, (memory_nodes, cpus))| {
                let cpu_node = memory_nodes.iter().find(|&node| with_cpus.contains(node));
                Initiator { index, cpus, memory_nodes, cpu_node }
            })
            .collect()
    }

    /// Of the nodes local to each CPU, those that are local to the fewest CPUs.
    fn nearest_nodes(&self) -> BTreeMap<u32, NodeSet> {
        let mut nearest: BTreeMap<u32, (usize, NodeSet)> = BTreeMap::new();
        for node in &self.nodes {
            let size = node.locality.len();
            for cpu in node.locality.iter() {
                let (fewest, nodes) = nearest.entry(cpu).or_insert((size, NodeSet::new()));
                if size < *fewest {
                    (*fewest, *nodes) = (size, NodeSet::new());
                }
                if size == *fewest {
                    nodes.insert(node.os_index);
                }
            }
        }
        nearest.into_iter().map(|(cpu, (_, nodes))| (cpu, nodes)).collect()
    }

    /// The groups of CPUs that share a last-level cache, by their first CPU. CPUs
    /// without a known cache form one group per initiator.
    pub fn l3_domains(&self) -> Vec<CpuSet> {
        let initiators = self.initiators();
        let mut shared: BTreeMap<u32, (u32, &CpuSet)> = BTreeMap::new();
        let of_initiators = initiators.iter().map(|initiator| (0, &initiator.cpus));
        let of_caches = self.caches.iter().map(|cache| (cache.level, &cache.cpus));
        for (level, cpus) in of_initiators.chain(of_caches) {
            for cpu in cpus.iter() {
                let last = shared.entry(cpu).or_insert((level, cpus));
                if level >= last.0 {
                    *last = (level, cpus);
                }
            }
        }
        let mut domains: Vec<CpuSet> = Vec::new();
        let mut placed = CpuSet::new();
        for cpu in self.cpus().iter() {
            if placed.contains(cpu) {
                continue;
            }
            let single = CpuSet::single(cpu);
            let domain = shared.get(&cpu).map_or(&single, |(_, cpus)| *cpus).difference(&placed);
            placed.extend(domain.iter());
            domains.push(domain);
        }
        domains
    }

    /// The groups of CPUs of one kind. Their numbers do not depend on what the process
    /// may use; those of which it may use no CPU have no cores. An L3 domain that
    /// spans initiators (several nodes below one cache) is cut at their borders.
    pub fn cpu_groups(&self, kind: GroupBy) -> Vec<CpuGroup> {
        let mut groups: Vec<(u32, CpuSet)> = Vec::new();
        let initiators = self.initiators();
        let domains = self.l3_domains();
        for initiator in &initiators {
            let of_initiator: Vec<CpuSet> = match kind {
                GroupBy::Memory => vec![initiator.cpus.clone()],
                GroupBy::L3 => {
                    domains.iter().map(|domain| domain.intersection(&initiator.cpus)).collect()
                }
                GroupBy::Core => {
                    self.cores.iter().map(|core| core.cpus.intersection(&initiator.cpus)).collect()
                }
            };
            groups.extend(
                of_initiator
                    .into_iter()
                    .filter(|cpus| !cpus.is_empty())
                    .map(|cpus| (initiator.index, cpus)),
            );
        }
        groups.sort_by_key(|(_, cpus)| cpus.first());
        (0..)
            .zip(groups)
            .map(|(index, (initiator, cpus))| CpuGroup {
                kind,
                index,
                initiator,
                cores: self.allowed_cores(&cpus),
            })
            .collect()
    }

    /// The cores among these CPUs, each with those of its CPUs that the process may use.
    pub fn allowed_cores(&self, cpus: &CpuSet) -> Vec<CpuSet> {
        let allowed = cpus.intersection(&self.allowed_cpus);
        self.cores
            .iter()
            .map(|core| core.cpus.intersection(&allowed))
            .filter(|cpus| !cpus.is_empty())
            .collect()
    }
}

words!(GroupBy);
