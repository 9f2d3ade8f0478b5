//! OpenCL's errors: their names, and what they mean.

use crate::device_error::{DeviceError, Kind};

pub(super) const DEVICE_NOT_FOUND: i32 = -1;
pub(super) const DEVICE_NOT_AVAILABLE: i32 = -2;
pub(super) const MEM_OBJECT_ALLOCATION_FAILURE: i32 = -4;
pub(super) const OUT_OF_RESOURCES: i32 = -5;
pub(super) const BUILD_PROGRAM_FAILURE: i32 = -11;
pub(super) const EXEC_STATUS_ERROR: i32 = -14;
pub(super) const INVALID_DEVICE: i32 = -33;
pub(super) const INVALID_CONTEXT: i32 = -34;
pub(super) const INVALID_COMMAND_QUEUE: i32 = -36;
pub(super) const INVALID_BUFFER_SIZE: i32 = -61;
pub(super) const PLATFORM_NOT_FOUND_KHR: i32 = -1001;

/// An error by its name in CL/cl.h, those that the functions in use may return; others by their
/// number.
pub(super) fn error_name(code: i32) -> String {
    let name = match code {
        DEVICE_NOT_FOUND => "CL_DEVICE_NOT_FOUND",
        DEVICE_NOT_AVAILABLE => "CL_DEVICE_NOT_AVAILABLE",
        -3 => "CL_COMPILER_NOT_AVAILABLE",
        MEM_OBJECT_ALLOCATION_FAILURE => "CL_MEM_OBJECT_ALLOCATION_FAILURE",
        OUT_OF_RESOURCES => "CL_OUT_OF_RESOURCES",
        -6 => "CL_OUT_OF_HOST_MEMORY",
        -7 => "CL_PROFILING_INFO_NOT_AVAILABLE",
        -8 => "CL_MEM_COPY_OVERLAP",
        BUILD_PROGRAM_FAILURE => "CL_BUILD_PROGRAM_FAILURE",
        -12 => "CL_MAP_FAILURE",
        -13 => "CL_MISALIGNED_SUB_BUFFER_OFFSET",
        EXEC_STATUS_ERROR => "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
        -30 => "CL_INVALID_VALUE",
        -31 => "CL_INVALID_DEVICE_TYPE",
        -32 => "CL_INVALID_PLATFORM",
        INVALID_DEVICE => "CL_INVALID_DEVICE",
        INVALID_CONTEXT => "CL_INVALID_CONTEXT",
        -35 => "CL_INVALID_QUEUE_PROPERTIES",
        INVALID_COMMAND_QUEUE => "CL_INVALID_COMMAND_QUEUE",
        -37 => "CL_INVALID_HOST_PTR",
        -38 => "CL_INVALID_MEM_OBJECT",
        -44 => "CL_INVALID_PROGRAM",
        -45 => "CL_INVALID_PROGRAM_EXECUTABLE",
        -46 => "CL_INVALID_KERNEL_NAME",
        -48 => "CL_INVALID_KERNEL",
        -49 => "CL_INVALID_ARG_INDEX",
        -50 => "CL_INVALID_ARG_VALUE",
        -51 => "CL_INVALID_ARG_SIZE",
        -52 => "CL_INVALID_KERNEL_ARGS",
        -54 => "CL_INVALID_WORK_GROUP_SIZE",
        -55 => "CL_INVALID_WORK_ITEM_SIZE",
        -57 => "CL_INVALID_EVENT_WAIT_LIST",
        -58 => "CL_INVALID_EVENT",
        -59 => "CL_INVALID_OPERATION",
        INVALID_BUFFER_SIZE => "CL_INVALID_BUFFER_SIZE",
        PLATFORM_NOT_FOUND_KHR => "CL_PLATFORM_NOT_FOUND_KHR",
        _ => return format!("OpenCL's error {code}"),
    };
    name.into()
}

/// A call on a device that failed.
pub(super) fn failure(device: &str, call: &str, code: i32) -> DeviceError {
    let what = match code {
        MEM_OBJECT_ALLOCATION_FAILURE | OUT_OF_RESOURCES | INVALID_BUFFER_SIZE => Kind::NoRoom,
        // A queue or a context that was made, and is none any more, went with its device.
        DEVICE_NOT_AVAILABLE | INVALID_DEVICE | INVALID_CONTEXT | INVALID_COMMAND_QUEUE => {
            Kind::Lost
        }
        _ => Kind::Failed,
    };
    DeviceError::new(what, format!("{device}: {call} failed: {}", error_name(code)))
}
