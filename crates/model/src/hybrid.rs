//! SKELETON

use nearfar_record::Experiment;

use crate::inapplicable::Inapplicable;
use crate::record_figures::RecordFigures;

/// Between which limits overlaps are fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverlapBounds {
    /// From 0 on: work beside other work does not make that faster.
    NotNegative,
    /// None, as the paper fits them.
    None,
}

/// What the model says.
#[derive(Debug, Clone, PartialEq)]
pub struct Hybrid {}

/// The model of a record.
///
/// # Errors
/// Where the record does not hold what the model needs.
pub fn hybrid(figures: &RecordFigures<'_>, _bounds: OverlapBounds) -> Result<Hybrid, Inapplicable> {
    Err(Inapplicable::without(figures.record(), Experiment::Hybrid))
}
