//! N. Denoyelle et al., Modeling Non-Uniform Memory Access on Large Compute Nodes with the
//! Cache-Aware Roofline Model (2019): tables 1 to 6, what sections 4 and 5 say of peaks and
//! errors.

mod facts;
mod instructions;
mod machines;
mod overlap;
mod roofs;
mod validation;

pub use facts::{Facts, facts};
pub use machines::Machines;

use crate::error::ReproduceError;
use crate::paper::Paper;
use crate::row::Row;

/// The paper's key, which is the name of its file in `papers/`.
pub const KEY: &str = "denoyelle2019";

/// Works the paper's figures out from these numbers.
///
/// # Errors
/// When the numbers contradict each other, or a model refuses what they ask of it.
pub fn reproduce(facts: &Facts) -> Result<Paper, ReproduceError> {
    let mut rows = roofline_rows(facts, &Machines::measure(facts)?)?;
    rows.extend(overlap::rows(&facts.overlap_theta)?);
    Ok(Paper { key: facts.key.clone(), title: facts.title.clone(), rows })
}

/// Tables 1 to 5, and what sections 4 and 5 say of peaks and errors.
///
/// # Errors
/// When the numbers contradict each other.
pub fn roofline_rows(facts: &Facts, machines: &Machines) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = roofs::machine_rows(facts);
    for table in &facts.instructions_per_cycle {
        rows.extend(instructions::rows(facts, table, machines)?);
    }
    for table in &facts.roofs {
        rows.extend(roofs::rows(facts, table, machines)?);
    }
    rows.extend(roofs::pair_rows(&facts.pairs, machines)?);
    rows.extend(validation::rows(&facts.validation_error, machines)?);
    Ok(rows)
}
