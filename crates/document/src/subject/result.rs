//! A model's result as programs get it: the result itself, below what it is of.

use nearfar_record::Record;
use serde::Serialize;

use super::measured::MeasuredView;

/// What `model RECORD NAME --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelResult<Model> {
    /// Its format.
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    #[serde(flatten)]
    pub result: Model,
}

impl<Model> ModelResult<Model> {
    pub fn new(schema: &'static str, record: &Record, result: Model) -> Self {
        Self { schema, measured: MeasuredView::new(record), result }
    }
}
