//! A driver: the calls that CUDA and HIP have alike, and those of its own. CUDA's mean a context that is
//! held and made the calling thread's; HIP's mean a device, by its number.

use std::ffi::{CStr, c_char};
use std::ptr;

use libloading::Library;
use nearfar_machine::Backend;

use super::calls::{Address, Calls, Handle, SUCCESS};
use crate::library::function_table;

/// The calls of a driver.
#[derive(Clone, Copy)]
pub(crate) struct Driver {
    pub(super) calls: Calls,
    pub(super) own: Own,
}

/// Those that it shares with no other.
#[derive(Clone, Copy)]
pub(super) enum Own {
    Cuda(CudaCalls),
    Hip(HipCalls),
}

function_table! {
    /// Functions of CUDA's driver alone.
    CudaCalls {
        error_name = "cuGetErrorName"(i32, *mut *const c_char) -> i32;
        retain_context = "cuDevicePrimaryCtxRetain"(*mut Handle, i32) -> i32;
        release_context = "cuDevicePrimaryCtxRelease_v2"(i32) -> i32;
        set_context = "cuCtxSetCurrent"(Handle) -> i32;
        enable_peer_access = "cuCtxEnablePeerAccess"(Handle, u32) -> i32;
        queue_to_peer = "cuMemcpyPeerAsync"(Address, Handle, Address, Handle, usize, Handle) -> i32;
    }
}

function_table! {
    /// Functions of HIP's runtime alone. Contexts it has deprecated.
    HipCalls {
        error_name = "hipGetErrorName"(i32) -> *const c_char;
        set_device = "hipSetDevice"(i32) -> i32;
        enable_peer_access = "hipDeviceEnablePeerAccess"(i32, u32) -> i32;
        queue_to_peer = "hipMemcpyPeerAsync"(Address, i32, Address, i32, usize, Handle) -> i32;
    }
}

/// `CU_DEVICE_ATTRIBUTE_INTEGRATED`
pub(super) const CUDA_ATTRIBUTE_INTEGRATED: i32 = 18;
/// `hipDeviceAttributeIntegrated`, since ROCm 5: libraries of earlier numbers are not asked.
pub(super) const HIP_ATTRIBUTE_INTEGRATED: i32 = 16;
/// `hipErrorUnknown`, which is also the name of numbers that are no error.
pub(super) const HIP_UNKNOWN: (i32, &str) = (999, "hipErrorUnknown");

/// What a device is to its driver.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeviceHandle {
    pub(super) number: i32,
    /// Of CUDA the context that is held; null of HIP.
    context: Handle,
}

/// A call that did not succeed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refusal {
    pub(super) symbol: &'static str,
    pub(super) code: i32,
}

/// The refusal of a call, if it is one.
pub(super) fn succeeded(symbol: &'static str, code: i32) -> Result<(), Refusal> {
    if code == SUCCESS { Ok(()) } else { Err(Refusal { symbol, code }) }
}

impl Driver {
    /// Finds all functions in CUDA's driver.
    pub(crate) fn find_cuda(library: &Library) -> Result<Self, String> {
        Ok(Self { calls: Calls::find_cuda(library)?, own: Own::Cuda(CudaCalls::find(library)?) })
    }

    /// Finds all functions in HIP's runtime.
    pub(crate) fn find_hip(library: &Library) -> Result<Self, String> {
        Ok(Self { calls: Calls::find_hip(library)?, own: Own::Hip(HipCalls::find(library)?) })
    }

    pub(super) fn backend(&self) -> Backend {
        match self.own {
            Own::Cuda(_) => Backend::Cuda,
            Own::Hip(_) => Backend::Hip,
        }
    }

    /// In a sentence, as its subject.
    pub(super) fn words(&self) -> &'static str {
        match self.own {
            Own::Cuda(_) => "NVIDIA's driver",
            Own::Hip(_) => "AMD's HIP runtime",
        }
    }

    /// The number of the attribute that says whether a device's memory is the host's.
    pub(super) fn attribute_integrated(&self) -> i32 {
        match self.own {
            Own::Cuda(_) => CUDA_ATTRIBUTE_INTEGRATED,
            Own::Hip(_) => HIP_ATTRIBUTE_INTEGRATED,
        }
    }

    /// An error by its name in the header, or by its number where the driver knows no name.
    pub(super) fn error_name(&self, code: i32) -> String {
        let (interface, name) = match &self.own {
            Own::Cuda(own) => {
                let mut name = ptr::null();
                // SAFETY: `name` has room for the pointer.
                let known = unsafe { (own.error_name)(code, &raw mut name) };
                ("CUDA", if known == SUCCESS { name } else { ptr::null() })
            }
            // SAFETY: any number has a name, or null.
            Own::Hip(own) => ("HIP", unsafe { (own.error_name)(code) }),
        };
        let number = || format!("{interface}'s error {code}");
        if name.is_null() {
            return number();
        }
        // SAFETY: the driver gave a string of its own, which ends in NUL and lives as long as it.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
        let (unknown, of_unknown) = HIP_UNKNOWN;
        if name == of_unknown && code != unknown { number() } else { name }
    }

    /// Takes a device, by the number that the driver gave.
    pub(super) fn hold(&self, number: i32) -> Result<DeviceHandle, Refusal> {
        let mut context = ptr::null_mut();
        if let Own::Cuda(own) = &self.own {
            // SAFETY: a device of the driver; `context` has room for the answer.
            let code = unsafe { (own.retain_context)(&raw mut context, number) };
            succeeded("cuDevicePrimaryCtxRetain", code)?;
        }
        Ok(DeviceHandle { number, context })
    }

    /// Lets go of a device.
    pub(super) fn release(&self, device: DeviceHandle) {
        if let Own::Cuda(own) = &self.own {
            // SAFETY: retained once by `hold`, released once.
            unsafe { (own.release_context)(device.number) };
        }
    }

    /// Makes it the device that the calling thread's calls mean.
    pub(super) fn make_current(&self, device: DeviceHandle) -> Result<(), Refusal> {
        match &self.own {
            Own::Cuda(own) => {
                // SAFETY: a context that is held.
                let code = unsafe { (own.set_context)(device.context) };
                succeeded("cuCtxSetCurrent", code)
            }
            Own::Hip(own) => {
                // SAFETY: a number that the driver gave.
                let code = unsafe { (own.set_device)(device.number) };
                succeeded("hipSetDevice", code)
            }
        }
    }

    /// Lets the calling thread's device reach another's memory.
    pub(super) fn enable_peer_access(&self, peer: DeviceHandle) -> Result<(), Refusal> {
        match &self.own {
            Own::Cuda(own) => {
                // SAFETY: a context that is held, and flags that must be 0.
                let code = unsafe { (own.enable_peer_access)(peer.context, 0) };
                succeeded("cuCtxEnablePeerAccess", code)
            }
            Own::Hip(own) => {
                // SAFETY: a number that the driver gave, and flags that must be 0.
                let code = unsafe { (own.enable_peer_access)(peer.number, 0) };
                succeeded("hipDeviceEnablePeerAccess", code)
            }
        }
    }

    /// Puts a copy from one device's memory to another's into a stream.
    ///
    /// # Safety
    ///
    /// Both addresses have this many bytes on their devices, until the stream was waited for.
    pub(super) unsafe fn queue_to_peer(
        &self,
        to: (Address, DeviceHandle),
        from: (Address, DeviceHandle),
        bytes: usize,
        stream: Handle,
    ) -> Result<(), Refusal> {
        let ((to, receiver), (from, sender)) = (to, from);
        match &self.own {
            Own::Cuda(own) => {
                // SAFETY: by the caller.
                let code = unsafe {
                    (own.queue_to_peer)(to, receiver.context, from, sender.context, bytes, stream)
                };
                succeeded("cuMemcpyPeerAsync", code)
            }
            Own::Hip(own) => {
                // SAFETY: by the caller.
                let code = unsafe {
                    (own.queue_to_peer)(to, receiver.number, from, sender.number, bytes, stream)
                };
                succeeded("hipMemcpyPeerAsync", code)
            }
        }
    }
}
