//! By what a cell falls short of its twins, and which cells are compared.

use serde::Serialize;

/// A cell that is below its twins by less is sound: machines differ by so much from
/// one part to another.
pub const FLOOR: f64 = 0.03;
/// A cell falls short at this many standard deviations below its twins. Together
/// with [`FEWEST_CELLS`] it keeps false alarms below 1 % of records
/// (`tests/twins/false_alarms.rs` draws them).
pub const SCORE: f64 = 4.0;
/// So many cells must fall short together: a fault shows with several kernels.
pub const FEWEST_CELLS: usize = 2;
/// The only cell of a part falls short at this many standard deviations below its twins.
pub const SCORE_OF_ONE: f64 = 8.0;
/// A part's only cell with all its threads, where other cells of it have fewer, falls short by
/// [`SCORE_OF_ONE`] and where its best round is this fraction below its twins.
pub const FLOOR_UNCONFIRMED: f64 = 0.06;
/// Fewer rounds say too little of a cell's noise.
pub const FEWEST_ROUNDS: usize = 3;
/// Parts that are named at most; a machine with more faults is no sum of sound parts.
pub const MOST_FINDINGS: usize = 64;

/// Why a cell was not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NotCompared {
    /// No other cell should be equal to it.
    NoTwin,
    /// It has fewer than [`FEWEST_ROUNDS`] undisturbed rounds.
    FewRounds,
    /// It was refused, or moved no bytes.
    NoFigure,
}
