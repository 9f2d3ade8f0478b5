//! SKELETON

use nearfar_record::Experiment;

use crate::inapplicable::Inapplicable;
use crate::record_figures::RecordFigures;

/// What the model says.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {}

/// The model of a record.
///
/// # Errors
/// Where the record does not hold what the model needs.
pub fn flow(figures: &RecordFigures<'_>) -> Result<Flow, Inapplicable> {
    Err(Inapplicable::without(figures.record(), Experiment::Mixes))
}
