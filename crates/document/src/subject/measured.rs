//! What a view is of: the host, the time, and whether the figures are to be believed.

use nearfar_record::{Executor, Record};
use serde::Serialize;

use super::figures::simulated_line;
use super::sealing::SealingView;
use crate::printable::printable;

/// The record that a view is made from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasuredView {
    pub host: String,
    /// When measuring began, UTC.
    pub started: String,
    /// Whether a machine was measured or simulated.
    pub executor: Executor,
    /// Whether the record is as it was written.
    pub sealing: SealingView,
}

impl MeasuredView {
    /// The view of a record's origin.
    pub fn new(record: &Record) -> Self {
        Self {
            host: record.header.host.clone(),
            started: record.header.started.clone(),
            executor: record.header.executor,
            sealing: SealingView::new(&record.sealing),
        }
    }

    /// The first lines of a text: host and time, and what must be known before any figure.
    pub fn heading(&self) -> String {
        format!("{}, {}\n", printable(&self.host), printable(&self.started))
            + simulated_line(self.executor)
            + &self.sealing.warning()
    }
}
