//! Copies between memory and devices: the largest of each place, and all sizes with their law.

use std::collections::BTreeMap;

use crate::subject::devices::{cell, ends_words, half_words, sized, way_words};
use nearfar_machine::NodeSet;
use nearfar_model::{TransferFigures, TransferLaw, TransferPlace, largest_transfers};
use nearfar_record::TransferCoordinates;
use nearfar_units::{Bytes, Quantity, format_significant};

use super::heat_map::{HeatMap, Place};
use super::lines::{Axis, Lines, Scale, Series, Style, Ticks};
use super::{Chart, Plot};
use crate::figure::{Figure, Unit};
use crate::subject::Sources;
use crate::table::Cell;

pub(super) fn charts(sources: &Sources<'_>) -> Vec<Chart> {
    [map(&sources.show.devices), sizes(sources)].into_iter().flatten().collect()
}

/// A matrix as nvbandwidth prints it, with a row for each memory node.
fn map(transfers: &[TransferFigures]) -> Option<Chart> {
    let statistics = [("bandwidth", Unit::GbPerS.as_str(), false)];
    let mut map = HeatMap::new(["memory of", "device"], &["Copies"], &statistics);
    for transfer in largest_transfers(transfers) {
        let row = match transfer.place.memory_node {
            Some(node) => format!("node {node}"),
            None => transfer.place.device.clone(),
        };
        let place = Place {
            choice: vec![way_words(transfer.place.direction, transfer.place.host_memory)],
            row,
            column: transfer.place.peer.as_ref().unwrap_or(&transfer.place.device).clone(),
        };
        map.add(&place, cell(transfer), Vec::new());
    }
    Chart::of(
        "devices-map",
        "devices",
        "The largest copies of each memory node and device",
        "A heat map: whose memory in rows, the device in columns, the bandwidth of \
                      the largest copies written in each cell; both ways at once it is the sum. \
                      Between devices the row's is copied to the column's.",
        Plot::HeatMap(map),
    )
}

fn sizes(sources: &Sources<'_>) -> Option<Chart> {
    let x = Axis::new("bytes of a copy", Scale::Log).marked_at(Ticks::Bytes);
    let y = Axis::new("bandwidth, GB/s", Scale::FromZero);
    let mut lines = Lines::new(x, y, &["Copies"]);
    let places = sized(&sources.show.devices);
    let ends = Ends::new(sources, &places);
    let shown = shown_first(&places);
    let laws = sources.devices().map(|model| model.times.as_slice());
    for (of_place, is_shown) in places.iter().zip(shown) {
        let first = of_place[0];
        let choice = [way_words(first.place.direction, first.place.host_memory)];
        let (name, look) = ends.name_and_look(first);
        let mut measured = Series::new(&name, Style::Points).looking(look);
        for transfer in of_place.iter().filter(|it| it.place.bytes > 0) {
            let Cell::Figure(figure) = cell(transfer) else { continue };
            measured.point(transfer.place.bytes as f64, &figure, &about(transfer));
        }
        let law = laws.and_then(|laws| laws.iter().find(|time| is_at(&time.place, first)));
        let law = law.and_then(|time| time.law.found());
        let ways = f64::from(first.place.direction.ways());
        let law = law.map(|law| drawn_law(law, ways, &name, look)).into_iter().flatten();
        for mut series in std::iter::once(measured).chain(law) {
            series.hidden_first(!is_shown);
            lines.add(&choice, series);
        }
    }
    Chart::of(
        "devices-sizes",
        "devices",
        "Copies over their size, and the law of each place",
        "Marks are measured, with their intervals; lines are the law, latency + bytes / \
                      bandwidth; a star is the copy that gets half of that bandwidth. A device has \
                      one colour and a mark for each memory; its nodes are those next to it. Where more than two nodes were \
                      measured, the fastest and the slowest of each device are drawn first.",
        Plot::Lines(lines),
    )
}

/// The other end of a device's copies: whether it is not next to it, the node, or the peer.
type End = (bool, Option<u32>, Option<String>);

/// The other ends of each device's copies: those next to it first.
struct Ends(BTreeMap<String, Vec<End>>);

impl Ends {
    fn new(sources: &Sources<'_>, places: &[Vec<&TransferFigures>]) -> Self {
        let inputs = sources.record.header.inputs.devices.as_ref();
        let accelerators = inputs.map_or(&[][..], |inputs| &inputs.accelerators);
        let next_to = |device: &str| -> NodeSet {
            let known = accelerators.iter().find(|it| it.id == device);
            known.map(|it| it.nodes.clone()).unwrap_or_default()
        };
        let mut ends: BTreeMap<String, Vec<End>> = BTreeMap::new();
        for of_place in places {
            let TransferCoordinates { device, memory_node, peer, .. } = &of_place[0].place;
            let is_far = memory_node.is_none_or(|node| !next_to(device).contains(node));
            let of_device = ends.entry(device.clone()).or_default();
            of_device.push((is_far, *memory_node, peer.clone()));
        }
        for of_device in ends.values_mut() {
            of_device.sort_unstable();
            of_device.dedup();
        }
        Self(ends)
    }

    /// What a place is called; its colour by the device and its mark by the memory.
    fn name_and_look(&self, transfer: &TransferFigures) -> (String, [usize; 2]) {
        let TransferCoordinates { device, memory_node, peer, .. } = &transfer.place;
        let ends = self.0.get(device).map_or(&[][..], Vec::as_slice);
        let end = ends.iter().position(|(_, node, to)| (node, to) == (memory_node, peer));
        let is_next = end.is_some_and(|end| !ends[end].0);
        let name = match memory_node {
            Some(node) if is_next => format!("{device} and its node {node}"),
            _ => ends_words(device, *memory_node, peer.as_deref()),
        };
        let colour = self.0.keys().position(|known| known == device);
        (name, [colour.unwrap_or_default(), end.unwrap_or_default()])
    }
}

/// Whether a place is drawn before anything is chosen: of each device and way the places whose
/// largest copies are the fastest and the slowest.
fn shown_first(places: &[Vec<&TransferFigures>]) -> Vec<bool> {
    let rate = |of: &[&TransferFigures]| {
        let measured = of.iter().rev().find_map(|it| it.by_host.as_ref());
        measured.map_or(0.0, |it| it.sum.median)
    };
    let key = |of: &[&TransferFigures]| {
        (of[0].place.direction, of[0].place.host_memory, of[0].place.device.clone())
    };
    let mut shown = Vec::new();
    for of_device in places.chunk_by(|a, b| key(a) == key(b)) {
        let rates: Vec<f64> = of_device.iter().map(|of| rate(of)).collect();
        let by_rate = |one: &usize, other: &usize| rates[*one].total_cmp(&rates[*other]);
        let most = (0..rates.len()).max_by(by_rate);
        let least = (0..rates.len()).min_by(by_rate);
        shown.extend((0..rates.len()).map(|at| Some(at) == most || Some(at) == least));
    }
    shown
}

fn is_at(place: &TransferPlace, transfer: &TransferFigures) -> bool {
    (&place.device, place.memory_node, &place.peer, place.direction, place.host_memory)
        == (
            &transfer.place.device,
            transfer.place.memory_node,
            &transfer.place.peer,
            transfer.place.direction,
            transfer.place.host_memory,
        )
}

/// What is said of copies beside their bandwidth.
fn about(transfer: &TransferFigures) -> String {
    let mut about = format!("{} a copy", Bytes(transfer.place.bytes));
    if let Some(time) = transfer.time {
        about += &format!(", {} us", format_significant(time.0 / 1e3, 3));
    }
    if let Some(rate) = transfer.by_device {
        let rate = format_significant(rate.in_unit(), 3);
        about += &format!("\nby the device's own clock {rate} GB/s");
    }
    about
}

/// A law as a line, at two sizes in each octave (more are not seen), and the copy that gets half of
/// its bandwidth, where such were measured.
fn drawn_law(law: &TransferLaw, ways: f64, name: &str, look: [usize; 2]) -> [Series; 2] {
    let mut line = Series::new(name, Style::Edge).looking(look);
    let mut half = Series::new(name, Style::Stars).looking(look);
    let (Some(&least), Some(&most)) = (law.sizes.first(), law.sizes.last()) else {
        return [line, half];
    };
    let (least, most) = (least.max(1) as f64, most as f64);
    let latency = format_significant(law.latency.0 / 1e3, 3);
    let bandwidth = format_significant(law.bandwidth.in_unit(), 3);
    let words = format!("by the law: {latency} us + bytes / {bandwidth} GB/s");
    let sizes = std::iter::successors(Some(least), |size| Some(size * std::f64::consts::SQRT_2));
    for bytes in sizes.take_while(|size| *size < most).chain([most]) {
        let rate = law.rate(bytes * ways).in_unit();
        line.point(bytes, &Figure::new(rate, None, Unit::GbPerS), &words);
    }
    let bytes = law.half_bandwidth_bytes / ways;
    if (least..=most).contains(&bytes) {
        let words = format!("half of {bandwidth} GB/s: copies of {}", half_words(law));
        let figure = Figure::new(law.bandwidth.in_unit() / 2.0, None, Unit::GbPerS);
        half.point(bytes, &figure, &words);
    }
    [line, half]
}
