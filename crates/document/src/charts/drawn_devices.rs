//! Devices as the machine is drawn: at the node that they are next to, with what copies from it reach.

use nearfar_machine::{Accelerator, Device, TransferDirection};
use nearfar_model::{TransferFigures, largest_transfers};

use crate::figure::{Figure, Unit};
use crate::subject::Sources;
use crate::subject::machine::nearest;

/// Devices that are drawn of a machine; the table has all.
const MOST: usize = 24;

/// A device.
pub(super) struct DrawnDevice {
    /// In a few words.
    pub label: String,
    /// What hovering shows.
    pub title: String,
    /// The node that it is next to, where that is one.
    pub node: Option<u32>,
    /// What the largest copies to it from there reach.
    pub copies: Option<Figure>,
}

pub(super) fn drawn_devices(sources: &Sources<'_>) -> Vec<DrawnDevice> {
    let inputs = sources.record.header.inputs.devices.as_ref();
    let accelerators = inputs.map_or(&[][..], |inputs| &inputs.accelerators);
    let devices = &sources.topo.machine.devices;
    let largest = largest_transfers(&sources.show.devices);
    let copies = |id: &str, node: Option<u32>| {
        let is_it = |it: &&&TransferFigures| {
            it.place.device == id
                && it.place.memory_node == node
                && it.place.direction == TransferDirection::ToDevice
        };
        let rates = largest.iter().filter(is_it).filter_map(|it| it.by_host.as_ref());
        let best = rates.max_by(|one, other| one.sum.median.total_cmp(&other.sum.median));
        best.map(Figure::sum)
    };
    let of_device = |device: &Device| {
        let shown = accelerators.iter().find(|it| it.bus_id.as_ref() == Some(&device.bus_id));
        let node = nearest(device);
        let named = shown.map(|it| it.id.clone()).or_else(|| device.os_names.first().cloned());
        let what = device.name.as_ref().or(device.class.as_ref());
        let what = what.map_or("unknown device", String::as_str);
        let near = node.map_or_else(String::new, |node| format!(", at node {node}"));
        let link = device.link.bytes_per_s.map_or_else(String::new, |it| {
            format!(", {} by its link", Figure::new(it / 1e9, None, Unit::GbPerS).words())
        });
        DrawnDevice {
            label: named.unwrap_or_else(|| what.to_string()),
            title: format!("{}: {what}{near}{link}", device.bus_id),
            node,
            copies: shown.and_then(|it| copies(&it.id, node)),
        }
    };
    // Of those that are on no PCIe only the interface tells.
    let is_apart = |it: &&Accelerator| {
        !devices.iter().any(|device| it.bus_id.as_ref() == Some(&device.bus_id))
    };
    let of_interface = |it: &Accelerator| {
        let node = it.nodes.first().filter(|_| it.nodes.len() == 1);
        let near = node.map_or_else(String::new, |node| format!(", at node {node}"));
        DrawnDevice {
            label: it.id.clone(),
            title: format!("{}: {}{near}", it.id, it.name),
            node,
            copies: copies(&it.id, node),
        }
    };
    let apart = accelerators.iter().filter(is_apart).map(of_interface);
    devices.iter().map(of_device).chain(apart).take(MOST).collect()
}
