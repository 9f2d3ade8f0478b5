//! What a program gets of two memories and what to do about it, as `model` and `predict` print
//! it.

use nearfar_model::{HybridAnswer, HybridPair, HybridShares};
use serde::Serialize;

use super::figures::{gb_per_s, percent_words, rounded};
use super::model_hybrid_placement::{
    HybridPlacementView, MemoriesView, SharesView, placement_name,
};

/// What a program with one share of loads gets of two memories.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridAnswerView {
    /// Share of loads in all bytes.
    pub load_share: f64,
    /// Where pages come to lie that nobody places.
    pub default_placement: &'static str,
    /// Placements that can be predicted.
    pub placements: Vec<HybridPlacementView>,
    /// The one to take, or null.
    pub recommended: Option<&'static str>,
    /// Whether all shares could be looked at.
    pub complete: bool,
    /// What to do, in sentences.
    pub advice: Vec<String>,
}

/// What sentences are about.
struct Speaker<'a> {
    answer: &'a HybridAnswerView,
    pair: &'a HybridPair,
    memories: MemoriesView,
}

impl HybridAnswerView {
    pub(crate) fn new(answer: &HybridAnswer, pair: &HybridPair) -> Self {
        let memories = MemoriesView::of(pair);
        let placements = answer.placements.iter();
        let mut view = Self {
            load_share: answer.load_share,
            default_placement: placement_name(answer.default),
            placements: placements.map(|it| HybridPlacementView::new(it, memories)).collect(),
            recommended: answer.recommended.map(placement_name),
            complete: answer.is_complete,
            advice: Vec::new(),
        };
        view.advice = Speaker { answer: &view, pair, memories }.sentences();
        view
    }

    pub(crate) fn placement(&self, name: &str) -> Option<&HybridPlacementView> {
        self.placements.iter().find(|placement| placement.name == name)
    }
}

/// `2/3 loads` for people.
pub(crate) fn program_words(load_share: f64) -> String {
    let known = [(1.0, "reads only"), (0.0, "writes only"), (0.5, "half reads, half writes")];
    let near = |share: f64| (share - load_share).abs() < 1e-9;
    match known.iter().find(|(share, _)| near(*share)) {
        Some((_, words)) => (*words).into(),
        None if near(2.0 / 3.0) => "two thirds reads".into(),
        None => format!("{} % reads", rounded(100.0 * load_share, 1)),
    }
}

pub(crate) fn interval_words(interval: Option<[f64; 2]>) -> String {
    interval.map_or_else(String::new, |[low, high]| {
        format!(" ({} to {})", gb_per_s(low * 1e9), gb_per_s(high * 1e9))
    })
}

/// `lf, ls and ss`.
fn kinds_words(shares: &SharesView) -> String {
    let kinds = std::iter::once(&shares.dominating).chain(&shares.may_dominate);
    let kinds: Vec<&str> = kinds.map(|kind| kind.as_str()).collect();
    match kinds.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => kinds.join(""),
    }
}

impl Speaker<'_> {
    fn sentences(&self) -> Vec<String> {
        let program = program_words(self.answer.load_share);
        let mut sentences = Vec::new();
        let usual = self.answer.placement(self.answer.default_placement);
        let best = self.answer.recommended.and_then(|name| self.answer.placement(name));
        match (best, usual) {
            (Some(best), Some(usual)) => {
                sentences.push(format!("{program}: {}", self.recommendation(best, usual)));
                sentences.extend(self.left_alone(best));
                sentences.extend(self.apart(best));
                sentences.extend(self.full(best));
            }
            _ => sentences.push(format!("{program}: {}", self.without_default())),
        }
        if !self.answer.complete {
            sentences
                .push("Overlaps are missing for some shares: a better one may not be seen.".into());
        }
        sentences
    }

    /// Where to put what, and what to expect of it.
    fn recommendation(&self, best: &HybridPlacementView, usual: &HybridPlacementView) -> String {
        let expect = format!(
            "expect {} GB/s{}",
            gb_per_s(best.shares.gb_per_s * 1e9),
            interval_words(best.shares.interval_gb_per_s)
        );
        let place = self.place(best);
        if best.name == usual.name {
            let verb = match self.pair.default_node {
                Some(_) => "leave the data where it comes to lie by itself,",
                None => "put",
            };
            return format!("{verb} {place}; {expect}. {}.", self.bar());
        }
        let gain = best.gain_over(usual.name).map_or_else(String::new, |gain| {
            format!(
                ", {} more than with {} ({} GB/s){}",
                percent_words(gain.gain),
                self.place(usual),
                gb_per_s(usual.shares.gb_per_s * 1e9),
                match self.pair.default_node {
                    Some(_) => ", where data comes to lie by itself",
                    None => "",
                }
            )
        });
        format!("put {place}; {expect}{gain}.{}{}", self.rounding(best), self.one_policy(best))
    }

    /// What of a placement lies where, and its policies.
    fn place(&self, placement: &HybridPlacementView) -> String {
        let MemoriesView { fast_node, slow_node, .. } = self.memories;
        let of_buffer = |what: &str, share: f64, policy: &str| {
            if share >= 1.0 {
                format!("{what} on the fast node {fast_node} ({policy})")
            } else if share <= 0.0 {
                format!("{what} on the slow node {slow_node} ({policy})")
            } else {
                format!(
                    "{} of {what} on the fast node {fast_node} ({policy})",
                    percent_words(share)
                )
            }
        };
        let HybridPlacementView { shares, load_policy, store_policy, .. } = placement;
        let read = shares.load_fast_share.zip(load_policy.as_deref());
        let written = shares.store_fast_share.zip(store_policy.as_deref());
        match (read, written) {
            (Some((share, policy)), Some(_)) if shares.is_one_share() => {
                of_buffer("all buffers", share, policy)
            }
            (Some((read, read_policy)), Some((written, written_policy))) => format!(
                "{} and {}",
                of_buffer("what is read", read, read_policy),
                of_buffer("what is written", written, written_policy)
            ),
            (Some((share, policy)), None) => of_buffer("what is read", share, policy),
            (None, Some((share, policy))) => of_buffer("what is written", share, policy),
            (None, None) => "nothing".into(),
        }
    }

    /// What the small weights cost, where they do.
    fn rounding(&self, best: &HybridPlacementView) -> String {
        const WORTH_TELLING: f64 = 0.001;
        let Some(weighted) = best.weighted_gb_per_s else { return String::new() };
        let lost = 1.0 - weighted / best.shares.lowest_gb_per_s;
        if lost <= WORTH_TELLING {
            return String::new();
        }
        format!(" The weights are rounded, which costs {} of it.", percent_words(lost))
    }

    /// What one policy for the whole program gives, where two are better.
    fn one_policy(&self, best: &HybridPlacementView) -> String {
        let together = self.answer.placement("best_together");
        match together {
            Some(together) if !best.shares.is_one_share() => format!(
                " That takes a policy for each buffer (mbind); one for the whole program gives {} GB/s \
                 at best, with {}.",
                gb_per_s(together.shares.gb_per_s * 1e9),
                self.place(together)
            ),
            _ => String::new(),
        }
    }

    /// How much a gain must be to count.
    fn bar(&self) -> String {
        match self.pair.errors {
            Some(_) if self.pair.rates[0].interval.is_none() => {
                "No gain is claimed, as the rounds are too few for intervals".into()
            }
            Some(errors) => format!(
                "No other placement is sure to gain more than {}, as far as the model may be off",
                percent_words(errors.room())
            ),
            None => "No gain is claimed, as the model's error is not known".into(),
        }
    }

    /// Why nothing can be said of a gain, and what is known nevertheless.
    fn without_default(&self) -> String {
        let fast_share = if self.answer.default_placement == "all_slow" { 0.0 } else { 1.0 };
        let default = HybridShares::together(self.answer.load_share, fast_share);
        let thetas: Vec<String> = self
            .pair
            .missing_overlaps(default)
            .iter()
            .map(|(one, other)| format!("{} beside {}", other.as_str(), one.as_str()))
            .collect();
        let MemoriesView { fast_node, slow_node, .. } = self.memories;
        let (speed, node) =
            if fast_share > 0.0 { ("fast", fast_node) } else { ("slow", slow_node) };
        let itself = match self.pair.default_node {
            Some(_) => ", where data comes to lie by itself,",
            None => "",
        };
        let why = format!(
            "what all buffers on the {speed} node {node}{itself} give cannot be predicted, as {} ({}) \
             is not known (`{}` measures it with more rounds), so that no gain over it can be told.",
            if thetas.len() == 1 { "the overlap theta" } else { "an overlap theta" },
            thetas.join(", "),
            self.pair.remedy
        );
        let known = self.answer.placements.iter().filter(|it| it.shares.validated);
        let best =
            known.max_by(|a, b| a.shares.lowest_gb_per_s.total_cmp(&b.shares.lowest_gb_per_s));
        let best = best.map(|best| {
            format!(
                " Of what can be predicted most comes with {}: {} GB/s.",
                self.place(best),
                best.shares.words()
            )
        });
        why + &best.unwrap_or_default()
    }

    /// What different shares may give that nothing validates.
    fn apart(&self, best: &HybridPlacementView) -> Option<String> {
        let apart = self.answer.placement("best_separately")?;
        let shares = &apart.shares;
        if shares.validated || shares.is_one_share() || shares.gb_per_s <= best.shares.gb_per_s {
            return None;
        }
        Some(format!(
            "With {} the model gives {} GB/s. No point with different shares for reads and writes was \
             measured, so that nothing is claimed of it: try it on the program itself.",
            self.place(apart),
            gb_per_s(shares.gb_per_s * 1e9)
        ))
    }

    /// Why a placement that promises more is not recommended.
    fn left_alone(&self, best: &HybridPlacementView) -> Option<String> {
        let others = ["best_separately", "best_together"].into_iter();
        let mut jumps = others.filter_map(|name| self.answer.placement(name)?.unclaimed.as_ref());
        let is_better = |jump: &&SharesView| {
            let is_backed = jump.validated || jump.is_one_share();
            is_backed
                && jump.highest_gb_per_s > best.shares.gb_per_s
                && !jump.may_dominate.is_empty()
        };
        let jump = jumps.find(is_better)?;
        Some(format!(
            "With {} of the bytes in the fast memory {} take equally long, and the model jumps from \
             {} to {} GB/s: which it is there cannot be told, and nothing is claimed of it.",
            percent_words(jump.fast_share),
            kinds_words(jump),
            gb_per_s(jump.lowest_gb_per_s * 1e9),
            gb_per_s(jump.highest_gb_per_s * 1e9)
        ))
    }

    /// What to do where the fast memory has no room for all that should be there.
    fn full(&self, best: &HybridPlacementView) -> Option<String> {
        let half = self.answer.placement("half_fast")?;
        if best.shares.fast_share <= half.shares.fast_share + 1e-9 {
            return None;
        }
        Some(format!(
            "If only half of the data finds room on the fast node: {}; expect {} GB/s.",
            self.place(half),
            half.shares.words()
        ))
    }
}
