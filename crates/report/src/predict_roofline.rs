//! SKELETON

use nearfar_record::Record;
use serde::Serialize;

use crate::measured::MeasuredView;

/// `predict` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictRooflineView {
    /// `nearfar.predict-roofline/1`
    pub schema: &'static str,
    /// What was measured.
    #[serde(flatten)]
    pub measured: MeasuredView,
}

impl PredictRooflineView {
    /// The view of the answers.
    #[must_use]
    pub fn new(record: &Record) -> Self {
        Self { schema: "nearfar.predict-roofline/1", measured: MeasuredView::new(record) }
    }

    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        self.measured.heading()
    }
}
