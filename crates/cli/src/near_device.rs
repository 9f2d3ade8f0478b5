//! The memory nodes next to a device, by whatever name it goes by.

use anyhow::{anyhow, bail};
use nearfar_machine::{Device, Machine, NodeSet};

use crate::live_accelerators::live_accelerators;

/// The nodes next to a device: by its PCIe address (`0000:3b:00.0`, or without its domain), by a
/// name that the system has for it (`eth0`, `nvme0n1`), or as an accelerator (`cuda0`, `opencl0`).
pub fn nodes_near_device(machine: &Machine, asked: &str) -> anyhow::Result<NodeSet> {
    let is_asked = |device: &&Device| {
        device.bus_id.eq_ignore_ascii_case(asked)
            || device.bus_id.strip_prefix("0000:").is_some_and(|it| it.eq_ignore_ascii_case(asked))
            || device.os_names.iter().any(|name| name == asked)
    };
    let nodes = match machine.devices.iter().find(is_asked) {
        Some(device) => device.nodes.clone(),
        // Drivers are loaded only where the system itself knows no such name.
        None => accelerator_nodes(machine, asked)?,
    };
    if nodes.is_empty() {
        bail!(
            "the system does not say which memory node {asked} is next to (its numa_node is -1); \
             `nearfar characterize --only devices` measures it, and `nearfar advise --device` tells"
        );
    }
    Ok(nodes)
}

fn accelerator_nodes(machine: &Machine, asked: &str) -> anyhow::Result<NodeSet> {
    let found = live_accelerators(machine).inputs;
    let accelerator = found.accelerators.iter().find(|it| it.id == asked);
    accelerator.map(|it| it.nodes.clone()).ok_or_else(|| {
        let names = machine.devices.iter().map(|device| match device.os_names.first() {
            Some(name) => format!("{name} ({})", device.bus_id),
            None => device.bus_id.clone(),
        });
        let all: Vec<String> =
            names.chain(found.accelerators.iter().map(|it| it.id.clone())).collect();
        let known = if all.is_empty() {
            "this machine shows none".into()
        } else {
            format!("there are {}", all.join(", "))
        };
        anyhow!("there is no device '{asked}'; {known}")
    })
}
