//! Copies to and from devices: the largest of each place, all sizes and their law, classes, who loses what.

use std::collections::BTreeMap;

use nearfar_machine::{HostMemory, NodeSet, TransferDirection};
use nearfar_model::{
    AloneFigures, Class, DeviceClassNote, DeviceClasses, DevicePair, Devices, TransferFigures,
    TransferLaw, TransferLoss, TransferTime, largest_transfers,
};
use nearfar_record::{TransferBeside, TransferCoordinates};
use nearfar_units::{Bytes, format_significant};

use super::classes::{
    alpha_note, class_cells, class_columns, class_marks, rate, rounds_note, span_words,
};
use super::figures::{capitalised, count, percent_words};
use crate::answer::Answer;
use crate::document::Section;
use crate::figure::{Counted, Figure, Unit};
use crate::grid::Grid;
use crate::table::{Cell, Column, GB, NS, ONE, Table, WORDS};

/// What was measured and what it means.
pub(crate) fn section(transfers: &[TransferFigures], model: Option<&Devices>) -> Option<Section> {
    let mut tables = matrices(transfers);
    tables.extend(sizes(transfers));
    tables.extend(model.and_then(times));
    tables.extend(peers(transfers));
    tables.extend(besides(transfers));
    tables.extend(model.and_then(losses));
    tables.extend(model.map(classes).unwrap_or_default());
    let shared = transfers.iter().any(|transfer| transfer.shares_host_memory);
    let within = if shared {
        " A device that shares the host's memory copies within it and over no link."
    } else {
        ""
    };
    Section::new(
        "devices",
        "Devices",
        format!(
            "Copies between the memory of each node and each device, one after the other, each waited \
             for, by the host's clock; the host's thread runs next to its pages. Pinned pages are \
             locked to their place and the device reads and writes them itself; pageable ones the \
             driver copies first. Both ways at once it is the sum.{within}"
        ),
        tables,
    )
    .with_findings(model.map(findings).unwrap_or_default())
    .unless_empty()
}

/// The classes alone; nothing where there are none.
pub fn device_class_answer(model: &Devices) -> Answer {
    let section = Section::new(
        "devices",
        "Devices",
        "Copies between memory nodes and devices, by the host's clock.",
        classes(model),
    );
    let section = section.unless_empty();
    section.map(|section| Answer::default().and_section(section, 8)).unwrap_or_default()
}

/// What to know first, in sentences.
pub(crate) fn findings(model: &Devices) -> Vec<String> {
    let of_set = |set: &DeviceClasses| {
        let (first, last) = (set.classes.first()?, set.classes.last()?);
        (first.class < last.class).then(|| {
            format!(
                "Copies by {} {} fall into {} classes: the fastest reach {}, the slowest {}.",
                set.backend,
                set.direction.words(),
                set.classes.len(),
                rate(first.max).words(),
                rate(last.max).words()
            )
        })
    };
    model.class_sets.iter().filter_map(of_set).collect()
}

pub(crate) fn cell(transfer: &TransferFigures) -> Cell {
    let sum = transfer.by_host.as_ref().map(Figure::sum);
    Cell::of(&transfer.case, sum, Counted::ActorBytes(transfer.place.actor as usize))
}

fn node(transfer: &TransferFigures) -> String {
    transfer.place.memory_node.map_or_else(|| "device".into(), |node| format!("node {node}"))
}

fn device(transfer: &TransferFigures) -> String {
    match &transfer.device_name {
        Some(name) => format!("{} ({name})", transfer.place.device),
        None => transfer.place.device.clone(),
    }
}

/// Which way and what the host's pages are, in words.
pub(crate) fn way_words(direction: TransferDirection, memory: Option<HostMemory>) -> String {
    let memory = memory.map_or(String::new(), |memory| format!(", {memory} memory"));
    format!("{}{memory}", direction.words())
}

/// The two ends of copies.
pub(crate) fn ends_words(device: &str, memory_node: Option<u32>, peer: Option<&str>) -> String {
    match (memory_node, peer) {
        (_, Some(peer)) => format!("{device} to {peer}"),
        (Some(node), None) => format!("{device} and node {node}"),
        (None, None) => device.into(),
    }
}

fn way(transfer: &TransferFigures) -> (TransferDirection, Option<HostMemory>) {
    (transfer.place.direction, transfer.place.host_memory)
}

/// Nodes by devices, a table for each way and memory: of each place its largest copies.
fn matrices(transfers: &[TransferFigures]) -> Vec<Table> {
    let with_host = |it: &&TransferFigures| it.place.peer.is_none();
    let largest: Vec<&TransferFigures> =
        largest_transfers(transfers).into_iter().filter(with_host).collect();
    let mut tables = Vec::new();
    for of in largest.chunk_by(|a, b| way(a) == way(b)) {
        let first = of[0];
        let mut grid = Grid::default();
        of.iter().for_each(|it| grid.add(node(it), device(it), cell(it)));
        let most = of.iter().map(|it| it.place.bytes).max().unwrap_or(0);
        let words = way_words(first.place.direction, first.place.host_memory);
        let caption = format!("{}, {} a copy", capitalised(&words), Bytes(most));
        tables.extend(grid.table(caption, "memory", Unit::GbPerS));
    }
    tables
}

/// Sizes by places, a table for each way and memory, of places where several sizes were copied.
fn sizes(transfers: &[TransferFigures]) -> Vec<Table> {
    let mut tables = Vec::new();
    for of in sized(transfers).chunk_by(|a, b| way(a[0]) == way(b[0])) {
        let mut cells: Vec<&TransferFigures> = of.iter().flatten().copied().collect();
        // Of all places the sizes in one order.
        cells.sort_by_key(|it| it.place.bytes);
        let ends = |it: &TransferFigures| {
            ends_words(&it.place.device, it.place.memory_node, it.place.peer.as_deref())
        };
        let mut grid = Grid::with_columns(of.iter().map(|of_place| ends(of_place[0])));
        for it in &cells {
            grid.add(Bytes(it.place.bytes).to_string(), ends(it), cell(it));
        }
        let words = way_words(cells[0].place.direction, cells[0].place.host_memory);
        let caption = format!("{}, by the bytes of a copy", capitalised(&words));
        tables.extend(grid.table(caption, SIZES, Unit::GbPerS));
    }
    tables
}

/// Heads the column of the bytes of a copy.
pub(crate) const SIZES: &str = "a copy";

/// Copies of one place after the other, by size, where several sizes were copied beside nothing.
pub(crate) fn sized(transfers: &[TransferFigures]) -> Vec<Vec<&TransferFigures>> {
    let place = |it: &TransferFigures| {
        let of = it.place.clone();
        (of.direction, of.host_memory, of.device, of.memory_node, of.peer, of.initiator)
    };
    let mut alone: Vec<&TransferFigures> = transfers
        .iter()
        .filter(|it| {
            let of = &it.place;
            of.beside.is_none() && (of.memory_node.is_some() || of.peer.is_some())
        })
        .collect();
    alone.sort_by_key(|it| (place(it), it.place.bytes));
    alone
        .chunk_by(|a, b| place(a) == place(b))
        .filter(|of| of.iter().any(|it| it.place.bytes != of[0].place.bytes))
        .map(<[_]>::to_vec)
        .collect()
}

/// The law of each place with several sizes.
fn times(model: &Devices) -> Option<Table> {
    let ends = |time: &TransferTime| {
        let place = &time.place;
        ends_words(&place.device, place.memory_node, place.peer.as_deref())
    };
    let way = |time: &TransferTime| way_words(time.place.direction, time.place.host_memory);
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    for time in &model.times {
        match time.law.as_result() {
            Ok(law) => rows.push(vec![
                Cell::text(ends(time)),
                Cell::text(way(time)),
                Cell::Figure(Figure::new(law.latency.0, None, Unit::Ns)),
                Cell::Figure(rate(law.bandwidth.0)),
                Cell::text(half_words(law)),
                Cell::text(format!("{} at {}", error_words(law), Bytes(law.worst_error_bytes))),
            ]),
            Err(why) => notes.push(format!("{}, {}: no law: {why}.", ends(time), way(time))),
        }
    }
    let table = Table::new(
        "The time of a copy: latency + bytes / bandwidth, fitted to all its sizes; half of that \
         bandwidth, and the law's worst error, by the bytes of a copy",
        Column::all(
            ["copies", "way", "latency", "bandwidth", "half at", "worst error"],
            [WORDS, WORDS, NS, GB, WORDS, WORDS],
        ),
        rows,
    );
    (!model.times.is_empty()).then(|| table.with_notes(notes))
}

/// Bytes of a copy that gets half of the bandwidth, to three digits.
pub(crate) fn half_words(law: &TransferLaw) -> String {
    const UNITS: [(&str, f64); 4] =
        [("GiB", 1_073_741_824.0), ("MiB", 1_048_576.0), ("KiB", 1024.0), ("B", 1.0)];
    let bytes = law.half_bandwidth_bytes;
    let unit = UNITS.iter().find(|(_, size)| bytes >= *size).unwrap_or(&UNITS[3]);
    format!("{} {}", format_significant(bytes / unit.1, 3), unit.0)
}

/// How far the law is off where it is farthest: never rounded to none.
fn error_words(law: &TransferLaw) -> String {
    const LEAST_SHOWN: f64 = 1e-4;
    if law.worst_error < LEAST_SHOWN { "< 0.01 %".into() } else { percent_words(law.worst_error) }
}

fn peers(transfers: &[TransferFigures]) -> Option<Table> {
    let mut grid = Grid::default();
    for transfer in largest_transfers(transfers) {
        if let Some(peer) = &transfer.place.peer {
            grid.add(
                format!("from {}", transfer.place.device),
                format!("to {peer}"),
                cell(transfer),
            );
        }
    }
    grid.table("From one device to another".into(), "device", Unit::GbPerS)
}

/// What copies and what runs beside them get, together and alone.
fn besides(transfers: &[TransferFigures]) -> Option<Table> {
    let rows: Vec<Vec<Cell>> = transfers
        .iter()
        .filter_map(|transfer| {
            let beside = transfer.beside.as_ref()?;
            let place = &transfer.place;
            let other = 1 - place.actor.min(1) as usize;
            let alone = |of: &Option<AloneFigures>| {
                let alone = of.as_ref().map(|of| Figure::sum(&of.summary));
                Cell::of_some(&transfer.case, alone)
            };
            let together = beside.beside.as_ref().map(Figure::sum);
            Some(vec![
                Cell::text(format!("{}, {}", place.device, node(transfer))),
                Cell::text(place.direction.words()),
                Cell::text(beside_words(place)),
                cell(transfer),
                alone(&beside.transfer_alone),
                Cell::of(&transfer.case, together, Counted::ActorBytes(other)),
                alone(&beside.alone),
            ])
        })
        .collect();
    Table::new(
        "Copies with other traffic on the node, the links or the hub",
        Column::all(
            ["copies", "way", "beside", "copies", "alone", "the other", "alone"],
            [WORDS, WORDS, WORDS, GB, GB, GB, GB],
        ),
        rows,
    )
    .unless_empty()
}

fn beside_words(place: &TransferCoordinates) -> String {
    match &place.beside {
        Some(TransferBeside::Device { device }) => device.clone(),
        Some(TransferBeside::Streams { kernel, threads, .. }) => {
            format!("{kernel} by {}", count(*threads as usize, "thread"))
        }
        None => String::new(),
    }
}

/// What copies, and what runs beside them, keep of what each moves alone.
fn losses(model: &Devices) -> Option<Table> {
    let rows = model.losses.iter().map(|TransferLoss { place, copies_kept, other_kept }| {
        let kept = |share: &Option<_>| Cell::figure(share.as_ref().map(Figure::of));
        vec![
            Cell::text(ends_words(&place.device, place.memory_node, place.peer.as_deref())),
            Cell::text(way_words(place.direction, place.host_memory)),
            Cell::text(beside_words(place)),
            kept(copies_kept),
            kept(other_kept),
        ]
    });
    Table::new(
        "What copies and other traffic on the node, the links or the hub keep together, of what \
         each moves alone",
        Column::all(
            ["copies", "way", "beside", "copies keep", "the other keeps"],
            [WORDS, WORDS, WORDS, ONE, ONE],
        ),
        rows,
    )
    .unless_empty()
}

/// A table for each interface and way.
fn classes(model: &Devices) -> Vec<Table> {
    let mut tables: Vec<Table> = model.class_sets.iter().map(class_table).collect();
    if let Some(first) = tables.first_mut() {
        first.notes.insert(0, span_words(model.class_span) + ".");
        let named = model.devices.iter().filter(|(_, name)| !name.is_empty());
        let names: Vec<String> = named.map(|(id, name)| format!("{id} {name}")).collect();
        if !names.is_empty() {
            first.notes.push(format!("Devices: {}.", names.join("; ")));
        }
    }
    tables
}

fn class_table(set: &DeviceClasses) -> Table {
    let symbol = match set.direction {
        TransferDirection::ToHost => " (alpha_r: read from the device)",
        TransferDirection::ToDevice => " (alpha_w: written to the device)",
        TransferDirection::BothWays => ", the sum",
        TransferDirection::ToPeer => "",
    };
    let (least, most) = (Bytes(set.least_bytes), Bytes(set.most_bytes));
    let sizes = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let rows = set.classes.iter().map(|class| {
        class_cells(class).into_iter().chain([Cell::text(pairs_words(class))]).collect()
    });
    let columns = class_columns().into_iter().chain([Column::words("memory nodes by device")]);
    Table::new(
        format!(
            "Bandwidth classes by {}, {}{symbol}: best round of pinned copies of {sizes}",
            set.backend,
            set.direction.words()
        ),
        columns,
        rows,
    )
    .with_notes(set_notes(set))
}

/// `cuda0: 0-1; cuda1: 2-3`, and what to know of the class.
fn pairs_words(class: &Class<DevicePair>) -> String {
    let mut nodes: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for pair in &class.pairs {
        nodes.entry(&pair.device).or_default().push(pair.memory_node);
    }
    let of_device = |(device, nodes): (&str, Vec<u32>)| {
        format!("{device}: {}", nodes.into_iter().collect::<NodeSet>())
    };
    let words: Vec<String> = nodes.into_iter().map(of_device).collect();
    words.join("; ") + &class_marks(class)
}

fn set_notes(set: &DeviceClasses) -> Vec<String> {
    let mut notes = vec![alpha_note(&set.phi), rounds_note(set.fewest_rounds, set.noise)];
    notes.extend(set.left_out.iter().map(|out| {
        let why = out.refused.as_deref().unwrap_or("not measured with copies of such sizes");
        format!("{}, node {}: left out, {why}.", out.device, out.memory_node)
    }));
    notes.extend(set.notes.iter().map(|note| match note {
        DeviceClassNote::SeveralSizes => "Not all pairs were copied in pieces of one size; smaller \
                                          ones show more of what a copy takes to begin."
            .into(),
        DeviceClassNote::FewRounds { enough } => format!(
            "A pair has {} of the {enough} rounds that its best should be taken from.",
            set.fewest_rounds
        ),
        DeviceClassNote::Disturbed { pairs, of } => {
            format!("Every window of {pairs} of {of} pairs was disturbed.")
        }
        DeviceClassNote::SlowLinks { devices } => format!(
            "The link of {} ran below what it could when the record was begun; a link may rest while \
             its device is idle, and alpha is then too high: give --phi.",
            devices.join(", ")
        ),
    }));
    notes
}
