//! Bandwidth against threads and affinity, and how runs spread.

use nearfar_model::{Distribution, RunMode, RunModes, RunStatistics, ScalingRuns};
use nearfar_units::{BytesPerSecond, Quantity, format_significant};

use super::lines::{Axis, Lines, Scale, Series, Style, Ticks};
use super::spread::{Group, Spread};
use super::{Chart, Plot};
use crate::figure::{Behind, Counted, Figure, Unit};
use crate::subject::{Sources, count};

pub(super) fn charts(sources: &Sources<'_>) -> Vec<Chart> {
    [threads(&sources.show.scaling), runs(sources)].into_iter().flatten().collect()
}

const PACED: &str = "paced: threads x the slowest";
const SUM: &str = "sum of all threads";

fn threads(all: &[ScalingRuns]) -> Option<Chart> {
    let x = Axis::new("threads", Scale::Log).marked_at(Ticks::Counts);
    let y = Axis::new("mean of runs, GB/s", Scale::FromZero);
    let mut lines = Lines::new(x, y, &["Kernel", "Statistic"]);
    let mut sorted: Vec<&ScalingRuns> = all.iter().collect();
    let place =
        |it: &&ScalingRuns| (it.place.kernel.clone(), it.place.variant.clone(), it.place.affinity);
    sorted.sort_by_key(|it| (place(it), it.place.threads));
    for of in sorted.chunk_by(|one, next| place(one) == place(next)) {
        let Some(first) = of.first() else { continue };
        let kernel = format!("{} {}", first.place.kernel, first.place.variant);
        for (statistic, is_paced) in [(PACED, true), (SUM, false)] {
            let mut series = Series::new(first.place.affinity.as_str(), Style::Band);
            for view in of {
                let Some(figures) = &view.figures else { continue };
                let runs = if is_paced { &figures.paced } else { &figures.sum };
                let counted = if is_paced { Counted::PacedBytes } else { Counted::Bytes };
                let figure = mean(runs).of_samples(&view.case.id, counted);
                let threads = count(view.place.threads as usize, "thread");
                let about = format!("{threads}, mean of runs, least to most");
                series.point(f64::from(view.place.threads), &figure, &about);
            }
            lines.add(&[kernel.clone(), statistic.into()], series);
        }
    }
    Chart::of(
        "scaling-threads",
        "scaling",
        "Bandwidth against threads, by affinity",
        "A line for each affinity: mean bandwidth of the runs against the number of \
                      threads, in a band from the slowest to the fastest run.",
        Plot::Lines(lines),
    )
}

fn mean(runs: &RunStatistics) -> Figure {
    let range = Some([runs.min, runs.max].map(BytesPerSecond::in_unit));
    Figure::new(runs.mean.in_unit(), range, Unit::GbPerS)
}

fn runs(sources: &Sources<'_>) -> Option<Chart> {
    let model = sources.distribution();
    let mut spread = Spread::new("runs, paced, GB/s", &["Kernel", "Threads"]);
    // Most threads first: what is shown before anything is chosen.
    let mut all: Vec<&ScalingRuns> = sources.show.scaling.iter().collect();
    all.sort_by_key(|view| std::cmp::Reverse(view.place.threads));
    for view in all {
        let Some(paced) = view.figures.as_ref().map(|figures| &figures.paced) else { continue };
        let (modes, words) = model.map_or_else(Default::default, |model| modes(model, view));
        let choice = [
            format!("{} {}", view.place.kernel, view.place.variant),
            format!("{} threads", view.place.threads),
        ];
        let (name, values) = (
            view.place.affinity.as_str().to_string(),
            paced.runs.iter().map(|run| run.in_unit()).collect(),
        );
        let behind = Behind { case: view.case.id.clone(), counted: Counted::PacedBytes };
        spread.add(&choice, Group { name, values, modes, words, behind });
    }
    Chart::of(
        "scaling-runs",
        "scaling",
        "How runs are distributed, and their modes",
        "For each affinity each run as a point and their median as a line; where runs are many, their \
         density and quartiles as well. Diamonds are modes, where there is more than one.",
        Plot::Spread(spread),
    )
}

/// Modes of the runs of a case, and what is said of them.
fn modes(model: &Distribution, view: &ScalingRuns) -> (Vec<(f64, String)>, String) {
    let kernels = model.kernels.iter().filter(|of| of.kernel == view.place.kernel);
    let mut cases = kernels.flat_map(|of| &of.cases);
    let found = cases.find(|case| {
        case.case == view.case.id
            && (case.threads, case.affinity) == (view.place.threads, view.place.affinity)
    });
    let Some(modes) = found.and_then(|case| case.runs.found()?.modes.as_ref()) else {
        return Default::default();
    };
    let words = match modes {
        RunModes::TooFewRuns => "too few runs to tell modes",
        RunModes::NoMoreThanOneShown { .. } => "no more than one mode is shown",
        RunModes::Shown { .. } => "several modes are shown",
    };
    let one = |mode: &RunMode| {
        let figure = Figure::plain(mode.place);
        let share = format_significant(100.0 * mode.share.value.0, 2);
        (figure.value, format!("mode at {}, {share} % of the runs", figure.words()))
    };
    (modes.shown().iter().map(one).collect(), words.into())
}
