//! What is asked: data, who touches it, and what else runs. Why a question has no answer.

use crate::answer::UnknownPair;

/// Data of a task on a memory node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Touched {
    /// Bytes that the task reads or writes there; data that is gone through twice counts twice.
    /// With 0 the node counts for nothing.
    pub bytes: u64,
    /// The node, by the system's number.
    pub node: u32,
}

/// Threads that run already.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Running {
    /// Where, by its position in [`crate::Ranking::places`].
    pub place: usize,
    /// How many, at most [`MOST_THREADS`]. A thread that spends half of its time on the node
    /// counts 0.5.
    pub threads: f64,
    /// The node that they access.
    pub node: u32,
}

/// Threads that will touch data together.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct User {
    /// Where they run, by its position in [`crate::Ranking::places`].
    pub place: usize,
    /// How many, above 0 and at most [`MOST_THREADS`].
    pub threads: f64,
    /// Bytes that they touch, all of them together. With 0 they count for nothing.
    pub bytes: u64,
}

/// More threads than any machine runs; beyond it a number is taken for a mistake.
pub const MOST_THREADS: f64 = 1e6;

/// Why a question has no answer.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum RankError {
    #[error("the machine of the record has no memory node {node}")]
    NoNode { node: u32 },
    #[error("there is no place {place}: the record has {places}, counted from 0")]
    NoPlace {
        place: usize,
        /// How many there are.
        places: usize,
    },
    #[error(
        "{threads} is no number of threads: give one from 0 (users: above 0) to {MOST_THREADS}"
    )]
    Threads { threads: f64 },
    #[error(
        "several threads at once need the flow model, which this ranking was made without; make it \
         with the model, from a record of the suite standard"
    )]
    NoFlow,
    #[error(
        "threads run at place {} on node {}, a pair of which the record has no figures",
        .0.place, .0.node
    )]
    UnknownRunning(UnknownPair),
}
