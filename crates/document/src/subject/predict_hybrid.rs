//! What a program gets of a fast and a slow memory, as `predict` prints it.

use nearfar_model::{Hybrid, HybridPair};
use nearfar_record::Record;
use serde::Serialize;

use super::figures::{count, percent_words, rounded};
use super::measured::MeasuredView;
use super::model_hybrid::{HybridErrorsView, errors_unknown, errors_view};
use super::model_hybrid_answer::{HybridAnswerView, program_words};
use super::model_hybrid_placement::MemoriesView;
use crate::printable::printable;
use crate::terminal::paragraph::paragraph;
use crate::terminal::table::table;

/// What a program gets of a fast and a slow memory; `predict RECORD --load-share SHARE --json`
/// prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictHybridView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// Share of loads in all bytes.
    pub load_share: f64,
    /// The answers, for each cluster with two memories.
    pub pairs: Vec<PredictHybridPair>,
}

/// What a program gets of two memories of one cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictHybridPair {
    #[serde(flatten)]
    pub memories: MemoriesView,
    /// How far the model is off, or null.
    pub errors: Option<HybridErrorsView>,
    /// Why that is not known, or null.
    pub errors_unknown: Option<String>,
    /// What it gets.
    pub answer: HybridAnswerView,
}

impl PredictHybridView {
    /// The view of the answers; `None` where a share is not between 0 and 1.
    pub fn new(
        record: &Record,
        model: &Hybrid,
        load_share: f64,
        fast_shares: &[f64],
    ) -> Option<Self> {
        let answer = |pair: &HybridPair| {
            let answer = pair.answer(load_share, fast_shares)?;
            Some(PredictHybridPair {
                memories: MemoriesView::of(pair),
                errors: pair.errors.map(errors_view),
                errors_unknown: errors_unknown(pair),
                answer: HybridAnswerView::new(&answer, pair),
            })
        };
        Some(Self {
            schema: "nearfar.predict-hybrid/1",
            measured: MeasuredView::new(record),
            load_share,
            pairs: model.pairs.iter().map(answer).collect::<Option<_>>()?,
        })
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = self.measured.heading();
        for pair in &self.pairs {
            text += &pair.text();
        }
        text
    }
}

impl PredictHybridPair {
    fn text(&self) -> String {
        let MemoriesView { cluster, fast_node, slow_node } = self.memories;
        let mut text = format!(
            "\ncluster {cluster}, fast: node {fast_node}, slow: node {slow_node}; {}; GB/s (1e9 useful \
             bytes/s)\n",
            program_words(self.answer.load_share)
        );
        let header = [
            "placement",
            "reads fast",
            "writes fast",
            "GB/s",
            "longest",
            "over\nall fast",
            "over\nall slow",
            "over\neven",
        ];
        let share = |share: Option<f64>| share.map_or("-".into(), |share| rounded(share, 3));
        let rows = self.answer.placements.iter().map(|placement| {
            let shares = &placement.shares;
            let longest = std::iter::once(&shares.dominating).chain(&shares.may_dominate);
            let longest: Vec<&str> = longest.map(|kind| kind.as_str()).collect();
            let gain = |over: &str| {
                placement.gain_over(over).map_or("-".into(), |gain| {
                    let claim = if gain.claimed { "" } else { "?" };
                    format!("{}{claim}", percent_words(gain.gain))
                })
            };
            vec![
                placement.name.replace('_', " "),
                share(shares.load_fast_share),
                share(shares.store_fast_share),
                shares.words(),
                longest.join(" or "),
                gain("all_fast"),
                gain("all_slow"),
                gain("even"),
            ]
        });
        text += &table(header.map(String::from).to_vec(), rows.collect(), 1);
        let error = match (&self.errors, &self.errors_unknown) {
            (Some(errors), _) => format!(
                "the model's error: {} true relative RMS on {} that were never fitted; gains (?) \
                 that are not above {} by all that is uncertain are not claimed",
                percent_words(errors.relative_rms),
                count(errors.points, "point"),
                percent_words(errors.room)
            ),
            (None, why) => format!(
                "the model's error is not known: {}",
                printable(why.as_deref().unwrap_or_default())
            ),
        };
        text += &paragraph(" ", &error);
        for sentence in &self.answer.advice {
            text += &paragraph(" ", sentence);
        }
        text
    }
}
