//! What the experiments ask of machines: cases by hand on small ones, and what must hold on any.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod any_machine;
mod devices;
mod exchange;
mod hybrid;
mod latency;
mod links;
mod machines;
mod mixes;
mod network;
mod pairs;
mod roofs;
mod scaling;
mod sharing;
