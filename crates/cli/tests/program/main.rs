//! The program as a whole, by its command line.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod advise;
mod answers;
mod compare;
mod edited;
mod kill;
mod model_distribution;
mod model_flow;
mod model_hybrid;
mod model_latency;
mod model_roofline;
mod model_sharing;
mod model_strategy;
mod models;
mod mutilated;
mod plugins;
mod profile;
mod refusals;
mod run;
mod run_report;
mod schema;
mod sensitivity;
mod simulated;
mod strangers;
mod support;
mod topologies;
mod written;
