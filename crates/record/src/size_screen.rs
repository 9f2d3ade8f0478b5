//! How large working sets of memory are, and by what that was found out.

use serde::{Deserialize, Serialize};

/// Bandwidth at growing working sets, from which their size was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SizeScreen {
    /// What was compared, by kernel, threads and multiple.
    pub ratios: Vec<SizeRatio>,
    /// Whether the chosen size is as fast as twice that size, within 2%, for every kernel and thread count.
    pub is_settled: bool,
    /// Why larger sizes were not tried; null if they were.
    pub cut_short: Option<String>,
}

/// Bandwidth at one working set against that at twice the size, in alternation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SizeRatio {
    pub kernel: String,
    pub threads: u32,
    /// The smaller working set / the caches involved.
    pub multiple: u32,
    /// Median over rounds of the bandwidth at this size over that at twice the size; for `chase` of the
    /// inverse of times.
    pub ratio: f64,
    /// Ends of its 95% interval.
    pub low: f64,
    pub high: f64,
}

impl SizeRatio {
    /// Two sizes whose bandwidths differ by less have no cache in them that matters.
    pub const TOLERANCE: f64 = 0.02;

    /// Whether both sizes are shown to be equally fast.
    pub fn is_within(&self) -> bool {
        self.low >= 1.0 - Self::TOLERANCE && self.high <= 1.0 + Self::TOLERANCE
    }
}

impl SizeScreen {
    /// The ratio farthest from 1 at a multiple.
    pub fn farthest(&self, multiple: u32) -> Option<&SizeRatio> {
        let at = self.ratios.iter().filter(|ratio| ratio.multiple == multiple);
        at.max_by(|one, other| (one.ratio - 1.0).abs().total_cmp(&(other.ratio - 1.0).abs()))
    }
}
