//! Models on records of simulated machines, of papers, and drawn by lot: one program, which is built and
//! linked once.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod classes;
mod comparison;
mod distribution;
mod exchange;
mod flow;
mod hybrid;
mod latency;
mod near_far;
mod network;
mod program_time;
mod programs;
mod roofline;
mod sensitivity;
mod sharing;
mod strategy;
mod twins;
