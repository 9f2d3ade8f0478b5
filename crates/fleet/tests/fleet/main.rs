//! Fleets whose truth is known: what `compare` and `drift` make of them.

mod comparison;
mod drift;
mod folder;
mod simulated;
