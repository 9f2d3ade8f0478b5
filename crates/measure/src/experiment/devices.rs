//! `devices`: copies between the memory of every node and every device, both ways, at once, alone
//! and beside other traffic (braithwaite2012, algorithm 3, whose transfers are SHOC's
//! BusSpeedDownload and BusSpeedReadback). The host's thread runs next to the node of its pages.

mod beside;
mod sizes;

use nearfar_machine::{
    Accelerator, Binding, HostMemory, MemoryPolicy, TransferDirection as Direction,
};
use nearfar_record::{
    Absent, Actor, Case, Coordinates, DeviceCoordinates, DeviceInputs, Experiment, ReasonCode,
    Suite, Transfer, TransferBeside, TransferCoordinates,
};

use self::sizes::Sizes;
use super::Planned;
use super::latency::size_word;
use super::omitted::{omitted, unusable_parts};
use super::setting::Setting;
use super::whole_initiator::WholeInitiator;

/// Every suite: the largest size from pinned memory of every node, each way. `standard` has also
/// both ways at once, pageable memory, a short set of sizes on the node next to each device, and
/// there what streams, a second device and a copy between devices make of it; `full` all sizes,
/// also on the farthest node.
pub(super) fn plan(setting: Setting<'_>) -> Planned {
    let mut planned = Planned::default();
    let nothing = DeviceInputs::default();
    let found = setting.inputs.devices.as_ref().unwrap_or(&nothing);
    if found.accelerators.is_empty() {
        let name = Experiment::Devices.as_str();
        planned.absent.push(omitted(name, ReasonCode::NoDevice, no_device(found)));
        return planned;
    }
    planned.absent = unusable_parts(setting, Experiment::Devices);
    let places = Place::all(setting);
    let (measured, shown_twice) = chosen(setting, &found.accelerators);
    planned.absent.extend(shown_twice);
    for device in &measured {
        let sizes = Sizes::of(setting, device, &places);
        planned.absent.extend(sizes.absent());
        for place in &places {
            for (direction, memory) in ways(setting.inputs.suite) {
                let Some(bytes) = sizes.largest(place.node, direction) else { continue };
                planned.cases.push(place.alone(setting, device, direction, memory, bytes));
            }
        }
        planned.cases.extend(sizes.curve_cases(setting, device, &places));
    }
    if setting.inputs.suite != Suite::Quick {
        planned.extend(beside::cases(setting, &measured, &places));
    }
    planned
}

/// Directions and memories that every node is measured in.
fn ways(suite: Suite) -> Vec<(Direction, HostMemory)> {
    let pinned = [Direction::ToDevice, Direction::ToHost].map(|way| (way, HostMemory::Pinned));
    let mut ways = pinned.to_vec();
    if suite != Suite::Quick {
        ways.push((Direction::BothWays, HostMemory::Pinned));
        ways.extend(pinned.map(|(way, _)| (way, HostMemory::Pageable)));
    }
    if suite == Suite::Full {
        ways.push((Direction::BothWays, HostMemory::Pageable));
    }
    ways
}

/// Why there is nothing to copy to.
fn no_device(found: &DeviceInputs) -> String {
    let reasons: Vec<String> =
        found.absent.iter().map(|it| format!("{}: {}", it.backend, it.reason)).collect();
    if reasons.is_empty() {
        return "the machine has no device that data could be copied to".into();
    }
    format!("no device that data could be copied to ({})", reasons.join("; "))
}

/// Devices that are measured: one that two interfaces show by the preferred one, in `full` by
/// both.
fn chosen<'a>(setting: Setting<'_>, all: &'a [Accelerator]) -> (Vec<&'a Accelerator>, Vec<Absent>) {
    let (mut measured, mut absent) = (Vec::<&Accelerator>::new(), Vec::new());
    for device in all {
        let same = |other: &&&Accelerator| device.bus_id.is_some() && other.bus_id == device.bus_id;
        let by_other = measured.iter().find(same).filter(|other| other.backend != device.backend);
        match by_other.filter(|_| setting.inputs.suite != Suite::Full) {
            None => measured.push(device),
            Some(other) => {
                let text = format!(
                    "{} is the same device as {}, which is measured; --suite full measures both",
                    device.id, other.id
                );
                let case = format!("devices/{}", device.id);
                absent.push(omitted(case, ReasonCode::OtherInterface, text));
            }
        }
    }
    (measured, absent)
}

/// A memory node and the thread that lets devices copy to and from it: the first core of the
/// initiator next to it.
#[derive(Debug, Clone)]
struct Place {
    node: u32,
    initiator: WholeInitiator,
}

impl Place {
    /// One for every node that can be a target.
    fn all(setting: Setting<'_>) -> Vec<Self> {
        let initiators = WholeInitiator::all(setting);
        let of_node = |node| {
            let nearest = initiators
                .iter()
                .min_by_key(|initiator| initiator.farness(setting.machine, node))?;
            Some(Self { node, initiator: nearest.clone() })
        };
        setting.targets().filter_map(of_node).collect()
    }

    fn thread_cpu(&self) -> u32 {
        self.initiator.thread_cpus[0]
    }

    fn transfer(
        &self,
        setting: Setting<'_>,
        device: &Accelerator,
        direction: Direction,
        memory: HostMemory,
        bytes: u64,
    ) -> Transfer {
        let memory_policy = MemoryPolicy::Preferred(self.node);
        Transfer {
            device: device.id.clone(),
            peer: None,
            backend: device.backend,
            direction,
            host_memory: Some(memory),
            binding: Binding { cpus: self.initiator.cpus.clone(), memory: memory_policy },
            thread_cpu: self.thread_cpu(),
            bytes,
            pages: setting.inputs.pages,
        }
    }

    /// Where a transfer of this place stands that is the case's actor at `actor`.
    fn coordinates(
        &self,
        transfer: &Transfer,
        actor: u32,
        beside: Option<TransferBeside>,
    ) -> Coordinates {
        let is_with_host = transfer.direction != Direction::ToPeer;
        Coordinates::Devices(DeviceCoordinates::Transfer(TransferCoordinates {
            device: transfer.device.clone(),
            actor,
            initiator: self.initiator.index(),
            cpu_node: self.initiator.initiator.cpu_node,
            memory_node: is_with_host.then_some(self.node),
            direction: transfer.direction,
            host_memory: transfer.host_memory,
            peer: transfer.peer.clone(),
            bytes: transfer.bytes,
            beside,
        }))
    }

    /// The id of a transfer's case, but for what runs beside it.
    fn id(&self, transfer: &Transfer) -> String {
        let memory = transfer.host_memory.map_or("device", HostMemory::as_str);
        format!(
            "devices/{}/node{}/{}/{memory}/{}",
            transfer.device,
            self.node,
            transfer.direction,
            size_word(transfer.bytes)
        )
    }

    fn alone(
        &self,
        setting: Setting<'_>,
        device: &Accelerator,
        direction: Direction,
        memory: HostMemory,
        bytes: u64,
    ) -> Case {
        let transfer = self.transfer(setting, device, direction, memory, bytes);
        Case {
            id: self.id(&transfer),
            coordinates: vec![self.coordinates(&transfer, 0, None)],
            actors: vec![Actor::Transfer(transfer)],
        }
    }
}

/// The place next to a device: of its own nodes the first, where none is known the first of all.
fn near<'a>(device: &Accelerator, places: &'a [Place]) -> Option<&'a Place> {
    places.iter().find(|place| device.nodes.contains(place.node)).or_else(|| places.first())
}

/// The place farthest from the one next to a device.
fn far<'a>(setting: Setting<'_>, device: &Accelerator, places: &'a [Place]) -> Option<&'a Place> {
    let near = near(device, places)?;
    let farthest =
        places.iter().max_by_key(|place| near.initiator.farness(setting.machine, place.node))?;
    (farthest.node != near.node).then_some(farthest)
}
