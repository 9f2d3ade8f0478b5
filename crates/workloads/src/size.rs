//! Sizes of problems.

use nearfar_units::words;
use serde::{Deserialize, Serialize};

/// A size of the NAS Parallel Benchmarks: S for a sample, W for a workstation, A to C for machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Class {
    S,
    W,
    A,
    B,
    C,
}

words!(Class);

impl Class {
    /// All, the smallest first.
    pub const ALL: [Self; 5] = [Self::S, Self::W, Self::A, Self::B, Self::C];
}
