//! Which of four ways to place a program's memory to expect to win.
//!
//! | strategy | where pages go | threads |
//! | --- | --- | --- |
//! | first-touch | one thread initialises all data: all on its node | not pinned |
//! | parallel-init | each thread initialises its part: on its node | not pinned |
//! | round-robin | page by page over all nodes | pinned |
//! | memory-bind | main data on the node of the thread that uses it, pages follow another | pinned |
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | t | time of a thread for a line of data, the whole machine at work | ns |
//! | own, remote, central, spread | t where the line is on the thread's own node, on another, with all threads on one node, over all nodes | ns |
//! | regular | each thread keeps to its part of the data | |
//! | irregular | threads access all data in random order | |
//!
//! Equations in `strategy/placement_time.rs`, what they take from a record in
//! `strategy/line_costs.rs`.
//! Source: the strategies, the two kinds of access and the findings are those of ribeiro2010;
//! the equations and the values of [`PARAMETERS`] are ours: the paper has none.
//! Holds when: memory is what the program waits for, with a thread on every core; gains are of
//! the time in memory.
//! Fails when: caches hold the data, few threads run, or threads of a regular program do unequal
//! work. It says which strategy wins; by how much only within the interval.
//! Pinned by `crates/model/tests/strategy` and `crates/reproduce/tests/wrong_numbers.rs`.

mod expectation;
mod line_costs;
mod placement_time;

pub use expectation::{Expectation, LEAST_GAIN, StrategyTime, StrategyVerdict};
pub use line_costs::{Basis, LineCost, LineCosts, StrategyInitiator};
pub use placement_time::{Access, PARAMETERS, Parameter, Parameters};

use nearfar_machine::{Binding, MemoryPolicy, PlacementStrategy};
use serde::Serialize;

use crate::inapplicable::Inapplicable;
use crate::record_figures::RecordFigures;

/// Which way to place memory is expected to win, of the four of ribeiro2010.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Strategy {
    /// What a line costs by where it lies.
    pub costs: LineCosts,
    /// What the equations need and no record holds.
    pub parameters: [Parameter; 6],
    /// Where each thread keeps to its part of the data.
    pub regular: Expectation,
    /// Where threads access all data in random order.
    pub irregular: Expectation,
    /// The share of regular accesses to data that was not placed from which on round-robin beats
    /// memory-bind; null where it does for none, or for any.
    pub break_even_share: Option<f64>,
    /// The same where which of both is ahead hangs on it: nothing is decided, and shares to both
    /// sides of it are tried.
    pub deciding_share: Option<f64>,
    /// Time of round-robin / that of memory-bind - 1, for regular accesses to data that was all
    /// placed.
    pub placed_margin: f64,
    /// The binding that interleaves pages over all nodes.
    pub interleave: Binding,
    /// What to do.
    pub advice: Vec<StrategyAdvice>,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum StrategyAdvice {
    /// Place all regular data as memory-bind does, which is then ahead of round-robin.
    PlaceRegular,
    /// Take what is expected to be the fastest for this kind of access.
    TakeFastest { access: Access },
    /// Interleave regular data after all where more than this share of its accesses goes to data
    /// that was not placed.
    InterleaveAbove { share: f64 },
    /// Not bind: interleaved pages are as fast as own ones.
    SpareBinding,
    /// Not interleave: however much of the regular data is not placed, it gains nothing.
    SpareInterleaving,
}

impl Strategy {
    pub fn of(&self, access: Access) -> &Expectation {
        match access {
            Access::Regular => &self.regular,
            Access::Irregular => &self.irregular,
        }
    }

    /// Whether data that was all placed is faster for regular accesses than interleaved data, by
    /// more than noise and [`LEAST_GAIN`].
    pub fn is_placing_faster(&self) -> bool {
        self.placed_margin >= LEAST_GAIN.max(self.regular.noise)
    }
}

/// Which strategy to expect to win on a record's machine.
///
/// # Errors
/// On one memory node, and where the record lacks latencies or bandwidths.
pub fn strategy(figures: &RecordFigures<'_>) -> Result<Strategy, Inapplicable> {
    let costs = line_costs::line_costs(figures)?;
    let regular = expectation::expectation(&costs, Access::Regular);
    let break_even_share = placement_time::break_even_share(&costs);
    let tried = Parameters::UNPLACED_SHARE;
    let is_tried = |share: &f64| tried.least < *share && *share < tried.most;
    let initiators = &costs.initiators;
    let mut model = Strategy {
        parameters: PARAMETERS,
        irregular: expectation::expectation(&costs, Access::Irregular),
        break_even_share,
        deciding_share: break_even_share.filter(|share| !regular.is_decided() && is_tried(share)),
        regular,
        placed_margin: placement_time::placed_margin(&costs),
        interleave: Binding {
            cpus: initiators.iter().flat_map(|initiator| initiator.binding.cpus.iter()).collect(),
            memory: MemoryPolicy::Interleave(
                initiators.iter().map(|initiator| initiator.memory_node).collect(),
            ),
        },
        costs,
        advice: Vec::new(),
    };
    model.advice = advice(&model);
    Ok(model)
}

fn advice(model: &Strategy) -> Vec<StrategyAdvice> {
    let is_interleaved = model.regular.best().strategy == PlacementStrategy::RoundRobin;
    let share = model.break_even_share;
    let regular = match is_interleaved && share.is_some() && model.is_placing_faster() {
        true => StrategyAdvice::PlaceRegular,
        false => StrategyAdvice::TakeFastest { access: Access::Regular },
    };
    let condition = match share {
        Some(share) => StrategyAdvice::InterleaveAbove { share },
        None if is_interleaved => StrategyAdvice::SpareBinding,
        None => StrategyAdvice::SpareInterleaving,
    };
    vec![regular, StrategyAdvice::TakeFastest { access: Access::Irregular }, condition]
}
