//! SKELETON

use nearfar_model::Latency;
use nearfar_record::Record;
use serde::Serialize;

use crate::measured::MeasuredView;

/// `model RECORD latency --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LatencyModelView {
    /// `nearfar.latency/1`
    pub schema: &'static str,
    /// What was measured.
    #[serde(flatten)]
    pub measured: MeasuredView,
}

impl LatencyModelView {
    /// The view of a record's model.
    #[must_use]
    pub fn new(record: &Record, _model: &Latency) -> Self {
        Self { schema: "nearfar.latency/1", measured: MeasuredView::new(record) }
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
