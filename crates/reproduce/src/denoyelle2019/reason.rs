//! Why figures of the paper and ours differ.

use crate::row::Reason;

/// A reason that is checked on the paper's own numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownReason {
    /// Table 1 prints 1.99 loads a cycle, table 2 a bandwidth that is 1.996.
    CutOff,
    /// A machine's capacities are fitted to several figures at once.
    FittedTogether,
}

/// How far one of several figures may be from what capacities fitted to all of them give.
const FIT: f64 = 0.005;

impl KnownReason {
    /// All.
    pub const ALL: [Self; 2] = [Self::CutOff, Self::FittedTogether];

    /// In words.
    #[must_use]
    pub fn why(self) -> &'static str {
        match self {
            Self::CutOff => {
                "the simulated machine has the bandwidth of L1 that table 2 prints, 760.1 GB/s, \
                 which is 1.996 loads a cycle by 7 cores at 1.7 GHz of 32 bytes each; table 1 has \
                 the first two decimals of that"
            }
            Self::FittedTogether => {
                "the simulated machine's links and controllers are fitted to all figures of table 5 \
                 at once and give this one within 0.5 %"
            }
        }
    }

    pub(super) fn checked(self, holds: bool) -> Reason {
        Reason { why: self.why(), holds }
    }

    /// Whether a figure is as near as [`Self::FittedTogether`] says.
    pub(super) fn is_fitted(printed: f64, ours: Option<f64>) -> bool {
        ours.is_some_and(|ours| (ours / printed - 1.0).abs() <= FIT)
    }
}
