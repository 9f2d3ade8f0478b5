//! Who accesses memory. A cluster is the set of CPUs that share their local
//! memory nodes: the initiator of the locality-aware roofline model
//! (denoyelle2019, section 3). L3 domain and core are the finer initiators.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::index_set::{CpuSet, NodeSet};
use crate::machine::Machine;

/// CPUs with the same local memory nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Number in the order of the first CPU, from 0.
    pub index: u32,
    /// Its CPUs, allowed or not.
    pub cpus: CpuSet,
    /// Its local nodes: of all nodes that are local to these CPUs, those local to
    /// the fewest. A memory-only node that serves a whole package or machine is
    /// local to no single cluster; it is a target for all.
    pub memory_nodes: NodeSet,
    /// The lowest local node that has CPUs; null for a cluster without one.
    pub cpu_node: Option<u32>,
}

/// How finely the machine's CPUs are grouped into initiators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InitiatorKind {
    /// CPUs with the same local memory.
    Cluster,
    /// CPUs that share a last-level cache.
    L3,
    /// One core with its hardware threads.
    Core,
}

/// A group of CPUs that accesses memory in a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Initiator {
    /// How its CPUs were grouped.
    pub kind: InitiatorKind,
    /// Number among its kind, from 0.
    pub index: u32,
    /// The cluster that it belongs to.
    pub cluster: u32,
    /// Its cores' CPUs, only those that the process may use, each core by itself.
    pub cores: Vec<CpuSet>,
}

impl InitiatorKind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::L3 => "l3",
            Self::Core => "core",
        }
    }
}

impl fmt::Display for InitiatorKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl FromStr for InitiatorKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = [Self::Cluster, Self::L3, Self::Core].into_iter();
        let mut named = known.filter(|kind| kind.as_str() == text);
        named
            .next()
            .ok_or_else(|| format!("'{text}' is not an initiator; there are cluster, l3 and core"))
    }
}

impl Initiator {
    /// All its CPUs that the process may use.
    pub fn cpus(&self) -> CpuSet {
        self.cores.iter().flat_map(CpuSet::iter).collect()
    }
}

impl Machine {
    /// The clusters, by their first CPU. CPUs without any local node form a
    /// cluster without memory.
    pub fn clusters(&self) -> Vec<Cluster> {
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
                Cluster { index, cpus, memory_nodes, cpu_node }
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
    /// without a known cache form one group per cluster.
    pub fn l3_domains(&self) -> Vec<CpuSet> {
        let clusters = self.clusters();
        let mut shared: BTreeMap<u32, (u32, &CpuSet)> = BTreeMap::new();
        let of_clusters = clusters.iter().map(|cluster| (0, &cluster.cpus));
        let of_caches = self.caches.iter().map(|cache| (cache.level, &cache.cpus));
        for (level, cpus) in of_clusters.chain(of_caches) {
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

    /// The initiators of one kind. Their numbers do not depend on what the process
    /// may use; those of which it may use no CPU have no cores. An L3 domain that
    /// spans clusters (several nodes below one cache) is cut at their borders.
    pub fn initiators(&self, kind: InitiatorKind) -> Vec<Initiator> {
        let mut groups: Vec<(u32, CpuSet)> = Vec::new();
        let clusters = self.clusters();
        let domains = self.l3_domains();
        for cluster in &clusters {
            let of_cluster: Vec<CpuSet> = match kind {
                InitiatorKind::Cluster => vec![cluster.cpus.clone()],
                InitiatorKind::L3 => {
                    domains.iter().map(|domain| domain.intersection(&cluster.cpus)).collect()
                }
                InitiatorKind::Core => {
                    self.cores.iter().map(|core| core.cpus.intersection(&cluster.cpus)).collect()
                }
            };
            groups.extend(
                of_cluster
                    .into_iter()
                    .filter(|cpus| !cpus.is_empty())
                    .map(|cpus| (cluster.index, cpus)),
            );
        }
        groups.sort_by_key(|(_, cpus)| cpus.first());
        (0..)
            .zip(groups)
            .map(|(index, (cluster, cpus))| Initiator {
                kind,
                index,
                cluster,
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
