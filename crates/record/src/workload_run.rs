//! Workloads: the papers' programs as nearfar runs them, and what was seen of a run of one.

use std::fmt;

use nearfar_machine::{CpuSet, MemoryPolicy, PlacementStrategy};
use serde::{Deserialize, Serialize};

use crate::sample::Proof;

/// By what the pages of a workload's arrays are placed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ArrayPlacement {
    /// By who touches what first, and what is bound to whom.
    Strategy(PlacementStrategy),
    /// All by one policy.
    Policy(MemoryPolicy),
}

impl fmt::Display for ArrayPlacement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Strategy(strategy) => strategy.fmt(out),
            Self::Policy(policy) => policy.fmt(out),
        }
    }
}

/// A workload, run from start to end: an actor that has several arrays and loops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Its name and size, as `cg.A`.
    pub workload: String,
    /// CPUs of its threads.
    pub cpus: CpuSet,
    /// The CPU of each thread.
    pub thread_cpus: Vec<u32>,
    /// By what the pages of its arrays are placed.
    pub placement: ArrayPlacement,
    /// Bytes of all its arrays.
    pub working_set_bytes: u64,
}

impl Workload {
    /// The name of its variant in views: it has one.
    pub const VARIANT: &'static str = "workload";

    /// The policy of its pages; `None` where a strategy places them.
    pub fn memory(&self) -> Option<&MemoryPolicy> {
        match &self.placement {
            ArrayPlacement::Policy(policy) => Some(policy),
            ArrayPlacement::Strategy(_) => None,
        }
    }
}

/// What was seen of one run of a workload from start to end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkloadRun {
    /// Work that was done, in `unit`s.
    pub work: f64,
    /// What its work is counted in: a rate is `work` / time.
    pub unit: String,
    /// Time of what the benchmark times: initialisation and verification are not in it.
    pub timed_ns: u64,
    /// Its parts by their names, in the order of their first calls.
    pub phases: Vec<WorkloadPhase>,
    /// Its result beside what is known of it; of a simulated machine nothing, which computes none.
    pub checks: Vec<ResultCheck>,
    /// In the order in which the literature names them.
    pub arrays: Vec<WorkloadArray>,
    /// Pages that were moved to the node of the thread that computes on them.
    pub moved_pages: u64,
}

/// A part of a run by its name, summed over its calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkloadPhase {
    pub name: String,
    pub calls: u64,
    pub time_ns: u64,
    /// Floating-point operations, by its loops and not counted; null where it declares none.
    pub flops: Option<f64>,
    /// Bytes that its loops move between memory and the last-level caches of its threads, both ways:
    /// declared and not counted; null where it declares none, or the caches' size is not known.
    pub declared_bytes: Option<f64>,
}

/// An array of a workload, and where its pages were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkloadArray {
    pub name: String,
    pub bytes: u64,
    /// Whether it is one of those that most of the time is spent on, which `memory-bind` binds.
    pub is_hot: bool,
    /// When they had been placed, and when the run had ended.
    pub proof: Proof,
}

/// A value of a result beside the known one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResultCheck {
    /// What was compared.
    pub quantity: String,
    pub expected: f64,
    /// Null where it is no number, NaN say.
    #[serde(deserialize_with = "number_or_nan")]
    pub found: f64,
    /// Most that the two may differ, as a fraction of the expected value; of 0 itself where that
    /// is 0. 0 for integers, which are exact.
    pub tolerance: f64,
}

/// A value that is no number stands as null.
fn number_or_nan<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Option::<f64>::deserialize(deserializer).map(|found| found.unwrap_or(f64::NAN))
}

impl ResultCheck {
    pub fn relative(
        quantity: impl Into<String>,
        expected: f64,
        found: f64,
        tolerance: f64,
    ) -> Self {
        Self { quantity: quantity.into(), expected, found, tolerance }
    }

    /// Of counts, below 2^53.
    pub fn exact(quantity: impl Into<String>, expected: u64, found: u64) -> Self {
        Self {
            quantity: quantity.into(),
            expected: expected as f64,
            found: found as f64,
            tolerance: 0.0,
        }
    }

    /// Whether the two agree.
    pub fn holds(&self) -> bool {
        let scale = if self.expected == 0.0 { 1.0 } else { self.expected.abs() };
        // Written so that NaN does not hold.
        (self.found - self.expected).abs() <= self.tolerance * scale
    }
}

impl WorkloadRun {
    /// `unit`s / second.
    pub fn rate(&self) -> f64 {
        self.work * 1e9 / self.timed_ns as f64
    }

    /// Whether its result is the known one: all checks hold, and there are some.
    pub fn is_verified(&self) -> bool {
        are_verified(&self.checks)
    }
}

/// Whether all hold, and there are some.
pub fn are_verified(checks: &[ResultCheck]) -> bool {
    !checks.is_empty() && checks.iter().all(ResultCheck::holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_or_beyond_its_tolerance_does_not_hold() {
        for (expected, found, tolerance, holds) in [
            (2.0, 2.0, 0.0, true),
            (2.0, 2.1, 0.1, true),
            (-2.0, -2.3, 0.1, false),
            (0.0, 1e-9, 1e-8, true),
            (1.0, f64::NAN, 1.0, false),
            (1.0, f64::INFINITY, 1.0, false),
        ] {
            let check = ResultCheck::relative("x", expected, found, tolerance);
            assert_eq!(check.holds(), holds, "{check:?}");
            let text = serde_json::to_string(&check).unwrap();
            let read: ResultCheck = serde_json::from_str(&text).unwrap();
            assert_eq!(read.holds(), holds, "{text}");
        }
        assert!(!are_verified(&[]));
    }
}
