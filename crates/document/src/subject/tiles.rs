//! What every view shows first: local and remote bandwidth, latency, how they differ, and devices, a tile
//! each.

use std::collections::BTreeSet;

use nearfar_machine::{DeviceKind, HostMemory, Relation, TransferDirection};
use nearfar_model::{
    BestPairs, NearFar, PairSpan, PairValue, RatioSpan, TransferFigures, largest_transfers,
    measuring_command, near_far_bandwidth, near_far_latency,
};
use nearfar_record::{Estimate, Experiment};
use nearfar_units::{Bytes, BytesPerSecond, Nanoseconds, Quantity};
use serde::Serialize;

use super::devices::{cell as device_cell, way_words};
use super::figures::count;
use super::matrix::kernel_and_threads;
use super::sources::Sources;
use super::who::Who;
use crate::figure::{Counted, Figure};
use crate::table::Cell;

/// A few figures of one thing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tile {
    pub kind: TileKind,
    /// Its heading.
    pub label: String,
    pub values: Vec<TileValue>,
    /// What more there is to know, in a few words; empty where nothing.
    pub note: String,
}

/// What a tile is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TileKind {
    LocalBandwidth,
    RemoteBandwidth,
    Latency,
    /// Remote / local.
    Ratio,
    Devices,
    /// Of two records: what the second is worse at.
    Worse,
    /// What it is better at.
    Better,
    /// What does not differ.
    Same,
    /// Of many machines: of which it is not known.
    Unclear,
}

/// A figure of a tile, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TileValue {
    pub value: Cell,
    /// Of what, as it is read behind the figure; empty where the heading says it.
    pub of: String,
}

impl TileValue {
    pub(crate) fn new(value: Cell, of: impl Into<String>) -> Self {
        Self { value, of: of.into() }
    }
}

impl Tile {
    pub(crate) fn new(
        kind: TileKind,
        label: impl Into<String>,
        values: Vec<TileValue>,
        note: String,
    ) -> Self {
        Self { kind, label: label.into(), values, note }
    }
}

impl Tile {
    /// Its figures and its note on one line.
    pub fn words(&self) -> String {
        let value = |of: &TileValue| {
            let words = match &of.value {
                Cell::Figure(figure) => figure.words() + figure.mark(),
                Cell::Absent { kind, why } => format!("{} ({why})", kind.as_str()),
                other => other.words(),
            };
            format!("{words} {}", of.of).trim_end().to_string()
        };
        let values: Vec<String> = self.values.iter().map(value).collect();
        let note = if self.note.is_empty() { String::new() } else { format!("; {}", self.note) };
        format!("{}{note}", values.join(", "))
    }
}

/// All tiles of a record, of the best bandwidths if any was measured.
pub(crate) fn tiles(sources: &Sources<'_>, best: Option<&BestPairs<'_>>) -> Vec<Tile> {
    let machine = &sources.record.header.machine;
    let bandwidth = best.map(|best| near_far_bandwidth(machine, best));
    let latency = near_far_latency(machine, &sources.show.latency);
    let how = best.map(kernel_and_threads);
    let mut tiles = vec![
        bandwidth_tile(sources, bandwidth.as_ref(), how.as_deref(), true),
        bandwidth_tile(sources, bandwidth.as_ref(), how.as_deref(), false),
        latency_tile(sources, &latency),
    ];
    let ratios = [bandwidth.as_ref().and_then(|it| it.ratio.as_ref()), latency.ratio.as_ref()];
    tiles.extend(ratio_tile(ratios, &sources.show.measured.who));
    tiles.extend(device_tile(sources));
    tiles
}

fn bandwidth_tile(
    sources: &Sources<'_>,
    found: Option<&NearFar<BytesPerSecond>>,
    how: Option<&str>,
    is_local: bool,
) -> Tile {
    let (kind, label) = if is_local {
        (TileKind::LocalBandwidth, "Local bandwidth")
    } else {
        (TileKind::RemoteBandwidth, "Remote bandwidth")
    };
    let spans = spans(found, is_local);
    let mut values: Vec<TileValue> = spans
        .iter()
        .map(|span| TileValue::new(value_cell(&span.middle, Counted::Bytes), kind_words(span)))
        .collect();
    if values.is_empty() {
        values.push(TileValue::new(why_none(sources, Experiment::Pairs, is_local), ""));
        return Tile::new(kind, label, values, String::new());
    }
    let mut notes: Vec<String> = spans.iter().map(|span| span_words(span)).collect();
    notes.extend(how.filter(|_| is_local).map(String::from));
    Tile::new(kind, label, values, notes.join("; "))
}

fn latency_tile(sources: &Sources<'_>, found: &NearFar<Nanoseconds>) -> Tile {
    let mut values = Vec::new();
    let mut notes = Vec::new();
    for (is_local, where_) in [(true, "local"), (false, "remote")] {
        let spans = spans(Some(found), is_local);
        if spans.is_empty() {
            let why = why_none(sources, Experiment::Latency, is_local);
            values.push(TileValue::new(why, where_));
        }
        for span in spans {
            let kind = kind_words(span);
            let of = if kind.is_empty() { where_.to_string() } else { format!("{where_} {kind}") };
            values.push(TileValue::new(value_cell(&span.middle, Counted::AccessTime), of));
            if !is_local {
                notes.push(format!("remote {}", span_words(span)));
            }
        }
    }
    Tile::new(TileKind::Latency, "Latency", values, notes.join("; "))
}

/// What remote memory is to local memory; `None` where nothing remote was measured beside it.
fn ratio_tile([bandwidth, latency]: [Option<&RatioSpan>; 2], who: &Who) -> Option<Tile> {
    let value =
        |span: &RatioSpan, of: &str| TileValue::new(Cell::Figure(Figure::of(&span.middle)), of);
    let bandwidth_value = bandwidth.map(|span| value(span, "bandwidth"));
    let latency_value = latency.map(|span| value(span, "latency"));
    let values: Vec<TileValue> = bandwidth_value.into_iter().chain(latency_value).collect();
    let worst = |span: &RatioSpan, of: &str| {
        let (initiator, node) = span.worst_pair;
        // What noise explains is no worst pair.
        let [[low, high], [middle_low, middle_high]] =
            [&span.worst, &span.middle].map(Estimate::ends);
        let is_apart = high.0 < middle_low.0 || middle_high.0 < low.0;
        let worst = Figure::of(&span.worst).text;
        let kind = span.worst_kind.map_or_else(String::new, |kind| format!(" ({kind})"));
        is_apart.then(|| format!("{worst}{of}: {} on node {node}{kind}", who.cpus(initiator)))
    };
    let note = bandwidth
        .and_then(|span| worst(span, " of the bandwidth"))
        .or_else(|| latency.and_then(|span| worst(span, " times the latency")));
    // Of two the middle is one of them.
    let two =
        bandwidth.filter(|span| span.pairs == 2 && span.worst.ends()[1] < span.best.ends()[0]);
    let note = match (two, note) {
        (Some(span), _) => {
            let [worst, best] = [&span.worst, &span.best].map(|it| Figure::of(it).text);
            format!("{worst} and {best} of the bandwidth, by pair")
        }
        (None, Some(note)) => format!("worst {note}"),
        (None, None) => String::new(),
    };
    (!values.is_empty()).then(|| Tile::new(TileKind::Ratio, "Remote / local", values, note))
}

/// Copies to devices from memory next to them and from other memory.
fn device_tile(sources: &Sources<'_>) -> Option<Tile> {
    let inputs = sources.record.header.inputs.devices.as_ref();
    let accelerators = inputs.map_or(&[][..], |inputs| &inputs.accelerators);
    let largest = largest_transfers(&sources.show.devices);
    let is_sought = |it: &TransferFigures, memory| {
        it.place.direction == TransferDirection::ToDevice && it.place.host_memory == Some(memory)
    };
    let of = |memory| -> Vec<&TransferFigures> {
        largest.iter().copied().filter(|it| is_sought(it, memory)).collect()
    };
    let memory = [HostMemory::Pinned, HostMemory::Pageable]
        .into_iter()
        .find(|&memory| of(memory).iter().any(|it| it.by_host.is_some()));
    let Some(memory) = memory else { return unmeasured_devices(sources) };
    let is_near = |it: &&TransferFigures| {
        let device = accelerators.iter().find(|device| device.id == it.place.device);
        it.place.memory_node.zip(device).map(|(node, device)| device.nodes.contains(node))
    };
    let (near, far): (Vec<_>, Vec<_>) =
        of(memory).into_iter().partition(|it| is_near(it) != Some(false));
    let knows_near = accelerators.iter().any(|device| !device.nodes.is_empty());
    let names = match (knows_near, far.is_empty()) {
        (true, false) => ["near node", "far node"],
        _ => ["to the device", ""],
    };
    let spread = copies_words(&far).map(|words| format!("far {words}"));
    let values = [middle_copy(near), middle_copy(far)].into_iter().zip(names);
    let values: Vec<TileValue> =
        values.filter_map(|(copy, of)| Some(TileValue::new(device_cell(copy?), of))).collect();
    let devices: BTreeSet<&str> = largest.iter().map(|it| it.place.device.as_str()).collect();
    let kinds: BTreeSet<&str> = accelerators
        .iter()
        .filter(|device| devices.contains(device.id.as_str()))
        .map(|device| device.name.as_str())
        .collect();
    let bytes = of(memory).iter().map(|it| it.place.bytes).max().unwrap_or(0);
    let way = way_words(TransferDirection::ToDevice, Some(memory));
    let note = kinds.into_iter().map(String::from).chain(spread);
    let note = note.chain([format!("{way}, {}", Bytes(bytes))]);
    let label = count(devices.len(), "device");
    Some(Tile::new(TileKind::Devices, label, values, note.collect::<Vec<_>>().join("; ")))
}

/// `2.29 to 5.28`; `None` where they are alike.
fn copies_words(copies: &[&TransferFigures]) -> Option<String> {
    let rates = copies.iter().filter_map(|it| Some(it.by_host.as_ref()?.sum.median));
    let (least, most) = (rates.clone().reduce(f64::min)?, rates.reduce(f64::max)?);
    let [least, most] = [least, most].map(|rate| Figure::plain(BytesPerSecond(rate)).text);
    (least != most).then(|| format!("{least} to {most}"))
}

/// The copy in the middle of those that have a figure.
fn middle_copy(copies: Vec<&TransferFigures>) -> Option<&TransferFigures> {
    let rated = copies.into_iter().filter_map(|it| Some((it.by_host.as_ref()?.sum.median, it)));
    let mut rated: Vec<(f64, &TransferFigures)> = rated.collect();
    rated.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    rated.get(rated.len() / 2).map(|(_, copy)| *copy)
}

/// Devices that the machine has and nobody measured; `None` where it has none.
fn unmeasured_devices(sources: &Sources<'_>) -> Option<Tile> {
    let devices = sources.topo.machine.devices.iter();
    let accelerators = devices.filter(|device| device.kind == DeviceKind::Accelerator).count();
    if accelerators == 0 {
        return None;
    }
    let why = why_none(sources, Experiment::Devices, true);
    let label = count(accelerators, "device");
    Some(Tile::new(TileKind::Devices, label, vec![TileValue::new(why, "")], String::new()))
}

fn spans<U>(found: Option<&NearFar<U>>, is_local: bool) -> Vec<&PairSpan<U>> {
    let spans = found.into_iter().flat_map(|it| &it.spans);
    spans.filter(|span| span.is_local == is_local).collect()
}

fn value_cell<U: Quantity>(of: &PairValue<U>, counted: Counted) -> Cell {
    let figure = Figure::sampled(&of.value, counted);
    Cell::Figure(Figure { only_disturbed: of.only_disturbed, ..figure })
}

fn kind_words<U>(span: &PairSpan<U>) -> String {
    span.memory_kind.map_or_else(String::new, |kind| kind.to_string())
}

/// `11.9 to 24.2 over 56 pairs; same package 24.1, other package 11.9`.
fn span_words<U: Quantity>(span: &PairSpan<U>) -> String {
    let text = |of: &Estimate<U>| Figure::of(of).text;
    let ends = [&span.worst.value, &span.best.value];
    let is_rising = ends[0].value.in_unit() <= ends[1].value.in_unit();
    let [low, high] = if is_rising { ends } else { [ends[1], ends[0]] }.map(text);
    let kind = span.memory_kind.map_or_else(String::new, |kind| format!("{kind} "));
    let pairs = count(span.pairs, "pair");
    let range = if span.pairs == 1 {
        format!("{kind}one pair")
    } else if low == high {
        format!("{kind}all {pairs} alike")
    } else {
        format!("{kind}{low} to {high} over {pairs}")
    };
    let relations: Vec<String> = span
        .by_relation
        .iter()
        .map(|(relation, middle)| format!("{} {}", relation_words(*relation), text(middle)))
        .collect();
    if relations.is_empty() { range } else { format!("{range}: {}", relations.join(", ")) }
}

pub(super) fn relation_words(relation: Relation) -> &'static str {
    match relation {
        Relation::Local => "local",
        Relation::SamePackage => "same package",
        Relation::OtherPackage => "other package",
    }
}

/// Why a tile has no figure.
fn why_none(sources: &Sources<'_>, experiment: Experiment, is_local: bool) -> Cell {
    let machine = &sources.record.header.machine;
    let was_asked = sources.show.experiments.contains(&experiment);
    Cell::not_measured(if !is_local && machine.nodes.len() < 2 {
        "one memory node: nothing is remote".into()
    } else if was_asked {
        format!("no case of {experiment} has a figure")
    } else {
        let suite = sources.record.header.inputs.suite;
        format!("`{}` measures it", measuring_command(sources.record, &[experiment], suite))
    })
}

#[cfg(test)]
mod tests {
    use nearfar_flow::read_machine;
    use nearfar_measure::{simulated::simulate, suite_inputs};
    use nearfar_record::{Inputs, Record, Standing, Suite};
    use nearfar_specimen::{add_alone, machine, pair, record_of};

    use super::*;
    use crate::document::Document;
    use crate::figure::Unit;

    fn simulated(machine: &str, experiments: &[Experiment]) -> Record {
        let inputs = suite_inputs(Suite::Quick);
        let inputs = Inputs { experiments: experiments.to_vec(), ..inputs };
        simulate(&read_machine(machine).unwrap(), inputs, true).unwrap()
    }

    fn document(record: &Record) -> Document {
        Document::new(record)
    }

    fn tile(document: &Document, kind: TileKind) -> &Tile {
        document.tiles.iter().find(|tile| tile.kind == kind).unwrap()
    }

    /// The figures of a matrix, local or not.
    fn values(document: &Document, unit: Unit, is_local: bool) -> Vec<f64> {
        let cells = document.matrices.iter().flat_map(|table| table.rows.iter().flatten());
        let figures = cells.filter_map(|cell| match cell {
            Cell::Figure(figure) if figure.unit == unit => Some(figure),
            _ => None,
        });
        figures.filter(|it| it.is_local == is_local).map(|it| it.value).collect()
    }

    /// Half of the figures in the matrix are no better, and half no worse, than the tile's.
    #[test]
    fn tiles_are_the_middle_of_the_matrices() {
        let record = simulated("joe0", &[Experiment::Pairs, Experiment::Latency]);
        let document = document(&record);
        let local = &tile(&document, TileKind::LocalBandwidth).values[0];
        let remote = &tile(&document, TileKind::RemoteBandwidth).values[0];
        let times = &tile(&document, TileKind::Latency).values;
        for (value, unit, is_local, pairs) in [
            (local, Unit::GbPerS, true, 4),
            (remote, Unit::GbPerS, false, 12),
            (&times[0], Unit::Ns, true, 4),
            (&times[1], Unit::Ns, false, 12),
        ] {
            let Cell::Figure(figure) = &value.value else { panic!("{value:?}") };
            let all = values(&document, unit, is_local);
            let no_more = all.iter().filter(|it| **it <= figure.value).count();
            let no_less = all.iter().filter(|it| **it >= figure.value).count();
            assert_eq!((figure.unit, all.len()), (unit, pairs));
            assert!(2 * no_more >= pairs && 2 * no_less >= pairs, "{figure:?} of {all:?}");
        }
        assert_eq!(times.iter().map(|it| it.of.as_str()).collect::<Vec<_>>(), ["local", "remote"]);
        let ratios = &tile(&document, TileKind::Ratio).values;
        let [bandwidth, time] = [&ratios[0], &ratios[1]].map(|it| match &it.value {
            Cell::Figure(figure) => figure.value,
            other => panic!("{other:?}"),
        });
        // By the machine's file: 14 to 17 of 36 GB/s, 119 to 180 of 96 ns.
        assert!((0.38..0.5).contains(&bandwidth) && (1.2..1.9).contains(&time), "{ratios:?}");
        assert_eq!(document.health.unwrap().standing, Standing::Fine);
    }

    #[test]
    fn health_says_what_is_wrong_first_and_what_to_do() {
        let record = simulated("two-socket-8-nodes-degraded", &[Experiment::Pairs]);
        let health = document(&record).health.unwrap();
        assert_eq!(health.standing, Standing::Failed);
        assert!(health.answer.contains("wrong"), "{}", health.answer);
        let first = &health.found[0];
        assert!(first.finding.contains("node 2"), "{first:?}");
        assert!(first.remedy.as_ref().is_some_and(|remedy| remedy.contains("memory module")));
    }

    /// What cannot be is absent with its reason, and no figure.
    #[test]
    fn one_node_has_no_remote_memory() {
        let mut record = record_of(machine(1, 1, 2), &[Experiment::Pairs]);
        add_alone(&mut record, nearfar_record::Coordinates::Pairs(pair(0, 0, "load")), &[9e9; 6]);
        let document = document(&record);
        assert_eq!(tile(&document, TileKind::LocalBandwidth).values[0].value.words(), "9.00");
        let remote = &tile(&document, TileKind::RemoteBandwidth).values[0].value;
        let Cell::Absent { why, .. } = remote else { panic!("{remote:?}") };
        assert!(why.contains("nothing is remote"), "{why}");
        let Cell::Absent { why, .. } = &tile(&document, TileKind::Latency).values[0].value else {
            panic!("a latency that nobody measured")
        };
        assert!(why.contains("--only latency"), "{why}");
        assert!(document.tiles.iter().all(|tile| tile.kind != TileKind::Ratio));
    }

    #[test]
    fn devices_stand_in_a_tile_by_their_nodes() {
        let record = simulated("two-socket-4-gpus", &[Experiment::Devices]);
        let document = document(&record);
        let devices = tile(&document, TileKind::Devices);
        assert_eq!(devices.label, "4 devices");
        let [near, far] = devices.values.as_slice() else { panic!("{devices:?}") };
        assert_eq!([near.of.as_str(), far.of.as_str()], ["near node", "far node"]);
        let [near, far] = [near, far].map(|it| match &it.value {
            Cell::Figure(figure) => figure.value,
            other => panic!("{other:?}"),
        });
        // By the machine's file: 24.8 and 18.6 to 24.1.
        assert!((23.0..25.5).contains(&near) && (17.0..near).contains(&far), "{near} {far}");
    }
}
