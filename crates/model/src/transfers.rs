//! Copies between memory and devices, alone and beside what else runs.
//! Units: bytes/s of all ways together.          Source: braithwaite2012, algorithm 3.

use std::collections::BTreeMap;

use nearfar_machine::{HostMemory, TransferDirection};
use nearfar_record::{
    CaseSummary, Coordinates, DeviceCoordinates, Part, TransferBeside, TransferCoordinates,
};
use nearfar_stats::median;
use serde::Serialize;

use crate::record_figures::{CaseFigures, PlannedCase, RecordFigures};

/// Copies of one size at one place.
#[derive(Debug, Clone, PartialEq)]
pub struct TransferFigures {
    pub case: PlannedCase,
    /// Where it stands.
    pub place: TransferCoordinates,
    /// By the host's clock, with what a copy takes to begin; `None` without samples.
    pub by_host: Option<CaseSummary>,
    /// By the device's own clock, while it copied: median of the samples, bytes/s; `None` where
    /// the device gives no time.
    pub by_device: Option<f64>,
    /// What runs beside it, and what that gets beside and alone; `None` where nothing does.
    pub beside: Option<BesideFigures>,
}

/// What runs beside a transfer.
#[derive(Debug, Clone, PartialEq)]
pub struct BesideFigures {
    /// Beside the transfer; `None` without samples.
    pub beside: Option<CaseSummary>,
    /// The same without the transfer, and its case in the record; `None` where that was not measured.
    pub alone: Option<(CaseSummary, String)>,
    /// The transfer without it, likewise.
    pub transfer_alone: Option<(CaseSummary, String)>,
}

impl TransferFigures {
    /// Time of one copy by the host's clock, s.
    pub fn seconds(&self) -> Option<f64> {
        let rate = self.by_host.as_ref()?.sum.median;
        let bytes = self.place.bytes as f64 * f64::from(self.place.direction.ways());
        (rate > 0.0).then_some(bytes / rate)
    }
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
        found.find_map(|(place, case)| Some((case.bandwidth(actor(place))?, case.planned().id)))
    };
    let mut all: Vec<TransferFigures> = places()
        .map(|(place, case)| TransferFigures {
            case: case.planned(),
            place: place.clone(),
            by_host: case.bandwidth(actor(place)),
            by_device: by_device(&case, place),
            beside: place.beside.as_ref().map(|beside| BesideFigures {
                beside: case.bandwidth(Part::Actor(1 - position(place).min(1))),
                alone: match beside {
                    TransferBeside::Streams { .. } => streams_alone(figures, place, beside),
                    TransferBeside::Device { .. } => {
                        other_of(figures, &case, place).and_then(|other| alone(&other))
                    }
                },
                transfer_alone: alone(&TransferCoordinates {
                    beside: None,
                    actor: 0,
                    ..place.clone()
                }),
            }),
        })
        .collect();
    all.sort_by(|one, other| {
        let key = |it: &TransferFigures| {
            let place = &it.place;
            (
                place.beside.is_some(),
                place.direction == TransferDirection::ToPeer,
                place.device.clone(),
                place.direction,
                place.host_memory,
                place.memory_node,
                place.peer.clone(),
                place.bytes,
            )
        };
        key(one).cmp(&key(other))
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
    /// The cluster of the host's thread.
    pub cluster: u32,
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
            cluster: place.cluster,
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

/// A device with a memory node that it copies from or to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CopyPlace {
    /// [`nearfar_machine::Accelerator::id`] of the device.
    pub device: String,
    /// The node of the host's pages.
    pub memory_node: u32,
    /// The cluster of the host's thread.
    pub cluster: u32,
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
        let key = CopyPlace { device: place.device, memory_node, cluster: place.cluster };
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

/// Median over the samples that count, as the device's clock has it.
fn by_device(case: &CaseFigures<'_>, place: &TransferCoordinates) -> Option<f64> {
    let samples = case.samples();
    let only_disturbed = samples.iter().all(|sample| sample.is_disturbed());
    let counted = samples.iter().filter(|sample| only_disturbed || !sample.is_disturbed());
    let rates: Vec<f64> = counted
        .filter_map(|sample| sample.actors.get(position(place))?.transfer?.device_rate())
        .collect();
    median(&rates)
}

/// The streams of a place without a transfer.
fn streams_alone(
    figures: &RecordFigures<'_>,
    transfer: &TransferCoordinates,
    beside: &TransferBeside,
) -> Option<(CaseSummary, String)> {
    let TransferBeside::Streams { kernel, variant, threads } = beside else { return None };
    let mut places = figures.places(|coordinates| match coordinates {
        Coordinates::Devices(DeviceCoordinates::Streams(place)) => Some(place),
        _ => None,
    });
    places.find_map(|(place, case)| {
        let same = (place.cluster, Some(place.memory_node))
            == (transfer.cluster, transfer.memory_node)
            && (&place.kernel, &place.variant, place.threads) == (kernel, variant, *threads);
        case.bandwidth(Part::Case).filter(|_| same).map(|summary| (summary, case.planned().id))
    })
}

/// The place that the other transfer of a case has alone.
fn other_of(
    figures: &RecordFigures<'_>,
    case: &CaseFigures<'_>,
    place: &TransferCoordinates,
) -> Option<TransferCoordinates> {
    let id = case.planned().id;
    let planned = figures.record().cases.iter().find(|case| case.id == id)?;
    planned.coordinates.iter().find_map(|coordinates| match coordinates {
        Coordinates::Devices(DeviceCoordinates::Transfer(other)) if other.actor != place.actor => {
            Some(TransferCoordinates { beside: None, actor: 0, ..other.clone() })
        }
        _ => None,
    })
}
