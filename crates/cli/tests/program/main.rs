//! The program as a whole, by its command line.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod edited;
mod interruption;
mod kill;
mod models;
mod refusals;
mod simulated;
mod strangers;
mod support;
mod topologies;
