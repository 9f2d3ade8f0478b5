//! The devices that a driver shows.

use std::ffi::c_char;
use std::fs;

use nearfar_machine::{Accelerator, Backend, NodeSet};

use super::calls::SUCCESS;
use super::driver::{Driver, Refusal, succeeded};
use super::error_name::{INVALID_DEVICE, NO_DEVICE, STUB_LIBRARY, sentence};
use crate::bus_id::normalized_bus_id;
use crate::found::NoDevices;
use crate::library::text_of;

/// Where NVIDIA's kernel module says which one it is.
const NVIDIA_MODULE: &str = "/proc/driver/nvidia/version";
/// Where AMD's says it, if it is not of the kernel's own source.
const AMD_MODULE: &str = "/sys/module/amdgpu/version";

/// All devices.
pub(crate) fn find(driver: &Driver) -> Result<Vec<Accelerator>, NoDevices> {
    start(driver)?;
    let device_count = driver.calls.device_count;
    let mut count = 0;
    // SAFETY: `count` has room for the number.
    let code = unsafe { (device_count.function)(&raw mut count) };
    succeeded(device_count.symbol, code).map_err(|refusal| silence(driver, refusal))?;
    let count = u32::try_from(count).unwrap_or(0);
    if count == 0 {
        return Err(NoDevices::absent(format!("{} shows no device", driver.words())));
    }
    let version = version(driver);
    (0..count).map(|number| accelerator(driver, number, version.clone())).collect()
}

/// Starts the driver. Once more does nothing.
pub(super) fn start(driver: &Driver) -> Result<(), NoDevices> {
    let init = driver.calls.init;
    // SAFETY: no argument but the flags, which must be 0.
    let code = unsafe { (init.function)(0) };
    succeeded(init.symbol, code).map_err(|refusal| silence(driver, refusal))
}

/// Why a driver that refuses a call shows no device.
fn silence(driver: &Driver, refusal: Refusal) -> NoDevices {
    let who = driver.words();
    match (driver.backend(), refusal.code) {
        // HIP's runtime starts by its first device.
        (_, NO_DEVICE) | (Backend::Hip, INVALID_DEVICE) => NoDevices::absent(format!(
            "{who} shows no device ({})",
            driver.error_name(refusal.code)
        )),
        (Backend::Cuda, STUB_LIBRARY) => NoDevices::absent(
            "libcuda.so.1 is a toolkit's stub, which stands for a driver where programs are built",
        ),
        _ => {
            NoDevices::broken(format!("{who} does not start: {}", sentence(driver, refusal, None)))
        }
    }
}

/// The driver's handle of the device of this number.
pub(super) fn device(driver: &Driver, number: u32) -> Result<i32, Refusal> {
    let ask = driver.calls.device;
    let mut device = 0;
    let number = i32::try_from(number).unwrap_or(i32::MAX);
    // SAFETY: `device` has room for the handle.
    let code = unsafe { (ask.function)(&raw mut device, number) };
    succeeded(ask.symbol, code).map(|()| device)
}

fn accelerator(
    driver: &Driver,
    number: u32,
    version: Option<String>,
) -> Result<Accelerator, NoDevices> {
    let calls = &driver.calls;
    let device = device(driver, number).map_err(|refusal| silence(driver, refusal))?;
    let name = text(|into, room| {
        // SAFETY: a device of the driver; `into` has as much room as is said.
        unsafe { (calls.device_name.function)(into, room, device) }
    });
    let bus_id = text(|into, room| {
        // SAFETY: as above.
        unsafe { (calls.device_bus_id.function)(into, room, device) }
    });
    let (attribute, mut integrated) = (driver.attribute_integrated(), 0);
    // SAFETY: a device of the driver; `integrated` has room for the answer.
    let told = unsafe { (calls.device_attribute.function)(&raw mut integrated, attribute, device) };
    let mut bytes = 0usize;
    // SAFETY: a device of the driver; `bytes` has room for the answer.
    let sized = unsafe { (calls.device_memory.function)(&raw mut bytes, device) };
    let backend = driver.backend();
    Ok(Accelerator {
        id: format!("{backend}{number}"),
        backend,
        number,
        name: name.unwrap_or_default(),
        driver: version,
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

/// `NVIDIA 535.104.05, CUDA 12.2`, `AMD 6.8.5, HIP 6.2.41134`, or what of it is known.
fn version(driver: &Driver) -> Option<String> {
    let mut number = 0;
    // SAFETY: `number` has room for the answer.
    let code = unsafe { (driver.calls.version.function)(&raw mut number) };
    let number = (code == SUCCESS && number > 0).then_some(number);
    let (module, interface) = match driver.backend() {
        Backend::Hip => {
            let module = fs::read_to_string(AMD_MODULE).ok();
            (module.map(|text| format!("AMD {}", text.trim())), number.map(hip_version))
        }
        _ => {
            let module = fs::read_to_string(NVIDIA_MODULE).ok();
            (module.and_then(|text| kernel_module(&text)), number.map(cuda_version))
        }
    };
    let parts: Vec<String> = module.into_iter().chain(interface).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// CUDA's version from its number, 1000 x major + 10 x minor.
fn cuda_version(number: i32) -> String {
    format!("CUDA {}.{}", number / 1000, number % 1000 / 10)
}

/// HIP's version from its number, 10 000 000 x major + 100 000 x minor + patch (hip_version.h).
fn hip_version(number: i32) -> String {
    let (major, minor, patch) = (number / 10_000_000, number / 100_000 % 100, number % 100_000);
    format!("HIP {major}.{minor}.{patch}")
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
        assert_eq!(cuda_version(12080), "CUDA 12.8");
        assert_eq!(cuda_version(13000), "CUDA 13.0");
        assert_eq!(hip_version(50_221_153), "HIP 5.2.21153");
        assert_eq!(hip_version(60_241_134), "HIP 6.2.41134");
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
