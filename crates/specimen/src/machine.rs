//! Machines made by hand.

use nearfar_machine::{
    Cache, CacheKind, Core, CpuSet, Machine, MemoryKind, MemoryNode, NodeSet, Package, Source,
};

/// A machine without anything.
pub fn empty_machine() -> Machine {
    Machine {
        source: Source::Synthetic("by hand".into()),
        packages: Vec::new(),
        nodes: Vec::new(),
        cores: Vec::new(),
        caches: Vec::new(),
        distances: None,
        firmware_figures: Vec::new(),
        devices: Vec::new(),
        allowed_cpus: CpuSet::new(),
        allowed_nodes: NodeSet::new(),
        interleave_weights: None,
        memory_modules: None,
        empty_memory_sockets: None,
        memory_modules_unknown: None,
        notes: Vec::new(),
    }
}

/// Packages with nodes of 64 GiB of DRAM, each with cores of one CPU; numbers go up in that order.
/// A core has a cache of 32 KiB and one of 1 MiB; distances are not known.
pub fn machine(packages: u32, nodes_of_package: u32, cores_of_node: u32) -> Machine {
    let nodes = packages * nodes_of_package;
    let cpus_of = |first_node: u32, nodes: u32| -> CpuSet {
        (first_node * cores_of_node..(first_node + nodes) * cores_of_node).collect()
    };
    let package = |os_index| Package {
        os_index,
        cpus: cpus_of(os_index * nodes_of_package, nodes_of_package),
        model: None,
    };
    let node = |os_index| MemoryNode {
        os_index,
        kind: MemoryKind::Dram,
        cpus: cpus_of(os_index, 1),
        locality: cpus_of(os_index, 1),
        memory_bytes: Some(64 << 30),
        memory_side_cache_bytes: None,
    };
    let allowed_cpus = cpus_of(0, nodes);
    let caches = [(1, 32 << 10), (2, 1 << 20)].into_iter().flat_map(|(level, bytes)| {
        allowed_cpus.iter().map(move |cpu| Cache {
            level,
            kind: CacheKind::Unified,
            bytes: Some(bytes),
            line_bytes: Some(64),
            cpus: CpuSet::single(cpu),
        })
    });
    Machine {
        packages: (0..packages).map(package).collect(),
        nodes: (0..nodes).map(node).collect(),
        caches: caches.collect(),
        cores: allowed_cpus.iter().map(|cpu| Core { cpus: CpuSet::single(cpu) }).collect(),
        allowed_cpus,
        allowed_nodes: (0..nodes).collect(),
        ..empty_machine()
    }
}
