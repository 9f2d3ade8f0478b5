//! The fewest causes that explain cells which fall short of their twins, taken one by
//! one: the place whose cells explain most, then what is left without them.
//! Fails when: one fault lies within another (a narrow path to a slow node): only the
//! wider one is named.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use nearfar_stats::estimate_median;
use serde::Serialize;

use crate::place::{Parts, Place};
use crate::twin_cell::TwinCell;
use crate::twin_comparison::{Comparison, Comparisons};
use crate::twin_rule::{FEWEST_CELLS, MOST_FINDINGS, SCORE_OF_ONE};

/// For one cell that contradicts a cause there must be this many that it explains.
const EXPLAINED_PER_CONTRADICTION: usize = 4;

/// A part of the machine that falls short of its twins.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shortfall {
    /// Which part.
    pub place: Place,
    /// A second part that would explain the same cells, where the figures cannot tell.
    pub or_place: Option<Place>,
    /// What it falls short of.
    pub against: Against,
    /// Median over the cells that fall short of cell / median of its twins, or / the
    /// other direction.
    pub ratio: f64,
    /// 95 % interval of the ratio over the cells; with fewer than six, the outermost ends of
    /// their own intervals.
    #[serde(rename = "ratio_interval")]
    pub interval: (f64, f64),
    /// Cells that fall short.
    pub cells: usize,
    /// Cells of the place that were compared.
    #[serde(rename = "cells_of_part")]
    pub of: usize,
    /// Twins of the cells that fall short, the fewest that one of them has. With one,
    /// figures cannot say which of the two is wrong: this is the lower one.
    pub fewest_twins: usize,
    /// Of a memory node: its size / median size of the other nodes of its kind; `None`
    /// of other places and where sizes are not known.
    pub memory_share: Option<f64>,
    /// Kernels with which it shows.
    pub kernels: BTreeSet<String>,
    /// Numbers of threads with which it shows.
    pub threads: BTreeSet<u32>,
}

/// What a cell falls short of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// The median of its twins.
    Twins,
    /// The other direction of its pair: its twins differ too much among themselves.
    OtherDirection,
}

/// What explaining came to.
#[derive(Debug)]
pub(crate) struct Explained<'a> {
    pub(crate) findings: Vec<Shortfall>,
    /// Cells that fall short without a cause.
    pub(crate) alone: usize,
    /// Every cell against twins that no cause explains.
    pub(crate) comparisons: Comparisons<'a>,
}

/// A place as a cause of what is not explained yet.
struct Cause {
    place: Place,
    /// Cells that fall short, by their index.
    low: Vec<usize>,
    /// Cells of the place.
    of: usize,
}

/// The causes of cells that fall short. `set_aside` are twins of nobody; cells of the
/// places that are `named` already need no other cause.
pub(crate) fn explain<'a>(
    cells: &'a [TwinCell],
    parts: &Parts,
    set_aside: Vec<bool>,
    named: &[Place],
) -> Explained<'a> {
    let mut comparisons = Comparisons::new(cells, set_aside);
    let mut findings: Vec<Shortfall> = Vec::new();
    let mut is_named = vec![false; cells.len()];
    named.iter().flat_map(|&place| parts.cells(place)).for_each(|&cell| is_named[cell] = true);
    loop {
        // Without the cells of a cause their twins' median rises, and more cells of the
        // same place can come to fall short: they are the same cause, shown less.
        let is_low: Vec<bool> = (0..cells.len())
            .map(|cell| {
                !is_named[cell] && comparisons.of(cell).is_some_and(Comparison::falls_short)
            })
            .collect();
        let causes: Vec<Cause> = parts
            .places
            .iter()
            .filter_map(|(place, of)| cause(*place, of, cells, &comparisons, &is_low))
            .collect();
        let causes = without_doubtful_paths(causes);
        // Of those that explain as much the one that claims least; of equal ones the
        // first in the order of `Place`.
        let best =
            causes.iter().min_by_key(|cause| (Reverse(cause.low.len()), cause.of, cause.place));
        let Some(best) = best.filter(|_| findings.len() < MOST_FINDINGS) else {
            let alone = is_low.iter().filter(|low| **low).count();
            return Explained { findings, alone, comparisons };
        };
        let best = prefer_memory(best, &causes, cells);
        findings.extend(shortfall(best, &causes, cells, &comparisons));
        parts.cells(best.place).iter().for_each(|&cell| is_named[cell] = true);
        comparisons.set_aside(&best.low);
    }
}

/// The way to an initiator's own memory is a cause where neither that memory nor these cores can be: they
/// are the likelier ones.
fn without_doubtful_paths(causes: Vec<Cause>) -> Vec<Cause> {
    let places: HashSet<Place> = causes.iter().map(|cause| cause.place).collect();
    let is_doubtful = |cause: &Cause| {
        let Place::OwnPath { initiator, node } = cause.place else { return false };
        let likelier = [Place::Memory { node }, Place::Initiator { initiator }];
        likelier.iter().any(|place| places.contains(place))
    };
    causes.into_iter().filter(|cause| !is_doubtful(cause)).collect()
}

/// A place as a cause; `None` where too few cells speak for it or too many against.
fn cause(
    place: Place,
    of: &[usize],
    cells: &[TwinCell],
    comparisons: &Comparisons<'_>,
    is_low: &[bool],
) -> Option<Cause> {
    let low: Vec<usize> = of.iter().copied().filter(|&cell| is_low[cell]).collect();
    // With fewer threads a fault need not show.
    let is_only = |&cell: &usize| {
        of.iter().filter(|&&it| cells[it].threads >= cells[cell].threads).count() == 1
    };
    let is_clear = |&cell: &usize| {
        comparisons.of(cell).is_some_and(|one| {
            let is_far_below = one.is_far_below(cells[cell].ln_best - cells[cell].ln);
            one.lowest_score() < -SCORE_OF_ONE && (of.len() == 1 || is_far_below)
        })
    };
    let is_enough =
        low.len() >= FEWEST_CELLS || low.iter().any(|cell| is_only(cell) && is_clear(cell));
    if !is_enough {
        return None;
    }
    let lost = losses(&low, cells, comparisons);
    let against = of
        .iter()
        .filter(|&&cell| !is_low[cell] && contradicts(cell, &lost, cells, comparisons))
        .count();
    (against * EXPLAINED_PER_CONTRADICTION <= low.len()).then_some(Cause {
        place,
        low,
        of: of.len(),
    })
}

/// What the low cells of one kernel and number of threads have lost.
#[derive(Default)]
struct Loss {
    /// ln of the fastest of them.
    fastest: f64,
    /// Sum of ln(cell / twins), and of how many.
    sum: f64,
    count: f64,
}

/// By the number of their load.
fn losses(
    low: &[usize],
    cells: &[TwinCell],
    comparisons: &Comparisons<'_>,
) -> HashMap<usize, Loss> {
    let mut losses: HashMap<usize, Loss> = HashMap::new();
    for &cell in low {
        let Some(comparison) = comparisons.of(cell) else { continue };
        let loss = losses
            .entry(cells[cell].load)
            .or_insert(Loss { fastest: f64::NEG_INFINITY, ..Loss::default() });
        loss.fastest = loss.fastest.max(cells[cell].ln);
        loss.sum += comparison.ln_ratio;
        loss.count += 1.0;
    }
    losses
}

/// Whether a cell that is not low speaks against a cause of the low ones: it has
/// clearly not lost what they lost, although it moves more than any of them with the
/// same kernel and threads. A slower one may be limited elsewhere, and then the cause
/// does not show in it.
fn contradicts(
    cell: usize,
    lost: &HashMap<usize, Loss>,
    cells: &[TwinCell],
    comparisons: &Comparisons<'_>,
) -> bool {
    lost.get(&cells[cell].load).is_some_and(|loss| {
        let own = comparisons.of(cell).map_or(0.0, |comparison| comparison.ln_ratio);
        cells[cell].ln > loss.fastest && own > loss.sum / loss.count / 2.0
    })
}

/// Where only a node's own cores show the loss, and not with one thread, the memory is
/// the cause and not the cores: one thread would feel slow cores first.
fn prefer_memory<'a>(best: &'a Cause, causes: &'a [Cause], cells: &[TwinCell]) -> &'a Cause {
    if best.low.iter().any(|&cell| cells[cell].threads == 1 || !cells[cell].local) {
        return best;
    }
    let memory =
        |cause: &&Cause| matches!(cause.place, Place::Memory { .. }) && cause.low == best.low;
    causes.iter().find(memory).unwrap_or(best)
}

fn shortfall(
    cause: &Cause,
    causes: &[Cause],
    cells: &[TwinCell],
    comparisons: &Comparisons<'_>,
) -> Option<Shortfall> {
    let low: Vec<(&TwinCell, &Comparison)> =
        cause.low.iter().filter_map(|&cell| Some((&cells[cell], comparisons.of(cell)?))).collect();
    let below_twins = low.iter().filter(|(_, comparison)| comparison.is_below_twins()).count();
    let against =
        if below_twins * 2 >= low.len() { Against::Twins } else { Against::OtherDirection };
    let ln_ratio = |comparison: &Comparison| match (against, comparison.direction) {
        (Against::OtherDirection, Some(direction)) => direction.ln_ratio,
        _ => comparison.ln_ratio,
    };
    let ratios: Vec<f64> = low.iter().map(|(_, comparison)| ln_ratio(comparison).exp()).collect();
    let estimate = estimate_median(&ratios)?;
    let interval = if estimate.confidence >= 0.95 {
        estimate.interval
    } else {
        own_intervals(low.iter().map(|(cell, comparison)| (*cell, ln_ratio(comparison))))
    };
    // One thread shows slow cores and slow memory alike.
    let both = |place: &Place| matches!(place, Place::Memory { .. } | Place::Initiator { .. });
    let alone = low.iter().all(|(cell, _)| cell.local)
        && low.iter().any(|(cell, _)| cell.threads == 1)
        && both(&cause.place);
    let or_place = causes
        .iter()
        .find(|other| {
            alone && other.place != cause.place && both(&other.place) && other.low == cause.low
        })
        .map(|other| other.place);
    Some(Shortfall {
        place: cause.place,
        or_place,
        against,
        ratio: estimate.median,
        interval,
        cells: low.len(),
        of: cause.of,
        fewest_twins: low.iter().map(|(_, comparison)| comparison.twins).min()?,
        memory_share: None,
        kernels: low.iter().map(|(cell, _)| cell.kernel.clone()).collect(),
        threads: low.iter().map(|(cell, _)| cell.threads).collect(),
    })
}

/// The outermost ends of the cells' own intervals, as ratios.
fn own_intervals<'a>(low: impl Iterator<Item = (&'a TwinCell, f64)>) -> (f64, f64) {
    low.fold((f64::INFINITY, 0.0), |(lowest, highest), (cell, ln_ratio)| {
        let end = |ln: f64| (ln_ratio + ln - cell.ln).exp();
        (lowest.min(end(cell.ln_interval.0)), highest.max(end(cell.ln_interval.1)))
    })
}
