//! What a program's time is made of, by runs alone and beside known traffic.
//!
//! Least squares of the logarithms of the times, and of what the threads beside the program lose by
//! it: a stream that does not pause waits for its lines as the program does, x t(b, r) + 1 / (B(r) -
//! bytes/s of the program) for each byte, with x from the moments before the program started. So the
//! program's own traffic shows without counters. A few runs do not fix nine parameters: expectations
//! that weigh little hold those that nothing tells of.
//! Intervals: runs drawn again by their errors (parametric bootstrap: Efron and Tibshirani, 1993,
//! chapter 6), expectations by theirs. What the law leaves out comes with a prediction.

use nearfar_record::{KeptLines, ProgramParts};
use nearfar_stats::{FitRule, Loss, drawn_residuals, fit, normal_quantile};

use super::law::{Beside, MemoryLaw, SolvedProgram, solve};
use crate::latency::{FamilyLaw, LatencyLaw};

/// A program's runs alone, or beside one kind of traffic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryRun {
    /// What crossed for others while it ran.
    pub beside: Beside,
    pub seconds: f64,
    /// Standard error of ln(seconds).
    pub error: f64,
    /// Traffic of the same threads just before, bytes/s, and the standard error of ln(traffic while it
    /// ran / that), where they do not pause.
    pub before: Option<(f64, f64)>,
}

/// What a program's time is made of, as runs tell.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedProgram {
    pub parts: ProgramParts,
    /// Of runs drawn again.
    pub drawn: Vec<ProgramParts>,
    /// Relative standard deviation of what the law leaves of the times.
    pub misfit: f64,
}

/// Below these a time, or what a stream loses, is off by what the law leaves out.
const TIME_ERROR: f64 = 0.01;
const TRAFFIC_ERROR: f64 = 0.02;
/// What is expected of the parameters, with its standard deviation: the roots of core time, waiting and
/// transfer as parts of the time alone; ln(q - 1); the logit of the read share, 3/4; ln of the capacity
/// ratio; the root of the waiting for all lines of a shared cache, likewise; ln of the reads by which they are
/// taken / the capacity for reads; ln of the time beside busy cores / without.
const EXPECTED: [(f64, f64); PARAMETERS] = [
    (0.6, 0.5),
    (0.6, 0.5),
    (0.3, 0.4),
    (-0.4, 0.8),
    (1.1, 0.7),
    (0.0, 0.03),
    (0.0, 0.2),
    (-0.4, 0.7),
    (0.0, 0.05),
];
const PARAMETERS: usize = 9;
/// The position of what a shared cache keeps, where fits begin, and what is as good as 0.
const KEPT: usize = 6;
const KEPT_STARTS: [f64; 2] = [0.1, 0.5];
const NEXT_TO_NOTHING: f64 = 1e-3;
/// Residuals beyond this multiple of their errors weigh less.
const FAR: f64 = 3.0;
const DRAWS: usize = 60;
const SEED: u64 = 1;
/// A capacity begins this much above what was seen to cross.
const ABOVE_USED: f64 = 1.02;
/// Parameters beyond this are none of a program.
const LARGEST: f64 = 12.0;

/// Parameters of a program whose time alone is known.
#[derive(Clone, Copy)]
struct Form<'a> {
    law: &'a LatencyLaw,
    alone_seconds: f64,
    /// For reads, bytes/s.
    capacity: f64,
    runs: &'a [MemoryRun],
    expected: [(f64, f64); PARAMETERS],
}

/// What the program's time is made of; the first run is alone. `None` where no parameters make sense.
pub fn fit_program(runs: &[MemoryRun], family: &FamilyLaw) -> Option<FittedProgram> {
    let alone_seconds = runs.first()?.seconds;
    let law = family.law();
    let capacity = law.capacity(1.0).or_else(|| law.shares.last().map(|it| it.capacity))?;
    let form = Form { law, alone_seconds, capacity, runs, expected: EXPECTED };
    let most_used = most_used(runs, law).ln().max(EXPECTED[5].0);
    let [_, _, _, overlap, reads, _, _, lost_beside, busy] = EXPECTED.map(|(mean, _)| mean);
    let starts = [[0.9, 0.3, 0.2], [0.3, 0.9, 0.2], [0.3, 0.5, 0.7]];
    let starts = starts.map(|[core, wait, transfer]| {
        [core, wait, transfer, overlap, reads, most_used, 0.0, lost_beside, busy]
    });
    // What a cache keeps explains any slowdown: from a law without it, it takes what that leaves.
    let mut without = form.expected;
    without[KEPT] = (0.0, NEXT_TO_NOTHING);
    let without = Form { expected: without, ..form };
    let nearest = |one: &([f64; PARAMETERS], f64), other: &([f64; PARAMETERS], f64)| {
        one.1.total_cmp(&other.1)
    };
    let (start, _) = starts.iter().filter_map(|it| without.fit(it)).min_by(nearest)?;
    let with_kept = KEPT_STARTS.iter().filter_map(|&kept| {
        let mut start = start;
        start[KEPT] = kept;
        form.fit(&start)
    });
    let (best, _) = with_kept.min_by(nearest)?;
    let parts = form.parts(&best);
    let modelled = |run: &MemoryRun| form.solve(&parts, run);
    let times: Vec<SolvedProgram> = runs.iter().map(modelled).collect::<Option<_>>()?;
    let off = runs.iter().zip(&times).map(|(run, time)| (run.seconds / time.seconds).ln());
    let misfit = (off.map(|it| it * it).sum::<f64>() / runs.len() as f64).sqrt();
    let redraw = |drawn: Vec<f64>| {
        let mut drawn = drawn.iter().cycle();
        let mut moved = runs.to_vec();
        for run in &mut moved {
            run.seconds *= (run.error * drawn.next()?).exp();
            if let Some((traffic, off)) = &mut run.before {
                *traffic *= (*off * drawn.next()?).exp();
            }
        }
        let mut expected = EXPECTED;
        for (mean, deviation) in &mut expected {
            *mean += *deviation * drawn.next()?;
        }
        let form = Form { runs: &moved, expected, ..form };
        Some(form.parts(&form.fit(&best)?.0))
    };
    let drawn =
        drawn_residuals(&normal_errors(), DRAWS, SEED).into_iter().filter_map(redraw).collect();
    Some(FittedProgram { parts, drawn, misfit })
}

/// Where the capacity's ratio begins, so that every run has a time: what crossed beside the program / what the
/// curves carry, and some more. The curves may be of a slower hour.
fn most_used(runs: &[MemoryRun], law: &LatencyLaw) -> f64 {
    let memory = MemoryLaw { law, capacity_ratio: 1.0 };
    let used = runs
        .iter()
        .filter_map(|run| Some(run.beside.traffic / memory.capacity(run.beside.read_share)?));
    ABOVE_USED * used.fold(0.0, f64::max)
}

/// Errors of standard deviation 1, to be drawn from.
pub(super) fn normal_errors() -> Vec<f64> {
    (0..64).filter_map(|k| normal_quantile((f64::from(k) + 0.5) / 64.0)).collect()
}

impl Form<'_> {
    /// The parameters nearest to these with the least loss, and that loss.
    fn fit(&self, start: &[f64; PARAMETERS]) -> Option<([f64; PARAMETERS], f64)> {
        let rule =
            FitRule { loss: Loss::SoftL1(FAR), longest_step: 0.5, tolerance: 1e-6, most_steps: 60 };
        let found = fit(start, |at| self.residuals(at), &rule)?;
        Some((found.parameters.try_into().ok()?, found.loss))
    }

    fn parts(&self, at: &[f64]) -> ProgramParts {
        let alone = self.alone_seconds;
        let lines = |root: f64| root * root * alone / (self.law.idle_ns * 1e-9);
        ProgramParts {
            core_seconds: at[0] * at[0] * alone,
            exposed_lines: lines(at[1]),
            bytes: at[2] * at[2] * alone * self.capacity,
            read_share: 1.0 / (1.0 + (-at[4]).exp()),
            overlap: 1.0 + at[3].exp(),
            capacity_ratio: at[5].exp(),
            busy_ratio: Some(at[8].exp()),
            kept: Some(KeptLines {
                exposed_lines: lines(at[6]),
                lost_beside: at[7].exp() * self.capacity,
            }),
        }
    }

    fn solve(&self, parts: &ProgramParts, run: &MemoryRun) -> Option<SolvedProgram> {
        let memory = MemoryLaw { law: self.law, capacity_ratio: parts.capacity_ratio };
        solve(parts, &memory, run.beside, 1)
    }

    fn residuals(&self, at: &[f64]) -> Option<Vec<f64>> {
        if at.iter().any(|value| value.abs() > LARGEST) {
            return None;
        }
        let parts = self.parts(at);
        let memory = MemoryLaw { law: self.law, capacity_ratio: parts.capacity_ratio };
        let mut residuals = Vec::with_capacity(2 * self.runs.len() + EXPECTED.len());
        for run in self.runs {
            let solved = self.solve(&parts, run)?;
            residuals.push((solved.seconds / run.seconds).ln() / run.error.hypot(TIME_ERROR));
            if let Some((before, error)) = run.before {
                let during = stream_beside(&memory, (before, run.beside.read_share), &solved, run)?;
                let off = (during / run.beside.traffic).ln();
                residuals.push(off / error.hypot(TRAFFIC_ERROR));
            }
        }
        let expected = self.expected.iter().zip(at);
        residuals.extend(expected.map(|((mean, deviation), at)| (at - mean) / deviation));
        Some(residuals)
    }
}

/// What a stream that does not pause moves beside a program, bytes/s, by what it moved before.
fn stream_beside(
    memory: &MemoryLaw<'_>,
    (before, read_share): (f64, f64),
    solved: &SolvedProgram,
    run: &MemoryRun,
) -> Option<f64> {
    let capacity = memory.capacity(read_share)?;
    // Above its law's capacity a stream is all transfer.
    let waits = (1.0 / before - 1.0 / capacity).max(0.0);
    let transfers = 1.0 / before - waits;
    let alone = memory.access_seconds(read_share, before.min(0.99 * capacity))?;
    let own = (solved.traffic - run.beside.traffic).max(0.0);
    let left = (capacity - own) / capacity;
    let slower = solved.access_seconds / alone;
    (left > 0.0).then(|| 1.0 / (waits * slower + transfers / left))
}
