//! The machine as plain, serialisable data. Numbers are the kernel's
//! (`os_index`, hwloc's `P#`); what is unknown is `None`.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::Hasher;

use serde::{Deserialize, Serialize};

use crate::fnv1a::Fnv1a;
use crate::index_set::{CpuSet, NodeSet};
use crate::memory_module::MemoryModule;

/// A machine: what is in it, how far things are by its firmware's word, and what
/// this process may use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Where the description came from.
    pub source: Source,
    /// Processor packages ("sockets"), by `os_index`.
    pub packages: Vec<Package>,
    /// NUMA memory nodes, by `os_index`.
    pub nodes: Vec<MemoryNode>,
    /// Cores with their processing units, by their first CPU.
    pub cores: Vec<Core>,
    /// Data and unified CPU caches, by level, then by their first CPU.
    pub caches: Vec<Cache>,
    /// The firmware's relative distances between nodes (SLIT); null: it gives none.
    pub distances: Option<Distances>,
    /// What the firmware claims of bandwidth and latency (HMAT), null where it gives no figure;
    /// empty where it claims nothing.
    pub firmware_figures: Vec<FirmwareFigure>,
    /// PCIe devices for network, storage and computing.
    pub devices: Vec<Device>,
    /// CPUs that the process may use.
    pub allowed_cpus: CpuSet,
    /// Nodes on which the process may place pages.
    pub allowed_nodes: NodeSet,
    /// The operating system's interleave weights, pages in turn (1 to 255) by node; null where it
    /// has no weighted interleave (before Linux 6.9) or does not say.
    pub interleave_weights: Option<BTreeMap<u32, u32>>,
    /// Memory modules in their sockets, in the firmware's order; null where they are not known.
    pub memory_modules: Option<Vec<MemoryModule>>,
    /// Memory sockets without a module; null where the modules are not known.
    pub empty_memory_sockets: Option<u32>,
    /// Why the memory modules are not known; null where they are.
    pub memory_modules_unknown: Option<String>,
    /// What was odd, missing or inferred, in sentences for people.
    pub notes: Vec<String>,
}

/// Where a machine's description came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// The machine that the program ran on.
    Live,
    /// The name of the file in hwloc's XML that described the machine.
    Xml(String),
    /// hwloc's synthetic text that described it, for example `node:4 core:4 pu:1`.
    Synthetic(String),
    /// The name of the simulated machine.
    Simulated(String),
}

/// A processor package ("socket").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// The operating system's number.
    pub os_index: u32,
    /// All its CPUs, allowed or not.
    pub cpus: CpuSet,
    /// The CPU's name; null: not known.
    pub model: Option<String>,
}

/// What a memory node is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// Ordinary memory.
    Dram,
    /// High-bandwidth memory on the package.
    Hbm,
    /// Memory behind a CXL link.
    Cxl,
    /// Byte-addressable persistent memory.
    Nvm,
    /// A GPU's memory seen as a NUMA node.
    Gpu,
    /// Neither the firmware nor hwloc says.
    Unknown,
}

impl MemoryKind {
    /// Whether it is ordinary memory for all that is known. A node without CPUs whose kind is unknown is
    /// mostly behind a link.
    pub fn may_be_ordinary(self) -> bool {
        matches!(self, Self::Dram | Self::Unknown)
    }
}

impl fmt::Display for MemoryKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Dram => "DRAM",
            Self::Hbm => "HBM",
            Self::Cxl => "CXL",
            Self::Nvm => "NVM",
            Self::Gpu => "GPU",
            Self::Unknown => "unknown",
        })
    }
}

/// A NUMA memory node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MemoryNode {
    /// The operating system's number.
    pub os_index: u32,
    /// What it is made of.
    pub kind: MemoryKind,
    /// CPUs that belong to the node itself; empty for a memory-only node.
    pub cpus: CpuSet,
    /// The CPUs next to it: its own, or for a memory-only node those that the firmware names, else those
    /// of the nearest nodes. Whether it is local to them, initiators say.
    pub locality: CpuSet,
    /// Its size as the operating system or hwloc says, 0 for CPUs without memory; null: not said. In a
    /// virtual machine it can be wrong: see the machine's notes.
    pub memory_bytes: Option<u64>,
    /// Size of a memory-side cache in front of it; null: none is known.
    pub memory_side_cache_bytes: Option<u64>,
}

impl MemoryNode {
    /// Whether pages can be on it, for all that is known.
    pub fn has_memory(&self) -> bool {
        self.memory_bytes != Some(0)
    }
}

/// A core and its processing units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// Its CPUs (hardware threads), allowed or not.
    pub cpus: CpuSet,
}

/// What a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Data and instructions.
    Unified,
}

/// A data or unified CPU cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// 1 is nearest to the core.
    pub level: u32,
    /// What it holds.
    pub kind: CacheKind,
    /// Null where hwloc does not know it.
    pub bytes: Option<u64>,
    /// Null where hwloc does not know it.
    pub line_bytes: Option<u32>,
    /// CPUs that share it.
    pub cpus: CpuSet,
}

/// The firmware's relative distances (SLIT): `values[i][j]` from `nodes[i]` to `nodes[j]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Distances {
    /// The nodes' numbers, in the order of rows and columns.
    pub nodes: Vec<u32>,
    /// Row i, column j: from nodes[i] to nodes[j]; 10 is local by ACPI's convention.
    pub values: Vec<Vec<u64>>,
}

/// What the firmware (HMAT, CDAT) says about one initiator and one node. It is a
/// claim, not a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FirmwareFigure {
    /// CPUs that access; null where only the node is named.
    pub initiator: Option<CpuSet>,
    /// The node that is accessed.
    pub node: u32,
    pub read_bytes_per_s: Option<f64>,
    pub write_bytes_per_s: Option<f64>,
    pub read_latency_ns: Option<f64>,
    pub write_latency_ns: Option<f64>,
}

/// What a device does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// Network or fabric adapter.
    Network,
    /// Disk or its controller.
    Storage,
    /// Graphics or compute accelerator.
    Accelerator,
    /// Anything else that was kept.
    Other,
}

/// A PCIe device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Domain, bus, device, function: `0000:3b:00.0`.
    pub bus_id: String,
    /// What it does.
    pub kind: DeviceKind,
    /// Its PCI class in words (`Ethernet`, `NVMe`, `3D`); null: not known.
    pub class: Option<String>,
    /// PCI vendor and device numbers, hexadecimal: `10de:20b0`; null: not known.
    pub vendor_device: Option<String>,
    /// Null where the system knows none.
    pub name: Option<String>,
    /// The operating system's names for it: `eth0`, `nvme0n1`, `cuda0`.
    pub os_names: Vec<String>,
    /// All nearest memory nodes; empty when not known.
    pub nodes: NodeSet,
    /// CPUs near it; empty when not known.
    pub cpus: CpuSet,
    pub link: Link,
}

/// A PCIe link as it is now and at most; null is not known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Transfers per second and lane now, 1e9/s (8.0 for generation 3).
    pub gt_per_s: Option<f64>,
    /// Lanes in use.
    pub lanes: Option<u32>,
    /// Transfers per second and lane at most, 1e9/s.
    pub max_gt_per_s: Option<f64>,
    /// Lanes at most.
    pub max_lanes: Option<u32>,
    /// Bandwidth now by hwloc, each way, after encoding.
    pub bytes_per_s: Option<f64>,
}

impl Machine {
    /// The node with this number.
    pub fn node(&self, os_index: u32) -> Option<&MemoryNode> {
        self.nodes.iter().find(|node| node.os_index == os_index)
    }

    /// The nodes with CPUs that this process may use, and these CPUs; only those of `only`, where it is given.
    /// A node without memory is among them: its pages are on the nearest that has some
    /// ([`Machine::home_memory`]). One whose memory this process may not use is not.
    pub fn nodes_with_usable_cpus<'a>(
        &'a self,
        only: Option<&'a CpuSet>,
    ) -> impl Iterator<Item = (&'a MemoryNode, CpuSet)> {
        let may_have_pages = |node: &&MemoryNode| {
            let allowed = &self.allowed_nodes;
            !node.has_memory() || allowed.is_empty() || allowed.contains(node.os_index)
        };
        let usable = move |node: &MemoryNode| {
            let own = node.cpus.intersection(&self.allowed_cpus);
            only.map_or(own.clone(), |only| own.intersection(only))
        };
        let nodes = self.nodes.iter().filter(may_have_pages);
        nodes.map(move |node| (node, usable(node))).filter(|(_, cpus)| !cpus.is_empty())
    }

    /// What the memory of a node is made of.
    pub fn memory_kind(&self, node: u32) -> MemoryKind {
        self.node(node).map_or(MemoryKind::Unknown, |node| node.kind)
    }

    /// All CPUs of the machine, allowed or not.
    pub fn cpus(&self) -> CpuSet {
        self.cores.iter().flat_map(|core| core.cpus.iter()).collect()
    }

    /// The distance that the firmware gives from one node to another.
    pub fn distance(&self, from: u32, to: u32) -> Option<u64> {
        let distances = self.distances.as_ref()?;
        let row = distances.nodes.iter().position(|&node| node == from)?;
        let column = distances.nodes.iter().position(|&node| node == to)?;
        distances.values.get(row)?.get(column).copied()
    }

    /// The last-level caches of these CPUs: for each CPU the cache of the highest
    /// level that it shares, each cache once.
    pub fn last_level_caches(&self, cpus: &CpuSet) -> Vec<&Cache> {
        let mut found: Vec<&Cache> = Vec::new();
        for cpu in cpus.iter() {
            let last = self
                .caches
                .iter()
                .filter(|cache| cache.cpus.contains(cpu))
                .max_by_key(|cache| cache.level);
            if let Some(cache) = last
                && !found.iter().any(|known| std::ptr::eq(*known, cache))
            {
                found.push(cache);
            }
        }
        found
    }

    /// What identifies the hardware for `--resume`: packages, nodes, cores and
    /// caches, but neither sizes of memory (they move in virtual machines) nor
    /// what the process may use, which is compared apart.
    pub fn fingerprint(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        for package in &self.packages {
            let model = package.model.as_deref().unwrap_or("?");
            parts.push(format!("package {} {} {model}", package.os_index, package.cpus));
        }
        for node in &self.nodes {
            parts.push(format!("node {} {} {}", node.os_index, node.kind, node.locality));
        }
        for core in &self.cores {
            parts.push(format!("core {}", core.cpus));
        }
        for cache in &self.caches {
            let bytes = cache.bytes.map_or_else(|| "?".into(), |bytes| bytes.to_string());
            parts.push(format!("L{} {bytes} {}", cache.level, cache.cpus));
        }
        let mut hash = Fnv1a::default();
        hash.write(parts.join(";").as_bytes());
        format!("{:016x}", hash.finish())
    }

    /// What contradicts itself in this description, in sentences; empty when sound.
    pub fn check(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let all = self.cpus();
        let mut seen = CpuSet::new();
        for core in &self.cores {
            if core.cpus.intersects(&seen) {
                wrong.push(format!("CPUs {} belong to two cores", core.cpus.intersection(&seen)));
            }
            seen.extend(core.cpus.iter());
        }
        for pair in self.nodes.windows(2) {
            if pair[0].os_index >= pair[1].os_index {
                wrong.push(format!("node {} is listed out of order", pair[1].os_index));
            }
        }
        for node in &self.nodes {
            if !node.cpus.is_subset(&node.locality) {
                wrong.push(format!(
                    "node {} has CPUs {} but is local to {} only",
                    node.os_index, node.cpus, node.locality
                ));
            }
            if !node.cpus.is_subset(&all) {
                wrong.push(format!(
                    "node {} has CPUs {} that belong to no core",
                    node.os_index,
                    node.cpus.difference(&all)
                ));
            }
        }
        if !self.allowed_cpus.is_subset(&all) {
            wrong.push(format!(
                "allowed CPUs {} belong to no core",
                self.allowed_cpus.difference(&all)
            ));
        }
        for node in self.allowed_nodes.iter().filter(|&node| self.node(node).is_none()) {
            wrong.push(format!("allowed node {node} does not exist"));
        }
        if let Some(distances) = &self.distances {
            let square = distances.values.len() == distances.nodes.len()
                && distances.values.iter().all(|row| row.len() == distances.nodes.len());
            if !square {
                wrong.push("the distance matrix is not square".into());
            }
        }
        wrong
    }
}
