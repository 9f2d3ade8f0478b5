//! What transfers are made with.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use libloading::Library;
use nearfar_machine::{Accelerator, Backend};

use crate::found::NoDevices;
use crate::library::load;
use crate::{cuda, opencl};

/// The interfaces' functions, or why there are none. A test plants lies here, by putting functions of
/// its own into a table.
pub(crate) struct Instruments {
    pub(crate) cuda: Result<cuda::Functions, NoDevices>,
    pub(crate) opencl: Result<opencl::Functions, NoDevices>,
}

impl Instruments {
    /// Those of the drivers that are installed. Loaded once and never unloaded: drivers keep
    /// threads of their own.
    pub(crate) fn installed() -> &'static Self {
        static INSTALLED: OnceLock<Instruments> = OnceLock::new();
        INSTALLED.get_or_init(|| Self { cuda: cuda_driver(), opencl: opencl_loader() })
    }

    /// Keeps a CUDA device's context until the process ends. To make one takes tenths of a second,
    /// which each transfer would pay that is the only one at its time.
    pub(crate) fn keep_warm(&self, accelerator: &Accelerator) {
        static KEPT: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
        let Ok(functions) = &self.cuda else { return };
        if accelerator.backend != Backend::Cuda {
            return;
        }
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        // Who opens the transfer is told of an error.
        if !kept.contains(&accelerator.number)
            && let Ok(context) = cuda::Context::open(*functions, accelerator, &accelerator.id)
        {
            std::mem::forget(context);
            kept.insert(accelerator.number);
        }
    }
}

fn cuda_driver() -> Result<cuda::Functions, NoDevices> {
    // Without its number the name can be that of a toolkit's stub, which has no driver behind it.
    functions_of("NVIDIA's driver", ["libcuda.so.1", "libcuda.so"], cuda::Functions::find)
}

fn opencl_loader() -> Result<opencl::Functions, NoDevices> {
    functions_of("OpenCL's loader", ["libOpenCL.so.1", "libOpenCL.so"], opencl::Functions::find)
}

/// The functions of a library, the first of these that is there.
fn functions_of<Functions>(
    what: &str,
    names: [&str; 2],
    find: impl FnOnce(&Library) -> Result<Functions, String>,
) -> Result<Functions, NoDevices> {
    let what = format!("{what} ({})", names[0]);
    let library = load(&names).map_err(|why| NoDevices {
        reason: format!("{what} cannot be loaded: {}", why.reason),
        ..why
    })?;
    let functions =
        find(&library).map_err(|why| NoDevices::broken(format!("{what} cannot be used: {why}")))?;
    std::mem::forget(library);
    Ok(functions)
}
