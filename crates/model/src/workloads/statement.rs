//! Which strategy ribeiro2010 (section 5 and conclusion) calls the best of a kind of program, and whether
//! it is so here.

use std::cmp::Ordering;

use nearfar_machine::PlacementStrategy;
use nearfar_record::Better;
use nearfar_units::Ratio;
use serde::Serialize;

use super::{StrategyRuns, WorkloadStrategies};
use crate::sensitivity::{Relative, relative};

/// NUMA factors up to this one are low: the paper's Opteron has 1.2 to 1.5.
const LOW: f64 = 1.5;

/// From this one on they are high: the paper's Itanium 2 has 2 to 2.5.
const HIGH: f64 = 2.0;

/// How a program goes through its arrays, in the paper's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ArrayAccess {
    /// Each thread keeps to its own pages: Ondes 3D, here `elastic`.
    Regular,
    /// Threads read each other's pages: CG, MG.
    Irregular,
}

/// What the paper says of a program at the machine's NUMA factor, and what the record says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StrategyStatement {
    pub access: ArrayAccess,
    /// The largest of the machine's remote nodes with CPUs.
    pub numa_factor: Ratio,
    /// The strategies that the paper finds the best; of two, alike.
    pub stated: Vec<PlacementStrategy>,
    /// The fastest of the others.
    pub other: PlacementStrategy,
    /// The rate of the faster stated one / that of `other`.
    pub gain: Relative,
    /// Whether a stated one is the fastest; null where the interval of `gain` holds 1.
    pub holds: Option<bool>,
}

/// The paper's best: of irregular programs at any factor, of regular ones at low and high factors; it
/// measured none between.
fn stated(workload: &str, factor: f64) -> Option<(ArrayAccess, Vec<PlacementStrategy>)> {
    use PlacementStrategy::{MemoryBind, ParallelInit, RoundRobin};
    match workload.split_once('.').map_or(workload, |(name, _)| name) {
        "cg" | "mg" => Some((ArrayAccess::Irregular, vec![RoundRobin])),
        "elastic" if factor <= LOW => Some((ArrayAccess::Regular, vec![RoundRobin])),
        "elastic" if factor >= HIGH => Some((ArrayAccess::Regular, vec![MemoryBind, ParallelInit])),
        _ => None,
    }
}

/// The paper's statement beside these runs; `None` where it makes none, or runs are missing.
pub(super) fn statement(of: &WorkloadStrategies, factor: Ratio) -> Option<StrategyStatement> {
    let (access, stated) = stated(&of.workload, factor.0)?;
    let median = |it: &StrategyRuns| it.rate.as_ref().map_or(0.0, |rate| rate.figure.median);
    let by_rate = |one: &&StrategyRuns, other: &&StrategyRuns| -> Ordering {
        median(one).total_cmp(&median(other))
    };
    let fastest = |is_stated: bool| {
        let of_kind = of.runs.iter().filter(|it| stated.contains(&it.strategy) == is_stated);
        of_kind.filter(|it| it.rate.is_some()).max_by(by_rate)
    };
    let (best, other) = (fastest(true)?, fastest(false)?);
    let gain = relative(best.rate.as_ref()?, other.rate.as_ref()?, Better::Higher)?;
    let (low, high) = gain.interval;
    let is_told = !(low..=high).contains(&1.0);
    let holds = is_told.then_some(gain.ratio > 1.0);
    Some(StrategyStatement {
        access,
        numa_factor: factor,
        stated,
        other: other.strategy,
        gain,
        holds,
    })
}
