//! How the bandwidth of a run is distributed over many runs, what pinning threads does to it, and
//! the settings that pin them.
//! Symbols: `paced`, threads x the slowest thread, useful bytes/s, which a program sees whose loops
//! are divided evenly; `sum`, all threads together; speedup = mean of pinned runs / mean of
//! unbound ones; spread = standard deviation / mean.
//! Source: vladimirov2012: runs of unbound threads have several modes, and scattered threads are in
//! the highest one nearly always, by about 20 % faster on average. Modes: `nearfar_stats::find_modes`.
//! Holds when: a case has 20 runs or more for its modes, and 5 for the effect of affinity.
//! Fails when: the program's threads do not share its work evenly; pages were touched by other
//! threads than use them; something else runs on the machine.
//! Pinned by: `crates/model/tests/distribution`, `crates/reproduce/tests/wrong_numbers.rs`; rates
//! of modes: `cargo bench -p nearfar-model --bench accuracy -- modes`.

mod advice;
mod affinity_effect;
mod cpu_sequence;
mod run_modes;

use nearfar_record::{Absence, Affinity, Experiment, Outcome, Suite};
use nearfar_stats::quantile;
use nearfar_units::BytesPerSecond;
use serde::Serialize;

use crate::inapplicable::Inapplicable;
use crate::record_figures::{PlannedCase, RecordFigures};
use crate::scaling::{
    RunStatistics, ScalingFigures, ScalingRuns, WidestRuns, scaling, widest_runs,
};

pub use advice::{ThreadAdvice, ThreadSettings};
pub use affinity_effect::{AffinityEffect, MeanVerdict, SpreadVerdict};
pub use nearfar_stats::{LEAST_DIP_P, ModeEvidence};
pub use run_modes::{RunMode, RunModes};

/// Runs that show modes which are 9 GB/s in 70 apart, as the paper's are.
pub const ENOUGH_RUNS: u32 = 1000;

/// A thread count is enough when its mean is at most this much below the best.
pub const KNEE: f64 = 0.05;

/// How the runs of a record are distributed, and what affinity does to that (vladimirov2012);
/// `model RECORD distribution --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Distribution {
    /// By kernel, in the order of the plan.
    pub kernels: Vec<KernelDistribution>,
    /// Runs that show modes which lie apart as far as the paper's.
    pub enough_runs: u32,
    /// The command that takes this many of each case; null where nothing can on this machine, and
    /// where all have about as many.
    pub more_runs: Option<String>,
}

/// Runs of one kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelDistribution {
    pub kernel: String,
    /// Instruction-set variant.
    pub variant: String,
    /// By threads, then unbound, compact, scatter.
    pub cases: Vec<CaseDistribution>,
    /// What pinning does, by threads and affinity; none where a side has too few runs.
    pub effects: Vec<AffinityEffect>,
    /// Where more threads bring no more, by affinity.
    pub knees: Vec<Knee>,
    /// The runs that spread most, or null where no case has two.
    pub widest: Option<WidestRuns>,
    /// What to do, or null where nothing was measured.
    pub advice: Option<ThreadAdvice>,
}

/// Runs of one case.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaseDistribution {
    /// Its id in the record.
    pub case: String,
    pub threads: u32,
    /// How they are spread.
    pub affinity: Affinity,
    /// How its runs are distributed.
    pub runs: Outcome<RunDistribution>,
}

/// How runs are distributed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunDistribution {
    /// How many.
    pub runs: usize,
    /// Whether all samples were disturbed, and so none was left out.
    pub only_disturbed: bool,
    /// Threads x the slowest thread.
    pub paced: RunSpread,
    /// All threads together.
    pub sum: RunSpread,
    /// The modes by pace, or null where a run is no number.
    pub modes: Option<RunModes>,
}

/// Statistics over runs, useful bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSpread {
    #[serde(rename = "mean_gb_per_s")]
    pub mean: BytesPerSecond,
    /// Standard deviation, or null with one run.
    #[serde(rename = "deviation_gb_per_s")]
    pub deviation: Option<BytesPerSecond>,
    /// Smallest.
    #[serde(rename = "min_gb_per_s")]
    pub min: BytesPerSecond,
    /// Largest.
    #[serde(rename = "max_gb_per_s")]
    pub max: BytesPerSecond,
    /// What 5, 25, 50, 75 and 95 % of the runs are at most.
    #[serde(rename = "quantiles_gb_per_s")]
    pub quantiles: [BytesPerSecond; 5],
}

/// The fewest threads that are enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Knee {
    /// How threads are spread.
    pub affinity: Affinity,
    /// Fewest threads whose mean is at most 5 % below the best.
    pub threads: u32,
    /// Their mean by pace.
    #[serde(rename = "mean_gb_per_s")]
    pub mean: BytesPerSecond,
    /// The threads with the best mean.
    pub best_threads: u32,
    /// That mean.
    #[serde(rename = "best_mean_gb_per_s")]
    pub best_mean: BytesPerSecond,
}

/// The model of a record.
///
/// # Errors
/// Where the record holds no runs.
pub fn distribution(figures: &RecordFigures<'_>) -> Result<Distribution, Inapplicable> {
    let record = figures.record();
    let all = scaling(figures);
    if all.iter().all(|runs| runs.figures.is_none()) {
        return Err(Inapplicable::without(record, Experiment::Scaling));
    }
    let is_same = |one: &ScalingRuns, other: &ScalingRuns| {
        (&one.place.kernel, &one.place.variant) == (&other.place.kernel, &other.place.variant)
    };
    let kernels = all.chunk_by(is_same).filter_map(|runs| of_kernel(figures, runs));
    let kernels: Vec<KernelDistribution> = kernels.collect();
    let cases = kernels.iter().flat_map(|kernel| &kernel.cases);
    let fewest = cases.filter_map(|case| Some(case.runs.found()?.runs)).min();
    // Disturbed runs do not count: a few less are as many as were asked for.
    let has_few = fewest.is_some_and(|fewest| fewest < ENOUGH_RUNS as usize / 10 * 9);
    let more_runs = || {
        let why = "too few runs to show modes";
        let needed = [Experiment::Scaling];
        let lack = Inapplicable::until_measured(record, &needed, Suite::Standard, why);
        lack.remedy.map(|command| format!("{command} --runs {ENOUGH_RUNS}"))
    };
    let more_runs = has_few.then(more_runs).flatten();
    Ok(Distribution { kernels, enough_runs: ENOUGH_RUNS, more_runs })
}

fn of_kernel(figures: &RecordFigures<'_>, runs: &[ScalingRuns]) -> Option<KernelDistribution> {
    let place = &runs.first()?.place;
    let effects = affinity_effect::effects(runs);
    let of_case = |runs: &ScalingRuns| CaseDistribution {
        case: runs.case.id.clone(),
        threads: runs.place.threads,
        affinity: runs.place.affinity,
        runs: runs
            .figures
            .as_ref()
            .and_then(|figures| run_distribution(figures, &runs.case.id))
            .ok_or_else(|| why_absent(&runs.case))
            .into(),
    };
    Some(KernelDistribution {
        kernel: place.kernel.clone(),
        variant: place.variant.clone(),
        cases: runs.iter().map(of_case).collect(),
        knees: knees(runs),
        widest: widest_runs(runs),
        advice: advice::advice(figures.record(), runs, &effects),
        effects,
    })
}

fn run_distribution(figures: &ScalingFigures, case: &str) -> Option<RunDistribution> {
    Some(RunDistribution {
        runs: figures.paced.runs.len(),
        only_disturbed: figures.summary.only_disturbed,
        paced: run_spread(&figures.paced)?,
        sum: run_spread(&figures.sum)?,
        modes: RunModes::of(&figures.paced.values(), case),
    })
}

/// What 5, 25, 50, 75 and 95 % are at most, beside what is known; `None` without runs.
fn run_spread(runs: &RunStatistics) -> Option<RunSpread> {
    let mut ascending = runs.values();
    ascending.sort_by(f64::total_cmp);
    let at = |share| quantile(&ascending, share).map(BytesPerSecond);
    Some(RunSpread {
        mean: runs.mean,
        deviation: runs.deviation,
        min: runs.min,
        max: runs.max,
        quantiles: [at(0.05)?, at(0.25)?, at(0.5)?, at(0.75)?, at(0.95)?],
    })
}

/// A refusal before what was left out.
fn why_absent(case: &PlannedCase) -> String {
    let first = |kind| case.absences(kind).next();
    let absent = first(Absence::Refused).or_else(|| first(Absence::Omitted));
    absent.map_or("the record has no run of it".into(), |absent| absent.reason.text.clone())
}

/// The pace of runs that have figures.
fn paced(runs: &ScalingRuns) -> Option<&RunStatistics> {
    runs.figures.as_ref().map(|figures| &figures.paced)
}

/// The fewest threads of each affinity that are enough.
fn knees(runs: &[ScalingRuns]) -> Vec<Knee> {
    let of = |affinity: Affinity| {
        let means = runs
            .iter()
            .filter(|runs| runs.place.affinity == affinity)
            .filter_map(|runs| Some((runs.place.threads, paced(runs)?.mean.0)));
        let means: Vec<(u32, f64)> = means.collect();
        let &(best_threads, best_mean) =
            means.iter().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let enough = |(_, mean): &&(u32, f64)| *mean >= (1.0 - KNEE) * best_mean;
        let &(threads, mean) = means.iter().filter(enough).min_by_key(|(threads, _)| *threads)?;
        let (mean, best_mean) = (BytesPerSecond(mean), BytesPerSecond(best_mean));
        Some(Knee { affinity, threads, mean, best_threads, best_mean })
    };
    [Affinity::Unbound, Affinity::Compact, Affinity::Scatter].into_iter().filter_map(of).collect()
}
