//! What counters of the CPU say of a program's runs at a placement: where bandwidth or latency holds
//! it up, and not where its pages are.
//! Units: misses / requests of the last-level cache; its misses for 1000 instructions; instructions
//! a cycle.
//! Holds when: the counters were believed (`TriedCounter`); what their events leave out is said
//! beside them. A counter that shared its time with others is scaled up.
//! Fails when: one thread waits and others work: all are added up.

use nearfar_record::{
    CommandRun, CountedQuantity, Outcome, RunCount, Sample, TriedCounter, counted_ratio,
    counted_share, estimate_runs,
};
use nearfar_stats::Estimate;
use serde::Serialize;

/// Figures of the runs at a placement, medians over rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountedRuns {
    /// Misses of the last-level cache / its requests.
    pub llc_miss_rate: Outcome<Estimate>,
    /// Misses of the last-level cache for 1000 instructions: what the program asks of memory,
    /// however many requests its caches see.
    pub llc_misses_per_1000_instructions: Outcome<Estimate>,
    pub instructions_per_cycle: Outcome<Estimate>,
    /// The least share of a run's time in which one of the counters counted; null without counts.
    pub least_counted_share: Option<f64>,
    /// Runs of which every believed counter has a count.
    pub counted_runs: usize,
    pub runs: usize,
    /// Why the first of the others has not; null where there are none.
    pub uncounted: Option<String>,
}

impl CountedRuns {
    /// What was counted of the runs of a case; `None` where nobody asked, nothing ran, or no figure
    /// follows from the counters that are believed.
    pub(super) fn of(tried: Option<&[TriedCounter]>, samples: &[&Sample]) -> Option<Self> {
        use CountedQuantity::{Cycles, Instructions, LlcMisses, LlcRequests};
        let tried = tried?;
        let runs: Vec<&CommandRun> = samples.iter().filter_map(|it| it.run.as_ref()).collect();
        let is_known = |pair: [CountedQuantity; 2]| believed(tried, pair).is_ok();
        let pairs = [[LlcMisses, LlcRequests], [LlcMisses, Instructions], [Instructions, Cycles]];
        if runs.is_empty() || !pairs.into_iter().any(is_known) {
            return None;
        }
        let figure = |[part, whole]: [CountedQuantity; 2],
                      of: fn(f64, f64) -> Result<f64, String>| {
            believed(tried, [part, whole])?;
            let of_run = |run: &CommandRun| of(count(run, part)?, count(run, whole)?);
            let of_sample = |sample: &Sample| of_run(sample.run.as_ref()?).ok();
            estimate_runs(samples.iter().copied(), of_sample).ok_or_else(|| {
                let why = runs.iter().find_map(|run| of_run(run).err());
                why.unwrap_or_else(|| "it was not counted".into())
            })
        };
        let counts = || runs.iter().flat_map(|run| &run.counts);
        let is_counted = |run: &&&CommandRun| run.counts.iter().all(|it| it.count.is_some());
        Some(Self {
            llc_miss_rate: figure(pairs[0], |misses, requests| {
                counted_share(misses, requests, "no request reached the last-level cache")
            })
            .into(),
            llc_misses_per_1000_instructions: figure(pairs[1], |misses, instructions| {
                counted_ratio(1000.0 * misses, instructions, "no instruction was counted")
            })
            .into(),
            instructions_per_cycle: figure(pairs[2], |instructions, cycles| {
                counted_ratio(instructions, cycles, "no cycle was counted")
            })
            .into(),
            least_counted_share: counts().filter_map(|it| it.counted_share).reduce(f64::min),
            counted_runs: runs.iter().filter(is_counted).count(),
            runs: runs.len(),
            uncounted: counts().find_map(reason),
        })
    }
}

/// Whether both counters are believed; else why one is not.
fn believed(tried: &[TriedCounter], pair: [CountedQuantity; 2]) -> Result<(), String> {
    pair.into_iter().try_for_each(|quantity| {
        let why = match tried.iter().find(|counter| counter.quantity == quantity) {
            Some(TriedCounter { unavailable: None, .. }) => return Ok(()),
            Some(TriedCounter { unavailable: Some(why), .. }) => why.as_str(),
            None => "it was not tried",
        };
        Err(format!("{}: {why}", quantity.words()))
    })
}

fn count(run: &CommandRun, quantity: CountedQuantity) -> Result<f64, String> {
    let found = run.counts.iter().find(|count| count.quantity == quantity);
    found.and_then(|found| found.count).ok_or_else(|| {
        let why = found.and_then(reason);
        why.unwrap_or_else(|| format!("{}: it was not counted", quantity.words()))
    })
}

fn reason(count: &RunCount) -> Option<String> {
    count.unavailable.as_ref().map(|why| format!("{}: {why}", count.quantity.words()))
}
