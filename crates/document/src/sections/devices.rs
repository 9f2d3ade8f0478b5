//! Copies between memory and devices.

use nearfar_machine::TransferDirection;
use nearfar_report::{ModelKind, TransferView};
use nearfar_units::Bytes;

use super::grid::Grid;
use super::meaning;
use crate::document::{Section, Sources};
use crate::figure::{Counted, Figure, Unit};
use crate::table::{Cell, Column, Table};

pub(super) fn section(sources: &Sources<'_>) -> Option<Section> {
    let transfers = &sources.show.devices;
    if transfers.is_empty() {
        return None;
    }
    let tables = matrices(transfers)
        .into_iter()
        .chain(sizes(transfers))
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
             driver copies first.{within}"
        ),
        tables: tables.collect(),
        findings,
        model_text,
    })
}

fn cell(transfer: &TransferView) -> Cell {
    let sum = transfer.bandwidth.as_ref().map(Figure::sum);
    Cell::of(&transfer.case, sum, Counted::ActorBytes(transfer.actor))
}

fn in_words(direction: TransferDirection) -> &'static str {
    match direction {
        TransferDirection::ToDevice => "to the device",
        TransferDirection::ToHost => "to the host",
        TransferDirection::BothWays => "both ways at once",
        TransferDirection::ToPeer => "to another device",
    }
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

fn alone(transfers: &[TransferView]) -> Vec<&TransferView> {
    let is_alone = |it: &&TransferView| it.beside.is_none() && it.peer.is_none();
    transfers.iter().filter(is_alone).collect()
}

/// Nodes by devices, a table for each way and memory: of each place its largest copies.
fn matrices(transfers: &[TransferView]) -> Vec<Table> {
    let mut largest = alone(transfers);
    // Cells of a grid that come first count.
    largest.sort_by_key(|it| (it.host_memory, it.direction, it.memory_node, u64::MAX - it.bytes));
    let mut tables = Vec::new();
    for of in largest.chunk_by(|a, b| (a.host_memory, a.direction) == (b.host_memory, b.direction))
    {
        let first = of[0];
        let mut grid = Grid::default();
        of.iter().for_each(|it| grid.add(node(it), device(it), cell(it)));
        let memory = first.host_memory.map_or("", |memory| memory.as_str());
        let most = of.iter().map(|it| it.bytes).max().unwrap_or(0);
        let caption =
            format!("{memory} memory, {}, {} a copy", in_words(first.direction), Bytes(most));
        tables.extend(grid.table(caption, "memory", Unit::GbPerS));
    }
    tables
}

/// Where several sizes were copied.
fn sizes(transfers: &[TransferView]) -> Vec<Table> {
    let mut by_place = alone(transfers);
    by_place.sort_by_key(|it| (it.device.clone(), it.memory_node, it.host_memory, it.bytes));
    let same = |a: &&TransferView, b: &&TransferView| {
        (&a.device, a.memory_node, a.host_memory) == (&b.device, b.memory_node, b.host_memory)
    };
    let mut tables = Vec::new();
    for of in by_place.chunk_by(same) {
        if of.iter().all(|it| it.bytes == of[0].bytes) {
            continue;
        }
        let ways = [TransferDirection::ToDevice, TransferDirection::ToHost];
        let mut grid = Grid::with_columns(ways.map(in_words).map(String::from).into_iter());
        for it in of.iter().filter(|it| ways.contains(&it.direction)) {
            grid.add(Bytes(it.bytes).to_string(), in_words(it.direction).into(), cell(it));
        }
        let memory = of[0].host_memory.map_or("", |memory| memory.as_str());
        let caption = format!(
            "{} and {}, {memory} memory, by the bytes of a copy",
            device(of[0]),
            node(of[0])
        );
        tables.extend(grid.table(caption, "a copy", Unit::GbPerS));
    }
    tables
}

fn peers(transfers: &[TransferView]) -> Option<Table> {
    let mut grid = Grid::default();
    for transfer in transfers {
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
                Cell::text(in_words(transfer.direction)),
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
