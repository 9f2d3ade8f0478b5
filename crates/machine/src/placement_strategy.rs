//! The strategies by which a program's pages come to lie where they do.

use nearfar_units::words;
use serde::{Deserialize, Serialize};

/// A way to place a program's memory (ribeiro2010, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PlacementStrategy {
    /// One thread initialises all data.
    FirstTouch,
    /// Each thread initialises its part.
    ParallelInit,
    /// Page by page over all nodes.
    RoundRobin,
    /// The main data on the node of the thread that uses it.
    MemoryBind,
}

words!(PlacementStrategy);

impl PlacementStrategy {
    /// All, in the order of the paper.
    pub const ALL: [Self; 4] =
        [Self::FirstTouch, Self::ParallelInit, Self::RoundRobin, Self::MemoryBind];
}
