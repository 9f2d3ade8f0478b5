//! Time of a thread for a line under each strategy.
//!
//! ```text
//! t(where)      = max(latency(where) / f, transfer(where))
//!
//!                 regular                                  irregular
//! first-touch     central                                  central
//! parallel-init   s central + (1-s) ((1-d) own + d remote) h central + (1-h) spread
//! round-robin     spread                                   spread
//! memory-bind     s central + (1-s) own                    s central + (1-s) (1+g) spread
//! ```
//!
//! f, s, d, h, g: [`PARAMETERS`]. Times add up, because a program goes over one array after the
//! other. Irregular accesses to data that was dealt out in blocks meet in one block at a time, in h
//! of them; pages that follow whoever used them last end up anywhere, which is as good as in turn
//! and costs the moves. Source: ours, after the words of ribeiro2010.

use nearfar_machine::PlacementStrategy;
use serde::Serialize;

use super::line_costs::LineCosts;

/// How threads go over the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Each keeps to its part.
    Regular,
    /// All over all data, in no order.
    Irregular,
}

/// What the equations need and no record holds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parameter {
    /// Its name.
    #[serde(rename = "parameter")]
    pub name: &'static str,
    /// The least that is tried.
    pub least: f64,
    pub expected: f64,
    /// The most that is tried.
    pub most: f64,
}

/// A value for each of [`PARAMETERS`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// f of regular accesses.
    pub regular_in_flight: f64,
    /// f of irregular accesses.
    pub irregular_in_flight: f64,
    /// s.
    pub unplaced_share: f64,
    /// d.
    pub moved_share: f64,
    /// h.
    pub hot_share: f64,
    /// g.
    pub migration_cost: f64,
}

/// f: lines under way of one thread; a core prefetches ten or so, of loads that wait for indices
/// some are under way. s: share of the accesses to data that was not placed: initialised by one
/// thread, or not bound; it begins at 0, as a program can place all. d: share of the accesses that
/// a thread which is not pinned makes from another node. h: share of irregular accesses that meet
/// in one block. g: what moving pages adds, which is never nothing.
/// All ours. Which strategy is ahead can hang on s: see [`super::Strategy::break_even_share`].
pub const PARAMETERS: [Parameter; 6] = [
    Parameter { name: "regular_in_flight", least: 5.0, expected: 10.0, most: 20.0 },
    Parameter { name: "irregular_in_flight", least: 1.0, expected: 2.0, most: 4.0 },
    Parameter { name: "unplaced_share", least: 0.0, expected: 0.1, most: 0.2 },
    Parameter { name: "moved_share", least: 0.02, expected: 0.05, most: 0.1 },
    Parameter { name: "hot_share", least: 0.1, expected: 0.25, most: 0.5 },
    Parameter { name: "migration_cost", least: 0.05, expected: 0.1, most: 0.3 },
];

impl Parameters {
    /// Of [`PARAMETERS`] the share on which the winner can hang.
    pub const UNPLACED_SHARE: Parameter = PARAMETERS[2];

    pub const EXPECTED: Self = Self::from_values([
        PARAMETERS[0].expected,
        PARAMETERS[1].expected,
        PARAMETERS[2].expected,
        PARAMETERS[3].expected,
        PARAMETERS[4].expected,
        PARAMETERS[5].expected,
    ]);

    /// In the order of [`PARAMETERS`].
    pub const fn from_values(values: [f64; 6]) -> Self {
        Self {
            regular_in_flight: values[0],
            irregular_in_flight: values[1],
            unplaced_share: values[2],
            moved_share: values[3],
            hot_share: values[4],
            migration_cost: values[5],
        }
    }

    /// Each parameter at its least, expected and most, in every combination.
    pub fn grid() -> impl Iterator<Item = Self> {
        (0..3_usize.pow(6)).map(|number| {
            let mut rest = number;
            Self::from_values(PARAMETERS.map(|parameter| {
                let choice = rest % 3;
                rest /= 3;
                [parameter.least, parameter.expected, parameter.most][choice]
            }))
        })
    }
}

impl LineCosts {
    /// Time of a thread for a line, ns.
    pub fn time(&self, strategy: PlacementStrategy, access: Access, with: &Parameters) -> f64 {
        let Parameters {
            unplaced_share: s, moved_share: d, hot_share: h, migration_cost: g, ..
        } = *with;
        let in_flight = match access {
            Access::Regular => with.regular_in_flight,
            Access::Irregular => with.irregular_in_flight,
        };
        let [own, remote, central, spread] =
            [self.own, self.remote, self.central, self.spread].map(|cost| cost.ns(in_flight));
        match (strategy, access) {
            (PlacementStrategy::FirstTouch, _) => central,
            (PlacementStrategy::RoundRobin, _) => spread,
            (PlacementStrategy::ParallelInit, Access::Regular) => {
                s * central + (1.0 - s) * ((1.0 - d) * own + d * remote)
            }
            (PlacementStrategy::MemoryBind, Access::Regular) => s * central + (1.0 - s) * own,
            (PlacementStrategy::ParallelInit, Access::Irregular) => {
                h * central + (1.0 - h) * spread
            }
            (PlacementStrategy::MemoryBind, Access::Irregular) => {
                s * central + (1.0 - s) * (1.0 + g) * spread
            }
        }
    }
}

/// [`super::Strategy::break_even_share`].
pub(super) fn break_even_share(costs: &LineCosts) -> Option<f64> {
    let in_flight = Parameters::EXPECTED.regular_in_flight;
    let [own, central, spread] =
        [costs.own, costs.central, costs.spread].map(|cost| cost.ns(in_flight));
    let share = (spread - own) / (central - own);
    (central > own && share > 0.0 && share < 1.0).then_some(share)
}

/// [`super::Strategy::placed_margin`].
pub(super) fn placed_margin(costs: &LineCosts) -> f64 {
    let in_flight = Parameters::EXPECTED.regular_in_flight;
    costs.spread.ns(in_flight) / costs.own.ns(in_flight) - 1.0
}
