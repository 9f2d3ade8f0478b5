//! How many of N processes to put near their data and how many far.

use nearfar_stats::Estimate;

use super::law::Residual;
use super::{SharedCell, SharedGrid};

/// How processes share their work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WorkSharing {
    /// Who is ready takes more: the sum counts.
    Dynamic,
    /// Equal parts: N x the slowest process counts.
    Static,
}

/// N processes, some near and some far.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessSplit {
    /// The cell, whose threads are the processes.
    pub cell: SharedCell,
    /// The sum, or N x the slowest, useful bytes/s.
    pub bandwidth: f64,
    /// Where it lies: of a measured figure its interval, of a predicted one what the law can be
    /// off; `None` where neither is known.
    pub interval: Option<(f64, f64)>,
    /// Half of that interval as a fraction.
    pub room: Option<f64>,
    /// Whether it can be put instead of the best: it is not lower by more than the best and, as
    /// far as it is known no worse, itself can be off, and where that gains on all near, so does
    /// it.
    pub is_as_good_as_best: bool,
}

/// All splits of N processes.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitRanking {
    /// How they share their work.
    pub work: WorkSharing,
    /// N.
    pub processes: u32,
    /// By bandwidth, the best first. Before it stands one that is lower, but surely better than all
    /// near where the best is not; and of what is to be put, measured ones stand before foretold.
    pub splits: Vec<ProcessSplit>,
    /// Splits, near and far, that are not as good by what is known, but may be: it is too little.
    pub unsure: Vec<(u32, u32)>,
    /// What follows from them.
    pub verdict: SplitVerdict,
    /// First / all near - 1; `None` where not all fit near.
    pub gain: Option<f64>,
}

/// What a ranking means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitVerdict {
    /// All near is the best.
    AllNear,
    /// Another split is better than all near by more than both can be off.
    Gain,
    /// Another split looks better, by less than that.
    WithinError,
    /// Another split looks better, and how far it can be off is not known.
    ErrorUnknown,
    /// More processes than the local cluster was planned with: there is no split with all near.
    NotAllFitNear,
}

impl WorkSharing {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Dynamic, Self::Static];

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dynamic => "dynamic",
            Self::Static => "static",
        }
    }
}

impl ProcessSplit {
    /// Whether it is better than another one by more than both can be off.
    fn surely_beats(&self, other: &Self) -> bool {
        let both = self.room.zip(other.room).map(|(one, other)| one.hypot(other));
        both.is_some_and(|both| self.bandwidth / other.bandwidth - 1.0 > both)
    }
}

impl SplitRanking {
    /// The split with all processes near.
    #[must_use]
    pub fn all_near(&self) -> Option<&ProcessSplit> {
        self.splits.iter().find(|split| split.cell.remote_threads == 0)
    }

    /// The best split, and those that are as good.
    pub fn best(&self) -> impl Iterator<Item = &ProcessSplit> {
        self.splits.iter().filter(|split| split.is_as_good_as_best)
    }
}

impl SharedGrid {
    /// What n processes near and m far get, by the figure that counts for their way of sharing
    /// work; `None` without any process.
    #[must_use]
    pub fn split(&self, n: u32, m: u32, work: WorkSharing) -> Option<ProcessSplit> {
        let cell = self.cell(n, m)?;
        let (bandwidth, room, interval) = match &cell.measured {
            Some(measured) => {
                let Estimate { median, interval, confidence, .. } = match work {
                    WorkSharing::Dynamic => measured.total.sum,
                    WorkSharing::Static => measured.total.paced,
                };
                let own = (median > 0.0).then(|| half(median, interval));
                // Few rounds say little of their own scatter: what the law is off on totals is made
                // of it too.
                let room = if confidence < 0.95 {
                    let of_law = self.fit.left_out.map(|residual| 2.0 * residual.total);
                    own.zip(of_law).map(|(own, of_law)| own.max(of_law))
                } else {
                    own
                };
                let wide = room.filter(|_| confidence < 0.95).map(|room| around(median, room));
                (median, room, wide.or((confidence >= 0.95).then_some(interval)))
            }
            None => {
                let bandwidth = self.predicted_figure(&cell, work)?;
                let room = self.error(&cell, work);
                (bandwidth, room, room.map(|room| around(bandwidth, room)))
            }
        };
        Some(ProcessSplit { cell, bandwidth, interval, room, is_as_good_as_best: false })
    }

    /// All splits of so many processes that the two clusters hold; `None` where there are none.
    #[must_use]
    pub fn ranking(&self, processes: u32, work: WorkSharing) -> Option<SplitRanking> {
        let (near, far) = (self.local.most_threads(), self.remote.most_threads());
        let fewest_near = processes.saturating_sub(far);
        let counts = fewest_near..=processes.min(near);
        let mut splits: Vec<ProcessSplit> =
            counts.rev().filter_map(|n| self.split(n, processes - n, work)).collect();
        // Of equal ones the one with more near stays before.
        splits.sort_by(|one, other| other.bandwidth.total_cmp(&one.bandwidth));
        // A gain that is sure stands before a larger one that may be none.
        let near = splits.iter().find(|split| split.cell.remote_threads == 0).cloned();
        let is_gain = |split: &ProcessSplit| near.as_ref().is_some_and(|it| split.surely_beats(it));
        let sure = splits.iter().position(is_gain);
        if let Some(sure) = sure {
            splits[..=sure].rotate_right(1);
        }
        let best = splits.first().cloned()?;
        let verdict = match &near {
            None => SplitVerdict::NotAllFitNear,
            Some(_) if best.cell.remote_threads == 0 => SplitVerdict::AllNear,
            Some(_) if sure.is_some() => SplitVerdict::Gain,
            Some(near) if best.room.is_none() || near.room.is_none() => SplitVerdict::ErrorUnknown,
            Some(_) => SplitVerdict::WithinError,
        };
        let mut unsure = Vec::new();
        for (position, split) in splits.iter_mut().enumerate() {
            let margin = best.bandwidth / split.bandwidth - 1.0;
            let rooms = best.room.zip(split.room);
            // To be known worse than the best is no merit.
            let is_level = rooms.is_some_and(|(one, other)| margin <= one.hypot(other.min(one)));
            let is_lower = rooms.is_some_and(|(one, other)| margin > one.hypot(other));
            split.is_as_good_as_best =
                (position == 0 || is_level) && (sure.is_none() || is_gain(split));
            if !split.is_as_good_as_best && !is_lower {
                unsure.push((split.cell.local_threads, split.cell.remote_threads));
            }
        }
        if matches!(verdict, SplitVerdict::Gain | SplitVerdict::NotAllFitNear) {
            splits.sort_by_key(|split| match split.is_as_good_as_best {
                true => usize::from(split.cell.measured.is_none()),
                false => 2,
            });
        }
        let gain = near.map(|near| splits[0].bandwidth / near.bandwidth - 1.0);
        let gain = gain.filter(|gain| gain.is_finite());
        Some(SplitRanking { work, processes, splits, unsure, verdict, gain })
    }

    /// The rankings of as many processes as the local cluster holds, and of the counts of threads
    /// of a full grid below, two at least; for both ways to share work.
    #[must_use]
    pub fn rankings(&self) -> Vec<SplitRanking> {
        /// More processes than this are a stranger's record.
        const MOST_PROCESSES: u32 = 4096;
        let counts = super::counts(&self.local, std::iter::empty()).into_iter();
        counts
            .filter(|count| (2..=MOST_PROCESSES).contains(count))
            .flat_map(|count| WorkSharing::ALL.map(|work| self.ranking(count, work)))
            .flatten()
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
            (near, shares.local * self.local.evenness()),
            (far, shares.remote * self.remote.evenness()),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0.0)
        .map(|(count, sum)| sum / count)
        .fold(f64::INFINITY, f64::min);
        let figure = match work {
            WorkSharing::Dynamic => shares.total(),
            WorkSharing::Static => (near + far) * slowest,
        };
        figure.is_finite().then_some(figure)
    }
}

fn half(middle: f64, (low, high): (f64, f64)) -> f64 {
    (high - middle).max(middle - low) / middle
}

fn around(middle: f64, room: f64) -> (f64, f64) {
    (middle * (1.0 - room).max(0.0), middle * (1.0 + room))
}
