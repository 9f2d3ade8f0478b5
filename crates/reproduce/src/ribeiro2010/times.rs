//! Times of the strategies for each share of accesses to data that was not placed.
//!
//! What the programs of the paper placed is not known, and an order can hang on it. An order counts
//! only where the model has it with every share that it tries: a row is of the share that is least
//! favourable to what the paper prints.

use nearfar_machine::PlacementStrategy;
use nearfar_model::{Access, LineCosts, PARAMETERS, Parameters};

use super::facts::AccessName;

/// Times of the strategies for one kind of access.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times<'m> {
    costs: &'m LineCosts,
    access: Access,
}

impl<'m> Times<'m> {
    pub(super) fn new(costs: &'m LineCosts, access: AccessName) -> Self {
        let access = match access {
            AccessName::Regular => Access::Regular,
            AccessName::Irregular => Access::Irregular,
        };
        Self { costs, access }
    }

    /// Time of a strategy with this many accesses to data that was not placed; all else as expected.
    pub(super) fn ns(&self, strategy: PlacementStrategy, unplaced_share: f64) -> f64 {
        let with = Parameters { unplaced_share, ..Parameters::EXPECTED };
        self.costs.time(strategy, self.access, &with)
    }

    /// By how much one is faster than another, percent.
    pub(super) fn gain(
        &self,
        better: PlacementStrategy,
        than: PlacementStrategy,
        unplaced_share: f64,
    ) -> f64 {
        percent(self.ns(than, unplaced_share), self.ns(better, unplaced_share))
    }

    /// By how much one is faster than the fastest of the others, percent.
    pub(super) fn gain_over_others(&self, better: PlacementStrategy, unplaced_share: f64) -> f64 {
        let others = PlacementStrategy::ALL.into_iter().filter(|&other| other != better);
        others.map(|than| self.gain(better, than, unplaced_share)).fold(f64::INFINITY, f64::min)
    }
}

/// What is least favourable to a printed value of this sign, over the shares that are tried.
pub(super) fn least_favourable(printed: f64, ours: impl Fn(f64) -> f64) -> f64 {
    let values = shares().map(ours);
    if printed < 0.0 {
        values.into_iter().fold(f64::NEG_INFINITY, f64::max)
    } else {
        values.into_iter().fold(f64::INFINITY, f64::min)
    }
}

/// The least, the expected and the most share that is tried.
pub(super) fn shares() -> [f64; 3] {
    let share = PARAMETERS.iter().find(|of| of.name == "unplaced_share");
    let expected = Parameters::EXPECTED.unplaced_share;
    share.map_or([expected; 3], |of| [of.least, of.expected, of.most])
}

/// By how much a time is longer than another, percent.
pub(super) fn percent(longer: f64, shorter: f64) -> f64 {
    (longer / shorter - 1.0) * 100.0
}
