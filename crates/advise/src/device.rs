//! From which memory node copies to and from a device are the fastest.
//! Units: bytes/s.     Source: the figures of `devices` alone; no model is between.
//! Holds when: the host's thread runs next to its pages, and as many bytes go each way.

use nearfar_machine::{HostMemory, NodeSet, TransferDirection as Direction};
use nearfar_model::{CopyPlace, RecordFigures, TransferFigures, largest_copies, transfers};
use nearfar_record::CaseSummary;
use serde::Serialize;

/// The memory nodes of a machine by how fast a device copies to and from them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceAdvice {
    /// The device, by interface and number.
    pub device: String,
    /// The fastest first.
    pub places: Vec<DevicePlace>,
    /// Nodes, by their number, that are not ranked, because a way was not measured there.
    pub not_ranked: Vec<u32>,
}

impl DeviceAdvice {
    /// The nodes as good as the fastest, of these the ones that firmware says are next to the device,
    /// where it names any of them. `None` where one node alone was measured: nothing is nearest then.
    pub fn nearest(&self, by_firmware: &NodeSet) -> Option<NodeSet> {
        let good: NodeSet =
            self.places.iter().filter(|it| it.is_as_good).map(|it| it.node).collect();
        let by_both = good.intersection(by_firmware);
        (self.places.len() > 1).then_some(if by_both.is_empty() { good } else { by_both })
    }
}

/// A memory node, with the host's thread next to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DevicePlace {
    /// The node of the host's pages.
    #[serde(rename = "memory_node")]
    pub node: u32,
    /// The initiator of the host's thread.
    pub initiator: u32,
    /// Bytes of a copy.
    pub bytes: u64,
    /// To the device, from pinned pages.
    #[serde(rename = "to_device_gb_per_s")]
    pub to_device: CaseSummary,
    /// To the host, the same.
    #[serde(rename = "to_host_gb_per_s")]
    pub to_host: CaseSummary,
    /// Time of a copy there and one back / that of the fastest place; 1 for it.
    pub time_ratio: f64,
    /// Whether it is as good as the fastest, as far as was measured: its time is longer by less
    /// than 5 %, or within both intervals.
    pub is_as_good: bool,
}

/// What a program would hardly notice.
pub const PRACTICAL: f64 = 0.05;

/// Why there is no advice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceAdviceError {
    #[error("the record has no copies to devices{}", reasons(.0))]
    NotMeasured(Vec<String>),
    #[error("the record has no device {device}; it has {}", .known.join(", "))]
    Unknown { device: String, known: Vec<String> },
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
    // Of a device that two interfaces show under one address, the one that stands first.
    let first = all.iter().find(|it| is_asked(&it.place.device));
    let Some(device) = first.map(|it| it.place.device.clone()) else {
        let mut known: Vec<String> = all.iter().map(|it| it.place.device.clone()).collect();
        known.sort_unstable();
        known.dedup();
        if known.is_empty() {
            let absent = figures.record().absent.iter().filter(|it| it.case == "devices");
            let reasons = absent.map(|it| it.reason.text.clone()).collect();
            return Err(DeviceAdviceError::NotMeasured(reasons));
        }
        return Err(DeviceAdviceError::Unknown { device: asked.into(), known });
    };
    let ways = [Direction::ToDevice, Direction::ToHost];
    let of_device = all.iter().filter(|it| it.place.device == device);
    let (mut places, mut not_ranked) = (Vec::<DevicePlace>::new(), Vec::new());
    for (at, copies) in largest_copies(of_device, HostMemory::Pinned, &ways) {
        match place(&at, &copies) {
            // Of a node with threads in several initiators, the first.
            Some(place) if places.iter().all(|it| it.node != place.node) => places.push(place),
            Some(_) => {}
            None => not_ranked.push(at.memory_node),
        }
    }
    not_ranked.retain(|&node| places.iter().all(|it| it.node != node));
    not_ranked.dedup();
    rank(&mut places);
    if places.is_empty() {
        return Err(DeviceAdviceError::OneWay(device));
    }
    Ok(DeviceAdvice { device, places, not_ranked })
}

/// A place with its copies there and back.
fn place(at: &CopyPlace, copies: &[&TransferFigures]) -> Option<DevicePlace> {
    let &[to_device, to_host] = copies else { return None };
    Some(DevicePlace {
        node: at.memory_node,
        initiator: at.initiator,
        bytes: to_device.place.bytes,
        to_device: to_device.by_host.clone()?,
        to_host: to_host.by_host.clone()?,
        time_ratio: 1.0,
        is_as_good: false,
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
