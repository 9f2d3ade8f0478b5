//! Copies between memory and devices, alone and beside what else runs.
//! Units: bytes/s of all ways together.          Source: braithwaite2012, algorithm 3.

use std::collections::BTreeMap;

use nearfar_machine::{Accelerator, HostMemory, TransferDirection};
use nearfar_record::{
    CaseSummary, Coordinates, DeviceCoordinates, Part, TransferBeside, TransferCoordinates,
};
use nearfar_stats::median;
use nearfar_units::{BytesPerSecond, Nanoseconds};
use serde::Serialize;

use crate::record_figures::{CaseFigures, PlannedCase, RecordFigures};

/// Copies of one size at one place.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransferFigures {
    #[serde(flatten)]
    pub case: PlannedCase,
    /// Where it stands.
    #[serde(flatten)]
    pub place: TransferCoordinates,
    /// The device's name, or null.
    pub device_name: Option<String>,
    /// Whether the device's memory is the host's.
    pub shares_host_memory: bool,
    /// By the host's clock, with what a copy takes to begin; null without samples.
    #[serde(rename = "bandwidth_gb_per_s")]
    pub by_host: Option<CaseSummary>,
    /// By the device's own clock, while it copied: median of the samples; null where the device
    /// gives no time.
    #[serde(rename = "device_clock_gb_per_s")]
    pub by_device: Option<BytesPerSecond>,
    /// One copy by the host's clock, or null.
    #[serde(rename = "copy_ns")]
    pub time: Option<Nanoseconds>,
    /// What that which runs beside it gets beside and alone; null where nothing does.
    #[serde(rename = "beside_figures")]
    pub beside: Option<BesideFigures>,
}

/// What runs beside a transfer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BesideFigures {
    /// Beside the transfer; null without samples.
    #[serde(rename = "beside_gb_per_s")]
    pub beside: Option<CaseSummary>,
    /// The same without the transfer; null where that was not measured.
    pub alone: Option<AloneFigures>,
    /// The transfer without it, likewise.
    pub transfer_alone: Option<AloneFigures>,
}

/// What was moved alone that is of interest beside something.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AloneFigures {
    /// The case in the record.
    pub case: String,
    #[serde(rename = "bandwidth_gb_per_s")]
    pub summary: CaseSummary,
}

/// The transfers of a record, by device, then what runs beside them, direction, memory, node and
/// size.
pub fn transfers(figures: &RecordFigures<'_>) -> Vec<TransferFigures> {
    let places = || {
        figures.places(|coordinates| match coordinates {
            Coordinates::Devices(DeviceCoordinates::Transfer(place)) => Some(place),
            _ => None,
        })
    };
    let alone = |wanted: &TransferCoordinates| {
        let mut found = places().filter(|(place, _)| *place == wanted);
        found.find_map(|(place, case)| alone_of(&case, actor(place)))
    };
    let devices = figures.record().header.inputs.devices.as_ref();
    let known = |id: &str| -> Option<&Accelerator> {
        devices?.accelerators.iter().find(|device| device.id == id)
    };
    let figures_of = |(place, case): (&TransferCoordinates, CaseFigures<'_>)| {
        let (by_host, device) = (case.bandwidth(actor(place)), known(&place.device));
        TransferFigures {
            case: case.planned(),
            place: place.clone(),
            device_name: device.map(|device| device.name.clone()),
            shares_host_memory: device.is_some_and(|device| device.shares_host_memory),
            time: by_host.as_ref().and_then(|by_host| time(place, by_host)),
            by_host,
            by_device: by_device(&case, place),
            beside: place.beside.as_ref().map(|beside| BesideFigures {
                beside: case.bandwidth(Part::Actor(1 - position(place).min(1))),
                alone: match beside {
                    TransferBeside::Streams { kernel, variant, threads } => {
                        streams_alone(figures, place, (kernel, variant, *threads))
                    }
                    TransferBeside::Device { .. } => {
                        other_of(&case, place).and_then(|other| alone(&other))
                    }
                },
                transfer_alone: alone(&TransferCoordinates {
                    beside: None,
                    actor: 0,
                    ..place.clone()
                }),
            }),
        }
    };
    let mut all: Vec<TransferFigures> = places().map(figures_of).collect();
    all.sort_by_cached_key(|TransferFigures { place, .. }| {
        let is_between = place.direction == TransferDirection::ToPeer;
        let what = (place.device.clone(), place.direction, place.host_memory);
        (
            place.beside.is_some(),
            is_between,
            what,
            place.memory_node,
            place.peer.clone(),
            place.bytes,
        )
    });
    all
}

/// Where copies are made that are a case alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransferPlace {
    pub device: String,
    /// Which way.
    pub direction: TransferDirection,
    /// What the host's pages are; null between devices.
    pub host_memory: Option<HostMemory>,
    /// The node of the host's pages; null between devices.
    pub memory_node: Option<u32>,
    /// The device that is copied to; null for the host.
    pub peer: Option<String>,
    /// The initiator of the host's thread.
    pub initiator: u32,
}

/// The copies of each place that were measured beside nothing, the smallest first; empty for a
/// place that the record knows and that has none.
pub fn copies_by_place<'t>(
    transfers: impl IntoIterator<Item = &'t TransferFigures>,
) -> BTreeMap<TransferPlace, Vec<&'t TransferFigures>> {
    let mut places: BTreeMap<TransferPlace, Vec<&TransferFigures>> = BTreeMap::new();
    for transfer in transfers.into_iter().filter(|it| it.place.beside.is_none()) {
        let place = &transfer.place;
        let key = TransferPlace {
            device: place.device.clone(),
            direction: place.direction,
            host_memory: place.host_memory,
            memory_node: place.memory_node,
            peer: place.peer.clone(),
            initiator: place.initiator,
        };
        let copies = places.entry(key).or_default();
        if transfer.by_host.as_ref().is_some_and(is_bandwidth) {
            copies.push(transfer);
        }
    }
    for copies in places.values_mut() {
        copies.sort_by_key(|it| it.place.bytes);
        copies.dedup_by_key(|it| it.place.bytes);
    }
    places
}

/// Of each way, memory and place, beside nothing, the largest copies that were measured; where none
/// were, the largest that the record knows, which say why not.
pub fn largest_transfers(transfers: &[TransferFigures]) -> Vec<&TransferFigures> {
    let key = |it: &TransferFigures| {
        let place = it.place.clone();
        let ends = (place.memory_node, place.device, place.peer, place.initiator);
        (place.direction, place.host_memory, ends)
    };
    let mut largest: BTreeMap<_, &TransferFigures> = BTreeMap::new();
    for transfer in transfers.iter().filter(|it| it.place.beside.is_none()) {
        let known = largest.entry(key(transfer)).or_insert(transfer);
        let size = |it: &TransferFigures| (it.by_host.is_some(), it.place.bytes);
        if size(transfer) > size(known) {
            *known = transfer;
        }
    }
    largest.into_values().collect()
}

/// A device with a memory node that it copies from or to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CopyPlace {
    /// [`nearfar_machine::Accelerator::id`] of the device.
    pub device: String,
    /// The node of the host's pages.
    pub memory_node: u32,
    /// The initiator of the host's thread.
    pub initiator: u32,
}

/// The largest copies of each device and memory node that were measured all these ways, each by
/// itself and beside nothing: one for each way, in the order of the ways, all of one size. Empty
/// for a place that the record knows and that has none.
pub fn largest_copies<'t>(
    transfers: impl IntoIterator<Item = &'t TransferFigures>,
    memory: HostMemory,
    ways: &[TransferDirection],
) -> BTreeMap<CopyPlace, Vec<&'t TransferFigures>> {
    let mut places: BTreeMap<CopyPlace, Vec<&TransferFigures>> = BTreeMap::new();
    for (place, copies) in copies_by_place(transfers) {
        let is_asked = place.peer.is_none()
            && place.host_memory == Some(memory)
            && ways.contains(&place.direction);
        let Some(memory_node) = place.memory_node.filter(|_| is_asked) else { continue };
        let key = CopyPlace { device: place.device, memory_node, initiator: place.initiator };
        places.entry(key).or_default().extend(copies);
    }
    for copies in places.values_mut() {
        *copies = largest_of_all(copies, ways);
    }
    places
}

/// The largest copies among these of which there is one of the same size each way.
fn largest_of_all<'t>(
    copies: &[&'t TransferFigures],
    ways: &[TransferDirection],
) -> Vec<&'t TransferFigures> {
    let mut sizes: Vec<u64> = copies.iter().map(|it| it.place.bytes).collect();
    sizes.sort_unstable();
    let of_size = |bytes: u64| -> Option<Vec<&'t TransferFigures>> {
        let of_way = |way: TransferDirection| {
            copies.iter().copied().find(|it| (it.place.direction, it.place.bytes) == (way, bytes))
        };
        ways.iter().map(|&way| of_way(way)).collect()
    };
    sizes.into_iter().rev().find_map(of_size).unwrap_or_default()
}

/// A figure that is not positive (nothing moved in most windows) is none.
fn is_bandwidth(summary: &CaseSummary) -> bool {
    let is_rate = |rate: f64| rate > 0.0 && rate.is_finite();
    is_rate(summary.sum.median) && is_rate(summary.best_sum)
}

fn position(place: &TransferCoordinates) -> usize {
    usize::try_from(place.actor).unwrap_or(usize::MAX)
}

fn actor(place: &TransferCoordinates) -> Part {
    Part::Actor(position(place))
}

fn time(place: &TransferCoordinates, by_host: &CaseSummary) -> Option<Nanoseconds> {
    let rate = by_host.sum.median;
    let bytes = place.bytes as f64 * f64::from(place.direction.ways());
    (rate > 0.0).then_some(Nanoseconds(1e9 * bytes / rate))
}

fn alone_of(case: &CaseFigures<'_>, part: Part) -> Option<AloneFigures> {
    Some(AloneFigures { case: case.planned().id, summary: case.bandwidth(part)? })
}

/// Median over the samples that count, as the device's clock has it.
fn by_device(case: &CaseFigures<'_>, place: &TransferCoordinates) -> Option<BytesPerSecond> {
    let rates: Vec<f64> = case
        .counted()
        .filter_map(|sample| sample.actors.get(position(place))?.transfer?.device_rate())
        .collect();
    median(&rates).map(BytesPerSecond)
}

fn streams_alone(
    figures: &RecordFigures<'_>,
    transfer: &TransferCoordinates,
    streams: (&str, &str, u32),
) -> Option<AloneFigures> {
    let mut places = figures.places(|coordinates| match coordinates {
        Coordinates::Devices(DeviceCoordinates::Streams(place)) => Some(place),
        _ => None,
    });
    places.find_map(|(place, case)| {
        let same = (place.initiator, Some(place.memory_node))
            == (transfer.initiator, transfer.memory_node)
            && (&*place.kernel, &*place.variant, place.threads) == streams;
        alone_of(&case, Part::Case).filter(|_| same)
    })
}

/// The place that the other transfer of a case has alone.
fn other_of(case: &CaseFigures<'_>, place: &TransferCoordinates) -> Option<TransferCoordinates> {
    case.planned_as()?.coordinates.iter().find_map(|coordinates| match coordinates {
        Coordinates::Devices(DeviceCoordinates::Transfer(other)) if other.actor != place.actor => {
            Some(TransferCoordinates { beside: None, actor: 0, ..other.clone() })
        }
        _ => None,
    })
}
