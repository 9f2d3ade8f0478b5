//! Cells of the pairs matrix as they are compared with their twins: where they are,
//! what they reach, and how sure that is.
//! Units: natural logarithms of useful bytes/s.

use std::collections::{BTreeMap, HashMap};

use nearfar_machine::{Machine, MemoryKind};
use nearfar_stats::{Estimate, normal_quantile, pooled_deviation};

use crate::pairs::{CpuGroupRow, Figure, Pairs};
use crate::twin_rule::{FEWEST_ROUNDS, NotCompared};

/// A cell of the matrix as it is compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TwinCell {
    pub(crate) cpu_group: u32,
    pub(crate) initiator: u32,
    pub(crate) initiator_package: Option<u32>,
    pub(crate) node: u32,
    pub(crate) node_package: Option<u32>,
    /// The initiator whose own memory the node is.
    pub(crate) home: Option<u32>,
    pub(crate) local: bool,
    pub(crate) kernel: String,
    pub(crate) threads: u32,
    /// The same number for the same kernel and number of threads.
    pub(crate) load: usize,
    /// ln(median).
    pub(crate) ln: f64,
    /// ln of the interval's ends.
    pub(crate) ln_interval: (f64, f64),
    /// ln of the best round.
    pub(crate) ln_best: f64,
    /// Standard deviation of `ln`.
    pub(crate) noise: f64,
    /// Relative standard deviation of the rounds.
    pub(crate) scatter: f64,
    pub(crate) group: usize,
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

/// The cells that have twins, and the noise of a round that they have in common.
pub(crate) fn twin_cells(
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
    let places = PairPlaces::new(machine, &matrix.cpu_groups);
    let mut groups: BTreeMap<GroupKey, Vec<TwinCell>> = BTreeMap::new();
    let mut loads: HashMap<(&str, u32), usize> = HashMap::new();
    for (cpu_group, node, kernel, threads, cell) in matrix.cells() {
        let figure = cell.best().filter(|figure| figure.summary.sum.interval.0 > 0.0);
        let (Some(figure), Some(place)) = (figure, places.of(cpu_group, node)) else {
            *not_compared.entry(NotCompared::NoFigure).or_default() += 1;
            continue;
        };
        let next = loads.len();
        let number = *loads.entry((kernel, threads)).or_insert(next);
        let load = Load { kernel, threads, number };
        match noise.and_then(|noise| place.cell(&load, figure, noise)) {
            Some(cell) => groups.entry(place.key(&load)).or_default().push(cell),
            None => *not_compared.entry(NotCompared::FewRounds).or_default() += 1,
        }
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

/// Standard deviation of a median's logarithm: by its own interval, or by the noise
/// that all cells have in common where that is more, since a few rounds can agree by
/// chance. `None` for an interval that covers nothing.
fn noise_of_median(ln_interval: (f64, f64), noise: f64, sum: &Estimate) -> Option<f64> {
    /// Standard deviation of a median / that of a mean, for many normal values.
    const OF_MEDIAN: f64 = 1.2533;
    let common = OF_MEDIAN * noise / (sum.count as f64).sqrt();
    // Of few rounds the interval covers less than 95 %: so many deviations to each side.
    let to_each_side = normal_quantile(f64::midpoint(1.0, sum.confidence)).filter(|z| *z > 0.0)?;
    Some(((ln_interval.1 - ln_interval.0) / 2.0 / to_each_side).max(common))
}

/// Where groups of CPUs and nodes are.
struct PairPlaces {
    cpu_groups: BTreeMap<u32, CpuGroupPlace>,
    nodes: BTreeMap<u32, NodePlace>,
    distances: BTreeMap<(u32, u32), u64>,
}

struct CpuGroupPlace {
    initiator: u32,
    cpu_node: Option<u32>,
    package: Option<u32>,
    own_nodes: Vec<u32>,
    cores: usize,
}

struct NodePlace {
    package: Option<u32>,
    home: Option<u32>,
    memory: MemoryKind,
}

/// What is asked of a pair.
struct Load<'a> {
    kernel: &'a str,
    threads: u32,
    number: usize,
}

/// Where a pair is.
struct PairPlace {
    cpu_group: u32,
    node: u32,
    initiator: u32,
    initiator_package: Option<u32>,
    node_package: Option<u32>,
    home: Option<u32>,
    local: bool,
    distance: Option<u64>,
    memory: MemoryKind,
    cores: usize,
}

impl PairPlaces {
    fn new(machine: &Machine, rows: &[CpuGroupRow]) -> Self {
        let initiators = machine.initiators();
        let kind = rows.first().map(|row| row.group_by);
        let of_kind = kind.map(|kind| machine.cpu_groups(kind)).unwrap_or_default();
        let cpu_groups = rows.iter().filter_map(|row| {
            let initiator = initiators.iter().find(|initiator| initiator.index == row.initiator)?;
            let cpu_group = of_kind.iter().find(|cpu_group| cpu_group.index == row.index)?;
            let place = CpuGroupPlace {
                initiator: row.initiator,
                cpu_node: row.cpu_node,
                package: machine.only_package(&initiator.cpus),
                own_nodes: initiator.memory_nodes.iter().collect(),
                cores: cpu_group.cores.len(),
            };
            Some((row.index, place))
        });
        let nodes = machine.nodes.iter().map(|node| {
            let package = machine.only_package(&node.locality);
            let home = initiators
                .iter()
                .find(|initiator| initiator.memory_nodes.iter().any(|own| own == node.os_index))
                .map(|initiator| initiator.index);
            (node.os_index, NodePlace { package, home, memory: node.kind })
        });
        let all: Vec<u32> = machine.nodes.iter().map(|node| node.os_index).collect();
        let distances = all.iter().flat_map(|&from| {
            all.iter().filter_map(move |&to| Some(((from, to), machine.distance(from, to)?)))
        });
        Self {
            cpu_groups: cpu_groups.collect(),
            nodes: nodes.collect(),
            distances: distances.collect(),
        }
    }

    fn of(&self, cpu_group: u32, node: u32) -> Option<PairPlace> {
        let from = self.cpu_groups.get(&cpu_group)?;
        let to = self.nodes.get(&node)?;
        let distance = from.cpu_node.and_then(|cpu_node| self.distances.get(&(cpu_node, node)));
        Some(PairPlace {
            cpu_group,
            node,
            initiator: from.initiator,
            initiator_package: from.package,
            node_package: to.package,
            home: to.home,
            local: from.own_nodes.contains(&node),
            distance: distance.copied(),
            memory: to.memory,
            cores: from.cores,
        })
    }
}

impl PairPlace {
    fn key(&self, load: &Load<'_>) -> GroupKey {
        let same_package = self.initiator_package.zip(self.node_package).map(|(a, b)| a == b);
        GroupKey {
            kernel: load.kernel.into(),
            threads: load.threads,
            cores: self.cores,
            local: self.local,
            same_package,
            distance: self.distance,
            memory: self.memory,
        }
    }

    /// A cell here with this figure; `None` where its rounds are too few.
    fn cell(&self, load: &Load<'_>, figure: &Figure, noise: f64) -> Option<TwinCell> {
        let summary = &figure.summary;
        let sum = &summary.sum;
        if sum.count < FEWEST_ROUNDS {
            return None;
        }
        let ln_interval = (sum.interval.0.ln(), sum.interval.1.ln());
        Some(TwinCell {
            cpu_group: self.cpu_group,
            initiator: self.initiator,
            initiator_package: self.initiator_package,
            node: self.node,
            node_package: self.node_package,
            home: self.home,
            local: self.local,
            kernel: load.kernel.into(),
            threads: load.threads,
            load: load.number,
            ln: sum.median.ln(),
            ln_interval,
            ln_best: summary.best_sum.ln(),
            noise: noise_of_median(ln_interval, noise, sum)?,
            scatter: summary.deviation_between_rounds?,
            group: 0,
        })
    }
}
