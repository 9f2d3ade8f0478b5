//! Parts of a machine whose rounds scatter far more than those of their twins: a module
//! that runs at a lower rate now and then, a link that trains anew. Their median can be
//! sound, and their intervals are so wide that no cell falls short.
//! Units: relative standard deviations between rounds, fractions.
//! Source: ours; the bound on the binomial's tail is Chernoff's (Ann. Math. Stat. 23, 1952).
//! Fails when: something else on the machine disturbed one part only and the record does
//! not say so; the remedy tells to measure again.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use nearfar_stats::median;
use serde::Serialize;

use crate::place::{Parts, Place};
use crate::twin_cell::TwinCell;
use crate::twin_comparison::{Ranked, groups};
use crate::twin_rule::{FLOOR, MOST_FINDINGS};

/// A cell is unsteady when its rounds scatter by this many times as much as its twins'
/// do, and as those of all cells do; three rounds of equal noise do so in 1 of 50000.
pub const UNSTEADY: f64 = 4.0;
/// Single rounds that are far off make single cells unsteady; a part is so when chance
/// would put this many of its cells among the unsteady ones more rarely than this.
const CHANCE: f64 = 1e-5;
/// A share of unsteady cells below this is not told from this.
const LEAST_SHARE: f64 = 0.01;
/// For one cell that contradicts there must be this many that are unsteady.
const UNSTEADY_PER_CONTRADICTION: usize = 4;

/// A part of the machine whose rounds scatter more than its twins'.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unsteadiness {
    /// Which part.
    pub place: Place,
    /// Median over its unsteady cells of the relative standard deviation between
    /// rounds, a fraction.
    pub scatter: f64,
    /// The same of their twins.
    pub twins_scatter: f64,
    /// Unsteady cells.
    pub cells: usize,
    /// Cells of the place that were compared.
    #[serde(rename = "cells_of_part")]
    pub of: usize,
    /// Kernels with which it shows.
    pub kernels: BTreeSet<String>,
    /// Numbers of threads with which it shows.
    pub threads: BTreeSet<u32>,
}

/// Unsteady parts, and their unsteady cells.
pub(crate) fn unsteady_parts(
    cells: &[TwinCell],
    parts: &Parts,
    noise: Option<f64>,
) -> (Vec<Unsteadiness>, Vec<bool>) {
    let mut of_parts = vec![false; cells.len()];
    let Some(noise) = noise else { return (Vec::new(), of_parts) };
    let twins_scatter = scatter_of_twins(cells);
    let mut is_unsteady: Vec<bool> = cells
        .iter()
        .zip(&twins_scatter)
        .map(|(cell, twins)| {
            cell.scatter > FLOOR && cell.scatter > UNSTEADY * twins.unwrap_or(f64::MAX).max(noise)
        })
        .collect();
    let mut found: Vec<Unsteadiness> = Vec::new();
    while found.len() < MOST_FINDINGS {
        let all = is_unsteady.iter().filter(|unsteady| **unsteady).count();
        let best = parts
            .places
            .iter()
            .filter_map(|(place, of)| {
                let left: Vec<usize> = of.iter().copied().filter(|&cell| !of_parts[cell]).collect();
                let unsteady: Vec<usize> =
                    left.iter().copied().filter(|&cell| is_unsteady[cell]).collect();
                let outside = (all - unsteady.len(), cells.len() - of.len());
                let is_part = !is_chance((unsteady.len(), left.len()), outside, parts.places.len())
                    && contradictions(&unsteady, &left, cells, &is_unsteady)
                        * UNSTEADY_PER_CONTRADICTION
                        <= unsteady.len();
                is_part.then_some((*place, unsteady, of.len()))
            })
            .min_by_key(|(place, unsteady, of)| (Reverse(unsteady.len()), *of, *place));
        let Some((place, unsteady, of)) = best else { break };
        let scatters: Vec<f64> = unsteady.iter().map(|&cell| cells[cell].scatter).collect();
        let of_twins: Vec<f64> = unsteady.iter().filter_map(|&cell| twins_scatter[cell]).collect();
        let (Some(scatter), Some(twins_scatter)) = (median(&scatters), median(&of_twins)) else {
            break;
        };
        found.push(Unsteadiness {
            place,
            scatter,
            twins_scatter,
            cells: unsteady.len(),
            of,
            kernels: unsteady.iter().map(|&cell| cells[cell].kernel.clone()).collect(),
            threads: unsteady.iter().map(|&cell| cells[cell].threads).collect(),
        });
        for cell in unsteady {
            is_unsteady[cell] = false;
            of_parts[cell] = true;
        }
    }
    (found, of_parts)
}

/// Median scatter of each cell's twins.
fn scatter_of_twins(cells: &[TwinCell]) -> Vec<Option<f64>> {
    let mut of = vec![None; cells.len()];
    for members in groups(cells) {
        let ranked = Ranked::new(members.iter().map(|&cell| (cell, cells[cell].scatter)));
        for (cell, others) in ranked.others() {
            of[cell] = others.median();
        }
    }
    of
}

/// Whether this many unsteady cells of this many can be chance, where outside of the place
/// this many of this many are: by Chernoff's bound, for each of the places looked at.
fn is_chance(place: (usize, usize), outside: (usize, usize), places: usize) -> bool {
    let float = |count: usize| count as f64;
    let expected = ((float(outside.0) + 0.5) / (float(outside.1) + 1.0)).max(LEAST_SHARE);
    let share = float(place.0) / float(place.1.max(1));
    if share <= expected {
        return true;
    }
    let part = |of: f64, against: f64| if of > 0.0 { of * (of / against).ln() } else { 0.0 };
    let divergence = part(share, expected) + part(1.0 - share, 1.0 - expected);
    float(place.1) * divergence < (float(places) / CHANCE).ln()
}

/// Steady cells of a place which at their best move as much as any that is unsteady
/// there: were the place the cause, they would show it.
fn contradictions(
    unsteady: &[usize],
    of: &[usize],
    cells: &[TwinCell],
    is_unsteady: &[bool],
) -> usize {
    /// Best rounds that differ by less are equal.
    const EQUAL: f64 = 0.1;
    let mut fastest: HashMap<usize, f64> = HashMap::new();
    for &cell in unsteady {
        let best = fastest.entry(cells[cell].load).or_insert(f64::NEG_INFINITY);
        *best = best.max(cells[cell].ln_best);
    }
    let contradicts = |cell: &TwinCell| {
        fastest.get(&cell.load).is_some_and(|fastest| cell.ln_best > fastest - EQUAL)
    };
    of.iter().filter(|&&cell| !is_unsteady[cell] && contradicts(&cells[cell])).count()
}
