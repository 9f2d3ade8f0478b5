//! What simulated machines answer: single cases by hand, the papers' tables by the experiments
//! that measure them, and every suite on every machine.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

#[path = "../support/mod.rs"]
mod support;

mod caches;
mod chases;
mod denoyelle2019;
mod overlaps;
mod placement;
mod refusals;
mod resumption;
mod saad2022;
mod single_case;
mod suites;
mod thread_limits;
mod vladimirov2012;
