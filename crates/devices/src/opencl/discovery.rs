//! What PoCL shows with single functions of it replaced: where devices are, and why there are none.

use std::cell::Cell;
use std::ffi::c_void;

use nearfar_machine::Backend;

use super::functions::{Functions, Handle};
use super::lies::{device, honest, instruments};
use crate::found::find_with;
use crate::library::Answering;

thread_local! {
    /// What a device answers where it is asked so.
    pub(super) static ANSWER: Cell<fn(u32) -> Vec<u8>> = const { Cell::new(|_| Vec::new()) };
}

/// Answers as said, and honestly where nothing is.
pub(super) unsafe extern "C" fn answered(
    device: Handle,
    what: u32,
    room: usize,
    into: *mut c_void,
    length: *mut usize,
) -> i32 {
    let answer = ANSWER.get()(what);
    if answer.is_empty() {
        // SAFETY: the caller's arguments.
        return unsafe { (honest().get_device_info)(device, what, room, into, length) };
    }
    // SAFETY: the caller has room for what it asks.
    unsafe { into.cast::<u8>().copy_from_nonoverlapping(answer.as_ptr(), answer.len()) };
    // SAFETY: the caller has room for the length.
    unsafe { length.write(answer.len()) };
    0
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Each extension's form of a PCIe address; PoCL's devices have none.
#[test]
#[ignore = "needs PoCL: make devices"]
fn addresses_are_read_as_each_extension_writes_them() {
    let functions = Functions { get_device_info: answered, ..honest() };
    let khronos = |what| match what {
        0x410f => bytes_of(&[0x1_0000, 0xaf, 0x1f, 7]),
        _ => Vec::new(),
    };
    let nvidia = |what| match what {
        0x4008 => bytes_of(&[0x3b]),
        0x4009 => bytes_of(&[0x0a]),
        0x400a => bytes_of(&[1]),
        _ => Vec::new(),
    };
    let amd = |what| match what {
        0x4037 => [&bytes_of(&[1])[..], &[0; 17], &[0xc3, 0x02, 0x01]].concat(),
        _ => Vec::new(),
    };
    type Answer = fn(u32) -> Vec<u8>;
    let cases: [(Answer, _); 4] = [
        (|_| Vec::new(), None),
        (khronos, Some("10000:af:1f.7")),
        (nvidia, Some("0001:3b:01.2")),
        (amd, Some("0000:c3:02.1")),
    ];
    for (answer, expected) in cases {
        ANSWER.set(answer);
        let found = find_with(&instruments(functions));
        let number = device().number as usize;
        assert_eq!(found.accelerators[number].bus_id.as_deref(), expected);
    }
}

/// What is not there is fine; what is there and fails is broken.
#[test]
#[ignore = "needs PoCL: make devices"]
fn a_driver_that_fails_is_told_from_one_that_is_not_there() {
    let functions = honest();
    for (functions, is_broken, expected) in [
        (
            Functions { get_platform_ids: Answering::answering::<-1001>(), ..functions },
            false,
            "CL_PLATFORM_NOT_FOUND_KHR",
        ),
        (
            Functions { get_platform_ids: Answering::answering::<-6>(), ..functions },
            true,
            "CL_OUT_OF_HOST_MEMORY",
        ),
        (
            Functions { get_device_ids: Answering::answering::<-1>(), ..functions },
            false,
            "has no device",
        ),
        (
            Functions { get_device_ids: Answering::answering::<-6>(), ..functions },
            true,
            "does not list its devices: CL_OUT_OF_HOST_MEMORY",
        ),
    ] {
        let found = find_with(&instruments(functions));
        assert_eq!(found.accelerators, []);
        let of_opencl = found.absent.iter().find(|it| it.backend == Backend::Opencl);
        let reason = &of_opencl.unwrap().reason;
        assert!(reason.contains(expected), "{reason}");
        assert_eq!(found.broken.contains(&Backend::Opencl), is_broken, "{reason}");
    }
}
