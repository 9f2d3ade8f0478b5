//! The figures of a program's profile with their intervals.

use nearfar_record::{
    Estimate, KeptLines, LatencyLoad, PressureRuns, ProgramParts, ProgramProfile,
};
use nearfar_stats::{estimate_median, percentile_interval};
use nearfar_units::{BytesPerSecond, Quantity, Ratio, Seconds};
use serde::Serialize;

use super::law::lines_under_way;

/// The parts of a program's time with their intervals.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartEstimates {
    /// Time that does not depend on memory.
    #[serde(rename = "core_s")]
    pub core: Estimate<Seconds>,
    /// Lines waited for one after the other.
    pub exposed_lines: Estimate<Ratio>,
    /// Bytes that cross to the memory.
    pub bytes: Estimate<Ratio>,
    /// The share of reads in them.
    pub read_share: Estimate<Ratio>,
    /// How far core time and waiting overlap: 1 not at all.
    pub overlap: Estimate<Ratio>,
    /// Lines fetched / those waited for one after the other: how many are under way at a time.
    pub lines_under_way: Estimate<Ratio>,
    /// Its time beside cores that others keep busy / without, whatever they move; null where nothing ran
    /// beside it.
    pub busy_ratio: Option<Estimate<Ratio>>,
    /// Lines more that it waits for, one after the other, where others take a shared cache; null where
    /// nothing ran beside it.
    pub kept_lines: Option<Estimate<Ratio>>,
    /// Reads of others by which half of these are taken; null likewise.
    #[serde(rename = "half_lost_beside_gb_per_s")]
    pub half_lost_beside: Option<Estimate<BytesPerSecond>>,
}

/// A program's runs alone, or beside one kind of load.
#[derive(Debug, Clone, PartialEq)]
pub struct RunsBeside {
    /// Threads beside it; `None` alone.
    pub load: Option<LatencyLoad>,
    pub time: Option<Estimate<Seconds>>,
    /// Time / time alone in the same round; `None` alone.
    pub slowdown: Option<Estimate<Ratio>>,
    /// What crossed for the threads beside it just before it started, and while it ran.
    pub traffic: Option<[BytesPerSecond; 2]>,
}

const CONFIDENCE: f64 = 0.95;
/// Standard errors on either side of a median whose interval is one of 95 %.
const ERRORS: f64 = 1.96;

/// An estimate with the interval of drawn figures.
pub(super) fn estimate<U: Quantity>(value: f64, drawn: &[f64]) -> Estimate<U> {
    let interval = percentile_interval(drawn).filter(|(_, high)| high.is_finite());
    let interval = interval.map(|(low, high)| [low.min(value), high.max(value)].map(U::from));
    let confidence = interval.is_some().then_some(CONFIDENCE);
    Estimate { value: U::from(value), interval, confidence, cases: Vec::new() }
}

impl PartEstimates {
    pub fn of(profile: &ProgramProfile) -> Self {
        let kept = profile.parts.kept.map(|_| {
            let of = |of: fn(&KeptLines) -> f64| {
                move |it: &ProgramParts| it.kept.as_ref().map_or(f64::NAN, of)
            };
            [of(|it| it.exposed_lines), of(|it| it.lost_beside * std::f64::consts::LN_2.sqrt())]
        });
        Self {
            core: of_parts(profile, |it| it.core_seconds),
            exposed_lines: of_parts(profile, |it| it.exposed_lines),
            bytes: of_parts(profile, |it| it.bytes),
            read_share: of_parts(profile, |it| it.read_share),
            overlap: of_parts(profile, |it| it.overlap),
            lines_under_way: of_parts(profile, lines_under_way),
            busy_ratio: (profile.parts.busy_ratio)
                .map(|_| of_parts(profile, |it| it.busy_ratio.unwrap_or(f64::NAN))),
            kept_lines: kept.map(|[lines, _]| of_parts(profile, lines)),
            half_lost_beside: kept.map(|[_, half]| of_parts(profile, half)),
        }
    }
}

fn of_parts<U: Quantity>(
    profile: &ProgramProfile,
    of: impl Fn(&ProgramParts) -> f64,
) -> Estimate<U> {
    let drawn: Vec<f64> = profile.drawn.iter().map(&of).filter(|it| it.is_finite()).collect();
    estimate(of(&profile.parts), &drawn)
}

/// The runs of a profile, alone first.
pub fn runs_beside(profile: &ProgramProfile) -> Vec<RunsBeside> {
    profile.runs.iter().map(of_runs).collect()
}

/// A program's runs alone; `None` where it has none.
pub(super) fn alone(profile: &ProgramProfile) -> Option<Estimate<Seconds>> {
    profile.runs.first().and_then(|runs| of_runs(runs).time)
}

fn of_runs(runs: &PressureRuns) -> RunsBeside {
    let median = estimate_median(&runs.seconds);
    let traffic = [runs.traffic_before_gb_per_s, runs.traffic_gb_per_s];
    let slowdown = || {
        let ends = [-ERRORS, ERRORS].map(|it| runs.slowdown * (it * runs.slowdown_error).exp());
        Estimate {
            value: Ratio(runs.slowdown),
            interval: Some(ends.map(Ratio)),
            confidence: Some(CONFIDENCE),
            cases: Vec::new(),
        }
    };
    RunsBeside {
        load: runs.load.clone(),
        time: median
            .map(|median| Estimate { cases: Vec::new(), ..Estimate::of_rounds(&median, "") }),
        slowdown: runs.load.is_some().then(slowdown),
        traffic: runs.load.is_some().then(|| traffic.map(|it| BytesPerSecond(it * 1e9))),
    }
}

/// Loads / all that a program loads and stores, by what crosses to the memory: a line that is written
/// was read before (ordinary stores).
pub fn load_share(parts: &ProgramParts) -> f64 {
    let read = parts.read_share;
    if read > 0.5 { (2.0 * read - 1.0) / read } else { 0.0 }
}
