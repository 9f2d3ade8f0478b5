//! SKELETON

mod facts;

pub use facts::{Facts, facts};

use crate::error::ReproduceError;
use crate::paper::Paper;

/// The paper's key, which is the name of its file in `papers/`.
pub const KEY: &str = "vladimirov2012";

/// Works the paper's figures out from these numbers.
///
/// # Errors
/// When the numbers contradict each other, or a model refuses what they ask of it.
pub fn reproduce(facts: &Facts) -> Result<Paper, ReproduceError> {
    Ok(Paper { key: facts.key.clone(), title: facts.title.clone(), rows: Vec::new() })
}
