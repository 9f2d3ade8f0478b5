//! SKELETON

use nearfar_model::Sharing;
use nearfar_record::Record;
use serde::Serialize;

use crate::measured::MeasuredView;

/// `model RECORD sharing --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SharingModelView {
    /// `nearfar.sharing/1`
    pub schema: &'static str,
    /// What was measured.
    #[serde(flatten)]
    pub measured: MeasuredView,
}

impl SharingModelView {
    /// The view of a record's model.
    #[must_use]
    pub fn new(record: &Record, _model: &Sharing) -> Self {
        Self { schema: "nearfar.sharing/1", measured: MeasuredView::new(record) }
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
