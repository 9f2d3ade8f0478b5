//! What a workload's time is made of by the traffic that its loops declare, before it has run.
//!
//! The phases come one after the other: core time is operations / what the cores compute, lines that no
//! prefetcher foresees are waited for some at a time. How many at a time a core's buffers bound; how
//! many a loop uses nobody declares.

use nearfar_record::ProgramParts;

use super::law::LINE;

/// What a phase of a workload declares of a whole run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeclaredPhase {
    /// Floating-point operations.
    pub flops: f64,
    /// Bytes that come from memory.
    pub read_bytes: f64,
    /// Bytes that are written back.
    pub written_bytes: f64,
    /// Lines among those read that no prefetcher foresees.
    pub random_lines: f64,
}

/// Lines that a core has under way at a time where addresses are known early: first-level fill buffers
/// are 10 (Intel before Ice Lake) to 22 (AMD Zen 4).
pub const LINES_UNDER_WAY: f64 = 10.0;

/// What the time of threads that each compute this many operations a second is made of. `None` where
/// nothing is declared.
pub fn declared_parts(
    phases: &[DeclaredPhase],
    threads: u32,
    flops_per_second: f64,
) -> Option<ProgramParts> {
    let total = |of: fn(&DeclaredPhase) -> f64| phases.iter().map(of).sum::<f64>();
    let (read, written) = (total(|it| it.read_bytes), total(|it| it.written_bytes));
    let flops = total(|it| it.flops);
    if flops + read + written <= 0.0 || flops_per_second <= 0.0 {
        return None;
    }
    let threads = f64::from(threads.max(1));
    let random = total(|it| it.random_lines);
    // What is foreseen waits too, as many lines at a time as there are buffers.
    let foreseen = (read / LINE - random).max(0.0);
    let exposed_lines = (random + foreseen) / LINES_UNDER_WAY / threads;
    Some(ProgramParts {
        core_seconds: flops / flops_per_second / threads,
        exposed_lines,
        bytes: read + written,
        read_share: if read + written > 0.0 { read / (read + written) } else { 1.0 },
        overlap: OVERLAP,
        capacity_ratio: 1.0,
        busy_ratio: None,
        kept: None,
    })
}

/// Cores go on while lines are under way: between none and all of the shorter is hidden.
const OVERLAP: f64 = 2.0;
