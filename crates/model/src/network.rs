//! What messages to another machine and from it get: by who sends them and where their pages are, against what the
//! adapter's link carries.
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | b(i, m) | bytes of messages of all threads of the initiator i with pages on the node m / window | bytes/s |
//! | t(i, m) | a message one way: half a round trip, window x messages at a time / (2 x round trips) | ns |
//! | alpha | a class's largest b / the link's rate each way | 1 |
//!
//! Source: ours. Places are parted by `stats::partition`, which bandwidth classes are made by.
//! Holds when: the other machine and what lies between are faster than what is measured here.
//! Fails when: the peer is slower (its own CPUs, its adapter, others on the way): all places then look
//! alike. On loopback there is no link, and the peer's threads take of the same CPUs and memory.
//! Pinned by `crates/model/tests/network` and `crates/cli/tests/program/network.rs`.

use std::collections::BTreeMap;

use nearfar_machine::NetworkAdapter;
use nearfar_record::{
    CaseSummary, Coordinates, Estimate, Experiment, MessageDirection, NetworkCoordinates, Outcome,
    Part,
};
use nearfar_stats::{PartitionRule, partition};
use nearfar_units::{BytesPerSecond, Nanoseconds, Ratio};
use serde::Serialize;

use crate::inapplicable::Inapplicable;
use crate::record_figures::{CaseFigures, PlannedCase, RecordFigures};

/// A class spans at most this part of its largest bandwidth, and what noise explains.
pub const NETWORK_CLASS_SPAN: f64 = 0.07;

/// Messages from one place, one way.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessageFigures {
    #[serde(flatten)]
    pub case: PlannedCase,
    #[serde(flatten)]
    pub place: NetworkCoordinates,
    /// Bytes of messages of all threads, GB/s, over round values; of a round trip each way counts. Null
    /// without samples.
    #[serde(rename = "gb_per_s")]
    pub bandwidth: Option<CaseSummary>,
    /// Of a round trip half its time; null for other ways, and without samples.
    #[serde(rename = "one_way_ns")]
    pub one_way: Option<Estimate<Nanoseconds>>,
    /// Of sends without a copy the share that the kernel copied all the same; null for other ways, and where
    /// none was told of.
    pub copied_share: Option<f64>,
}

/// What a record says of messages to another machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Network {
    /// The other machine, as it was named.
    pub peer: Option<String>,
    /// The adapter; null where the system did not say.
    pub adapter: Option<NetworkAdapter>,
    /// What its link carries each way, and else why that is not known.
    #[serde(rename = "link_gb_per_s")]
    pub link: Outcome<BytesPerSecond>,
    /// All messages, by way, initiator, node, threads and size.
    pub messages: Vec<MessageFigures>,
    /// Of each way the places that get about as much, by large messages of most threads.
    pub class_sets: Vec<NetworkClasses>,
    /// Of each place that has one the time of the smallest message one way, the fastest first.
    pub latencies: Vec<PlacedLatency>,
    /// What large messages get without a copy / with one, where both were measured, and how many were
    /// copied all the same.
    pub without_copy: Outcome<WithoutCopyGain>,
}

/// Who sends, and where the pages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NetworkPlace {
    pub initiator: u32,
    pub memory_node: u32,
}

/// Places by what they get one way.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NetworkClasses {
    pub way: MessageDirection,
    pub message_bytes: u64,
    /// The fastest first.
    pub classes: Vec<NetworkClass>,
}

/// Places that get about as much.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NetworkClass {
    /// From 0, the fastest.
    pub class: usize,
    /// The most that a place of it gets.
    #[serde(rename = "max_gb_per_s")]
    pub max: Estimate<BytesPerSecond>,
    /// That / what the link carries each way.
    pub alpha: Outcome<Estimate<Ratio>>,
    /// The fastest first.
    pub places: Vec<NetworkPlace>,
}

/// The time of a message from a place.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacedLatency {
    #[serde(flatten)]
    pub place: NetworkPlace,
    pub message_bytes: u64,
    #[serde(rename = "one_way_ns")]
    pub one_way: Estimate<Nanoseconds>,
}

/// What sending without a copy gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WithoutCopyGain {
    /// At the place where it gives most.
    #[serde(flatten)]
    pub place: NetworkPlace,
    pub gain: Estimate<Ratio>,
    /// Of the sends there, a fraction.
    pub copied_share: f64,
}

/// The messages of a record.
pub fn messages(figures: &RecordFigures<'_>) -> Vec<MessageFigures> {
    let places = figures.places(|coordinates| match coordinates {
        Coordinates::Network(place) => Some(place),
        _ => None,
    });
    let mut all: Vec<MessageFigures> = places
        .map(|(place, case)| {
            let bandwidth =
                case.bandwidth(Part::Actor(0)).filter(|summary| summary.sum.median > 0.0);
            let one_way = bandwidth.as_ref().and_then(|it| one_way(place, it, &case));
            MessageFigures {
                copied_share: copied_share(&case),
                case: case.planned(),
                place: place.clone(),
                bandwidth,
                one_way,
            }
        })
        .collect();
    all.sort_by_cached_key(|it| {
        let NetworkCoordinates { way, initiator, memory_node, threads, message_bytes, .. } =
            it.place;
        (way, initiator, memory_node, threads, message_bytes)
    });
    all
}

/// Each thread has one message under way: the rate of all of them gives the time of one.
fn one_way(
    place: &NetworkCoordinates,
    summary: &CaseSummary,
    case: &CaseFigures<'_>,
) -> Option<Estimate<Nanoseconds>> {
    if place.way != MessageDirection::RoundTrip {
        return None;
    }
    let bytes = place.message_bytes as f64 * f64::from(place.threads);
    let time = |rate: f64| 1e9 * bytes / rate;
    let (low, high) = summary.sum.interval;
    // The highest rate is the shortest time.
    let ends = (time(high), time(low));
    let found: Estimate<Nanoseconds> =
        Estimate::computed(time(summary.sum.median), ends, vec![case.planned().id]);
    let found = Estimate { confidence: Some(summary.sum.confidence), ..found };
    found.is_positive().then_some(found)
}

fn copied_share(case: &CaseFigures<'_>) -> Option<f64> {
    let seen = || {
        let samples = case.samples().iter();
        samples.filter_map(|sample| sample.actors.first()?.messages?.without_copy)
    };
    let sum = |count: fn(nearfar_record::WithoutCopy) -> u64| {
        seen().map(count).fold(0, u64::saturating_add) as f64
    };
    let (sends, copied) = (sum(|it| it.sends), sum(|it| it.copied));
    (sends > 0.0).then(|| copied / sends)
}

/// What a record says of messages.
///
/// # Errors
/// Where none have samples.
pub fn network(figures: &RecordFigures<'_>) -> Result<Network, Inapplicable> {
    let all = messages(figures);
    if all.iter().all(|it| it.bandwidth.is_none()) {
        return Err(Inapplicable::without(figures.record(), Experiment::Network));
    }
    let inputs = figures.record().header.inputs.network.clone().unwrap_or_default();
    let link = Outcome::from(link(inputs.adapter.as_ref()));
    let ways =
        [MessageDirection::Send, MessageDirection::SendWithoutCopy, MessageDirection::Receive];
    let class_sets = ways.into_iter().filter_map(|way| classes(&all, way, &link)).collect();
    let without_copy = Outcome::from(without_copy(&all));
    let latencies = latencies(&all);
    let (peer, adapter) = (inputs.peer, inputs.adapter);
    Ok(Network { peer, adapter, link, messages: all, class_sets, latencies, without_copy })
}

fn link(adapter: Option<&NetworkAdapter>) -> Result<BytesPerSecond, String> {
    let adapter = adapter.ok_or("through which adapter the peer is reached is not known")?;
    let rate = adapter.link_bytes_per_s().map(BytesPerSecond);
    let why = || adapter.no_rate.clone().unwrap_or_else(|| "nothing says how fast it is".into());
    rate.ok_or_else(|| format!("{}: {}", adapter.interface, why()))
}

/// Of each place the largest messages of most threads, with their bandwidth.
pub fn largest_messages(
    all: &[MessageFigures],
    way: MessageDirection,
) -> BTreeMap<NetworkPlace, (&MessageFigures, &CaseSummary)> {
    let mut found: BTreeMap<NetworkPlace, (&MessageFigures, &CaseSummary)> = BTreeMap::new();
    let of_way = all.iter().filter(|it| it.place.way == way);
    for (it, summary) in of_way.filter_map(|it| Some((it, it.bandwidth.as_ref()?))) {
        let NetworkCoordinates { initiator, memory_node, .. } = it.place;
        let known = found.entry(NetworkPlace { initiator, memory_node }).or_insert((it, summary));
        let rank = |it: &MessageFigures| (it.place.threads, it.place.message_bytes);
        if rank(it) > rank(known.0) {
            *known = (it, summary);
        }
    }
    found
}

fn classes(
    all: &[MessageFigures],
    way: MessageDirection,
    link: &Outcome<BytesPerSecond>,
) -> Option<NetworkClasses> {
    let places: Vec<_> = largest_messages(all, way).into_iter().collect();
    let values: Vec<f64> = places.iter().map(|(_, (_, summary))| summary.sum.median).collect();
    // The standard error of a median over rounds, the mean over places.
    let errors: Vec<f64> = places
        .iter()
        .filter_map(|(_, (_, summary))| {
            Some(summary.deviation_between_rounds? / (summary.sum.count as f64).sqrt())
        })
        .collect();
    let noise = (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64);
    let rule = PartitionRule { span: NETWORK_CLASS_SPAN, noise };
    let parts = partition(&values, &rule)?;
    let classes: Vec<NetworkClass> = parts
        .into_iter()
        .enumerate()
        .filter_map(|(class, part)| {
            let mut members: Vec<_> = part.members.iter().map(|&member| &places[member]).collect();
            members.sort_by(|(_, (_, a)), (_, (_, b))| b.sum.median.total_cmp(&a.sum.median));
            let (_, (first, summary)) = members.first()?;
            let max = Estimate::<BytesPerSecond>::of_rounds(&summary.sum, &first.case.id);
            let alpha = link.as_result().map_err(String::from).map(|link| {
                let [low, high] = max.ends().map(|end| end.0 / link.0);
                let of_link =
                    Estimate::computed(max.value.0 / link.0, (low, high), max.cases.clone());
                Estimate { confidence: max.confidence, ..of_link }
            });
            let places = members.iter().map(|(place, _)| *place).collect();
            Some(NetworkClass { class, max, alpha: Outcome::from(alpha), places })
        })
        .collect();
    let message_bytes = places.iter().map(|(_, (it, _))| it.place.message_bytes).max()?;
    (!classes.is_empty()).then_some(NetworkClasses { way, message_bytes, classes })
}

fn latencies(all: &[MessageFigures]) -> Vec<PlacedLatency> {
    let trips = || all.iter().filter(|it| it.one_way.is_some());
    let Some(least) = trips().map(|it| it.place.message_bytes).min() else { return Vec::new() };
    let of_least = trips().filter(|it| it.place.message_bytes == least);
    let mut found: Vec<PlacedLatency> = of_least
        .filter_map(|it| {
            let NetworkCoordinates { initiator, memory_node, message_bytes, .. } = it.place;
            let place = NetworkPlace { initiator, memory_node };
            Some(PlacedLatency { place, message_bytes, one_way: it.one_way.clone()? })
        })
        .collect();
    found.sort_by(|a, b| a.one_way.value.0.total_cmp(&b.one_way.value.0));
    found
}

fn without_copy(all: &[MessageFigures]) -> Result<WithoutCopyGain, String> {
    let with = largest_messages(all, MessageDirection::Send);
    let without = largest_messages(all, MessageDirection::SendWithoutCopy);
    let gains = without.into_iter().filter_map(|(place, (it, summary))| {
        let (other, with) = with.get(&place)?;
        let same = (it.place.threads, it.place.message_bytes)
            == (other.place.threads, other.place.message_bytes);
        let (low, high) = summary.sum.interval;
        let (with_low, with_high) = with.sum.interval;
        let cases = vec![it.case.id.clone(), other.case.id.clone()];
        let ends = (low / with_high, high / with_low);
        let gain = Estimate::<Ratio>::computed(summary.sum.median / with.sum.median, ends, cases);
        let copied_share = it.copied_share.filter(|_| same && gain.is_positive())?;
        Some(WithoutCopyGain { place, gain, copied_share })
    });
    gains
        .max_by(|a, b| a.gain.value.0.total_cmp(&b.gain.value.0))
        .ok_or_else(|| "no place was measured with a copy and without one".into())
}
