//! The machine as the kernel describes it without hwloc: one memory node with all CPUs. So are kernels
//! without NUMA and sandboxes that show no /sys.

use std::num::NonZero;
use std::path::Path;
use std::thread::available_parallelism;

use nearfar_machine::{Core, CpuSet, Machine, MemoryKind, MemoryNode, NodeSet, Source};

use crate::sysfs::Sysfs;

/// A machine of one node; `why` says why hwloc did not describe it.
pub(crate) fn one_node(root: &Path, why: &str) -> Machine {
    let mut sysfs = Sysfs::new(root);
    let counted = || {
        let count = available_parallelism().map_or(1, NonZero::get);
        (0..u32::try_from(count).unwrap_or(1)).collect::<CpuSet>()
    };
    let allowed = sysfs.allowed("Cpus_allowed_list").filter(|cpus: &CpuSet| !cpus.is_empty());
    // A sandbox can count CPUs by their number alone.
    let cpus = allowed.filter(|cpus| cpus.len() <= counted().len()).unwrap_or_else(counted);
    let node = MemoryNode {
        os_index: 0,
        kind: MemoryKind::Unknown,
        cpus: cpus.clone(),
        locality: cpus.clone(),
        memory_bytes: sysfs.total_memory_bytes(),
        memory_side_cache_bytes: None,
    };
    Machine {
        source: Source::Live,
        packages: Vec::new(),
        nodes: vec![node],
        cores: cpus.iter().map(|cpu| Core { cpus: CpuSet::single(cpu) }).collect(),
        caches: Vec::new(),
        distances: None,
        firmware_figures: Vec::new(),
        devices: Vec::new(),
        allowed_cpus: cpus,
        allowed_nodes: NodeSet::single(0),
        interleave_weights: None,
        memory_modules: None,
        empty_memory_sockets: None,
        memory_modules_unknown: Some("the system does not show its hardware".into()),
        notes: vec![format!(
            "the system does not show its hardware (/sys), so that all CPUs are taken for one node: {why}"
        )],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cpus_that_may_be_used_are_on_one_node() {
        let root = tempfile::tempdir().unwrap();
        let machine = one_node(root.path(), "no sysfs");
        assert_eq!(machine.check(), Vec::<String>::new());
        assert_eq!((machine.initiators().len(), machine.nodes.len()), (1, 1));
        assert_eq!(machine.allowed_cpus.len(), available_parallelism().unwrap().get());
        std::fs::create_dir_all(root.path().join("proc/self")).unwrap();
        let status = root.path().join("proc/self/status");
        std::fs::write(status, "Cpus_allowed_list:\t0\n").unwrap();
        assert_eq!(one_node(root.path(), "no sysfs").allowed_cpus, CpuSet::single(0));
    }
}
