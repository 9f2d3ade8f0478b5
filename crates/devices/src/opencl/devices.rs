//! The devices that OpenCL's platforms show.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use nearfar_machine::{Accelerator, Backend, NodeSet};

use super::error_name::{DEVICE_NOT_FOUND, PLATFORM_NOT_FOUND_KHR, error_name};
use super::functions::{
    DEVICE_AVAILABLE, DEVICE_DOUBLE_FP_CONFIG, DEVICE_GLOBAL_MEM_SIZE, DEVICE_HOST_UNIFIED_MEMORY,
    DEVICE_MAX_MEM_ALLOC_SIZE, DEVICE_MAX_WORK_GROUP_SIZE, DEVICE_NAME, DEVICE_PCI_BUS_ID_NV,
    DEVICE_PCI_BUS_INFO_KHR, DEVICE_PCI_DOMAIN_ID_NV, DEVICE_PCI_SLOT_ID_NV, DEVICE_TOPOLOGY_AMD,
    DEVICE_TOPOLOGY_TYPE_PCIE_AMD, DEVICE_TYPE, DEVICE_TYPE_ALL, DEVICE_TYPE_CPU, DRIVER_VERSION,
    Functions, Handle, PLATFORM_NAME, SUCCESS,
};
use crate::bus_id::bus_id;
use crate::found::NoDevices;
use crate::library::text_of;

/// More of anything is no answer.
const MOST: u32 = 4096;

/// A device and the platform that shows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) platform: Handle,
    pub(super) device: Handle,
}

/// All devices that can be used, numbered through over the platforms.
pub(crate) fn find(functions: &Functions) -> Result<Vec<Accelerator>, NoDevices> {
    let places = places(functions)?;
    let numbered = (0..).zip(&places);
    Ok(numbered.map(|(number, place)| accelerator(functions, number, place)).collect())
}

/// Where all devices that can be used are, in the order of their numbers.
pub(super) fn places(functions: &Functions) -> Result<Vec<Place>, NoDevices> {
    // Drivers start at the first question. PoCL 3.1 shows no device to a second thread that asks
    // in the meantime.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found = Vec::new();
    let (mut unusable, mut is_broken) = (Vec::new(), false);
    for platform in platforms(functions)? {
        let name = || platform_name(functions, platform);
        match devices(functions, platform) {
            Ok(devices) => {
                for device in devices {
                    // One that does not say is tried.
                    if word(functions, device, DEVICE_AVAILABLE) == Some(0) {
                        unusable.push(format!("{} has a device that is not available", name()));
                        is_broken = true;
                    } else {
                        found.push(Place { platform, device });
                    }
                }
            }
            Err(DEVICE_NOT_FOUND) => unusable.push(format!("{} has no device", name())),
            Err(code) => {
                is_broken = true;
                unusable.push(format!(
                    "{} does not list its devices: {}",
                    name(),
                    error_name(code)
                ));
            }
        }
    }
    if found.is_empty() {
        let reason = format!("no platform of OpenCL has a device to use: {}", unusable.join(", "));
        return Err(NoDevices { reason, is_broken });
    }
    Ok(found)
}

fn platforms(functions: &Functions) -> Result<Vec<Handle>, NoDevices> {
    let none = |code| {
        let advice = "; a driver names itself in a file in /etc/OpenCL/vendors";
        let advice = if code == PLATFORM_NOT_FOUND_KHR { advice } else { "" };
        let reason = format!("OpenCL's loader finds no platform ({}){advice}", error_name(code));
        NoDevices { reason, is_broken: code != PLATFORM_NOT_FOUND_KHR }
    };
    listed(|count, list, there| {
        // SAFETY: the list has room for as many as are asked for, or is null where none are.
        unsafe { (functions.get_platform_ids)(count, list, there) }
    })
    .and_then(|all| if all.is_empty() { Err(PLATFORM_NOT_FOUND_KHR) } else { Ok(all) })
    .map_err(none)
}

fn devices(functions: &Functions, platform: Handle) -> Result<Vec<Handle>, i32> {
    listed(|count, list, there| {
        // SAFETY: the platform is one that the loader listed; the list as for platforms.
        unsafe { (functions.get_device_ids)(platform, DEVICE_TYPE_ALL, count, list, there) }
    })
}

/// Asks how many there are, then for all of them.
fn listed(ask: impl Fn(u32, *mut Handle, *mut u32) -> i32) -> Result<Vec<Handle>, i32> {
    let mut count = 0;
    let code = ask(0, ptr::null_mut(), &raw mut count);
    if code != SUCCESS {
        return Err(code);
    }
    let room = count.min(MOST);
    let mut list = vec![ptr::null_mut(); room as usize];
    if room > 0 {
        let code = ask(room, list.as_mut_ptr(), ptr::null_mut());
        if code != SUCCESS {
            return Err(code);
        }
    }
    list.retain(|handle| !handle.is_null());
    Ok(list)
}

fn accelerator(functions: &Functions, number: u32, place: &Place) -> Accelerator {
    let device = place.device;
    let kind = long(functions, device, DEVICE_TYPE);
    let unified = word(functions, device, DEVICE_HOST_UNIFIED_MEMORY);
    let driver = device_text(functions, device, DRIVER_VERSION)
        .map(|version| format!("{} {version}", platform_name(functions, place.platform)));
    Accelerator {
        id: format!("{}{number}", Backend::Opencl),
        backend: Backend::Opencl,
        number,
        name: device_text(functions, device, DEVICE_NAME).unwrap_or_default(),
        driver,
        bus_id: pci_address(functions, device),
        memory_bytes: long(functions, device, DEVICE_GLOBAL_MEM_SIZE),
        shares_host_memory: kind.is_some_and(|kind| kind & DEVICE_TYPE_CPU != 0)
            || unified.is_some_and(|unified| unified != 0),
        nodes: NodeSet::new(),
    }
}

/// Whether it computes in double precision.
pub(super) fn has_double(functions: &Functions, device: Handle) -> bool {
    long(functions, device, DEVICE_DOUBLE_FP_CONFIG).is_some_and(|config| config != 0)
}

/// The most bytes that one memory of it may have; `None` where it does not say.
pub(super) fn most_bytes_of_buffer(functions: &Functions, device: Handle) -> Option<u64> {
    long(functions, device, DEVICE_MAX_MEM_ALLOC_SIZE)
}

/// The most items that a group may have; `None` where it does not say.
pub(super) fn most_items_of_group(functions: &Functions, device: Handle) -> Option<u64> {
    long(functions, device, DEVICE_MAX_WORK_GROUP_SIZE)
}

/// Its PCIe address, by the first of the three extensions that tell it.
fn pci_address(functions: &Functions, device: Handle) -> Option<String> {
    let word = |what| word(functions, device, what);
    khronos_address(functions, device)
        .or_else(|| {
            // The slot's parts are not documented; hwloc reads them so (hwloc/opencl.h).
            let slot = word(DEVICE_PCI_SLOT_ID_NV)?;
            let domain = word(DEVICE_PCI_DOMAIN_ID_NV).unwrap_or(0);
            bus_id(domain, word(DEVICE_PCI_BUS_ID_NV)? & 0xff, slot >> 3, slot & 7)
        })
        .or_else(|| {
            let topology: [u8; 24] = answer(functions, device, DEVICE_TOPOLOGY_AMD)?;
            let [a, b, c, d, .., bus, device, function] = topology;
            let kind = u32::from_ne_bytes([a, b, c, d]);
            // It does not tell the domain.
            (kind == DEVICE_TOPOLOGY_TYPE_PCIE_AMD)
                .then(|| bus_id(0, bus.into(), device.into(), function.into()))?
        })
}

fn khronos_address(functions: &Functions, device: Handle) -> Option<String> {
    let address: [u8; 16] = answer(functions, device, DEVICE_PCI_BUS_INFO_KHR)?;
    let mut words =
        address.chunks_exact(4).map(|word| <[u8; 4]>::try_from(word).map_or(0, u32::from_ne_bytes));
    bus_id(words.next()?, words.next()?, words.next()?, words.next()?)
}

fn word(functions: &Functions, device: Handle, what: u32) -> Option<u32> {
    answer(functions, device, what).map(u32::from_ne_bytes)
}

fn long(functions: &Functions, device: Handle, what: u32) -> Option<u64> {
    answer(functions, device, what).map(u64::from_ne_bytes)
}

/// What a device answers, where the answer has this length.
fn answer<const LENGTH: usize>(
    functions: &Functions,
    device: Handle,
    what: u32,
) -> Option<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    let mut length = 0;
    let into: *mut c_void = bytes.as_mut_ptr().cast();
    // SAFETY: the device is one that a platform listed, and `into` has LENGTH bytes.
    let code = unsafe { (functions.get_device_info)(device, what, LENGTH, into, &raw mut length) };
    (code == SUCCESS && length == LENGTH).then_some(bytes)
}

fn device_text(functions: &Functions, device: Handle, what: u32) -> Option<String> {
    text(|room, into, length| {
        // SAFETY: the device is one that a platform listed; `into` has the room that is named.
        unsafe { (functions.get_device_info)(device, what, room, into, length) }
    })
}

fn platform_name(functions: &Functions, platform: Handle) -> String {
    text(|room, into, length| {
        // SAFETY: the platform is one that the loader listed; the room as for devices.
        unsafe { (functions.get_platform_info)(platform, PLATFORM_NAME, room, into, length) }
    })
    .unwrap_or_else(|| "a platform without a name".into())
}

fn text(ask: impl Fn(usize, *mut c_void, *mut usize) -> i32) -> Option<String> {
    let mut length = 0;
    if ask(0, ptr::null_mut(), &raw mut length) != SUCCESS || length > MOST as usize {
        return None;
    }
    let mut written = vec![0; length];
    let code = ask(length, written.as_mut_ptr().cast(), ptr::null_mut());
    (code == SUCCESS).then(|| text_of(&written)).filter(|text| !text.is_empty())
}
