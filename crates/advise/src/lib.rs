//! Where a program's threads and pages belong: candidates, what the fitted models say of each, and
//! which is worth it.
//!
//! [`advise`] is the whole of it. What it asks stands in files of their own: the program
//! (`demand.rs`), where its threads run (`team.rs`), where its pages may lie (`question.rs`,
//! `room.rs`), which placements are looked at (`search.rs`, `closed_form.rs`,
//! `fast_share.rs`, and `lone_pairs.rs` where the record lacks what the flow model needs), what is made
//! of them (`advice.rs`), and how other launchers are told (`launcher.rs`).
//! [`arrange_instances`] asks the same models what one instance gets, and several (`instances.rs`,
//! `arrangement.rs`).

mod advice;
mod arrangement;
mod candidate;
mod closed_form;
mod declared;
mod demand;
mod device;
mod fast_share;
mod instances;
mod launcher;
mod lone_pairs;
mod placing;
mod question;
mod room;
mod search;
mod side_by_side;
mod team;

pub use advice::{Advice, AdviceError, Basis, Ranking, advise, advise_each};
pub use arrangement::{Arrangement, Arrangements, DataPlace, InstanceKind, Step, StepRates};
pub use candidate::{
    AdvisingModel, Candidate, CandidateKind, Effort, LEAST_GAIN, LEAST_GAIN_WITHOUT_LOSS,
    MOST_TOLERANCE, are_alike, is_claimed, least_effort,
};
pub use declared::declared_program;
pub use demand::{Demand, DemandError, Pattern};
pub use device::{
    DeviceAdvice, DeviceAdviceError, DevicePlace, DeviceTraffic, PRACTICAL, advise_device,
};
pub use instances::{InstanceQuestion, arrange_instances};
pub use launcher::{Launcher, LauncherForm, launcher_form};
pub use lone_pairs::LonePairs;
pub use question::{
    KernelRatios, PageNode, Question, Shares, Throughput, Workers, possible_machines,
};
pub use room::{Room, room};
pub use search::Found;
pub use team::Team;
