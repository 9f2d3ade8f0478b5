//! How the bandwidth of a run is distributed over many runs, what pinning threads does to it, and
//! the settings that pin them.
//! Symbols: `paced`, threads x the slowest thread, useful bytes/s, which a program sees whose loops
//! are divided evenly; `sum`, all threads together; gain = mean of pinned runs / mean of unbound
//! ones - 1, a fraction; spread = standard deviation / mean.
//! Source: vladimirov2012: runs of unbound threads have several modes, and scattered threads are in
//! the highest one nearly always, by about 20 % faster on average. Modes: `nearfar_stats::find_modes`.
//! Holds when: a case has 20 runs or more for its modes, and 5 for the effect of affinity.
//! Fails when: the program's threads do not share its work evenly; pages were touched by other
//! threads than use them; something else runs on the machine.
//! Pinned by: `crates/model/tests/distribution`, `crates/reproduce/tests/vladimirov2012.rs`; rates
//! of modes: `cargo bench -p nearfar-model --bench accuracy -- modes`.

mod advice;
mod affinity_effect;
mod cpu_sequence;

use nearfar_record::{Affinity, Experiment, Suite};
use nearfar_stats::{find_modes, median, quantile};

use crate::inapplicable::Inapplicable;
use crate::record_figures::RecordFigures;
use crate::scaling::{RunStatistics, ScalingRuns, scaling};

pub use advice::{ThreadAdvice, ThreadSettings};
pub use affinity_effect::AffinityEffect;
pub use cpu_sequence::CpuSequence;
pub use nearfar_stats::{LEAST_DIP_P, Mode, ModeEvidence, Modes};

/// Runs that show modes which are 9 GB/s in 70 apart, as the paper's are.
pub const ENOUGH_RUNS: u32 = 1000;

/// A thread count is enough when its mean is at most this much below the best.
pub const KNEE: f64 = 0.05;

/// Rates are counted in blocks of a window and so known to about this part of them.
const STEP: f64 = 1e-3;

/// What the model says.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// By kernel, in the order of the plan.
    pub kernels: Vec<KernelDistribution>,
    /// The command that takes [`ENOUGH_RUNS`] runs of each case.
    pub more_runs: Option<String>,
}

/// Runs of one kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelDistribution {
    /// Kernel by its name.
    pub kernel: String,
    /// Instruction-set variant by its name.
    pub variant: String,
    /// By threads, then unbound, compact, scatter; what was not measured has no figures.
    pub runs: Vec<RunDistribution>,
    /// What pinning does, by threads and affinity; none where a side has too few runs.
    pub effects: Vec<AffinityEffect>,
    /// Where more threads bring no more, by affinity.
    pub knees: Vec<Knee>,
    /// What to do; `None` where nothing was measured.
    pub advice: Option<ThreadAdvice>,
}

/// Runs of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct RunDistribution {
    pub runs: ScalingRuns,
    /// How they are distributed; `None` without samples.
    pub spread: Option<RunSpread>,
}

/// How runs are distributed.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSpread {
    /// By pace: what 5, 25, 50, 75 and 95 % of the runs are at most, bytes/s.
    pub paced_quantiles: [f64; 5],
    /// The same of the sum.
    pub sum_quantiles: [f64; 5],
    /// The modes by pace, places in bytes/s; `None` where a run is no number.
    pub modes: Option<Modes>,
}

/// The fewest threads that are enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// How threads are spread.
    pub affinity: Affinity,
    /// Fewest threads whose mean is within [`KNEE`] of the best.
    pub threads: u32,
    /// Their mean by pace, bytes/s.
    pub mean: f64,
    /// The threads with the best mean.
    pub best_threads: u32,
    /// That mean, bytes/s.
    pub best_mean: f64,
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
    let mut kernels: Vec<Vec<ScalingRuns>> = Vec::new();
    for runs in all {
        let same = |other: &ScalingRuns| {
            (&other.place.kernel, &other.place.variant) == (&runs.place.kernel, &runs.place.variant)
        };
        match kernels.last_mut().filter(|kernel| kernel.first().is_some_and(same)) {
            Some(kernel) => kernel.push(runs),
            None => kernels.push(vec![runs]),
        }
    }
    let measured = Inapplicable::until_measured(
        record,
        &[Experiment::Scaling],
        Suite::Standard,
        "too few runs to show modes",
    );
    Ok(Distribution {
        kernels: kernels.into_iter().filter_map(|runs| of_kernel(figures, runs)).collect(),
        more_runs: measured.remedy.map(|command| format!("{command} --runs {ENOUGH_RUNS}")),
    })
}

fn of_kernel(figures: &RecordFigures<'_>, runs: Vec<ScalingRuns>) -> Option<KernelDistribution> {
    let place = &runs.first()?.place;
    let (kernel, variant) = (place.kernel.clone(), place.variant.clone());
    let effects = affinity_effect::effects(&runs);
    let knees = knees(&runs);
    let advice = advice::advice(figures.record(), &runs, &effects);
    let with_spread = |runs: ScalingRuns| {
        let spread = runs.figures.as_ref().and_then(|figures| {
            Some(RunSpread {
                paced_quantiles: quantiles(&figures.paced.runs)?,
                sum_quantiles: quantiles(&figures.sum.runs)?,
                modes: find_modes(&figures.paced.runs, step(&figures.paced.runs)),
            })
        });
        RunDistribution { runs, spread }
    };
    let runs = runs.into_iter().map(with_spread).collect();
    Some(KernelDistribution { kernel, variant, runs, effects, knees, advice })
}

fn step(runs: &[f64]) -> f64 {
    median(runs).map_or(0.0, |median| STEP * median.abs())
}

/// What 5, 25, 50, 75 and 95 % are at most; `None` without runs.
fn quantiles(runs: &[f64]) -> Option<[f64; 5]> {
    let mut ascending = runs.to_vec();
    ascending.sort_by(f64::total_cmp);
    let at = |share| quantile(&ascending, share);
    Some([at(0.05)?, at(0.25)?, at(0.5)?, at(0.75)?, at(0.95)?])
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
            .filter_map(|runs| Some((runs.place.threads, paced(runs)?.mean)));
        let means: Vec<(u32, f64)> = means.collect();
        let &(best_threads, best_mean) =
            means.iter().max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let enough = |(_, mean): &&(u32, f64)| *mean >= (1.0 - KNEE) * best_mean;
        let &(threads, mean) = means.iter().filter(enough).min_by_key(|(threads, _)| *threads)?;
        Some(Knee { affinity, threads, mean, best_threads, best_mean })
    };
    [Affinity::Unbound, Affinity::Compact, Affinity::Scatter].into_iter().filter_map(of).collect()
}
