//! Copies between memory and devices.

use crate::subject::{FittedView, ModelKind, TransferView, largest_transfers};
use nearfar_machine::{HostMemory, TransferDirection};
use nearfar_units::Bytes;

use super::{meaning, model};
use crate::document::{Section, Sources};
use crate::figure::{Counted, Figure, Unit};
use crate::grid::Grid;
use crate::table::{Cell, Column, Table};

pub(super) fn section(sources: &Sources<'_>) -> Option<Section> {
    let transfers = &sources.show.devices;
    if transfers.is_empty() {
        return None;
    }
    let tables = matrices(transfers)
        .into_iter()
        .chain(sizes(transfers))
        .chain(times(sources))
        .chain(peers(transfers))
        .chain(besides(transfers));
    let (findings, model_text) = meaning(sources, &[ModelKind::Devices]);
    let shared = transfers.iter().any(|transfer| transfer.shares_host_memory);
    let within = if shared {
        " A device that shares the host's memory copies within it and over no link."
    } else {
        ""
    };
    Some(Section {
        id: "devices",
        title: "Devices",
        about: format!(
            "Copies between the memory of each node and each device, one after the other, each waited \
             for, by the host's clock; the host's thread runs next to its pages. Pinned pages are \
             locked to their place and the device reads and writes them itself; pageable ones the \
             driver copies first. Both ways at once it is the sum.{within}"
        ),
        tables: tables.collect(),
        findings,
        model_text,
    })
}

pub(crate) fn cell(transfer: &TransferView) -> Cell {
    let sum = transfer.bandwidth.as_ref().map(Figure::sum);
    Cell::of(&transfer.case, sum, Counted::ActorBytes(transfer.actor))
}

fn node(transfer: &TransferView) -> String {
    transfer.memory_node.map_or_else(|| "device".into(), |node| format!("node {node}"))
}

fn device(transfer: &TransferView) -> String {
    match &transfer.device_name {
        Some(name) => format!("{} ({name})", transfer.device),
        None => transfer.device.clone(),
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

fn way(transfer: &TransferView) -> (TransferDirection, Option<HostMemory>) {
    (transfer.direction, transfer.host_memory)
}

/// Nodes by devices, a table for each way and memory: of each place its largest copies.
fn matrices(transfers: &[TransferView]) -> Vec<Table> {
    let with_host = |it: &&TransferView| it.peer.is_none();
    let largest: Vec<&TransferView> =
        largest_transfers(transfers).into_iter().filter(with_host).collect();
    let mut tables = Vec::new();
    for of in largest.chunk_by(|a, b| way(a) == way(b)) {
        let first = of[0];
        let mut grid = Grid::default();
        of.iter().for_each(|it| grid.add(node(it), device(it), cell(it)));
        let most = of.iter().map(|it| it.bytes).max().unwrap_or(0);
        let words = way_words(first.direction, first.host_memory);
        let caption = format!("{}, {} a copy", in_sentence(&words), Bytes(most));
        tables.extend(grid.table(caption, "memory", Unit::GbPerS));
    }
    tables
}

/// With its first letter as a sentence begins.
fn in_sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Sizes by places, a table for each way and memory, of places where several sizes were copied.
fn sizes(transfers: &[TransferView]) -> Vec<Table> {
    let mut tables = Vec::new();
    for of in sized(transfers).chunk_by(|a, b| way(a[0]) == way(b[0])) {
        let mut cells: Vec<&TransferView> = of.iter().flatten().copied().collect();
        // Of all places the sizes in one order.
        cells.sort_by_key(|it| it.bytes);
        let ends = |it: &TransferView| ends_words(&it.device, it.memory_node, it.peer.as_deref());
        let mut grid = Grid::with_columns(of.iter().map(|of_place| ends(of_place[0])));
        for it in &cells {
            grid.add(Bytes(it.bytes).to_string(), ends(it), cell(it));
        }
        let words = way_words(cells[0].direction, cells[0].host_memory);
        let caption = format!("{}, by the bytes of a copy", in_sentence(&words));
        tables.extend(grid.table(caption, SIZES, Unit::GbPerS));
    }
    tables
}

/// Heads the column of the bytes of a copy.
pub(crate) const SIZES: &str = "a copy";

/// Copies of one place after the other, by size, where several sizes were copied beside nothing.
pub(crate) fn sized(transfers: &[TransferView]) -> Vec<Vec<&TransferView>> {
    let place = |it: &TransferView| {
        let (device, peer) = (it.device.clone(), it.peer.clone());
        (it.direction, it.host_memory, device, it.memory_node, peer, it.cluster)
    };
    let mut alone: Vec<&TransferView> = transfers
        .iter()
        .filter(|it| it.beside.is_none() && (it.memory_node.is_some() || it.peer.is_some()))
        .collect();
    alone.sort_by_key(|it| (place(it), it.bytes));
    alone
        .chunk_by(|a, b| place(a) == place(b))
        .filter(|of| of.iter().any(|it| it.bytes != of[0].bytes))
        .map(<[_]>::to_vec)
        .collect()
}

/// The law of each place with several sizes.
fn times(sources: &Sources<'_>) -> Option<Table> {
    let Some(FittedView::Devices(model)) = model(sources, ModelKind::Devices) else { return None };
    let rows = model.times.iter().map(|time| {
        let place = &time.place;
        let figure = |value, unit| Cell::Figure(Figure::new(value, None, unit));
        vec![
            Cell::text(ends_words(&place.device, place.memory_node, place.peer.as_deref())),
            Cell::text(way_words(place.direction, place.host_memory)),
            figure(time.latency_us * 1e3, Unit::Ns),
            figure(time.bandwidth_gb_per_s, Unit::GbPerS),
            Cell::text(time.half_bandwidth_words()),
            Cell::text(format!(
                "{} at {}",
                time.worst_error_words(),
                Bytes(time.worst_error_bytes)
            )),
        ]
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    (!rows.is_empty()).then(|| Table {
        caption: "The time of a copy: latency + bytes / bandwidth, fitted to all its sizes".into(),
        columns: vec![
            Column::words("copies"),
            Column::words("way"),
            Column::of("latency", Unit::Ns),
            Column::of("bandwidth", Unit::GbPerS),
            Column::words("half of it by copies of"),
            Column::words("farthest off"),
        ],
        rows,
        notes: model
            .times_unknown
            .iter()
            .map(|it| {
                let place = &it.place;
                let ends = ends_words(&place.device, place.memory_node, place.peer.as_deref());
                let way = way_words(place.direction, place.host_memory);
                format!("{ends}, {way}: no law: {}", it.why)
            })
            .collect(),
    })
}

fn peers(transfers: &[TransferView]) -> Option<Table> {
    let mut grid = Grid::default();
    for transfer in largest_transfers(transfers) {
        if let Some(peer) = &transfer.peer {
            grid.add(format!("from {}", transfer.device), format!("to {peer}"), cell(transfer));
        }
    }
    grid.table("From one device to another".into(), "device", Unit::GbPerS)
}

/// What copies and what runs beside them get, together and alone.
fn besides(transfers: &[TransferView]) -> Option<Table> {
    let rows: Vec<Vec<Cell>> = transfers
        .iter()
        .filter_map(|transfer| {
            let beside = transfer.beside.as_ref()?;
            let what = match (&beside.device, &beside.kernel, beside.threads) {
                (Some(device), _, _) => device.clone(),
                (None, Some(kernel), Some(threads)) => format!("{kernel} by {threads} threads"),
                _ => String::new(),
            };
            let other = 1 - transfer.actor.min(1);
            let sum = |view: &Option<_>| view.as_ref().map(Figure::sum);
            Some(vec![
                Cell::text(format!("{}, {}", transfer.device, node(transfer))),
                Cell::text(transfer.direction.words()),
                Cell::text(what),
                cell(transfer),
                Cell::of_some(&transfer.case, sum(&beside.copies_alone)),
                Cell::of(&transfer.case, sum(&beside.bandwidth), Counted::ActorBytes(other)),
                Cell::of_some(&transfer.case, sum(&beside.alone)),
            ])
        })
        .collect();
    (!rows.is_empty()).then(|| Table {
        caption: "Copies beside what else uses the node, the links or the hub".into(),
        columns: vec![
            Column::words("copies"),
            Column::words("way"),
            Column::words("beside"),
            Column::of("copies", Unit::GbPerS),
            Column::of("alone", Unit::GbPerS),
            Column::of("the other", Unit::GbPerS),
            Column::of("alone", Unit::GbPerS),
        ],
        rows,
        notes: Vec::new(),
    })
}
