//! The capacities of a machine, and what loads on it get.
//! Units: useful bytes/s.     Source: ours; see [`crate::System`] for the law.
//!
//! Data that initiator c moves to or from memory node m passes the initiator's issue
//! limit, the path (c, m), the links on that path and the controller of m. A thread
//! alone, with nothing saturated, moves at `one_thread`.

use std::collections::BTreeSet;

use crate::controller_pressure::ControllerPressure;
use crate::demand_curve::DemandCurve;
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
    /// Links that several paths share.
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
    Path {
        /// The initiator's row.
        initiator: usize,
        /// The node's column.
        column: usize,
    },
    /// A node's memory controller.
    Controller {
        /// The node's column.
        column: usize,
    },
    /// What an initiator can issue to all nodes together.
    Issue {
        /// The initiator's row.
        initiator: usize,
    },
    /// A link that several paths share.
    Link {
        /// Its position in [`Capacities::links`].
        index: usize,
    },
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
            .chain(self.curves.iter().flat_map(DemandCurve::rates).map(|rate| ("a curve", rate)))
            .chain(self.pressure.iter().flat_map(ControllerPressure::bests))
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
            .chain(self.pressure.iter().flat_map(ControllerPressure::factors));
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
    pub fn parts_between(&self, initiator: usize, column: usize) -> Vec<(Part, f64)> {
        let path = self.path[initiator][column];
        let path = path.map(|capacity| (Part::Path { initiator, column }, capacity));
        path.into_iter().chain(self.shared_parts_between(initiator, column)).collect()
    }

    /// The same without the path, which no other pair uses.
    pub(crate) fn shared_parts_between(&self, initiator: usize, column: usize) -> Vec<(Part, f64)> {
        let controller = self.controller[column];
        let issue = self.issue[initiator];
        let links = self.links.iter().enumerate().filter(|(_, link)| {
            u32::try_from(initiator)
                .is_ok_and(|initiator| link.crosses.contains(&(initiator, self.nodes[column])))
        });
        controller
            .map(|capacity| (Part::Controller { column }, capacity))
            .into_iter()
            .chain(issue.map(|capacity| (Part::Issue { initiator }, capacity)))
            .chain(links.map(|(index, link)| (Part::Link { index }, link.capacity)))
            .collect()
    }

    /// Demand of one of so many threads on a pair, bytes/s. Threads that are there for a part
    /// of their time count by that part.
    pub(crate) fn demand_of_one(&self, initiator: usize, column: usize, threads: f64) -> f64 {
        let place = (u32::try_from(initiator).unwrap_or(u32::MAX), self.nodes[column]);
        match self.curves.binary_search_by_key(&place, DemandCurve::place) {
            Ok(position) => self.curves[position].of_one(threads),
            Err(_) => self.one_thread[initiator][column],
        }
    }
}
