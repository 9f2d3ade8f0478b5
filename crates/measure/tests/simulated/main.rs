//! What simulated machines answer: single cases by hand, and every suite on every machine. The
//! papers' tables, measured on them, are held by `nearfar-reproduce`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

#[path = "../support/mod.rs"]
mod support;

mod caches;
mod chases;
mod exchange;
mod overlaps;
mod placement;
mod refusals;
mod resumption;
mod single_case;
mod suites;
mod thread_limits;
