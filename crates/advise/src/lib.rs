//! Where a program's threads and pages belong: candidates, what the fitted models say of each, and
//! which is worth it.
//!
//! [`advise`] is the whole of it. What it asks stands in files of their own: the program
//! (`demand.rs`), where its threads run (`team.rs`), where its pages may lie (`question.rs`,
//! `room.rs`), which placements are looked at (`search.rs`, `closed_form.rs`,
//! `fast_share.rs`), and what is made of them (`advice.rs`).

mod advice;
mod candidate;
mod closed_form;
mod demand;
mod device;
mod fast_share;
mod placing;
mod question;
mod room;
mod search;
mod team;

pub use advice::{Advice, AdviceError, Ranking, advise};
pub use candidate::{AdvisingModel, Candidate, CandidateKind};
pub use demand::{Demand, DemandError, Pattern};
pub use device::{DeviceAdvice, DeviceAdviceError, DevicePlace, PRACTICAL, advise_device};
pub use question::{
    KernelRatios, PageNode, Question, Shares, Throughput, Workers, possible_machines,
};
pub use room::Room;
pub use search::Found;
pub use team::Team;
