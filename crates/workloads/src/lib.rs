//! The papers' programs: what each computes, where its arrays lie, and whether its result is right.
//!
//! A [`Program`] plans its arrays, whose pages a [`Strategy`] places, and is run by a [`Team`] whose
//! threads divide every loop among them always alike.

mod array;
mod cg;
mod clock;
mod ep;
mod nas_random;
mod program;
mod proof;
mod report;
mod run;
mod size;
mod strategy;
mod team;
mod traffic;
mod verification;
mod workload;

pub use array::{Array, ArrayPlan};
pub use cg::Cg;
pub use clock::{Clock, Phase};
pub use ep::Ep;
pub use program::Program;
pub use proof::recorded_nodes;
pub use report::WorkloadReport;
pub use run::{NoRun, run};
pub use size::Class;
pub use strategy::{ThreadNodes, place};
pub use team::{NoTeam, Team};
pub use traffic::{ArrayTraffic, PhaseTraffic};
pub use workload::{NoWorkload, Size, Workload, WorkloadFacts, WorkloadName};
