//! The program as a whole, by its command line.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod advise;
mod cached_files;
mod continued;
mod contract;
mod field_tables;
mod figures;
mod fleet;
mod golden;
mod interrupted;
mod kill;
mod model_roofline;
mod move_memory;
mod mutated;
mod mutilated;
mod plugins;
mod profile;
mod ps;
mod published;
mod readme;
mod records;
mod remedies;
mod run;
mod run_instances;
mod run_programs;
mod run_report;
mod run_trees;
mod schema;
mod schema_text;
mod serve;
mod shared_records;
mod strangers;
mod support;
mod this_machine;
mod workload;
mod written;
