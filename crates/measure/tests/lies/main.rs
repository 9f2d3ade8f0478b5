//! Planted lies: a busy CPU, a stopped process, moved threads, data that somebody wrote
//! over, an executor that counts wrongly, a record that was edited. Each is caught by the
//! program's own checks, and its honest twin is not. Loops and clocks that lie are planted in
//! `src/native/lies.rs`, lies that need several nodes in guests (`crates/cli/tests/guests`);
//! docs/measuring.md lists all.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod edited;
mod executor;
mod native;
mod outside;
mod seals;
