//! Fleets whose truth is known: what `compare` and `drift` make of them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod comparison;
mod drift;
mod folder;
mod simulated;
