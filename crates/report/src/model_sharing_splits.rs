//! Splits of processes over near and far cores, as `model` and `predict` print them.

use nearfar_model::{ProcessSplit, SharedGrid, SplitRanking, SplitVerdict, WorkSharing};
use nearfar_units::format_significant;
use serde::Serialize;

use crate::figures::rounded;
use crate::model_sharing::support_word;

/// Splits of so many processes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankingView {
    /// How they share their work: `dynamic` or `static`.
    pub work: &'static str,
    /// How many.
    pub processes: u32,
    /// What follows.
    pub verdict: &'static str,
    /// Best / all near - 1, or null.
    pub gain: Option<f64>,
    /// All of them near, or null.
    pub all_near: Option<SplitView>,
    /// The best split and those that are as good, or all splits, the best first.
    pub splits: Vec<SplitView>,
}

/// Processes near their memory and processes far.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// Whether the best split is not better by more than both can be off; null beside no others.
    pub as_good_as_best: Option<bool>,
}

/// So many splits of those as good as the best are shown by a model.
const MOST_SPLITS: usize = 4;

impl RankingView {
    /// With the best splits alone.
    pub(crate) fn best_of(grid: &SharedGrid, ranking: &SplitRanking) -> Self {
        let best: Vec<&ProcessSplit> = ranking.best().take(MOST_SPLITS).collect();
        Self::new(grid, ranking, &best)
    }

    /// With all splits.
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
        match (self.near, self.far) {
            (near, 0) => format!("all {near} near"),
            (0, far) => format!("all {far} far"),
            (near, far) => format!("{near} near {far} far"),
        }
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
        format!("{} GB/s{}", format_significant(figure, 3), interval_words(interval))
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
        let good: Vec<&SplitView> =
            self.splits.iter().filter(|split| split.as_good_as_best == Some(true)).collect();
        let names: Vec<String> = good.iter().map(|split| split.words()).collect();
        let names = names.join(" or ");
        let plural = if self.processes == 1 { "" } else { "es" };
        let processes = format!("{} process{plural}", self.processes);
        let gain =
            self.gain.map_or_else(String::new, |gain| format!("{} %", rounded(gain * 100.0, 1)));
        let begin = format!("{processes}, {of}: ");
        begin
            + &match (self.verdict, &self.all_near) {
                ("gain", Some(near)) => format!(
                    "put {names}; expect {}, {gain} more than {} ({}).",
                    best.expectation(work),
                    near.words(),
                    near.expectation(work)
                ),
                ("all_near", Some(near)) => format!(
                    "keep {}; expect {}. No other split is better.",
                    near.words(),
                    near.expectation(work)
                ),
                ("within_error", Some(near)) => format!(
                    "keep {}; expect {}. {} looks {gain} better ({}), which is less than both can \
                     be off{}.",
                    near.words(),
                    near.expectation(work),
                    best.words(),
                    best.expectation(work),
                    if best.support == "measured" {
                        ""
                    } else {
                        "; --only sharing --grid full measures it"
                    }
                ),
                ("error_unknown", Some(near)) => format!(
                    "keep {}; expect {}. {} looks {gain} better ({}); with one mixed cell how far \
                     that is off is not known, and --grid full tells.",
                    near.words(),
                    near.expectation(work),
                    best.words(),
                    best.expectation(work)
                ),
                _ => format!(
                    "they do not all fit near; put {names}; expect {}.",
                    best.expectation(work)
                ),
            }
    }
}

/// In GB/s.
pub(crate) fn giga((low, high): (f64, f64)) -> [f64; 2] {
    [low / 1e9, high / 1e9]
}
