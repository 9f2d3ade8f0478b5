//! What processes get that are split over near and far cores, as `predict` prints it.

use nearfar_model::SplitAnswer;
use nearfar_record::Record;
use nearfar_units::format_significant;
use serde::Serialize;

use super::figures::percent_words;
use super::measured::MeasuredView;
use super::model_sharing::{GridPlaceView, LawView, more_cells};
use super::model_sharing_splits::{RankingView, SplitView, interval_words, more_cells_lines};
use crate::terminal::paragraph::paragraph;
use crate::terminal::table::table;

/// What processes get that are split over cores near and far from their memory; `predict RECORD`
/// with `--processes` or `--split` and `--json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictSharingView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// Answers, one for each grid of the node.
    pub grids: Vec<SplitAnswerView>,
    /// The command that measures more cells of the grids.
    pub more_cells: String,
}

/// What one grid answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitAnswerView {
    #[serde(flatten)]
    pub place: GridPlaceView,
    /// The law that foretells what was not measured.
    pub law: LawView,
    /// All splits of the processes, for each way to share work.
    pub rankings: Vec<RankingView>,
    /// The splits that were named.
    pub splits: Vec<SplitView>,
}

impl PredictSharingView {
    #[must_use]
    pub fn new(record: &Record, answers: &[SplitAnswer<'_>]) -> Self {
        let view = |answer: &SplitAnswer<'_>| {
            let rankings = answer.rankings.iter();
            let splits = answer.splits.iter();
            SplitAnswerView {
                place: GridPlaceView::new(&answer.grid.place),
                law: LawView::new(&answer.grid.fit),
                rankings: rankings.map(|it| RankingView::whole(answer.grid, it)).collect(),
                splits: splits.filter_map(|it| SplitView::new(answer.grid, it, None)).collect(),
            }
        };
        Self {
            schema: "nearfar.predict-sharing/1",
            measured: MeasuredView::new(record),
            grids: answers.iter().map(view).collect(),
            more_cells: more_cells(record),
        }
    }

    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.measured.heading();
        for (position, grid) in self.grids.iter().enumerate() {
            text += if position > 0 { "\n" } else { "" };
            text += &grid.text();
        }
        let mut rankings = self.grids.iter().flat_map(|grid| &grid.rankings);
        if rankings.any(RankingView::wants_more) {
            text += &more_cells_lines(&self.more_cells);
        }
        text
    }
}

impl SplitAnswerView {
    fn text(&self) -> String {
        let off = self.law.left_out.map_or_else(
            || "with one mixed cell how far it is off is not known".into(),
            |off| {
                format!(
                    "where a cell is left out of its fit, {} off on totals and {} on groups",
                    percent_words(off.total),
                    percent_words(off.group)
                )
            },
        );
        let law = format!(
            "{}. What was not measured is by the {} law: {off}.",
            self.place.words(),
            self.law.law
        );
        let mut text = paragraph("", &law);
        for ranking in &self.rankings {
            text += &format!("\n{} work\n", ranking.work);
            text += &split_table(&ranking.splits);
            text += &paragraph(" - ", &ranking.advice());
        }
        if !self.splits.is_empty() {
            text += &split_table(&self.splits);
        }
        text
    }
}

/// Splits line by line.
fn split_table(splits: &[SplitView]) -> String {
    let header = ["split", "sum, GB/s", "paced, GB/s", "each near", "each far", "beta", "figures"];
    let three = |value: f64| format_significant(value, 3);
    let figure = |value: f64, interval| three(value) + &interval_words(interval);
    let known = |value: Option<f64>| value.map_or("-".into(), three);
    let rows = splits.iter().map(|split| {
        vec![
            split.words(),
            figure(split.sum_gb_per_s, split.sum_interval_gb_per_s),
            figure(split.paced_gb_per_s, split.paced_interval_gb_per_s),
            known(split.near_each_gb_per_s),
            known(split.far_each_gb_per_s),
            known(split.beta),
            split.support.into(),
        ]
    });
    table(header.map(String::from).into(), rows.collect(), 1)
}
