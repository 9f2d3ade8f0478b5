//! What the machine is.

use crate::subject::Topology;
use nearfar_machine::Device;
use nearfar_units::Bytes;

use crate::document::{Section, Sources};
use crate::figure::{Figure, Unit};
use crate::table::{Cell, Column, Table};

pub(super) fn section(sources: &Sources<'_>) -> Option<Section> {
    let topo = &sources.topo;
    let tables = [Some(nodes(topo)), initiators(topo), distances(topo), devices(topo)];
    Some(Section {
        id: "machine",
        title: "The machine",
        about: about(sources),
        tables: tables.into_iter().flatten().collect(),
        findings: sources.record.header.machine.notes.clone(),
        model_text: None,
    })
}

fn about(sources: &Sources<'_>) -> String {
    let topo = &sources.topo;
    let count = |number: usize, noun: &str| {
        format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
    };
    let cpu = sources.show.cpu.as_deref().unwrap_or("a CPU of unknown name");
    let caches = topo.machine.caches.iter().map(|cache| cache.level).max();
    format!(
        "{cpu}: {}, {}, {}, {} of cores with the same local memory, caches up to {}, {}.",
        count(topo.machine.packages.len(), "package"),
        count(topo.machine.cores.len(), "core"),
        count(topo.machine.nodes.len(), "memory node"),
        count(topo.initiators.len(), "initiator"),
        caches.map_or_else(|| "no known level".into(), |level| format!("L{level}")),
        count(topo.machine.devices.len(), "PCIe device")
    )
}

fn nodes(topo: &Topology) -> Table {
    let rows = topo.machine.nodes.iter().map(|node| {
        let of_text = |text: String, why: &str| {
            if text.is_empty() { Cell::text(why) } else { Cell::text(text) }
        };
        vec![
            Cell::text(node.os_index.to_string()),
            Cell::text(node.kind.to_string()),
            node.memory_bytes.map_or_else(
                || Cell::not_measured("the system does not say"),
                |bytes| Cell::text(Bytes(bytes).to_string()),
            ),
            of_text(node.cpus.to_string(), "none"),
            Cell::text(if topo.machine.allowed_nodes.contains(node.os_index) {
                "yes"
            } else {
                "no"
            }),
        ]
    });
    Table {
        caption: "Memory nodes".into(),
        columns: ["node", "kind", "memory", "CPUs", "may be used"].map(Column::words).into(),
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

fn initiators(topo: &Topology) -> Option<Table> {
    let rows: Vec<Vec<Cell>> = topo
        .initiators
        .iter()
        .map(|initiator| {
            let nodes: Vec<String> =
                initiator.memory_nodes.iter().map(|node| node.to_string()).collect();
            vec![
                Cell::text(initiator.index.to_string()),
                Cell::text(initiator.cpus.to_string()),
                Cell::text(nodes.join(", ")),
            ]
        })
        .collect();
    (!rows.is_empty()).then(|| Table {
        caption: "Initiators: CPUs with the same local memory".into(),
        columns: ["initiator", "CPUs", "own nodes"].map(Column::words).into(),
        rows,
        notes: Vec::new(),
    })
}

/// The firmware's, where there is more than one node.
fn distances(topo: &Topology) -> Option<Table> {
    let distances =
        topo.machine.distances.as_ref().filter(|distances| distances.nodes.len() > 1)?;
    let node = |node: &u32| format!("node {node}");
    let columns = distances.nodes.iter().map(|to| Column::of(node(to), Unit::One));
    let rows = distances.nodes.iter().zip(&distances.values).map(|(from, values)| {
        let cells = values.iter().map(|&value| {
            Cell::Figure(Figure {
                text: value.to_string(),
                ..Figure::new(value as f64, None, Unit::One)
            })
        });
        std::iter::once(Cell::text(node(from))).chain(cells).collect()
    });
    Some(Table {
        caption: "Relative distances by the firmware (10 is local)".into(),
        columns: std::iter::once(Column::words("from")).chain(columns).collect(),
        rows: rows.collect(),
        notes: Vec::new(),
    })
}

/// The nearest node of a device, where it is one.
pub(crate) fn nearest(device: &Device) -> Option<u32> {
    device.nodes.first().filter(|_| device.nodes.len() == 1)
}

fn devices(topo: &Topology) -> Option<Table> {
    let unknown = || Cell::not_measured("the system does not say");
    let rows: Vec<Vec<Cell>> = topo
        .machine
        .devices
        .iter()
        .map(|device| {
            let name = device.name.as_ref().or(device.class.as_ref());
            vec![
                Cell::text(device.bus_id.clone()),
                name.map_or_else(unknown, Cell::text),
                nearest(device).map_or_else(unknown, |node| Cell::text(node.to_string())),
                device.link.bytes_per_s.map_or_else(unknown, |bytes_per_s| {
                    Cell::Figure(Figure::new(bytes_per_s / 1e9, None, Unit::GbPerS))
                }),
            ]
        })
        .collect();
    (!rows.is_empty()).then(|| Table {
        caption: "PCIe devices, and what their link carries by its standard".into(),
        columns: vec![
            Column::words("bus id"),
            Column::words("what"),
            Column::words("nearest node"),
            Column::of("link", Unit::GbPerS),
        ],
        rows,
        notes: Vec::new(),
    })
}
