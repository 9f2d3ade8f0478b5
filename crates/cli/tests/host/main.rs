//! The program where it measures this machine, for which it holds the host's lock, and beside
//! hwloc's own programs (`make host`).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod export_topology;
mod interruption;
mod job_control;
mod launchers;
mod network;
mod own_record;
mod pressure;
mod schema;
mod support;
