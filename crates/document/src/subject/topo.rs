//! A machine as `topo` shows it.

use std::collections::BTreeMap;

use nearfar_machine::{
    Cache, CpuSet, DeviceKind, Distances, FirmwareFigure, Link, Machine, MemoryKind, MemoryModule,
    NodeSet, Package, Source,
};
use serde::Serialize;

/// A machine; `topo --json` prints it. Null is not known; notes say why.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TopoView {
    pub schema: &'static str,
    /// Where the description came from.
    pub source: Source,
    /// Processor packages.
    pub packages: Vec<Package>,
    /// Memory nodes.
    pub nodes: Vec<NodeView>,
    /// CPUs with the same local memory.
    pub clusters: Vec<ClusterView>,
    /// CPUs that share a last-level cache.
    pub l3_domains: Vec<CpuSet>,
    /// Number of cores.
    pub cores: usize,
    /// CPU caches.
    pub caches: Vec<Cache>,
    /// The firmware's relative distances, or null.
    pub distances: Option<Distances>,
    /// What the firmware says of bandwidth and latency.
    pub firmware_figures: Vec<FirmwareFigure>,
    /// PCIe devices.
    pub devices: Vec<DeviceView>,
    /// CPUs that this process may use.
    pub allowed_cpus: CpuSet,
    /// The kernel's interleave weights by node, or null.
    pub interleave_weights: Option<BTreeMap<u32, u32>>,
    /// Memory modules in their sockets, or null.
    pub memory_modules: Option<Vec<MemoryModule>>,
    /// Memory sockets without a module, or null.
    pub empty_memory_sockets: Option<u32>,
    /// Channels with a module of ordinary memory, or null.
    pub memory_channels: Option<usize>,
    /// Why the modules are not known, or null.
    pub memory_modules_unknown: Option<String>,
    /// Why the channels are not known, or null.
    pub memory_channels_unknown: Option<String>,
    /// What was odd, missing or inferred.
    pub notes: Vec<String>,
}

/// A memory node.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeView {
    /// The kernel's number.
    pub os_index: u32,
    /// What it is made of.
    pub kind: MemoryKind,
    /// Whether it has no CPUs of its own.
    pub cpu_less: bool,
    /// Its own CPUs.
    pub cpus: CpuSet,
    /// CPUs to which it is local.
    pub locality: CpuSet,
    /// Its size, or null.
    pub memory_bytes: Option<u64>,
    /// A memory-side cache in front of it, or null.
    pub memory_side_cache_bytes: Option<u64>,
    /// Whether this process may place pages there.
    pub allowed: bool,
}

/// CPUs with the same local memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClusterView {
    /// Its number.
    pub index: u32,
    pub cpus: CpuSet,
    /// Its local nodes.
    pub memory_nodes: Vec<u32>,
    /// The lowest of them that has CPUs, or null.
    pub cpu_node: Option<u32>,
}

/// A PCIe device.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceView {
    /// Domain, bus, device, function.
    pub bus_id: String,
    /// The nearest node, or null when there are several or none is known.
    pub node: Option<u32>,
    /// All nearest nodes.
    pub nodes: NodeSet,
    /// What it does.
    pub kind: DeviceKind,
    /// Its class in words, or null.
    pub class: Option<String>,
    /// Vendor and device numbers, or null.
    pub vendor_device: Option<String>,
    /// Its name, or null.
    pub name: Option<String>,
    /// The system's names for it.
    pub os_names: Vec<String>,
    pub link: Link,
}

impl TopoView {
    pub fn new(machine: &Machine) -> Self {
        let node = |node: &nearfar_machine::MemoryNode| NodeView {
            os_index: node.os_index,
            kind: node.kind,
            cpu_less: node.cpus.is_empty(),
            cpus: node.cpus.clone(),
            locality: node.locality.clone(),
            memory_bytes: node.memory_bytes,
            memory_side_cache_bytes: node.memory_side_cache_bytes,
            allowed: machine.allowed_nodes.contains(node.os_index),
        };
        let cluster = |cluster: nearfar_machine::Cluster| ClusterView {
            index: cluster.index,
            memory_nodes: cluster.memory_nodes.iter().collect(),
            cpus: cluster.cpus,
            cpu_node: cluster.cpu_node,
        };
        let device = |device: &nearfar_machine::Device| DeviceView {
            bus_id: device.bus_id.clone(),
            node: device.nodes.first().filter(|_| device.nodes.len() == 1),
            nodes: device.nodes.clone(),
            kind: device.kind,
            class: device.class.clone(),
            vendor_device: device.vendor_device.clone(),
            name: device.name.clone(),
            os_names: device.os_names.clone(),
            link: device.link.clone(),
        };
        let channels = machine.memory_channels();
        Self {
            schema: "nearfar.topo/1",
            source: machine.source.clone(),
            packages: machine.packages.clone(),
            nodes: machine.nodes.iter().map(node).collect(),
            clusters: machine.clusters().into_iter().map(cluster).collect(),
            l3_domains: machine.l3_domains(),
            cores: machine.cores.len(),
            caches: machine.caches.clone(),
            distances: machine.distances.clone(),
            firmware_figures: machine.firmware_figures.clone(),
            devices: machine.devices.iter().map(device).collect(),
            allowed_cpus: machine.allowed_cpus.clone(),
            interleave_weights: machine.interleave_weights.clone(),
            memory_modules: machine.memory_modules.clone(),
            empty_memory_sockets: machine.empty_memory_sockets,
            memory_channels: channels.as_ref().ok().copied(),
            memory_modules_unknown: machine.memory_modules_unknown.clone(),
            memory_channels_unknown: channels.err(),
            notes: machine.notes.clone(),
        }
    }
}
