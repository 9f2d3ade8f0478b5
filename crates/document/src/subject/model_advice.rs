//! What a reader can do by each model, in sentences: those that end its text.

use super::model::FittedView;
use super::{devices, distribution, flow, hybrid, latency, roofline, sharing, strategy};

impl FittedView {
    /// The model's sentences; none where it only shows figures.
    pub fn advice(&self) -> Vec<String> {
        match self {
            Self::Classes(_) => Vec::new(),
            Self::Latency(view) => latency::findings(&view.result),
            Self::Sharing(view) => sharing::findings(&view.result),
            Self::Roofline(view) => roofline::findings(&view.result),
            Self::Hybrid(view) => hybrid::findings(&view.result),
            Self::Distribution(view) => distribution::findings(&view.result),
            Self::Flow(view) => flow::findings(&view.result),
            Self::Strategy(view) => strategy::findings(&view.result),
            Self::Devices(view) => devices::findings(&view.result),
        }
    }
}
