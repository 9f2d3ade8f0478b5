//! A machine that need not exist answers the cases, on a virtual clock.

mod answers;
mod chase_latency;
mod error;
mod executor;
mod hand_over;
mod luck;
mod page_shares;
mod run;
mod samples;
mod streams;
mod thread_limit;
mod workload;

pub use error::SimulateError;
pub use executor::SimulatedExecutor;
pub use run::{new_record, simulate, with_devices};
