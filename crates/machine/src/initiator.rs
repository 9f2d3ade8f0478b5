//! CPUs that access memory. An initiator is the set of CPUs of one memory node, or of none, as the kernel
//! groups them (the "cluster" of denoyelle2019, section 3). L3 domain and core are finer groups.

use std::collections::BTreeMap;

use nearfar_units::words;
use serde::{Deserialize, Serialize};

use crate::index_set::{CpuSet, NodeSet};
use crate::machine::{Machine, MemoryKind, MemoryNode, Package};

/// The CPUs of one node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Initiator {
    /// Number in the order of the first CPU, from 0.
    pub index: u32,
    /// Its CPUs, allowed or not.
    pub cpus: CpuSet,
    /// Its local memory: its own node, unless that has no memory, and memory-only nodes that are local
    /// to just these CPUs. A memory-only node that serves several initiators is local to none.
    pub memory_nodes: NodeSet,
    /// The node that these CPUs belong to, with memory or without; null for CPUs of no node.
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
    /// The initiators, by their first CPU. CPUs of no node form one without local memory.
    pub fn initiators(&self) -> Vec<Initiator> {
        let (mut owners, memory_only): (Vec<&MemoryNode>, Vec<&MemoryNode>) =
            self.nodes.iter().partition(|node| !node.cpus.is_empty());
        // A description that is not the kernel's can give a CPU to several nodes.
        owners.sort_by_key(|node| node.cpus.len());
        let mut owner: BTreeMap<u32, &MemoryNode> = BTreeMap::new();
        for node in owners {
            for cpu in node.cpus.iter() {
                owner.entry(cpu).or_insert(node);
            }
        }
        let mut groups: Vec<(Option<&MemoryNode>, CpuSet)> = Vec::new();
        let mut places: BTreeMap<Option<u32>, usize> = BTreeMap::new();
        for cpu in self.cpus().iter() {
            let node = owner.get(&cpu).copied();
            let place = places.entry(node.map(|node| node.os_index)).or_insert(groups.len());
            if *place == groups.len() {
                groups.push((node, CpuSet::new()));
            }
            groups[*place].1.insert(cpu);
        }
        (0..)
            .zip(groups)
            .map(|(index, (node, cpus))| {
                let cpu_node = node.map(|node| node.os_index);
                let beside = memory_only.iter().filter(|node| self.is_local(node, cpu_node, &cpus));
                let local = node.into_iter().chain(beside.copied());
                let local = local.filter(|node| node.has_memory()).map(|node| node.os_index);
                Initiator { index, memory_nodes: local.collect(), cpus, cpu_node }
            })
            .collect()
    }

    /// Whether a node without CPUs is local to just the CPUs of a node: HBM or persistent memory next to
    /// them, which their own controllers drive, memory whose initiator the firmware says they are, or
    /// memory nearer to them than that of any other CPUs.
    fn is_local(&self, node: &MemoryNode, cpu_node: Option<u32>, cpus: &CpuSet) -> bool {
        let from_cpus = |to: u32| cpu_node.and_then(|cpu_node| self.distance(cpu_node, to));
        let Some(distance) = from_cpus(node.os_index) else { return node.locality == *cpus };
        let others = self.nodes.iter().filter(|other| !other.cpus.is_empty());
        let others = others.filter(|other| Some(other.os_index) != cpu_node);
        let is_nearer = others
            .filter_map(|other| from_cpus(other.os_index))
            .min()
            .is_some_and(|nearest| distance < nearest);
        let is_named = self
            .firmware_figures
            .iter()
            .any(|figure| figure.node == node.os_index && figure.initiator.as_ref() == Some(cpus));
        let is_own_kind = matches!(node.kind, MemoryKind::Hbm | MemoryKind::Nvm);
        node.locality == *cpus && (is_named || is_own_kind || is_nearer)
    }

    /// Nodes with memory that are as near to these CPUs as any: the local ones, else those at the least
    /// distance from their node; all that have memory where no distances are known.
    pub fn nearest_memory(&self, initiator: &Initiator) -> NodeSet {
        if !initiator.memory_nodes.is_empty() {
            return initiator.memory_nodes.clone();
        }
        let distance = |node: u32| initiator.cpu_node.and_then(|from| self.distance(from, node));
        let with_memory: Vec<u32> =
            self.nodes.iter().filter(|node| node.has_memory()).map(|node| node.os_index).collect();
        let least = with_memory.iter().filter_map(|&node| distance(node)).min();
        with_memory.into_iter().filter(|&node| distance(node) == least).collect()
    }

    /// The node for the pages of an initiator's threads: its own, or if that has no memory, or none that this
    /// process may use, the nearest that has; `None` on a machine without memory.
    pub fn home_memory(&self, initiator: &Initiator) -> Option<u32> {
        let with_memory = self.nodes.iter().filter(|node| node.has_memory());
        let (usable, others): (Vec<u32>, Vec<u32>) = with_memory
            .map(|node| node.os_index)
            .partition(|node| self.allowed_nodes.contains(*node));
        let distance = |node: u32| initiator.cpu_node.and_then(|from| self.distance(from, node));
        let farness = |node: &u32| {
            let is_own = initiator.cpu_node == Some(*node);
            let is_local = initiator.memory_nodes.contains(*node);
            (!is_own, !is_local, distance(*node).unwrap_or(u64::MAX), *node)
        };
        usable.into_iter().min_by_key(farness).or(others.into_iter().min_by_key(farness))
    }

    /// The CPUs to which no memory is nearer than this node's; for a memory-only node that serves
    /// several initiators those of all of them.
    pub fn cpus_near(&self, node: &MemoryNode) -> CpuSet {
        let initiators = self.initiators();
        let near = initiators.iter().filter(|initiator| {
            let serves_more = node.cpus.is_empty() && initiator.cpus.is_subset(&node.locality);
            let serves_more = serves_more && initiator.cpus != node.locality;
            (serves_more && node.has_memory())
                || self.nearest_memory(initiator).contains(node.os_index)
        });
        near.flat_map(|initiator| initiator.cpus.iter()).collect()
    }

    /// Nodes whose CPUs lie in several packages that other nodes have CPUs in, too: packages and nodes
    /// contradict each other, mostly in virtual machines. A node that has whole packages is sound.
    pub fn nodes_across_packages(&self) -> NodeSet {
        let is_split = |package: &&Package| {
            let of_nodes = self.nodes.iter().filter(|node| node.cpus.intersects(&package.cpus));
            of_nodes.count() > 1
        };
        let is_across = |node: &&MemoryNode| {
            let packages =
                self.packages.iter().filter(|package| package.cpus.intersects(&node.cpus));
            packages.clone().count() > 1 && packages.clone().any(|package| is_split(&package))
        };
        self.nodes.iter().filter(is_across).map(|node| node.os_index).collect()
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
