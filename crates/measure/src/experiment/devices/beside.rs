//! Transfers beside what else uses the memory, the links and the devices: who loses what.

use nearfar_machine::{
    Accelerator, Binding, HostMemory, MemoryPolicy, TransferDirection as Direction,
};
use nearfar_record::{
    Absent, Actor, Case, Coordinates, DeviceCoordinates, DeviceStreamCoordinates, ReasonCode,
    Stream, Transfer, TransferBeside,
};

use super::sizes::Sizes;
use super::{Place, near, size_word};
use crate::experiment::omitted::{omitted, omitted_for};
use crate::experiment::setting::Setting;
use crate::experiment::stream::StreamPlan;

/// What loads the memory beside transfers: reads.
const KERNEL: &str = "load";

const ONE_WAY: [Direction; 2] = [Direction::ToDevice, Direction::ToHost];

/// Beside streams on the node next to each device, beside each other device, and between devices.
pub(super) fn cases(
    setting: Setting<'_>,
    devices: &[&Accelerator],
    places: &[Place],
) -> Vec<Result<Case, Absent>> {
    let mut cases = beside_streams(setting, devices, places);
    for (position, device) in devices.iter().enumerate() {
        for other in &devices[position + 1..] {
            // One device that two interfaces show is no second one.
            if device.bus_id.is_none() || device.bus_id != other.bus_id {
                cases.extend(beside_device(setting, (device, other), places));
            }
        }
        for other in devices.iter().filter(|other| other.backend == device.backend) {
            if other.id != device.id {
                cases.extend(to_peer(setting, (device, other), places).map(Ok));
            }
        }
    }
    cases
}

fn beside_streams(
    setting: Setting<'_>,
    devices: &[&Accelerator],
    places: &[Place],
) -> Vec<Result<Case, Absent>> {
    let mut cases: Vec<Result<Case, Absent>> = Vec::new();
    let mut loaded: Vec<u32> = Vec::new();
    for device in devices {
        let Some(place) = near(device, places) else { continue };
        let of_device = format!("devices/{}/node{}/beside", device.id, place.node);
        let stream = match stream(setting, place) {
            Ok(stream) => stream,
            Err(absent) => {
                cases.push(Err(Absent { case: of_device, ..absent }));
                continue;
            }
        };
        if !loaded.contains(&place.node) {
            loaded.push(place.node);
            cases.push(Ok(alone(place, stream.clone())));
        }
        let sizes = Sizes::of(setting, device, places);
        for direction in ONE_WAY {
            let Some(bytes) = sizes.largest(place.node, direction) else { continue };
            let transfer = place.transfer(setting, device, direction, HostMemory::Pinned, bytes);
            let beside = TransferBeside::Streams {
                kernel: stream.kernel.clone(),
                variant: stream.variant.clone(),
                threads: stream.threads,
            };
            cases.push(Ok(Case {
                id: format!("{}/beside/{KERNEL}/t{}", place.id(&transfer), stream.threads),
                coordinates: vec![place.coordinates(&transfer, 0, Some(beside))],
                actors: vec![Actor::Transfer(transfer), Actor::Stream(stream.clone())],
            }));
        }
    }
    cases
}

/// All cores of the initiator but the one of the transfer's thread.
fn stream(setting: Setting<'_>, place: &Place) -> Result<Stream, Absent> {
    let initiator = &place.initiator;
    let others: Vec<u32> = initiator.thread_cpus.iter().copied().skip(1).collect();
    if others.is_empty() {
        let text = format!(
            "of initiator {} one core may be used: nothing can run beside a transfer",
            initiator.index()
        );
        return Err(omitted("devices", ReasonCode::OneCore, text));
    }
    let of = setting.preferred("devices", KERNEL)?;
    let memory = MemoryPolicy::Preferred(place.node);
    let plan = StreamPlan::pinned(others.iter().copied().collect(), others, &of, memory, 2);
    plan.on_memory(setting).map_err(|reason| omitted_for("devices", reason))
}

/// The streams without the transfer.
fn alone(place: &Place, stream: Stream) -> Case {
    Case {
        id: format!("devices/node{}/{KERNEL}/t{}", place.node, stream.threads),
        coordinates: vec![Coordinates::Devices(DeviceCoordinates::Streams(
            DeviceStreamCoordinates {
                initiator: place.initiator.index(),
                cpu_node: place.initiator.initiator.cpu_node,
                memory_node: place.node,
                kernel: stream.kernel.clone(),
                variant: stream.variant.clone(),
                threads: stream.threads,
            },
        ))],
        actors: vec![Actor::Stream(stream)],
    }
}

/// Two devices at once, the same way, each with the memory next to it and a thread of its own.
fn beside_device(
    setting: Setting<'_>,
    (device, other): (&Accelerator, &Accelerator),
    places: &[Place],
) -> Vec<Result<Case, Absent>> {
    let (Some(place), Some(other_place)) = (near(device, places), near(other, places)) else {
        return Vec::new();
    };
    let Some(other_cpu) = other_cpu(place, other_place) else {
        let text = format!(
            "of initiator {} one core may be used, and each transfer needs one",
            place.initiator.index()
        );
        let case = format!("devices/{}/node{}/beside/{}", device.id, place.node, other.id);
        return vec![Err(omitted(case, ReasonCode::OneCore, text))];
    };
    let (sizes, other_sizes) =
        (Sizes::of(setting, device, places), Sizes::of(setting, other, places));
    let case = |direction| {
        let fits = [
            sizes.largest(place.node, direction)?,
            other_sizes.largest(other_place.node, direction)?,
        ];
        let bytes = fits.into_iter().min()?;
        let own = place.transfer(setting, device, direction, HostMemory::Pinned, bytes);
        let second = other_place.transfer(setting, other, direction, HostMemory::Pinned, bytes);
        let second = Transfer { thread_cpu: other_cpu, ..second };
        let beside = |it: &Accelerator| Some(TransferBeside::Device { device: it.id.clone() });
        Some(Ok(Case {
            id: format!("{}/beside/{}", place.id(&own), other.id),
            coordinates: vec![
                place.coordinates(&own, 0, beside(other)),
                other_place.coordinates(&second, 1, beside(device)),
            ],
            actors: vec![Actor::Transfer(own), Actor::Transfer(second)],
        }))
    };
    ONE_WAY.into_iter().filter_map(case).collect()
}

/// The CPU of the second transfer's thread, another than the first's.
fn other_cpu(place: &Place, other: &Place) -> Option<u32> {
    other.initiator.thread_cpus.iter().copied().find(|&cpu| cpu != place.thread_cpu())
}

/// From one device to another, by a thread next to the first.
fn to_peer(
    setting: Setting<'_>,
    (device, peer): (&Accelerator, &Accelerator),
    places: &[Place],
) -> Option<Case> {
    let place = near(device, places)?;
    let of_both = [device, peer].map(|it| Sizes::of(setting, it, places));
    let fits = of_both.iter().map(|sizes| sizes.largest(place.node, Direction::ToPeer));
    let bytes = fits.min()??;
    let transfer = Transfer {
        device: device.id.clone(),
        peer: Some(peer.id.clone()),
        backend: device.backend,
        direction: Direction::ToPeer,
        host_memory: None,
        binding: Binding { cpus: place.initiator.cpus.clone(), memory: MemoryPolicy::FirstTouch },
        thread_cpu: place.thread_cpu(),
        bytes,
        pages: setting.inputs.pages,
    };
    Some(Case {
        id: format!("devices/{}/to_peer/{}/{}", device.id, peer.id, size_word(bytes)),
        coordinates: vec![place.coordinates(&transfer, 0, None)],
        actors: vec![Actor::Transfer(transfer)],
    })
}
