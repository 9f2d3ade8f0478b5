//! What a program gets of two memories, in answer to its share of loads.

use nearfar_machine::MemoryPolicy;
use nearfar_record::{Estimate, Outcome, TransferKind};
use nearfar_units::{BytesPerSecond, Nanoseconds};
use serde::Serialize;

use super::held_out::HeldOutErrors;
use super::shares::HybridShares;

/// A way to place buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlacementName {
    /// All in the fast memory.
    AllFast,
    /// All in the slow memory.
    AllSlow,
    /// Page by page in turn.
    Even,
    /// One share for all buffers, the best.
    BestTogether,
    /// A share for what is read and one for what is written, the best.
    BestSeparately,
    /// The best where at most half of the bytes find room in the fast memory: by different shares
    /// where such were validated, else by one share for all buffers.
    HalfFast,
    /// One share for all buffers, which was asked for.
    Asked,
}

/// A way to place buffers, and what it gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridPlacement {
    pub name: PlacementName,
    /// What it gives.
    #[serde(flatten)]
    pub prediction: HybridPrediction,
    /// What equation 5 promises more elsewhere and cannot be claimed; null where there is none.
    pub unclaimed: Option<HybridPrediction>,
    /// The memory policy of what is read, with small weights; null where nothing is.
    pub load_policy: Option<MemoryPolicy>,
    /// The same of what is written.
    pub store_policy: Option<MemoryPolicy>,
    /// With these policies, the lowest by the kinds that may take longest; null where an overlap
    /// that they need is not known.
    #[serde(rename = "weighted_gb_per_s")]
    pub by_weights: Option<BytesPerSecond>,
    /// Over `all_fast`, `all_slow` and `even`, as far as these are others and can be predicted.
    pub gains: Vec<GainOver>,
}

/// By how much a placement is better than another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GainOver {
    /// The other one.
    pub over: PlacementName,
    #[serde(flatten)]
    pub gain: HybridGain,
}

/// What a program with one share of loads gets of two memories.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridAnswer {
    /// Share of loads in all bytes.
    pub load_share: f64,
    /// Where pages come to lie that nobody places: the initiator's own node with CPUs, or the fast
    /// memory where that is neither of the two.
    #[serde(rename = "default_placement")]
    pub default: PlacementName,
    /// The placements that can be predicted.
    pub placements: Vec<HybridPlacement>,
    /// Of these the simplest whose gain over simpler ones is claimed; null where the default
    /// cannot be predicted.
    pub recommended: Option<PlacementName>,
    /// Whether no overlap is missing: else a better share may not be seen.
    pub is_complete: bool,
    /// What to do.
    pub advice: Vec<HybridAdvice>,
}

/// What a program gets of a fast and a slow memory; `predict RECORD --load-share SHARE --json`
/// prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridAnswers {
    /// For each initiator with two memories.
    pub pairs: Vec<HybridPairAnswer>,
}

/// What a program gets of two memories of one initiator.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridPairAnswer {
    #[serde(flatten)]
    pub memories: HybridMemories,
    /// How far the model is off.
    pub errors: Outcome<HeldOutErrors>,
    /// The command that measures the cases of the model with enough rounds.
    pub remedy: String,
    #[serde(flatten)]
    pub answer: HybridAnswer,
}

/// Two memories of an initiator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridMemories {
    pub initiator: u32,
    /// Node of the memory that should be faster.
    pub fast_node: u32,
    pub slow_node: u32,
    /// Whether both are of one kind: what is called fast is then the nearer one.
    pub is_one_kind: bool,
    /// On which of the two pages come to lie by themselves; null where it is neither.
    pub default_node: Option<u32>,
}

/// What a program gets with given shares.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridPrediction {
    #[serde(flatten)]
    pub shares: HybridShares,
    /// Share of all bytes in the fast memory.
    pub fast_share: f64,
    /// By the kind that takes longest; where what is read and what is written have different
    /// shares, the lowest that any kind gives which carries traffic. Interval: 95 % of the fits to
    /// drawn rounds, by all kinds that may take longest, and at least the room of the error on
    /// points that were not fitted to either side; null where neither is known, and where the
    /// shares are not validated.
    #[serde(rename = "gb_per_s")]
    pub bandwidth: Estimate<BytesPerSecond>,
    /// The lowest that a kind gives which may take longest; with different shares that any kind
    /// gives which carries traffic.
    #[serde(rename = "lowest_gb_per_s")]
    pub lowest: BytesPerSecond,
    /// The highest that a kind gives which may take longest.
    #[serde(rename = "highest_gb_per_s")]
    pub highest: BytesPerSecond,
    /// Whether points with shares of this sort, one for all buffers or different ones, were
    /// measured and never fitted; else nothing is claimed of them.
    pub is_validated: bool,
    /// Time for 1000 bytes of the whole.
    #[serde(rename = "time_ns")]
    pub time: Nanoseconds,
    /// Time of each kind alone for its part of them: lf, sf, ls, ss.
    #[serde(rename = "kind_times_ns")]
    pub kind_times: [Nanoseconds; 4],
    /// The kind that takes longest.
    pub dominating: TransferKind,
    /// The others that are within three standard errors of it: with them the model jumps, and
    /// which side is true cannot be told.
    pub may_dominate: Vec<TransferKind>,
}

/// By how much one placement is better than another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridGain {
    /// Predicted / that of the other - 1, by the kinds with the largest t.
    pub gain: f64,
    /// Whether it is more than the room of the model's error, whichever kinds dominate. Without a
    /// known error, without enough rounds for intervals or with shares that are not validated
    /// none is.
    pub is_claimed: bool,
    /// Whether the other one is so much better.
    pub is_sure_loss: bool,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum HybridAdvice {
    /// Leave buffers as the default placement has them.
    Leave {
        /// Why no other is taken.
        because: NoGain,
    },
    /// Put buffers as the recommended placement has them.
    Put {
        /// The fraction of it that the rounding of weights costs; null where that is too little to
        /// tell.
        rounding_cost: Option<f64>,
        /// Close to these shares the model drops; null where it does not.
        drop: Option<HybridDrop>,
    },
    /// Expect nothing of the shares that this placement would have if they were not at a jump of
    /// the model.
    AvoidJump { placement: PlacementName },
    /// Try different shares for what is read and what is written on the program itself: the model
    /// gives more for them, and no point validates it.
    TrySeparately,
    /// Where only half of the data finds room in the fast memory, put buffers as `half_fast` has
    /// them.
    FillHalf,
    /// Measure the overlaps without which no gain over the default placement can be told.
    MeasureOverlaps {
        /// The kind that takes longest, and the one beside it.
        missing: Vec<(TransferKind, TransferKind)>,
        /// Position of the placement that gives most of those that can be predicted, or null.
        most: Option<usize>,
    },
    /// Keep in mind that a better share may not be seen: overlaps are missing for some.
    SuspectBetter,
}

/// Where a program gets much less than with the recommended share of the fast memory, close to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridDrop {
    /// Share of all bytes in the fast memory.
    pub fast_share: f64,
    #[serde(rename = "gb_per_s")]
    pub bandwidth: Estimate<BytesPerSecond>,
}

/// Why no placement is taken in place of the default one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoGain {
    /// None is sure to gain more than the model may be off.
    WithinError,
    /// The rounds are too few for intervals.
    TooFewRounds,
    /// The model's error is not known.
    ErrorUnknown,
}

impl HybridPrediction {
    /// Whether something may be claimed of it: points validate its shares, or these are one for all
    /// buffers.
    pub fn is_backed(&self) -> bool {
        self.is_validated || self.shares.are_one()
    }
}

impl HybridAnswer {
    /// A placement that can be predicted.
    pub fn placement(&self, name: PlacementName) -> Option<&HybridPlacement> {
        self.placements.iter().find(|placement| placement.name == name)
    }
}

impl HybridPlacement {
    /// By how much it is better than another one.
    pub fn gain_over(&self, other: PlacementName) -> Option<HybridGain> {
        self.gains.iter().find(|gain| gain.over == other).map(|it| it.gain)
    }
}
