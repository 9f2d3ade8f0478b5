//! Loads and stores over a fast and a slow memory: the corners, the pairs of kinds and the
//! surface that the hybrid model is fitted to and validated by.
//! Units: useful bytes/s, fractions.
//! Source: denoyelle2019, section 6: t_k = q_k / b_k for each kind k of transfer, q_k its bytes
//! and b_k its bandwidth alone (the corner).
//! Shares of bytes follow from where the pages were found, not from where they were asked for.

use std::collections::HashMap;

use nearfar_record::{
    ActorSample, Aggregate, CaseSummary, Coordinates, HybridCoordinates, HybridPoint, PageSplit,
    Part, Proof, TransferKind,
};
use nearfar_stats::median;
use serde::Serialize;

use crate::hybrid::HybridShares;
use crate::record_figures::{CaseFigures, PlannedCase, RecordFigures};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HybridFigures {
    #[serde(flatten)]
    pub case: PlannedCase,
    /// Where it stands.
    #[serde(flatten)]
    pub place: HybridCoordinates,
    /// Whether both memories are of one kind: what is called fast is then the nearer one.
    pub is_one_kind: bool,
    /// Share of loads in all bytes.
    pub load_share: f64,
    /// Share of the fast memory in all bytes, as asked for.
    pub fast_share: f64,
    /// All bytes; null without samples.
    #[serde(rename = "bandwidth_gb_per_s")]
    pub total: Option<CaseSummary>,
    /// Share of the read pages that were found in the fast memory; null without samples, or
    /// where nothing is read.
    #[serde(rename = "found_load_fast_share")]
    pub load_fast_share: Option<f64>,
    /// Share of the written pages that were found in the fast memory; null as above.
    #[serde(rename = "found_store_fast_share")]
    pub store_fast_share: Option<f64>,
    /// Of a pair, t of the kind beside / t of the dominating one, below 1 where that dominates
    /// indeed; null for other points, and where a corner or a sample is missing.
    pub time_ratio: Option<f64>,
    /// All bytes/s in each round.
    #[serde(skip)]
    pub(crate) rounds: Vec<f64>,
}

/// The points of a record by initiator, nodes, threads and variant: corners, pairs, then the surface by share of
/// loads and of fast pages.
pub fn hybrid_points(figures: &RecordFigures<'_>) -> Vec<HybridFigures> {
    let kind = |node| figures.record().header.machine.memory_kind(node);
    let places = figures.places(|coordinates| match coordinates {
        Coordinates::Hybrid(place) => Some(place),
        _ => None,
    });
    let mut all: Vec<HybridFigures> = places
        .map(|(place, case)| {
            let asked = asked_shares(place);
            HybridFigures {
                case: case.planned(),
                place: place.clone(),
                is_one_kind: kind(place.fast_node) == kind(place.slow_node),
                load_share: asked.load_share,
                fast_share: asked.fast_share(),
                total: case.bandwidth(Part::Case),
                load_fast_share: found_share(case, place, Array::Read),
                store_fast_share: found_share(case, place, Array::Written),
                time_ratio: None,
                rounds: case.rounds(Part::Case, Aggregate::Sum),
            }
        })
        .collect();
    all.sort_by(|one, other| {
        let of_model = one.threads_and_memories().cmp(&other.threads_and_memories());
        of_model
            .then(one.place.point.cmp(&other.place.point))
            .then(one.load_share.total_cmp(&other.load_share))
            .then(one.fast_share.total_cmp(&other.fast_share))
    });
    let corners: Corners<'_> = all
        .iter()
        .filter_map(|point| match point.place.point {
            HybridPoint::Corner { of } => {
                Some(((point.threads_and_memories(), of), point.total.as_ref()?.sum.median))
            }
            HybridPoint::Pair { .. } | HybridPoint::Surface => None,
        })
        .collect();
    let ratios: Vec<Option<f64>> = all.iter().map(|point| time_ratio(point, &corners)).collect();
    for (point, ratio) in all.iter_mut().zip(ratios) {
        point.time_ratio = ratio;
    }
    all
}

/// An initiator, its two nodes, the threads and their instruction-set variant.
type ThreadsAndMemories<'a> = (u32, u32, u32, u32, &'a str);

/// The bandwidth of each kind alone.
type Corners<'a> = HashMap<(ThreadsAndMemories<'a>, TransferKind), f64>;

impl HybridFigures {
    /// What the points of one model have in common.
    pub(crate) fn threads_and_memories(&self) -> ThreadsAndMemories<'_> {
        let HybridCoordinates { initiator, fast_node, slow_node, threads, variant, .. } =
            &self.place;
        (*initiator, *fast_node, *slow_node, *threads, variant)
    }

    /// Shares of bytes by the pages that were found; `None` without samples.
    pub(crate) fn found_shares(&self) -> Option<HybridShares> {
        let found =
            |share: Option<f64>, accesses: u32| if accesses == 0 { Some(0.0) } else { share };
        let shares = HybridShares {
            load_share: self.load_share,
            load_fast_share: found(self.load_fast_share, self.place.loads)?,
            store_fast_share: found(self.store_fast_share, self.place.stores)?,
        };
        shares.are_sound().then_some(shares)
    }
}

/// Shares of bytes as they were asked for.
fn asked_shares(place: &HybridCoordinates) -> HybridShares {
    let (loads, stores) = (f64::from(place.loads), f64::from(place.stores));
    let share = |split: Option<PageSplit>| split.map_or(0.0, PageSplit::fast_share);
    HybridShares {
        load_share: loads / (loads + stores),
        load_fast_share: share(place.load_pages),
        store_fast_share: share(place.store_pages),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Array {
    Read,
    Written,
}

/// Share of an array's pages that were found on the fast node: the mean of before and after,
/// the median over samples.
fn found_share(case: CaseFigures<'_>, place: &HybridCoordinates, array: Array) -> Option<f64> {
    let accesses = if array == Array::Read { place.loads } else { place.stores };
    if accesses == 0 {
        return None;
    }
    let proof = |actor: &'_ ActorSample| -> Option<Proof> {
        // Without a policy of its own the written array lies as the other does.
        let of_written = actor.write_proof.as_ref().filter(|_| array == Array::Written);
        of_written.or(actor.proof.as_ref()).cloned()
    };
    let share = |proof: &Proof| {
        f64::midpoint(
            proof.before.fraction_on(place.fast_node),
            proof.after.fraction_on(place.fast_node),
        )
    };
    let actors = case.samples().iter().filter_map(|sample| sample.actors.first());
    let shares: Vec<f64> = actors.filter_map(proof).map(|proof| share(&proof)).collect();
    median(&shares)
}

fn time_ratio(point: &HybridFigures, corners: &Corners<'_>) -> Option<f64> {
    let HybridPoint::Pair { dominating, beside } = point.place.point else { return None };
    let shares = point.found_shares()?.by_kind();
    let time = |kind: TransferKind| {
        Some(shares[kind as usize] / corners.get(&(point.threads_and_memories(), kind))?)
    };
    let ratio = time(beside)? / time(dominating)?;
    ratio.is_finite().then_some(ratio)
}
