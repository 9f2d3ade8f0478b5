//! The devices that there are, by all interfaces.

use nearfar_machine::{AbsentBackend, Accelerator, Backend};

use crate::instruments::Instruments;
use crate::{cuda, opencl};

/// What all interfaces show.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Devices, by interface in the order of [`Backend::ALL`], then by number. One that two
    /// interfaces show is there twice. Their `nodes` are empty: the interfaces do not know them.
    pub accelerators: Vec<Accelerator>,
    /// Interfaces that show none, each with its reason.
    pub absent: Vec<AbsentBackend>,
}

/// Looks for devices by all interfaces. Each shows some, or is told of as absent.
#[must_use]
pub fn find_accelerators() -> Found {
    find_with(Instruments::installed())
}

/// Looks for the devices of one interface.
///
/// # Errors
///
/// Why it shows none, in a sentence without its full stop.
pub fn find_accelerators_of(backend: Backend) -> Result<Vec<Accelerator>, String> {
    find_of(Instruments::installed(), backend)
}

pub(crate) fn find_with(instruments: &Instruments) -> Found {
    let mut found = Found { accelerators: Vec::new(), absent: Vec::new() };
    for backend in Backend::ALL {
        match find_of(instruments, backend) {
            Ok(devices) => found.accelerators.extend(devices),
            Err(reason) => found.absent.push(AbsentBackend { backend, reason }),
        }
    }
    found
}

fn find_of(instruments: &Instruments, backend: Backend) -> Result<Vec<Accelerator>, String> {
    match backend {
        Backend::Cuda => instruments.cuda.as_ref().map_err(Clone::clone).and_then(cuda::find),
        Backend::Opencl => instruments.opencl.as_ref().map_err(Clone::clone).and_then(opencl::find),
    }
}
