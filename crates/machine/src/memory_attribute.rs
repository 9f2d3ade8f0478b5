//! What hwloc calls memory attributes: how fast initiators reach nodes, by which `hwloc-bind`,
//! Open MPI and others choose one (`hwloc/memattrs.h`).

use nearfar_units::words;
use serde::{Deserialize, Serialize};

use crate::index_set::CpuSet;

/// An attribute of hwloc for which there are measurements, by its name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MemoryAttribute {
    /// Reads and writes together.
    Bandwidth,
    /// Reads alone.
    ReadBandwidth,
    /// Writes alone.
    WriteBandwidth,
    /// An access.
    Latency,
    ReadLatency,
}

/// hwloc counts bandwidths in MiB/s.
const MIB: f64 = 1_048_576.0;

impl MemoryAttribute {
    /// Whether it is a time, of which less is better.
    pub fn is_latency(self) -> bool {
        matches!(self, Self::Latency | Self::ReadLatency)
    }

    /// hwloc's unit of its values.
    pub fn unit(self) -> &'static str {
        if self.is_latency() { "ns" } else { "MiB/s" }
    }

    /// hwloc's value for an amount in bytes/s or ns: a whole number of its [unit](Self::unit).
    /// `None` where that would be 0, which hwloc takes for unknown, or no number.
    pub fn value(self, amount: f64) -> Option<u64> {
        /// Whole numbers up to here are exact; no machine comes near.
        const MOST: f64 = 9_007_199_254_740_992.0;
        let value = if self.is_latency() { amount } else { amount / MIB }.round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number within the bounds just looked at"
        )]
        (1.0..=MOST).contains(&value).then_some(value as u64)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttributeValue {
    #[serde(skip)]
    pub attribute: MemoryAttribute,
    /// The CPUs that access.
    #[serde(rename = "cpus")]
    pub initiator: CpuSet,
    /// The node that is accessed.
    #[serde(rename = "memory_node")]
    pub node: u32,
    /// In the attribute's [unit](MemoryAttribute::unit), never 0.
    pub value: u64,
}

words!(MemoryAttribute);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_whole_mebibytes_per_second_and_nanoseconds() {
        assert_eq!(MemoryAttribute::Bandwidth.value(33.0e9), Some(31_471));
        assert_eq!(MemoryAttribute::ReadBandwidth.value(1_048_576.0), Some(1));
        assert_eq!(MemoryAttribute::Latency.value(89.5), Some(90));
    }

    #[test]
    fn what_hwloc_would_take_for_unknown_has_no_value() {
        for amount in [0.0, 0.4, -5.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(MemoryAttribute::ReadLatency.value(amount), None, "{amount}");
        }
        assert_eq!(MemoryAttribute::WriteBandwidth.value(1000.0), None);
    }
}
