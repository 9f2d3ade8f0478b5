//! The functions of CUDA's driver that are used, and its numbers, as NVIDIA's cuda.h declares them.
//! Results are integers and no enumeration: a driver of tomorrow has errors that nobody knows today.

use std::ffi::{c_char, c_void};

use crate::library::function_table;

/// Context, stream or event.
pub(super) type Handle = *mut c_void;

/// An address in a device's memory.
pub(super) type Address = u64;

pub(super) const SUCCESS: i32 = 0;

/// `CU_DEVICE_ATTRIBUTE_INTEGRATED`
pub(super) const ATTRIBUTE_INTEGRATED: i32 = 18;
/// `CU_STREAM_NON_BLOCKING`: does not wait for the default stream.
pub(super) const STREAM_NON_BLOCKING: u32 = 1;
/// `CU_EVENT_DEFAULT`: notes the time.
pub(super) const EVENT_DEFAULT: u32 = 0;

function_table! {
    /// Functions of CUDA's driver.
    Functions {
        init = "cuInit"(u32) -> i32;
        driver_version = "cuDriverGetVersion"(*mut i32) -> i32;
        error_name = "cuGetErrorName"(i32, *mut *const c_char) -> i32;
        device_count = "cuDeviceGetCount"(*mut i32) -> i32;
        device = "cuDeviceGet"(*mut i32, i32) -> i32;
        device_name = "cuDeviceGetName"(*mut c_char, i32, i32) -> i32;
        device_memory = "cuDeviceTotalMem_v2"(*mut usize, i32) -> i32;
        device_attribute = "cuDeviceGetAttribute"(*mut i32, i32, i32) -> i32;
        device_bus_id = "cuDeviceGetPCIBusId"(*mut c_char, i32, i32) -> i32;
        can_access_peer = "cuDeviceCanAccessPeer"(*mut i32, i32, i32) -> i32;
        retain_context = "cuDevicePrimaryCtxRetain"(*mut Handle, i32) -> i32;
        release_context = "cuDevicePrimaryCtxRelease_v2"(i32) -> i32;
        wait_for_context = "cuCtxSynchronize"() -> i32;
        set_context = "cuCtxSetCurrent"(Handle) -> i32;
        enable_peer_access = "cuCtxEnablePeerAccess"(Handle, u32) -> i32;
        allocate = "cuMemAlloc_v2"(*mut Address, usize) -> i32;
        free = "cuMemFree_v2"(Address) -> i32;
        register_host = "cuMemHostRegister_v2"(*mut c_void, usize, u32) -> i32;
        unregister_host = "cuMemHostUnregister"(*mut c_void) -> i32;
        copy_to_device = "cuMemcpyHtoD_v2"(Address, *const c_void, usize) -> i32;
        copy_to_host = "cuMemcpyDtoH_v2"(*mut c_void, Address, usize) -> i32;
        queue_to_device = "cuMemcpyHtoDAsync_v2"(Address, *const c_void, usize, Handle) -> i32;
        queue_to_host = "cuMemcpyDtoHAsync_v2"(*mut c_void, Address, usize, Handle) -> i32;
        queue_to_peer = "cuMemcpyPeerAsync"(
            Address, Handle, Address, Handle, usize, Handle,
        ) -> i32;
        create_stream = "cuStreamCreate"(*mut Handle, u32) -> i32;
        destroy_stream = "cuStreamDestroy_v2"(Handle) -> i32;
        wait_for_stream = "cuStreamSynchronize"(Handle) -> i32;
        stream_wait_for_event = "cuStreamWaitEvent"(Handle, Handle, u32) -> i32;
        create_event = "cuEventCreate"(*mut Handle, u32) -> i32;
        destroy_event = "cuEventDestroy_v2"(Handle) -> i32;
        record_event = "cuEventRecord"(Handle, Handle) -> i32;
        elapsed_ms = "cuEventElapsedTime"(*mut f32, Handle, Handle) -> i32;
    }
}

#[cfg(test)]
mod tests {
    use cudarc::driver::sys;

    use super::*;

    /// As in `error_name`.
    #[test]
    fn numbers_and_sizes_are_those_of_the_header() {
        let integrated = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED;
        assert_eq!(ATTRIBUTE_INTEGRATED.cast_unsigned(), integrated as u32);
        let non_blocking = sys::CUstream_flags::CU_STREAM_NON_BLOCKING;
        assert_eq!(STREAM_NON_BLOCKING, non_blocking as u32);
        assert_eq!(EVENT_DEFAULT, sys::CUevent_flags::CU_EVENT_DEFAULT as u32);
        assert_eq!(size_of::<Address>(), size_of::<sys::CUdeviceptr>());
        assert_eq!(size_of::<i32>(), size_of::<sys::CUdevice>());
    }
}
