//! What a case's samples say: one value per round, their median and interval.
//! The engine's stopping rule and every table use this one definition.

use nearfar_stats::{Estimate, estimate_median, median, relative_deviation, relative_spread};
use serde::{Serialize, Serializer};

use nearfar_units::serialize_gb_per_s;

use crate::sample::{ActorSample, Sample};
use crate::sample_totals::SampleTotals;

/// The two ways to add up threads (saad2022 shows why both are kept: two local
/// and two remote processes gain 6 % by sum and lose 17 % by pace).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// Bytes of all threads / window.
    Sum,
    /// Threads x the slowest thread's rate: what a statically divided loop sees.
    Paced,
}

/// Whose work is added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// That of all actors.
    Case,
    /// That of the actor at this position.
    Actor(usize),
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Work {
    /// Useful bytes. (A chase's accesses are of 8 bytes each.)
    UsefulBytes,
    /// Floating-point operations.
    Flops,
}

/// What a case's samples say: useful bytes/s or FLOP/s, in JSON 1e9 of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaseSummary {
    /// Work a second of all threads together, over round values.
    #[serde(serialize_with = "serialize_median")]
    #[cfg_attr(feature = "schema", schemars(with = "Median"))]
    pub sum: Estimate,
    /// The same as threads x the slowest thread.
    #[serde(serialize_with = "serialize_median")]
    #[cfg_attr(feature = "schema", schemars(with = "Median"))]
    pub paced: Estimate,
    /// Highest round value of the sum.
    #[serde(serialize_with = "serialize_gb_per_s")]
    pub best_sum: f64,
    pub samples: usize,
    /// Samples that something disturbed.
    pub disturbed: usize,
    /// Whether every sample was disturbed, so that the figures rest on such samples.
    pub only_disturbed: bool,
    /// (largest - smallest) / median of the windows within a round, median over
    /// rounds; `None` with one window a round.
    pub spread_within_rounds: Option<f64>,
    /// (largest - smallest) / median of the round values.
    pub spread_between_rounds: f64,
    /// Standard deviation / mean of the round values; `None` with one round.
    pub deviation_between_rounds: Option<f64>,
    /// The share of its memory that huge pages backed, median over samples; null where the system did
    /// not say.
    pub huge_page_share: Option<f64>,
}

/// A median over rounds, as JSON has it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Median {
    value: f64,
    /// From the least to the most that the true median may be.
    interval: [f64; 2],
    /// How often such an interval holds the true median, a fraction.
    confidence: f64,
    /// Rounds that count.
    rounds: usize,
}

fn serialize_median<S: Serializer>(of: &Estimate, serializer: S) -> Result<S::Ok, S::Error> {
    let (low, high) = of.interval;
    let [value, low, high] = [of.median, low, high].map(|rate| rate / 1e9);
    let (interval, confidence, rounds) = ([low, high], of.confidence, of.count);
    Median { value, interval, confidence, rounds }.serialize(serializer)
}

/// What the runs of a program at one placement say.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSummary {
    /// Time, s, or the metric, over round values.
    #[serde(flatten)]
    pub figure: Estimate,
    /// The least round value.
    pub least: f64,
    /// The highest round value.
    pub most: f64,
    /// Standard deviation / mean of the round values; null with one round.
    pub deviation: Option<f64>,
    pub samples: usize,
    /// Samples that something disturbed.
    pub disturbed: usize,
}

impl Sample {
    /// Work a second: useful bytes/s or FLOP/s.
    pub fn rate(&self, part: Part, work: Work, aggregate: Aggregate) -> f64 {
        self.totals().rate(part, work, aggregate)
    }

    /// What an actor is there for: operations where it moves no bytes.
    pub fn work_of(&self, part: Part) -> Work {
        let moves = |actor: &ActorSample| actor.useful_bytes > 0 || actor.flops == 0;
        let is_compute = match part {
            Part::Case => !self.actors.iter().any(moves),
            Part::Actor(position) => self.actors.get(position).is_some_and(|actor| !moves(actor)),
        };
        if is_compute { Work::Flops } else { Work::UsefulBytes }
    }
}

/// The value of each round: the median over its undisturbed windows. Rounds of
/// which every window was disturbed have no value, unless that is so for all: then
/// all windows count, because a disturbed figure that says so is more than none.
pub fn round_values(
    samples: &[SampleTotals],
    part: Part,
    work: Work,
    aggregate: Aggregate,
) -> Vec<f64> {
    of_rounds(&by_round(samples, |it| it, |sample| sample.rate(part, work, aggregate)), median)
}

/// The figure of each round of a program: as [`round_values`].
pub fn run_figures(samples: &[SampleTotals]) -> Vec<f64> {
    of_rounds(&by_round(samples, |it| it, SampleTotals::run_figure), median)
}

/// Another figure of the runs of a program at one placement, over round values of the windows that
/// have it; `None` where none has.
pub fn estimate_runs<'a>(
    samples: impl IntoIterator<Item = &'a Sample>,
    figure: impl Fn(&Sample) -> Option<f64>,
) -> Option<Estimate> {
    let known = samples.into_iter().filter_map(|sample| Some((sample.totals(), figure(sample)?)));
    let known: Vec<(SampleTotals, f64)> = known.collect();
    estimate_median(&of_rounds(&by_round(&known, |(totals, _)| totals, |known| known.1), median))
}

/// What the runs of a program at one placement say; `None` when there is none.
pub fn summarize_runs<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Option<RunSummary> {
    let totals: Vec<SampleTotals> = samples.into_iter().map(Sample::totals).collect();
    let figures = run_figures(&totals);
    Some(RunSummary {
        figure: estimate_median(&figures)?,
        least: figures.iter().copied().min_by(f64::total_cmp)?,
        most: figures.iter().copied().max_by(f64::total_cmp)?,
        deviation: relative_deviation(&figures),
        samples: totals.len(),
        disturbed: totals.iter().filter(|totals| totals.is_disturbed()).count(),
    })
}

/// Values with their rounds, those of one round side by side.
fn by_round<T>(
    samples: &[T],
    totals: impl Fn(&T) -> &SampleTotals,
    value: impl Fn(&T) -> f64,
) -> Vec<(u32, f64)> {
    let only_disturbed = samples.iter().all(|sample| totals(sample).is_disturbed());
    let counted = samples.iter().filter(|sample| only_disturbed || !totals(sample).is_disturbed());
    let mut values: Vec<(u32, f64)> =
        counted.map(|sample| (totals(sample).round(), value(sample))).collect();
    values.sort_by_key(|(round, _)| *round);
    values
}

/// What the values of each round give, of rounds that give something.
fn of_rounds(values: &[(u32, f64)], figure: impl Fn(&[f64]) -> Option<f64>) -> Vec<f64> {
    let mut of_round = Vec::new();
    let figures = values.chunk_by(|one, next| one.0 == next.0).filter_map(|round| {
        of_round.clear();
        of_round.extend(round.iter().map(|(_, value)| *value));
        figure(&of_round)
    });
    figures.collect()
}

/// What the samples of one case say of the useful bytes of all its actors; `None` when there
/// is no sample.
pub fn summarize_case<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Option<CaseSummary> {
    let totals: Vec<SampleTotals> = samples.into_iter().map(Sample::totals).collect();
    summarize(&totals, Part::Case, Work::UsefulBytes)
}

/// What the samples of one case say of a part of it; `None` when there is no sample.
pub fn summarize(samples: &[SampleTotals], part: Part, work: Work) -> Option<CaseSummary> {
    let rounds = by_round(samples, |it| it, |sample| sample.rate(part, work, Aggregate::Sum));
    let sums = of_rounds(&rounds, median);
    let paces = round_values(samples, part, work, Aggregate::Paced);
    let spread = |round: &[f64]| (round.len() > 1).then(|| relative_spread(round)).flatten();
    let spreads = of_rounds(&rounds, spread);
    let huge = samples.iter().filter_map(|sample| sample.huge_page_share(part));
    let disturbed = samples.iter().filter(|sample| sample.is_disturbed()).count();
    Some(CaseSummary {
        sum: estimate_median(&sums)?,
        paced: estimate_median(&paces)?,
        best_sum: sums.iter().copied().max_by(f64::total_cmp)?,
        samples: samples.len(),
        disturbed,
        only_disturbed: disturbed == samples.len(),
        spread_within_rounds: median(&spreads),
        spread_between_rounds: relative_spread(&sums)?,
        deviation_between_rounds: relative_deviation(&sums),
        huge_page_share: median(&huge.collect::<Vec<f64>>()),
    })
}
