//! A. Vladimirov, Terabyte RAM Servers: Memory Bandwidth Benchmark and How to Boost RAM Bandwidth
//! by 20% with a Single Command (2012): runs of STREAM's copy by threads and affinity.

mod facts;
mod rows;
mod runs;

pub use facts::{Facts, facts};
pub use runs::Runs;

use crate::error::ReproduceError;
use crate::paper::Paper;

/// The paper's key, which is the name of its file in `papers/`.
pub const KEY: &str = "vladimirov2012";

/// Works the paper's figures out from these numbers.
///
/// # Errors
/// When the numbers contradict each other, or a model refuses what they ask of it.
pub fn reproduce(facts: &Facts) -> Result<Paper, ReproduceError> {
    of_runs(facts, &Runs::measure(facts)?)
}

/// The same from runs that were measured before.
///
/// # Errors
/// When the numbers contradict each other.
pub fn of_runs(facts: &Facts, runs: &Runs) -> Result<Paper, ReproduceError> {
    let rows = rows::rows(facts, runs)?;
    Ok(Paper { key: facts.key.clone(), title: facts.title.clone(), rows })
}
