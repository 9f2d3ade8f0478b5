//! The capacities of a machine, and what loads on it get.
//! Units: useful bytes/s.     Source: ours; see [`crate::System`] for the law.
//!
//! Data that cluster c moves to or from memory node m passes the cluster's issue
//! limit, the path (c, m), the links on that path and the controller of m. A thread
//! alone, with nothing saturated, moves at `one_thread`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::error::FlowError;
use crate::solver::{Stream, System};

/// What each part of a machine can carry. Rows are clusters by their index, columns
/// memory nodes in the order of `nodes`. `None` is a part that limits nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capacities {
    /// The memory nodes' numbers, in the order of the columns.
    pub nodes: Vec<u32>,
    /// Demand of one thread of a cluster on a node, bytes/s.
    pub one_thread: Vec<Vec<f64>>,
    /// What the path from a cluster to a node carries, bytes/s.
    pub path: Vec<Vec<Option<f64>>>,
    /// What each node's memory controller serves, bytes/s.
    pub controller: Vec<Option<f64>>,
    /// What each cluster can issue to all nodes together, bytes/s.
    pub issue: Vec<Option<f64>>,
    /// Links that several paths share.
    pub links: Vec<SharedLink>,
    /// How hard parts saturate: the exponent p, above 0. At 25 a part offered its capacity
    /// carries 97 % of it, which no measurement tells from a hard limit.
    pub saturation: f64,
    /// Whom a saturated part favours: 0 gives each thread the same, 1 gives in proportion
    /// to demand, between them in between.
    pub fairness: f64,
}

/// A link between parts of a machine that several paths share, one way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedLink {
    /// Its name.
    pub name: String,
    /// What it carries, bytes/s.
    pub capacity: f64,
    /// The paths over it: cluster index and node number.
    pub crosses: BTreeSet<(u32, u32)>,
}

/// Threads of one cluster that access memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// The cluster's index.
    pub cluster: u32,
    /// Threads; none move nothing.
    pub threads: u32,
    /// The fraction of its bytes on each node; they add up to 1.
    pub shares: Vec<(u32, f64)>,
}

/// A part of a machine that can saturate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Path { cluster: usize, column: usize },
    Controller { column: usize },
    Issue { cluster: usize },
    Link { index: usize },
}

/// Shares must add up to 1 within this.
const SHARE_TOLERANCE: f64 = 1e-6;
/// Smaller shares are none: one page in 4 TiB.
const SMALLEST_SHARE: f64 = 1e-9;

impl Capacities {
    /// What each load moves when all run at the same time, bytes/s, in their order.
    ///
    /// Loads of one cluster with the same shares get together what one load with all
    /// their threads would get, whatever the fairness: a thread of each demands the same,
    /// so their slowdown is the same. They need not be merged.
    ///
    /// # Errors
    /// [`FlowError::Load`] for a cluster or node that the machine does not have or
    /// shares that do not add up to 1; [`FlowError::System`] and
    /// [`FlowError::NotSettled`] from the solver.
    pub fn rates(&self, loads: &[Load]) -> Result<Vec<f64>, FlowError> {
        self.check()?;
        let pairs: Vec<(&Self, &Load)> = loads.iter().map(|load| (self, load)).collect();
        rates_together(&pairs)
    }

    /// Whether rows and columns agree and every number is finite and above 0 (the
    /// fairness: from 0).
    ///
    /// # Errors
    /// [`FlowError::System`] with the first thing that is wrong.
    pub fn check(&self) -> Result<(), FlowError> {
        let clusters = self.one_thread.len();
        let columns = self.nodes.len();
        let of_clusters = self.path.len() == clusters && self.issue.len() == clusters;
        let wide = self.one_thread.iter().all(|row| row.len() == columns)
            && self.path.iter().all(|row| row.len() == columns);
        if !of_clusters || !wide || self.controller.len() != columns {
            return Err(FlowError::System(format!(
                "not every table has {clusters} clusters and {columns} nodes"
            )));
        }
        let numbers = self
            .one_thread
            .iter()
            .flatten()
            .map(|&rate| ("a thread's rate", rate))
            .chain(self.path.iter().flatten().flatten().map(|&rate| ("a path", rate)))
            .chain(self.controller.iter().flatten().map(|&rate| ("a controller", rate)))
            .chain(self.issue.iter().flatten().map(|&rate| ("an issue limit", rate)))
            .chain(self.links.iter().map(|link| ("a link", link.capacity)))
            .chain([("the saturation exponent", self.saturation)]);
        for (what, number) in numbers {
            if !number.is_finite() || number <= 0.0 {
                return Err(FlowError::System(format!(
                    "{what} has {number}, not finite and above 0"
                )));
            }
        }
        if !self.fairness.is_finite() || self.fairness < 0.0 {
            return Err(FlowError::System(format!(
                "the fairness exponent is {}, not finite and from 0",
                self.fairness
            )));
        }
        Ok(())
    }

    /// The column of a node.
    pub(crate) fn column(&self, node: u32) -> Option<usize> {
        self.nodes.iter().position(|&known| known == node)
    }

    /// The parts that data between a cluster and a node passes and that limit it, with
    /// their capacities.
    pub(crate) fn parts_between(&self, cluster: usize, column: usize) -> Vec<(Part, f64)> {
        let path = self.path[cluster][column];
        let path = path.map(|capacity| (Part::Path { cluster, column }, capacity));
        path.into_iter().chain(self.shared_parts_between(cluster, column)).collect()
    }

    /// The same without the path, which no other pair uses.
    pub(crate) fn shared_parts_between(&self, cluster: usize, column: usize) -> Vec<(Part, f64)> {
        let controller = self.controller[column];
        let issue = self.issue[cluster];
        let links = self.links.iter().enumerate().filter(|(_, link)| {
            u32::try_from(cluster)
                .is_ok_and(|cluster| link.crosses.contains(&(cluster, self.nodes[column])))
        });
        controller
            .map(|capacity| (Part::Controller { column }, capacity))
            .into_iter()
            .chain(issue.map(|capacity| (Part::Issue { cluster }, capacity)))
            .chain(links.map(|(index, link)| (Part::Link { index }, link.capacity)))
            .collect()
    }

    /// Demand of one thread with these shares, which are its time by node, bytes/s.
    fn demand_of_one(&self, cluster: usize, shares: &[(usize, f64)]) -> f64 {
        let rates = &self.one_thread[cluster];
        1.0 / shares.iter().map(|&(column, share)| share / rates[column]).sum::<f64>()
    }

    fn shares_by_column(&self, load: &Load) -> Result<Vec<(usize, f64)>, FlowError> {
        let mut columns = Vec::new();
        for &(node, share) in &load.shares {
            let column = self
                .column(node)
                .ok_or_else(|| FlowError::Load(format!("there is no memory node {node}")))?;
            if !(0.0..=1.0 + SHARE_TOLERANCE).contains(&share) {
                return Err(FlowError::Load(format!(
                    "the share {share} of node {node} is not from 0 to 1"
                )));
            }
            if share > SMALLEST_SHARE {
                columns.push((column, share));
            }
        }
        let sum = columns.iter().fold(0.0, |sum, &(_, share)| sum + share);
        if (sum - 1.0).abs() > SHARE_TOLERANCE {
            return Err(FlowError::Load(format!("its shares add up to {sum}, not to 1")));
        }
        Ok(columns)
    }

    fn cluster(&self, load: &Load) -> Result<usize, FlowError> {
        usize::try_from(load.cluster)
            .ok()
            .filter(|&cluster| cluster < self.one_thread.len())
            .ok_or_else(|| {
                FlowError::Load(format!(
                    "there is no cluster {}; the machine has {}",
                    load.cluster,
                    self.one_thread.len()
                ))
            })
    }
}

/// What loads get together of which each sees capacities of its own (a simulated
/// machine's, by variant): the same parts, of which a byte of one load may take more than
/// a byte of another. Saturation and fairness are those of the first.
pub(crate) fn rates_together(loads: &[(&Capacities, &Load)]) -> Result<Vec<f64>, FlowError> {
    let Some((law, _)) = loads.first() else {
        return Ok(Vec::new());
    };
    // Resources stand in the order of the parts and not of the loads: where a system has several
    // solutions the order decides which is found.
    let mut indexes: BTreeMap<Part, usize> = BTreeMap::new();
    let mut parts_of_loads = Vec::new();
    for (capacities, load) in loads.iter().filter(|(_, load)| load.threads > 0) {
        let cluster = capacities.cluster(load)?;
        let shares = capacities.shares_by_column(load)?;
        let mut parts: BTreeMap<Part, f64> = BTreeMap::new();
        for &(column, share) in &shares {
            for (part, capacity) in capacities.parts_between(cluster, column) {
                indexes.insert(part, 0);
                // In fractions of the capacity that a byte/s takes.
                *parts.entry(part).or_insert(0.0) += share / capacity;
            }
        }
        let threads = f64::from(load.threads);
        let of_one = capacities.demand_of_one(cluster, &shares);
        parts_of_loads.push((threads * of_one, threads * of_one.powf(law.fairness), parts));
    }
    for (index, of_part) in indexes.values_mut().enumerate() {
        *of_part = index;
    }
    let streams = parts_of_loads
        .into_iter()
        .map(|(demand, weight, parts)| Stream {
            demand,
            weight,
            usage: parts.into_iter().map(|(part, usage)| (indexes[&part], usage)).collect(),
        })
        .collect();
    let system =
        System { capacities: vec![1.0; indexes.len()], streams, saturation: law.saturation };
    // A load without threads moves nothing.
    let mut rates = vec![0.0; loads.len()];
    let busy = loads.iter().enumerate().filter(|(_, (_, load))| load.threads > 0);
    for ((index, _), rate) in busy.zip(system.solve()?.rates) {
        rates[index] = rate;
    }
    Ok(rates)
}
