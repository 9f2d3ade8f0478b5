//! What a reader can do by each model, in sentences: those that end its text.

use super::model::FittedView;
use super::{devices, distribution, latency, roofline, sharing};

impl FittedView {
    /// The model's sentences; none where it only shows figures.
    pub fn advice(&self) -> Vec<String> {
        match self {
            Self::Classes(_) => Vec::new(),
            Self::Latency(view) => latency::findings(&view.result),
            Self::Sharing(view) => sharing::findings(&view.result),
            Self::Roofline(view) => roofline::findings(&view.result),
            Self::Hybrid(view) => {
                let answers = view.pairs.iter().flat_map(|pair| &pair.answers);
                answers.flat_map(|answer| answer.advice.clone()).collect()
            }
            Self::Distribution(view) => distribution::findings(&view.result),
            Self::Flow(view) => view.advice.clone(),
            Self::Strategy(view) => view.advice.clone(),
            Self::Devices(view) => devices::findings(&view.result),
        }
    }
}
