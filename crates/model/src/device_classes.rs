//! Bandwidth classes of copies: the few levels into which the memory nodes and devices of a
//! machine fall, each way by itself.
//! Units: bytes/s of all ways together.   Source: braithwaite2012, sections 3.4 and 4.1.
//! A pair of a device and a memory node counts by the best round of its largest copies from or to
//! pinned memory, by the host's clock. The rule is that of [`crate::classes`].
//! Holds when: copies are so large that what they take to begin does not count.
//! Fails when: a device was only copied little to, which a note says.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{
    Accelerator, Backend, Device, Direction, HostMemory, Machine, TheoreticalMaximum,
    TransferDirection,
};
use nearfar_record::{Absence, Estimate, Outcome};
use nearfar_stats::{deviation_of_largest, pooled_deviation};
use nearfar_units::{BytesPerSecond, serialize_gb_per_s};
use serde::Serialize;

use crate::class_rule::ClassRule;
use crate::classes::{Class, part};
use crate::record_figures::RecordFigures;
use crate::transfers::{CopyPlace, TransferFigures, largest_copies, transfers};

#[derive(Debug, Clone, PartialEq)]
pub struct DeviceClassRule {
    /// A class spans at most this fraction of its maximum, and what noise explains.
    pub span: f64,
    pub devices: JudgedDevices,
    /// The theoretical maximum of every link; `None` for what each device's own link is.
    pub phi: Option<TheoreticalMaximum>,
}

/// Which devices count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgedDevices {
    /// Each by itself: a pair is a device and a memory node.
    Each,
    /// Of each pair of a CPU's and a memory node the best device, as the thesis's tables have it.
    Best,
}

impl Default for DeviceClassRule {
    fn default() -> Self {
        Self { span: ClassRule::default().span, devices: JudgedDevices::Each, phi: None }
    }
}

/// The classes of the copies of one interface, one way.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceClasses {
    /// The programming interface.
    pub backend: Backend,
    /// Which way: to the host is the thesis's read (`alpha_r`), to the device its write
    /// (`alpha_w`).
    pub direction: TransferDirection,
    /// Smallest copy that a pair is judged by, bytes each way.
    pub least_bytes: u64,
    /// Largest.
    pub most_bytes: u64,
    /// Pooled relative standard deviation of a pair's rounds; null with one round each.
    pub noise: Option<f64>,
    /// Relative standard error of a pair's best round; null as above.
    pub standard_error: Option<f64>,
    /// Fewest rounds that a pair has.
    pub fewest_rounds: usize,
    /// The classes, the fastest first; all ways together.
    pub classes: Vec<Class<DevicePair>>,
    /// What the copies' bandwidth is compared with, all ways together.
    pub phi: Outcome<TheoreticalMaximum>,
    /// Pairs that are in no class.
    pub left_out: Vec<DeviceLeftOut>,
    /// What to know about them.
    pub notes: Vec<DeviceClassNote>,
}

/// A device and the memory node that it copies from or to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DevicePair {
    /// The device, by interface and number.
    pub device: String,
    /// The node of the host's pages.
    pub memory_node: u32,
    /// The initiator of the host's thread.
    pub initiator: u32,
    /// The lowest node with CPUs of that initiator, or null.
    pub cpu_node: Option<u32>,
    /// Bytes of one copy, each way.
    pub bytes: u64,
    /// Best round.
    #[serde(rename = "best_gb_per_s", serialize_with = "serialize_gb_per_s")]
    pub best: f64,
    /// Median over rounds.
    #[serde(rename = "median_gb_per_s")]
    pub median: Estimate<BytesPerSecond>,
    pub rounds: usize,
}

/// A pair that the record knows and that is in no class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceLeftOut {
    pub device: String,
    /// The node of the host's pages.
    pub memory_node: u32,
    /// Why the machine refused it; null when it was only copied in smaller pieces, or not yet.
    pub refused: Option<String>,
}

/// What to know about classes of copies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum DeviceClassNote {
    /// Pairs are judged by copies of several sizes: smaller ones show more of what a copy takes to
    /// begin.
    SeveralSizes,
    /// A pair has fewer rounds than its best should be taken from.
    FewRounds { enough: usize },
    /// Every window of some pairs was disturbed.
    Disturbed { pairs: usize, of: usize },
    /// The links of devices ran below what they could when the record was begun. A link may rest while its
    /// device is idle, and alpha is then too high.
    SlowLinks { devices: Vec<String> },
}

/// A pair that was judged, and what its figure rests on.
#[derive(Debug, Clone)]
struct Judged {
    pair: DevicePair,
    deviation: Option<f64>,
    only_disturbed: bool,
}

/// What gives the theoretical maximum of a link where the record does not.
const PHI_REMEDY: &str =
    "give the link's theoretical maximum by --phi, for example 'PCIe 4.0 x16' or 25GB/s";

/// A pair is judged by copies of at least this part of the largest that any pair of its interface
/// and way has: smaller ones show what a copy takes to begin.
const LEAST_PART: u64 = 8;

/// Rounds that the thesis asks for (section 3.4).
const ENOUGH_ROUNDS: usize = 5;

/// The classes of a record's copies from and to pinned memory, by interface and way; none where
/// it holds no such copies, or the span is no fraction.
pub fn device_classes(figures: &RecordFigures<'_>, rule: &DeviceClassRule) -> Vec<DeviceClasses> {
    let header = &figures.record().header;
    let devices = header.inputs.devices.as_ref();
    let accelerators = devices.map_or(&[][..], |devices| &devices.accelerators);
    let mut groups: BTreeMap<(Backend, TransferDirection), Vec<TransferFigures>> = BTreeMap::new();
    for transfer in transfers(figures) {
        let place = &transfer.place;
        let is_judged = place.beside.is_none()
            && place.peer.is_none()
            && place.memory_node.is_some()
            && place.host_memory == Some(HostMemory::Pinned);
        if let Some(backend) = backend_of(accelerators, &place.device).filter(|_| is_judged) {
            groups.entry((backend, place.direction)).or_default().push(transfer);
        }
    }
    let of_group = |((backend, direction), of): ((_, _), Vec<TransferFigures>)| {
        let (judged, left_out) = judge(&of, direction, rule.devices);
        let bytes = || judged.iter().map(|judged| judged.pair.bytes);
        let (least_bytes, most_bytes) = (bytes().min()?, bytes().max()?);
        let deviations: Vec<(f64, usize)> = judged
            .iter()
            .filter_map(|judged| Some((judged.deviation?, judged.pair.rounds)))
            .collect();
        let noise = pooled_deviation(&deviations);
        let mut rounds: Vec<usize> = judged.iter().map(|judged| judged.pair.rounds).collect();
        rounds.sort_unstable();
        let usual = rounds[rounds.len() / 2];
        let standard_error = noise.map(|noise| noise * deviation_of_largest(usual));
        let names: BTreeSet<&str> =
            judged.iter().map(|judged| judged.pair.device.as_str()).collect();
        let links = Links { machine: &header.machine, accelerators };
        let phi = match &rule.phi {
            Some(given) => Ok(given.clone()),
            None => links.maximum(&names).map_err(|why| format!("{why}; {PHI_REMEDY}")),
        };
        let phi = phi.map(|phi| of_all_ways(phi, direction));
        let whole = phi.as_ref().ok().map(|phi| phi.bytes_per_s);
        let classes =
            part(&judged, |it| (&it.pair, it.pair.best), rule.span, standard_error, whole);
        let mut found = DeviceClasses {
            backend,
            direction,
            least_bytes,
            most_bytes,
            noise,
            standard_error,
            fewest_rounds: rounds[0],
            classes,
            phi: phi.into(),
            left_out,
            notes: Vec::new(),
        };
        found.notes = notes(&found, &judged, &links, &names);
        (!found.classes.is_empty()).then_some(found)
    };
    groups.into_iter().filter_map(of_group).collect()
}

/// The interface of a device; of one that the record does not list, by its id.
fn backend_of(accelerators: &[Accelerator], id: &str) -> Option<Backend> {
    let listed = accelerators.iter().find(|device| device.id == id).map(|device| device.backend);
    let named = || Backend::ALL.into_iter().find(|backend| id.starts_with(backend.as_str()));
    listed.or_else(named)
}

/// The largest copies of each pair, one way.
fn judge(
    transfers: &[TransferFigures],
    direction: TransferDirection,
    devices: JudgedDevices,
) -> (Vec<Judged>, Vec<DeviceLeftOut>) {
    let mut refused: BTreeMap<(&str, u32), &str> = BTreeMap::new();
    for transfer in transfers {
        let Some(memory_node) = transfer.place.memory_node else { continue };
        if let Some(absent) = transfer.case.absences(Absence::Refused).next() {
            refused.entry((&transfer.place.device, memory_node)).or_insert(&absent.reason.text);
        }
    }
    let places = largest_copies(transfers, HostMemory::Pinned, &[direction]);
    let largest = places.values().flatten().map(|it| it.place.bytes).max().unwrap_or(0);
    let mut judged: Vec<Judged> = Vec::new();
    let mut left_out = Vec::new();
    for (place, found) in places {
        let found = found.first().filter(|it| it.place.bytes >= largest / LEAST_PART);
        let Some(found) = found.and_then(|it| judged_of(&place, it)) else {
            let refused = refused.get(&(place.device.as_str(), place.memory_node));
            left_out.push(DeviceLeftOut {
                refused: refused.map(|&text| text.into()),
                device: place.device,
                memory_node: place.memory_node,
            });
            continue;
        };
        let same = |other: &&mut Judged| {
            devices == JudgedDevices::Best
                && (other.pair.memory_node, other.pair.initiator)
                    == (place.memory_node, place.initiator)
        };
        match judged.iter_mut().find(same) {
            None => judged.push(found),
            Some(other) if other.pair.best < found.pair.best => *other = found,
            Some(_) => {}
        }
    }
    (judged, left_out)
}

/// What the figure of copies rests on.
fn judged_of(place: &CopyPlace, transfer: &TransferFigures) -> Option<Judged> {
    let summary = transfer.by_host.as_ref()?;
    Some(Judged {
        pair: DevicePair {
            device: place.device.clone(),
            memory_node: place.memory_node,
            initiator: place.initiator,
            cpu_node: transfer.place.cpu_node,
            bytes: transfer.place.bytes,
            best: summary.best_sum,
            median: Estimate::of_rounds(&summary.sum, &transfer.case.id),
            rounds: summary.sum.count,
        },
        deviation: summary.deviation_between_rounds,
        only_disturbed: summary.only_disturbed,
    })
}

/// Both ways at once a link carries its maximum each way.
fn of_all_ways(phi: TheoreticalMaximum, direction: TransferDirection) -> TheoreticalMaximum {
    if direction.ways() < 2 || phi.direction == Direction::Shared {
        return phi;
    }
    TheoreticalMaximum {
        name: format!("{}, both ways", phi.name),
        bytes_per_s: phi.bytes_per_s * f64::from(direction.ways()),
        ..phi
    }
}

struct Links<'a> {
    machine: &'a Machine,
    accelerators: &'a [Accelerator],
}

impl Links<'_> {
    /// What the links of these devices carry, which must be the same.
    fn maximum(&self, devices: &BTreeSet<&str>) -> Result<TheoreticalMaximum, String> {
        let mut found: Option<(&str, TheoreticalMaximum)> = None;
        for &id in devices {
            let own = self.of(id)?;
            match &found {
                Some((other, known)) if *known != own => {
                    return Err(format!(
                        "the links differ: {other} is on {}, {id} on {}",
                        known.name, own.name
                    ));
                }
                Some(_) => {}
                None => found = Some((id, own)),
            }
        }
        found.map(|(_, own)| own).ok_or_else(|| "there is no device".into())
    }

    fn of(&self, id: &str) -> Result<TheoreticalMaximum, String> {
        let Some(device) = self.accelerators.iter().find(|device| device.id == id) else {
            return Err(format!("the record does not say what {id} is"));
        };
        if device.shares_host_memory {
            return Err(format!("{id} has the host's memory: its copies cross no link"));
        }
        let on_bus = self.on_bus(device).ok_or_else(|| {
            format!("{} does not say on which bus of the machine {id} is", device.backend)
        })?;
        on_bus.link.theoretical_maximum().ok_or_else(|| {
            format!("the speed or the lanes of the link of {id} are not known, or of no standard")
        })
    }

    fn on_bus(&self, device: &Accelerator) -> Option<&Device> {
        let bus_id = device.bus_id.as_ref()?;
        self.machine.devices.iter().find(|it| it.bus_id == *bus_id)
    }

    /// Whether a device's link runs below what it could.
    fn is_below_most(&self, id: &str) -> bool {
        let device = self.accelerators.iter().find(|device| device.id == id);
        let on_bus = device.and_then(|device| self.on_bus(device));
        on_bus.is_some_and(|on_bus| on_bus.link.is_below_most())
    }
}

fn notes(
    classes: &DeviceClasses,
    judged: &[Judged],
    links: &Links<'_>,
    names: &BTreeSet<&str>,
) -> Vec<DeviceClassNote> {
    let disturbed = judged.iter().filter(|judged| judged.only_disturbed).count();
    let slow = names.iter().filter(|id| links.is_below_most(id));
    let devices: Vec<String> = slow.map(ToString::to_string).collect();
    let notes = [
        (classes.least_bytes < classes.most_bytes, DeviceClassNote::SeveralSizes),
        (
            classes.fewest_rounds < ENOUGH_ROUNDS,
            DeviceClassNote::FewRounds { enough: ENOUGH_ROUNDS },
        ),
        (disturbed > 0, DeviceClassNote::Disturbed { pairs: disturbed, of: judged.len() }),
        (!devices.is_empty(), DeviceClassNote::SlowLinks { devices }),
    ];
    notes.into_iter().filter_map(|(holds, note)| holds.then_some(note)).collect()
}
