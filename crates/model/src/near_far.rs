//! What lies near and what lies far, in one figure each: local pairs, remote pairs, and how they
//! differ.
//! Units: those of the figures; ratios of a remote pair to the best local one of the same CPUs, and of the
//! same kind of memory where they have such.
//! The figure of several pairs is the one in the middle (of an even number the worse one), so that it was
//! measured and its samples can be shown.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use nearfar_machine::{Machine, MemoryKind, Relation, Relations};
use nearfar_record::Estimate;
use nearfar_units::{BytesPerSecond, Nanoseconds, Quantity, Ratio};

use crate::best_pairs::{BestPair, BestPairs};
use crate::chases::{ChaseFigures, idle_matrix};

/// A figure of a group of CPUs with a memory node.
#[derive(Debug, Clone, PartialEq)]
pub struct PairValue<U> {
    /// The group's number among its kind.
    pub index: u32,
    pub initiator: u32,
    pub memory_node: u32,
    pub memory_kind: MemoryKind,
    /// `None` where it is not known how the two lie to each other.
    pub relation: Option<Relation>,
    pub value: Estimate<U>,
    pub only_disturbed: bool,
}

/// Pairs that are alike in what the name says.
#[derive(Debug, Clone, PartialEq)]
pub struct PairSpan<U> {
    pub is_local: bool,
    /// `None` where all memory that is so near, or so far, is of one kind.
    pub memory_kind: Option<MemoryKind>,
    pub pairs: usize,
    pub middle: PairValue<U>,
    pub worst: PairValue<U>,
    pub best: PairValue<U>,
    /// The middle of each relation, where the pairs are of several.
    pub by_relation: Vec<(Relation, Estimate<U>)>,
}

/// Remote pairs / the best local pair of the same CPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct RatioSpan {
    pub pairs: usize,
    pub middle: Estimate<Ratio>,
    pub worst: Estimate<Ratio>,
    pub best: Estimate<Ratio>,
    /// Initiator and node of the worst.
    pub worst_pair: (u32, u32),
    /// What its node's memory is, where there are several kinds.
    pub worst_kind: Option<MemoryKind>,
}

/// Local and remote pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct NearFar<U> {
    /// Local ones first, then by kind of memory.
    pub spans: Vec<PairSpan<U>>,
    /// `None` where no remote pair stands beside a local one.
    pub ratio: Option<RatioSpan>,
}

/// Of bandwidths.
pub fn near_far_bandwidth(machine: &Machine, best: &BestPairs<'_>) -> NearFar<BytesPerSecond> {
    let relations = Relations::new(machine);
    let value = |pair: &BestPair<'_>| {
        let (cell, figure) = (pair.cell, pair.figure()?);
        let position = relations.position(cell.row.initiator, cell.row.cpu_node, cell.memory_node);
        Some(PairValue {
            index: cell.row.index,
            initiator: cell.row.initiator,
            memory_node: cell.memory_node,
            memory_kind: position.memory_kind,
            relation: position.relation,
            value: Estimate::of_rounds(&figure.summary.sum, &figure.case),
            only_disturbed: figure.summary.only_disturbed,
        })
    };
    // A pair of another kernel is no match for the others.
    let alike = best.pairs.iter().filter(|pair| !pair.is_other);
    near_far(alike.filter_map(value).collect(), |one, other| other.total_cmp(&one))
}

/// Of idle times of an access.
pub fn near_far_latency(machine: &Machine, chases: &[ChaseFigures]) -> NearFar<Nanoseconds> {
    let relations = Relations::new(machine);
    let value = |chase: &&ChaseFigures| {
        let (place, time) = (&chase.place, chase.time.as_ref()?);
        let position = relations.position(place.initiator, place.cpu_node, place.memory_node);
        Some(PairValue {
            index: place.initiator,
            initiator: place.initiator,
            memory_node: place.memory_node,
            memory_kind: position.memory_kind,
            relation: position.relation,
            value: time.time.clone(),
            only_disturbed: time.only_disturbed,
        })
    };
    near_far(idle_matrix(chases).iter().filter_map(value).collect(), |one, other| {
        one.total_cmp(&other)
    })
}

/// `order` has the better first.
fn near_far<U: Quantity>(
    values: Vec<PairValue<U>>,
    order: impl Fn(f64, f64) -> Ordering,
) -> NearFar<U> {
    let by_value =
        |one: &Estimate<U>, other: &Estimate<U>| order(one.value.in_unit(), other.value.in_unit());
    let is_local = |pair: &PairValue<U>| pair.relation == Some(Relation::Local);
    let ratio = ratio_span(&values, is_local, &order);
    let (near, far): (Vec<_>, Vec<_>) = values.into_iter().partition(is_local);
    let mut spans = Vec::new();
    for (is_local, of) in [(true, near), (false, far)] {
        let mut kinds: BTreeMap<MemoryKind, Vec<PairValue<U>>> = BTreeMap::new();
        for pair in of {
            kinds.entry(pair.memory_kind).or_default().push(pair);
        }
        let are_several = kinds.len() > 1;
        for (kind, mut pairs) in kinds {
            pairs.sort_by(|one, other| by_value(&one.value, &other.value));
            let (Some(best), Some(worst)) = (pairs.first(), pairs.last()) else { continue };
            spans.push(PairSpan {
                is_local,
                memory_kind: are_several.then_some(kind),
                pairs: pairs.len(),
                middle: pairs[pairs.len() / 2].clone(),
                worst: worst.clone(),
                best: best.clone(),
                by_relation: by_relation(&pairs),
            });
        }
    }
    NearFar { spans, ratio }
}

/// The middle of each relation of pairs in their order; none where there is one relation.
fn by_relation<U: Clone>(pairs: &[PairValue<U>]) -> Vec<(Relation, Estimate<U>)> {
    let mut relations: BTreeMap<Relation, Vec<&PairValue<U>>> = BTreeMap::new();
    for pair in pairs {
        let Some(relation) = pair.relation else { continue };
        relations.entry(relation).or_default().push(pair);
    }
    if relations.len() < 2 {
        return Vec::new();
    }
    let middle = |of: &[&PairValue<U>]| of[of.len() / 2].value.clone();
    relations.into_iter().map(|(relation, of)| (relation, middle(&of))).collect()
}

fn ratio_span<U: Quantity>(
    values: &[PairValue<U>],
    is_local: impl Fn(&PairValue<U>) -> bool,
    order: &impl Fn(f64, f64) -> Ordering,
) -> Option<RatioSpan> {
    // Of each group the best local pair of each kind of memory, and of any.
    let mut own: BTreeMap<(u32, Option<MemoryKind>), &Estimate<U>> = BTreeMap::new();
    for pair in values.iter().filter(|pair| is_local(pair) && pair.value.is_positive()) {
        for kind in [Some(pair.memory_kind), None] {
            let best = own.entry((pair.index, kind)).or_insert(&pair.value);
            if order(pair.value.value.in_unit(), best.value.in_unit()).is_lt() {
                *best = &pair.value;
            }
        }
    }
    let far = values.iter().filter(|pair| !is_local(pair) && pair.value.is_positive());
    let ratio = |pair: &PairValue<U>| {
        let of_kind = own.get(&(pair.index, Some(pair.memory_kind)));
        let near = of_kind.or_else(|| own.get(&(pair.index, None)))?;
        let [[low, high], [near_low, near_high]] =
            [pair.value.ends(), near.ends()].map(|ends| ends.map(U::in_unit));
        let cases = [&pair.value.cases[..], &near.cases].concat();
        let value = pair.value.value.in_unit() / near.value.in_unit();
        Some(Estimate::computed(value, (low / near_high, high / near_low), cases))
    };
    let mut ratios: Vec<(&PairValue<U>, Estimate<Ratio>)> =
        far.filter_map(|pair| Some((pair, ratio(pair)?))).collect();
    ratios.sort_by(|(_, one), (_, other)| order(one.value.0, other.value.0));
    let (best, worst) = (ratios.first()?, ratios.last()?);
    let are_several = values.iter().any(|pair| pair.memory_kind != worst.0.memory_kind);
    Some(RatioSpan {
        pairs: ratios.len(),
        middle: ratios[ratios.len() / 2].1.clone(),
        worst: worst.1.clone(),
        best: best.1.clone(),
        worst_pair: (worst.0.initiator, worst.0.memory_node),
        worst_kind: are_several.then_some(worst.0.memory_kind),
    })
}
