//! The papers' programs: what each computes, where its arrays lie, and whether its result is right.
//!
//! A [`Program`] plans its arrays, whose pages a strategy ([`place`]) places, and is run by a [`Team`] whose
//! threads divide every loop among them always alike.

mod arithmetic;
mod array;
mod bfs;
mod cg;
mod chase_k;
mod clock;
mod ddot;
mod dgemm;
mod elastic;
mod ep;
mod ft;
mod gups;
mod hash_join;
mod is;
mod lulesh;
mod mg;
mod nas_random;
mod navier_stokes;
mod passes;
mod pieces;
mod program;
mod proof;
mod report;
mod run;
mod scramble;
mod simulated_cache;
mod size;
mod strategy;
mod team;
mod traffic;
mod verification;
mod workload;

pub use array::{Array, ArrayPlan};
pub use bfs::{Bfs, Counting, SearchStatistics, Spread};
pub use cg::Cg;
pub use chase_k::ChaseK;
pub use clock::{Clock, Phase, Search};
pub use ddot::Ddot;
pub use dgemm::Dgemm;
pub use elastic::Elastic;
pub use ep::Ep;
pub use ft::Ft;
pub use gups::Gups;
pub use hash_join::HashJoin;
pub use is::Is;
pub use lulesh::{LuleshFill, LuleshHourglass, LuleshStress};
pub use mg::Mg;
pub use navier_stokes::{Bt, Lu, Sp};
pub use program::Program;
pub use proof::recorded_nodes;
pub use report::{LastLevelMisses, MissSource, PhaseMisses, WorkloadReport};
pub use run::{NoRun, Ran, run};
pub use simulated_cache::{LastLevelCounts, counts_of, simulating};
pub use size::Class;
pub use strategy::{ThreadNodes, place};
pub use team::{NoTeam, Team};
pub use traffic::{ArrayTraffic, PhaseTraffic};
pub use workload::{NoWorkload, Size, Workload, WorkloadFacts, WorkloadName};
