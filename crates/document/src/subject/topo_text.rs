//! A machine in words and tables.

use std::collections::BTreeMap;

use nearfar_machine::{CacheKind, Device, DeviceKind, MemoryModule, Source};
use nearfar_units::{Bytes, BytesPerSecond, format_significant};

use super::figures::count;
use super::topo::Topology;
use crate::printable::printable;
use crate::terminal::table::table;

impl Topology {
    /// For people.
    pub fn text(&self) -> String {
        let mut text = self.overview();
        text += &self.node_table();
        text += &self.module_line();
        text += &self.initiator_lines();
        text += &self.cache_lines();
        text += &self.distance_table();
        text += &self.firmware_table();
        text += &self.device_table();
        if let Some(weights) = &self.machine.interleave_weights {
            let weights: Vec<String> =
                weights.iter().map(|(node, weight)| format!("{node}={weight}")).collect();
            text += &format!("\nthe kernel's interleave weights: {}\n", weights.join(", "));
        }
        if !self.machine.notes.is_empty() {
            text += "\nnotes\n";
            for note in &self.machine.notes {
                text += &format!("  - {}\n", printable(note));
            }
        }
        text
    }

    fn overview(&self) -> String {
        let source = match &self.machine.source {
            Source::Live => "this machine".into(),
            Source::Xml(file) => format!("described by {}", printable(file)),
            Source::Synthetic(text) => format!("synthetic, '{}'", printable(text)),
            Source::Simulated(name) => format!("simulated, {}", printable(name)),
        };
        let mut models: BTreeMap<&str, usize> = BTreeMap::new();
        for package in &self.machine.packages {
            *models.entry(package.model.as_deref().unwrap_or("unknown model")).or_default() += 1;
        }
        let packages: Vec<String> =
            models.iter().map(|(model, count)| format!("{count} x {}", printable(model))).collect();
        let cpus: usize = self.initiators.iter().map(|initiator| initiator.cpus.len()).sum();
        let mut text = format!("{source}\n");
        if !packages.is_empty() {
            text += &format!("packages: {}\n", packages.join(", "));
        }
        text += &format!("{}, {}", count(self.machine.cores.len(), "core"), count(cpus, "CPU"));
        if self.machine.allowed_cpus.len() < cpus {
            text += &format!(", of which this process may use {}", self.machine.allowed_cpus);
        }
        text + "\n"
    }

    fn node_table(&self) -> String {
        let header = ["memory node", "kind", "memory", "own CPUs", "local to CPUs", ""];
        let allowed = &self.machine.allowed_nodes;
        let rows = self
            .machine
            .nodes
            .iter()
            .map(|node| {
                let mut remarks = Vec::new();
                if let Some(bytes) = node.memory_side_cache_bytes {
                    remarks.push(format!("memory-side cache {}", Bytes(bytes)));
                }
                if !allowed.contains(node.os_index) {
                    remarks.push("not allowed for this process".into());
                }
                vec![
                    node.os_index.to_string(),
                    node.kind.to_string(),
                    size(node.memory_bytes),
                    if node.cpus.is_empty() { "none".into() } else { node.cpus.to_string() },
                    node.locality.to_string(),
                    remarks.join(", "),
                ]
            })
            .collect();
        format!("\n{}", table(header.map(String::from).to_vec(), rows, 9))
    }

    /// Modules of one kind, size and speed together: `16 x 64 GiB DDR4 at 2933 MT/s`.
    fn module_line(&self) -> String {
        let Some(modules) = &self.machine.memory_modules else {
            let why =
                self.machine.memory_modules_unknown.as_deref().unwrap_or("no reason is given");
            return format!("\nmemory modules: not known: {}\n", printable(why));
        };
        let mut groups: BTreeMap<String, usize> = BTreeMap::new();
        for module in modules {
            *groups.entry(module_words(module)).or_default() += 1;
        }
        let groups: Vec<String> =
            groups.iter().map(|(words, count)| format!("{count} x {words}")).collect();
        let mut text = format!("\nmemory modules: {}", groups.join(", "));
        text += &match self.memory_channels.as_result() {
            Ok(channels) => format!("; {} in use", count(*channels, "channel")),
            Err(why) => format!("; channels not known: {}", printable(why)),
        };
        if let Some(empty) = self.machine.empty_memory_sockets {
            text += &format!("; {} empty", count(empty as usize, "socket"));
        }
        text + "\n"
    }

    fn initiator_lines(&self) -> String {
        let mut text = String::from("\ninitiators (CPUs with the same local memory)\n");
        for initiator in &self.initiators {
            let nodes: Vec<String> =
                initiator.memory_nodes.iter().map(|node| node.to_string()).collect();
            let plural = if initiator.cpus.len() == 1 { "" } else { "s" };
            text +=
                &format!("  {}: CPU{plural} {}, local memory on ", initiator.index, initiator.cpus);
            text += &match nodes.as_slice() {
                [] => "no node\n".into(),
                [node] => format!("node {node}\n"),
                _ => format!("nodes {}\n", nodes.join(", ")),
            };
        }
        text
    }

    /// Caches of one level and size on one line: `L2: 2 x 2 MiB, each for 1 CPU`.
    fn cache_lines(&self) -> String {
        let mut groups: BTreeMap<(u32, CacheKind, Option<u64>, usize), usize> = BTreeMap::new();
        for cache in &self.machine.caches {
            *groups.entry((cache.level, cache.kind, cache.bytes, cache.cpus.len())).or_default() +=
                1;
        }
        if groups.is_empty() {
            return "\ncaches: not known\n".into();
        }
        let mut text = String::from("\ncaches\n");
        for ((level, kind, bytes, cpus), count) in groups {
            let letter = if kind == CacheKind::Data { "d" } else { "" };
            let plural = if cpus == 1 { "" } else { "s" };
            text += &format!(
                "  L{level}{letter}: {count} x {}, each for {cpus} CPU{plural}\n",
                size(bytes)
            );
        }
        text
    }

    fn distance_table(&self) -> String {
        let Some(distances) = &self.machine.distances else {
            return "\ndistances: the firmware gives none\n".into();
        };
        let header = std::iter::once("from \\ to".to_string())
            .chain(distances.nodes.iter().map(|node| format!("node {node}")))
            .collect();
        let rows = distances
            .nodes
            .iter()
            .zip(&distances.values)
            .map(|(node, row)| {
                std::iter::once(format!("node {node}"))
                    .chain(row.iter().map(u64::to_string))
                    .collect()
            })
            .collect();
        format!("\nrelative distances by the firmware (10 is local)\n{}", table(header, rows, 1))
    }

    fn firmware_table(&self) -> String {
        if self.machine.firmware_figures.is_empty() {
            return String::new();
        }
        let header = ["CPUs", "to node", "read", "write", "read latency", "write latency"];
        let bandwidth = |value: Option<f64>| {
            value.map_or("-".into(), |value| BytesPerSecond(value).to_string())
        };
        let latency = |value: Option<f64>| {
            value.map_or("-".into(), |value| format!("{} ns", format_significant(value, 3)))
        };
        let rows = self
            .machine
            .firmware_figures
            .iter()
            .map(|figure| {
                vec![
                    figure.initiator.as_ref().map_or("-".into(), ToString::to_string),
                    figure.node.to_string(),
                    bandwidth(figure.read_bytes_per_s),
                    bandwidth(figure.write_bytes_per_s),
                    latency(figure.read_latency_ns),
                    latency(figure.write_latency_ns),
                ]
            })
            .collect();
        let table = table(header.map(String::from).to_vec(), rows, 1);
        format!("\nwhat the firmware claims (not measured)\n{table}")
    }

    fn device_table(&self) -> String {
        if self.machine.devices.is_empty() {
            return "\nPCIe devices: none of interest\n".into();
        }
        let header = ["PCIe device", "near node", "what", "names", "link"];
        let rows = self
            .machine
            .devices
            .iter()
            .map(|device| {
                let nodes = device.nodes.to_string();
                vec![
                    printable(&device.bus_id).into_owned(),
                    if nodes.is_empty() { "unknown".into() } else { nodes },
                    what(device),
                    printable(&device.os_names.join(" ")).into_owned(),
                    link(device),
                ]
            })
            .collect();
        format!("\n{}", table(header.map(String::from).to_vec(), rows, 9))
    }
}

fn module_words(module: &MemoryModule) -> String {
    let kind = module.kind.as_deref().map_or("of unknown kind".into(), printable);
    let speed = match (module.configured_mt_per_s, module.max_mt_per_s) {
        (Some(now), Some(max)) if now != max => format!("at {now} MT/s (of {max})"),
        (Some(now), _) => format!("at {now} MT/s"),
        (None, Some(max)) => format!("at unknown speed, up to {max} MT/s"),
        (None, None) => "at unknown speed".into(),
    };
    format!("{} {kind} {speed}", size(module.bytes))
}

fn size(bytes: Option<u64>) -> String {
    bytes.map_or("unknown".into(), |bytes| Bytes(bytes).to_string())
}

fn what(device: &Device) -> String {
    let kind = match device.kind {
        DeviceKind::Network => "network",
        DeviceKind::Storage => "storage",
        DeviceKind::Accelerator => "accelerator",
        DeviceKind::Other => "other",
    };
    let words = device.name.as_deref().or(device.class.as_deref());
    words.map_or(kind.into(), |words| format!("{kind} ({})", printable(words)))
}

fn link(device: &Device) -> String {
    let link = &device.link;
    let side = |rate: Option<f64>, lanes: Option<u32>| {
        Some(format!("x{} at {} GT/s", lanes?, format_significant(rate?, 2)))
    };
    let now = side(link.gt_per_s, link.lanes);
    let most = side(link.max_gt_per_s, link.max_lanes);
    let bandwidth = link.bytes_per_s.map(|value| format!("{} each way", BytesPerSecond(value)));
    match (now.or(bandwidth), most) {
        (Some(now), Some(most)) if now != most => format!("{now} (at most {most})"),
        (Some(now), _) => now,
        (None, _) => "unknown".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(configured_mt_per_s: Option<u32>, max_mt_per_s: Option<u32>) -> MemoryModule {
        MemoryModule {
            locator: "DIMM 1".into(),
            bank: None,
            kind: Some("DDR4".into()),
            bytes: Some(64 << 30),
            configured_mt_per_s,
            max_mt_per_s,
            data_bits: Some(64),
            manufacturer: None,
            part_number: None,
        }
    }

    #[test]
    fn modules_say_the_speed_at_which_they_run() {
        for (now, most, words) in [
            (Some(2933), Some(3200), "64 GiB DDR4 at 2933 MT/s (of 3200)"),
            (Some(3200), Some(3200), "64 GiB DDR4 at 3200 MT/s"),
            (Some(3200), None, "64 GiB DDR4 at 3200 MT/s"),
            (None, Some(3200), "64 GiB DDR4 at unknown speed, up to 3200 MT/s"),
            (None, None, "64 GiB DDR4 at unknown speed"),
        ] {
            assert_eq!(module_words(&module(now, most)), words);
        }
        let odd = MemoryModule { kind: None, bytes: None, ..module(Some(1), None) };
        assert_eq!(module_words(&odd), "unknown of unknown kind at 1 MT/s");
    }
}
