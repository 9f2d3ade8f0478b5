//! How much longer an access to a remote node takes, how long one takes by size, and what
//! traffic beside it does to that.
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | t(c, m) | one dependent load of initiator c from node m, the machine idle | ns |
//! | NUMA factor(c, m) | t(c, m) / the least t(c, own node of c) | 1 |
//! | b | what crosses to the memory for the threads beside a loaded chase | bytes/s |
//!
//! Source: ribeiro2010, section 2 (NUMA factor: time of a remote access / time of a local one).
//! The loaded curve is that of Intel's Memory Latency Checker; its knee, its usable bandwidth
//! and the law of its family stand in `latency/knee.rs` and `latency/law.rs`.
//! Holds when: chases walk by groups of pages on huge pages, through more than the caches hold;
//! what lacks that is marked.
//! Fails when: the walk lets a prefetcher guess the next line, or traffic of others wakes up in
//! some rounds only.
//! Pinned by `crates/model/tests/latency` and `crates/reproduce/tests/wrong_numbers.rs`.

mod advice;
mod curve;
mod family;
mod knee;
mod law;
mod level;
mod numa_factor;
mod prediction;

pub use advice::{CurvePlace, LatencyAdvice};
pub use curve::LoadedCurve;
pub use family::{CurveFamily, FamilyLaw, FamilyShare, STRAIGHT};
pub use knee::{KNEE_DISTANCE, LatencyKnee, LoadedPoint, USABLE_RISE};
pub use law::{LatencyLaw, LoadedAccess, ShareLaw, fit_law};
pub use level::LevelLatency;
pub use numa_factor::{FIRMWARE_ROOM, FactorSpan, NumaFactor};
pub use prediction::{CurveAnswer, CurveQuestion, PairLatency};

use nearfar_record::{Experiment, MovedCores, Outcome};
use serde::Serialize;

use crate::chases::{chases, idle_matrix};
use crate::inapplicable::Inapplicable;
use crate::record_figures::RecordFigures;

/// Times of an access of a record.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latency {
    /// Each initiator on each node, in this order.
    pub factors: Vec<NumaFactor>,
    /// The NUMA factors of remote nodes together.
    pub span: Outcome<FactorSpan>,
    /// By size, for initiators and nodes of which there are several: caches from the first on,
    /// then memory.
    pub levels: Vec<LevelLatency>,
    /// Beside traffic, by initiator, node and kernel.
    pub curves: Vec<LoadedCurve>,
    /// The curves of each initiator and node together.
    pub families: Vec<CurveFamily>,
    /// What to do.
    pub advice: Vec<LatencyAdvice>,
    /// Samples left out because CPUs were on other cores; null where there are none, or nobody looked.
    pub moved: Option<MovedCores>,
}

/// The times of an access of a record.
///
/// # Errors
/// Where no chase has a time.
pub fn latency(figures: &RecordFigures<'_>) -> Result<Latency, Inapplicable> {
    let all = chases(figures);
    if all.iter().all(|chase| chase.time.is_none()) {
        return Err(Inapplicable::without(figures.record(), Experiment::Latency));
    }
    let machine = &figures.record().header.machine;
    let matrix = idle_matrix(&all);
    let factors = numa_factor::numa_factors(machine, &matrix);
    let span = Outcome::from(numa_factor::span(machine, &factors));
    let (curves, families) = curve::curves(machine, &all);
    let advice = advice::advice(&span, &factors, &curves);
    let levels = level::levels(machine, &all, &matrix);
    let moved = figures.moved();
    Ok(Latency { factors, span, levels, curves, families, advice, moved })
}
