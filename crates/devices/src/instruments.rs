//! What transfers are made with.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use libloading::Library;
use nearfar_machine::{Accelerator, Backend};

use crate::found::NoDevices;
use crate::library::load;
use crate::{opencl, streams};

/// The interfaces' functions, or why there are none. A test plants lies here, by putting functions of
/// its own into a table.
pub(crate) struct Instruments {
    pub(crate) cuda: Result<streams::Driver, NoDevices>,
    pub(crate) hip: Result<streams::Driver, NoDevices>,
    pub(crate) opencl: Result<opencl::Functions, NoDevices>,
}

/// The functions of one interface.
pub(crate) enum Interface<'a> {
    Streams(&'a Result<streams::Driver, NoDevices>),
    Opencl(&'a Result<opencl::Functions, NoDevices>),
}

impl Instruments {
    /// Those of the drivers that are installed. Loaded once and never unloaded: drivers keep
    /// threads of their own.
    pub(crate) fn installed() -> &'static Self {
        static INSTALLED: OnceLock<Instruments> = OnceLock::new();
        INSTALLED.get_or_init(|| Self {
            cuda: cuda_driver(),
            hip: hip_runtime(),
            opencl: opencl_loader(),
        })
    }

    pub(crate) fn of(&self, backend: Backend) -> Interface<'_> {
        match backend {
            Backend::Cuda => Interface::Streams(&self.cuda),
            Backend::Hip => Interface::Streams(&self.hip),
            Backend::Opencl => Interface::Opencl(&self.opencl),
        }
    }

    /// Keeps a device's context until the process ends. To make one of CUDA takes tenths of a second,
    /// which each transfer would pay that is the only one at its time.
    pub(crate) fn keep_warm(&self, accelerator: &Accelerator) {
        static KEPT: Mutex<BTreeSet<(Backend, u32)>> = Mutex::new(BTreeSet::new());
        let Interface::Streams(Ok(driver)) = self.of(accelerator.backend) else { return };
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let device = (accelerator.backend, accelerator.number);
        // Who opens the transfer is told of an error.
        if !kept.contains(&device)
            && let Ok(context) = streams::Context::open(*driver, accelerator, &accelerator.id)
        {
            std::mem::forget(context);
            kept.insert(device);
        }
    }
}

fn cuda_driver() -> Result<streams::Driver, NoDevices> {
    // Without its number the name can be that of a toolkit's stub, which has no driver behind it.
    let names = ["libcuda.so.1", "libcuda.so"];
    functions_of("NVIDIA's driver", "libcuda.so.1", &names, streams::Driver::find_cuda)
}

fn hip_runtime() -> Result<streams::Driver, NoDevices> {
    functions_of("AMD's HIP runtime", "libamdhip64.so", &HIP_NAMES, streams::Driver::find_hip)
}

/// The runtimes of ROCm 5 to 7; earlier ones number attributes otherwise. Its own packages put it where the
/// loader does not look by itself.
const HIP_NAMES: [&str; 6] = [
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "libamdhip64.so.5",
    "/opt/rocm/lib/libamdhip64.so.7",
    "/opt/rocm/lib/libamdhip64.so.6",
    "/opt/rocm/lib/libamdhip64.so.5",
];

fn opencl_loader() -> Result<opencl::Functions, NoDevices> {
    let names = ["libOpenCL.so.1", "libOpenCL.so"];
    functions_of("OpenCL's loader", "libOpenCL.so.1", &names, opencl::Functions::find)
}

/// The functions of a library, the first of these that is there.
fn functions_of<Functions>(
    what: &str,
    library: &str,
    names: &[&str],
    find: impl FnOnce(&Library) -> Result<Functions, String>,
) -> Result<Functions, NoDevices> {
    let what = format!("{what} ({library})");
    let library = load(names).map_err(|why| NoDevices {
        reason: format!("{what} cannot be loaded: {}", why.reason),
        ..why
    })?;
    let functions =
        find(&library).map_err(|why| NoDevices::broken(format!("{what} cannot be used: {why}")))?;
    std::mem::forget(library);
    Ok(functions)
}
