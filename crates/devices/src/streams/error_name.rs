//! Errors of CUDA and HIP, and what they mean for a copy. HIP numbers its errors as CUDA does.

use super::driver::{Driver, Refusal};
use crate::device_error::{DeviceError, Kind};

pub(super) const OUT_OF_MEMORY: i32 = 2;
pub(super) const STUB_LIBRARY: i32 = 34;
pub(super) const NO_DEVICE: i32 = 100;
/// What `hipInit` says where there is no device.
pub(super) const INVALID_DEVICE: i32 = 101;
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
pub(super) const LOST: [i32; 16] =
    [4, 46, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 911];

/// A call on a device that failed; of a number of bytes where it had one.
pub(super) fn failure(
    driver: &Driver,
    device: &str,
    refusal: Refusal,
    bytes: Option<usize>,
) -> DeviceError {
    let what = match refusal.code {
        OUT_OF_MEMORY => Kind::NoRoom,
        code if LOST.contains(&code) => Kind::Lost,
        _ => Kind::Failed,
    };
    DeviceError::new(what, format!("{device}: {}", sentence(driver, refusal, bytes)))
}

/// `cuMemAlloc of 8 bytes failed: CUDA_ERROR_OUT_OF_MEMORY`.
pub(super) fn sentence(
    driver: &Driver,
    Refusal { symbol, code }: Refusal,
    bytes: Option<usize>,
) -> String {
    // The number of a symbol's version is nothing that documents of the interface speak of.
    let call = symbol.trim_end_matches("_v2");
    let of = bytes.map(|bytes| format!(" of {bytes} bytes")).unwrap_or_default();
    format!("{call}{of} failed: {}", driver.error_name(code))
}

#[cfg(test)]
mod tests {
    use cudarc::driver::sys::CUresult as Header;

    use super::super::calls::SUCCESS;
    use super::*;

    /// The other binding's numbers were made from NVIDIA's header.
    #[test]
    fn numbers_are_those_of_cudas_header() {
        for (ours, header) in [
            (SUCCESS, Header::CUDA_SUCCESS),
            (OUT_OF_MEMORY, Header::CUDA_ERROR_OUT_OF_MEMORY),
            (STUB_LIBRARY, Header::CUDA_ERROR_STUB_LIBRARY),
            (NO_DEVICE, Header::CUDA_ERROR_NO_DEVICE),
            (INVALID_DEVICE, Header::CUDA_ERROR_INVALID_DEVICE),
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
