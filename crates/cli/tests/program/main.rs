//! The program as a whole, by its command line.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod interruption;
mod refusals;
mod support;
mod topologies;
