//! Transfers by PoCL with single functions of it replaced: what they leave undone is seen, what
//! they refuse is told.

use std::ffi::c_void;
use std::ptr;

use nearfar_machine::{Accelerator, HostMemory, TransferDirection};

use super::functions::{Functions, Handle, MEM_USE_HOST_PTR};
use crate::device_error::{DeviceError, Kind};
use crate::found::{NoDevices, find_with};
use crate::instruments::Instruments;
use crate::library::Answering;
use crate::transfer::Transfer;

/// More than one piece, and no whole number of them.
const ELEMENTS: usize = (1 << 17) + 77;

/// The real loader's.
pub(super) fn honest() -> Functions {
    let found = Instruments::installed().opencl.as_ref();
    *found.expect("these tests need PoCL: scripts/install-packages devices")
}

pub(super) fn instruments(opencl: Functions) -> Instruments {
    let none = || Err(NoDevices::absent("not asked for"));
    Instruments { cuda: none(), hip: none(), opencl: Ok(opencl) }
}

/// A device of PoCL.
pub(super) fn device() -> Accelerator {
    let found = find_with(&instruments(honest()));
    let is_pocl = |device: &Accelerator| {
        device.driver.as_ref().is_some_and(|driver| driver.starts_with("Portable Computing"))
    };
    found
        .accelerators
        .into_iter()
        .find(is_pocl)
        .expect("these tests need PoCL: scripts/install-packages devices")
}

/// Opens a transfer with these functions, copies and looks.
fn copied(
    opencl: Functions,
    direction: TransferDirection,
    memory: HostMemory,
) -> Result<Option<u64>, DeviceError> {
    let mut host: Vec<f64> = (0..ELEMENTS).map(|index| index as f64 + 0.5).collect();
    let mut transfer =
        Transfer::open_with(&instruments(opencl), &device(), direction, memory, &mut host)?;
    let result = transfer.copy().and_then(|copied| {
        transfer.check()?;
        Ok(copied.device_ns)
    });
    if let Err(error) = &result
        && error.what != Kind::WrongData
    {
        assert_eq!(transfer.copy().expect_err("it is broken"), *error);
    }
    result
}

/// An event of a command that does nothing.
fn nothing_queued(queue: Handle, memory: Handle, event: *mut Handle) -> i32 {
    // SAFETY: the caller's queue, one memory of it, and nothing to wait for.
    unsafe {
        (honest().enqueue_migrate_mem_objects)(
            queue,
            1,
            &raw const memory,
            0,
            0,
            ptr::null(),
            event,
        )
    }
}

/// Writes nothing, or a byte less; all where it is waited for at once, which only looks do.
pub(super) unsafe extern "C" fn short_write<const NOTHING: bool>(
    queue: Handle,
    memory: Handle,
    blocking: u32,
    at: usize,
    bytes: usize,
    from: *const c_void,
    count: u32,
    wait: *const Handle,
    event: *mut Handle,
) -> i32 {
    let bytes = match blocking {
        0 if NOTHING => return nothing_queued(queue, memory, event),
        0 => bytes - 1,
        _ => bytes,
    };
    // SAFETY: the caller's arguments, at most one byte less.
    unsafe {
        (honest().enqueue_write_buffer)(
            queue, memory, blocking, at, bytes, from, count, wait, event,
        )
    }
}

/// Reads nothing, where it is waited for at once or where it is not.
pub(super) unsafe extern "C" fn idle_read<const BLOCKING: bool>(
    queue: Handle,
    memory: Handle,
    blocking: u32,
    at: usize,
    bytes: usize,
    into: *mut c_void,
    count: u32,
    wait: *const Handle,
    event: *mut Handle,
) -> i32 {
    if (blocking != 0) == BLOCKING {
        return nothing_queued(queue, memory, event);
    }
    // SAFETY: the caller's arguments.
    unsafe {
        (honest().enqueue_read_buffer)(queue, memory, blocking, at, bytes, into, count, wait, event)
    }
}

#[test]
#[ignore = "needs PoCL: make devices"]
fn a_copy_that_is_not_made_or_stops_short_is_seen() {
    let functions = honest();
    let no_write = Functions { enqueue_write_buffer: short_write::<true>, ..functions };
    let no_read = Functions { enqueue_read_buffer: idle_read::<false>, ..functions };
    let short = Functions { enqueue_write_buffer: short_write::<false>, ..functions };
    let blind = Functions { enqueue_read_buffer: idle_read::<true>, ..functions };
    let (out, back, both) =
        (TransferDirection::ToDevice, TransferDirection::ToHost, TransferDirection::BothWays);
    for (case, functions, direction) in [
        ("nothing goes out", no_write, out),
        ("of both ways nothing goes out", no_write, both),
        ("nothing comes in", no_read, back),
        ("of both ways nothing comes in", no_read, both),
        ("the last byte does not go out", short, out),
        ("reading back does nothing", blind, out),
    ] {
        for memory in HostMemory::ALL {
            let error = copied(functions, direction, memory).expect_err(case);
            assert_eq!(error.what, Kind::WrongData, "{case}: {error}");
            assert!(error.text.contains(&device().id), "{case}: {error}");
        }
    }
}

fn refuse(code: *mut i32, answer: i32) -> Handle {
    // SAFETY: callers give room for the code.
    unsafe { code.write(answer) };
    ptr::null_mut()
}

unsafe extern "C" fn no_buffer<const CODE: i32>(
    _: Handle,
    _: u64,
    _: usize,
    _: *mut c_void,
    code: *mut i32,
) -> Handle {
    refuse(code, CODE)
}

unsafe extern "C" fn no_host_pages(
    context: Handle,
    flags: u64,
    bytes: usize,
    host: *mut c_void,
    code: *mut i32,
) -> Handle {
    if flags & MEM_USE_HOST_PTR != 0 {
        return refuse(code, -37);
    }
    // SAFETY: the caller's arguments.
    unsafe { (honest().create_buffer)(context, flags, bytes, host, code) }
}

unsafe extern "C" fn no_map(
    _: Handle,
    _: Handle,
    _: u32,
    _: u64,
    _: usize,
    _: usize,
    _: u32,
    _: *const Handle,
    _: *mut Handle,
    code: *mut i32,
) -> *mut c_void {
    refuse(code, -12)
}

unsafe extern "C" fn maps_elsewhere(
    queue: Handle,
    memory: Handle,
    blocking: u32,
    flags: u64,
    at: usize,
    bytes: usize,
    count: u32,
    wait: *const Handle,
    event: *mut Handle,
    code: *mut i32,
) -> *mut c_void {
    // SAFETY: the caller's arguments.
    let mapped = unsafe {
        (honest().enqueue_map_buffer)(
            queue, memory, blocking, flags, at, bytes, count, wait, event, code,
        )
    };
    mapped.wrapping_byte_add(64)
}

unsafe extern "C" fn no_queue(_: Handle, _: Handle, _: u64, code: *mut i32) -> Handle {
    refuse(code, -5)
}

unsafe extern "C" fn failed_without_room(
    _: Handle,
    _: u32,
    _: usize,
    into: *mut c_void,
    _: *mut usize,
) -> i32 {
    // SAFETY: callers give room for a status.
    unsafe { into.cast::<i32>().write(-4) };
    0
}

#[test]
#[ignore = "needs PoCL: make devices"]
fn each_refusal_is_told() {
    let functions = honest();
    for (functions, what, expected) in [
        (
            Functions { create_buffer: no_buffer::<-4>, ..functions },
            Kind::NoRoom,
            "CL_MEM_OBJECT_ALLOCATION_FAILURE",
        ),
        (
            Functions { create_buffer: no_buffer::<-61>, ..functions },
            Kind::NoRoom,
            "CL_INVALID_BUFFER_SIZE",
        ),
        (
            Functions { create_buffer: no_host_pages, ..functions },
            Kind::NotPinned,
            "CL_INVALID_HOST_PTR",
        ),
        (Functions { enqueue_map_buffer: no_map, ..functions }, Kind::NotPinned, "CL_MAP_FAILURE"),
        (
            Functions { enqueue_map_buffer: maps_elsewhere, ..functions },
            Kind::NotPinned,
            "maps the pages elsewhere",
        ),
        (
            Functions { create_command_queue: no_queue, ..functions },
            Kind::NoRoom,
            "clCreateCommandQueue failed: CL_OUT_OF_RESOURCES",
        ),
        (
            Functions { enqueue_write_buffer: Answering::answering::<-36>(), ..functions },
            Kind::Lost,
            "clEnqueueWriteBuffer failed: CL_INVALID_COMMAND_QUEUE",
        ),
        (
            Functions { flush: Answering::answering::<-2>(), ..functions },
            Kind::Lost,
            "clFlush failed: CL_DEVICE_NOT_AVAILABLE",
        ),
        (
            Functions { flush: Answering::answering::<-9999>(), ..functions },
            Kind::Failed,
            "clFlush failed: OpenCL's error -9999",
        ),
        (
            Functions {
                wait_for_events: Answering::answering::<-14>(),
                get_event_info: failed_without_room,
                ..functions
            },
            Kind::NoRoom,
            "failed: CL_MEM_OBJECT_ALLOCATION_FAILURE",
        ),
    ] {
        let error =
            copied(functions, TransferDirection::BothWays, HostMemory::Pinned).expect_err(expected);
        assert_eq!(error.what, what, "{error}");
        assert!(error.text.contains(expected), "{error}");
        assert!(error.text.contains(&device().id), "{error}");
    }
}

unsafe extern "C" fn stopped_clock(
    _: Handle,
    _: u32,
    _: usize,
    into: *mut c_void,
    _: *mut usize,
) -> i32 {
    // SAFETY: callers give room for a time.
    unsafe { into.cast::<u64>().write(42) };
    0
}

#[test]
#[ignore = "needs PoCL: make devices"]
fn a_clock_that_says_nothing_is_none() {
    let functions = honest();
    for get_event_profiling_info in [Answering::answering::<-7>(), stopped_clock as _] {
        let functions = Functions { get_event_profiling_info, ..functions };
        let times = copied(functions, TransferDirection::BothWays, HostMemory::Pageable);
        assert_eq!(times, Ok(None));
    }
}
