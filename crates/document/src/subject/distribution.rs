//! How runs are distributed, what pinning threads does to that, and the settings that pin them.

use nearfar_model::{
    AffinityEffect, CaseDistribution, Distribution, KernelDistribution, Knee, LEAST_DIP_P,
    MeanVerdict, ModeEvidence, RunMode, RunModes, RunSpread, SpreadVerdict, ThreadAdvice,
    ThreadSettings, WidestRuns,
};
use nearfar_record::Affinity;
use nearfar_units::{BytesPerSecond, Quantity, format_significant};

use super::figures::{count, rounded, significant};
use crate::document::Section;
use crate::figure::{Counted, Figure, Unit};
use crate::grid::groups;
use crate::table::{Cell, Column, ONE, Table, WORDS};

pub(crate) fn section(model: &Distribution) -> Section {
    Section::new(
        "scaling",
        "Threads and affinity",
        about(model),
        model.kernels.iter().flat_map(tables).collect(),
    )
    .with_findings(findings(model))
}

fn about(model: &Distribution) -> String {
    let mut about = String::from(
        "Runs with fresh threads on pages that these touch first. By pace: threads x the slowest \
         thread, what a statically divided loop sees; sum: all threads together; sd: standard deviation over runs. unbound: threads \
         run where Linux puts them; compact: core by core; scatter: in turn over packages, nodes and \
         cores.",
    );
    let modes = || {
        let cases = model.kernels.iter().flat_map(|kernel| &kernel.cases);
        cases.filter_map(|case| case.runs.found()?.modes.as_ref())
    };
    if modes().any(|modes| *modes != RunModes::TooFewRuns) {
        about += " Modes are by pace, shown by a dip test at 1 % or a valley at 3 %; one of fewer than 15 \
                  runs can be missed, and two that overlap: there may be more than are shown.";
    }
    if modes().any(|modes| *modes == RunModes::TooFewRuns) {
        about += " Fewer than 20 runs say nothing of modes, and fewer than 100 seldom do.";
    }
    about
}

fn tables(kernel: &KernelDistribution) -> impl Iterator<Item = Table> {
    [Some(runs(kernel)), widest(kernel), effects(kernel)].into_iter().flatten()
}

/// Threads and how they are spread; compact and scattered threads on the same CPUs are one case.
fn place(threads: u32, affinities: impl Iterator<Item = Affinity>) -> Cell {
    let names: Vec<&str> = affinities.map(Affinity::as_str).collect();
    Cell::Text(format!("{threads} {}", names.join(", ")))
}

fn runs(kernel: &KernelDistribution) -> Table {
    let row = |same: &[&CaseDistribution]| {
        let case = same.first()?;
        let mut row = vec![place(case.threads, same.iter().map(|case| case.affinity))];
        let runs = match case.runs.as_result() {
            Ok(runs) => runs,
            Err(why) => {
                row.extend([Cell::Empty, Cell::not_measured(why)]);
                row.resize_with(COLUMNS, || Cell::Empty);
                return Some(row);
            }
        };
        let paced = &runs.paced;
        let mean = |of: &RunSpread, counted| {
            let figure = Figure::plain(of.mean);
            let figure = figure.of_samples(&case.case, counted);
            Cell::Figure(Figure { only_disturbed: runs.only_disturbed, ..figure })
        };
        let [low, .., high] = paced.quantiles;
        row.extend([
            Cell::text(runs.runs),
            mean(paced, Counted::PacedBytes),
            Cell::figure(paced.deviation.map(Figure::plain)),
            Cell::Text(range([paced.min, paced.max])),
            Cell::Text(range([low, high])),
            mean(&runs.sum, Counted::Bytes),
            Cell::Text(runs.modes.as_ref().map_or("not known".into(), number)),
        ]);
        Some(row)
    };
    let cases = groups(&kernel.cases, |case| &case.case);
    let mut notes: Vec<String> =
        cases.iter().filter_map(|(_, same)| modes(same.first()?)).collect();
    notes.extend(enough(kernel));
    let columns = [
        Column::words("threads"),
        Column::words("runs"),
        Column::of("mean", Unit::GbPerS),
        Column::of("sd", Unit::GbPerS),
        Column::words("range"),
        Column::words("5 to 95 %"),
        Column::of("sum", Unit::GbPerS),
        Column::words("modes"),
    ];
    let table = Table::new(
        format!("{}, {}: runs by pace", kernel.kernel, kernel.variant),
        columns,
        cases.iter().filter_map(|(_, same)| row(same)),
    );
    let of_runs = || kernel.cases.iter().filter_map(|case| case.runs.found());
    let none_has_modes = of_runs().all(|runs| runs.modes == Some(RunModes::TooFewRuns));
    let table = if none_has_modes { table.without_column("modes") } else { table };
    table.with_notes(notes)
}

const COLUMNS: usize = 8;

fn three(rate: BytesPerSecond) -> String {
    format_significant(rate.in_unit(), 3)
}

fn range(ends: [BytesPerSecond; 2]) -> String {
    ends.map(three).join(" to ")
}

fn number(modes: &RunModes) -> String {
    match modes {
        RunModes::TooFewRuns => "too few".into(),
        RunModes::NoMoreThanOneShown { .. } => "1 shown".into(),
        RunModes::Shown { modes, .. } => format!("{} shown", modes.len()),
    }
}

/// Where they are and by what they are shown; `None` unless several are.
fn modes(case: &CaseDistribution) -> Option<String> {
    let RunModes::Shown { evidence, modes } = case.runs.found()?.modes.as_ref()? else {
        return None;
    };
    let one = |mode: &RunMode| {
        let [low, high] = mode.share.ends().map(|end| rounded(end.0 * 100.0, 0));
        format!("{} ({}, {low} to {high} %)", three(mode.place), count(mode.runs, "run"))
    };
    let ModeEvidence { dip, dip_p, valley, valley_threshold, .. } = *evidence;
    let at_most = if dip_p > LEAST_DIP_P { "=" } else { "<=" };
    Some(format!(
        "{} {}: modes at {} GB/s (dip {}, p {at_most} {}; valley {} standard errors, threshold {}).",
        count(case.threads as usize, "thread"),
        case.affinity.as_str(),
        modes.iter().map(one).collect::<Vec<_>>().join(", "),
        format_significant(dip, 2),
        significant(dip_p, 2),
        format_significant(valley, 2),
        format_significant(valley_threshold, 2),
    ))
}

/// `None` where one count of threads was measured.
fn enough(kernel: &KernelDistribution) -> Option<String> {
    let first = kernel.cases.first()?;
    kernel.cases.iter().find(|case| case.threads != first.threads)?;
    let one = |knee: &Knee| {
        let of_best = if knee.threads == knee.best_threads {
            "the best".into()
        } else {
            format!("of {} by {}", three(knee.best_mean), knee.best_threads)
        };
        format!(
            "{} {} ({} GB/s, {of_best})",
            knee.affinity.as_str(),
            knee.threads,
            three(knee.mean)
        )
    };
    let knees: Vec<String> = kernel.knees.iter().map(one).collect();
    Some(format!("Enough threads (mean at most 5 % below the best): {}.", knees.join("; ")))
}

/// Spreads below this have no shape that is worth lines.
const LEAST_SPREAD: f64 = 0.01;

/// Characters of the longest bar.
const LONGEST_BAR: usize = 40;

/// The histogram of the runs that spread most.
fn widest(kernel: &KernelDistribution) -> Option<Table> {
    let WidestRuns { threads, affinity, spread, histogram } = kernel.widest.as_ref()?;
    if *spread < LEAST_SPREAD {
        return None;
    }
    let most = histogram.counts.iter().copied().max()?;
    // Runs that one character stands for.
    let each = most.div_ceil(LONGEST_BAR).max(1);
    let decimals = (-histogram.width.log10().floor()).clamp(0.0, 9.0);
    #[expect(clippy::cast_possible_truncation, reason = "0 to 9")]
    let end = |value: f64| rounded(value, decimals as i32);
    let rows = histogram.bins().map(|(from, to, runs)| {
        let bar = "#".repeat(runs.div_ceil(each));
        vec![Cell::Text(format!("{} to {}", end(from), end(to))), Cell::text(runs), Cell::Text(bar)]
    });
    let unit = if each > 1 { format!("; one # for {each} runs") } else { String::new() };
    Some(Table::new(
        format!(
            "{}, {}: the runs that spread most, {} {}, largest - smallest {} % of the mean{unit}",
            kernel.kernel,
            kernel.variant,
            count(*threads as usize, "thread"),
            affinity.as_str(),
            significant(spread * 100.0, 2)
        ),
        ["GB/s", "runs", ""].map(Column::words),
        rows,
    ))
}

fn effects(kernel: &KernelDistribution) -> Option<Table> {
    let case_of = |effect: &AffinityEffect| effect.speedup.cases.first().cloned();
    let row = |same: &[&AffinityEffect]| {
        let effect = same.first()?;
        let mean = match effect.mean {
            MeanVerdict::Faster => "faster",
            MeanVerdict::Slower => "slower",
            MeanVerdict::TooSmall => "within 5 %",
            MeanVerdict::NotShown => "not shown",
        };
        let spread = match effect.spread {
            SpreadVerdict::Steadier => ", steadier",
            SpreadVerdict::LessSteady => ", less steady",
            SpreadVerdict::NotShown => "",
        };
        Some(vec![
            place(effect.threads, same.iter().map(|effect| effect.affinity)),
            Cell::Figure(Figure::of(&effect.speedup)),
            Cell::figure(effect.spread_ratio.as_ref().map(Figure::of)),
            Cell::Text(format!("{mean}{spread}")),
        ])
    };
    let rows = groups(&kernel.effects, case_of);
    let rows: Vec<Vec<Cell>> = rows.iter().filter_map(|(_, same)| row(same)).collect();
    Table::new(
        format!("{}, {}: pinned threads / unbound ones", kernel.kernel, kernel.variant),
        Column::all(["threads", "speedup", "spread", "verdict"], [WORDS, ONE, ONE, WORDS]),
        rows,
    )
    .unless_empty()
}

/// What to do, the settings that do it, and what would show more.
pub(crate) fn findings(model: &Distribution) -> Vec<String> {
    let advised = model.kernels.iter();
    let advised = advised.filter_map(|kernel| Some((&*kernel.kernel, kernel.advice.as_ref()?)));
    let advised: Vec<(&str, &ThreadAdvice)> = advised.collect();
    let mut findings: Vec<String> =
        advised.iter().map(|(kernel, advice)| finding(kernel, advice)).collect();
    let pinned = advised.into_iter().filter(|(_, advice)| advice.settings.is_some());
    let pinned: Vec<(&str, &ThreadAdvice)> = pinned.collect();
    for (of, same) in groups(&pinned, |(_, advice)| advice.settings.as_ref()) {
        let kernels: Vec<&str> = same.iter().map(|(kernel, _)| *kernel).collect();
        findings.extend(of.into_iter().flat_map(|of| settings(of, &kernels.join(", "))));
    }
    findings.extend(model.more_runs.as_ref().map(|command| {
        format!("{} runs of each case show more of their modes: `{command}`.", model.enough_runs)
    }));
    findings
}

fn finding(kernel: &str, advice: &ThreadAdvice) -> String {
    let threads = count(advice.threads as usize, "thread");
    let expected = format!(
        "expect {} GB/s ({} in {})",
        three(advice.expected),
        range(advice.range),
        count(advice.runs, "run")
    );
    let how = match advice.affinity {
        Affinity::Unbound => {
            return format!(
                "{kernel}: run {threads} and leave them unbound: {expected}. Pinned ones are not shown to \
                 be faster by 5 % or more, or steadier without being as much slower."
            );
        }
        Affinity::Compact => "compact",
        Affinity::Scatter => "scattered",
    };
    format!("{kernel}: run {threads} and pin them {how}: {expected}{}", gain(advice))
}

/// What pinning brings, and when it brings nothing.
fn gain(advice: &ThreadAdvice) -> String {
    let Some((effect, unbound)) = advice.effect.as_ref().zip(advice.unbound) else {
        return "; unbound threads were not measured, so what pinning brings is not known.".into();
    };
    let speedup = Figure::of(&effect.speedup);
    let unbound = three(unbound);
    let gain = match effect.mean {
        MeanVerdict::Faster => format!("speedup {} over {unbound} unbound", speedup.words()),
        MeanVerdict::TooSmall => format!("within 5 % of {unbound} unbound"),
        MeanVerdict::Slower | MeanVerdict::NotShown => {
            format!("no change shown from {unbound} unbound ({})", speedup.words())
        }
    };
    let spread = match (effect.spread, effect.spread_ratio.as_ref()) {
        (SpreadVerdict::Steadier, Some(ratio)) => {
            format!(", {} of the spread", format_significant(ratio.value.0, 2))
        }
        _ => String::new(),
    };
    format!(
        ", {gain}{spread}. Expect less of a program that pins its threads already or waits less for \
         memory."
    )
}

/// Longer lists are for programs.
const LONGEST: usize = 100;

fn settings(of: &ThreadSettings, kernels: &str) -> Vec<String> {
    let ThreadSettings { omp_num_threads, omp_places, omp_proc_bind, kmp_affinity, .. } = of;
    let mut lines = vec![
        format!(
            "{kernels}: to pin so, before the program starts: `export \
             OMP_NUM_THREADS={omp_num_threads} OMP_PLACES={omp_places} OMP_PROC_BIND={omp_proc_bind}`."
        ),
        format!(
            "Or with the OpenMP libraries of Intel and LLVM: `export \
             OMP_NUM_THREADS={omp_num_threads} KMP_AFFINITY={kmp_affinity}`."
        ),
    ];
    let Some((places, gomp)) = of.omp_places_of_cpus.as_ref().zip(of.gomp_cpu_affinity.as_ref())
    else {
        return lines;
    };
    if places.len().max(gomp.len()) > LONGEST {
        lines.push(
            "Or on the CPUs that were measured: too many for a line, `--json` has them.".into(),
        );
        return lines;
    }
    lines.extend([
        format!(
            "Or on the CPUs that were measured, with GCC's: `export GOMP_CPU_AFFINITY='{gomp}'`."
        ),
        format!(
            "The same with any of OpenMP 4.0: `export OMP_PLACES='{places}' OMP_PROC_BIND=close`."
        ),
    ]);
    lines
}
