//! The machine drawn: packages, initiators, caches, cores, memory nodes, devices, and lines as wide
//! as what was measured over them.

use nearfar_model::{LinkFigures, PlacedCell};

use crate::subject::machine::Topology;
use nearfar_machine::{CpuSet, GroupBy, Initiator, MemoryKind, MemoryNode};
use nearfar_record::Way;
use nearfar_units::Bytes;
use serde::Serialize;

use super::cache_domains::{CORE, LINE, MOST_CORES, ROW, drawn_domains};
use super::drawn_devices::{DEVICE_HEIGHT, DrawnDevice, caption, drawn_devices};
use crate::figure::Figure;
use crate::subject::Sources;

/// A drawing with all places computed, in user units of SVG.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct MachineDrawing {
    width: f64,
    height: f64,
    /// What it shows, for those who do not see it.
    alternative: String,
    /// What its lines are.
    caption: String,
    boxes: Vec<DrawnBox>,
    lines: Vec<DrawnLine>,
    texts: Vec<DrawnText>,
}

#[derive(Debug, Clone, Serialize)]
struct DrawnBox {
    /// What it is, which is how it looks: `package`, `initiator`, `cache`, `core`, `memory`,
    /// `device`.
    class: &'static str,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    /// What hovering shows.
    title: String,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct DrawnLine {
    pub x1: f64,
    pub y1: f64,
    pub x2: f64,
    pub y2: f64,
    pub width: f64,
    pub title: String,
}

#[derive(Debug, Clone, Serialize)]
struct DrawnText {
    class: &'static str,
    x: f64,
    y: f64,
    text: String,
}

/// More are not told apart in a drawing.
const MOST_INITIATORS: usize = 64;
pub(super) const INITIATOR_WIDTH: f64 = 216.0;
const GAP: f64 = 12.0;
const WIDEST_LINE: f64 = 18.0;
/// A memory node with the line to it.
const NODE_HEIGHT: f64 = LINE * 3.7 + 6.0;

/// The drawing, or `None` of a machine with no initiator or too many.
pub(crate) fn drawing(sources: &Sources<'_>) -> Option<MachineDrawing> {
    let topo = &sources.topo;
    if topo.initiators.is_empty() || topo.initiators.len() > MOST_INITIATORS {
        return None;
    }
    let mut drawing = MachineDrawing::default();
    let scale = widest(sources);
    let groups = packages(topo);
    let columns = if groups.len() > 1 { 2 } else { 4 };
    let devices = drawn_devices(sources);
    let height = |initiator| initiator_height(sources, initiator, &devices);
    let heights: Vec<f64> = topo.initiators.iter().map(height).collect();
    let tallest = heights.iter().copied().fold(0.0, f64::max);
    let mut x = GAP;
    let mut bottom: f64 = 0.0;
    let mut centres = Vec::new();
    for (name, title, initiators) in &groups {
        let columns = initiators.len().clamp(1, columns);
        let (wide, rows) = (columns as f64, initiators.len().div_ceil(columns) as f64);
        let width = wide * (INITIATOR_WIDTH + GAP) + GAP;
        let height = LINE * 2.0 + rows * (tallest + GAP);
        drawing.add_box("package", [x, GAP, width, height], title.clone());
        drawing.add_text("name", x + GAP, GAP + LINE * 1.2, name.clone());
        for (position, initiator) in initiators.iter().enumerate() {
            let (column, row) = ((position % columns) as f64, (position / columns) as f64);
            let left = x + GAP + column * (INITIATOR_WIDTH + GAP);
            let top = GAP + LINE * 2.0 + row * (tallest + GAP);
            drawing.initiator(sources, initiator, &devices, [left, top, tallest], scale);
        }
        centres.push(x + width / 2.0);
        x += width + GAP;
        bottom = bottom.max(GAP + height);
    }
    drawing.width = x;
    bottom = drawing.free_nodes(topo, bottom + GAP);
    bottom = drawing.links(sources, &centres, bottom + GAP, scale);
    let elsewhere = devices.iter().filter(|device| !is_at_an_initiator(topo, device));
    let titles = elsewhere.map(|device| device.title.clone()).collect();
    bottom = drawing.boxes_in_rows("device", titles, bottom + GAP);
    drawing.height = bottom + GAP;
    drawing.caption = caption(&devices);
    drawing.alternative = format!(
        "{} packages, {} groups of CPUs, {} memory nodes and {} devices. Lines are as wide as the \
         bandwidth that was measured over them, which is written beside them.",
        topo.machine.packages.len(),
        topo.initiators.len(),
        topo.machine.nodes.len(),
        topo.machine.devices.len()
    );
    Some(drawing)
}

/// Initiators by package; those of none or of several together.
fn packages(topo: &Topology) -> Vec<(String, String, Vec<&Initiator>)> {
    let within =
        |initiator: &Initiator, cpus: &CpuSet| initiator.cpus.iter().all(|cpu| cpus.contains(cpu));
    let mut left: Vec<&Initiator> = topo.initiators.iter().collect();
    let mut groups = Vec::new();
    for package in &topo.machine.packages {
        let (of, others) = left.into_iter().partition(|initiator| within(initiator, &package.cpus));
        left = others;
        let of: Vec<&Initiator> = of;
        if !of.is_empty() {
            let name = format!("package {}", package.os_index);
            let model = package.model.as_deref().unwrap_or("a CPU of unknown name");
            let title = format!("{name}: {model}, CPUs {}", package.cpus);
            groups.push((name, title, of));
        }
    }
    if !left.is_empty() {
        let name = "not within one package".to_string();
        groups.push((name.clone(), name, left));
    }
    groups
}

fn own_nodes<'a>(topo: &'a Topology, initiator: &Initiator) -> Vec<&'a MemoryNode> {
    topo.machine
        .nodes
        .iter()
        .filter(|node| initiator.memory_nodes.contains(node.os_index))
        .collect()
}

/// Devices next to an initiator's own memory.
fn own_devices<'d>(
    devices: &'d [DrawnDevice],
    initiator: &Initiator,
) -> impl Iterator<Item = &'d DrawnDevice> {
    devices.iter().filter(|it| it.node.is_some_and(|node| initiator.memory_nodes.contains(node)))
}

fn is_at_an_initiator(topo: &Topology, device: &DrawnDevice) -> bool {
    let is_own = |it: &Initiator| device.node.is_some_and(|node| it.memory_nodes.contains(node));
    topo.initiators.iter().any(is_own)
}

fn initiator_height(sources: &Sources<'_>, initiator: &Initiator, devices: &[DrawnDevice]) -> f64 {
    let domains = drawn_domains(sources, initiator);
    let cores: f64 = domains.iter().map(|domain| domain.height() + GAP - 2.0).sum();
    let rows = own_nodes(&sources.topo, initiator).len().div_ceil(2);
    let nodes = rows as f64 * NODE_HEIGHT;
    let devices = own_devices(devices, initiator).count() as f64 * DEVICE_HEIGHT;
    LINE * 1.6 + cores + nodes + devices + 2.0
}

/// The most that is drawn as a line, GB/s.
fn widest(sources: &Sources<'_>) -> f64 {
    let pairs = sources.show.pairs.iter().filter_map(|cell| cell.cell.best());
    let pairs = pairs.map(|figure| &figure.summary);
    let links = sources.show.links.iter().filter_map(|link| link.total.as_ref());
    let rates = pairs.chain(links).map(|summary| summary.sum.median / 1e9);
    rates.filter(|gb| gb.is_finite()).fold(0.0, f64::max)
}

/// The best of an initiator with a node over kernels and thread counts; where its parts were measured
/// and not the whole, the best of a part.
fn best_pair<'a>(
    sources: &'a Sources<'_>,
    initiator: u32,
    node: u32,
) -> Option<(&'a PlacedCell, Figure)> {
    let cells = sources.show.pairs.iter();
    let of = cells.filter(|cell| (cell.row.initiator, cell.memory_node) == (initiator, node));
    let best = of
        .filter_map(|cell| Some((cell, &cell.cell.best()?.summary)))
        .max_by(|one, next| one.1.sum.median.total_cmp(&next.1.sum.median));
    best.map(|(cell, bandwidth)| (cell, Figure::sum(bandwidth)))
}

pub(super) fn line_width(gb_per_s: f64, scale: f64) -> f64 {
    if scale > 0.0 && gb_per_s.is_finite() {
        (WIDEST_LINE * gb_per_s / scale).clamp(1.0, WIDEST_LINE)
    } else {
        1.0
    }
}

fn node_title(node: &MemoryNode) -> String {
    let size =
        node.memory_bytes.map_or_else(|| "size not known".into(), |it| Bytes(it).to_string());
    format!("node {}: {}, {size}", node.os_index, node.kind)
}

/// What a node is in a few letters, which its box has room for.
fn node_words(node: &MemoryNode) -> String {
    let size = node.memory_bytes.map(|it| Bytes(it).to_string());
    match (node.kind, size) {
        (MemoryKind::Unknown, None) => "size not known".into(),
        (MemoryKind::Unknown, Some(size)) => size,
        (kind, None) => kind.to_string(),
        (kind, Some(size)) => format!("{kind}, {size}"),
    }
}

impl MachineDrawing {
    pub fn add_box(&mut self, class: &'static str, [x, y, width, height]: [f64; 4], title: String) {
        self.boxes.push(DrawnBox { class, x, y, width, height, title });
    }

    pub fn add_text(&mut self, class: &'static str, x: f64, y: f64, text: String) {
        self.texts.push(DrawnText { class, x, y, text });
    }

    pub(super) fn add_line(&mut self, line: DrawnLine) {
        self.lines.push(line);
    }

    fn initiator(
        &mut self,
        sources: &Sources<'_>,
        initiator: &Initiator,
        devices: &[DrawnDevice],
        [x, y, height]: [f64; 3],
        scale: f64,
    ) {
        let topo = &sources.topo;
        let title = format!("CPUs {}", initiator.cpus);
        let nodes = own_nodes(topo, initiator);
        self.add_box("initiator", [x, y, INITIATOR_WIDTH, height], title);
        self.add_text("name", x + 8.0, y + LINE, sources.show.measured.who.cpus(initiator.index));
        let mut top = y + LINE * 1.6;
        for drawn in drawn_domains(sources, initiator) {
            let tall = drawn.height();
            let title = drawn.title;
            self.add_box("cache", [x + 6.0, top, INITIATOR_WIDTH - 12.0, tall], title);
            self.add_text("small", x + 12.0, top + LINE * 0.8, drawn.text);
            for core in 0..drawn.cores.min(MOST_CORES) {
                let (column, row) = ((core % ROW) as f64, (core / ROW) as f64);
                let left = x + 12.0 + column * (CORE + 2.0);
                let place = [left, top + LINE + row * (CORE + 2.0), CORE, CORE];
                self.add_box("core", place, String::new());
            }
            top += tall + GAP - 2.0;
        }
        let top = top - GAP + 2.0;
        let below = top + nodes.len().div_ceil(2) as f64 * NODE_HEIGHT;
        for (position, node) in nodes.into_iter().enumerate() {
            self.own_node(sources, initiator, node, [x, top], position, scale);
        }
        let own = own_nodes(topo, initiator);
        self.own_devices(own_devices(devices, initiator).collect(), &own, [x, below], scale);
    }

    /// An initiator's own memory and the line to it, two in a row.
    fn own_node(
        &mut self,
        sources: &Sources<'_>,
        initiator: &Initiator,
        node: &MemoryNode,
        [x, y]: [f64; 2],
        position: usize,
        scale: f64,
    ) {
        let bandwidth = best_pair(sources, initiator.index, node.os_index);
        let (label, title, width) = bandwidth.map_or_else(
            || ("not measured".into(), "not measured".into(), 1.0),
            |(cell, figure)| {
                let threads = if cell.threads == 1 { "thread" } else { "threads" };
                let with = format!("{}, {} {threads}", cell.kernel, cell.threads);
                let (whose, which) = match cell.row.group_by {
                    GroupBy::Memory => (String::new(), String::new()),
                    part => (
                        format!("{} ", part.group()),
                        format!("{} {}: ", part.group(), cell.row.index),
                    ),
                };
                let label = format!("{whose}{} GB/s", figure.text);
                let title = format!("{which}{} ({with})", figure.words());
                (label, title, line_width(figure.value, scale))
            },
        );
        let half = (INITIATOR_WIDTH - 12.0) / 2.0;
        let (column, row) = ((position % 2) as f64, (position / 2) as f64);
        let left = x + 6.0 + column * half;
        let top = y + row * NODE_HEIGHT;
        let (middle, below) = (left + 16.0, top + LINE * 1.5);
        self.add_line(DrawnLine { x1: middle, y1: top, x2: middle, y2: below, width, title });
        self.add_text("small", middle + 14.0, top + LINE, label);
        self.add_box("memory", [left, below, half - 2.0, LINE * 2.2], node_title(node));
        self.add_text("small", left + 5.0, below + LINE * 0.9, format!("node {}", node.os_index));
        self.add_text("small", left + 5.0, below + LINE * 1.8, node_words(node));
    }

    /// Nodes that are no initiator's own.
    fn free_nodes(&mut self, topo: &Topology, top: f64) -> f64 {
        let is_own = |node: &&MemoryNode| {
            topo.initiators.iter().any(|initiator| initiator.memory_nodes.contains(node.os_index))
        };
        let free: Vec<&MemoryNode> =
            topo.machine.nodes.iter().filter(|node| !is_own(node)).collect();
        self.boxes_in_rows("memory", free.into_iter().map(node_title).collect(), top)
    }

    fn boxes_in_rows(&mut self, class: &'static str, titles: Vec<String>, mut top: f64) -> f64 {
        for title in titles {
            self.add_box(class, [GAP, top, self.width - 2.0 * GAP, LINE * 1.5], title.clone());
            self.add_text("small", GAP + 6.0, top + LINE, title);
            top += LINE * 1.5 + GAP / 2.0;
        }
        top
    }

    /// A line below the packages for each two that were measured on each other's memory.
    fn links(&mut self, sources: &Sources<'_>, centres: &[f64], top: f64, scale: f64) -> f64 {
        let packages = &sources.topo.machine.packages;
        let mut top = top;
        for (one, from) in packages.iter().enumerate() {
            for (two, to) in packages.iter().enumerate().skip(one + 1) {
                let (Some(&x1), Some(&x2)) = (centres.get(one), centres.get(two)) else { continue };
                let there = best_link(&sources.show.links, from.os_index, to.os_index);
                let back = best_link(&sources.show.links, to.os_index, from.os_index);
                let ways = [(there, from, to), (back, to, from)];
                let known = || {
                    ways.iter().filter_map(|(best, from, to)| {
                        Some((best.as_ref()?, from.os_index, to.os_index))
                    })
                };
                let Some(most) = known().map(|((best, _), ..)| best.value).max_by(f64::total_cmp)
                else {
                    continue;
                };
                let label: Vec<String> = known()
                    .map(|((best, _), from, to)| format!("{from} on {to}: {} GB/s", best.text))
                    .collect();
                let words: Vec<String> = known()
                    .map(|((best, kernel), from, to)| {
                        format!("{from} on {to}: {} ({kernel})", best.words())
                    })
                    .collect();
                let title =
                    format!("cores of a package on the memory of another: {}", words.join("; "));
                let y = top + LINE * 1.8;
                let width = line_width(most, scale);
                self.add_text("middle", f64::midpoint(x1, x2), top + LINE * 0.8, label.join(", "));
                self.add_line(DrawnLine { x1, y1: y, x2, y2: y, width, title });
                for x in [x1, x2] {
                    let title = String::new();
                    self.add_line(DrawnLine {
                        x1: x,
                        y1: y - 8.0,
                        x2: x,
                        y2: y + 8.0,
                        width: 2.0,
                        title,
                    });
                }
                top += LINE * 3.2;
            }
        }
        top
    }
}

fn best_link(links: &[LinkFigures], from: u32, to: u32) -> Option<(Figure, &str)> {
    let of = links.iter().filter(|link| {
        link.place.initiator.is_none()
            && link.place.way == Way::OneWay
            && (link.place.from_package, link.place.to_package) == (from, to)
    });
    of.filter_map(|link| Some((Figure::sum(link.total.as_ref()?), link.place.kernel.as_str())))
        .max_by(|one, next| one.0.value.total_cmp(&next.0.value))
}

#[cfg(test)]
mod tests {
    use nearfar_flow::read_machine;
    use nearfar_machine::GroupBy;
    use nearfar_measure::{simulated::simulate, suite_inputs};
    use nearfar_model::ModelChoices;
    use nearfar_record::{Experiment, Inputs, Suite};

    use super::*;

    #[test]
    fn cores_that_were_measured_one_by_one_have_their_bandwidths() {
        let experiments = vec![Experiment::Pairs];
        let suite = suite_inputs(Suite::Quick);
        let inputs = Inputs { experiments, group_by: GroupBy::Core, ..suite };
        let record = simulate(&read_machine("joe0").unwrap(), inputs, true).unwrap();
        let drawing = drawing(&Sources::new(&record, &ModelChoices::default())).unwrap();
        let is_of_core =
            |text: &&DrawnText| text.text.starts_with("core ") && text.text.ends_with(" GB/s");
        assert_eq!(drawing.texts.iter().filter(is_of_core).count(), 4);
        assert!(drawing.texts.iter().all(|text| text.text != "not measured"));
        let is_titled = |line: &&DrawnLine| line.title.contains("1 thread)");
        assert_eq!(drawing.lines.iter().filter(is_titled).count(), 4);
    }

    /// Each device stands within the box of the CPUs whose memory it is next to.
    #[test]
    fn devices_stand_at_their_nodes() {
        let inputs = suite_inputs(Suite::Quick);
        let inputs = Inputs { experiments: vec![Experiment::Devices], ..inputs };
        let record = simulate(&read_machine("two-socket-4-gpus").unwrap(), inputs, true).unwrap();
        let drawing = drawing(&Sources::new(&record, &ModelChoices::default())).unwrap();
        let of = |class: &str| -> Vec<&DrawnBox> {
            drawing.boxes.iter().filter(|it| it.class == class).collect()
        };
        let devices = of("device");
        assert_eq!(devices.len(), 4);
        for device in devices {
            let is_around = |it: &&&DrawnBox| {
                it.x <= device.x
                    && device.x + device.width <= it.x + it.width
                    && it.y <= device.y
                    && device.y + device.height <= it.y + it.height
            };
            let initiators = of("initiator");
            let around = initiators.iter().find(is_around).expect("CPUs around it");
            let nodes = of("memory").into_iter().filter(|node| {
                around.x <= node.x
                    && node.x < around.x + around.width
                    && around.y <= node.y
                    && node.y < around.y + around.height
            });
            let nodes: Vec<&str> = nodes.filter_map(|node| node.title.split(':').next()).collect();
            let [node] = nodes.as_slice() else { panic!("{nodes:?}") };
            assert!(device.title.contains(&format!("at {node}")), "{} {node}", device.title);
        }
        // Each is joined to its node by a line that no other box lies on.
        let devices = of("device");
        for device in &devices {
            let joins = drawing.lines.iter().filter(|line| {
                line.title.starts_with("copies of")
                    && (line.y2 - device.y).abs() < 0.5
                    && (device.x..device.x + device.width).contains(&line.x1)
            });
            let [line] = joins.collect::<Vec<_>>()[..] else { panic!("{}", device.title) };
            let is_node = |it: &&DrawnBox| (it.y + it.height - line.y1).abs() < 0.5;
            assert!(of("memory").into_iter().any(|it| is_node(&it)), "{}", device.title);
            let crossed = devices.iter().filter(|it| {
                it.y > line.y1 && it.y < line.y2 && it.x < line.x1 && line.x1 < it.x + it.width
            });
            assert_eq!(crossed.count(), 0, "{}", device.title);
        }
        assert!(drawing.caption.contains("copies to it"), "{}", drawing.caption);
        let rates = drawing.texts.iter().filter(|it| it.text.starts_with("cuda"));
        assert_eq!(rates.filter(|it| it.text.ends_with(" GB/s")).count(), 4);
    }
}
