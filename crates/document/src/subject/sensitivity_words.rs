//! Words of programs' runs: where, how many, how much moves with bandwidth, what to know of them.

use nearfar_machine::MemoryPolicy;
use nearfar_model::{BoundsStanding, PlacedRuns, ProgramSensitivity};
use nearfar_record::{Better, Metric, RunSummary};
use nearfar_units::format_significant;

use super::figures::{count, gib, percent_words, rounded};
use super::who::Who;

/// Below this fraction of the pages a note says that they were elsewhere.
const PLACED: f64 = 0.9;
/// What a program maps and has elsewhere is told from this fraction of its own memory, and these bytes.
const MUCH_ELSEWHERE: f64 = 0.1;
const LEAST_ELSEWHERE: f64 = 16.0 * 1024.0 * 1024.0;

/// How sure intervals are of six runs and more.
pub(super) const USUALLY_SURE: f64 = 0.95;

/// How sure the intervals of all these runs are at least; `None` where none has one, as of a single run.
pub(super) fn least_sure<'r>(all: impl Iterator<Item = &'r RunSummary>) -> Option<f64> {
    all.map(|runs| runs.figure.confidence).filter(|sure| *sure > 0.0).reduce(f64::min)
}

/// `1489 ±3.2 %`, without an interval where there is none.
pub(super) fn runs_words(runs: &RunSummary) -> String {
    let median = format_significant(runs.figure.median, 4);
    let half = runs.figure.relative_half_width();
    match half.is_finite() && runs.figure.confidence > 0.0 {
        true => format!("{median} ±{}", percent_words(half)),
        false => median,
    }
}

/// `time, s` or `metric`: the unit of a metric is the user's and may have any length.
pub(super) fn figure_name(program: &ProgramSensitivity) -> &'static str {
    if program.metric.is_some() { "metric" } else { "time, s" }
}

pub(super) fn what_counts(metric: Option<&Metric>, whose: &str) -> String {
    let Some(metric) = metric else {
        return format!("time, s{whose}: of a whole run, lower is better");
    };
    let better = match metric.better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
    };
    let unit = metric.unit.as_ref().map_or_else(String::new, |unit| format!("{unit}, "));
    format!("metric{whose}: {unit}what '{}' finds last in a run's output, {better}", metric.pattern)
}

pub(super) fn memory_words(runs: &PlacedRuns) -> String {
    match (runs.memory_node, runs.is_local) {
        (Some(node), true) => format!("node {node} (local)"),
        (Some(node), false) => format!("node {node}"),
        (None, _) => match &runs.binding.memory {
            MemoryPolicy::Interleave(nodes) => format!("interleaved {nodes}"),
            _ => "several nodes".into(),
        },
    }
}

pub(super) fn ratio(value: f64) -> String {
    rounded(value, 3)
}

pub(super) fn ratio_span([low, high]: [f64; 2]) -> String {
    let (low, high) = (ratio(low), ratio(high));
    if low == high { low } else { format!("{low} to {high}") }
}

/// `6 runs`, `6 to 15 runs`.
pub(super) fn runs_of(program: &ProgramSensitivity) -> String {
    let runs =
        program.placements.iter().filter_map(|at| at.runs.as_ref()).map(|it| it.figure.count);
    let (least, most) =
        runs.fold((usize::MAX, 0), |(least, most), runs| (least.min(runs), most.max(runs)));
    match (least, most) {
        (_, 0) => "no run that ended well".into(),
        (least, most) if least == most => count(most, "run"),
        (least, most) => format!("{least} to {most} runs"),
    }
}

/// A program's label, of which a stranger's record may have any length.
pub(super) fn name(label: &str) -> String {
    const LONGEST: usize = 40;
    let short: String = label.chars().take(LONGEST).collect();
    let more = if short.len() < label.len() { ".." } else { "" };
    format!("{short}{more}")
}

/// How much of a program's time moves with bandwidth; nothing where no classes say what that allows.
pub(super) fn share(program: &ProgramSensitivity) -> Option<String> {
    let is_bounded = |runs: &PlacedRuns| runs.bounds.is_some() && runs.runs.is_some();
    let has_bounds = program.placements.iter().any(is_bounded);
    match program.memory_share.as_result() {
        Ok(share) => Some(format!(
            "{} of its local time scales with bandwidth ({} to {}; {}, worst error {})",
            percent_words(share.share),
            percent_words(share.interval.0),
            percent_words(share.interval.1),
            count(share.placements, "placement"),
            percent_words(share.worst_error)
        )),
        Err(why) => {
            has_bounds.then(|| format!("How much scales with bandwidth is not known: {why}"))
        }
    }
}

/// What to know of a program's runs.
pub(super) fn notes(program: &ProgramSensitivity, who: &Who) -> Vec<String> {
    let mut notes = Vec::new();
    for runs in &program.placements {
        let place = format!("{}, {}", who.cpus(runs.initiator), memory_words(runs));
        for refusal in &runs.refused {
            notes.push(format!("{place}: refused: {}", refusal.reason.text));
        }
        if let Some(share) = runs.placed_share.filter(|share| *share < PLACED) {
            notes.push(format!(
                "{place}: {} of the program's pages were there; it places some itself, or the node \
                 had no room",
                percent_words(share)
            ));
        }
        match runs.standing {
            Some(BoundsStanding::Below) => notes.push(format!(
                "{place}: slower than bandwidth explains: latency, or links that its threads share"
            )),
            Some(BoundsStanding::Above) => notes.push(format!(
                "{place}: faster than bandwidth explains: more of the machine serves it than one \
                 thread's streams use"
            )),
            Some(BoundsStanding::Within) | None => {}
        }
    }
    let elsewhere = |runs: &PlacedRuns| {
        let least = LEAST_ELSEWHERE.max(MUCH_ELSEWHERE * runs.seen_bytes.unwrap_or_default());
        runs.shared_bytes_elsewhere.filter(|bytes| *bytes >= least)
    };
    let of_placements: Vec<f64> = program.placements.iter().filter_map(elsewhere).collect();
    if let Some(most) = of_placements.iter().copied().reduce(f64::max) {
        notes.push(format!(
            "at {} up to {} of files and shared memory that it maps were on other nodes than asked: a file \
             stays where it was read (`nearfar files` shows and places it)",
            count(of_placements.len(), "placement"),
            gib(most)
        ));
    }
    let strayed: usize = program.placements.iter().map(|runs| runs.strayed_runs).sum();
    if strayed > 0 {
        notes.push(format!(
            "in {} its threads were seen on other CPUs than asked for; it sets its own affinity",
            count(strayed, "run")
        ));
    }
    if let Some(why) = program.placements.iter().find_map(|runs| runs.not_seen.as_ref()) {
        notes.push(format!("where its pages were is not known everywhere: {why}"));
    }
    notes
}
