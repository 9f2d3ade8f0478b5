//! What is answered. Answers keep their memory, so that one that is used again allocates nothing.

use crate::filling::Filling;

/// A place with what a task's data takes from there.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct RankedPlace {
    /// Its position in [`crate::Ranking::places`].
    pub place: usize,
    /// Time to touch all of the data once, one byte after the other, seconds. 0 without data.
    pub seconds: f64,
    /// Seconds / seconds of the best place; 1 without data.
    pub ratio: f64,
}

/// A memory node with what data takes there.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct RankedNode {
    /// Time until the slowest of the users has touched its part, seconds. 0 without data.
    pub seconds: f64,
    /// Seconds / seconds of the best node; 1 without data.
    pub ratio: f64,
    pub node: u32,
}

/// A place and a node of which the record has no figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownPair {
    /// The place, by its position in [`crate::Ranking::places`].
    pub place: usize,
    pub node: u32,
}

/// Where to run a task.
#[derive(Debug, Clone, Default)]
pub struct PlaceAnswer {
    /// Places, the best first; of equal ones the one with the lower position.
    pub ranked: Vec<RankedPlace>,
    /// Places that are absent above, each with a node of the task of which nothing is known from
    /// there; [`crate::Ranking::why_unknown`] says why.
    pub absent: Vec<UnknownPair>,
    /// Bytes by column.
    pub(crate) bytes: Vec<f64>,
    pub(crate) filling: Filling,
}

/// Where to put data.
#[derive(Debug, Clone, Default)]
pub struct NodeAnswer {
    /// Nodes, the best first; of equal ones the one with the lower number.
    pub ranked: Vec<RankedNode>,
    /// Nodes that are absent above, each with a user's place from which nothing is known of it;
    /// [`crate::Ranking::why_unknown`] says why.
    pub absent: Vec<UnknownPair>,
    pub(crate) filling: Filling,
}

/// A time or ratio that no f64 holds is the largest that one does.
pub(crate) fn within_range(value: f64) -> f64 {
    value.min(f64::MAX)
}

/// Of two times their ratio, 1 where both are nothing.
pub(crate) fn ratio(seconds: f64, best: f64) -> f64 {
    if best > 0.0 { within_range(seconds / best) } else { 1.0 }
}
