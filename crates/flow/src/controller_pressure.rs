//! How local and remote loads slow each other at one memory node, where the flow law does
//! not describe it.
//!
//! ```text
//! local  = L0 / (1 + a (L0 / Lmax) (R0 / Rmax))
//! remote = R0 / (1 + b (n bL / Lmax) (R0 / Rmax))
//! ```
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | L0, R0 | what the local and the remote loads move without the others | bytes/s |
//! | Lmax, Rmax | the most that lone local and lone remote threads reach | bytes/s |
//! | n, bL | local threads, and what one of them moves alone | 1, bytes/s |
//! | a, b | the file's | 1 |
//!
//! Source: ours, found on the table of saad2022 (two Xeon E5520), where it errs by at most
//! 3 %. A remote access waits behind the queue of the local ones, which grows with their
//! number even after the local port is full; a local one is slowed by what the link
//! delivers. It has no explicit limit of the controller, so it holds where two groups meet
//! and not where many do.

use std::collections::BTreeSet;

/// A node at which local and remote loads slow each other.
#[derive(Debug, Clone, PartialEq)]
pub struct ControllerPressure {
    /// The memory node's number.
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

impl ControllerPressure {
    /// The rates in it, named.
    pub(crate) fn bests(&self) -> impl Iterator<Item = (&'static str, f64)> + use<> {
        [self.local_one, self.local_best, self.remote_best]
            .map(|rate| ("a pressure", rate))
            .into_iter()
    }

    /// The factors in it, named.
    pub(crate) fn factors(&self) -> impl Iterator<Item = (&'static str, f64)> + use<> {
        [self.a, self.b].map(|factor| ("a pressure's factor", factor)).into_iter()
    }
}
