//! Devices as the machine is drawn: at the node that they are next to, with what copies from it reach.

use std::collections::BTreeSet;

use nearfar_machine::{Accelerator, Device, MemoryNode, TransferDirection};
use nearfar_model::{TransferFigures, largest_transfers};
use nearfar_units::{Bytes, excerpt_of};

use super::cache_domains::LINE;
use super::machine::{DrawnLine, INITIATOR_WIDTH, MachineDrawing, line_width};

use crate::figure::{Figure, Unit};
use crate::subject::Sources;
use crate::subject::machine::nearest;

/// A device with the line to it.
pub(super) const DEVICE_HEIGHT: f64 = LINE * 1.5 + 10.0;
/// Letters of a device's name at most.
const MOST_LETTERS: usize = 32;
/// Width of a letter of small text.
const LETTER: f64 = 6.2;
/// Boxes of devices of one node are narrower by this, so that the line of each next one passes.
const DEVICE_STEP: f64 = 22.0;
/// What all of these may take of the width.
const MOST_STEPS: f64 = 88.0;

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
    /// What the largest copies to it from there reach, and how large these are.
    pub copies: Option<(Figure, u64)>,
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
        let rates = largest.iter().filter(is_it);
        let rates = rates.filter_map(|it| Some((it.by_host.as_ref()?, it.place.bytes)));
        let best = rates.max_by(|(one, _), (other, _)| one.sum.median.total_cmp(&other.sum.median));
        best.map(|(rate, bytes)| (Figure::sum(rate), bytes))
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

/// What the lines are; devices only where copies to some were measured.
pub(super) fn caption(devices: &[DrawnDevice]) -> String {
    let sizes = devices.iter().filter_map(|device| Some(device.copies.as_ref()?.1));
    let sizes: BTreeSet<u64> = sizes.collect();
    let of_devices = match (sizes.first(), sizes.last()) {
        (Some(&least), Some(&most)) => {
            let size = match least == most {
                true => format!("{} each", Bytes(most)),
                false => format!("{} to {} each", Bytes(least), Bytes(most)),
            };
            format!(
                " At a device: the best of the largest copies to it from the node that it stands at, {size}."
            )
        }
        _ => String::new(),
    };
    format!(
        "Lines are as wide as the bandwidth written beside them: the best of any kernel and number of \
         threads between an initiator and its own memory (where its cores or groups of cores were \
         measured, of the best of them), and of all cores of a package on the memory of another.{of_devices}"
    )
}

/// Where a device's box ends beside the lines to those below it.
struct DeviceSides {
    step: f64,
    /// Devices below whose lines pass on either side.
    left: usize,
    right: usize,
    /// On which side its own line is.
    is_right: bool,
}

impl MachineDrawing {
    /// Devices below the memory of an initiator, whose nodes stand two in a row.
    pub(super) fn own_devices(
        &mut self,
        devices: Vec<&DrawnDevice>,
        nodes: &[&MemoryNode],
        [x, y]: [f64; 2],
        scale: f64,
    ) {
        // Lines go down along the side of their node.
        let is_right = |device: &DrawnDevice| {
            nodes.iter().position(|node| device.node == Some(node.os_index)).unwrap_or(0) % 2 == 1
        };
        for (position, device) in devices.iter().enumerate() {
            let later = devices.iter().skip(position + 1);
            let right = later.clone().filter(|it| is_right(it)).count();
            let sides = DeviceSides {
                step: DEVICE_STEP.min(MOST_STEPS / devices.len() as f64),
                left: later.count() - right,
                right,
                is_right: is_right(device),
            };
            let top = y + position as f64 * DEVICE_HEIGHT;
            self.own_device(device, [x, top], y - 6.0, &sides, scale);
        }
    }

    /// A device below the memory that it is next to, and the line to it from there.
    fn own_device(
        &mut self,
        device: &DrawnDevice,
        [x, y]: [f64; 2],
        memory: f64,
        sides: &DeviceSides,
        scale: f64,
    ) {
        let top = y + 8.0;
        let left = x + 6.0 + sides.left as f64 * sides.step;
        let right = x + INITIATOR_WIDTH - 8.0 - sides.right as f64 * sides.step;
        let middle =
            if sides.is_right { right - sides.step / 2.0 } else { left + sides.step / 2.0 };
        let copies = device.copies.as_ref().map(|(rate, _)| rate);
        let words = device
            .copies
            .as_ref()
            .map(|(rate, bytes)| format!("copies of {} to it {}", Bytes(*bytes), rate.words()));
        let title = words.unwrap_or_else(|| "copies to it were not measured".into());
        let width = copies.map_or(1.0, |it| line_width(it.value, scale)).min(sides.step - 2.0);
        self.add_line(DrawnLine { x1: middle, y1: memory, x2: middle, y2: top, width, title });
        self.add_box("device", [left, top, right - left, LINE * 1.5], device.title.clone());
        let rate = copies.map(|it| format!(", {} {}", it.text, it.unit.as_str()));
        let rate = rate.unwrap_or_default();
        // With the dots of a name that is cut.
        let fits =
            |letters: &usize| (letters + rate.len() + 3) as f64 * LETTER <= right - left - 12.0;
        let letters = (0..MOST_LETTERS).rev().find(fits).unwrap_or(0);
        let label = excerpt_of(&device.label, letters);
        self.add_text("small", left + 6.0, top + LINE, format!("{label}{rate}"));
    }
}
