//! What a program's time depends on.

use nearfar_record::ProgramParts;
use serde::Serialize;

use super::law::{Beside, MemoryLaw, solve};

/// What a program is bound by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BoundBy {
    /// Its cores.
    Compute,
    /// What crosses to its memory at a time.
    Bandwidth,
    /// The time of an access.
    Latency,
}

/// By how much a program's time would change, as parts of it: percent for a percent of each.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoundShares {
    /// Of core time.
    pub compute: f64,
    /// Of the bandwidth.
    pub bandwidth: f64,
    /// Of the time of an access without traffic.
    pub latency: f64,
}

impl BoundShares {
    /// The largest.
    pub fn binding(&self) -> BoundBy {
        if self.compute >= self.bandwidth.max(self.latency) {
            BoundBy::Compute
        } else if self.bandwidth >= self.latency {
            BoundBy::Bandwidth
        } else {
            BoundBy::Latency
        }
    }
}

/// A change that is small and far above what `solve` rounds.
const CHANGE: f64 = 0.01;

/// What a program's time depends on; `None` where the law has no time.
pub fn bound(
    parts: &ProgramParts,
    memory: &MemoryLaw<'_>,
    beside: Beside,
    copies: u32,
) -> Option<BoundShares> {
    let time = |parts: &ProgramParts, memory: &MemoryLaw<'_>| {
        Some(solve(parts, memory, beside, copies)?.seconds)
    };
    let here = time(parts, memory)?;
    let rise = |there: f64| ((there / here).ln() / CHANGE.ln_1p()).max(0.0);
    let core_seconds = parts.core_seconds * (1.0 + CHANGE);
    let compute = rise(time(&ProgramParts { core_seconds, ..*parts }, memory)?);
    let mut slower = memory.law.clone();
    slower.idle_ns *= 1.0 + CHANGE;
    let latency = rise(time(parts, &MemoryLaw { law: &slower, ..*memory })?);
    let capacity_ratio = memory.capacity_ratio / (1.0 + CHANGE);
    let bandwidth = rise(time(parts, &MemoryLaw { capacity_ratio, ..*memory })?);
    Some(BoundShares { compute, bandwidth, latency })
}
