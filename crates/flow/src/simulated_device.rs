//! Devices of a simulated machine, from the keys `device` and `hub` of its file.

use std::collections::BTreeMap;

use nearfar_machine::{Accelerator, Backend, CpuSet, Device, DeviceKind, Link, Machine, NodeSet};
use nearfar_units::excerpt;

use crate::bounds::{self, BadKey, GB_PER_S, GIGA, REMAINDER};
use crate::machine_file::{DeviceEntry, MachineFile};

/// Bounds what a hostile file can ask for: every node meets every device.
const MOST_DEVICES: usize = 64;
/// From a hundredth to far above what any driver takes to begin a copy.
const MICROSECONDS: std::ops::RangeInclusive<f64> = 0.01..=1e6;
/// Where a file does not say it: what a copy costs before its first byte moves.
const LATENCY_US: f64 = 10.0;
/// Where a file does not say it: both ways at once move so much of what each moves alone.
const BOTH_WAYS: f64 = 1.0;

/// A device, and what copies between it and each memory node move when nothing else does.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedDevice {
    /// As an interface shows it.
    pub accelerator: Accelerator,
    /// The index of the initiator that is next to it: links that this one's accesses cross to reach
    /// a node are those that copies cross.
    pub initiator: u32,
    /// The hub that it is on, by its place in [`crate::SimulatedMachine::hubs`].
    pub hub: Option<usize>,
    /// To the device from pinned memory of each node, bytes/s, in the order of the nodes.
    pub to_device: Vec<f64>,
    /// From the device to the same.
    pub to_host: Vec<f64>,
    /// Both ways at once move this part of what both ways move alone together.
    pub both_ways: f64,
    /// Copies of pageable memory move this part of what pinned memory does.
    pub pageable: f64,
    /// What a copy takes beside the time of its bytes, seconds.
    pub latency_s: f64,
}

/// What devices share on their way to memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Hub {
    pub name: String,
    /// What it carries each way, bytes/s.
    pub capacity: f64,
}

/// The hubs, of those with one name the last.
pub(crate) fn hubs(file: &MachineFile) -> Result<Vec<Hub>, BadKey> {
    let mut hubs: Vec<Hub> = Vec::new();
    for (key, entry) in bounds::entries("hub", &file.hub)? {
        bounds::name(&format!("{key}.name"), &entry.name)?;
        let capacity = bounds::gb_per_s(&key, entry.gb_per_s)?;
        let hub = Hub { name: entry.name.clone(), capacity };
        match hubs.iter_mut().find(|known| known.name == hub.name) {
            Some(known) => *known = hub,
            None => hubs.push(hub),
        }
    }
    Ok(hubs)
}

/// The devices, of those with one bus id the last.
pub(crate) fn devices(
    file: &MachineFile,
    machine: &Machine,
    hubs: &[Hub],
) -> Result<Vec<(SimulatedDevice, Device)>, BadKey> {
    let mut last: Vec<(String, &DeviceEntry)> = Vec::new();
    for (key, entry) in bounds::entries("device", &file.device)? {
        bounds::name(&format!("{key}.bus_id"), &entry.bus_id.replace(':', "-"))?;
        match last.iter_mut().find(|(_, known)| known.bus_id == entry.bus_id) {
            Some(known) => *known = (key, entry),
            None => last.push((key, entry)),
        }
    }
    if last.len() > MOST_DEVICES {
        let why = format!("has {} bus ids; at most {MOST_DEVICES}", last.len());
        return Err(BadKey::new("device", why));
    }
    let mut numbers: BTreeMap<Backend, u32> = BTreeMap::new();
    let of_entry = |(key, entry): (String, &DeviceEntry)| {
        let number = numbers.entry(entry.backend.unwrap_or(Backend::Cuda)).or_default();
        *number += 1;
        device(&key, entry, *number - 1, machine, hubs)
    };
    last.into_iter().map(of_entry).collect()
}

fn device(
    key: &str,
    entry: &DeviceEntry,
    number: u32,
    machine: &Machine,
    hubs: &[Hub],
) -> Result<(SimulatedDevice, Device), BadKey> {
    let sub = |name: &str| format!("{key}.{name}");
    bounds::line(&sub("name"), &entry.name)?;
    let nodes: NodeSet = entry.nodes.iter().copied().collect();
    let Some(own) = entry.nodes.first().copied() else {
        return Err(BadKey::new(sub("nodes"), "names no memory node"));
    };
    if let Some(strange) = entry.nodes.iter().find(|&&node| machine.node(node).is_none()) {
        let why = format!("names memory node {strange}, which does not exist");
        return Err(BadKey::new(sub("nodes"), why));
    }
    let initiators = machine.initiators();
    let next_to = initiators.iter().find(|initiator| initiator.memory_nodes.contains(own));
    let Some(initiator) = next_to.map(|initiator| initiator.index) else {
        return Err(BadKey::new(
            sub("nodes"),
            format!("names node {own}, which no cores are next to"),
        ));
    };
    let hub = match &entry.hub {
        None => None,
        Some(name) => Some(hubs.iter().position(|hub| hub.name == *name).ok_or_else(|| {
            let why = format!("is {:?}, and no [[hub]] has that name", excerpt(name));
            BadKey::new(sub("hub"), why)
        })?),
    };
    let backend = entry.backend.unwrap_or(Backend::Cuda);
    let accelerator = Accelerator {
        id: format!("{backend}{number}"),
        backend,
        number,
        name: entry.name.clone(),
        driver: None,
        bus_id: Some(entry.bus_id.clone()),
        memory_bytes: bounds::bytes(&sub("memory"), entry.memory.as_deref())?,
        shares_host_memory: false,
        nodes: nodes.clone(),
    };
    let fraction = |name: &str, value: Option<f64>, default: f64| {
        bounds::number(&sub(name), value.unwrap_or(default), &REMAINDER)
    };
    let latency = entry.latency_us.unwrap_or(LATENCY_US);
    let simulated = SimulatedDevice {
        initiator,
        hub,
        to_device: rates(&sub("to_device"), &entry.to_device, machine)?,
        to_host: rates(&sub("to_host"), &entry.to_host, machine)?,
        both_ways: fraction("both_ways", entry.both_ways, BOTH_WAYS)?,
        pageable: fraction("pageable", entry.pageable, 1.0)?,
        latency_s: bounds::number(&sub("latency_us"), latency, &MICROSECONDS)? * 1e-6,
        accelerator,
    };
    let cpus: CpuSet = initiators
        .iter()
        .filter(|initiator| entry.nodes.iter().any(|&node| initiator.memory_nodes.contains(node)))
        .flat_map(|initiator| initiator.cpus.iter())
        .collect();
    let on_bus = Device {
        bus_id: entry.bus_id.clone(),
        kind: DeviceKind::Accelerator,
        class: Some("3D".into()),
        vendor_device: None,
        name: Some(entry.name.clone()),
        os_names: Vec::new(),
        nodes,
        cpus,
        link: link(&sub("link"), entry.link.as_deref())?,
    };
    Ok((simulated, on_bus))
}

/// One rate for every node, bytes/s.
fn rates(key: &str, given: &[f64], machine: &Machine) -> Result<Vec<f64>, BadKey> {
    let nodes = machine.nodes.len();
    if given.len() != nodes {
        let why = format!("has {} rates; the machine has {nodes} memory nodes", given.len());
        return Err(BadKey::new(key, why));
    }
    given.iter().map(|&rate| Ok(bounds::number(key, rate, &GB_PER_S)? * GIGA)).collect()
}

/// A link by its standard's name; what is not said is not known.
fn link(key: &str, name: Option<&str>) -> Result<Link, BadKey> {
    let found = name.map_or_else(|| Ok(Link::default()), Link::of_standard);
    found.map_err(|why| BadKey::new(key, why.to_string()))
}
