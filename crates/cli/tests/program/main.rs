//! The program as a whole, by its command line.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod interruption;
mod models;
mod refusals;
mod simulated;
mod support;
mod topologies;
