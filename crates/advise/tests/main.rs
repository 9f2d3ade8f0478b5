//! What is advised: placements, instances, devices, launchers; one program, which is built and linked once.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod answers;
mod instances;
mod language_models;
mod launchers;
mod near_adapter;
mod near_device;
mod placements;
