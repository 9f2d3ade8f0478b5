//! How far two CPUs were from each other while a case ran, by which a guest sees that its hypervisor moves them.

use serde::{Deserialize, Serialize};

/// Time that a line takes from one CPU to the other, one way, ns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CpuDistance {
    /// The first of a chase or a program, and the first of the streams beside it.
    pub cpus: [u32; 2],
    /// Before the windows of the round, or before the streams beside a program start; the fastest of a few
    /// looks.
    pub before_ns: f64,
    /// The same just after them.
    pub after_ns: f64,
}

/// Samples left out because a hypervisor had their CPUs on other cores than in most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MovedCores {
    /// Samples that no figure is made of.
    pub left_out: u32,
    /// All samples of which the distance is known, these among them.
    pub of: u32,
    /// Time of a line, one way, in the others: the median, ns.
    pub usual_ns: f64,
    /// The same while CPUs were on other cores, ns.
    pub other_ns: f64,
}
