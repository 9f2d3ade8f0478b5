//! Devices that say no before anything is copied. Those that lie about copies, or are lost among
//! them, are in `nearfar-devices`, whose tests put such drivers in place of real ones.

use std::time::Duration;

use nearfar_devices::{DeviceError, Kind};
use nearfar_machine::{
    Accelerator, Backend, Binding, CpuSet, HostMemory, NodeSet, TransferDirection,
};
use nearfar_record::{Actor, Case, Pages, ReasonCode, TrafficMethod, Transfer};

use super::{alone, machine, own_place};
use crate::executor::{Executor, Failure, Interrupt, WindowRequest};
use crate::native::NativeExecutor;
use crate::native::instruments::{Instruments, OpenTransfer};

fn transfer(device: &str) -> Case {
    let (cpu, memory) = own_place();
    let transfer = Transfer {
        device: device.into(),
        peer: None,
        backend: Backend::Cuda,
        direction: TransferDirection::ToDevice,
        host_memory: Some(HostMemory::Pinned),
        binding: Binding { cpus: CpuSet::single(cpu), memory },
        thread_cpu: cpu,
        bytes: 1 << 20,
        pages: Pages::Small,
    };
    Case { id: device.into(), coordinates: Vec::new(), actors: vec![Actor::Transfer(transfer)] }
}

fn run(device: &str, open_transfer: OpenTransfer) -> Failure {
    let _alone = alone();
    let known = Accelerator {
        id: "cuda0".into(),
        backend: Backend::Cuda,
        number: 0,
        name: "an accelerator".into(),
        driver: None,
        bus_id: None,
        memory_bytes: None,
        shares_host_memory: false,
        nodes: NodeSet::new(),
    };
    let stores = TrafficMethod::EvasionPossible;
    let executor = NativeExecutor::new(machine(), stores, None, 7, Interrupt::default());
    let mut executor = executor.with_devices(vec![known]);
    executor.instruments = Instruments { open_transfer, ..Instruments::default() };
    let case = transfer(device);
    executor.begin_round(&[&case]);
    let request =
        WindowRequest { round: 0, first: 0, count: 1, shortest: Duration::from_millis(5) };
    executor.run(&case, request).unwrap_err()
}

fn reason(failure: Failure) -> (ReasonCode, String) {
    match failure {
        Failure::Refused(reason) => (reason.code, reason.text),
        Failure::Interrupted => panic!("interrupted"),
    }
}

#[test]
fn what_a_device_says_is_the_reason() {
    let refusals: [(OpenTransfer, ReasonCode, &str); 3] = [
        (
            |_, _, _, _| {
                Err(DeviceError { what: Kind::NotPinned, text: "cannot be locked".into() })
            },
            ReasonCode::NotPinned,
            "cannot be locked",
        ),
        (
            |_, _, _, _| Err(DeviceError { what: Kind::NoRoom, text: "out of memory".into() }),
            ReasonCode::DeviceFailed,
            "out of memory",
        ),
        (
            |_, _, _, _| Err(DeviceError { what: Kind::Lost, text: "fell off the bus".into() }),
            ReasonCode::DeviceFailed,
            "fell off the bus",
        ),
    ];
    for (open_transfer, code, words) in refusals {
        let (found, text) = reason(run("cuda0", open_transfer));
        assert_eq!(found, code);
        assert!(text.contains(words), "{text}");
    }
}

/// A record may be continued where its devices are no more.
#[test]
fn a_device_that_is_not_known_is_refused() {
    let (code, text) = reason(run("cuda7", Instruments::default().open_transfer));
    assert_eq!(code, ReasonCode::DeviceFailed);
    assert!(text.contains("cuda7"), "{text}");
}
