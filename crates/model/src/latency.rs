//! How much longer an access to a remote node takes, how long one takes by size, and what
//! traffic beside it does to that.
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | t(c, m) | one dependent load of cluster c from node m, the machine idle | ns |
//! | NUMA factor(c, m) | t(c, m) / the least t(c, own node of c) | 1 |
//! | b | what the threads beside a loaded chase move | useful bytes/s |
//!
//! Source: ribeiro2010, section 2 (NUMA factor: time of a remote access / time of a local one).
//! The loaded curve is that of Intel's Memory Latency Checker; its knee, its usable bandwidth
//! and its queue stand in `latency/knee.rs` and `latency/queue.rs`.
//! Holds when: chases walk by groups of pages on huge pages, through more than the caches hold;
//! what lacks that is marked.
//! Fails when: the walk lets a prefetcher guess the next line, or traffic of others wakes up in
//! some rounds only.
//! Pinned by `crates/model/tests/latency` and `crates/reproduce/tests/ribeiro2010.rs`.

mod curve;
mod knee;
mod level;
mod numa_factor;
mod queue;

pub use curve::{LoadedCurve, LoadedPoint};
pub use knee::{KNEE_DISTANCE, LatencyKnee, USABLE_RISE, UsableBandwidth};
pub use level::LevelLatency;
pub use numa_factor::{FIRMWARE_ROOM, Factor, FactorSpan, NumaFactor};
pub use queue::{LatencyQueue, STRAIGHT};

use nearfar_record::Experiment;

use crate::chases::{chases, idle_matrix};
use crate::inapplicable::Inapplicable;
use crate::record_figures::RecordFigures;

/// Times of an access of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Latency {
    /// Each cluster on each node, in this order.
    pub factors: Vec<NumaFactor>,
    /// The NUMA factors of remote nodes together; in words why there are none.
    pub span: Result<FactorSpan, String>,
    /// By size, for clusters and nodes of which there are several: caches from the first on,
    /// then memory.
    pub levels: Vec<LevelLatency>,
    /// Beside traffic, by cluster, node and kernel.
    pub curves: Vec<LoadedCurve>,
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
    Ok(Latency {
        span: numa_factor::span(machine, &factors),
        factors,
        levels: level::levels(machine, &all, &matrix),
        curves: curve::curves(machine, &all),
    })
}
