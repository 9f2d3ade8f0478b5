//! What PoCL shows with single functions of it replaced: where devices are, and why there are none.

use std::ffi::c_void;

use nearfar_machine::Backend;

use super::functions::{Functions, Handle};
use super::lies::{device, honest, instruments};
use crate::found::find_with;

unsafe extern "C" fn address_by_khronos(
    device: Handle,
    what: u32,
    room: usize,
    into: *mut c_void,
    length: *mut usize,
) -> i32 {
    if what == 0x410f {
        // SAFETY: the caller has room for four words and for their length.
        unsafe { into.cast::<[u32; 4]>().write([0x1_0000, 0xaf, 0x1f, 7]) };
        // SAFETY: as above.
        unsafe { length.write(16) };
        return 0;
    }
    // SAFETY: the caller's arguments.
    unsafe { (honest().get_device_info)(device, what, room, into, length) }
}

unsafe extern "C" fn address_of_nvidia(
    device: Handle,
    what: u32,
    room: usize,
    into: *mut c_void,
    length: *mut usize,
) -> i32 {
    let answer = match what {
        0x4008 => 0x3b_u32,
        0x4009 => 0x0a,
        0x400a => 0x1,
        // SAFETY: the caller's arguments.
        _ => return unsafe { (honest().get_device_info)(device, what, room, into, length) },
    };
    // SAFETY: the caller has room for a word and for its length.
    unsafe { into.cast::<u32>().write(answer) };
    // SAFETY: as above.
    unsafe { length.write(4) };
    0
}

unsafe extern "C" fn address_of_amd(
    device: Handle,
    what: u32,
    room: usize,
    into: *mut c_void,
    length: *mut usize,
) -> i32 {
    if what != 0x4037 {
        // SAFETY: the caller's arguments.
        return unsafe { (honest().get_device_info)(device, what, room, into, length) };
    }
    let mut topology = [0u8; 24];
    topology[0] = 1;
    topology[21..].copy_from_slice(&[0xc3, 0x02, 0x01]);
    // SAFETY: the caller has room for the topology and for its length.
    unsafe { into.cast::<[u8; 24]>().write(topology) };
    // SAFETY: as above.
    unsafe { length.write(24) };
    0
}

/// Each extension's form of a PCIe address; PoCL's devices have none.
#[test]
#[ignore = "needs PoCL: make devices"]
fn addresses_are_read_as_each_extension_writes_them() {
    let functions = honest();
    for (get_device_info, expected) in [
        (functions.get_device_info, None),
        (address_by_khronos as _, Some("10000:af:1f.7")),
        (address_of_nvidia as _, Some("0001:3b:01.2")),
        (address_of_amd as _, Some("0000:c3:02.1")),
    ] {
        let functions = Functions { get_device_info, ..functions };
        let found = find_with(&instruments(functions));
        let number = device().number as usize;
        assert_eq!(found.accelerators[number].bus_id.as_deref(), expected);
    }
}

unsafe extern "C" fn platforms_refused(_room: u32, _list: *mut Handle, _count: *mut u32) -> i32 {
    -6
}

unsafe extern "C" fn no_platform(_room: u32, _list: *mut Handle, _count: *mut u32) -> i32 {
    -1001
}

unsafe extern "C" fn devices_refused(
    _platform: Handle,
    _kind: u64,
    _room: u32,
    _list: *mut Handle,
    _count: *mut u32,
) -> i32 {
    -6
}

unsafe extern "C" fn no_device(
    _platform: Handle,
    _kind: u64,
    _room: u32,
    _list: *mut Handle,
    _count: *mut u32,
) -> i32 {
    -1
}

/// What is not there is fine; what is there and fails is broken.
#[test]
#[ignore = "needs PoCL: make devices"]
fn a_driver_that_fails_is_told_from_one_that_is_not_there() {
    let functions = honest();
    for (functions, is_broken, expected) in [
        (
            Functions { get_platform_ids: no_platform, ..functions },
            false,
            "CL_PLATFORM_NOT_FOUND_KHR",
        ),
        (
            Functions { get_platform_ids: platforms_refused, ..functions },
            true,
            "CL_OUT_OF_HOST_MEMORY",
        ),
        (Functions { get_device_ids: no_device, ..functions }, false, "has no device"),
        (
            Functions { get_device_ids: devices_refused, ..functions },
            true,
            "does not list its devices: CL_OUT_OF_HOST_MEMORY",
        ),
    ] {
        let found = find_with(&instruments(functions));
        assert_eq!(found.accelerators, []);
        let reason = &found.absent[1].reason;
        assert!(reason.contains(expected), "{reason}");
        assert_eq!(found.broken.contains(&Backend::Opencl), is_broken, "{reason}");
    }
}
