//! What the usual ways to place a program's buffers give it, the best ones, and which of them is
//! worth it.

use nearfar_machine::MemoryPolicy;
use nearfar_record::PageSplit;
use nearfar_units::BytesPerSecond;

use super::Hybrid;
use super::answer::{
    GainOver, HybridAnswer, HybridAnswers, HybridMemories, HybridPairAnswer, HybridPlacement,
    HybridPrediction, PlacementName,
};
use super::best_shares::Buffers;
use super::pair::HybridPair;
use super::shares::{HybridShares, nearest_weights};

/// Shares of loads that answers are given for: reads only, two reads for a write (STREAM's triad
/// and add), one for one (copy, scale), writes only.
const PROGRAMS: [f64; 4] = [1.0, 2.0 / 3.0, 0.5, 0.0];

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
    pub(super) fn usual_answers(&self) -> Vec<HybridAnswer> {
        PROGRAMS.iter().filter_map(|&loads| self.answer(loads, &[])).collect()
    }

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
        let is_one_kind = self.fast_kind == self.slow_kind;
        HybridMemories { initiator, fast_node, slow_node, is_one_kind, default_node }
    }

    fn placement(
        &self,
        name: PlacementName,
        prediction: HybridPrediction,
        unclaimed: Option<HybridPrediction>,
    ) -> HybridPlacement {
        let (load, store) = self.weights(&prediction, 1.0);
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

    /// The weights of all buffers for a prediction with one share of all of them, of which at most
    /// `most_fast` finds room in the fast memory.
    pub fn weights_of_all(
        &self,
        prediction: &HybridPrediction,
        most_fast: f64,
    ) -> Option<PageSplit> {
        let (load, store) = self.weights(prediction, most_fast);
        load.or(store)
    }

    /// The weights nearest to the shares, or a little farther ones where those fall on the wrong
    /// side of a jump.
    fn weights(
        &self,
        prediction: &HybridPrediction,
        most_fast: f64,
    ) -> (Option<PageSplit>, Option<PageSplit>) {
        let shares = &prediction.shares;
        let near = |is_there: bool, share: f64| -> Vec<Option<PageSplit>> {
            if !is_there {
                return vec![None];
            }
            let fitting = nearest_weights(share).filter(|it| it.fast_share() <= most_fast);
            fitting.take(LOOKED_AT).map(Some).collect()
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
