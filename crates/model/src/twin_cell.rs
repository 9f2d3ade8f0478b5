//! Cells of the pairs matrix as they are compared with their twins: where they are,
//! what they reach, and how sure that is.
//! Units: natural logarithms of useful bytes/s.

use std::collections::{BTreeMap, HashMap};

use nearfar_machine::{Machine, MemoryKind, MemoryNode, NodeSet};
use nearfar_record::CaseSummary;
use nearfar_stats::{Estimate, normal_quantile, pooled_deviation};

use crate::pairs::{CpuGroupRow, Pairs};
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
    let (cpu_groups, nodes) = (cpu_group_places(machine, matrix), node_places(machine));
    let mut groups: BTreeMap<GroupKey, Vec<TwinCell>> = BTreeMap::new();
    let mut loads: HashMap<(&str, u32), usize> = HashMap::new();
    for (cpu_group, node, kernel, threads, cell) in matrix.cells() {
        let figure = cell.best().filter(|figure| figure.summary.sum.interval.0 > 0.0);
        let (Some(figure), Some(from), Some(to)) =
            (figure, cpu_groups.get(&cpu_group), nodes.get(&node))
        else {
            *not_compared.entry(NotCompared::NoFigure).or_default() += 1;
            continue;
        };
        let next = loads.len();
        let load = *loads.entry((kernel, threads)).or_insert(next);
        let Some(scatter) = noise.and_then(|noise| Scatter::of(&figure.summary, noise)) else {
            *not_compared.entry(NotCompared::FewRounds).or_default() += 1;
            continue;
        };
        let local = from.own_nodes.contains(node);
        let key = GroupKey {
            kernel: kernel.into(),
            threads,
            cores: from.cores,
            local,
            same_package: from.package.zip(to.package).map(|(from, to)| from == to),
            distance: from.cpu_node.and_then(|cpu_node| machine.distance(cpu_node, node)),
            memory: to.memory,
        };
        groups.entry(key).or_default().push(TwinCell {
            cpu_group,
            initiator: from.initiator,
            initiator_package: from.package,
            node,
            node_package: to.package,
            home: to.home,
            local,
            kernel: kernel.into(),
            threads,
            load,
            ln: figure.summary.sum.median.ln(),
            ln_interval: scatter.ln_interval,
            ln_best: figure.summary.best_sum.ln(),
            noise: scatter.of_median,
            scatter: scatter.of_rounds,
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

/// How sure a figure is.
struct Scatter {
    ln_interval: (f64, f64),
    of_median: f64,
    of_rounds: f64,
}

impl Scatter {
    /// `None` where rounds are too few. `noise` is that of a round of all cells.
    fn of(summary: &CaseSummary, noise: f64) -> Option<Self> {
        if summary.sum.count < FEWEST_ROUNDS {
            return None;
        }
        let (low, high) = summary.sum.interval;
        let ln_interval = (low.ln(), high.ln());
        Some(Self {
            ln_interval,
            of_median: noise_of_median(ln_interval, noise, &summary.sum)?,
            of_rounds: summary.deviation_between_rounds?,
        })
    }
}

/// Standard deviation of a median's logarithm: by its own interval, or by the noise
/// that all cells have in common where that is more, since a few rounds can agree by
/// chance. `None` for an interval that covers nothing.
fn noise_of_median(ln_interval: (f64, f64), noise: f64, sum: &Estimate) -> Option<f64> {
    /// Standard deviation of a median / that of a mean, for many normal values.
    const OF_MEDIAN: f64 = 1.2533;
    let common = OF_MEDIAN * noise / (sum.count as f64).sqrt();
    // Of few rounds the interval covers less than 95 %: this many deviations to each side.
    let to_each_side = normal_quantile(f64::midpoint(1.0, sum.confidence)).filter(|z| *z > 0.0)?;
    Some(((ln_interval.1 - ln_interval.0) / 2.0 / to_each_side).max(common))
}

struct CpuGroupPlace {
    initiator: u32,
    cpu_node: Option<u32>,
    package: Option<u32>,
    own_nodes: NodeSet,
    cores: usize,
}

/// Where the groups of CPUs of a matrix are, by their numbers.
fn cpu_group_places(machine: &Machine, matrix: &Pairs) -> BTreeMap<u32, CpuGroupPlace> {
    let initiators = machine.initiators();
    let kind = matrix.cpu_groups.first().map(|row| row.group_by);
    let of_kind = kind.map(|kind| machine.cpu_groups(kind)).unwrap_or_default();
    let place = |row: &CpuGroupRow| {
        let initiator = initiators.iter().find(|initiator| initiator.index == row.initiator)?;
        let cpu_group = of_kind.iter().find(|cpu_group| cpu_group.index == row.index)?;
        let place = CpuGroupPlace {
            initiator: row.initiator,
            cpu_node: row.cpu_node,
            package: machine.only_package(&initiator.cpus),
            own_nodes: initiator.memory_nodes.clone(),
            cores: cpu_group.cores.len(),
        };
        Some((row.index, place))
    };
    matrix.cpu_groups.iter().filter_map(place).collect()
}

struct NodePlace {
    package: Option<u32>,
    home: Option<u32>,
    memory: MemoryKind,
}

fn node_places(machine: &Machine) -> BTreeMap<u32, NodePlace> {
    let initiators = machine.initiators();
    let place = |node: &MemoryNode| {
        let home = initiators.iter().find(|it| it.memory_nodes.contains(node.os_index));
        let place = NodePlace {
            package: machine.only_package(&node.locality),
            home: home.map(|initiator| initiator.index),
            memory: node.kind,
        };
        (node.os_index, place)
    };
    machine.nodes.iter().map(place).collect()
}
