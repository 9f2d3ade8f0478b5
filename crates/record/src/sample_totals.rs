//! What one window moved, added up over the threads of each actor. All rates are made of these:
//! a record of a large machine has millions of threads' lines, and tables ask for many rates.

use crate::sample::{ActorSample, Sample};
use crate::summary::{Aggregate, Part, Work};

/// A sample's totals.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleTotals {
    round: u32,
    is_disturbed: bool,
    seconds: f64,
    metric: Option<f64>,
    actors: Vec<ActorTotals>,
}

/// Of one actor, or of several.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ActorTotals {
    threads: f64,
    useful_bytes: Total,
    flops: Total,
    /// Bytes of its memory, and those of them that huge pages backed; 0 where the system did not say.
    resident_bytes: f64,
    huge_bytes: f64,
}

/// Of all threads, and of the thread with the least; infinite where there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Total {
    sum: f64,
    least: f64,
}

impl Sample {
    pub fn totals(&self) -> SampleTotals {
        SampleTotals {
            round: self.round,
            is_disturbed: self.is_disturbed(),
            seconds: self.window_ns as f64 / 1e9,
            metric: match (&self.run, &self.workload) {
                (_, Some(workload)) => Some(workload.rate()),
                (run, None) => run.as_ref().and_then(|run| run.metric),
            },
            actors: self.actors.iter().map(ActorTotals::of).collect(),
        }
    }
}

impl SampleTotals {
    /// The pass over all cases.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Whether anything disturbed the window.
    pub fn is_disturbed(&self) -> bool {
        self.is_disturbed
    }

    /// Of a run of a program: the metric that it printed, or its time, s, where none was read; of a
    /// workload its rate.
    pub fn run_figure(&self) -> f64 {
        self.metric.unwrap_or(self.seconds)
    }

    /// Work a second: useful bytes/s or FLOP/s.
    pub fn rate(&self, part: Part, work: Work, aggregate: Aggregate) -> f64 {
        let of_part = self.of_part(part);
        let total = match work {
            Work::UsefulBytes => of_part.useful_bytes,
            Work::Flops => of_part.flops,
        };
        match aggregate {
            Aggregate::Sum => total.sum / self.seconds,
            // Of no thread nothing.
            Aggregate::Paced if of_part.threads == 0.0 => 0.0,
            Aggregate::Paced => of_part.threads * (total.least / self.seconds),
        }
    }

    /// The share of the memory that huge pages backed; `None` where the system did not say.
    pub fn huge_page_share(&self, part: Part) -> Option<f64> {
        let of_part = self.of_part(part);
        let share = of_part.huge_bytes / of_part.resident_bytes;
        (of_part.resident_bytes > 0.0).then_some(share)
    }

    fn of_part(&self, part: Part) -> ActorTotals {
        match part {
            Part::Case => self.actors.iter().copied().fold(ActorTotals::NONE, ActorTotals::with),
            Part::Actor(position) => {
                self.actors.get(position).copied().unwrap_or(ActorTotals::NONE)
            }
        }
    }

    /// The same with some of the actors alone.
    pub fn of_actors(&self, is_chosen: impl Fn(usize) -> bool) -> Self {
        let chosen = self.actors.iter().enumerate().filter(|(position, _)| is_chosen(*position));
        Self { actors: chosen.map(|(_, actor)| *actor).collect(), ..*self }
    }
}

impl ActorTotals {
    const NONE: Self = Self {
        threads: 0.0,
        useful_bytes: Total::NONE,
        flops: Total::NONE,
        resident_bytes: 0.0,
        huge_bytes: 0.0,
    };

    fn of(actor: &ActorSample) -> Self {
        let sizes = &actor.page_sizes;
        let sizes = sizes.resident_bytes.zip(sizes.huge_bytes).unwrap_or_default();
        let pages =
            Self { resident_bytes: sizes.0 as f64, huge_bytes: sizes.1 as f64, ..Self::NONE };
        actor.threads.iter().fold(pages, |totals, thread| Self {
            threads: totals.threads + 1.0,
            useful_bytes: totals.useful_bytes.with(Total::of(thread.useful_bytes)),
            flops: totals.flops.with(Total::of(thread.flops)),
            ..totals
        })
    }

    fn with(self, other: Self) -> Self {
        Self {
            threads: self.threads + other.threads,
            useful_bytes: self.useful_bytes.with(other.useful_bytes),
            flops: self.flops.with(other.flops),
            resident_bytes: self.resident_bytes + other.resident_bytes,
            huge_bytes: self.huge_bytes + other.huge_bytes,
        }
    }
}

impl Total {
    const NONE: Self = Self { sum: 0.0, least: f64::INFINITY };

    fn of(count: u64) -> Self {
        let count = count as f64;
        Self { sum: count, least: count }
    }

    fn with(self, other: Self) -> Self {
        Self { sum: self.sum + other.sum, least: self.least.min(other.least) }
    }
}
