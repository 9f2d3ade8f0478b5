//! What `--near` names: the memory nodes next to a device, or those of a launcher's local rank.

use std::env;
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use nearfar_advise::{DeviceAdvice, DeviceTraffic, advise_device};
use nearfar_document::printable;
use nearfar_machine::{CpuSet, Device, DeviceKind, LocalRank, Machine, NodeSet};
use nearfar_model::RecordFigures;
use nearfar_place::named;
use nearfar_sys::attainable_cpus;
use nearfar_units::format_significant;

use super::advised_placement::refuse_elsewhere;
use crate::live_accelerators::live_accelerators;
use crate::record_file;

/// Where nothing can run.
pub const NO_USABLE_NODE: &str = "there is no memory node whose CPUs and memory may be used";

/// Nodes, and by whose word they are near.
pub struct Near {
    pub nodes: NodeSet,
    /// A line for people.
    pub note: String,
}

/// A device as it was asked for, and what the system knows of it.
struct Asked {
    /// In the user's words, without a colon before a number.
    name: String,
    /// PCIe address, where it has one.
    bus_id: Option<String>,
    /// By firmware; empty when unknown.
    nodes: NodeSet,
    /// What a record can have measured of it.
    traffic: Option<DeviceTraffic>,
}

/// The nodes next to `rank`, or to a device: by its PCIe address (`0000:3b:00.0`, or without its domain), by a
/// name that the system has for it (`eth0` or `nic:eth0`, `nvme0`), or as an accelerator (`cuda0`, `cuda:0`, `hip:1`).
///
/// A device is near the nodes from which the copies of a record are the fastest, an adapter near those from which
/// its messages are; else those that the firmware names. The record is the named one, or the newest of this machine,
/// if that has copies to it, or messages through it.
///
/// # Errors
/// When there is no such device or rank, nothing says where it is, or the named record says nothing of it.
pub fn near(
    machine: &Machine,
    asked: &str,
    record: Option<&Path>,
    cpus: Option<&CpuSet>,
) -> anyhow::Result<Near> {
    if asked == "rank" {
        return near_rank(machine, cpus);
    }
    let asked = find(machine, asked)?;
    if let Some(near) = asked.by_record(machine, record)? {
        return Ok(near);
    }
    let Asked { name, nodes, .. } = asked;
    if nodes.is_empty() {
        let remedy = match asked.traffic {
            Some(DeviceTraffic::Copies) => {
                "`nearfar characterize --only devices` measures copies from every node, and --near goes by them"
            }
            Some(DeviceTraffic::Messages) => {
                "`nearfar characterize --only network --peer HOST` measures messages from every node, and --near \
                 goes by them"
            }
            None => {
                "try --placement local:0 and the other nodes in turn, or `nearfar sensitivity -- COMMAND`"
            }
        };
        bail!(
            "the system does not say which memory node {name} is next to (its numa_node is -1); {remedy}"
        );
    }
    let usable = machine.nodes_with_usable_cpus(None).count();
    let all = if nodes.len() > 1 && nodes.len() >= usable { ", which names all" } else { "" };
    let note = format!("{name} is next to {}, by firmware{all}", named("node", &nodes));
    Ok(Near { nodes, note })
}

fn near_rank(machine: &Machine, cpus: Option<&CpuSet>) -> anyhow::Result<Near> {
    let rank = LocalRank::find(|name| env::var(name).ok()).ok_or_else(|| {
        let looked_at: Vec<&str> = LocalRank::variables().collect();
        anyhow!(
            "no launcher says which of this machine's processes this is (looked at {}); start it as \
             `srun nearfar run --near rank -- COMMAND`, or by mpirun or torchrun",
            looked_at.join(", ")
        )
    })?;
    let usable: Vec<u32> =
        machine.nodes_with_usable_cpus(cpus).map(|(node, _)| node.os_index).collect();
    // Who has CPUs of its own has them from the launcher: they are its part already.
    let attainable = attainable_cpus(Path::new("/"));
    let is_bound = attainable.is_some_and(|all| !all.is_subset(&machine.allowed_cpus));
    let nodes: NodeSet =
        if is_bound { &usable } else { rank.part_of(&usable) }.iter().copied().collect();
    if nodes.is_empty() {
        bail!("{NO_USABLE_NODE}");
    }
    let LocalRank { rank, processes, variable } = rank;
    let of = match processes {
        _ if is_bound => {
            format!(" ({variable}), with CPUs {} from its launcher,", machine.allowed_cpus)
        }
        Some(processes) => format!(" of {processes} ({variable})"),
        None => format!(" ({variable}), of how many is not told, so that nodes are taken in turn,"),
    };
    let note = format!("local rank {rank}{of} is on {}", named("node", &nodes));
    Ok(Near { nodes, note })
}

fn find(machine: &Machine, asked: &str) -> anyhow::Result<Asked> {
    let (name, is_adapter) = match asked.strip_prefix("nic:") {
        Some(name) => (name.to_owned(), true),
        None => (without_colon(asked), false),
    };
    let is_asked = |device: &&Device| {
        let address = device.bus_id.strip_prefix("0000:").unwrap_or(&device.bus_id);
        let is_named = device.bus_id.eq_ignore_ascii_case(&name)
            || address.eq_ignore_ascii_case(&name)
            || device.os_names.iter().any(|known| *known == name || is_namespace(known, &name));
        is_named && (!is_adapter || device.kind == DeviceKind::Network)
    };
    if let Some(device) = machine.devices.iter().find(is_asked) {
        let traffic = match device.kind {
            DeviceKind::Accelerator => Some(DeviceTraffic::Copies),
            DeviceKind::Network => Some(DeviceTraffic::Messages),
            _ => None,
        };
        let (bus_id, nodes) = (Some(device.bus_id.clone()), device.nodes.clone());
        return Ok(Asked { name, bus_id, nodes, traffic });
    }
    // Drivers are loaded only where the system itself knows no such name.
    let found =
        if is_adapter { Vec::new() } else { live_accelerators(machine).inputs.accelerators };
    if let Some(it) = found.iter().find(|it| it.id == name) {
        let (bus_id, nodes) = (it.bus_id.clone(), it.nodes.clone());
        return Ok(Asked { name, bus_id, nodes, traffic: Some(DeviceTraffic::Copies) });
    }
    let devices = machine.devices.iter().filter(|it| !is_adapter || it.kind == DeviceKind::Network);
    let names = devices.map(|device| match device.os_names.first() {
        Some(name) => format!("{name} ({})", device.bus_id),
        None => device.bus_id.clone(),
    });
    let all: Vec<String> = names.chain(found.iter().map(|it| it.id.clone())).collect();
    let what = if is_adapter { "network adapter" } else { "device" };
    let known = if all.is_empty() {
        "this machine shows none".into()
    } else {
        format!("this machine has {}", all.join(", "))
    };
    bail!("there is no {what} '{name}'; {known}")
}

/// `cuda:0` as `cuda0`; addresses of PCIe keep their colons.
fn without_colon(asked: &str) -> String {
    match asked.split_once(':') {
        Some((word @ ("cuda" | "hip" | "opencl" | "nvme"), number)) => format!("{word}{number}"),
        _ => asked.to_owned(),
    }
}

/// Whether this is a disk of that NVMe controller: `nvme0n1` of `nvme0`.
fn is_namespace(name: &str, controller: &str) -> bool {
    let rest = name.strip_prefix(controller).and_then(|rest| rest.strip_prefix('n'));
    controller.starts_with("nvme") && rest.is_some_and(|rest| rest.parse::<u32>().is_ok())
}

impl Asked {
    /// By measured copies or messages, where there are any.
    fn by_record(&self, machine: &Machine, named: Option<&Path>) -> anyhow::Result<Option<Near>> {
        if self.traffic.is_none() {
            return Ok(None);
        }
        // Numbers are given anew to the devices that a job may see: an address stays.
        let asked = self.bus_id.as_deref().unwrap_or(&self.name);
        let (path, record) = match record_file::read_named_or_newest(named) {
            Ok(found) => found,
            Err(error) if named.is_some() => return Err(error),
            Err(_) => return Ok(None),
        };
        let advice = refuse_elsewhere(&path, &record).and_then(|()| {
            let advice = advise_device(&RecordFigures::new(&record), asked);
            advice.with_context(|| format!("{}", path.display()))
        });
        let advice = match advice {
            Ok(advice) => advice,
            Err(error) if named.is_some() => return Err(error),
            Err(_) => return Ok(None),
        };
        let by = printable(&path.display().to_string()).into_owned();
        Ok(self.measured(&advice, machine, &by))
    }

    /// In the words of what was measured.
    fn measured(&self, advice: &DeviceAdvice, machine: &Machine, by: &str) -> Option<Near> {
        let only = || Some(advice.places.iter().map(|it| it.node).collect());
        let nodes = match machine.nodes.len() {
            1 => only(),
            _ => advice.nearest(&self.nodes),
        }?;
        let slowest = advice.places.last().filter(|it| !it.is_as_good);
        let than = match slowest {
            Some(place) => format!(
                " (they take {} times as long from node {})",
                format_significant(place.time_ratio, 3),
                place.node
            ),
            None => " (alike from all)".into(),
        };
        let note = format!(
            "{} is next to {}, by the {} in {by}{than}",
            self.name,
            named("node", &nodes),
            advice.traffic
        );
        Some(Near { nodes, note })
    }
}
