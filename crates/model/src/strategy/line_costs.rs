//! What a line of data costs a thread by where it lies, from a record's latencies and bandwidths.
//! Units: ns for a line; a thread on every core.
//! transfer = threads x line / bandwidth of the initiator, the mean over initiators and nodes:
//! own of the roofs `all_local` (else `memory`), remote of the `memory` roofs of remote nodes,
//! central of the `contended` ones, spread of the `congested` one. latency = of the idle matrix.
//! An initiator that has a remote node to itself can get more of it than each gets of its own when all
//! run, which is no cost of distance: remote is taken as no faster than own.
//! Without these roofs from the pairs at all threads: central as if a node gave all initiators
//! together no more than its best one alone, spread as if a thread's transfers from several nodes
//! did not overlap. Both make it look slower than it is.

use std::collections::BTreeMap;

use nearfar_machine::{Binding, GroupBy, Machine, MemoryKind, MemoryPolicy, NodeSet};
use nearfar_record::{CaseSummary, Experiment, Roof, RoofCoordinates, RoofPurpose, Suite};
use serde::Serialize;

use crate::inapplicable::Inapplicable;
use crate::latency::latency;
use crate::pairs::pairs;
use crate::record_figures::RecordFigures;
use crate::roofs::roofs;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineCost {
    /// One access, the machine idle.
    pub latency_ns: f64,
    /// A line's part of what a thread gets.
    pub transfer_ns: f64,
    /// Half the interval of the figures / their median, the larger of both.
    pub noise: f64,
}

/// What a line costs by where it lies.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineCosts {
    /// Where bandwidths are from.
    pub basis: Basis,
    /// Kernel of these.
    pub kernel: String,
    /// Its instruction-set variant; of pairs the best.
    pub variant: String,
    /// Kind of the nodes.
    #[serde(rename = "memory_kind")]
    pub kind: MemoryKind,
    /// Initiators that have such a node of their own.
    pub initiators: Vec<StrategyInitiator>,
    pub line_bytes: u32,
    /// Whether that is taken for want of a figure.
    pub is_line_assumed: bool,
    /// Every thread on its own node.
    pub own: LineCost,
    /// A thread on another node, that being idle; its transfer no less than own.
    pub remote: LineCost,
    /// All threads on one node.
    pub central: LineCost,
    /// All threads on all nodes, page by page.
    pub spread: LineCost,
}

/// Where bandwidths are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Measured with all threads at once.
    Roofs,
    /// Computed from initiators that ran alone.
    Pairs,
}

/// An initiator with a node of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StrategyInitiator {
    /// Its number.
    pub initiator: u32,
    /// The lowest of its nodes of that kind.
    pub memory_node: u32,
    /// Its processes on its own node.
    pub binding: Binding,
}

/// Most lines of today's CPUs; where the machine does not say.
const USUAL_LINE_BYTES: u32 = 64;

impl LineCost {
    /// Time for a line with this many under way, ns: what limits, latency or bandwidth.
    pub fn ns(&self, in_flight: f64) -> f64 {
        (self.latency_ns / in_flight).max(self.transfer_ns)
    }
}

impl LineCosts {
    /// The largest noise of all.
    pub fn noise(&self) -> f64 {
        [self.own, self.remote, self.central, self.spread]
            .iter()
            .map(|it| it.noise)
            .fold(0.0, f64::max)
    }
}

/// Figures of one place, gathered.
#[derive(Debug, Clone, Default)]
struct Gathered {
    sum: f64,
    noise: f64,
    count: f64,
}

impl Gathered {
    /// Adds a time that follows from a figure with this noise; one that is no time is left out.
    fn add(&mut self, ns: f64, noise: f64) {
        if ns.is_finite() && ns > 0.0 && noise.is_finite() {
            self.sum += ns;
            self.noise += noise;
            self.count += 1.0;
        }
    }

    fn mean(&self) -> Option<(f64, f64)> {
        (self.count > 0.0).then(|| (self.sum / self.count, self.noise / self.count))
    }
}

/// In the order own, remote, central, spread.
type ByPlace = [Gathered; 4];

pub(super) fn line_costs(figures: &RecordFigures<'_>) -> Result<LineCosts, Inapplicable> {
    let record = figures.record();
    let machine = &record.header.machine;
    if machine.nodes.len() == 1 {
        return Err(Inapplicable::here("one memory node: every strategy puts all data there"));
    }
    let (kind, initiators) = initiators_of_a_kind(machine);
    if initiators.len() < 2 {
        let why = "fewer than two initiators have a memory node of their own: the strategies that \
                   share data out among these do not differ";
        return Err(Inapplicable::here(why));
    }
    let latencies = latencies(figures, machine, kind)?;
    let known = machine.caches.iter().filter_map(|cache| cache.line_bytes).max();
    let line_bytes = known.filter(|&bytes| bytes > 0).unwrap_or(USUAL_LINE_BYTES);
    let by = |basis, transfers: Transfers| {
        let of_kernel = move |((kernel, variant), of)| (basis, kernel, variant, of);
        transfers.into_iter().map(of_kernel)
    };
    let of_roofs = by(Basis::Roofs, roof_transfers(figures, machine, kind, line_bytes));
    let of_pairs = by(Basis::Pairs, pair_transfers(figures, machine, kind, line_bytes));
    // Loads alone come first: programs read more than they write, and every experiment has them.
    let candidates = of_roofs.chain(of_pairs).filter_map(|(basis, kernel, variant, transfers)| {
        Some((basis, kernel, variant, costs(&latencies, &transfers)?))
    });
    let preferred =
        candidates.min_by_key(|(basis, kernel, ..)| (*basis == Basis::Pairs, kernel != "load"));
    let Some((basis, kernel, variant, [own, remote, central, spread])) = preferred else {
        let why =
            "the record holds neither roofs of all initiators at once nor pairs at all threads";
        let needed = [Experiment::Roofs, Experiment::Latency];
        return Err(Inapplicable::until_measured(record, &needed, Suite::Standard, why));
    };
    Ok(LineCosts {
        basis,
        kernel,
        variant,
        kind,
        initiators,
        line_bytes,
        is_line_assumed: known.is_none_or(|bytes| bytes == 0),
        own,
        remote,
        central,
        spread,
    })
}

/// DRAM where initiators have some of their own, else the kind that the first one has.
fn initiators_of_a_kind(machine: &Machine) -> (MemoryKind, Vec<StrategyInitiator>) {
    let initiators = machine.initiators();
    let kinds = |of: &nearfar_machine::Initiator| -> Vec<(u32, MemoryKind)> {
        let nodes = of.memory_nodes.iter().filter_map(|node| machine.node(node));
        nodes.map(|node| (node.os_index, node.kind)).collect()
    };
    let own: Vec<MemoryKind> =
        initiators.iter().flat_map(|of| kinds(of).into_iter().map(|(_, kind)| kind)).collect();
    let kind = if own.contains(&MemoryKind::Dram) {
        MemoryKind::Dram
    } else {
        own.first().copied().unwrap_or(MemoryKind::Unknown)
    };
    let with_node = initiators.iter().filter_map(|of| {
        let (memory_node, _) = kinds(of).into_iter().find(|&(_, own)| own == kind)?;
        let memory = MemoryPolicy::Bind(NodeSet::single(memory_node));
        let binding = Binding { cpus: of.cpus.clone(), memory };
        Some(StrategyInitiator { initiator: of.index, memory_node, binding })
    });
    (kind, with_node.collect())
}

fn is_of_kind(machine: &Machine, node: u32, kind: MemoryKind) -> bool {
    machine.node(node).is_some_and(|node| node.kind == kind)
}

/// Idle latencies. Data on one node and data on all are as far away on average, over the nodes that
/// the one may be.
fn latencies(
    figures: &RecordFigures<'_>,
    machine: &Machine,
    kind: MemoryKind,
) -> Result<ByPlace, Inapplicable> {
    let mut places = ByPlace::default();
    for pair in latency(figures)?.factors {
        let (Some(time), true) = (pair.time.as_ref(), is_of_kind(machine, pair.memory_node, kind))
        else {
            continue;
        };
        let [own, remote, central, spread] = &mut places;
        let (ns, noise) = (time.time.value.0, time.time.relative_half_width());
        if pair.is_local { own } else { remote }.add(ns, noise);
        central.add(ns, noise);
        spread.add(ns, noise);
    }
    if places.iter().any(|place| place.mean().is_none()) {
        let why = "the record holds no latency of a local and of a remote node";
        let record = figures.record();
        let needed = [Experiment::Latency];
        return Err(Inapplicable::until_measured(record, &needed, Suite::Standard, why));
    }
    Ok(places)
}

/// Both parts of all four; `None` where one is missing.
fn costs(latencies: &ByPlace, transfers: &ByPlace) -> Option<[LineCost; 4]> {
    let mut costs = latencies.iter().zip(transfers).map(|(latency, transfer)| {
        let ((latency_ns, noise), (transfer_ns, other)) = (latency.mean()?, transfer.mean()?);
        Some(LineCost { latency_ns, transfer_ns, noise: noise.max(other) })
    });
    let (own, mut remote) = (costs.next()??, costs.next()??);
    remote.transfer_ns = remote.transfer_ns.max(own.transfer_ns);
    Some([own, remote, costs.next()??, costs.next()??])
}

/// A thread's time for a line where this many share a bandwidth, ns.
fn transfer_ns(threads: u32, line_bytes: u32, bandwidth: &CaseSummary) -> f64 {
    1e9 * f64::from(threads) * f64::from(line_bytes) / bandwidth.sum.median
}

/// By kernel and variant.
type Transfers = BTreeMap<(String, String), ByPlace>;

fn roof_transfers(
    figures: &RecordFigures<'_>,
    machine: &Machine,
    kind: MemoryKind,
    line_bytes: u32,
) -> Transfers {
    let roofs = roofs(figures);
    let all: Vec<_> = roofs
        .iter()
        .filter(|roof| roof.place.purpose == RoofPurpose::Roof)
        .filter_map(|roof| Some((&roof.place, roof.is_local, roof.bandwidth.as_ref()?)))
        .collect();
    let most = |(place, ..): &(&RoofCoordinates, _, _)| match place.roof {
        Roof::Contended { initiators, .. } => Some(initiators),
        _ => None,
    };
    let most_initiators = all.iter().filter_map(most).max();
    let mut found = Transfers::new();
    // The local roofs of initiators alone stand in where not all were measured at once.
    let mut alone: BTreeMap<(String, String), Gathered> = BTreeMap::new();
    for (place, is_local, bandwidth) in all {
        let key = (place.kernel.clone(), place.variant.clone());
        let ns = transfer_ns(place.threads, line_bytes, bandwidth);
        let [own, remote, central, spread] = found.entry(key.clone()).or_default();
        let is_of_kind = |node| is_of_kind(machine, node, kind);
        let gathered = match place.roof {
            Roof::AllLocal { node } if is_of_kind(node) => own,
            Roof::Memory { node } if is_of_kind(node) && is_local == Some(true) => {
                alone.entry(key).or_default()
            }
            Roof::Memory { node } if is_of_kind(node) => remote,
            Roof::Contended { node, initiators }
                if is_of_kind(node) && Some(initiators) == most_initiators =>
            {
                central
            }
            Roof::Congested { kind: of } if of == kind => spread,
            _ => continue,
        };
        gathered.add(ns, bandwidth.sum.relative_half_width());
    }
    for (key, places) in &mut found {
        if places[0].mean().is_none()
            && let Some(alone) = alone.remove(key)
        {
            places[0] = alone;
        }
    }
    found
}

fn pair_transfers(
    figures: &RecordFigures<'_>,
    machine: &Machine,
    kind: MemoryKind,
    line_bytes: u32,
) -> Transfers {
    let matrix = pairs(figures);
    let mut found = Transfers::new();
    if matrix.cpu_groups.iter().any(|row| row.group_by != GroupBy::Memory) {
        return found;
    }
    let initiators = machine.initiators();
    let own_nodes: BTreeMap<u32, &NodeSet> =
        initiators.iter().map(|initiator| (initiator.index, &initiator.memory_nodes)).collect();
    let mut most_threads: BTreeMap<(&str, u32), u32> = BTreeMap::new();
    for (row, _, kernel, threads, _) in matrix.cells() {
        let most = most_threads.entry((kernel, row)).or_default();
        *most = threads.max(*most);
    }
    // Of each node the best that one initiator gets of it.
    let mut best: BTreeMap<(&str, u32), &CaseSummary> = BTreeMap::new();
    for (row, node, kernel, threads, cell) in matrix.cells() {
        let Some(figure) = cell.best().filter(|_| is_of_kind(machine, node, kind)) else {
            continue;
        };
        if most_threads.get(&(kernel, row)) != Some(&threads) {
            continue;
        }
        let places = found.entry((kernel.into(), BEST_VARIANT.into())).or_default();
        let ns = transfer_ns(threads, line_bytes, &figure.summary);
        let is_local = own_nodes.get(&row).is_some_and(|own| own.contains(node));
        let noise = figure.summary.sum.relative_half_width();
        places[usize::from(!is_local)].add(ns, noise);
        places[3].add(ns, noise);
        let known = best.entry((kernel, node)).or_insert(&figure.summary);
        if figure.summary.sum.median > known.sum.median {
            *known = &figure.summary;
        }
    }
    for ((kernel, _), summary) in best {
        let of_kernel = most_threads.iter().filter(|((name, _), _)| *name == kernel);
        let threads = of_kernel.map(|(_, &threads)| threads).fold(0, u32::saturating_add);
        if let Some(places) = found.get_mut(&(kernel.into(), BEST_VARIANT.into())) {
            let noise = summary.sum.relative_half_width();
            places[2].add(transfer_ns(threads, line_bytes, summary), noise);
        }
    }
    found
}

/// Pairs are judged by the best of their variants.
const BEST_VARIANT: &str = "best";
