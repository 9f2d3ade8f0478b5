//! What a placement over two memories gives, as `model` and `predict` print it.

use nearfar_machine::{Binding, CpuSet, MemoryPolicy};
use nearfar_model::{HybridPair, HybridPlacement, HybridPrediction, PlacementName};
use nearfar_record::{PageSplit, TransferKind};
use serde::Serialize;

use super::figures::gb_per_s;
use super::model_hybrid_answer::interval_words;

/// Two memories of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoriesView {
    pub cluster: u32,
    /// Node of the memory that should be faster.
    pub fast_node: u32,
    pub slow_node: u32,
}

/// What given shares give.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharesView {
    /// Share of what is read that is in the fast memory, or null.
    pub load_fast_share: Option<f64>,
    /// Share of what is written that is in the fast memory, or null.
    pub store_fast_share: Option<f64>,
    /// Share of all bytes in the fast memory.
    pub fast_share: f64,
    /// By the kind that takes longest.
    pub gb_per_s: f64,
    /// Where it lies, or null.
    pub interval_gb_per_s: Option<[f64; 2]>,
    /// The lowest by the kinds that may take longest.
    pub lowest_gb_per_s: f64,
    /// The highest such.
    pub highest_gb_per_s: f64,
    /// Time for 1000 bytes of the whole.
    pub time_ns: f64,
    /// Time of each kind alone for its part of them: lf, sf, ls, ss.
    pub kind_times_ns: [f64; 4],
    /// The kind that takes longest.
    pub dominating: TransferKind,
    pub may_dominate: Vec<TransferKind>,
    /// Whether points with shares of this sort were measured and never fitted.
    pub validated: bool,
}

/// A way to place buffers, and what it gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridPlacementView {
    pub name: &'static str,
    /// What it gives.
    #[serde(flatten)]
    pub shares: SharesView,
    /// What the equation promises more elsewhere, or null.
    pub unclaimed: Option<SharesView>,
    /// The memory policy of what is read, or null.
    pub load_policy: Option<String>,
    /// The memory policy of what is written, or null.
    pub store_policy: Option<String>,
    /// With the policies' small weights, or null.
    pub weighted_gb_per_s: Option<f64>,
    /// Over the placements that others are set against.
    pub gains: Vec<HybridGainView>,
}

/// By how much a placement is better than another.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridGainView {
    pub over: &'static str,
    /// Predicted / that of the other - 1.
    pub gain: f64,
    /// Whether that is beyond the room of the model's error.
    pub claimed: bool,
}

/// What is moved for a time in [`SharesView`].
const BYTES: f64 = 1000.0;

pub(crate) fn placement_name(name: PlacementName) -> &'static str {
    match name {
        PlacementName::AllFast => "all_fast",
        PlacementName::AllSlow => "all_slow",
        PlacementName::Even => "even",
        PlacementName::BestTogether => "best_together",
        PlacementName::BestSeparately => "best_separately",
        PlacementName::HalfFast => "half_fast",
        PlacementName::Asked => "asked",
    }
}

impl MemoriesView {
    pub(crate) fn of(pair: &HybridPair) -> Self {
        let &HybridPair { cluster, fast_node, slow_node, .. } = pair;
        Self { cluster, fast_node, slow_node }
    }
}

impl SharesView {
    fn new(prediction: &HybridPrediction) -> Self {
        let shares = prediction.shares;
        let ns = |seconds_for_a_byte: f64| seconds_for_a_byte * BYTES * 1e9;
        Self {
            load_fast_share: (shares.load_share > 0.0).then_some(shares.load_fast_share),
            store_fast_share: (shares.load_share < 1.0).then_some(shares.store_fast_share),
            fast_share: shares.fast_share(),
            gb_per_s: prediction.bandwidth / 1e9,
            interval_gb_per_s: prediction.interval.map(|(low, high)| [low / 1e9, high / 1e9]),
            lowest_gb_per_s: prediction.lowest / 1e9,
            highest_gb_per_s: prediction.highest / 1e9,
            time_ns: ns(prediction.bandwidth.recip()),
            kind_times_ns: prediction.times.map(ns),
            dominating: prediction.dominating,
            may_dominate: prediction.may_dominate.clone(),
            validated: prediction.is_validated,
        }
    }

    /// With its interval; or that nothing validates it, where shares are different.
    pub(crate) fn words(&self) -> String {
        let value = gb_per_s(self.gb_per_s * 1e9);
        if self.validated || self.is_one_share() {
            value + &interval_words(self.interval_gb_per_s)
        } else {
            value + " (not validated)"
        }
    }

    /// Whether what is read and what is written lie alike, or only one of them is there.
    pub(crate) fn is_one_share(&self) -> bool {
        match (self.load_fast_share, self.store_fast_share) {
            (Some(load), Some(store)) => (load - store).abs() < 1e-9,
            _ => true,
        }
    }
}

impl HybridPlacementView {
    pub(crate) fn new(placement: &HybridPlacement, memories: MemoriesView) -> Self {
        let policy = |weights: PageSplit| policy_text(weights, memories);
        let gains = placement.gains.iter().map(|(over, gain)| HybridGainView {
            over: placement_name(*over),
            gain: gain.gain,
            claimed: gain.is_claimed,
        });
        Self {
            name: placement_name(placement.name),
            shares: SharesView::new(&placement.prediction),
            unclaimed: placement.unclaimed.as_ref().map(SharesView::new),
            load_policy: placement.load_weights.map(policy),
            store_policy: placement.store_weights.map(policy),
            weighted_gb_per_s: placement.by_weights.map(|bandwidth| bandwidth / 1e9),
            gains: gains.collect(),
        }
    }

    pub(crate) fn gain_over(&self, name: &str) -> Option<&HybridGainView> {
        self.gains.iter().find(|gain| gain.over == name)
    }
}

/// A memory policy as bindings have it: `mem=weighted:0=3,1=1`.
fn policy_text(weights: PageSplit, memories: MemoriesView) -> String {
    let MemoriesView { fast_node, slow_node, .. } = memories;
    let memory = match (weights.fast, weights.slow) {
        (_, 0) => MemoryPolicy::Preferred(fast_node),
        (0, _) => MemoryPolicy::Preferred(slow_node),
        (fast, slow) => MemoryPolicy::Weighted([(fast_node, fast), (slow_node, slow)].into()),
    };
    // Behind the CPUs, which are the cluster's.
    let binding = Binding { cpus: CpuSet::default(), memory }.to_string();
    binding.split_once(' ').map_or_else(|| binding.clone(), |(_, memory)| memory.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_those_of_bindings() {
        let memories = MemoriesView { cluster: 0, fast_node: 1, slow_node: 0 };
        let text = |fast, slow| policy_text(PageSplit { fast, slow }, memories);
        assert_eq!(text(3, 1), "mem=weighted:0=1,1=3");
        assert_eq!(text(1, 0), "mem=preferred:1");
        assert_eq!(text(0, 1), "mem=preferred:0");
        for policy in [text(3, 1), text(1, 0)] {
            let binding: Binding = format!("cpus=0 {policy}").parse().unwrap();
            assert!(binding.to_string().ends_with(&policy));
        }
    }
}
