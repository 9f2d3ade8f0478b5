//! Transfers by a driver that is a double: what it does right arrives, what it leaves undone is
//! seen, what it refuses is told, and all that it hands out is given back.

use std::ffi::c_void;

use nearfar_machine::{Accelerator, Backend, HostMemory, TransferDirection};

use super::double::{FUNCTIONS, with};
use super::functions::{Address, Functions, Handle};
use crate::device_error::{DeviceError, Kind};
use crate::found::{NoDevices, find_with};
use crate::instruments::Instruments;
use crate::library::Answering;
use crate::transfer::Transfer;

/// More than one piece, and no whole number of them.
const ELEMENTS: usize = (1 << 17) + 77;

fn instruments(cuda: Functions) -> Instruments {
    Instruments { cuda: Ok(cuda), opencl: Err(NoDevices::absent("not asked for")) }
}

fn devices() -> Vec<Accelerator> {
    find_with(&instruments(FUNCTIONS)).accelerators
}

fn pages() -> Vec<f64> {
    (0..ELEMENTS).map(|index| index as f64 + 0.5).collect()
}

/// Opens a transfer by this driver, copies and looks, twice.
fn copied(
    cuda: Functions,
    direction: TransferDirection,
    memory: HostMemory,
) -> Result<Vec<Option<u64>>, DeviceError> {
    let mut host = pages();
    let transfer =
        Transfer::open_with(&instruments(cuda), &devices()[0], direction, memory, &mut host)?;
    times_of(transfer)
}

fn copied_to_peer(cuda: Functions) -> Result<Vec<Option<u64>>, DeviceError> {
    let [one, other] = &devices()[..] else { panic!("two devices") };
    times_of(Transfer::open_peer_with(&instruments(cuda), one, other, ELEMENTS as u64 * 8)?)
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
    let found = find_with(&instruments(FUNCTIONS));
    let [one, other] = &found.accelerators[..] else { panic!("{found:?}") };
    assert_eq!(one.backend, Backend::Cuda);
    assert_eq!((one.id.as_str(), one.number, one.name.as_str()), ("cuda0", 0, "Double 0"));
    assert_eq!(one.bus_id.as_deref(), Some("0000:3b:00.0"));
    assert_eq!(one.memory_bytes, Some(1 << 30));
    assert!(one.driver.as_ref().is_some_and(|driver| driver.ends_with("CUDA 12.8")));
    assert!(!one.shares_host_memory && other.shares_host_memory);
    assert_eq!((other.id.as_str(), other.bus_id.as_deref()), ("cuda1", None));
    assert_eq!(found.absent.len(), 1);
}

#[test]
fn a_driver_that_does_not_start_is_absent_with_its_reason() {
    for (symbol, code, is_broken, expected) in [
        ("cuInit", 100, false, "NVIDIA's driver shows no device (CUDA_ERROR_NO_DEVICE)"),
        (
            "cuInit",
            34,
            false,
            "libcuda.so.1 is a toolkit's stub, which stands for a driver where programs are built",
        ),
        ("cuInit", 803, true, "NVIDIA's driver does not start: cuInit failed: CUDA's error 803"),
        (
            "cuDeviceGetCount",
            4242,
            true,
            "NVIDIA's driver does not start: cuDeviceGetCount failed: CUDA's error 4242",
        ),
    ] {
        with(|state| state.refusals.insert(symbol, (0, code)));
        let found = find_with(&instruments(FUNCTIONS));
        assert_eq!(found.accelerators, []);
        assert_eq!(found.absent[0].backend, Backend::Cuda);
        assert_eq!(found.absent[0].reason, expected);
        assert_eq!(
            found.broken,
            is_broken.then_some(Backend::Cuda).into_iter().collect::<Vec<_>>()
        );
        with(|state| state.refusals.clear());
    }
}

#[test]
fn what_is_copied_arrives_and_is_given_back() {
    for memory in HostMemory::ALL {
        for direction in TransferDirection::WITH_HOST {
            let times = copied(FUNCTIONS, direction, memory);
            let expected = Some(u64::from(direction.ways()) * 1_000_000);
            assert_eq!(times, Ok(vec![expected; 2]), "{direction}, {memory}");
            nothing_is_held();
        }
    }
    assert_eq!(copied_to_peer(FUNCTIONS), Ok(vec![Some(1_000_000); 2]));
    nothing_is_held();
}

/// A copy to a peer needs no access of its own: without it the driver goes by the host.
#[test]
fn peers_that_cannot_reach_each_other_are_copied_between_all_the_same() {
    for code in [704, 217, 711] {
        with(|state| state.refusals.insert("cuCtxEnablePeerAccess", (0, code)));
        assert_eq!(copied_to_peer(FUNCTIONS), Ok(vec![Some(1_000_000); 2]), "{code}");
        nothing_is_held();
    }
    with(|state| state.refusals.insert("cuCtxEnablePeerAccess", (0, 4242)));
    let error = copied_to_peer(FUNCTIONS).expect_err("refused");
    assert!(error.text.contains("cuCtxEnablePeerAccess failed"), "{error}");
    nothing_is_held();
}

#[test]
fn pages_are_registered_while_a_transfer_lives_if_they_are_to_be_pinned() {
    for (memory, expected) in [(HostMemory::Pinned, true), (HostMemory::Pageable, false)] {
        let mut host = pages();
        let start = host.as_ptr().addr();
        let direction = TransferDirection::BothWays;
        let opened = instruments(FUNCTIONS);
        let transfer =
            Transfer::open_with(&opened, &devices()[0], direction, memory, &mut host).unwrap();
        assert_eq!(with(|state| state.is_registered(start)), expected);
        drop(transfer);
        assert!(!with(|state| state.is_registered(start)));
    }
}

#[test]
fn devices_take_turns_on_one_thread() {
    let [one, other] = &devices()[..] else { panic!("two devices") };
    let (mut first, mut second) = (pages(), pages());
    let opened = instruments(FUNCTIONS);
    let open = |device, host| {
        Transfer::open_with(&opened, device, TransferDirection::BothWays, HostMemory::Pinned, host)
            .unwrap()
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

unsafe extern "C" fn to_device_stops_short(
    to: Address,
    from: *const c_void,
    bytes: usize,
    stream: Handle,
) -> i32 {
    // SAFETY: the double's own, with one byte less.
    unsafe { (FUNCTIONS.queue_to_device)(to, from, bytes - 1, stream) }
}

unsafe extern "C" fn to_host_stops_short(
    into: *mut c_void,
    from: Address,
    bytes: usize,
    stream: Handle,
) -> i32 {
    // SAFETY: as above.
    unsafe { (FUNCTIONS.queue_to_host)(into, from, bytes - 1, stream) }
}

#[test]
fn a_copy_that_is_not_made_or_stops_short_is_seen() {
    let nothing = Functions {
        queue_to_device: Answering::answering::<0>(),
        queue_to_host: Answering::answering::<0>(),
        queue_to_peer: Answering::answering::<0>(),
        ..FUNCTIONS
    };
    let out_only = Functions { queue_to_host: Answering::answering::<0>(), ..FUNCTIONS };
    let in_only = Functions { queue_to_device: Answering::answering::<0>(), ..FUNCTIONS };
    let short_out = Functions { queue_to_device: to_device_stops_short, ..FUNCTIONS };
    let short_in = Functions { queue_to_host: to_host_stops_short, ..FUNCTIONS };
    let blind = Functions { copy_to_host: Answering::answering::<0>(), ..FUNCTIONS };
    let (out, back, both) =
        (TransferDirection::ToDevice, TransferDirection::ToHost, TransferDirection::BothWays);
    for (case, functions, direction) in [
        ("nothing goes out", nothing, out),
        ("nothing comes in", nothing, back),
        ("nothing either way", nothing, both),
        ("of both ways nothing comes in", out_only, both),
        ("of both ways nothing goes out", in_only, both),
        ("the last byte does not go out", short_out, out),
        ("the last byte does not come in", short_in, back),
        ("reading back does nothing", blind, out),
    ] {
        for memory in HostMemory::ALL {
            let error = copied(functions, direction, memory).expect_err(case);
            assert_eq!(error.what, Kind::WrongData, "{case}: {error}");
            assert!(error.text.starts_with("cuda0 (Double 0): "), "{case}: {error}");
            nothing_is_held();
        }
    }
    assert_eq!(copied_to_peer(nothing).expect_err("nothing").what, Kind::WrongData);
    nothing_is_held();
}

/// A driver that copies once and never again: a look that left what arrived would believe it.
#[test]
fn a_copy_that_is_made_only_once_is_seen() {
    let mut host = pages();
    let opened = instruments(Functions { queue_to_device: copies_once, ..FUNCTIONS });
    let mut transfer = Transfer::open_with(
        &opened,
        &devices()[0],
        TransferDirection::ToDevice,
        HostMemory::Pageable,
        &mut host,
    )
    .unwrap();
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
    unsafe { (FUNCTIONS.queue_to_device)(to, from, bytes, stream) }
}

#[test]
fn each_refusal_is_told_and_leaves_nothing_behind() {
    const OUT_OF_MEMORY: i32 = 2;
    const LAUNCH_FAILED: i32 = 719;
    for (symbol, good, code, what) in [
        ("cuInit", 0, 999, Kind::Lost),
        ("cuDeviceGet", 0, 101, Kind::Lost),
        ("cuDevicePrimaryCtxRetain", 0, OUT_OF_MEMORY, Kind::NoRoom),
        ("cuMemAlloc_v2", 0, OUT_OF_MEMORY, Kind::NoRoom),
        ("cuMemAlloc_v2", 1, OUT_OF_MEMORY, Kind::NoRoom),
        ("cuMemHostRegister_v2", 0, OUT_OF_MEMORY, Kind::NotPinned),
        ("cuMemHostRegister_v2", 0, 712, Kind::NotPinned),
        ("cuMemHostRegister_v2", 0, LAUNCH_FAILED, Kind::Lost),
        ("cuStreamCreate", 0, OUT_OF_MEMORY, Kind::NoRoom),
        ("cuStreamCreate", 1, OUT_OF_MEMORY, Kind::NoRoom),
        ("cuEventCreate", 2, OUT_OF_MEMORY, Kind::NoRoom),
        ("cuMemcpyHtoD_v2", 1, LAUNCH_FAILED, Kind::Lost),
        ("cuCtxSynchronize", 0, 4242, Kind::Failed),
        ("cuMemcpyHtoDAsync_v2", 0, LAUNCH_FAILED, Kind::Lost),
        ("cuMemcpyDtoHAsync_v2", 1, 214, Kind::Lost),
        ("cuEventRecord", 0, 1, Kind::Failed),
        ("cuStreamWaitEvent", 0, 1, Kind::Failed),
        ("cuStreamSynchronize", 0, 700, Kind::Lost),
        ("cuMemcpyDtoH_v2", 0, 220, Kind::Lost),
    ] {
        with(|state| state.refusals.insert(symbol, (good, code)));
        let error = refused(symbol);
        assert_eq!(error.what, what, "{symbol}: {error}");
        let call = symbol.trim_end_matches("_v2");
        assert!(error.text.contains(call), "{symbol}: {error}");
        assert!(error.text.contains("cuda0"), "{symbol}: {error}");
        nothing_is_held();
    }
}

/// Copies both ways with pinned pages until something fails, and sees that it fails from then on.
fn refused(symbol: &str) -> DeviceError {
    let mut host = pages();
    let opened = instruments(FUNCTIONS);
    let device = Accelerator {
        id: "cuda0".into(),
        backend: Backend::Cuda,
        number: 0,
        name: "Double 0".into(),
        driver: None,
        bus_id: None,
        memory_bytes: None,
        shares_host_memory: false,
        nodes: nearfar_machine::NodeSet::new(),
    };
    let direction = TransferDirection::BothWays;
    let mut transfer =
        match Transfer::open_with(&opened, &device, direction, HostMemory::Pinned, &mut host) {
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
    panic!("{symbol} was not called");
}

/// A device that goes in the middle: nothing can be given back any more, and nothing panics.
#[test]
fn a_device_that_is_lost_is_let_go_of_without_a_panic() {
    let mut host = pages();
    let opened = instruments(FUNCTIONS);
    let mut transfer = Transfer::open_with(
        &opened,
        &devices()[0],
        TransferDirection::BothWays,
        HostMemory::Pinned,
        &mut host,
    )
    .unwrap();
    transfer.copy().unwrap();
    for symbol in [
        "cuCtxSetCurrent",
        "cuStreamSynchronize",
        "cuStreamDestroy_v2",
        "cuEventDestroy_v2",
        "cuMemFree_v2",
        "cuMemHostUnregister",
        "cuDevicePrimaryCtxRelease_v2",
    ] {
        with(|state| state.refusals.insert(symbol, (0, 719)));
    }
    assert_eq!(transfer.copy().unwrap_err().what, Kind::Lost);
    drop(transfer);
}

/// Times that the driver does not tell are absent.
#[test]
fn a_clock_that_says_nothing_is_none() {
    with(|state| state.refusals.insert("cuEventElapsedTime", (0, 600)));
    let times = copied(FUNCTIONS, TransferDirection::BothWays, HostMemory::Pinned);
    assert_eq!(times, Ok(vec![None, None]));
    nothing_is_held();
}
