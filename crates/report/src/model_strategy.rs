//! SKELETON

use nearfar_model::Strategy;
use nearfar_record::Record;
use serde::Serialize;

use crate::measured::MeasuredView;

/// `model RECORD strategy --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StrategyView {
    /// `nearfar.strategy/1`
    pub schema: &'static str,
    /// What was measured.
    #[serde(flatten)]
    pub measured: MeasuredView,
}

impl StrategyView {
    /// The view of a record's model.
    #[must_use]
    pub fn new(record: &Record, _model: &Strategy) -> Self {
        Self { schema: "nearfar.strategy/1", measured: MeasuredView::new(record) }
    }

    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        self.measured.heading() + &self.body()
    }

    /// The model, below what it is of.
    pub(crate) fn body(&self) -> String {
        String::new()
    }
}
