//! Copies between memory and devices as words and tables.

use nearfar_machine::TransferDirection;
use nearfar_units::{Bytes, format_significant};

use super::show_devices::{BesideView, TransferView, largest_transfers};
use super::show_figure::{BandwidthView, Footnotes, caption, section};
use super::show_grid::{Side, grid, groups, in_order, sorted};
use crate::printable::printable;
use crate::terminal::table::table_with_numbers;

/// A table of devices and nodes for each way and memory, one of sizes for each device, and what
/// runs beside copies.
pub(crate) fn devices_text(views: &[TransferView]) -> String {
    let mut text = section(
        "devices",
        "copies between the memory of each node (rows) and each device (columns), one after the \
         other, each waited for. GB/s (1e9 bytes/s) by the host's clock, below it its 95 % \
         interval. pinned: pages locked to their place, which the device reads and writes itself; \
         pageable: ordinary ones, which the driver copies first. both ways at once: the sum.",
    );
    let shared = in_order(
        views.iter().filter(|view| view.shares_host_memory).map(|view| printable(&view.device)),
    );
    if !shared.is_empty() {
        text += &caption(&format!(
            "{} has no memory of its own: copies go within the host's memory and cross no link",
            shared.join(", ")
        ));
    }
    let mut footnotes = Footnotes::default();
    let alone: Vec<&TransferView> =
        views.iter().filter(|view| view.beside.is_none() && view.peer.is_none()).collect();
    let with_host: Vec<&TransferView> =
        largest_transfers(views).into_iter().filter(|view| view.peer.is_none()).collect();
    text += &matrices(&with_host, &mut footnotes);
    text += &sizes(&alone, &mut footnotes);
    text += &peers(views, &mut footnotes);
    text += &besides(views, &mut footnotes);
    text + &footnotes.lines()
}

fn matrices(views: &[&TransferView], footnotes: &mut Footnotes) -> String {
    let mut text = String::new();
    let way = |view: &&TransferView| (view.direction, view.host_memory);
    for ((direction, memory), of) in groups(views, way) {
        let of: Vec<&TransferView> = of.into_iter().copied().collect();
        let mut sizes = sorted(of.iter().map(|view| view.bytes));
        let largest = sizes.pop().unwrap_or(0);
        let upto = if sizes.is_empty() { "" } else { "at most " };
        let memory = memory.map_or(String::new(), |memory| format!(", {memory}"));
        text += &format!("\n{}{memory}, {upto}{} a copy\n", direction.words(), Bytes(largest));
        let nodes = Side {
            keys: sorted(of.iter().map(|view| view.memory_node)),
            of: |view: &TransferView| view.memory_node,
            label: |node: &Option<u32>| {
                node.map_or_else(|| "device".into(), |node| format!("node {node}"))
            },
        };
        let devices = Side {
            keys: sorted(of.iter().map(|view| view.device.clone())),
            of: |view: &TransferView| view.device.clone(),
            label: |id: &String| {
                let named = of.iter().find(|view| view.device == *id);
                let name = named.and_then(|view| view.device_name.as_deref()).unwrap_or_default();
                format!("{}\n{}", printable(id), printable(name)).trim_end().to_string()
            },
        };
        let cell = |view: &TransferView| {
            footnotes.with_interval(&view.case, view.bandwidth.as_ref().map(Into::into))
        };
        text += &grid(&of, &nodes, &devices, cell, |_, _| "-".into());
    }
    text
}

/// Where several sizes were copied.
fn sizes(views: &[&TransferView], footnotes: &mut Footnotes) -> String {
    let mut text = String::new();
    let place = |view: &&TransferView| (view.device.clone(), view.memory_node, view.host_memory);
    for ((device, node, memory), of) in groups(views, place) {
        let sizes = sorted(of.iter().map(|view| view.bytes));
        if sizes.len() < 2 {
            continue;
        }
        let node = node.map_or(String::new(), |node| format!(" and node {node}"));
        let memory = memory.map_or(String::new(), |memory| format!(", {memory}"));
        text += &caption(&format!(
            "{}{node}{memory}, by the bytes of a copy: its time and GB/s by the host's clock, and \
             by the device's own, where it has one",
            printable(&device)
        ));
        let mut rows = Vec::new();
        for size in sizes {
            let mut row = vec![Bytes(size).to_string()];
            for direction in [TransferDirection::ToDevice, TransferDirection::ToHost] {
                let cell = of.iter().find(|it| it.bytes == size && it.direction == direction);
                row.extend(match cell {
                    None => ["-".into(), "-".into(), "-".into()],
                    Some(view) => [
                        view.copy_us.map_or_else(|| "-".into(), microseconds),
                        footnotes.figure(&view.case, view.bandwidth.as_ref().map(Into::into)),
                        view.device_clock_gb_per_s
                            .map_or_else(|| "-".into(), |rate| format_significant(rate, 3)),
                    ],
                });
            }
            rows.push(row);
        }
        let heads =
            ["bytes", "to device, us", "GB/s", "device's", "to host, us", "GB/s", "device's"];
        text += &table_with_numbers(heads.map(String::from).into(), rows, 1..7);
    }
    text
}

fn microseconds(time: f64) -> String {
    format_significant(time, 3)
}

fn peers(views: &[TransferView], footnotes: &mut Footnotes) -> String {
    let peers: Vec<&TransferView> = views.iter().filter(|view| view.peer.is_some()).collect();
    if peers.is_empty() {
        return String::new();
    }
    let from = Side {
        keys: sorted(peers.iter().map(|view| view.device.clone())),
        of: |view: &TransferView| view.device.clone(),
        label: |id: &String| format!("from {}", printable(id)),
    };
    let to = Side {
        keys: sorted(peers.iter().map(|view| view.peer.clone().unwrap_or_default())),
        of: |view: &TransferView| view.peer.clone().unwrap_or_default(),
        label: |id: &String| format!("to {}", printable(id)),
    };
    let cell = |view: &TransferView| {
        footnotes.with_interval(&view.case, view.bandwidth.as_ref().map(Into::into))
    };
    let table = grid(&peers, &from, &to, cell, |_, _| "-".into());
    format!("{}{table}", caption("from one device (rows) to another (columns), GB/s"))
}

fn besides(views: &[TransferView], footnotes: &mut Footnotes) -> String {
    let mut rows = Vec::new();
    for view in views {
        let Some(beside) = &view.beside else { continue };
        let node = view.memory_node.map_or("-".into(), |node| node.to_string());
        let rate = |it: &Option<BandwidthView>| {
            it.as_ref().map_or("-".into(), |it| format_significant(it.sum_gb_per_s, 3))
        };
        rows.push(vec![
            printable(&view.device).into_owned(),
            node,
            view.direction.words().to_string(),
            beside_words(beside),
            footnotes.figure(&view.case, view.bandwidth.as_ref().map(Into::into)),
            rate(&beside.copies_alone),
            rate(&beside.bandwidth),
            rate(&beside.alone),
        ]);
    }
    if rows.is_empty() {
        return String::new();
    }
    let heads = ["device", "node", "way", "beside", "copies", "alone", "the other", "alone"];
    format!(
        "{}{}",
        caption(
            "copies beside what else uses the node, the links or the hub: GB/s of both at the same \
             time, and of each alone in this record"
        ),
        table_with_numbers(heads.map(String::from).into(), rows, 4..8)
    )
}

fn beside_words(beside: &BesideView) -> String {
    match (&beside.device, &beside.kernel, beside.threads) {
        (Some(device), _, _) => printable(device).into_owned(),
        (None, Some(kernel), Some(threads)) => format!("{} x {threads}", printable(kernel)),
        _ => "-".into(),
    }
}
