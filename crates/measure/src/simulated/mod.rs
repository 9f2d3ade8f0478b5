//! A machine that need not exist answers the cases, on a virtual clock.

mod error;
mod executor;
mod luck;
mod run;

pub use error::SimulateError;
pub use executor::SimulatedExecutor;
pub use run::{new_record, simulate};
