//! CUDA's errors: their names, and what they mean for a copy.

use std::ffi::{CStr, c_char};
use std::ptr;

use super::functions::{Functions, SUCCESS};
use crate::device_error::{DeviceError, Kind};

pub(super) const OUT_OF_MEMORY: i32 = 2;
pub(super) const STUB_LIBRARY: i32 = 34;
pub(super) const NO_DEVICE: i32 = 100;
/// A second transfer between the same two devices meets it.
pub(super) const PEER_ACCESS_ALREADY_ENABLED: i32 = 704;
/// No device reaches that other one after all.
pub(super) const PEER_ACCESS_UNSUPPORTED: i32 = 217;
/// A device reaches as many others as it can: eight, but over a switch of NVLink.
pub(super) const TOO_MANY_PEERS: i32 = 711;

/// Errors after which the context, or the device, cannot be used any more ("the process must be
/// terminated and relaunched", cuda.h): deinitialized, device unavailable, ECC, NVLink, contained,
/// illegal address, launch timeout, context destroyed, assertion, hardware stack, illegal
/// instruction, misaligned address, address space, program counter, launch failed, external device.
const LOST: [i32; 16] =
    [4, 46, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 911];

/// An error by its name in cuda.h, or by its number where the driver knows no name.
pub(super) fn error_name(functions: &Functions, code: i32) -> String {
    let mut name: *const c_char = ptr::null();
    // SAFETY: `name` has room for the pointer.
    let known = unsafe { (functions.error_name)(code, &raw mut name) };
    if known != SUCCESS || name.is_null() {
        return format!("CUDA's error {code}");
    }
    // SAFETY: the driver gave a string of its own, which ends in NUL and lives as long as it.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

/// A call on a device that failed.
pub(super) fn failure(functions: &Functions, device: &str, call: &str, code: i32) -> DeviceError {
    let what = match code {
        OUT_OF_MEMORY => Kind::NoRoom,
        code if LOST.contains(&code) => Kind::Lost,
        _ => Kind::Failed,
    };
    let name = error_name(functions, code);
    DeviceError::new(what, format!("{device}: {call} failed: {name}"))
}

#[cfg(test)]
mod tests {
    use cudarc::driver::sys::CUresult as Header;

    use super::*;

    /// The other binding's numbers were made from NVIDIA's header.
    #[test]
    fn numbers_are_those_of_the_header() {
        for (ours, header) in [
            (SUCCESS, Header::CUDA_SUCCESS),
            (OUT_OF_MEMORY, Header::CUDA_ERROR_OUT_OF_MEMORY),
            (STUB_LIBRARY, Header::CUDA_ERROR_STUB_LIBRARY),
            (NO_DEVICE, Header::CUDA_ERROR_NO_DEVICE),
            (PEER_ACCESS_ALREADY_ENABLED, Header::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED),
            (PEER_ACCESS_UNSUPPORTED, Header::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED),
            (TOO_MANY_PEERS, Header::CUDA_ERROR_TOO_MANY_PEERS),
        ] {
            assert_eq!(ours, header as i32, "{header:?}");
        }
        let lost = [
            Header::CUDA_ERROR_DEINITIALIZED,
            Header::CUDA_ERROR_DEVICE_UNAVAILABLE,
            Header::CUDA_ERROR_ECC_UNCORRECTABLE,
            Header::CUDA_ERROR_NVLINK_UNCORRECTABLE,
            Header::CUDA_ERROR_CONTAINED,
            Header::CUDA_ERROR_ILLEGAL_ADDRESS,
            Header::CUDA_ERROR_LAUNCH_TIMEOUT,
            Header::CUDA_ERROR_CONTEXT_IS_DESTROYED,
            Header::CUDA_ERROR_ASSERT,
            Header::CUDA_ERROR_HARDWARE_STACK_ERROR,
            Header::CUDA_ERROR_ILLEGAL_INSTRUCTION,
            Header::CUDA_ERROR_MISALIGNED_ADDRESS,
            Header::CUDA_ERROR_INVALID_ADDRESS_SPACE,
            Header::CUDA_ERROR_INVALID_PC,
            Header::CUDA_ERROR_LAUNCH_FAILED,
            Header::CUDA_ERROR_EXTERNAL_DEVICE,
        ];
        assert_eq!(LOST, lost.map(|header| header as i32));
    }
}
