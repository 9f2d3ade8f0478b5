//! SKELETON

use nearfar_record::Experiment;

use crate::inapplicable::Inapplicable;
use crate::record_figures::RecordFigures;

/// What the model says.
#[derive(Debug, Clone, PartialEq)]
pub struct Latency {}

/// The model of a record.
///
/// # Errors
/// Where the record does not hold what the model needs.
pub fn latency(figures: &RecordFigures<'_>) -> Result<Latency, Inapplicable> {
    Err(Inapplicable::without(figures.record(), Experiment::Latency))
}
