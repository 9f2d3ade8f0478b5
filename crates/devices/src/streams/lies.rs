//! Transfers by drivers that are doubles: what they do right arrives, what they leave undone is seen, what
//! they refuse is told, and all that they hand out is given back.

use std::ffi::c_void;

use nearfar_machine::{Accelerator, Backend, HostMemory, TransferDirection};

use super::calls::{Address, Handle};
use super::double::{self, cuda, hip, with};
use super::driver::{Driver, Own};
use crate::device_error::{DeviceError, Kind};
use crate::found::{NoDevices, find_of, find_with};
use crate::instruments::Instruments;
use crate::library::Answering;
use crate::transfer::Transfer;

/// More than one piece, and no whole number of them.
const ELEMENTS: usize = (1 << 17) + 77;

/// Those of both interfaces.
const DRIVERS: [fn() -> Driver; 2] = [cuda, hip];

fn instruments(driver: Driver) -> Instruments {
    let none = NoDevices::absent("not asked for");
    let (cuda, hip) = match driver.backend() {
        Backend::Hip => (Err(none.clone()), Ok(driver)),
        _ => (Ok(driver), Err(none.clone())),
    };
    Instruments { cuda, hip, opencl: Err(none) }
}

fn devices(driver: Driver) -> Vec<Accelerator> {
    find_of(&instruments(driver), driver.backend()).unwrap()
}

fn pages() -> Vec<f64> {
    (0..ELEMENTS).map(|index| index as f64 + 0.5).collect()
}

/// Opens a transfer by this driver, copies and looks, twice.
fn copied(
    driver: Driver,
    direction: TransferDirection,
    memory: HostMemory,
) -> Result<Vec<Option<u64>>, DeviceError> {
    let mut host = pages();
    let device = &devices(driver)[0];
    times_of(Transfer::open_with(&instruments(driver), device, direction, memory, &mut host)?)
}

fn copied_to_peer(driver: Driver) -> Result<Vec<Option<u64>>, DeviceError> {
    let [one, other] = &devices(driver)[..] else { panic!("two devices") };
    times_of(Transfer::open_peer_with(&instruments(driver), one, other, ELEMENTS as u64 * 8)?)
}

fn times_of(mut transfer: Transfer<'_>) -> Result<Vec<Option<u64>>, DeviceError> {
    let mut time = || {
        let time = transfer.copy()?.device_ns;
        transfer.check().map(|()| time)
    };
    Ok(vec![time()?, time()?])
}

fn nothing_is_held() {
    with(|state| {
        state.refusals.clear();
        assert_eq!(state.held(), 0);
    });
}

#[test]
fn devices_are_shown_as_the_driver_tells() {
    for (driver, backend, version) in
        [(cuda(), Backend::Cuda, "CUDA 12.8"), (hip(), Backend::Hip, "HIP 6.2.41134")]
    {
        let found = find_with(&instruments(driver));
        let [one, other] = &found.accelerators[..] else { panic!("{found:?}") };
        assert_eq!((one.backend, one.number, one.name.as_str()), (backend, 0, "Double 0"));
        assert_eq!((&one.id, &other.id), (&format!("{backend}0"), &format!("{backend}1")));
        assert_eq!(one.bus_id.as_deref(), Some("0000:3b:00.0"));
        assert_eq!((one.memory_bytes, &other.bus_id), (Some(1 << 30), &None));
        assert!(one.driver.as_ref().is_some_and(|driver| driver.ends_with(version)), "{one:?}");
        assert!(!one.shares_host_memory && other.shares_host_memory);
        assert_eq!(found.absent.len(), 2);
    }
}

#[test]
fn a_driver_that_does_not_start_is_absent_with_its_reason() {
    let stub =
        "libcuda.so.1 is a toolkit's stub, which stands for a driver where programs are built";
    for (driver, call, code, is_broken, expected) in [
        (cuda(), "init", 100, false, "NVIDIA's driver shows no device (CUDA_ERROR_NO_DEVICE)"),
        (cuda(), "init", 34, false, stub),
        (
            cuda(),
            "init",
            803,
            true,
            "NVIDIA's driver does not start: cuInit failed: CUDA's error 803",
        ),
        (
            cuda(),
            "device_count",
            4242,
            true,
            "NVIDIA's driver does not start: cuDeviceGetCount failed: CUDA's error 4242",
        ),
        (hip(), "init", 101, false, "AMD's HIP runtime shows no device (hipErrorInvalidDevice)"),
        (hip(), "init", 100, false, "AMD's HIP runtime shows no device (hipErrorNoDevice)"),
        (
            hip(),
            "init",
            34,
            true,
            "AMD's HIP runtime does not start: hipInit failed: HIP's error 34",
        ),
        (
            hip(),
            "device_count",
            999,
            true,
            "AMD's HIP runtime does not start: hipGetDeviceCount failed: hipErrorUnknown",
        ),
    ] {
        with(|state| state.refusals.insert(call, (0, code)));
        let why = find_of(&instruments(driver), driver.backend()).unwrap_err();
        assert_eq!((why.reason.as_str(), why.is_broken), (expected, is_broken));
        let found = find_with(&instruments(driver));
        assert_eq!(found.broken, Vec::from_iter(is_broken.then_some(driver.backend())));
        with(|state| state.refusals.clear());
    }
}

#[test]
fn what_is_copied_arrives_and_is_given_back() {
    for driver in DRIVERS {
        for memory in HostMemory::ALL {
            for direction in TransferDirection::WITH_HOST {
                let times = copied(driver(), direction, memory);
                let expected = Some(u64::from(direction.ways()) * 1_000_000);
                assert_eq!(times, Ok(vec![expected; 2]), "{direction}, {memory}");
                nothing_is_held();
            }
        }
        assert_eq!(copied_to_peer(driver()), Ok(vec![Some(1_000_000); 2]));
        nothing_is_held();
    }
}

/// A copy to a peer needs no access of its own: without it the driver goes by the host.
#[test]
fn peers_that_cannot_reach_each_other_are_copied_between_all_the_same() {
    for (driver, call) in [(cuda(), "cuCtxEnablePeerAccess"), (hip(), "hipDeviceEnablePeerAccess")]
    {
        for code in [704, 217, 711] {
            with(|state| state.refusals.insert("enable_peer_access", (0, code)));
            assert_eq!(copied_to_peer(driver), Ok(vec![Some(1_000_000); 2]), "{code}");
            nothing_is_held();
        }
        with(|state| state.refusals.insert("enable_peer_access", (0, 4242)));
        let error = copied_to_peer(driver).expect_err("refused");
        assert!(error.text.contains(&format!("{call} failed")), "{error}");
        nothing_is_held();
    }
}

#[test]
fn pages_are_registered_while_a_transfer_lives_if_they_are_to_be_pinned() {
    for driver in DRIVERS.map(|driver| driver()) {
        for (memory, expected) in [(HostMemory::Pinned, true), (HostMemory::Pageable, false)] {
            let mut host = pages();
            let start = host.as_ptr().addr();
            let (opened, device) = (instruments(driver), &devices(driver)[0]);
            let direction = TransferDirection::BothWays;
            let transfer =
                Transfer::open_with(&opened, device, direction, memory, &mut host).unwrap();
            assert_eq!(with(|state| state.is_registered(start)), expected);
            drop(transfer);
            assert!(!with(|state| state.is_registered(start)));
        }
    }
}

#[test]
fn devices_take_turns_on_one_thread() {
    for driver in DRIVERS.map(|driver| driver()) {
        let [one, other] = &devices(driver)[..] else { panic!("two devices") };
        let (mut first, mut second) = (pages(), pages());
        let opened = instruments(driver);
        let open = |device, host| {
            let (ways, memory) = (TransferDirection::BothWays, HostMemory::Pinned);
            Transfer::open_with(&opened, device, ways, memory, host).unwrap()
        };
        let mut transfers = [open(one, &mut first), open(other, &mut second)];
        for _ in 0..2 {
            for transfer in &mut transfers {
                transfer.copy().unwrap();
            }
            for transfer in &mut transfers {
                transfer.check().unwrap();
            }
        }
        drop(transfers);
        nothing_is_held();
    }
}

unsafe extern "C" fn to_device_stops_short(
    to: Address,
    from: *const c_void,
    bytes: usize,
    stream: Handle,
) -> i32 {
    // SAFETY: the double's own, with one byte less.
    unsafe { double::queue_to_device(to, from, bytes - 1, stream) }
}

unsafe extern "C" fn to_host_stops_short(
    into: *mut c_void,
    from: Address,
    bytes: usize,
    stream: Handle,
) -> i32 {
    // SAFETY: as above.
    unsafe { double::queue_to_host(into, from, bytes - 1, stream) }
}

/// The same driver with a change.
fn with_change(mut driver: Driver, change: impl FnOnce(&mut Driver)) -> Driver {
    change(&mut driver);
    driver
}

/// Functions that do nothing and say that all went well, in place of some.
fn out_is_not_made(driver: &mut Driver) {
    driver.calls.queue_to_device.function = Answering::answering::<0>();
}

fn in_is_not_made(driver: &mut Driver) {
    driver.calls.queue_to_host.function = Answering::answering::<0>();
}

fn across_is_not_made(driver: &mut Driver) {
    match &mut driver.own {
        Own::Cuda(own) => own.queue_to_peer = Answering::answering::<0>(),
        Own::Hip(own) => own.queue_to_peer = Answering::answering::<0>(),
    }
}

#[test]
fn a_copy_that_is_not_made_or_stops_short_is_seen() {
    let (out, back, both) =
        (TransferDirection::ToDevice, TransferDirection::ToHost, TransferDirection::BothWays);
    type Change = fn(&mut Driver);
    let cases: [(&str, Change, TransferDirection); 8] = [
        ("nothing goes out", out_is_not_made, out),
        ("nothing comes in", in_is_not_made, back),
        (
            "nothing either way",
            |driver| {
                out_is_not_made(driver);
                in_is_not_made(driver);
            },
            both,
        ),
        ("of both ways nothing comes in", in_is_not_made, both),
        ("of both ways nothing goes out", out_is_not_made, both),
        (
            "the last byte does not go out",
            |driver| driver.calls.queue_to_device.function = to_device_stops_short,
            out,
        ),
        (
            "the last byte does not come in",
            |driver| driver.calls.queue_to_host.function = to_host_stops_short,
            back,
        ),
        (
            "reading back does nothing",
            |driver| driver.calls.copy_to_host.function = Answering::answering::<0>(),
            out,
        ),
    ];
    for driver in DRIVERS.map(|driver| driver()) {
        for (case, change, direction) in cases {
            for memory in HostMemory::ALL {
                let lying = with_change(driver, change);
                let error = copied(lying, direction, memory).expect_err(case);
                assert_eq!(error.what, Kind::WrongData, "{case}: {error}");
                let device = format!("{}0 (Double 0): ", driver.backend());
                assert!(error.text.starts_with(&device), "{case}: {error}");
                nothing_is_held();
            }
        }
        let error = copied_to_peer(with_change(driver, across_is_not_made)).expect_err("nothing");
        assert_eq!(error.what, Kind::WrongData);
        nothing_is_held();
    }
}

/// A driver that copies once and never again: a look that left what arrived would believe it.
#[test]
fn a_copy_that_is_made_only_once_is_seen() {
    let mut host = pages();
    let lying = with_change(cuda(), |driver| driver.calls.queue_to_device.function = copies_once);
    let (opened, device) = (instruments(lying), &devices(lying)[0]);
    let (direction, memory) = (TransferDirection::ToDevice, HostMemory::Pageable);
    let mut transfer = Transfer::open_with(&opened, device, direction, memory, &mut host).unwrap();
    transfer.copy().unwrap();
    transfer.check().unwrap();
    transfer.copy().unwrap();
    assert_eq!(transfer.check().unwrap_err().what, Kind::WrongData);
    // It can still be used.
    transfer.copy().unwrap();
    assert_eq!(transfer.check().unwrap_err().what, Kind::WrongData);
}

unsafe extern "C" fn copies_once(
    to: Address,
    from: *const c_void,
    bytes: usize,
    stream: Handle,
) -> i32 {
    thread_local! {
        static DONE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    }
    if DONE.replace(true) {
        return 0;
    }
    // SAFETY: the double's own.
    unsafe { double::queue_to_device(to, from, bytes, stream) }
}

#[test]
fn each_refusal_is_told_and_leaves_nothing_behind() {
    const OUT_OF_MEMORY: i32 = 2;
    const LAUNCH_FAILED: i32 = 719;
    for (name, in_cuda, in_hip, good, code, what) in [
        ("init", "cuInit", "hipInit", 0, 999, Kind::Lost),
        ("device", "cuDeviceGet", "hipDeviceGet", 0, 101, Kind::Lost),
        ("retain_context", "cuDevicePrimaryCtxRetain", "", 0, OUT_OF_MEMORY, Kind::NoRoom),
        ("make_current", "cuCtxSetCurrent", "hipSetDevice", 0, OUT_OF_MEMORY, Kind::NoRoom),
        ("allocate", "cuMemAlloc of", "hipMalloc of", 0, OUT_OF_MEMORY, Kind::NoRoom),
        ("allocate", "cuMemAlloc of", "hipMalloc of", 1, OUT_OF_MEMORY, Kind::NoRoom),
        (
            "register_host",
            "cuMemHostRegister of",
            "hipHostRegister of",
            0,
            OUT_OF_MEMORY,
            Kind::NotPinned,
        ),
        ("register_host", "cuMemHostRegister of", "hipHostRegister of", 0, 712, Kind::NotPinned),
        (
            "register_host",
            "cuMemHostRegister of",
            "hipHostRegister of",
            0,
            LAUNCH_FAILED,
            Kind::Lost,
        ),
        ("create_stream", "cuStreamCreate", "hipStreamCreateWithFlags", 0, 2, Kind::NoRoom),
        ("create_stream", "cuStreamCreate", "hipStreamCreateWithFlags", 1, 2, Kind::NoRoom),
        ("create_event", "cuEventCreate", "hipEventCreateWithFlags", 2, 2, Kind::NoRoom),
        ("copy_to_device", "cuMemcpyHtoD", "hipMemcpyHtoD", 1, LAUNCH_FAILED, Kind::Lost),
        ("wait_for_device", "cuCtxSynchronize", "hipDeviceSynchronize", 0, 4242, Kind::Failed),
        ("queue_to_device", "cuMemcpyHtoDAsync", "hipMemcpyHtoDAsync", 0, 719, Kind::Lost),
        ("queue_to_host", "cuMemcpyDtoHAsync", "hipMemcpyDtoHAsync", 1, 214, Kind::Lost),
        ("record_event", "cuEventRecord", "hipEventRecord", 0, 1, Kind::Failed),
        ("stream_wait_for_event", "cuStreamWaitEvent", "hipStreamWaitEvent", 0, 1, Kind::Failed),
        ("wait_for_stream", "cuStreamSynchronize", "hipStreamSynchronize", 0, 700, Kind::Lost),
        ("copy_to_host", "cuMemcpyDtoH", "hipMemcpyDtoH", 0, 220, Kind::Lost),
    ] {
        for (driver, call) in [(cuda(), in_cuda), (hip(), in_hip)] {
            if call.is_empty() {
                continue;
            }
            // Shown before it refuses.
            let device = &devices(driver)[0];
            with(|state| state.refusals.insert(name, (good, code)));
            let error = refused(driver, device);
            assert_eq!(error.what, what, "{call}: {error}");
            assert!(error.text.contains(&format!("{call} ")), "{call}: {error}");
            assert!(error.text.starts_with(&device.id), "{call}: {error}");
            nothing_is_held();
        }
    }
}

/// Copies both ways with pinned pages until something fails, and sees that it fails from then on.
fn refused(driver: Driver, device: &Accelerator) -> DeviceError {
    let mut host = pages();
    let opened = instruments(driver);
    let (direction, memory) = (TransferDirection::BothWays, HostMemory::Pinned);
    let mut transfer = match Transfer::open_with(&opened, device, direction, memory, &mut host) {
        Ok(transfer) => transfer,
        Err(error) => return error,
    };
    for _ in 0..3 {
        if let Err(error) = transfer.copy().and_then(|_| transfer.check()) {
            with(|state| state.refusals.clear());
            assert_eq!(transfer.copy().expect_err("it is broken"), error);
            assert_eq!(transfer.check().expect_err("it is broken"), error);
            return error;
        }
    }
    panic!("nothing was refused");
}

/// A device that goes in the middle: nothing can be given back any more, and nothing panics.
#[test]
fn a_device_that_is_lost_is_let_go_of_without_a_panic() {
    for driver in DRIVERS.map(|driver| driver()) {
        let mut host = pages();
        let (opened, device) = (instruments(driver), &devices(driver)[0]);
        let (direction, memory) = (TransferDirection::BothWays, HostMemory::Pinned);
        let mut transfer =
            Transfer::open_with(&opened, device, direction, memory, &mut host).unwrap();
        transfer.copy().unwrap();
        for name in [
            "make_current",
            "wait_for_stream",
            "destroy_stream",
            "destroy_event",
            "free",
            "unregister_host",
            "release_context",
        ] {
            with(|state| state.refusals.insert(name, (0, 719)));
        }
        assert_eq!(transfer.copy().unwrap_err().what, Kind::Lost);
        drop(transfer);
        with(|state| *state = double::State::default());
    }
}

/// Times that the driver does not tell are absent.
#[test]
fn a_clock_that_says_nothing_is_none() {
    for driver in DRIVERS {
        with(|state| state.refusals.insert("elapsed_ms", (0, 600)));
        let times = copied(driver(), TransferDirection::BothWays, HostMemory::Pinned);
        assert_eq!(times, Ok(vec![None, None]));
        nothing_is_held();
    }
}
