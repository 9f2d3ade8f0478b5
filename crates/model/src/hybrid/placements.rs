//! What the usual ways to place a program's buffers give it, the best ones, and which of them is
//! worth it.

use nearfar_machine::MemoryPolicy;
use nearfar_record::{Outcome, PageSplit};
use nearfar_units::BytesPerSecond;
use serde::Serialize;

use super::Hybrid;
use super::advice::HybridAdvice;
use super::best_shares::Buffers;
use super::held_out::HeldOutErrors;
use super::pair::HybridPair;
use super::prediction::{HybridGain, HybridPrediction};
use super::shares::{HybridShares, nearest_weights};

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
    /// On which of the two pages come to lie by themselves; null where it is neither.
    pub default_node: Option<u32>,
}

/// Those that others are set against.
const USUAL: [PlacementName; 3] =
    [PlacementName::AllFast, PlacementName::AllSlow, PlacementName::Even];

/// So many weights near a share are looked at.
const LOOKED_AT: usize = 12;

/// A fraction of bandwidth that rounding may cost.
const NO_COST: f64 = 0.001;

/// Data of which only this share finds room in the fast memory.
const ROOM: f64 = 0.5;

impl HybridPair {
    /// What a program with this share of loads gets, and with these shares of all its buffers in
    /// the fast memory; `None` where one of them is not between 0 and 1.
    pub fn answer(&self, load_share: f64, asked: &[f64]) -> Option<HybridAnswer> {
        let is_share = |share: &f64| (0.0..=1.0).contains(share);
        if !is_share(&load_share) || !asked.iter().all(is_share) {
            return None;
        }
        let default = if self.default_node == Some(self.slow_node) {
            PlacementName::AllSlow
        } else {
            PlacementName::AllFast
        };
        let mut placements = Vec::new();
        let fixed = [
            (PlacementName::AllFast, 1.0),
            (PlacementName::AllSlow, 0.0),
            (PlacementName::Even, 0.5),
        ];
        let asked = asked.iter().map(|&share| (PlacementName::Asked, share));
        for (name, share) in fixed.into_iter().chain(asked) {
            let prediction = self.predict(HybridShares::together(load_share, share));
            placements.extend(prediction.map(|it| self.placement(name, it, None)));
        }
        let for_half =
            if self.separate_errors.is_some() { Buffers::Separately } else { Buffers::Together };
        let mut is_complete = true;
        for (name, buffers, room) in [
            (PlacementName::BestTogether, Buffers::Together, 1.0),
            (PlacementName::BestSeparately, Buffers::Separately, 1.0),
            (PlacementName::HalfFast, for_half, ROOM),
        ] {
            let best = self.best(load_share, buffers, room);
            is_complete &= best.as_ref().is_some_and(|best| best.is_complete);
            placements.extend(best.map(|it| self.placement(name, it.chosen, it.unclaimed)));
        }
        let usual: Vec<HybridPlacement> =
            placements.iter().filter(|it| USUAL.contains(&it.name)).cloned().collect();
        for placement in &mut placements {
            let others = usual.iter().filter(|it| it.name != placement.name);
            let gains = others.map(|other| GainOver {
                over: other.name,
                gain: self.gain(&placement.prediction, &other.prediction),
            });
            placement.gains = gains.collect();
        }
        let recommended = self.recommended(default, &placements);
        let advice = Vec::new();
        let mut answer =
            HybridAnswer { load_share, default, placements, recommended, is_complete, advice };
        answer.advice = super::advice::advice(self, &answer);
        Some(answer)
    }

    /// Which memories it is of.
    pub fn memories(&self) -> HybridMemories {
        let &Self { initiator, fast_node, slow_node, default_node, .. } = self;
        HybridMemories { initiator, fast_node, slow_node, default_node }
    }

    fn placement(
        &self,
        name: PlacementName,
        prediction: HybridPrediction,
        unclaimed: Option<HybridPrediction>,
    ) -> HybridPlacement {
        let (load, store) = self.weights(&prediction);
        let by_weights = self.by_weights(&prediction.shares, load, store).map(BytesPerSecond);
        let [load_policy, store_policy] = [load, store].map(|split| Some(self.policy(split?)));
        let gains = Vec::new();
        HybridPlacement {
            name,
            prediction,
            unclaimed,
            load_policy,
            store_policy,
            by_weights,
            gains,
        }
    }

    fn policy(&self, weights: PageSplit) -> MemoryPolicy {
        match (weights.fast, weights.slow) {
            (_, 0) => MemoryPolicy::Preferred(self.fast_node),
            (0, _) => MemoryPolicy::Preferred(self.slow_node),
            (fast, slow) => {
                MemoryPolicy::Weighted([(self.fast_node, fast), (self.slow_node, slow)].into())
            }
        }
    }

    /// The weights nearest to the shares, or a little farther ones where those fall on the wrong
    /// side of a jump.
    fn weights(&self, prediction: &HybridPrediction) -> (Option<PageSplit>, Option<PageSplit>) {
        let shares = &prediction.shares;
        let near = |is_there: bool, share: f64| -> Vec<Option<PageSplit>> {
            if !is_there {
                return vec![None];
            }
            nearest_weights(share).take(LOOKED_AT).map(Some).collect()
        };
        let value = |load, store| self.by_weights(shares, load, store).unwrap_or(0.0);
        let is_enough = |found: f64| found >= prediction.lowest.0 * (1.0 - NO_COST);
        let has = [shares.load_share > 0.0, shares.load_share < 1.0];
        let loads = near(has[0], shares.load_fast_share);
        let stores = near(has[1], shares.store_fast_share);
        let mut all: Vec<(Option<PageSplit>, Option<PageSplit>)> = Vec::new();
        if shares.are_one() {
            // One policy for the whole program.
            let one = if has[0] { &loads } else { &stores };
            all.extend(one.iter().map(|it| (it.filter(|_| has[0]), it.filter(|_| has[1]))));
        } else {
            all.extend(loads.iter().flat_map(|&it| stores.iter().map(move |&other| (it, other))));
        }
        let mut best = (all[0], value(all[0].0, all[0].1));
        if !is_enough(best.1) {
            for (load, store) in all {
                let found = value(load, store);
                if found > best.1 * (1.0 + NO_COST) {
                    best = ((load, store), found);
                }
            }
        }
        best.0
    }

    /// Useful bytes/s with these weights; `None` where an overlap that they need is not known.
    fn by_weights(
        &self,
        shares: &HybridShares,
        load: Option<PageSplit>,
        store: Option<PageSplit>,
    ) -> Option<f64> {
        let share = |split: Option<PageSplit>| split.map_or(0.0, PageSplit::fast_share);
        let shares = HybridShares {
            load_share: shares.load_share,
            load_fast_share: share(load),
            store_fast_share: share(store),
        };
        self.range(&shares).map(|(lowest, _)| lowest)
    }

    /// The simplest placement whose gain over simpler ones is claimed.
    fn recommended(
        &self,
        default: PlacementName,
        placements: &[HybridPlacement],
    ) -> Option<PlacementName> {
        let of = |name: PlacementName| placements.iter().find(|it| it.name == name);
        let mut best = of(default)?;
        for name in [
            PlacementName::AllFast,
            PlacementName::AllSlow,
            PlacementName::BestTogether,
            PlacementName::BestSeparately,
        ] {
            let better =
                of(name).filter(|it| self.gain(&it.prediction, &best.prediction).is_claimed);
            best = better.unwrap_or(best);
        }
        Some(best.name)
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

impl Hybrid {
    /// What a program with this share of loads gets, and with these shares of all its buffers in
    /// the fast memory; `None` where one of them is not between 0 and 1.
    pub fn answer(&self, load_share: f64, asked: &[f64]) -> Option<HybridAnswers> {
        let answer = |pair: &HybridPair| {
            Some(HybridPairAnswer {
                memories: pair.memories(),
                errors: pair.errors.clone(),
                remedy: pair.remedy.clone(),
                answer: pair.answer(load_share, asked)?,
            })
        };
        let pairs = self.pairs.iter().map(answer).collect::<Option<_>>()?;
        Some(HybridAnswers { pairs })
    }
}
