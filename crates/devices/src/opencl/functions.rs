//! The functions of OpenCL 1.2 that are used, and its numbers, as CL/cl.h and CL/cl_ext.h of the Khronos
//! Group declare them.

use std::ffi::{c_char, c_void};

use crate::library::function_table;

/// Platform, device, context, queue, memory, program, kernel or event.
pub(super) type Handle = *mut c_void;

pub(super) const SUCCESS: i32 = 0;
pub(super) const TRUE: u32 = 1;
pub(super) const FALSE: u32 = 0;

pub(super) const PLATFORM_NAME: u32 = 0x0902;

pub(super) const DEVICE_TYPE_CPU: u64 = 1 << 1;
pub(super) const DEVICE_TYPE_ALL: u64 = 0xffff_ffff;
pub(super) const DEVICE_TYPE: u32 = 0x1000;
pub(super) const DEVICE_MAX_WORK_GROUP_SIZE: u32 = 0x1004;
pub(super) const DEVICE_MAX_MEM_ALLOC_SIZE: u32 = 0x1010;
pub(super) const DEVICE_GLOBAL_MEM_SIZE: u32 = 0x101f;
pub(super) const DEVICE_AVAILABLE: u32 = 0x1027;
pub(super) const DEVICE_NAME: u32 = 0x102b;
pub(super) const DRIVER_VERSION: u32 = 0x102d;
/// What it can of double precision; 0 where it has none.
pub(super) const DEVICE_DOUBLE_FP_CONFIG: u32 = 0x1032;
pub(super) const DEVICE_HOST_UNIFIED_MEMORY: u32 = 0x1035;
/// `cl_khr_pci_bus_info`: domain, bus, device, function.
pub(super) const DEVICE_PCI_BUS_INFO_KHR: u32 = 0x410f;
/// `cl_nv_device_attribute_query`.
pub(super) const DEVICE_PCI_BUS_ID_NV: u32 = 0x4008;
/// The device in the upper five bits, its function in the lower three.
pub(super) const DEVICE_PCI_SLOT_ID_NV: u32 = 0x4009;
pub(super) const DEVICE_PCI_DOMAIN_ID_NV: u32 = 0x400a;
/// `cl_amd_device_attribute_query`: a type in 4 bytes, 17 unused, bus, device, function.
pub(super) const DEVICE_TOPOLOGY_AMD: u32 = 0x4037;
pub(super) const DEVICE_TOPOLOGY_TYPE_PCIE_AMD: u32 = 1;

pub(super) const QUEUE_PROFILING_ENABLE: u64 = 1 << 1;
pub(super) const MEM_READ_WRITE: u64 = 1;
pub(super) const MEM_USE_HOST_PTR: u64 = 1 << 3;
pub(super) const MAP_READ_AND_WRITE: u64 = 3;
pub(super) const EVENT_COMMAND_EXECUTION_STATUS: u32 = 0x11d3;
pub(super) const PROGRAM_BUILD_LOG: u32 = 0x1183;
pub(super) const PROFILING_COMMAND_START: u32 = 0x1282;
pub(super) const PROFILING_COMMAND_END: u32 = 0x1283;

function_table! {
    /// Functions of OpenCL.
    Functions {
        get_platform_ids = "clGetPlatformIDs"(u32, *mut Handle, *mut u32) -> i32;
        get_platform_info = "clGetPlatformInfo"(Handle, u32, usize, *mut c_void, *mut usize) -> i32;
        get_device_ids = "clGetDeviceIDs"(Handle, u64, u32, *mut Handle, *mut u32) -> i32;
        get_device_info = "clGetDeviceInfo"(Handle, u32, usize, *mut c_void, *mut usize) -> i32;
        create_context = "clCreateContext"(
            *const isize, u32, *const Handle, *const c_void, *mut c_void, *mut i32,
        ) -> Handle;
        release_context = "clReleaseContext"(Handle) -> i32;
        create_command_queue = "clCreateCommandQueue"(Handle, Handle, u64, *mut i32) -> Handle;
        release_command_queue = "clReleaseCommandQueue"(Handle) -> i32;
        create_buffer = "clCreateBuffer"(Handle, u64, usize, *mut c_void, *mut i32) -> Handle;
        release_mem_object = "clReleaseMemObject"(Handle) -> i32;
        enqueue_write_buffer = "clEnqueueWriteBuffer"(
            Handle, Handle, u32, usize, usize, *const c_void, u32, *const Handle, *mut Handle,
        ) -> i32;
        enqueue_read_buffer = "clEnqueueReadBuffer"(
            Handle, Handle, u32, usize, usize, *mut c_void, u32, *const Handle, *mut Handle,
        ) -> i32;
        enqueue_copy_buffer = "clEnqueueCopyBuffer"(
            Handle, Handle, Handle, usize, usize, usize, u32, *const Handle, *mut Handle,
        ) -> i32;
        enqueue_migrate_mem_objects = "clEnqueueMigrateMemObjects"(
            Handle, u32, *const Handle, u64, u32, *const Handle, *mut Handle,
        ) -> i32;
        enqueue_map_buffer = "clEnqueueMapBuffer"(
            Handle, Handle, u32, u64, usize, usize, u32, *const Handle, *mut Handle, *mut i32,
        ) -> *mut c_void;
        enqueue_unmap_mem_object = "clEnqueueUnmapMemObject"(
            Handle, Handle, *mut c_void, u32, *const Handle, *mut Handle,
        ) -> i32;
        create_program_with_source = "clCreateProgramWithSource"(
            Handle, u32, *const *const c_char, *const usize, *mut i32,
        ) -> Handle;
        build_program = "clBuildProgram"(
            Handle, u32, *const Handle, *const c_char, *const c_void, *mut c_void,
        ) -> i32;
        get_program_build_info = "clGetProgramBuildInfo"(
            Handle, Handle, u32, usize, *mut c_void, *mut usize,
        ) -> i32;
        release_program = "clReleaseProgram"(Handle) -> i32;
        create_kernel = "clCreateKernel"(Handle, *const c_char, *mut i32) -> Handle;
        set_kernel_arg = "clSetKernelArg"(Handle, u32, usize, *const c_void) -> i32;
        release_kernel = "clReleaseKernel"(Handle) -> i32;
        enqueue_nd_range_kernel = "clEnqueueNDRangeKernel"(
            Handle, Handle, u32, *const usize, *const usize, *const usize, u32, *const Handle,
            *mut Handle,
        ) -> i32;
        flush = "clFlush"(Handle) -> i32;
        finish = "clFinish"(Handle) -> i32;
        wait_for_events = "clWaitForEvents"(u32, *const Handle) -> i32;
        get_event_info = "clGetEventInfo"(Handle, u32, usize, *mut c_void, *mut usize) -> i32;
        get_event_profiling_info = "clGetEventProfilingInfo"(
            Handle, u32, usize, *mut c_void, *mut usize,
        ) -> i32;
        release_event = "clReleaseEvent"(Handle) -> i32;
    }
}
