//! SKELETON

use nearfar_record::Experiment;

use crate::inapplicable::Inapplicable;
use crate::record_figures::RecordFigures;

/// What the model says.
#[derive(Debug, Clone, PartialEq)]
pub struct Sharing {}

/// The model of a record.
///
/// # Errors
/// Where the record does not hold what the model needs.
pub fn sharing(figures: &RecordFigures<'_>) -> Result<Sharing, Inapplicable> {
    Err(Inapplicable::without(figures.record(), Experiment::Sharing))
}
