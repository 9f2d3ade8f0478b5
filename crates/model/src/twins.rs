//! Twins within one machine: cells of the pairs matrix that should be equal, and those
//! that fall short of the others.
//! Units: useful bytes/s.          Source: ours; the median absolute deviation is
//! Hampel's (J. Am. Stat. Assoc. 69, 1974).
//! Twins have the same kernel, number of threads and of cores, relation (local, same
//! package, other package), distance by the firmware and kind of memory. A cell falls
//! short when it is below the median of its twins by more than [`FLOOR`] and by more
//! than [`SCORE`] times what the twins' own spread and the rounds' noise explain.
//! Holds when: most twins are sound. Fails when: half of them fall short alike (they
//! are then the rule), or a machine is built unevenly and the firmware's distances
//! hide it (its slower half is then spread, and shortfalls in it go unseen).

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{InitiatorKind, Machine, MemoryKind};
use nearfar_record::Record;
use nearfar_stats::{median, pooled_deviation};

use crate::pairs::{InitiatorRow, Pairs, pairs};
use crate::shortfall::{Place, Shortfall, explain};

/// A cell that is below its twins by less is sound: machines differ by so much from
/// one part to another.
pub const FLOOR: f64 = 0.03;
/// A cell falls short at this many standard deviations below its twins. Together
/// with [`FEWEST_CELLS`] it keeps false alarms below 1 % of records
/// (`tests/twins.rs` draws them).
pub const SCORE: f64 = 4.0;
/// So many cells must fall short together: a fault shows with several kernels.
pub const FEWEST_CELLS: usize = 2;
/// Fewer rounds say too little of a cell's noise.
pub const FEWEST_ROUNDS: usize = 3;

/// What comparing twins found.
#[derive(Debug, Clone, PartialEq)]
pub struct Twins {
    /// Cells that have twins and were compared.
    pub compared: usize,
    /// Groups of twins.
    pub groups: usize,
    /// Standard deviation of a round that the cells have in common, a fraction.
    pub noise: Option<f64>,
    /// The fewest causes that explain the cells that fall short, the one of most cells
    /// first.
    pub findings: Vec<Shortfall>,
    /// Cells that fall short alone, too few for a finding.
    pub alone: usize,
    /// Cells that were not compared, by the reason.
    pub not_compared: BTreeMap<NotCompared, usize>,
}

/// Why a cell was not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotCompared {
    /// No other cell should be equal to it.
    NoTwin,
    /// It has fewer than [`FEWEST_ROUNDS`] undisturbed rounds.
    FewRounds,
    /// It was refused, or moved no bytes.
    NoFigure,
}

/// A cell of the matrix as it is compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TwinCell {
    pub(crate) initiator: u32,
    pub(crate) cluster: u32,
    pub(crate) cluster_package: Option<u32>,
    pub(crate) node: u32,
    pub(crate) node_package: Option<u32>,
    pub(crate) local: bool,
    pub(crate) kernel: String,
    pub(crate) threads: u32,
    /// ln(median).
    pub(crate) ln: f64,
    /// ln of the interval's ends.
    pub(crate) ln_interval: (f64, f64),
    /// Standard deviation of `ln`.
    pub(crate) noise: f64,
    group: usize,
}

/// A cell against its twins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Comparison {
    /// ln(cell / median of its twins).
    pub(crate) ln_ratio: f64,
    /// How many standard deviations that is.
    pub(crate) score: f64,
    /// Twins, the cell itself not among them.
    pub(crate) twins: usize,
}

impl Comparison {
    pub(crate) fn falls_short(&self) -> bool {
        self.ln_ratio < (1.0 - FLOOR).ln() && self.score < -SCORE
    }
}

/// What makes cells equal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct GroupKey {
    kernel: String,
    threads: u32,
    cores: usize,
    local: bool,
    same_package: Option<bool>,
    distance: Option<u64>,
    memory: MemoryKind,
}

/// Compares the cells of a record's matrix with their twins.
#[must_use]
pub fn twins(record: &Record) -> Twins {
    let matrix = pairs(record);
    let mut not_compared: BTreeMap<NotCompared, usize> = BTreeMap::new();
    let (cells, noise) = comparable(&record.header.machine, &matrix, &mut not_compared);
    let (mut findings, alone) = explain(&cells);
    for finding in &mut findings {
        finding.memory_share = match finding.place {
            Place::Memory { node } => memory_share(&record.header.machine, node),
            _ => None,
        };
    }
    let groups: BTreeSet<usize> = cells.iter().map(|cell| cell.group).collect();
    Twins { compared: cells.len(), groups: groups.len(), noise, findings, alone, not_compared }
}

/// The cells that have twins, and the noise of a round that they have in common.
fn comparable(
    machine: &Machine,
    matrix: &Pairs,
    not_compared: &mut BTreeMap<NotCompared, usize>,
) -> (Vec<TwinCell>, Option<f64>) {
    let deviations: Vec<(f64, usize)> = matrix
        .cells()
        .filter_map(|(_, _, _, _, cell)| {
            let summary = &cell.best()?.summary;
            Some((summary.deviation_between_rounds?, summary.sum.count))
        })
        .collect();
    let noise = pooled_deviation(&deviations);
    let places = Places::new(machine, &matrix.initiators);
    let mut groups: BTreeMap<GroupKey, Vec<TwinCell>> = BTreeMap::new();
    for (initiator, node, kernel, threads, cell) in matrix.cells() {
        let figure = cell.best().filter(|figure| figure.summary.sum.interval.0 > 0.0);
        let (Some(figure), Some(place)) = (figure, places.of(initiator, node)) else {
            *not_compared.entry(NotCompared::NoFigure).or_default() += 1;
            continue;
        };
        let sum = &figure.summary.sum;
        if sum.count < FEWEST_ROUNDS {
            *not_compared.entry(NotCompared::FewRounds).or_default() += 1;
            continue;
        }
        let ln_interval = (sum.interval.0.ln(), sum.interval.1.ln());
        groups.entry(place.key(kernel, threads)).or_default().push(TwinCell {
            initiator,
            cluster: place.cluster,
            cluster_package: place.cluster_package,
            node,
            node_package: place.node_package,
            local: place.local,
            kernel: kernel.into(),
            threads,
            ln: sum.median.ln(),
            ln_interval,
            noise: noise_of_median(ln_interval, noise.unwrap_or(0.0), sum.count),
            group: 0,
        });
    }
    let mut cells = Vec::new();
    for (group, members) in groups.into_values().enumerate() {
        if members.len() < 2 {
            *not_compared.entry(NotCompared::NoTwin).or_default() += members.len();
        } else {
            cells.extend(members.into_iter().map(|cell| TwinCell { group, ..cell }));
        }
    }
    (cells, noise)
}

/// Standard deviation of a cell's median: by its own interval (a normal one of 95 % is
/// 1.96 to each side), or by the noise that all cells have in common where that is
/// more, since a few rounds can agree by chance.
fn noise_of_median(ln_interval: (f64, f64), noise: f64, rounds: usize) -> f64 {
    /// Standard deviation of a median / that of a mean, for many normal values.
    const OF_MEDIAN: f64 = 1.2533;
    #[expect(clippy::cast_precision_loss, reason = "a number of rounds")]
    let common = OF_MEDIAN * noise / (rounds as f64).sqrt();
    ((ln_interval.1 - ln_interval.0) / 2.0 / 1.96).max(common)
}

/// Compares every cell with its twins; those that are `left_out` are twins of nobody.
/// `None` for cells without a twin.
pub(crate) fn compare(cells: &[TwinCell], left_out: &[bool]) -> Vec<Option<Comparison>> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, cell) in cells.iter().enumerate().filter(|(index, _)| !left_out[*index]) {
        groups.entry(cell.group).or_default().push(index);
    }
    cells
        .iter()
        .enumerate()
        .map(|(index, cell)| {
            let members = groups.get(&cell.group)?.iter().filter(|&&other| other != index);
            let others: Vec<f64> = members.map(|&other| cells[other].ln).collect();
            compare_one(cell, &others)
        })
        .collect()
}

fn compare_one(cell: &TwinCell, others: &[f64]) -> Option<Comparison> {
    /// Standard deviation / median absolute deviation of normal values.
    const OF_MAD: f64 = 1.4826;
    /// Variance of a median / that of a mean, for many normal values: pi / 2.
    const OF_MEDIAN: f64 = std::f64::consts::FRAC_PI_2;
    let middle = median(others)?;
    let deviations: Vec<f64> = others.iter().map(|ln| (ln - middle).abs()).collect();
    let spread = OF_MAD * median(&deviations)?;
    #[expect(clippy::cast_precision_loss, reason = "a number of twins")]
    let noise = cell.noise * (1.0 + OF_MEDIAN / others.len() as f64).sqrt();
    let ln_ratio = cell.ln - middle;
    // Cells without any noise (a simulation's) differ by what rounding leaves.
    let deviation = spread.max(noise).max(1e-9);
    Some(Comparison { ln_ratio, score: ln_ratio / deviation, twins: others.len() })
}

/// Where initiators and nodes are.
struct Places {
    initiators: BTreeMap<u32, InitiatorPlace>,
    nodes: BTreeMap<u32, NodePlace>,
    distances: BTreeMap<(u32, u32), u64>,
}

struct InitiatorPlace {
    cluster: u32,
    cpu_node: Option<u32>,
    package: Option<u32>,
    own_nodes: Vec<u32>,
    cores: usize,
}

struct NodePlace {
    package: Option<u32>,
    memory: MemoryKind,
}

/// Where a pair is.
struct PairPlace {
    cluster: u32,
    cluster_package: Option<u32>,
    node_package: Option<u32>,
    local: bool,
    distance: Option<u64>,
    memory: MemoryKind,
    cores: usize,
}

impl Places {
    fn new(machine: &Machine, rows: &[InitiatorRow]) -> Self {
        let clusters = machine.clusters();
        let kind = rows.first().and_then(|row| row.kind.parse::<InitiatorKind>().ok());
        let of_kind = kind.map(|kind| machine.initiators(kind)).unwrap_or_default();
        let initiators = rows.iter().filter_map(|row| {
            let cluster = clusters.iter().find(|cluster| cluster.index == row.cluster)?;
            let initiator = of_kind.iter().find(|initiator| initiator.index == row.index)?;
            let place = InitiatorPlace {
                cluster: row.cluster,
                cpu_node: row.cpu_node,
                package: machine.only_package(&cluster.cpus),
                own_nodes: cluster.memory_nodes.iter().collect(),
                cores: initiator.cores.len(),
            };
            Some((row.index, place))
        });
        let nodes = machine.nodes.iter().map(|node| {
            let package = machine.only_package(&node.locality);
            (node.os_index, NodePlace { package, memory: node.kind })
        });
        let all: Vec<u32> = machine.nodes.iter().map(|node| node.os_index).collect();
        let distances = all.iter().flat_map(|&from| {
            all.iter().filter_map(move |&to| Some(((from, to), machine.distance(from, to)?)))
        });
        Self {
            initiators: initiators.collect(),
            nodes: nodes.collect(),
            distances: distances.collect(),
        }
    }

    fn of(&self, initiator: u32, node: u32) -> Option<PairPlace> {
        let from = self.initiators.get(&initiator)?;
        let to = self.nodes.get(&node)?;
        let distance = from.cpu_node.and_then(|cpu_node| self.distances.get(&(cpu_node, node)));
        Some(PairPlace {
            cluster: from.cluster,
            cluster_package: from.package,
            node_package: to.package,
            local: from.own_nodes.contains(&node),
            distance: distance.copied(),
            memory: to.memory,
            cores: from.cores,
        })
    }
}

impl PairPlace {
    fn key(&self, kernel: &str, threads: u32) -> GroupKey {
        let same_package = self.cluster_package.zip(self.node_package).map(|(a, b)| a == b);
        GroupKey {
            kernel: kernel.into(),
            threads,
            cores: self.cores,
            local: self.local,
            same_package,
            distance: self.distance,
            memory: self.memory,
        }
    }
}

/// A node's size / median size of the other nodes of its kind.
fn memory_share(machine: &Machine, node: u32) -> Option<f64> {
    let own = machine.node(node)?;
    let others: Option<Vec<f64>> = machine
        .nodes
        .iter()
        .filter(|other| other.kind == own.kind && other.os_index != node)
        .map(|other| other.memory_bytes.map(as_float))
        .collect();
    Some(as_float(own.memory_bytes?) / median(&others?)?).filter(|share| share.is_finite())
}

#[expect(clippy::cast_precision_loss, reason = "a size of memory is far below 2^53")]
fn as_float(bytes: u64) -> f64 {
    bytes as f64
}
