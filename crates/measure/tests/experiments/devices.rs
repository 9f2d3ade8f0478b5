use nearfar_flow::read_machine;
use nearfar_machine::{AbsentBackend, Accelerator, Backend, HostMemory, TransferDirection};
use nearfar_measure::experiment::{Planned, plan};
use nearfar_measure::order_of_round;
use nearfar_measure::simulated::new_record;
use nearfar_record::{
    Actor, Case, Coordinates, DeviceCoordinates, DeviceInputs, Experiment, Inputs, Suite,
    TransferBeside, TransferCoordinates,
};

use crate::machines::{ids, offered};

/// The plan for a simulated machine, its devices changed.
fn planned_with(name: &str, suite: Suite, change: impl FnOnce(&mut DeviceInputs)) -> Planned {
    let simulated = read_machine(name).unwrap();
    let inputs =
        Inputs { experiments: vec![Experiment::Devices], ..nearfar_measure::suite_inputs(suite) };
    let mut record = new_record(&simulated, inputs, false);
    change(record.header.inputs.devices.as_mut().unwrap());
    let variants = offered();
    plan(Experiment::Devices, 0, &variants, &record)
}

fn planned(name: &str, suite: Suite) -> Planned {
    planned_with(name, suite, |_| {})
}

fn transfers(case: &Case) -> Vec<&TransferCoordinates> {
    let place = |coordinates| match coordinates {
        &Coordinates::Devices(DeviceCoordinates::Transfer(ref place)) => Some(place),
        _ => None,
    };
    case.coordinates.iter().filter_map(place).collect()
}

/// Transfers that run alone.
fn alone(planned: &Planned) -> Vec<TransferCoordinates> {
    let all = planned.cases.iter().flat_map(transfers);
    all.filter(|place| place.beside.is_none()).cloned().collect()
}

/// Why things are left out.
fn reasons(planned: &Planned) -> Vec<&str> {
    planned.absent.iter().map(|absent| absent.reason.text.as_str()).collect()
}

#[test]
fn quick_copies_from_every_node_to_every_device_and_back() {
    let planned = planned("amd-2p", Suite::Quick);
    let places = alone(&planned);
    assert_eq!(planned.cases.len(), 4 * 2 * 2);
    for device in ["cuda0", "cuda1"] {
        for node in 0..4 {
            for direction in [TransferDirection::ToDevice, TransferDirection::ToHost] {
                let found = places.iter().filter(|place| {
                    (place.device.as_str(), place.memory_node, place.direction)
                        == (device, Some(node), direction)
                });
                let found: Vec<_> = found.collect();
                assert_eq!(found.len(), 1, "{device} {node} {direction}");
                assert_eq!(found[0].initiator, node, "the thread is next to its pages");
                assert_eq!(found[0].bytes, 64 << 20);
            }
        }
    }
}

#[test]
fn standard_has_sizes_contention_and_peers() {
    let planned = planned("amd-2p", Suite::Standard);
    let ids = ids(&planned);
    for id in [
        "devices/cuda0/node3/both_ways/pinned/64MiB",
        "devices/cuda1/node2/to_host/pageable/64MiB",
        "devices/cuda0/node0/to_device/pinned/1KiB",
        "devices/cuda0/node0/to_host/pinned/4MiB",
        "devices/node0/load/t3",
        "devices/cuda0/node0/to_host/pinned/64MiB/beside/load/t3",
        "devices/cuda0/node0/to_device/pinned/64MiB/beside/cuda1",
        "devices/cuda0/to_peer/cuda1/64MiB",
        "devices/cuda1/to_peer/cuda0/64MiB",
    ] {
        assert!(ids.contains(&id), "{id} is not among {ids:#?}");
    }
    // Small copies are of the node next to the device only.
    assert!(!ids.contains(&"devices/cuda0/node3/to_device/pinned/1KiB"));
}

#[test]
fn full_has_the_sizes_of_shoc() {
    let planned = planned("two-socket-4-gpus", Suite::Full);
    let mut sizes: Vec<u64> = alone(&planned)
        .into_iter()
        .filter(|place| {
            place.device == "cuda1"
                && place.memory_node == Some(2)
                && place.direction == TransferDirection::ToHost
                && place.host_memory == Some(HostMemory::Pinned)
        })
        .map(|place| place.bytes)
        .collect();
    sizes.sort_unstable();
    assert_eq!(sizes, (10..30).map(|power| 1 << power).collect::<Vec<u64>>());
    // The farthest node is of the other package.
    let small = |place: &TransferCoordinates| place.device == "cuda1" && place.bytes == 1 << 10;
    let nodes: Vec<_> =
        alone(&planned).into_iter().filter(small).map(|it| it.memory_node).collect();
    assert!(nodes.iter().any(|node| node.is_some_and(|node| node > 3)), "{nodes:?}");
}

/// Devices at different nodes copy from and to their own, by threads of their own.
#[test]
fn two_devices_at_once_have_a_thread_each() {
    for machine in ["amd-2p", "amd-2p-two-hubs"] {
        let planned = planned(machine, Suite::Standard);
        let together: Vec<&Case> =
            planned.cases.iter().filter(|case| transfers(case).len() == 2).collect();
        assert_eq!(together.len(), 2, "one each way");
        for case in together {
            let cpus: Vec<u32> = case.actors.iter().flat_map(Actor::thread_cpus).copied().collect();
            assert_ne!(cpus[0], cpus[1]);
            let nodes: Vec<_> = transfers(case).iter().map(|place| place.memory_node).collect();
            let expected = if machine == "amd-2p" { 0 } else { 2 };
            assert_eq!(nodes, [Some(0), Some(expected)]);
            for (position, place) in transfers(case).into_iter().enumerate() {
                assert_eq!(place.actor as usize, position);
                let other = if position == 0 { "cuda1" } else { "cuda0" };
                assert_eq!(place.beside, Some(TransferBeside::Device { device: other.into() }));
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_left_out_with_its_reason() {
    let planned = planned_with("amd-2p", Suite::Full, |devices| {
        devices.accelerators[1].memory_bytes = Some(100 << 20);
    });
    let largest = |device: &str, direction| {
        let all = alone(&planned).into_iter();
        let of = all.filter(|place| place.device == device && place.direction == direction);
        of.map(|place| place.bytes).max()
    };
    // A quarter of 3 GiB holds 512 MiB one way and 256 MiB both ways; of 100 MiB 16 and 8.
    assert_eq!(largest("cuda0", TransferDirection::ToHost), Some(512 << 20));
    assert_eq!(largest("cuda0", TransferDirection::BothWays), Some(256 << 20));
    assert_eq!(largest("cuda1", TransferDirection::ToHost), Some(16 << 20));
    assert_eq!(largest("cuda1", TransferDirection::BothWays), Some(8 << 20));
    let reasons = reasons(&planned);
    assert!(reasons.iter().any(|reason| reason.contains("32MiB")), "{reasons:?}");
}

#[test]
fn a_machine_without_devices_says_why() {
    let planned = planned_with("amd-2p", Suite::Standard, |devices| {
        *devices = DeviceInputs {
            accelerators: Vec::new(),
            absent: vec![AbsentBackend {
                backend: Backend::Cuda,
                reason: "libcuda.so.1 is not there".into(),
            }],
        };
    });
    assert!(planned.cases.is_empty());
    let reasons = reasons(&planned);
    assert_eq!(reasons.len(), 1);
    assert!(reasons[0].contains("cuda: libcuda.so.1 is not there"), "{reasons:?}");
}

/// One device that CUDA and OpenCL show is measured by CUDA, in `full` by both, and never beside
/// itself.
#[test]
fn a_device_that_two_interfaces_show_is_measured_once() {
    let twice = |devices: &mut DeviceInputs| {
        let first = devices.accelerators[0].clone();
        devices.accelerators.truncate(1);
        devices.accelerators.push(Accelerator {
            id: "opencl0".into(),
            backend: Backend::Opencl,
            ..first
        });
    };
    let standard = planned_with("amd-2p", Suite::Standard, twice);
    assert!(alone(&standard).iter().all(|place| place.device == "cuda0"));
    assert!(reasons(&standard).iter().any(|reason| reason.contains("same device as cuda0")));
    let full = planned_with("amd-2p", Suite::Full, twice);
    assert!(alone(&full).iter().any(|place| place.device == "opencl0"));
    assert!(full.cases.iter().all(|case| transfers(case).len() < 2));
}

#[test]
fn rounds_go_forward_then_backward() {
    let planned = planned("amd-2p", Suite::Quick);
    let cases: Vec<&Case> = planned.cases.iter().collect();
    let ids = |round| -> Vec<&str> {
        order_of_round(&cases, 1, round).into_iter().map(|case| case.id.as_str()).collect()
    };
    let mut backward = ids(0);
    backward.reverse();
    assert_eq!(ids(1), backward);
    assert_eq!(ids(2), ids(0));
    assert_eq!(ids(0), cases.iter().map(|case| case.id.as_str()).collect::<Vec<_>>());
}
