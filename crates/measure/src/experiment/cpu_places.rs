//! What each CPU is a part of, looked up once for all cases: there may be many of both.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::Machine;

/// Cores and last-level caches of a machine by their CPUs.
#[derive(Debug, Clone)]
pub struct CpuPlaces<'a> {
    machine: &'a Machine,
    /// Positions in the machine's lists.
    cores: BTreeMap<u32, usize>,
    last_level_caches: BTreeMap<u32, usize>,
}

/// Sum of the last-level caches of these CPUs, and of memory-side ones; `None` where a size is not known.
pub fn last_level_bytes(machine: &Machine, cpus: &[u32]) -> Option<u64> {
    let all: Vec<u32> = machine.nodes.iter().map(|node| node.os_index).collect();
    CpuPlaces::of(machine).cache_bytes(cpus.iter().copied(), &all)
}

impl<'a> CpuPlaces<'a> {
    /// Looks them up.
    pub fn of(machine: &'a Machine) -> Self {
        let mut cores = BTreeMap::new();
        for (position, core) in machine.cores.iter().enumerate() {
            cores.extend(core.cpus.iter().map(|cpu| (cpu, position)));
        }
        let mut last_level_caches = BTreeMap::new();
        for (position, cache) in machine.caches.iter().enumerate() {
            for cpu in cache.cpus.iter() {
                let last = last_level_caches.entry(cpu).or_insert(position);
                if machine.caches[*last].level <= cache.level {
                    *last = position;
                }
            }
        }
        Self { machine, cores, last_level_caches }
    }

    /// Sum of the last-level caches of these CPUs and of the nodes' memory-side caches; `None`
    /// where a size is not known.
    pub fn cache_bytes(&self, cpus: impl IntoIterator<Item = u32>, nodes: &[u32]) -> Option<u64> {
        let caches: BTreeSet<usize> =
            cpus.into_iter().filter_map(|cpu| self.last_level_caches.get(&cpu).copied()).collect();
        if caches.is_empty() || nodes.is_empty() {
            return None;
        }
        let cpu_side: Option<u64> = caches.iter().map(|&at| self.machine.caches[at].bytes).sum();
        let node = |&node: &u32| self.machine.node(node);
        let memory_side =
            nodes.iter().filter_map(node).filter_map(|node| node.memory_side_cache_bytes);
        Some(cpu_side? + memory_side.sum::<u64>())
    }

    /// Whether no two of these CPUs are of one core.
    pub(super) fn are_one_per_core(&self, cpus: &[u32]) -> bool {
        let cpus: BTreeSet<u32> = cpus.iter().copied().collect();
        let mut seen = BTreeSet::new();
        cpus.iter().filter_map(|cpu| self.cores.get(cpu)).all(|core| seen.insert(core))
    }
}
