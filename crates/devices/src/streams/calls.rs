//! The calls that CUDA's driver and HIP's runtime have alike, and their numbers, as NVIDIA's cuda.h and AMD's
//! hip_runtime_api.h declare them. Results are integers and no enumeration: a driver of tomorrow has errors
//! that nobody knows today.

use std::ffi::{c_char, c_void};

use libloading::Library;

use crate::library::symbol_of;

/// Context, stream or event.
pub(super) type Handle = *mut c_void;

/// An address in a device's memory: to HIP a pointer, to CUDA an integer of its size.
pub(super) type Address = u64;

pub(super) const SUCCESS: i32 = 0;

/// `CU_STREAM_NON_BLOCKING`, `hipStreamNonBlocking`: does not wait for the default stream.
pub(super) const STREAM_NON_BLOCKING: u32 = 1;
/// `CU_EVENT_DEFAULT`, `hipEventDefault`: notes the time.
pub(super) const EVENT_DEFAULT: u32 = 0;

/// A function that makes a stream or an event, with flags.
pub(super) type Create = unsafe extern "C" fn(*mut Handle, u32) -> i32;

/// A function and the symbol that it was found by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<Function> {
    pub(super) symbol: &'static str,
    pub(super) function: Function,
}

/// A table of calls: name, symbol in CUDA, symbol in HIP, arguments.
macro_rules! calls {
    ($($name:ident = $cuda:literal | $hip:literal ($($argument:ty),* $(,)?);)*) => {
        /// The calls that both have.
        #[derive(Clone, Copy)]
        pub(super) struct Calls {
            $(pub(super) $name: Call<unsafe extern "C" fn($($argument),*) -> i32>,)*
        }

        impl Calls {
            /// Finds all of them in CUDA's driver.
            pub(super) fn find_cuda(library: &Library) -> Result<Self, String> {
                // SAFETY: the types are those that cuda.h declares for the symbols.
                Ok(Self { $($name: Call { symbol: $cuda, function: unsafe { symbol_of(library, $cuda) }? },)* })
            }

            /// Finds all of them in HIP's runtime.
            pub(super) fn find_hip(library: &Library) -> Result<Self, String> {
                // SAFETY: the types are those that hip_runtime_api.h declares for the symbols.
                Ok(Self { $($name: Call { symbol: $hip, function: unsafe { symbol_of(library, $hip) }? },)* })
            }

            /// The same functions by the symbols of CUDA.
            #[cfg(test)]
            pub(super) fn named_by_cuda(mut self) -> Self {
                $(self.$name.symbol = $cuda;)*
                self
            }

            /// The same functions by the symbols of HIP.
            #[cfg(test)]
            pub(super) fn named_by_hip(mut self) -> Self {
                $(self.$name.symbol = $hip;)*
                self
            }
        }
    };
}

calls! {
    init = "cuInit" | "hipInit"(u32);
    version = "cuDriverGetVersion" | "hipRuntimeGetVersion"(*mut i32);
    device_count = "cuDeviceGetCount" | "hipGetDeviceCount"(*mut i32);
    device = "cuDeviceGet" | "hipDeviceGet"(*mut i32, i32);
    device_name = "cuDeviceGetName" | "hipDeviceGetName"(*mut c_char, i32, i32);
    device_memory = "cuDeviceTotalMem_v2" | "hipDeviceTotalMem"(*mut usize, i32);
    device_attribute = "cuDeviceGetAttribute" | "hipDeviceGetAttribute"(*mut i32, i32, i32);
    device_bus_id = "cuDeviceGetPCIBusId" | "hipDeviceGetPCIBusId"(*mut c_char, i32, i32);
    can_access_peer = "cuDeviceCanAccessPeer" | "hipDeviceCanAccessPeer"(*mut i32, i32, i32);
    wait_for_device = "cuCtxSynchronize" | "hipDeviceSynchronize"();
    allocate = "cuMemAlloc_v2" | "hipMalloc"(*mut Address, usize);
    free = "cuMemFree_v2" | "hipFree"(Address);
    register_host = "cuMemHostRegister_v2" | "hipHostRegister"(*mut c_void, usize, u32);
    unregister_host = "cuMemHostUnregister" | "hipHostUnregister"(*mut c_void);
    copy_to_device = "cuMemcpyHtoD_v2" | "hipMemcpyHtoD"(Address, *const c_void, usize);
    copy_to_host = "cuMemcpyDtoH_v2" | "hipMemcpyDtoH"(*mut c_void, Address, usize);
    queue_to_device = "cuMemcpyHtoDAsync_v2" | "hipMemcpyHtoDAsync"(
        Address, *const c_void, usize, Handle,
    );
    queue_to_host = "cuMemcpyDtoHAsync_v2" | "hipMemcpyDtoHAsync"(
        *mut c_void, Address, usize, Handle,
    );
    create_stream = "cuStreamCreate" | "hipStreamCreateWithFlags"(*mut Handle, u32);
    destroy_stream = "cuStreamDestroy_v2" | "hipStreamDestroy"(Handle);
    wait_for_stream = "cuStreamSynchronize" | "hipStreamSynchronize"(Handle);
    stream_wait_for_event = "cuStreamWaitEvent" | "hipStreamWaitEvent"(Handle, Handle, u32);
    create_event = "cuEventCreate" | "hipEventCreateWithFlags"(*mut Handle, u32);
    destroy_event = "cuEventDestroy_v2" | "hipEventDestroy"(Handle);
    record_event = "cuEventRecord" | "hipEventRecord"(Handle, Handle);
    elapsed_ms = "cuEventElapsedTime" | "hipEventElapsedTime"(*mut f32, Handle, Handle);
}

#[cfg(test)]
mod tests {
    use cudarc::driver::sys;

    use super::super::driver::CUDA_ATTRIBUTE_INTEGRATED;
    use super::*;

    /// As in `error_name`. HIP's are held against its header by `hip_header`.
    #[test]
    fn numbers_and_sizes_are_those_of_cudas_header() {
        let integrated = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED;
        assert_eq!(CUDA_ATTRIBUTE_INTEGRATED.cast_unsigned(), integrated as u32);
        let non_blocking = sys::CUstream_flags::CU_STREAM_NON_BLOCKING;
        assert_eq!(STREAM_NON_BLOCKING, non_blocking as u32);
        assert_eq!(EVENT_DEFAULT, sys::CUevent_flags::CU_EVENT_DEFAULT as u32);
        assert_eq!(size_of::<Address>(), size_of::<sys::CUdeviceptr>());
        assert_eq!(size_of::<Address>(), size_of::<*mut c_void>());
        assert_eq!(size_of::<i32>(), size_of::<sys::CUdevice>());
    }
}
