//! The devices that there are, by all interfaces.

use nearfar_machine::{AbsentBackend, Accelerator, Backend};

use crate::instruments::{Instruments, Interface};
use crate::{opencl, streams};

/// What all interfaces show.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Devices, by interface in the order of [`Backend::ALL`], then by number. One that two
    /// interfaces show is there twice. Their `nodes` are empty: the interfaces do not know them.
    pub accelerators: Vec<Accelerator>,
    /// Interfaces that show none, each with its reason.
    pub absent: Vec<AbsentBackend>,
    /// Of these, the ones whose driver is there and fails.
    pub broken: Vec<Backend>,
}

/// Why an interface shows no device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoDevices {
    /// In a sentence without its full stop.
    pub reason: String,
    /// Whether its driver is there and fails; else there is no driver, or none of its devices.
    pub is_broken: bool,
}

impl NoDevices {
    pub(crate) fn absent(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_broken: false }
    }

    pub(crate) fn broken(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_broken: true }
    }
}

/// Looks for devices by all interfaces. Each shows some, or is told of as absent.
pub fn find_accelerators() -> Found {
    find_with(Instruments::installed())
}

/// Looks for the devices of one interface.
///
/// # Errors
///
/// Why it shows none.
pub fn find_accelerators_of(backend: Backend) -> Result<Vec<Accelerator>, NoDevices> {
    find_of(Instruments::installed(), backend)
}

pub(crate) fn find_with(instruments: &Instruments) -> Found {
    let mut found = Found { accelerators: Vec::new(), absent: Vec::new(), broken: Vec::new() };
    for backend in Backend::ALL {
        match find_of(instruments, backend) {
            Ok(devices) => found.accelerators.extend(devices),
            Err(NoDevices { reason, is_broken }) => {
                found.absent.push(AbsentBackend { backend, reason });
                found.broken.extend(is_broken.then_some(backend));
            }
        }
    }
    found
}

pub(crate) fn find_of(
    instruments: &Instruments,
    backend: Backend,
) -> Result<Vec<Accelerator>, NoDevices> {
    match instruments.of(backend) {
        Interface::Streams(driver) => driver.as_ref().map_err(Clone::clone).and_then(streams::find),
        Interface::Opencl(functions) => {
            functions.as_ref().map_err(Clone::clone).and_then(opencl::find)
        }
    }
}
