//! What the kernel's files under `/sys` and `/proc` say and hwloc does not. The
//! root is a parameter, so that saved trees can be read (`hwloc-gather-topology`).
//!
//! A file that is missing is `None`: older kernels lack many. One that cannot be
//! read, or whose content is not understood, is `None` as well and leaves a note
//! that says which of the two.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use nearfar_machine::{CpuSet, FirmwareFigure, IndexSet, Link, NodeSet};

/// The most that is read of one file; sysfs gives at most a page, longer lists of
/// `/proc` stay far below.
const MAX_FILE: u64 = 1 << 20;
const NODES: &str = "sys/devices/system/node";
const WEIGHTS: &str = "sys/kernel/mm/mempolicy/weighted_interleave";
/// The kernel gives bandwidths in MB/s
/// (`Documentation/ABI/stable/sysfs-devices-node`).
const MB: f64 = 1e6;

/// A tree of the kernel's files.
pub(crate) struct Sysfs {
    root: PathBuf,
    notes: Vec<String>,
}

impl Sysfs {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.into(), notes: Vec::new() }
    }

    /// What could not be read or understood so far.
    pub(crate) fn into_notes(self) -> Vec<String> {
        self.notes
    }

    /// A list of nodes: those that are `online`, with CPUs of their own (`has_cpu`), or with
    /// memory (`has_memory`).
    pub(crate) fn nodes(&mut self, list: &str) -> Option<NodeSet> {
        self.list(format!("{NODES}/{list}"))
    }

    /// The CPUs of a node itself; empty for a memory-only node.
    pub(crate) fn node_cpus(&mut self, node: u32) -> Option<CpuSet> {
        self.list(format!("{NODES}/node{node}/cpulist"))
    }

    /// A node's memory, bytes.
    pub(crate) fn node_memory_bytes(&mut self, node: u32) -> Option<u64> {
        let path = format!("{NODES}/node{node}/meminfo");
        self.value(path, |text| total_kib(text).map(|kib| kib * 1024))
    }

    /// A node's relative distances (SLIT) to the online nodes, in their order.
    pub(crate) fn node_distances(&mut self, node: u32) -> Option<Vec<u64>> {
        let path = format!("{NODES}/node{node}/distance");
        self.value(path, |text| text.split_whitespace().map(|word| word.parse().ok()).collect())
    }

    /// The firmware's figures (HMAT) for a node, and the nodes from which they hold, its nearest
    /// initiators. Class 1 has CPUs as initiators, class 0 others as well
    /// (`Documentation/admin-guide/mm/numaperf.rst`), so 1 is preferred where it has figures.
    pub(crate) fn access_figures(&mut self, node: u32) -> Option<(NodeSet, FirmwareFigure)> {
        [1, 0].into_iter().find_map(|class| self.access_class(node, class))
    }

    fn access_class(&mut self, node: u32, class: u32) -> Option<(NodeSet, FirmwareFigure)> {
        let folder = format!("{NODES}/node{node}/access{class}/initiators");
        let mut figure = |name: &str, unit: f64| {
            let value = self.value(format!("{folder}/{name}"), number);
            value.filter(|&value| value > 0.0).map(|value| value * unit)
        };
        let said = [
            figure("read_bandwidth", MB),
            figure("write_bandwidth", MB),
            figure("read_latency", 1.0),
            figure("write_latency", 1.0),
        ];
        let initiators = self.numbered_entries(&folder, "node");
        let [read_bytes_per_s, write_bytes_per_s, read_latency_ns, write_latency_ns] = said;
        let figures = FirmwareFigure {
            initiator: None,
            node,
            read_bytes_per_s,
            write_bytes_per_s,
            read_latency_ns,
            write_latency_ns,
        };
        let is_known = said.iter().any(Option::is_some) && !initiators.is_empty();
        is_known.then_some((initiators, figures))
    }

    /// The system-wide interleave weights, by node; `None` without the kernel's
    /// weighted interleave (before Linux 6.9).
    pub(crate) fn interleave_weights(&mut self) -> Option<BTreeMap<u32, u32>> {
        let nodes = self.numbered_entries(WEIGHTS, "node");
        let weights: BTreeMap<u32, u32> = nodes
            .iter()
            .filter_map(|node| {
                let weight = self.value(format!("{WEIGHTS}/node{node}"), |text| {
                    text.trim().parse().ok().filter(|weight| (1..=255).contains(weight))
                })?;
                Some((node, weight))
            })
            .collect();
        (!weights.is_empty()).then_some(weights)
    }

    /// Whether the kernel derives the weights from the firmware's bandwidths itself
    /// (Linux 6.16); the file has had two names.
    pub(crate) fn weights_are_automatic(&mut self) -> Option<bool> {
        ["auto", "__auto_type"]
            .into_iter()
            .find_map(|name| self.value(format!("{WEIGHTS}/{name}"), truth))
    }

    /// The node that the firmware puts a PCI device on; `None` where it does not say
    /// (the kernel's -1).
    pub(crate) fn pci_node(&mut self, bus_id: &str) -> Option<u32> {
        let node: i64 = self.value(pci(bus_id, "numa_node"), |text| text.trim().parse().ok())?;
        u32::try_from(node).ok()
    }

    /// The speed and width of a PCI device's link, now and at most. hwloc's own
    /// figure is not touched.
    pub(crate) fn pci_link(&mut self, bus_id: &str, link: &mut Link) {
        let mut speed = |name| self.value(pci(bus_id, name), gigatransfers).flatten();
        link.gt_per_s = speed("current_link_speed").or(link.gt_per_s);
        link.max_gt_per_s = speed("max_link_speed").or(link.max_gt_per_s);
        let mut width = |name| self.value(pci(bus_id, name), lanes).flatten();
        link.lanes = width("current_link_width").or(link.lanes);
        link.max_lanes = width("max_link_width").or(link.max_lanes);
    }

    /// What this process may use, by its affinity and cpuset: `Cpus_allowed_list`, or
    /// `Mems_allowed_list`.
    pub(crate) fn allowed<Kind>(&mut self, key: &str) -> Option<IndexSet<Kind>> {
        self.value("proc/self/status".into(), |text| status_list(text, key)).flatten()
    }

    /// The machine's memory as `/proc/meminfo` says, bytes.
    pub(crate) fn total_memory_bytes(&mut self) -> Option<u64> {
        self.value("proc/meminfo".into(), |text| total_kib(text).map(|kib| kib * 1024))
    }

    fn list<Kind>(&mut self, path: String) -> Option<IndexSet<Kind>> {
        self.value(path, |text| text.trim().parse().ok())
    }

    fn value<Value>(
        &mut self,
        path: String,
        parse: impl FnOnce(&str) -> Option<Value>,
    ) -> Option<Value> {
        let mut text = String::new();
        let read = File::open(self.root.join(&path))
            .and_then(|file| file.take(MAX_FILE).read_to_string(&mut text));
        match read {
            Ok(_) => {
                let value = parse(&text);
                if value.is_none() {
                    let start: String = text.trim().chars().take(40).collect();
                    self.note(format!("/{path} is not understood: '{}'", start.escape_debug()));
                }
                value
            }
            Err(error) => {
                self.unreadable(&path, &error);
                None
            }
        }
    }

    /// The numbers of a folder's entries `PREFIXn`.
    fn numbered_entries(&mut self, folder: &str, prefix: &str) -> NodeSet {
        match fs::read_dir(self.root.join(folder)) {
            Ok(entries) => entries
                .filter_map(|entry| {
                    let name = entry.ok()?.file_name();
                    let list: NodeSet = name.to_str()?.strip_prefix(prefix)?.parse().ok()?;
                    list.first()
                })
                .collect(),
            Err(error) => {
                self.unreadable(folder, &error);
                NodeSet::new()
            }
        }
    }

    fn unreadable(&mut self, path: &str, error: &io::Error) {
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => {}
            ErrorKind::InvalidData => self.note(format!("/{path} is not understood: not text")),
            _ => self.note(format!("/{path} cannot be read: {error}")),
        }
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

fn pci(bus_id: &str, name: &str) -> String {
    format!("sys/bus/pci/devices/{bus_id}/{name}")
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|value: &f64| value.is_finite())
}

fn truth(text: &str) -> Option<bool> {
    match text.trim() {
        "true" | "1" | "Y" | "y" => Some(true),
        "false" | "0" | "N" | "n" => Some(false),
        _ => None,
    }
}

/// `8.0 GT/s PCIe` (`8 GT/s` before Linux 5.7), or `Unknown`, which is the inner `None`.
fn gigatransfers(text: &str) -> Option<Option<f64>> {
    let text = text.trim();
    if text.starts_with("Unknown") {
        return Some(None);
    }
    let speed = number(text.split_once("GT/s")?.0)?;
    (speed > 0.0).then_some(Some(speed))
}

/// Lanes; 0 and 255 are "not known" (`PCI_EXP_LNKSTA_NLW`, a link that is down), the
/// inner `None`.
fn lanes(text: &str) -> Option<Option<u32>> {
    match text.trim().parse().ok()? {
        0 | 255 => Some(None),
        lanes @ 1..=64 => Some(Some(lanes)),
        _ => None,
    }
}

/// `MemTotal` of a meminfo file, of a node or of the machine, in KiB.
fn total_kib(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains("MemTotal:"))?;
    let (_, value) = line.split_once("MemTotal:")?;
    value.trim().strip_suffix("kB")?.trim().parse().ok().filter(|&kib: &u64| kib < 1 << 50)
}

/// A list in `/proc/self/status`. The inner `None`: no such line.
fn status_list<Kind>(text: &str, key: &str) -> Option<Option<IndexSet<Kind>>> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    match line {
        None => Some(None),
        Some(list) => list.trim().parse().ok().map(Some),
    }
}
