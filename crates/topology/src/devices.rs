//! PCI devices with what hwloc knows about them: class, names, nearest nodes.

use hwlocality::object::TopologyObject;
use hwlocality::object::attributes::{ObjectAttributes, PCIDeviceAttributes};
use hwlocality::object::types::ObjectType;
use nearfar_machine::{CpuSet, Device, DeviceKind, Link, NodeSet};

use crate::error::TopologyError;
use crate::hwloc::{Walk, info};

/// The devices that hwloc keeps as important, by bus id.
pub(crate) fn list(walk: &mut Walk<'_>) -> Result<Vec<Device>, TopologyError> {
    let mut devices = Vec::new();
    let mut unplaced = Vec::new();
    for object in walk.topology.pci_devices() {
        let Some(ObjectAttributes::PCIDevice(attributes)) = object.attributes() else {
            continue;
        };
        let (near_nodes, near_cpus) = nearest(object, walk)?;
        let bus_id = bus_id(attributes);
        if near_nodes.is_empty() {
            unplaced.push(bus_id.clone());
        }
        devices.push(Device {
            kind: kind(attributes.class_id()),
            class: class(attributes.class_id()).map(Into::into),
            vendor_device: vendor_device(attributes),
            name: product(object),
            os_names: os_names(object),
            nodes: near_nodes,
            cpus: near_cpus,
            link: Link { bytes_per_s: link_bytes_per_s(attributes), ..Link::default() },
            bus_id,
        });
    }
    walk.notes.extend(unplaced_note(&unplaced));
    devices.sort_by(|one, other| one.bus_id.cmp(&other.bus_id));
    Ok(devices)
}

/// What [`unplaced_note`] begins with.
pub(crate) const UNPLACED: &str = "the nearest node is not known of the devices";

/// The note on devices whose nearest node is not known; `None` for none.
pub(crate) fn unplaced_note<Text: std::borrow::Borrow<str>>(bus_ids: &[Text]) -> Option<String> {
    (!bus_ids.is_empty())
        .then(|| format!("{UNPLACED} {}: they hang off the whole machine", bus_ids.join(", ")))
}

fn bus_id(attributes: &PCIDeviceAttributes) -> String {
    format!(
        "{:04x}:{:02x}:{:02x}.{:x}",
        attributes.domain(),
        attributes.bus_id(),
        attributes.bus_device(),
        attributes.function()
    )
}

/// Vendor 0 and 0xffff are not assigned: the file did not say.
fn vendor_device(attributes: &PCIDeviceAttributes) -> Option<String> {
    let vendor = attributes.vendor_id();
    (vendor != 0 && vendor != 0xffff)
        .then(|| format!("{vendor:04x}:{:04x}", attributes.device_id()))
}

fn product(object: &TopologyObject) -> Option<String> {
    match (info(object, "PCIVendor"), info(object, "PCIDevice")) {
        (Some(vendor), Some(device)) => Some(format!("{vendor} {device}")),
        (vendor, device) => device.or(vendor),
    }
}

/// hwloc gives GB/s each way (1e9, after encoding), 0 where it does not know.
fn link_bytes_per_s(attributes: &PCIDeviceAttributes) -> Option<f64> {
    let speed = f64::from(attributes.link_speed());
    (speed.is_finite() && speed > 0.0).then_some(speed * 1e9)
}

/// The operating system's devices on a PCI device, down to the next PCI device.
fn os_names(object: &TopologyObject) -> Vec<String> {
    let mut names = Vec::new();
    for child in object.io_children().filter(|child| child.object_type() == ObjectType::OSDevice) {
        names.extend(child.name().map(|name| name.to_string_lossy().into_owned()));
        names.extend(os_names(child));
    }
    names
}

/// The nodes and CPUs of the object that the device hangs off. The root of a
/// machine with several localities says nothing: hwloc puts a device there when
/// the system does not say where it is, or names a node without CPUs.
fn nearest(object: &TopologyObject, walk: &Walk<'_>) -> Result<(NodeSet, CpuSet), TopologyError> {
    let Some(place) = object.first_non_io_ancestor() else {
        return Ok((NodeSet::new(), CpuSet::new()));
    };
    let several = walk.nodes.windows(2).any(|pair| pair[0].locality != pair[1].locality);
    if several && place.object_type() == ObjectType::Machine {
        return Ok((NodeSet::new(), CpuSet::new()));
    }
    let known: NodeSet = walk.nodes.iter().map(|node| node.os_index).collect();
    let near = match place.nodeset() {
        Some(set) => walk.members::<_>(set.as_ref(), "nodeset")?.intersection(&known),
        None => NodeSet::new(),
    };
    Ok((near, walk.cpus_of(place)?))
}

/// Base class and subclass to kind (PCI Code and ID Assignment, section 1).
fn kind(class: u16) -> DeviceKind {
    match (class >> 8, class) {
        (0x01, _) | (_, 0x0c04) => DeviceKind::Storage,
        (0x02, _) | (_, 0x0c06 | 0x0c08) => DeviceKind::Network,
        (0x03 | 0x12, _) | (_, 0x0b40) => DeviceKind::Accelerator,
        _ => DeviceKind::Other,
    }
}

/// The class in words, as `lstopo` has them; `None` for classes without one here.
fn class(class: u16) -> Option<&'static str> {
    Some(match class {
        0x0100 => "SCSI",
        0x0101 => "IDE",
        0x0104 => "RAID",
        0x0105 => "ATA",
        0x0106 => "SATA",
        0x0107 => "SAS",
        0x0108 => "NVMe",
        0x0180 => "Storage",
        0x0200 => "Ethernet",
        0x0207 | 0x0c06 => "InfiniBand",
        0x0208 | 0x0c08 => "Fabric",
        0x0280 => "Network",
        0x0300 => "VGA",
        0x0302 => "3D",
        0x0380 => "Display",
        0x0500 => "RAM",
        0x0502 => "CXLMem",
        0x0580 => "Memory",
        0x0680 => "Bridge",
        0x0b40 => "Co-Processor",
        0x0c04 => "FibreChannel",
        0x1200 => "Processing accelerator",
        _ => return None,
    })
}
