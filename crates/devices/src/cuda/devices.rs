//! The devices that CUDA's driver shows.

use std::ffi::c_char;
use std::fs;

use nearfar_machine::{Accelerator, Backend, NodeSet};

use super::error_name::{NO_DEVICE, STUB_LIBRARY, error_name};
use super::functions::{ATTRIBUTE_INTEGRATED, Functions, SUCCESS};
use crate::bus_id::normalized_bus_id;
use crate::found::NoDevices;
use crate::library::text_of;

/// Where NVIDIA's kernel module says which one it is.
const KERNEL_MODULE: &str = "/proc/driver/nvidia/version";

/// All devices.
pub(crate) fn find(functions: &Functions) -> Result<Vec<Accelerator>, NoDevices> {
    start(functions)?;
    let mut count = 0;
    // SAFETY: `count` has room for the number.
    let code = unsafe { (functions.device_count)(&raw mut count) };
    if code != SUCCESS {
        return Err(refused(functions, "cuDeviceGetCount", code));
    }
    let count = u32::try_from(count).unwrap_or(0);
    if count == 0 {
        return Err(NoDevices::absent("NVIDIA's driver shows no device"));
    }
    let driver = driver(functions);
    (0..count).map(|number| accelerator(functions, number, driver.clone())).collect()
}

/// Starts the driver. Once more does nothing.
pub(super) fn start(functions: &Functions) -> Result<(), NoDevices> {
    // SAFETY: no argument but the flags, which must be 0.
    match unsafe { (functions.init)(0) } {
        SUCCESS => Ok(()),
        NO_DEVICE => Err(NoDevices::absent(format!(
            "NVIDIA's driver shows no device ({})",
            error_name(functions, NO_DEVICE)
        ))),
        STUB_LIBRARY => Err(NoDevices::absent(
            "libcuda.so.1 is a toolkit's stub, which stands for a driver where programs are built",
        )),
        code => Err(refused(functions, "cuInit", code)),
    }
}

fn refused(functions: &Functions, call: &str, code: i32) -> NoDevices {
    let name = error_name(functions, code);
    NoDevices::broken(format!("NVIDIA's driver does not start: {call} failed: {name}"))
}

/// The driver's handle of the device of this number.
pub(super) fn device(functions: &Functions, number: u32) -> Result<i32, i32> {
    let mut device = 0;
    let number = i32::try_from(number).unwrap_or(i32::MAX);
    // SAFETY: `device` has room for the handle.
    let code = unsafe { (functions.device)(&raw mut device, number) };
    if code == SUCCESS { Ok(device) } else { Err(code) }
}

fn accelerator(
    functions: &Functions,
    number: u32,
    driver: Option<String>,
) -> Result<Accelerator, NoDevices> {
    let device =
        device(functions, number).map_err(|code| refused(functions, "cuDeviceGet", code))?;
    let name = text(|into, room| {
        // SAFETY: a device of the driver; `into` has as much room as is said.
        unsafe { (functions.device_name)(into, room, device) }
    });
    let bus_id = text(|into, room| {
        // SAFETY: as above.
        unsafe { (functions.device_bus_id)(into, room, device) }
    });
    let mut integrated = 0;
    // SAFETY: a device of the driver; `integrated` has room for the answer.
    let told =
        unsafe { (functions.device_attribute)(&raw mut integrated, ATTRIBUTE_INTEGRATED, device) };
    let mut bytes = 0usize;
    // SAFETY: a device of the driver; `bytes` has room for the answer.
    let sized = unsafe { (functions.device_memory)(&raw mut bytes, device) };
    Ok(Accelerator {
        id: format!("{}{number}", Backend::Cuda),
        backend: Backend::Cuda,
        number,
        name: name.unwrap_or_default(),
        driver,
        bus_id: bus_id.and_then(|text| normalized_bus_id(&text)),
        memory_bytes: (sized == SUCCESS).then_some(bytes as u64),
        shares_host_memory: told == SUCCESS && integrated != 0,
        nodes: NodeSet::new(),
    })
}

fn text(ask: impl Fn(*mut c_char, i32) -> i32) -> Option<String> {
    const ROOM: i32 = 256;
    let mut written = [0; ROOM as usize];
    let code = ask(written.as_mut_ptr(), ROOM);
    (code == SUCCESS).then(|| text_of(&written)).filter(|text| !text.is_empty())
}

/// `NVIDIA 535.104.05, CUDA 12.2`, or what of it is known.
fn driver(functions: &Functions) -> Option<String> {
    let mut version = 0;
    // SAFETY: `version` has room for the number.
    let code = unsafe { (functions.driver_version)(&raw mut version) };
    let interface = (code == SUCCESS).then(|| interface_version(version)).flatten();
    let module = fs::read_to_string(KERNEL_MODULE).ok();
    let module = module.and_then(|text| kernel_module(&text));
    let parts: Vec<String> = module.into_iter().chain(interface).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// CUDA's version from its number, 1000 x major + 10 x minor.
fn interface_version(number: i32) -> Option<String> {
    (number > 0).then(|| format!("CUDA {}.{}", number / 1000, number % 1000 / 10))
}

/// The version of NVIDIA's kernel module, which its text names after the word Module or, of the
/// open one, after the architecture.
fn kernel_module(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("NVRM version:"))?;
    let is_version = |word: &&str| {
        let parts: Vec<&str> = word.split('.').collect();
        (2..=3).contains(&parts.len())
            && parts
                .iter()
                .all(|part| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit()))
    };
    line.split_whitespace().find(is_version).map(|version| format!("NVIDIA {version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drivers_version_is_read() {
        assert_eq!(interface_version(12080).as_deref(), Some("CUDA 12.8"));
        assert_eq!(interface_version(13000).as_deref(), Some("CUDA 13.0"));
        assert_eq!(interface_version(0), None);
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\nGCC version:  gcc version 12.3.0\n";
        assert_eq!(kernel_module(closed).as_deref(), Some("NVIDIA 535.104.05"));
        let open =
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n";
        assert_eq!(kernel_module(open).as_deref(), Some("NVIDIA 570.86.15"));
        for text in ["", "GCC version: 12.3.0", "NVRM version: none"] {
            assert_eq!(kernel_module(text), None, "{text}");
        }
    }
}
