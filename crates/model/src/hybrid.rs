//! What an initiator's cores get of a fast and a slow memory, whatever the share of loads and of the
//! pages in either.
//!
//! ```text
//! t_k = q_k / b_k
//! t   = t_d + sum over k != d of theta[d][k] t_k,   d the kind of the largest t_k
//! ```
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | k | kind of transfer: loads from the fast memory (lf), stores to it (sf), ls, ss | |
//! | q_k | share of the kind in all bytes, by the pages that were found | fraction |
//! | b_k | what it moves when nothing else does | useful bytes/s |
//! | t_k, t | the time of a kind, of all, for one byte of the whole | s |
//! | theta\[d\]\[k\] | overlap theta: the share of t_k that does not overlap with t_d | 1 |
//!
//! Source: denoyelle2019, section 6, equations 3 to 5 and table 6.
//! Holds when: the initiator's threads share reads and writes out evenly, each buffer's pages lie
//! page by page in both memories, and stores bypass the caches.
//! Fails when: data stays in caches, other initiators use the same memories, more than two
//! memories are used at once, or transfers overlap by another law; the error on points that were
//! never fitted shows the last.
//! Pinned by: `crates/model/tests/hybrid`, `crates/reproduce/tests/overlap.rs` (table 6) and
//! `cargo bench -p nearfar-model --bench accuracy -- hybrid`.

mod advice;
mod answer;
mod best_shares;
mod held_out;
mod overlap_fit;
mod pair;
mod placements;
mod prediction;
mod resampling;
mod shares;

use nearfar_record::{Experiment, HybridCoordinates, Suite};
use serde::Serialize;

use crate::hybrid_points::hybrid_points;
use crate::inapplicable::{Inapplicable, measuring_command};
use crate::record_figures::RecordFigures;

pub use answer::{
    GainOver, HybridAdvice, HybridAnswer, HybridAnswers, HybridDrop, HybridGain, HybridMemories,
    HybridPairAnswer, HybridPlacement, HybridPrediction, NoGain, PlacementName,
};
pub use best_shares::{BestShares, Buffers};
pub use held_out::{HeldOutErrors, HeldOutPoint};
pub use overlap_fit::{OverlapBounds, OverlapModel, OverlapPoint};
pub use pair::{HybridCorner, HybridOverlap, HybridPair, HybridSurfacePoint, OverlapValue};
pub use resampling::{FEWEST_DRAWN_ROUNDS, UNKNOWN_MARGIN};
pub use shares::{HybridShares, page_weights};

/// Rounds that tell overlaps well: twice those of a suite.
const ROUNDS: u32 = 12;

/// Loads and stores over a fast and a slow memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hybrid {
    /// Between which limits overlaps were fitted.
    pub bounds: OverlapBounds,
    /// The initiators with two memories each, by initiator, nodes, threads and variant; one at least.
    pub pairs: Vec<HybridPair>,
    /// Those whose bandwidths alone are not all known.
    pub left_out: Vec<HybridLeftOut>,
}

/// An initiator with two memories that has no model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridLeftOut {
    pub initiator: u32,
    /// Node of the memory that should be faster.
    pub fast_node: u32,
    pub slow_node: u32,
    /// Why, in words.
    pub why: String,
}

impl Hybrid {
    /// The models of an initiator: one for each two of its memories.
    pub fn of_initiator(&self, initiator: u32) -> impl Iterator<Item = &HybridPair> {
        self.pairs.iter().filter(move |pair| pair.initiator == initiator)
    }
}

/// The model of a record.
///
/// # Errors
/// Where the record does not hold what the model needs.
pub fn hybrid(figures: &RecordFigures<'_>, bounds: OverlapBounds) -> Result<Hybrid, Inapplicable> {
    let record = figures.record();
    let points = hybrid_points(figures);
    if points.iter().all(|point| point.total.is_none()) {
        return Err(Inapplicable::without(record, Experiment::Hybrid));
    }
    let (mut pairs, mut left_out) = (Vec::new(), Vec::new());
    let command = measuring_command(record, &[Experiment::Hybrid], Suite::Standard);
    let remedy = format!("{command} --samples {ROUNDS}");
    for of_pair in
        points.chunk_by(|one, other| one.threads_and_memories() == other.threads_and_memories())
    {
        match HybridPair::new(of_pair, bounds, &record.header.machine, &remedy) {
            Ok(mut pair) => {
                pair.surface = pair.surface_points();
                pair.answers = pair.usual_answers();
                pairs.push(pair);
            }
            Err(why) => {
                let HybridCoordinates { initiator, fast_node, slow_node, .. } = of_pair[0].place;
                left_out.push(HybridLeftOut { initiator, fast_node, slow_node, why });
            }
        }
    }
    match left_out.first() {
        Some(HybridLeftOut { initiator, fast_node, slow_node, why }) if pairs.is_empty() => {
            let why = format!("of initiator {initiator}, nodes {fast_node} and {slow_node}, {why}");
            let experiments = [Experiment::Hybrid];
            Err(Inapplicable::until_measured(record, &experiments, Suite::Standard, why))
        }
        _ => Ok(Hybrid { bounds, pairs, left_out }),
    }
}
