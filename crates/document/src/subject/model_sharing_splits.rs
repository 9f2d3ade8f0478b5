//! Splits of processes over near and far cores, as `model` and `predict` print them.

use nearfar_model::{ProcessSplit, SharedGrid, SplitRanking, SplitVerdict, WorkSharing};
use nearfar_units::format_significant;
use serde::Serialize;

use super::figures::percent_words;
use super::model_sharing::support_word;
use crate::terminal::paragraph::paragraph;

/// Splits of so many processes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankingView {
    /// How they share their work: `dynamic` or `static`.
    pub work: &'static str,
    /// How many.
    pub processes: u32,
    /// What follows.
    pub verdict: &'static str,
    /// First / all near - 1, or null.
    pub gain: Option<f64>,
    /// All of them near, or null.
    pub all_near: Option<SplitView>,
    /// The best split and those that are as good, or all splits, the best first.
    pub splits: Vec<SplitView>,
    /// How many are as good as the best, it included.
    pub as_good_splits: usize,
    /// Others that may be, near and far: too little is known of them.
    pub unsure_splits: Vec<[u32; 2]>,
}

/// Processes near their memory and processes far.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitView {
    /// Processes near.
    pub near: u32,
    /// Processes far.
    pub far: u32,
    /// Where the figures are from.
    pub support: &'static str,
    /// All together.
    pub sum_gb_per_s: f64,
    /// Where it lies, or null.
    pub sum_interval_gb_per_s: Option<[f64; 2]>,
    /// Processes x the slowest.
    pub paced_gb_per_s: f64,
    /// Where it lies, or null.
    pub paced_interval_gb_per_s: Option<[f64; 2]>,
    /// What each of the near ones gets, or null.
    pub near_each_gb_per_s: Option<f64>,
    /// What each of the far ones gets, or null.
    pub far_each_gb_per_s: Option<f64>,
    /// The far ones' part of the sum, or null.
    pub beta: Option<f64>,
    /// Whether it can be put instead of the best; null beside no others.
    pub as_good_as_best: Option<bool>,
}

/// So many splits of those as good as the best are shown by a model and named in a sentence.
const MOST_SPLITS: usize = 4;

impl RankingView {
    /// With the best splits alone.
    pub(crate) fn best_of(grid: &SharedGrid, ranking: &SplitRanking) -> Self {
        let best: Vec<&ProcessSplit> = ranking.best().take(MOST_SPLITS).collect();
        Self::new(grid, ranking, &best)
    }

    pub(crate) fn whole(grid: &SharedGrid, ranking: &SplitRanking) -> Self {
        Self::new(grid, ranking, &ranking.splits.iter().collect::<Vec<_>>())
    }

    fn new(grid: &SharedGrid, ranking: &SplitRanking, splits: &[&ProcessSplit]) -> Self {
        let view =
            |split: &ProcessSplit| SplitView::new(grid, split, Some(split.is_as_good_as_best));
        Self {
            work: ranking.work.as_str(),
            processes: ranking.processes,
            verdict: match ranking.verdict {
                SplitVerdict::AllNear => "all_near",
                SplitVerdict::Gain => "gain",
                SplitVerdict::WithinError => "within_error",
                SplitVerdict::ErrorUnknown => "error_unknown",
                SplitVerdict::NotAllFitNear => "not_all_fit_near",
            },
            gain: ranking.gain,
            all_near: ranking.all_near().and_then(view),
            splits: splits.iter().filter_map(|split| view(split)).collect(),
            as_good_splits: ranking.best().count(),
            unsure_splits: ranking.unsure.iter().map(|&(near, far)| [near, far]).collect(),
        }
    }

    /// The splits to choose from, the first first.
    fn named(&self) -> impl Iterator<Item = &SplitView> {
        self.splits.iter().filter(|split| split.as_good_as_best == Some(true)).take(MOST_SPLITS)
    }

    /// `3 more`: splits as good as the best that are not named; `None` where all are.
    fn others_words(&self) -> Option<String> {
        let more = self.as_good_splits.saturating_sub(self.named().count());
        (more > 0).then(|| format!("{more} more"))
    }

    /// The splits to choose from, for a table.
    pub(crate) fn best_words(&self) -> String {
        let names = self.named().map(SplitView::words).chain(self.others_words());
        names.collect::<Vec<_>>().join("\nor ")
    }

    /// Whether measuring more would tell more.
    pub(crate) fn wants_more(&self) -> bool {
        let is_foretold = self.splits.first().is_some_and(|split| split.support != "measured");
        match self.verdict {
            "within_error" => is_foretold,
            "error_unknown" => true,
            _ => !self.unsure_splits.is_empty(),
        }
    }
}

impl SplitView {
    /// The view of a split of a grid; `None` where nothing is known of it.
    pub(crate) fn new(
        grid: &SharedGrid,
        split: &ProcessSplit,
        as_good_as_best: Option<bool>,
    ) -> Option<Self> {
        let (near, far) = (split.cell.local_threads, split.cell.remote_threads);
        let shares = split.cell.shares()?;
        let figure = |work| grid.split(near, far, work);
        let (sum, paced) = (figure(WorkSharing::Dynamic)?, figure(WorkSharing::Static)?);
        let each = |sum: f64, of: u32| (of > 0).then(|| sum / f64::from(of) / 1e9);
        Some(Self {
            near,
            far,
            support: support_word(split.cell.support),
            sum_gb_per_s: sum.bandwidth / 1e9,
            sum_interval_gb_per_s: sum.interval.map(giga),
            paced_gb_per_s: paced.bandwidth / 1e9,
            paced_interval_gb_per_s: paced.interval.map(giga),
            near_each_gb_per_s: each(shares.local, near),
            far_each_gb_per_s: each(shares.remote, far),
            beta: Some(shares.beta()).filter(|beta| beta.is_finite()),
            as_good_as_best,
        })
    }

    /// `3 near 1 far`, `all 4 near`.
    pub(crate) fn words(&self) -> String {
        split_words(self.near, self.far)
    }

    /// The figure that counts for a way to share work, and where it lies.
    pub(crate) fn figure(&self, work: &str) -> (f64, Option<[f64; 2]>) {
        if work == "static" {
            (self.paced_gb_per_s, self.paced_interval_gb_per_s)
        } else {
            (self.sum_gb_per_s, self.sum_interval_gb_per_s)
        }
    }

    /// `13.8 GB/s (13.6 to 14.0)`.
    pub(crate) fn expectation(&self, work: &str) -> String {
        let (figure, interval) = self.figure(work);
        let range = match interval {
            Some(_) => interval_words(interval),
            None => " (how far it is off is not known)".into(),
        };
        format!("{} GB/s{range}", format_significant(figure, 3))
    }
}

fn split_words(near: u32, far: u32) -> String {
    match (near, far) {
        (near, 0) => format!("all {near} near"),
        (0, far) => format!("all {far} far"),
        (near, far) => format!("{near} near {far} far"),
    }
}

/// ` (13.6 to 14.0)`; empty where it is not known.
pub(crate) fn interval_words(interval: Option<[f64; 2]>) -> String {
    interval.map_or_else(String::new, |[low, high]| {
        format!(" ({} to {})", format_significant(low, 3), format_significant(high, 3))
    })
}

impl RankingView {
    /// What to do, with its number and its condition.
    pub(crate) fn advice(&self) -> String {
        let work = self.work;
        let of = match work {
            "static" => "equal parts (static work: the slowest process decides)",
            _ => "work that goes to who is ready (dynamic: the sum counts)",
        };
        let Some(best) = self.splits.first() else { return String::new() };
        let plural = if self.processes == 1 { "" } else { "es" };
        let begin = format!("{} process{plural}, {of}: ", self.processes);
        let expected = |split: &SplitView| split.expectation(work);
        let gain = self.gain.map_or_else(String::new, percent_words);
        begin
            + &match (self.verdict, &self.all_near) {
                ("gain", Some(near)) => format!(
                    "put {}; expect {}, {gain} more than {}, {}.{}{}",
                    best.words(),
                    expected(best),
                    near.words(),
                    expected(near),
                    self.as_good_sentence(),
                    self.unsure_sentence()
                ),
                ("all_near", Some(near)) => format!(
                    "keep {}; expect {}. No other split looks better.{}",
                    near.words(),
                    expected(near),
                    self.unsure_sentence()
                ),
                ("within_error", Some(near)) => format!(
                    "keep {}; expect {}. {} looks {gain} better, {}: less than both can be off.",
                    near.words(),
                    expected(near),
                    best.words(),
                    expected(best)
                ),
                ("error_unknown", Some(near)) => format!(
                    "keep {} until more is measured: {}. {} looks {gain} better, {}.",
                    near.words(),
                    expected(near),
                    best.words(),
                    expected(best)
                ),
                _ => format!(
                    "they do not all fit near; put {}; expect {}.{}{}",
                    best.words(),
                    expected(best),
                    self.as_good_sentence(),
                    self.unsure_sentence()
                ),
            }
    }

    /// The others to choose from, each with its figure; empty where there are none.
    fn as_good_sentence(&self) -> String {
        let others: Vec<String> = self
            .named()
            .skip(1)
            .map(|split| {
                let origin = if split.support == "measured" { "" } else { ", foretold" };
                format!("{}, {}{origin}", split.words(), split.expectation(self.work))
            })
            .chain(self.others_words())
            .collect();
        match others.is_empty() {
            true => String::new(),
            false => format!(" As good: {}.", others.join("; ")),
        }
    }

    /// Which splits may be as good, or of many how many; empty where none may.
    fn unsure_sentence(&self) -> String {
        match &self.unsure_splits[..] {
            [] => String::new(),
            [[near, far]] => {
                let split = split_words(*near, *far);
                format!(" Of {split} too little is known: it may be as good.")
            }
            [[near, far], [more_near, more_far]] => {
                let both = [split_words(*near, *far), split_words(*more_near, *more_far)];
                format!(" Of {} too little is known: they may be as good.", both.join(" and "))
            }
            many => {
                let count = many.len();
                format!(" Of {count} other splits too little is known: they may be as good.")
            }
        }
    }
}

/// What measures more, below sentences that ask for it.
pub(crate) fn more_cells_lines(command: &str) -> String {
    paragraph(" - ", "More cells of the grids are measured by") + &paragraph("   -> ", command)
}

/// In GB/s.
pub(crate) fn giga((low, high): (f64, f64)) -> [f64; 2] {
    [low / 1e9, high / 1e9]
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    use super::*;

    fn split(near: u32, far: u32, figure: f64, as_good: bool) -> SplitView {
        SplitView {
            near,
            far,
            support: if far == 1 { "measured" } else { "interpolated" },
            sum_gb_per_s: figure,
            sum_interval_gb_per_s: (far != 3).then_some([figure - 0.1, figure + 0.1]),
            paced_gb_per_s: figure,
            paced_interval_gb_per_s: None,
            near_each_gb_per_s: None,
            far_each_gb_per_s: None,
            beta: None,
            as_good_as_best: Some(as_good),
        }
    }

    fn ranking(verdict: &'static str, as_good: u32, unsure: u32) -> RankingView {
        let goods = (1..=as_good).map(|far| split(8 - far, far, 30.0 - f64::from(far), true));
        RankingView {
            work: "dynamic",
            processes: 8,
            verdict,
            gain: Some(0.16),
            all_near: Some(split(8, 0, 25.0, false)),
            splits: goods.chain([split(8, 0, 25.0, false)]).collect(),
            as_good_splits: as_good as usize,
            unsure_splits: (0..unsure).map(|near| [near, 8 - near]).collect(),
        }
    }

    /// Each split that is named has its own figure, and none is cut without a word.
    #[test]
    fn splits_as_good_have_their_own_figures_and_the_others_are_counted() {
        let mut text = String::new();
        for (as_good, unsure) in [(6, 3), (6, 0), (1, 0), (1, 2)] {
            let ranking = ranking("gain", as_good, unsure);
            text += &format!("{}\n{}\n\n", ranking.best_words(), ranking.advice());
        }
        expect_file!["../../tests/golden/sharing_splits.txt"].assert_eq(&text);
    }

    #[test]
    fn more_is_asked_for_only_where_it_would_tell() {
        assert!(ranking("gain", 1, 1).wants_more() && !ranking("gain", 1, 0).wants_more());
        assert!(ranking("error_unknown", 1, 0).wants_more());
        // The first was measured.
        assert!(!ranking("within_error", 1, 0).wants_more());
    }
}
