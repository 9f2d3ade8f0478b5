//! From which memory node copies to and from a device are the fastest, or messages through a network adapter.
//! Units: bytes/s.     Source: the figures of `devices` or `network` alone; no model is between.
//! Holds when: the host's threads run next to their pages, and as many bytes go each way.

use std::fmt;

use nearfar_machine::{HostMemory, NetworkAdapter, NodeSet, TransferDirection as Direction};
use nearfar_model::{
    CopyPlace, Inapplicable, MessageFigures, RecordFigures, TransferFigures, largest_copies,
    largest_messages, messages, transfers,
};
use nearfar_record::{CaseSummary, Experiment, MessageDirection as Way, Record};
use serde::Serialize;

/// The memory nodes of a machine by how fast a device copies to and from them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceAdvice {
    /// The device, by interface and number; a network adapter by the system's name.
    pub device: String,
    pub traffic: DeviceTraffic,
    /// The fastest first.
    pub places: Vec<DevicePlace>,
    /// Nodes, by their number, that are not ranked, because a way was not measured there.
    pub not_ranked: Vec<u32>,
}

impl DeviceAdvice {
    /// The device itself where there is no place.
    fn ranked(
        device: String,
        traffic: DeviceTraffic,
        mut places: Vec<DevicePlace>,
        mut not_ranked: Vec<u32>,
    ) -> Result<Self, String> {
        not_ranked.retain(|&node| places.iter().all(|it| it.node != node));
        not_ranked.dedup();
        rank(&mut places);
        if places.is_empty() {
            Err(device)
        } else {
            Ok(Self { device, traffic, places, not_ranked })
        }
    }

    /// The nodes as good as the fastest, of these the ones that firmware says are next to the device,
    /// where it names any of them. `None` where one node alone was measured: nothing is nearest then.
    pub fn nearest(&self, by_firmware: &NodeSet) -> Option<NodeSet> {
        let good: NodeSet =
            self.places.iter().filter(|it| it.is_as_good).map(|it| it.node).collect();
        let by_both = good.intersection(by_firmware);
        (self.places.len() > 1).then_some(if by_both.is_empty() { good } else { by_both })
    }
}

/// What goes to a device and from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeviceTraffic {
    /// Of an accelerator, from pinned pages.
    Copies,
    /// Of a network adapter, to a peer and from it.
    Messages,
}

impl fmt::Display for DeviceTraffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Copies => "copies",
            Self::Messages => "messages",
        })
    }
}

/// A memory node, with the host's threads next to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DevicePlace {
    /// The node of the host's pages.
    #[serde(rename = "memory_node")]
    pub node: u32,
    /// The initiator of the host's threads.
    pub initiator: u32,
    /// Bytes of a copy, or of a message.
    pub bytes: u64,
    /// To the device, or through it to the peer.
    #[serde(rename = "to_device_gb_per_s")]
    pub to_device: CaseSummary,
    /// From it.
    #[serde(rename = "to_host_gb_per_s")]
    pub to_host: CaseSummary,
    /// Time of a copy or message there and one back / that of the fastest place; 1 for it.
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
    #[error("the record has no messages through {asked}{}", others(.known.as_ref()))]
    NoMessages { asked: String, known: Option<String> },
    #[error("no node has large messages both ways through {0}")]
    OneWayMessages(String),
    #[error("the record has no copies to devices{}", reasons(.0))]
    NotMeasured(Vec<String>),
    #[error("the record has no device {device}; it has {}", .known.join(", "))]
    Unknown { device: String, known: Vec<String> },
    #[error("no node has copies of pinned memory to {0} and back")]
    OneWay(String),
}

impl DeviceAdviceError {
    /// In words, with what was tried to measure it or measures it.
    pub fn of(&self, record: &Record) -> String {
        let experiment = match self {
            Self::NotMeasured(_) | Self::OneWay(_) => Experiment::Devices,
            Self::NoMessages { known: None, .. } | Self::OneWayMessages(_) => Experiment::Network,
            Self::Unknown { .. } | Self::NoMessages { .. } => return self.to_string(),
        };
        format!("{self}{}", Inapplicable::without(record, experiment).tried())
    }
}

fn reasons(reasons: &[String]) -> String {
    if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) }
}

fn others(known: Option<&String>) -> String {
    match known {
        Some(known) => format!("; it has such through {known}"),
        None => "; `nearfar characterize --only network --peer HOST` measures them".into(),
    }
}

/// Ranks the nodes of a record for a device, by its id (`cuda0`), the system's name of an adapter (`eth0`,
/// `nic:eth0`) or its PCIe address.
///
/// # Errors
/// When the record has no copies to it and back, and no messages through it.
pub fn advise_device(
    figures: &RecordFigures<'_>,
    asked: &str,
) -> Result<DeviceAdvice, DeviceAdviceError> {
    let inputs = &figures.record().header.inputs;
    let adapter = inputs.network.as_ref().and_then(|it| it.adapter.as_ref());
    let name = asked.strip_prefix("nic:").unwrap_or(asked);
    let names = |it: &NetworkAdapter| {
        let others = [&it.bus_id, &it.infiniband];
        it.interface == name || others.into_iter().any(|other| other.as_deref() == Some(name))
    };
    match adapter {
        Some(adapter) if names(adapter) => return by_messages(figures, &adapter.interface),
        _ if name != asked => {
            let known = adapter.map(|it| format!("nic:{}", it.interface));
            return Err(DeviceAdviceError::NoMessages { asked: asked.into(), known });
        }
        _ => {}
    }
    let all = transfers(figures);
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
    let advice = DeviceAdvice::ranked(device, DeviceTraffic::Copies, places, not_ranked);
    advice.map_err(DeviceAdviceError::OneWay)
}

/// The same by the largest messages of most threads: of a node those of the initiator that it is of, else of the
/// fastest.
fn by_messages(
    figures: &RecordFigures<'_>,
    interface: &str,
) -> Result<DeviceAdvice, DeviceAdviceError> {
    let all = messages(figures);
    let (sent, received) =
        (largest_messages(&all, Way::Send), largest_messages(&all, Way::Receive));
    let size = |it: &MessageFigures| (it.place.threads, it.place.message_bytes);
    let (mut found, mut not_ranked) = (Vec::<(bool, DevicePlace)>::new(), Vec::new());
    for (at, (sent, to_device)) in sent {
        match received.get(&at).filter(|(received, _)| size(received) == size(sent)) {
            Some((_, to_host)) => found.push((
                sent.place.cpu_node == Some(at.memory_node),
                DevicePlace {
                    node: at.memory_node,
                    initiator: at.initiator,
                    bytes: sent.place.message_bytes,
                    to_device: to_device.clone(),
                    to_host: (*to_host).clone(),
                    time_ratio: 1.0,
                    is_as_good: false,
                },
            )),
            None => not_ranked.push(at.memory_node),
        }
    }
    not_ranked.extend(received.keys().map(|at| at.memory_node));
    not_ranked.sort_unstable();
    let speed = |it: &DevicePlace| 1.0 / time(it, |it| it.sum.median);
    found.sort_by(|(own, one), (of_other, other)| {
        one.node.cmp(&other.node).then(of_other.cmp(own)).then(speed(other).total_cmp(&speed(one)))
    });
    let mut places: Vec<DevicePlace> = found.into_iter().map(|(_, place)| place).collect();
    places.dedup_by_key(|place| place.node);
    let advice =
        DeviceAdvice::ranked(interface.into(), DeviceTraffic::Messages, places, not_ranked);
    advice.map_err(DeviceAdviceError::OneWayMessages)
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
