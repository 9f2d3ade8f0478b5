//! From which memory node copies to and from a device are the fastest.
//! Units: bytes/s.     Source: the figures of `devices` alone; no model is between.
//! Holds when: the host's thread runs next to its pages, and as many bytes go each way.

use nearfar_machine::{HostMemory, TransferDirection as Direction};
use nearfar_model::{RecordFigures, TransferFigures, transfers};
use nearfar_record::CaseSummary;

/// The memory nodes of a machine by how fast a device copies to and from them.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceAdvice {
    /// [`nearfar_machine::Accelerator::id`] of the device.
    pub device: String,
    /// The fastest first.
    pub places: Vec<DevicePlace>,
    /// Nodes, by their number, that are not ranked, because a way was not measured there.
    pub not_ranked: Vec<u32>,
}

/// A memory node, with the host's thread next to it.
#[derive(Debug, Clone, PartialEq)]
pub struct DevicePlace {
    /// The node of the host's pages.
    pub node: u32,
    /// The cluster of the host's thread.
    pub cluster: u32,
    /// Bytes of a copy.
    pub bytes: u64,
    /// To the device, from pinned pages.
    pub to_device: CaseSummary,
    /// To the host, the same.
    pub to_host: CaseSummary,
    /// Time of a copy there and one back / that of the fastest place; 1 for it.
    pub time_ratio: f64,
    /// Whether it is as good as the fastest, as far as was measured: its time is longer by less
    /// than [`PRACTICAL`], or within both intervals.
    pub is_as_good: bool,
}

/// What a program would hardly notice.
pub const PRACTICAL: f64 = 0.05;

/// Why there is no advice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceAdviceError {
    /// No copies.
    #[error("the record has no copies to devices{}", reasons(.0))]
    NotMeasured(Vec<String>),
    /// Another device.
    #[error("the record has no device {device}; it has {}", .known.join(", "))]
    Unknown {
        /// What was asked for.
        device: String,
        /// What there is.
        known: Vec<String>,
    },
    /// No node with both ways.
    #[error("no node has copies of pinned memory to {0} and back")]
    OneWay(String),
}

fn reasons(reasons: &[String]) -> String {
    if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) }
}

/// Ranks the nodes of a record for a device, by its id or PCIe address.
///
/// # Errors
/// When the record has no copies to it and back.
pub fn advise_device(
    figures: &RecordFigures<'_>,
    asked: &str,
) -> Result<DeviceAdvice, DeviceAdviceError> {
    let all = transfers(figures);
    let inputs = &figures.record().header.inputs;
    let accelerators = inputs.devices.as_ref().map_or(&[][..], |it| &it.accelerators);
    let is_asked = |id: &str| {
        id == asked
            || accelerators.iter().any(|it| it.id == id && it.bus_id.as_deref() == Some(asked))
    };
    let alone = |it: &&TransferFigures| {
        it.place.beside.is_none() && it.place.host_memory == Some(HostMemory::Pinned)
    };
    let mut of_device: Vec<&TransferFigures> =
        all.iter().filter(alone).filter(|it| is_asked(&it.place.device)).collect();
    let Some(device) = of_device.first().map(|it| it.place.device.clone()) else {
        let mut known: Vec<String> = all.iter().map(|it| it.place.device.clone()).collect();
        known.dedup();
        if known.is_empty() {
            let absent = figures.record().absent.iter().filter(|it| it.case == "devices");
            let reasons = absent.map(|it| it.reason.text.clone()).collect();
            return Err(DeviceAdviceError::NotMeasured(reasons));
        }
        return Err(DeviceAdviceError::Unknown { device: asked.into(), known });
    };
    // Of a device that two interfaces show under one address, the one that stands first.
    of_device.retain(|it| it.place.device == device);
    let mut nodes: Vec<u32> = of_device.iter().filter_map(|it| it.place.memory_node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let (mut places, mut not_ranked) = (Vec::new(), Vec::new());
    for node in nodes {
        match place(node, &of_device) {
            Some(place) => places.push(place),
            None => not_ranked.push(node),
        }
    }
    rank(&mut places);
    if places.is_empty() {
        return Err(DeviceAdviceError::OneWay(device));
    }
    Ok(DeviceAdvice { device, places, not_ranked })
}

/// The largest copies of a node that were measured both ways.
fn place(node: u32, of_device: &[&TransferFigures]) -> Option<DevicePlace> {
    let way = |direction: Direction, bytes: u64| {
        let same = |it: &&&TransferFigures| {
            let place = &it.place;
            (place.memory_node, place.direction, place.bytes) == (Some(node), direction, bytes)
        };
        of_device.iter().find(same).and_then(|it| Some((it.place.cluster, it.by_host.clone()?)))
    };
    let mut sizes: Vec<u64> = of_device
        .iter()
        .filter(|it| it.place.memory_node == Some(node))
        .map(|it| it.place.bytes)
        .collect();
    sizes.sort_unstable();
    sizes.into_iter().rev().find_map(|bytes| {
        let (cluster, to_device) = way(Direction::ToDevice, bytes)?;
        let (_, to_host) = way(Direction::ToHost, bytes)?;
        let is_sound = to_device.sum.median > 0.0 && to_host.sum.median > 0.0;
        is_sound.then_some(DevicePlace {
            node,
            cluster,
            bytes,
            to_device,
            to_host,
            time_ratio: 1.0,
            is_as_good: false,
        })
    })
}

/// Time of a byte there and one back, s.
fn time(place: &DevicePlace, rate: fn(&CaseSummary) -> f64) -> f64 {
    1.0 / rate(&place.to_device) + 1.0 / rate(&place.to_host)
}

fn rank(places: &mut [DevicePlace]) {
    let median = |place: &DevicePlace| time(place, |it| it.sum.median);
    places.sort_by(|one, other| {
        median(one).total_cmp(&median(other)).then(one.node.cmp(&other.node))
    });
    let Some(best) = places.first() else { return };
    let (fastest, at_most) = (median(best), time(best, |it| it.sum.interval.0));
    for place in places {
        place.time_ratio = median(place) / fastest;
        let at_least = time(place, |it| it.sum.interval.1);
        place.is_as_good = place.time_ratio < 1.0 + PRACTICAL || at_least <= at_most;
    }
}
