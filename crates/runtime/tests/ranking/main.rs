//! Rankings of simulated machines against figures computed by hand and against the flow law's
//! solver.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod beside;
mod damaged;
mod example;
mod nodes;
mod places;
mod questions;
mod simulated;
