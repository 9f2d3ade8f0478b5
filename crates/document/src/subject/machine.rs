//! What a machine is: nodes, initiators, caches, distances, devices.

use std::collections::BTreeMap;

use nearfar_machine::{
    CacheKind, CpuSet, Device, DeviceKind, Initiator, Machine, MemoryModule, Source,
};
use nearfar_record::{Outcome, Record};
use nearfar_units::{Bytes, BytesPerSecond, format_significant};
use serde::Serialize;

use super::figures::count;
use super::machines::MachineTitle;
use super::origin::Origin;
use crate::answer::{Answer, Part, Shown};
use crate::document::Section;
use crate::figure::{Figure, Unit};
use crate::table::{Cell, Column, GB, NS, Table, WORDS};

/// A machine; `topo --json` prints it. Null is not known; notes say why.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Topology {
    pub schema: &'static str,
    #[serde(flatten)]
    pub machine: Machine,
    /// CPUs with the same local memory.
    pub initiators: Vec<Initiator>,
    /// CPUs that share a last-level cache.
    pub l3_domains: Vec<CpuSet>,
    /// Channels with a module of ordinary memory.
    pub memory_channels: Outcome<usize>,
    /// Of a simulated machine: where its figures are from; else null.
    pub simulated: Option<MachineTitle>,
}

/// Rows of a table of the first screen.
const MOST_ROWS: usize = 8;

impl Topology {
    pub fn new(machine: &Machine) -> Self {
        Self {
            schema: "nearfar.topo/2",
            initiators: machine.initiators(),
            l3_domains: machine.l3_domains(),
            memory_channels: machine.memory_channels().into(),
            machine: machine.clone(),
            simulated: None,
        }
    }

    /// Of a simulated machine.
    pub fn simulated(machine: &Machine, title: MachineTitle) -> Self {
        Self { simulated: Some(title), ..Self::new(machine) }
    }

    /// For people.
    pub fn answer(&self) -> Answer {
        let mut first = Answer::saying(self.about(None));
        for (shown, part) in self.simulated.iter().flat_map(MachineTitle::parts) {
            first = first.and(shown, part);
        }
        let answer = self.told(first);
        let next = [
            ("nearfar topo --full", "initiators, caches, modules, what the firmware claims"),
            ("nearfar characterize", "measures what this machine reaches"),
        ];
        let here = self.machine.source == Source::Live;
        if here { answer.and_next(next) } else { answer }
    }

    /// The same of a record's machine.
    pub fn recorded(&self, record: &Record) -> Answer {
        let cpu = record.header.environment.cpu.model_name.as_deref();
        self.told(Origin::new(record).answer().and_says(self.title(cpu)))
    }

    fn told(&self, first: Answer) -> Answer {
        let few_devices = self.devices().unless_empty();
        let first = first
            .and(Shown::First, Part::words("", self.cache_words()))
            .and_table(self.nodes(), MOST_ROWS);
        let tables = [self.distances(), few_devices].into_iter().flatten();
        let tables = tables.map(|table| Part::Table { table, first_rows: MOST_ROWS });
        let rest = [self.groups().unless_empty(), self.caches().unless_empty()];
        let rest = rest.into_iter().chain([self.firmware().unless_empty()]).flatten();
        let answer = first.and_all(Shown::Always, tables);
        let notes = &self.machine.notes;
        let more = (notes.len() > 1).then(|| format!(" ({} more: --full)", notes.len() - 1));
        let note = notes.first().map(|note| format!("{note}{}", more.unwrap_or_default()));
        let answer = answer.and_all(Shown::First, note.map(|it| Part::words("Note: ", it)));
        answer.and_all(Shown::Full, rest.map(Part::table))
    }

    /// `Caches: L1d 8 x 32 KiB, L3 2 x 16 MiB.`
    fn cache_words(&self) -> String {
        let caches = self.caches();
        let words = caches.rows.iter().map(|row| {
            let words: Vec<String> = row.iter().take(2).map(Cell::words).collect();
            words.join(" ")
        });
        let words: Vec<String> = words.collect();
        if words.is_empty() {
            "No caches known.".into()
        } else {
            format!("Caches: {}.", words.join(", "))
        }
    }

    /// `cpu` is what the system calls it, where the topology does not say.
    pub(crate) fn section(&self, cpu: Option<&str>) -> Section {
        let tables = [
            Some(self.nodes()),
            self.groups().unless_empty(),
            self.caches().unless_empty(),
            self.distances(),
            self.firmware().unless_empty(),
            self.devices().unless_empty(),
        ];
        let tables = tables.into_iter().flatten().collect();
        Section::new("machine", "The machine", self.about(cpu), tables)
    }

    /// `this machine, 2 x Intel(R) Xeon(R): 36 cores, 72 CPUs`.
    fn about(&self, cpu: Option<&str>) -> String {
        let machine = &self.machine;
        let source = match &machine.source {
            Source::Live => "this machine".into(),
            Source::Xml(file) => format!("described by {file}"),
            Source::Synthetic(text) => format!("synthetic, '{text}'"),
            Source::Simulated(name) => format!("simulated, {name}"),
        };
        let cpus: usize = self.initiators.iter().map(|initiator| initiator.cpus.len()).sum();
        let allowed = if machine.allowed_cpus.len() < cpus {
            format!(", of which this process may use {}", machine.allowed_cpus)
        } else {
            String::new()
        };
        format!("{source}, {}{allowed}", self.title(cpu))
    }

    /// `2 x Intel(R) Xeon(R): 36 cores, 72 CPUs`; `cpu` is what the system calls it, where the
    /// topology does not say.
    pub(crate) fn title(&self, cpu: Option<&str>) -> String {
        let machine = &self.machine;
        let mut models: BTreeMap<&str, usize> = BTreeMap::new();
        for package in &machine.packages {
            let model = package.model.as_deref().or(cpu).unwrap_or("unknown model");
            *models.entry(model).or_default() += 1;
        }
        let models = models.iter().map(|(model, count)| format!("{count} x {model}"));
        let models = models.collect::<Vec<_>>().join(", ");
        let colon = if models.is_empty() { "" } else { ": " };
        let cpus: usize = self.initiators.iter().map(|initiator| initiator.cpus.len()).sum();
        format!("{models}{colon}{}, {}", count(machine.cores.len(), "core"), count(cpus, "CPU"))
    }

    fn nodes(&self) -> Table {
        let machine = &self.machine;
        let rows = machine.nodes.iter().map(|node| {
            let cache = node.memory_side_cache_bytes;
            let cache = cache.map(|bytes| format!("memory-side cache {}", Bytes(bytes)));
            let is_allowed = machine.allowed_nodes.contains(node.os_index);
            let forbidden = match node.memory_bytes {
                Some(0) => Some("no memory".into()),
                _ if is_allowed => None,
                // hwloc writes no size of a node without memory.
                None => Some("no memory is described".into()),
                Some(_) => Some("not allowed for this process".into()),
            };
            let remarks: Vec<String> = cache.into_iter().chain(forbidden).collect();
            vec![
                Cell::text(node.os_index),
                Cell::text(node.kind),
                Cell::Text(size(node.memory_bytes)),
                Cell::Text(if node.cpus.is_empty() {
                    "none".into()
                } else {
                    node.cpus.to_string()
                }),
                Cell::text(&node.locality),
                Cell::Text(remarks.join(", ")),
            ]
        });
        let mut names =
            vec!["memory node", "kind", "memory", "own CPUs", "nearest CPUs", "remarks"];
        let mut rows: Vec<Vec<Cell>> = rows.collect();
        if rows.iter().all(|row| row.last() == Some(&Cell::Text(String::new()))) {
            names.pop();
            rows.iter_mut().for_each(|row| row.truncate(names.len()));
        }
        let unknown = [
            ("caches", machine.caches.is_empty()),
            ("distances by the firmware", machine.distances.is_none()),
            ("PCIe devices of interest", machine.devices.is_empty()),
        ];
        let unknown = unknown.iter().filter(|(_, is_unknown)| *is_unknown);
        let unknown: Vec<&str> = unknown.map(|(what, _)| *what).collect();
        let unknown = (!unknown.is_empty()).then(|| format!("None known: {}.", unknown.join(", ")));
        let weights = machine.interleave_weights.as_ref().map(|weights| {
            let weights: Vec<String> =
                weights.iter().map(|(node, weight)| format!("{node}={weight}")).collect();
            format!("The kernel's interleave weights: {}.", weights.join(", "))
        });
        Table::new("Memory nodes", names.into_iter().map(Column::words), rows)
            .with_notes([self.modules()])
            .with_notes(unknown)
            .with_notes(weights)
            .with_notes(machine.notes.clone())
    }

    /// Modules of one kind, size and speed together: `16 x 64 GiB DDR4 at 2933 MT/s`.
    fn modules(&self) -> String {
        let machine = &self.machine;
        let Some(modules) = &machine.memory_modules else {
            let why = machine.memory_modules_unknown.as_deref().unwrap_or("no reason is given");
            return format!("Memory modules: not known: {why}.");
        };
        let mut groups: BTreeMap<String, usize> = BTreeMap::new();
        for module in modules {
            *groups.entry(module_words(module)).or_default() += 1;
        }
        let groups: Vec<String> =
            groups.iter().map(|(words, count)| format!("{count} x {words}")).collect();
        let channels = match self.memory_channels.as_result() {
            Ok(channels) => format!("{} in use", count(*channels, "channel")),
            Err(why) => format!("channels not known: {why}"),
        };
        let empty = machine.empty_memory_sockets.map_or_else(String::new, |empty| {
            format!("; {} empty", count(empty as usize, "socket"))
        });
        format!("Memory modules: {}; {channels}{empty}.", groups.join(", "))
    }

    fn groups(&self) -> Table {
        let rows = self.initiators.iter().map(|it| {
            let nodes: Vec<String> = it.memory_nodes.iter().map(|node| node.to_string()).collect();
            let nodes = if nodes.is_empty() { "none".into() } else { nodes.join(", ") };
            vec![Cell::text(it.index), Cell::text(&it.cpus), Cell::Text(nodes)]
        });
        let names = ["initiator", "CPUs", "local nodes"];
        Table::new(
            "Initiators: the CPUs of each node, and their local memory",
            names.map(Column::words),
            rows,
        )
    }

    /// Caches of one level and size together.
    fn caches(&self) -> Table {
        let mut groups: BTreeMap<(u32, CacheKind, Option<u64>, usize), usize> = BTreeMap::new();
        for cache in &self.machine.caches {
            let kind = (cache.level, cache.kind, cache.bytes, cache.cpus.len());
            *groups.entry(kind).or_default() += 1;
        }
        let rows = groups.into_iter().map(|((level, kind, bytes, cpus), count)| {
            let letter = if kind == CacheKind::Data { "d" } else { "" };
            let size = format!("{count} x {}", size(bytes));
            vec![Cell::Text(format!("L{level}{letter}")), Cell::Text(size), Cell::text(cpus)]
        });
        Table::new("Caches", ["level", "size", "CPUs of each"].map(Column::words), rows)
    }

    /// The firmware's, where there is more than one node.
    fn distances(&self) -> Option<Table> {
        let distances = self.machine.distances.as_ref().filter(|it| it.nodes.len() > 1)?;
        let node = |node: &u32| format!("node {node}");
        let columns = distances.nodes.iter().map(|to| Column::of(node(to), Unit::One));
        let rows = distances.nodes.iter().zip(&distances.values).map(|(from, values)| {
            let cells = values.iter().map(|&value| {
                let figure = Figure::new(value as f64, None, Unit::One);
                Cell::Figure(Figure { text: value.to_string(), ..figure })
            });
            std::iter::once(Cell::text(node(from))).chain(cells).collect()
        });
        let columns = std::iter::once(Column::words("from \\ to")).chain(columns);
        Some(Table::new("Relative distances by the firmware (10 is local)", columns, rows))
    }

    fn firmware(&self) -> Table {
        let bandwidth =
            |value: Option<f64>| Cell::figure(value.map(|it| Figure::plain(BytesPerSecond(it))));
        let latency =
            |value: Option<f64>| Cell::figure(value.map(|ns| Figure::new(ns, None, Unit::Ns)));
        let rows = self.machine.firmware_figures.iter().map(|figure| {
            vec![
                figure.initiator.as_ref().map_or(Cell::Empty, Cell::text),
                Cell::text(figure.node),
                bandwidth(figure.read_bytes_per_s),
                bandwidth(figure.write_bytes_per_s),
                latency(figure.read_latency_ns),
                latency(figure.write_latency_ns),
            ]
        });
        let columns = Column::all(
            ["CPUs", "to node", "read", "write", "read latency", "write latency"],
            [WORDS, WORDS, GB, GB, NS, NS],
        );
        Table::new("What the firmware claims (not measured)", columns, rows)
    }

    fn devices(&self) -> Table {
        let rows = self.machine.devices.iter().map(|device| {
            let nodes = device.nodes.to_string();
            vec![
                Cell::text(&device.bus_id),
                Cell::Text(if nodes.is_empty() { "unknown".into() } else { nodes }),
                Cell::Text(what(device)),
                Cell::Text(device.os_names.join(" ")),
                Cell::Text(link(device)),
                Cell::figure(device.link.bytes_per_s.map(|it| Figure::plain(BytesPerSecond(it)))),
            ]
        });
        let columns = Column::all(
            ["PCIe device", "near node", "what", "names", "link", "carries"],
            [WORDS, WORDS, WORDS, WORDS, WORDS, GB],
        );
        Table::new("PCIe devices, and what their link carries by its standard", columns, rows)
    }
}

fn module_words(module: &MemoryModule) -> String {
    let kind = module.kind.as_deref().unwrap_or("of unknown kind");
    let speed = match (module.configured_mt_per_s, module.max_mt_per_s) {
        (Some(now), Some(max)) if now != max => format!("at {now} MT/s (of {max})"),
        (Some(now), _) => format!("at {now} MT/s"),
        (None, Some(max)) => format!("at unknown speed, up to {max} MT/s"),
        (None, None) => "at unknown speed".into(),
    };
    format!("{} {kind} {speed}", size(module.bytes))
}

fn size(bytes: Option<u64>) -> String {
    bytes.map_or("unknown".into(), |bytes| Bytes(bytes).to_string())
}

fn what(device: &Device) -> String {
    let kind = match device.kind {
        DeviceKind::Network => "network",
        DeviceKind::Storage => "storage",
        DeviceKind::Accelerator => "accelerator",
        DeviceKind::Other => "other",
    };
    let words = device.name.as_deref().or(device.class.as_deref());
    words.map_or(kind.into(), |words| format!("{kind} ({words})"))
}

fn link(device: &Device) -> String {
    let link = &device.link;
    let side = |rate: Option<f64>, lanes: Option<u32>| {
        Some(format!("x{} at {} GT/s", lanes?, format_significant(rate?, 2)))
    };
    match (side(link.gt_per_s, link.lanes), side(link.max_gt_per_s, link.max_lanes)) {
        (Some(now), Some(most)) if now != most => format!("{now} (at most {most})"),
        (Some(now), _) => now,
        (None, _) => "unknown".into(),
    }
}

/// The nearest node of a device, where it is one.
pub(crate) fn nearest(device: &Device) -> Option<u32> {
    device.nodes.first().filter(|_| device.nodes.len() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_say_the_speed_at_which_they_run() {
        let module = |configured_mt_per_s, max_mt_per_s| MemoryModule {
            locator: "DIMM 1".into(),
            bank: None,
            kind: Some("DDR4".into()),
            bytes: Some(64 << 30),
            configured_mt_per_s,
            max_mt_per_s,
            data_bits: Some(64),
            manufacturer: None,
            part_number: None,
        };
        for (now, most, words) in [
            (Some(2933), Some(3200), "64 GiB DDR4 at 2933 MT/s (of 3200)"),
            (Some(3200), Some(3200), "64 GiB DDR4 at 3200 MT/s"),
            (None, Some(3200), "64 GiB DDR4 at unknown speed, up to 3200 MT/s"),
        ] {
            assert_eq!(module_words(&module(now, most)), words);
        }
    }
}
