//! What copies between devices and memory get, alone and beside loads.
//!
//! ```text
//! r = w b / (t + w b / B)          what a copy of b bytes each way asks for, w ways
//! B = to_device or to_host, or both_ways (to_device + to_host);  x pageable
//! ```
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | b, w | bytes of one copy each way, and ways | bytes, 1 |
//! | t | what a copy takes beside the time of its bytes | s |
//! | B | bandwidth of long copies, by node | bytes/s |
//!
//! Copies and loads share controllers, links between packages and hubs by the law of
//! [`crate::System`]; a copy alone gets r, or what is less. Source: ours; the linear time of a
//! copy is the usual latency-bandwidth model. A hub carries its capacity each way.

use std::collections::BTreeMap;

use nearfar_machine::{HostMemory, TransferDirection as Direction};

use crate::capacities::{Capacities, Part};
use crate::error::FlowError;
use crate::loads::{Busy, shared_system, slowed_rates};
use crate::simulated_device::SimulatedDevice;
use crate::simulated_machine::{KernelLoad, SimulatedMachine};
use crate::system::{Stream, System};

/// A copy that is made again and again.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceLoad {
    /// [`nearfar_machine::Accelerator::id`] of the device.
    pub device: String,
    /// Of the device that is copied to; `None` for the host.
    pub peer: Option<String>,
    /// The node of the host's pages; `None` between devices.
    pub node: Option<u32>,
    pub direction: Direction,
    /// What the host's pages are; `None` between devices.
    pub host_memory: Option<HostMemory>,
    /// Bytes of one copy, each way.
    pub bytes: u64,
}

/// What loads and copies move at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct RatesTogether {
    /// Useful bytes/s of each load.
    pub loads: Vec<f64>,
    /// Bytes/s of each device's copies, all ways together.
    pub transfers: Vec<f64>,
}

/// What copies use, beside the parts that loads use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Resource {
    Part(Part),
    /// A hub, towards devices or away from them.
    Hub {
        index: usize,
        outward: bool,
    },
}

/// A copy as the solver has it.
struct Asked {
    /// What it moves alone, bytes/s.
    alone: f64,
    /// What each resource carries for a byte, in fractions of its capacity.
    usage: BTreeMap<Resource, f64>,
}

impl SimulatedMachine {
    /// What loads and copies move when all run at the same time and nothing scatters.
    ///
    /// # Errors
    /// As [`SimulatedMachine::rates`]; [`FlowError::Load`] also for a device or node that it does
    /// not have, and for a copy of nothing.
    pub fn rates_beside(
        &self,
        loads: &[KernelLoad],
        transfers: &[DeviceLoad],
    ) -> Result<RatesTogether, FlowError> {
        let Some(law) = self.capacities.first().filter(|_| !transfers.is_empty()) else {
            return Ok(RatesTogether { loads: self.rates(loads)?, transfers: Vec::new() });
        };
        let asked: Vec<Asked> =
            transfers.iter().map(|it| self.asked(law, it)).collect::<Result<_, _>>()?;
        let asks = self.asks(loads)?;
        let busy = Busy::all(&asks)?;
        let shared = shared_system(&busy);
        let (mut system, parts) = match shared {
            Some(shared) => (shared.system, shared.parts),
            None => {
                let saturation = law.saturation;
                (System { capacities: Vec::new(), streams: Vec::new(), saturation }, Vec::new())
            }
        };
        let of_loads = system.streams.len();
        let mut places: BTreeMap<Resource, usize> =
            parts.into_iter().enumerate().map(|(at, part)| (Resource::Part(part), at)).collect();
        for resource in asked.iter().flat_map(|it| it.usage.keys()) {
            let next = places.len();
            places.entry(*resource).or_insert(next);
        }
        system.capacities = vec![1.0; places.len()];
        system.streams.extend(asked.iter().map(|it| it.stream(law, &places)));
        let mut rates = system.solve()?.rates;
        let of_transfers = rates.split_off(of_loads);
        let triads = slowed_rates(&asks, &busy, &rates);
        Ok(RatesTogether { loads: self.of_kernels(loads, triads), transfers: of_transfers })
    }

    fn device(&self, id: &str) -> Result<&SimulatedDevice, FlowError> {
        let found = self.devices.iter().find(|device| device.accelerator.id == id);
        found.ok_or_else(|| FlowError::Load(format!("{} has no device {id}", self.name)))
    }

    fn asked(&self, law: &Capacities, load: &DeviceLoad) -> Result<Asked, FlowError> {
        let device = self.device(&load.device)?;
        if load.bytes == 0 {
            return Err(FlowError::Load("a copy of nothing".into()));
        }
        if let Some(peer) = &load.peer {
            return Ok(self.to_peer(device, self.device(peer)?, load.bytes));
        }
        let column = load.node.and_then(|node| law.column(node)).ok_or_else(|| {
            FlowError::Load(format!("{} has no node of the host's pages", self.name))
        })?;
        let (out, back) = (device.to_device[column], device.to_host[column]);
        let pinned = match load.direction {
            Direction::ToDevice | Direction::ToPeer => out,
            Direction::ToHost => back,
            Direction::BothWays => device.both_ways * (out + back),
        };
        let kept = match load.host_memory {
            Some(HostMemory::Pageable) => device.pageable,
            Some(HostMemory::Pinned) | None => 1.0,
        };
        let alone = of_copies(device.latency_s, load.bytes, load.direction, pinned * kept);
        let row = usize::try_from(device.initiator).unwrap_or(usize::MAX);
        let mut usage = BTreeMap::new();
        for (part, capacity) in law.shared_parts_between(row, column) {
            // What cores issue does not pass through them.
            if !matches!(part, Part::Issue { .. }) {
                usage.insert(Resource::Part(part), 1.0 / capacity);
            }
        }
        let way = |outward| match (load.direction, outward) {
            (Direction::ToDevice, true) | (Direction::ToHost, false) => 1.0,
            (Direction::BothWays, true) => out / (out + back),
            (Direction::BothWays, false) => back / (out + back),
            _ => 0.0,
        };
        self.use_hub(&mut usage, device, [(true, way(true)), (false, way(false))]);
        Ok(Asked { alone, usage })
    }

    /// By way of the hubs: at the slower of what each moves to and from the memory next to it.
    fn to_peer(&self, from: &SimulatedDevice, to: &SimulatedDevice, bytes: u64) -> Asked {
        let most = |rates: &[f64]| rates.iter().copied().fold(0.0, f64::max);
        let rate = most(&from.to_host).min(most(&to.to_device));
        let mut usage = BTreeMap::new();
        self.use_hub(&mut usage, from, [(false, 1.0), (true, 0.0)]);
        self.use_hub(&mut usage, to, [(true, 1.0), (false, 0.0)]);
        let latency = from.latency_s.max(to.latency_s);
        Asked { alone: of_copies(latency, bytes, Direction::ToPeer, rate), usage }
    }

    fn use_hub(
        &self,
        usage: &mut BTreeMap<Resource, f64>,
        device: &SimulatedDevice,
        ways: [(bool, f64); 2],
    ) {
        let Some((index, hub)) = device.hub.and_then(|it| Some((it, self.hubs.get(it)?))) else {
            return;
        };
        for (outward, share) in ways.into_iter().filter(|(_, share)| *share > 0.0) {
            *usage.entry(Resource::Hub { index, outward }).or_insert(0.0) += share / hub.capacity;
        }
    }
}

impl Asked {
    /// Its demand is such that alone it gets what it moves alone, or, where a resource carries
    /// less, what that leaves.
    fn stream(&self, law: &Capacities, places: &BTreeMap<Resource, usize>) -> Stream {
        let p = law.saturation;
        let limits: f64 = self.usage.values().map(|usage| (self.alone * usage).powf(p)).sum();
        let demand =
            if limits >= 1.0 { self.alone } else { self.alone * (1.0 - limits).powf(-1.0 / p) };
        Stream {
            demand,
            weight: demand.powf(law.fairness),
            usage: self.usage.iter().map(|(it, &usage)| (places[it], usage)).collect(),
        }
    }
}

/// Copies of this many bytes each way, one after the other, where long ones move at `bandwidth`;
/// bytes/s of all ways.
fn of_copies(latency_s: f64, bytes: u64, direction: Direction, bandwidth: f64) -> f64 {
    let moved = bytes as f64 * f64::from(direction.ways());
    moved / (latency_s + moved / bandwidth)
}
