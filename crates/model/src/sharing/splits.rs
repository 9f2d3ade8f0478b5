//! How many of N processes to put near their data and how many far.

use nearfar_record::Estimate;
use nearfar_units::{BytesPerSecond, words};
use serde::{Deserialize, Serialize};

use super::law::Residual;
use super::{SharedCell, SharedGrid, Support, around};

/// How processes share their work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorkSharing {
    /// Who is ready takes more: the sum counts.
    Dynamic,
    /// Equal parts: N x the slowest process counts.
    Static,
}

/// Processes near their memory and processes far from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessSplit {
    pub near: u32,
    pub far: u32,
    /// Where the figures come from.
    pub support: Support,
    /// All together: of a measured figure its interval, of a predicted one what the law can be
    /// off; none where neither is known.
    #[serde(rename = "sum_gb_per_s")]
    pub sum: Estimate<BytesPerSecond>,
    /// Processes x the slowest.
    #[serde(rename = "paced_gb_per_s")]
    pub paced: Estimate<BytesPerSecond>,
    /// What each of the near ones gets, or null.
    #[serde(rename = "near_each_gb_per_s")]
    pub near_each: Option<BytesPerSecond>,
    /// What each of the far ones gets, or null.
    #[serde(rename = "far_each_gb_per_s")]
    pub far_each: Option<BytesPerSecond>,
    /// The far ones' part of the sum, or null.
    pub beta: Option<f64>,
    /// Whether it can be put instead of the best: it is not lower by more than the best and, as
    /// far as it is known no worse, itself can be off, and where that gains on all near, so does
    /// it.
    pub is_as_good_as_best: bool,
}

/// Splits of N processes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitRanking {
    /// How they share their work.
    pub work: WorkSharing,
    /// N.
    pub processes: u32,
    /// What follows from them.
    pub verdict: SplitVerdict,
    /// First / all near - 1; null where not all fit near.
    pub gain: Option<f64>,
    /// All of them near; null where they do not fit.
    pub all_near: Option<ProcessSplit>,
    /// By bandwidth, the best first; of a model the best and those that are as good, at most four.
    /// Before it stands one that is lower, but surely better than all near where the best is not;
    /// and of what is to be put, measured ones stand before predicted ones.
    pub splits: Vec<ProcessSplit>,
    /// How many are as good as the best, it included.
    pub as_good_splits: usize,
    /// Splits, near and far, that are not as good by what is known, but may be: it is too little.
    #[serde(rename = "unsure_splits")]
    pub unsure: Vec<(u32, u32)>,
    /// Whether measuring more would tell more.
    pub wants_more: bool,
}

/// What a ranking means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SplitVerdict {
    /// All near is the best.
    AllNear,
    /// Another split is better than all near by more than both can be off.
    Gain,
    /// Another split looks better, by less than that.
    WithinError,
    /// Another split looks better, and how far it can be off is not known.
    ErrorUnknown,
    /// More processes than the local initiator was planned with: there is no split with all near.
    NotAllFitNear,
}

/// So many splits of those as good as the best are shown.
const MOST_SPLITS: usize = 4;

/// More processes than this are a stranger's record.
pub(super) const MOST_PROCESSES: u32 = 4096;

impl WorkSharing {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Dynamic, Self::Static];
}

words!(WorkSharing);

impl ProcessSplit {
    /// The figure that counts for a way to share work.
    pub fn figure(&self, work: WorkSharing) -> &Estimate<BytesPerSecond> {
        match work {
            WorkSharing::Dynamic => &self.sum,
            WorkSharing::Static => &self.paced,
        }
    }

    /// How far that can be off, a fraction; `None` where it is not known.
    pub fn room(&self, work: WorkSharing) -> Option<f64> {
        let figure = self.figure(work);
        (figure.interval.is_some() && figure.value.0 > 0.0).then(|| figure.relative_reach())
    }

    /// Whether it is better than another one by more than both can be off.
    fn surely_beats(&self, other: &Self, work: WorkSharing) -> bool {
        let both = self.room(work).zip(other.room(work)).map(|(one, other)| one.hypot(other));
        both.is_some_and(|both| self.figure(work).value / other.figure(work).value - 1.0 > both)
    }
}

impl SplitRanking {
    /// The best split, and those that are as good.
    pub fn best(&self) -> impl Iterator<Item = &ProcessSplit> {
        self.splits.iter().filter(|split| split.is_as_good_as_best)
    }

    /// The split to choose: all near where nothing is known to gain on it.
    pub fn advised(&self) -> Option<&ProcessSplit> {
        match self.verdict {
            SplitVerdict::WithinError | SplitVerdict::ErrorUnknown => self.all_near.as_ref(),
            _ => self.splits.first(),
        }
    }
}

impl SharedGrid {
    /// What n processes near and m far get; `None` without any process.
    pub fn split(&self, n: u32, m: u32) -> Option<ProcessSplit> {
        let cell = self.cell(n, m)?;
        let shares = cell.shares()?;
        let each =
            |sum: BytesPerSecond, of: u32| (of > 0).then(|| BytesPerSecond(sum.0 / f64::from(of)));
        Some(ProcessSplit {
            near: n,
            far: m,
            support: cell.support,
            sum: self.figure(&cell, WorkSharing::Dynamic)?,
            paced: self.figure(&cell, WorkSharing::Static)?,
            near_each: each(shares.local, n),
            far_each: each(shares.remote, m),
            beta: Some(shares.beta()).filter(|beta| beta.is_finite()),
            is_as_good_as_best: false,
        })
    }

    fn figure(&self, cell: &SharedCell, work: WorkSharing) -> Option<Estimate<BytesPerSecond>> {
        let Some(measured) = &cell.measured else {
            return Some(around(self.predicted_figure(cell, work)?, self.error(cell, work)));
        };
        let figure = match work {
            WorkSharing::Dynamic => &measured.total,
            WorkSharing::Static => &measured.paced,
        };
        if figure.confidence.is_some_and(|confidence| confidence >= 0.95) {
            return Some(figure.clone());
        }
        // Few rounds say little of their own scatter: what the law is off on totals is made of it
        // too.
        let own = (figure.value.0 > 0.0).then(|| figure.relative_reach());
        let of_law = self.fit.left_out.map(|residual| 2.0 * residual.total);
        let room = own.zip(of_law).map(|(own, of_law)| own.max(of_law));
        Some(Estimate { cases: figure.cases.clone(), ..around(figure.value.0, room) })
    }

    /// All splits of this many processes that the two initiators hold; `None` where there are none.
    pub fn ranking(&self, processes: u32, work: WorkSharing) -> Option<SplitRanking> {
        let (near, far) = (self.local.most_threads, self.remote.most_threads);
        let fewest_near = processes.saturating_sub(far);
        let counts = fewest_near..=processes.min(near);
        let mut splits: Vec<ProcessSplit> =
            counts.rev().filter_map(|n| self.split(n, processes - n)).collect();
        let value = |split: &ProcessSplit| split.figure(work).value;
        // Of equal ones the one with more near stays before.
        splits.sort_by(|one, other| value(other).0.total_cmp(&value(one).0));
        // A gain that is sure stands before a larger one that may be none.
        let near = splits.iter().find(|split| split.far == 0).cloned();
        let is_gain =
            |split: &ProcessSplit| near.as_ref().is_some_and(|it| split.surely_beats(it, work));
        let sure = splits.iter().position(is_gain);
        if let Some(sure) = sure {
            splits[..=sure].rotate_right(1);
        }
        let best = splits.first().cloned()?;
        let room = |split: &ProcessSplit| split.room(work);
        let verdict = match &near {
            None => SplitVerdict::NotAllFitNear,
            Some(_) if best.far == 0 => SplitVerdict::AllNear,
            Some(_) if sure.is_some() => SplitVerdict::Gain,
            Some(near) if room(&best).is_none() || room(near).is_none() => {
                SplitVerdict::ErrorUnknown
            }
            Some(_) => SplitVerdict::WithinError,
        };
        let mut unsure = Vec::new();
        for (position, split) in splits.iter_mut().enumerate() {
            let margin = value(&best) / value(split) - 1.0;
            let rooms = room(&best).zip(room(split));
            // To be known worse than the best is no merit.
            let is_level = rooms.is_some_and(|(one, other)| margin <= one.hypot(other.min(one)));
            let is_lower = rooms.is_some_and(|(one, other)| margin > one.hypot(other));
            split.is_as_good_as_best =
                (position == 0 || is_level) && (sure.is_none() || is_gain(split));
            if !split.is_as_good_as_best && !is_lower {
                unsure.push((split.near, split.far));
            }
        }
        if matches!(verdict, SplitVerdict::Gain | SplitVerdict::NotAllFitNear) {
            splits.sort_by_key(|split| match split.is_as_good_as_best {
                true => usize::from(split.support != Support::Measured),
                false => 2,
            });
        }
        let gain = near.map(|near| value(&splits[0]) / value(&near) - 1.0);
        Some(SplitRanking {
            work,
            processes,
            verdict,
            gain: gain.filter(|gain| gain.is_finite()),
            all_near: splits.iter().find(|split| split.far == 0).cloned(),
            as_good_splits: splits.iter().filter(|split| split.is_as_good_as_best).count(),
            wants_more: match verdict {
                SplitVerdict::WithinError => splits[0].support != Support::Measured,
                SplitVerdict::ErrorUnknown => true,
                _ => !unsure.is_empty(),
            },
            splits,
            unsure,
        })
    }

    /// Whether every split of this many processes is known: by the law, or as measured.
    pub(super) fn is_told(&self, processes: u32) -> bool {
        let (near, far) = (self.local.most_threads, self.remote.most_threads);
        let is_known = |n: u32| {
            self.cell(n, processes - n).is_some_and(|cell| cell.support == Support::Measured)
        };
        self.is_predictive || (processes.saturating_sub(far)..=processes.min(near)).all(is_known)
    }

    pub(super) fn best_splits(&self) -> Vec<SplitRanking> {
        let counts = super::counts(&self.local, std::iter::empty()).into_iter();
        let best = |ranking: SplitRanking| {
            let splits = ranking.best().take(MOST_SPLITS).cloned().collect();
            SplitRanking { splits, ..ranking }
        };
        counts
            .filter(|count| (2..=MOST_PROCESSES).contains(count) && self.is_told(*count))
            .flat_map(|count| WorkSharing::ALL.map(|work| self.ranking(count, work)))
            .flatten()
            .map(best)
            .collect()
    }

    /// How far the figure of a cell that was not measured can be off.
    fn error(&self, cell: &SharedCell, work: WorkSharing) -> Option<f64> {
        self.room(
            cell,
            match work {
                WorkSharing::Dynamic => |residual: &Residual| residual.total,
                WorkSharing::Static => |residual: &Residual| residual.group,
            },
        )
    }

    /// What a cell that was not measured is expected to give.
    fn predicted_figure(&self, cell: &SharedCell, work: WorkSharing) -> Option<f64> {
        let shares = cell.predicted?;
        let (near, far) = (f64::from(cell.local_threads), f64::from(cell.remote_threads));
        let slowest = [
            (near, shares.local.0 * self.local.evenness()),
            (far, shares.remote.0 * self.remote.evenness()),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0.0)
        .map(|(count, sum)| sum / count)
        .fold(f64::INFINITY, f64::min);
        let figure = match work {
            WorkSharing::Dynamic => shares.total().0,
            WorkSharing::Static => (near + far) * slowest,
        };
        figure.is_finite().then_some(figure)
    }
}
