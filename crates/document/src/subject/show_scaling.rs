//! Bandwidth against thread count and affinity as `show` prints it.

use std::collections::HashSet;

use nearfar_model::{Histogram, RecordFigures, RunStatistics, ScalingRuns, scaling, widest_runs};
use nearfar_record::Affinity;
use nearfar_units::format_significant;
use serde::Serialize;

use super::figures::{count, rounded, significant};
use super::show_figure::{BandwidthView, CaseView, Footnotes, kernel_title, section};
use super::show_grid::{Side, dotted_grid, groups, in_order, sorted};
use crate::printable::printable;

/// Runs of one kernel by so many threads of one affinity.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScalingView {
    #[serde(flatten)]
    pub case: CaseView,
    pub kernel: String,
    /// Instruction-set variant.
    pub variant: String,
    pub threads: u32,
    /// How they are spread.
    pub affinity: Affinity,
    /// Medians over runs, each of which is a round, or null.
    pub bandwidth: Option<BandwidthView>,
    /// Threads x the slowest thread in each run, or null.
    pub paced: Option<RunsView>,
    /// All threads together in each run, or null.
    pub sum: Option<RunsView>,
}

/// Runs and their statistics, useful GB/s.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunsView {
    pub mean_gb_per_s: f64,
    /// Standard deviation, or null with one run.
    pub deviation_gb_per_s: Option<f64>,
    /// Smallest.
    pub min_gb_per_s: f64,
    /// Largest.
    pub max_gb_per_s: f64,
    /// Each run, in their order.
    pub runs_gb_per_s: Vec<f64>,
}

impl RunsView {
    fn new(runs: &RunStatistics) -> Self {
        Self {
            mean_gb_per_s: runs.mean / 1e9,
            deviation_gb_per_s: runs.deviation.map(|deviation| deviation / 1e9),
            min_gb_per_s: runs.min / 1e9,
            max_gb_per_s: runs.max / 1e9,
            runs_gb_per_s: runs.runs.iter().map(|run| run / 1e9).collect(),
        }
    }
}

/// The runs whose histogram is shown: those of a kernel that spread most.
#[derive(Debug, Clone, PartialEq)]
pub struct WidestRuns {
    pub kernel: String,
    /// Instruction-set variant.
    pub variant: String,
    pub threads: u32,
    /// How they are spread.
    pub affinity: Affinity,
    /// (largest - smallest) / mean, a fraction.
    pub spread: f64,
    /// Runs by GB/s.
    pub histogram: Histogram,
}

/// Lines of a histogram at most.
const BINS: usize = 12;

/// Runs, and of each kernel those that spread most.
pub(crate) fn scaling_views(figures: &RecordFigures<'_>) -> (Vec<ScalingView>, Vec<WidestRuns>) {
    let all = scaling(figures);
    let kernels = groups(&all, |runs| (&runs.place.kernel, &runs.place.variant));
    let widest = kernels.into_iter().filter_map(|(_, of)| {
        let (runs, paced) = widest_runs(of)?;
        let gb_per_s: Vec<f64> = paced.runs.iter().map(|run| run / 1e9).collect();
        Some(WidestRuns {
            kernel: runs.place.kernel.clone(),
            variant: runs.place.variant.clone(),
            threads: runs.place.threads,
            affinity: runs.place.affinity,
            spread: paced.spread()?,
            histogram: Histogram::of(&gb_per_s, BINS)?,
        })
    });
    let widest = widest.collect();
    (all.iter().map(view).collect(), widest)
}

fn view(runs: &ScalingRuns) -> ScalingView {
    let figures = runs.figures.as_ref();
    ScalingView {
        case: CaseView::new(&runs.case),
        kernel: runs.place.kernel.clone(),
        variant: runs.place.variant.clone(),
        threads: runs.place.threads,
        affinity: runs.place.affinity,
        bandwidth: figures.map(|figures| BandwidthView::new(&figures.summary)),
        paced: figures.map(|figures| RunsView::new(&figures.paced)),
        sum: figures.map(|figures| RunsView::new(&figures.sum)),
    }
}

/// A table for each kernel, and below it the histogram of its widest runs.
pub(crate) fn scaling_text(views: &[ScalingView], widest: &[WidestRuns]) -> String {
    let mut text = section(
        "scaling",
        "threads over the whole machine, on pages that each touches first, anew in every run. GB/s (1e9 \
         useful bytes/s), paced: threads x the slowest thread, what STREAM sees. Mean ± standard \
         deviation over runs, below it smallest - largest run. unbound: threads run where Linux puts \
         them; compact: core by core; scatter: in turn over packages, nodes and cores. same CPUs: as the \
         cell before it, measured once.",
    );
    let mut footnotes = Footnotes::default();
    for ((kernel, variant), of) in groups(views, |view| (&view.kernel, &view.variant)) {
        let runs = of.iter().filter_map(|view| Some(view.paced.as_ref()?.runs_gb_per_s.len()));
        let runs = in_order(runs);
        let equal = match runs[..] {
            [runs] => format!(", {} each", count(runs, "run")),
            _ => String::new(),
        };
        text += &format!("\n{}, {}{equal}\n", kernel_title(kernel), printable(variant));
        let affinities = Side {
            keys: sorted(of.iter().map(|view| view.affinity)),
            of: |view: &ScalingView| view.affinity,
            label: |affinity: &Affinity| affinity.as_str().into(),
        };
        let threads = Side {
            keys: sorted(of.iter().map(|view| view.threads)),
            of: |view: &ScalingView| view.threads,
            label: |threads: &u32| count(*threads as usize, "thread"),
        };
        // One case can stand for two affinities; its figure twice would look like two that agree.
        let mut printed = HashSet::new();
        let cell = |view: &ScalingView| {
            if view.paced.is_some() && !printed.insert(view.case.case.clone()) {
                return "same CPUs".into();
            }
            cell_text(view, equal.is_empty(), &mut footnotes)
        };
        text += &dotted_grid(&of, &threads, &affinities, cell);
        let widest = widest.iter().find(|runs| (&runs.kernel, &runs.variant) == (kernel, variant));
        text += &widest.map_or_else(String::new, histogram_text);
    }
    text + &footnotes.lines()
}

fn cell_text(view: &ScalingView, counts_runs: bool, footnotes: &mut Footnotes) -> String {
    let (Some(paced), Some(bandwidth)) = (&view.paced, &view.bandwidth) else {
        return footnotes.absence(&view.case);
    };
    let [_, disturbed] = footnotes.marks(None, bandwidth.rounds.only_disturbed);
    let three = |value| format_significant(value, 3);
    let mut text = three(paced.mean_gb_per_s);
    if let Some(deviation) = paced.deviation_gb_per_s {
        text += &format!(" ± {}", format_significant(deviation, 2));
    }
    text += disturbed;
    if paced.runs_gb_per_s.len() > 1 {
        text += &format!("\n{} - {}", three(paced.min_gb_per_s), three(paced.max_gb_per_s));
    }
    if counts_runs {
        text += &format!("\n{}", count(paced.runs_gb_per_s.len(), "run"));
    }
    if !view.case.refused.is_empty() {
        text += &format!("\nthen {}", footnotes.absence(&view.case));
    }
    text
}

/// Spreads below this have no shape that is worth lines.
const LEAST_SPREAD: f64 = 0.01;

/// Characters of the longest bar.
const LONGEST_BAR: usize = 50;

fn histogram_text(widest: &WidestRuns) -> String {
    let WidestRuns { threads, affinity, spread, histogram, .. } = widest;
    if *spread < LEAST_SPREAD {
        return " no count's runs are more than 1 % apart\n".into();
    }
    let most = histogram.counts.iter().copied().max().unwrap_or(1);
    // One character stands for so many runs.
    let each = most.div_ceil(LONGEST_BAR);
    let unit = if each > 1 { format!("; one # for {each}") } else { String::new() };
    let mut text = format!(
        " widest: {} {}, largest - smallest {} % of the mean; runs by GB/s{unit}\n",
        count(*threads as usize, "thread"),
        affinity.as_str(),
        significant(spread * 100.0, 2)
    );
    let decimals = (-histogram.width.log10().floor()).clamp(0.0, 9.0);
    #[expect(clippy::cast_possible_truncation, reason = "0 to 9")]
    let end = |value: f64| rounded(value, decimals as i32);
    let labels: Vec<String> =
        histogram.bins().map(|(from, to, _)| format!("{} - {}", end(from), end(to))).collect();
    let width = labels.iter().map(String::len).max().unwrap_or(0);
    for (label, (_, _, runs)) in labels.iter().zip(histogram.bins()) {
        let line = format!("   {label:>width$}  {} {runs}", "#".repeat(runs.div_ceil(each)));
        text += &format!("{line}\n");
    }
    text
}
