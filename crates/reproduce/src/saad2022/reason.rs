//! Where the paper's tables and its own equations differ, and why. A reason is checked on the
//! printed numbers each time.

use crate::row::Reason;

/// Why a printed value and what an equation gives differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownReason {
    /// Lone local processes near their limit softly.
    SoftCorner,
    /// More remote processes get less.
    FallsBeyond,
    /// The total is above both lone parts.
    AboveBothParts,
    /// Another split is as good as the printed one, as far as the model can tell.
    AsGood,
}

impl KnownReason {
    /// The reason, and whether the numbers bear it out.
    pub(super) fn checked(self, holds: bool) -> Reason {
        Reason { why: self.why(), holds }
    }

    /// The reason in words; `docs/papers/saad2022.md` has the same.
    pub fn why(self) -> &'static str {
        match self {
            Self::SoftCorner => {
                "the equation turns a sharp corner at the limit, and local processes near it \
                 softly: the printed figure is below what the equation gives and above that of \
                 one process fewer; our laws therefore start from the measured lone figures"
            }
            Self::FallsBeyond => {
                "the printed figure is below that of one remote process fewer, and the smaller of \
                 n b and a limit never falls; our laws therefore start from the measured lone figures"
            }
            Self::AboveBothParts => {
                "the equation with a sharing factor from 0 to 1 gives nothing above the larger of the \
                 two lone figures, and the printed total is above both; our laws have no such limit"
            }
            Self::AsGood => {
                "the model names both splits as equally good and puts the one that it was given \
                 before the one that it foretells: their printed totals are less apart than what \
                 it promises of a total"
            }
        }
    }
}
