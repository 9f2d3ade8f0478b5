//! SKELETON

use nearfar_record::Experiment;

use crate::inapplicable::Inapplicable;
use crate::record_figures::RecordFigures;

/// What the model says.
#[derive(Debug, Clone, PartialEq)]
pub struct Strategy {}

/// The model of a record.
///
/// # Errors
/// Where the record does not hold what the model needs.
pub fn strategy(figures: &RecordFigures<'_>) -> Result<Strategy, Inapplicable> {
    Err(Inapplicable::without(figures.record(), Experiment::Latency))
}
