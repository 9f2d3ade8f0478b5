//! The capacities of a machine, and what loads on it get.
//! Units: useful bytes/s.     Source: ours; see [`crate::System`] for the law.
//!
//! Data that initiator c moves to or from memory node m passes the initiator's issue
//! limit, the path (c, m), the links on that path and the controller of m. A thread
//! alone, with nothing saturated, moves at `one_thread`.

use std::collections::BTreeSet;

use crate::error::FlowError;

/// What each part of a machine can carry. Rows are initiators by their index, columns
/// memory nodes in the order of `nodes`. `None` is a part that limits nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacities {
    /// The memory nodes' numbers, in the order of the columns.
    pub nodes: Vec<u32>,
    /// Demand of one thread of an initiator on a node, bytes/s.
    pub one_thread: Vec<Vec<f64>>,
    /// What the path from an initiator to a node carries, bytes/s.
    pub path: Vec<Vec<Option<f64>>>,
    /// Pairs whose demand is not that of one thread times the threads, in ascending order
    /// of initiator and node.
    pub curves: Vec<DemandCurve>,
    /// What each node's memory controller serves, bytes/s.
    pub controller: Vec<Option<f64>>,
    /// What a controller loses when several initiators use it: with k of them it serves
    /// 1 / (1 + i (k - 1)) of its capacity. k is (sum D)^2 / sum D^2 of their demands D, so
    /// that one that asks for little counts for little. From 0.
    pub interference: Vec<f64>,
    /// What each initiator can issue to all nodes together, bytes/s.
    pub issue: Vec<Option<f64>>,
    pub links: Vec<SharedLink>,
    /// Nodes where local and remote loads slow each other by the pressure law.
    pub pressure: Vec<ControllerPressure>,
    /// How hard parts saturate: the exponent p, above 0. At 25 a part offered its capacity
    /// carries 97 % of it, which no measurement tells from a hard limit.
    pub saturation: f64,
    /// Whom a saturated part favours: 0 gives each thread the same, 1 gives in proportion
    /// to demand, between them in between.
    pub fairness: f64,
}

/// A link between parts of a machine that several paths share, one way.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedLink {
    pub name: String,
    /// What it carries, bytes/s.
    pub capacity: f64,
    /// The paths over it: initiator index and node number.
    pub crosses: BTreeSet<(u32, u32)>,
}

/// A part of a machine that can saturate. Initiators are rows, columns memory nodes in the order
/// of [`Capacities::nodes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The path from an initiator to a node.
    Path { initiator: usize, column: usize },
    /// A node's memory controller.
    Controller { column: usize },
    /// What an initiator can issue to all nodes together.
    Issue { initiator: usize },
    /// A link that several paths share, by its position in [`Capacities::links`].
    Link { index: usize },
}

impl Capacities {
    /// Whether rows and columns agree and every number is finite and above 0 (the
    /// fairness: from 0).
    ///
    /// # Errors
    /// [`FlowError::System`] with the first thing that is wrong.
    pub fn check(&self) -> Result<(), FlowError> {
        let initiators = self.one_thread.len();
        let columns = self.nodes.len();
        let of_initiators = self.path.len() == initiators && self.issue.len() == initiators;
        let wide = self.one_thread.iter().all(|row| row.len() == columns)
            && self.path.iter().all(|row| row.len() == columns);
        let of_nodes = self.controller.len() == columns && self.interference.len() == columns;
        if !of_initiators || !wide || !of_nodes {
            return Err(FlowError::System(format!(
                "not every table has {initiators} initiators and {columns} nodes"
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
            .chain(self.curves.iter().flat_map(|it| &it.demand).map(|&(_, rate)| ("a curve", rate)))
            .chain(self.pressure.iter().flat_map(|it| {
                [it.local_one, it.local_best, it.remote_best].map(|rate| ("a pressure", rate))
            }))
            .chain([("the saturation exponent", self.saturation)]);
        for (what, number) in numbers {
            if !number.is_finite() || number <= 0.0 {
                return Err(FlowError::System(format!(
                    "{what} has {number}, not finite and above 0"
                )));
            }
        }
        let from_zero = [("the fairness exponent", self.fairness)]
            .into_iter()
            .chain(self.interference.iter().map(|&share| ("an interference", share)))
            .chain(
                self.pressure
                    .iter()
                    .flat_map(|it| [it.a, it.b].map(|factor| ("a pressure's factor", factor))),
            );
        for (what, number) in from_zero {
            if !number.is_finite() || number < 0.0 {
                return Err(FlowError::System(format!(
                    "{what} is {number}, not finite and from 0"
                )));
            }
        }
        self.check_curves()
    }

    /// Curves are looked up by halves, so their order matters.
    fn check_curves(&self) -> Result<(), FlowError> {
        let known = |curve: &DemandCurve| {
            let initiator = usize::try_from(curve.initiator).unwrap_or(usize::MAX);
            initiator < self.one_thread.len() && self.column(curve.node).is_some()
        };
        let places: Vec<(u32, u32)> = self.curves.iter().map(DemandCurve::place).collect();
        if self.curves.iter().all(|curve| known(curve) && curve.is_ordered())
            && places.is_sorted_by(|before, after| before < after)
        {
            Ok(())
        } else {
            Err(FlowError::System(
                "a demand curve names a pair that there is not, is empty, or is out of order"
                    .into(),
            ))
        }
    }

    pub(crate) fn column(&self, node: u32) -> Option<usize> {
        self.nodes.iter().position(|&known| known == node)
    }

    /// The parts that data between an initiator and a node passes and that limit it, with
    /// their capacities, bytes/s; rows and columns must be of these tables.
    pub fn parts_between(
        &self,
        initiator: usize,
        column: usize,
    ) -> impl Iterator<Item = (Part, f64)> {
        let path = self.path[initiator][column];
        let path = path.map(|capacity| (Part::Path { initiator, column }, capacity));
        path.into_iter().chain(self.shared_parts_between(initiator, column))
    }

    /// The same without the path, which no other pair uses.
    pub(crate) fn shared_parts_between(
        &self,
        initiator: usize,
        column: usize,
    ) -> impl Iterator<Item = (Part, f64)> {
        let controller = self.controller[column];
        let issue = self.issue[initiator];
        let links = self.links.iter().enumerate().filter(move |(_, link)| {
            u32::try_from(initiator)
                .is_ok_and(|initiator| link.crosses.contains(&(initiator, self.nodes[column])))
        });
        controller
            .map(|capacity| (Part::Controller { column }, capacity))
            .into_iter()
            .chain(issue.map(|capacity| (Part::Issue { initiator }, capacity)))
            .chain(links.map(|(index, link)| (Part::Link { index }, link.capacity)))
    }

    /// Demand of one of `threads` threads on a pair, bytes/s. Threads that are there for a part
    /// of their time count by that part.
    pub(crate) fn demand_of_one(
        &self,
        initiator: usize,
        column: usize,
        threads: impl FnOnce() -> f64,
    ) -> f64 {
        let place = (u32::try_from(initiator).unwrap_or(u32::MAX), self.nodes[column]);
        match self.curves.binary_search_by_key(&place, DemandCurve::place) {
            Ok(position) => self.curves[position].of_one(threads()),
            Err(_) => self.one_thread[initiator][column],
        }
    }
}

/// Demand of the threads of an initiator on a node, by their number. Between the numbers
/// that it holds it is interpolated linearly; beyond the last it stays.
#[derive(Debug, Clone, PartialEq)]
pub struct DemandCurve {
    pub initiator: u32,
    pub node: u32,
    /// Threads, ascending from 1, and what they ask for together, bytes/s.
    pub demand: Vec<(u32, f64)>,
}

impl DemandCurve {
    pub(crate) fn place(&self) -> (u32, u32) {
        (self.initiator, self.node)
    }

    /// Whether it begins at one thread and goes upwards.
    pub(crate) fn is_ordered(&self) -> bool {
        self.demand.first().is_some_and(|&(threads, _)| threads == 1)
            && self.demand.is_sorted_by(|before, after| before.0 < after.0)
    }

    /// What one of `threads` threads asks for, bytes/s.
    pub(crate) fn of_one(&self, threads: f64) -> f64 {
        let threads = threads.max(1.0);
        let after = self.demand.partition_point(|&(known, _)| f64::from(known) <= threads);
        let together = match (self.demand.get(after.wrapping_sub(1)), self.demand.get(after)) {
            (Some(&(from, low)), Some(&(to, high))) => {
                let part = (threads - f64::from(from)) / (f64::from(to) - f64::from(from));
                low + part * (high - low)
            }
            (Some(&(_, last)), None) => last,
            (None, next) => next.map_or(f64::NAN, |&(_, first)| first * threads),
        };
        together / threads
    }
}

/// A node at which local and remote loads slow each other, where the flow law does not describe it.
///
/// ```text
/// local  = L0 / (1 + a (L0 / Lmax) (R0 / Rmax))
/// remote = R0 / (1 + b (n bL / Lmax) (R0 / Rmax))
/// ```
///
/// | symbol | meaning | unit |
/// | --- | --- | --- |
/// | L0, R0 | what the local and the remote loads move without the others | bytes/s |
/// | Lmax, Rmax | the most that lone local and lone remote threads reach | bytes/s |
/// | n, bL | local threads, and what one of them moves alone | 1, bytes/s |
/// | a, b | the file's | 1 |
///
/// Source: ours, found on the table of saad2022 (two Xeon E5520), where it errs by at most
/// 3 %. A remote access waits behind the queue of the local ones, which grows with their
/// number even after the local port is full; a local one is slowed by what the link
/// delivers. It has no explicit limit of the controller, so it holds where two groups meet
/// and not where many do.
#[derive(Debug, Clone, PartialEq)]
pub struct ControllerPressure {
    pub node: u32,
    /// The initiators that it is local to.
    pub local: BTreeSet<u32>,
    /// a: how much the local loads are slowed.
    pub a: f64,
    /// b: how much the remote loads are slowed.
    pub b: f64,
    /// bL: one local thread alone, bytes/s.
    pub local_one: f64,
    /// Lmax: the most that the threads of one local initiator reach alone, bytes/s.
    pub local_best: f64,
    /// Rmax: the most that the threads of one remote initiator reach alone, bytes/s.
    pub remote_best: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_its_points_and_what_lies_between() {
        let demand = vec![(1, 8.0), (3, 12.0), (4, 10.0)];
        let curve = DemandCurve { initiator: 0, node: 0, demand };
        for (threads, together) in [
            (0.25, 2.0),
            (1.0, 8.0),
            (2.0, 10.0),
            (3.0, 12.0),
            (3.5, 11.0),
            (4.0, 10.0),
            (9.0, 10.0),
        ] {
            let ours = curve.of_one(threads) * threads;
            assert!((ours - together).abs() < 1e-12, "{threads}: {ours}");
        }
        assert!(curve.is_ordered());
        assert!(!DemandCurve { demand: vec![(2, 1.0)], ..curve.clone() }.is_ordered());
        assert!(!DemandCurve { demand: vec![(1, 1.0), (1, 1.0)], ..curve }.is_ordered());
    }
}
