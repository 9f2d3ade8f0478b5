//! How runs are distributed, what pinning does to that, and the settings that pin, as
//! `model distribution` prints them.

use nearfar_model::{
    AffinityEffect, CpuSequence, Distribution, ENOUGH_RUNS, KernelDistribution, Knee, Mode,
    ModeEvidence, Modes, RunDistribution, RunStatistics, ThreadAdvice, ThreadSettings,
};
use nearfar_record::{Affinity, Record};
use serde::Serialize;

use super::measured::MeasuredView;
use super::show_figure::CaseView;

/// How the runs of a record are distributed, and what affinity does to that (vladimirov2012);
/// `model RECORD distribution --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DistributionView {
    pub schema: &'static str,
    #[serde(flatten)]
    pub measured: MeasuredView,
    /// By kernel, in the order of the plan.
    pub kernels: Vec<KernelDistributionView>,
    /// Runs that show modes which lie apart as far as the paper's.
    pub enough_runs: u32,
    /// The command that takes so many, or null where nothing can on this machine.
    pub more_runs: Option<String>,
}

/// Runs of one kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelDistributionView {
    pub kernel: String,
    /// Instruction-set variant.
    pub variant: String,
    /// By threads, then unbound, compact, scatter.
    pub cases: Vec<RunDistributionView>,
    /// What pinning does, by threads and affinity.
    pub effects: Vec<AffinityEffectView>,
    /// Where more threads bring no more, by affinity.
    pub knees: Vec<KneeView>,
    /// What to do, or null where nothing was measured.
    pub advice: Option<ThreadAdviceView>,
}

/// Runs of one case.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunDistributionView {
    #[serde(flatten)]
    pub case: CaseView,
    pub threads: u32,
    /// How they are spread.
    pub affinity: Affinity,
    /// Whether all samples were disturbed, and so none was left out, or null without samples.
    pub only_disturbed: Option<bool>,
    /// Threads x the slowest thread, or null without samples.
    pub paced: Option<DistributedRunsView>,
    /// All threads together, or null without samples.
    pub sum: Option<DistributedRunsView>,
    /// The modes by pace, or null without samples.
    pub modes: Option<ModesView>,
}

/// Statistics over runs, useful GB/s.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DistributedRunsView {
    /// How many.
    pub runs: usize,
    pub mean_gb_per_s: f64,
    /// Standard deviation, or null with one run.
    pub deviation_gb_per_s: Option<f64>,
    /// Smallest.
    pub min_gb_per_s: f64,
    /// Largest.
    pub max_gb_per_s: f64,
    /// What 5, 25, 50, 75 and 95 % of the runs are at most.
    pub quantiles_gb_per_s: [f64; 5],
}

/// What runs show of their modes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModesView {
    /// `too_few_runs`, `no_more_than_one_shown` or `shown`.
    pub verdict: ModesVerdict,
    /// What is held against a single mode, or null with too few runs.
    pub evidence: Option<ModeEvidenceView>,
    /// The modes, the slowest first; empty unless shown.
    pub modes: Vec<ModeView>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModesVerdict {
    /// Too few runs to say anything.
    TooFewRuns,
    /// There may be more than one.
    NoMoreThanOneShown,
    /// There are at least as many as are listed.
    Shown,
}

/// What is held against a single mode.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModeEvidenceView {
    /// Runs far from all others, which were left out.
    pub left_out: usize,
    /// Hartigan's dip.
    pub dip: f64,
    /// How often even values have a larger one.
    pub dip_p: f64,
    /// Depth of the clearest valley, in standard errors.
    pub valley: f64,
    /// Above so much it shows two modes.
    pub valley_threshold: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModeView {
    /// Where runs are densest.
    pub gb_per_s: f64,
    /// Runs in it, as far as it is parted from the others.
    pub runs: usize,
    /// These as a fraction of the runs.
    pub run_share: f64,
    pub run_share_interval: [f64; 2],
}

/// Pinned runs beside as many unbound threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AffinityEffectView {
    pub threads: u32,
    /// How the pinned ones are spread.
    pub affinity: Affinity,
    /// Mean of pinned runs / mean of unbound ones - 1.
    pub gain: f64,
    pub gain_interval: [f64; 2],
    /// What the interval shows of the mean.
    pub mean: MeanVerdict,
    /// Spread of pinned runs / that of unbound ones, or null where either have none.
    pub spread_ratio: Option<f64>,
    /// Its interval, or null.
    pub spread_ratio_interval: Option<[f64; 2]>,
    /// What the interval shows of the spread.
    pub spread: SpreadVerdict,
}

/// What is shown of a mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MeanVerdict {
    /// Higher by 5 % or more.
    Faster,
    /// Lower by 5 % or more.
    Slower,
    /// Other by less than 5 %, which is worth no change.
    TooSmall,
    /// Chance explains the difference.
    NotShown,
}

/// What is shown of a spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SpreadVerdict {
    /// Less.
    Steadier,
    /// More.
    LessSteady,
    /// Chance explains the difference.
    NotShown,
}

/// The fewest threads that are enough.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KneeView {
    /// How threads are spread.
    pub affinity: Affinity,
    /// Fewest threads whose mean is at most 5 % below the best.
    pub threads: u32,
    /// Their mean by pace.
    pub gb_per_s: f64,
    /// The threads with the best mean.
    pub best_threads: u32,
    /// That mean.
    pub best_gb_per_s: f64,
}

/// What to do with the threads of a program that moves data as the kernel does.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadAdviceView {
    /// How many threads.
    pub threads: u32,
    /// How to spread them.
    pub affinity: Affinity,
    /// Mean of their runs by pace.
    pub expected_gb_per_s: f64,
    /// Smallest and largest of these.
    pub range_gb_per_s: [f64; 2],
    /// How many these are.
    pub runs: usize,
    /// Mean of as many unbound threads, or null where they were not measured.
    pub unbound_gb_per_s: Option<f64>,
    /// What pinning changes, or null where the advice is not to pin, or runs are too few.
    pub effect: Option<AffinityEffectView>,
    /// What pins threads, or null where the advice is not to.
    pub settings: Option<ThreadSettingsView>,
}

/// Values of environment variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadSettingsView {
    /// `OMP_NUM_THREADS`
    pub omp_num_threads: String,
    /// `OMP_PLACES` by kind.
    pub omp_places: &'static str,
    /// `OMP_PROC_BIND` to go with it.
    pub omp_proc_bind: &'static str,
    /// `KMP_AFFINITY`
    pub kmp_affinity: &'static str,
    /// The CPU of each thread as measured, or null where the record lacks them.
    pub thread_cpus: Option<Vec<u32>>,
    /// `OMP_PLACES` with these CPUs, with `OMP_PROC_BIND=close`, or null.
    pub omp_places_of_cpus: Option<String>,
    /// `GOMP_CPU_AFFINITY` with these CPUs, or null.
    pub gomp_cpu_affinity: Option<String>,
}

impl DistributionView {
    /// The view of a record's model.
    #[must_use]
    pub fn new(record: &Record, model: &Distribution) -> Self {
        Self {
            schema: "nearfar.distribution/1",
            measured: MeasuredView::new(record),
            kernels: model.kernels.iter().map(KernelDistributionView::new).collect(),
            enough_runs: ENOUGH_RUNS,
            more_runs: model.more_runs.clone(),
        }
    }
}

impl KernelDistributionView {
    fn new(kernel: &KernelDistribution) -> Self {
        Self {
            kernel: kernel.kernel.clone(),
            variant: kernel.variant.clone(),
            cases: kernel.runs.iter().map(RunDistributionView::new).collect(),
            effects: kernel.effects.iter().map(AffinityEffectView::new).collect(),
            knees: kernel.knees.iter().map(KneeView::new).collect(),
            advice: kernel.advice.as_ref().map(ThreadAdviceView::new),
        }
    }
}

impl RunDistributionView {
    fn new(distribution: &RunDistribution) -> Self {
        let RunDistribution { runs, spread } = distribution;
        let figures = runs.figures.as_ref().zip(spread.as_ref());
        Self {
            case: CaseView::new(&runs.case),
            threads: runs.place.threads,
            affinity: runs.place.affinity,
            only_disturbed: figures.map(|(figures, _)| figures.summary.only_disturbed),
            paced: figures.map(|(figures, spread)| {
                DistributedRunsView::new(&figures.paced, &spread.paced_quantiles)
            }),
            sum: figures.map(|(figures, spread)| {
                DistributedRunsView::new(&figures.sum, &spread.sum_quantiles)
            }),
            modes: figures.and_then(|(_, spread)| spread.modes.as_ref()).map(ModesView::new),
        }
    }
}

impl DistributedRunsView {
    fn new(runs: &RunStatistics, quantiles: &[f64; 5]) -> Self {
        Self {
            runs: runs.runs.len(),
            mean_gb_per_s: runs.mean / 1e9,
            deviation_gb_per_s: runs.deviation.map(|deviation| deviation / 1e9),
            min_gb_per_s: runs.min / 1e9,
            max_gb_per_s: runs.max / 1e9,
            quantiles_gb_per_s: quantiles.map(|quantile| quantile / 1e9),
        }
    }
}

impl ModesView {
    fn new(modes: &Modes) -> Self {
        let (verdict, evidence, found) = match modes {
            Modes::TooFew => (ModesVerdict::TooFewRuns, None, &[][..]),
            Modes::NotShown(evidence) => {
                (ModesVerdict::NoMoreThanOneShown, Some(evidence), &[][..])
            }
            Modes::Shown(evidence, modes) => (ModesVerdict::Shown, Some(evidence), &modes[..]),
        };
        Self {
            verdict,
            evidence: evidence.map(ModeEvidenceView::new),
            modes: found.iter().map(ModeView::new).collect(),
        }
    }
}

impl ModeEvidenceView {
    fn new(evidence: &ModeEvidence) -> Self {
        let &ModeEvidence { left_out, dip, dip_p, valley, valley_threshold } = evidence;
        Self { left_out, dip, dip_p, valley, valley_threshold }
    }
}

impl ModeView {
    fn new(mode: &Mode) -> Self {
        Self {
            // Densities reach beyond the values that they are made of.
            gb_per_s: mode.place.max(0.0) / 1e9,
            runs: mode.values,
            run_share: mode.share,
            run_share_interval: mode.interval.into(),
        }
    }
}

impl AffinityEffectView {
    fn new(effect: &AffinityEffect) -> Self {
        Self {
            threads: effect.threads,
            affinity: effect.affinity,
            gain: effect.gain,
            gain_interval: effect.gain_interval.into(),
            mean: match (effect.is_faster(), effect.is_slower(), effect.is_too_small()) {
                (true, ..) => MeanVerdict::Faster,
                (_, true, _) => MeanVerdict::Slower,
                (.., true) => MeanVerdict::TooSmall,
                _ => MeanVerdict::NotShown,
            },
            spread_ratio: effect.spread_ratio,
            spread_ratio_interval: effect.spread_ratio_interval.map(Into::into),
            spread: match (effect.is_steadier(), effect.is_less_steady()) {
                (true, _) => SpreadVerdict::Steadier,
                (_, true) => SpreadVerdict::LessSteady,
                _ => SpreadVerdict::NotShown,
            },
        }
    }
}

impl KneeView {
    fn new(knee: &Knee) -> Self {
        Self {
            affinity: knee.affinity,
            threads: knee.threads,
            gb_per_s: knee.mean / 1e9,
            best_threads: knee.best_threads,
            best_gb_per_s: knee.best_mean / 1e9,
        }
    }
}

impl ThreadAdviceView {
    fn new(advice: &ThreadAdvice) -> Self {
        Self {
            threads: advice.threads,
            affinity: advice.affinity,
            expected_gb_per_s: advice.expected / 1e9,
            range_gb_per_s: [advice.range.0 / 1e9, advice.range.1 / 1e9],
            runs: advice.runs,
            unbound_gb_per_s: advice.unbound.map(|unbound| unbound / 1e9),
            effect: advice.effect.as_ref().map(AffinityEffectView::new),
            settings: advice.settings.as_ref().map(ThreadSettingsView::new),
        }
    }
}

impl ThreadSettingsView {
    fn new(settings: &ThreadSettings) -> Self {
        let cpus = settings.cpus.as_ref();
        Self {
            omp_num_threads: settings.omp_num_threads.clone(),
            omp_places: settings.omp_places,
            omp_proc_bind: settings.omp_proc_bind,
            kmp_affinity: settings.kmp_affinity,
            thread_cpus: cpus.map(|cpus| cpus.cpus.clone()),
            omp_places_of_cpus: cpus.map(CpuSequence::places),
            gomp_cpu_affinity: cpus.map(CpuSequence::gomp),
        }
    }
}
