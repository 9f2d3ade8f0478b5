//! SKELETON

use nearfar_record::Experiment;

use crate::inapplicable::Inapplicable;
use crate::record_figures::RecordFigures;

/// What the model says.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {}

/// The model of a record.
///
/// # Errors
/// Where the record does not hold what the model needs.
pub fn distribution(figures: &RecordFigures<'_>) -> Result<Distribution, Inapplicable> {
    Err(Inapplicable::without(figures.record(), Experiment::Scaling))
}
