//! SKELETON

use nearfar_model::Hybrid;
use nearfar_record::Record;
use serde::Serialize;

use crate::measured::MeasuredView;

/// `model RECORD hybrid --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HybridModelView {
    /// `nearfar.hybrid/1`
    pub schema: &'static str,
    /// What was measured.
    #[serde(flatten)]
    pub measured: MeasuredView,
}

impl HybridModelView {
    /// The view of a record's model.
    #[must_use]
    pub fn new(record: &Record, _model: &Hybrid) -> Self {
        Self { schema: "nearfar.hybrid/1", measured: MeasuredView::new(record) }
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
