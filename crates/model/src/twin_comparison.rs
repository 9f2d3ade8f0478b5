//! Every cell against its twins and against the other direction of its pair. Groups are
//! sorted once; each cell's median and spread "of the others" are then found by rank.
//! Units: natural logarithms of ratios.

use std::collections::HashMap;

use nearfar_stats::{OF_MAD, median};

use crate::twin_cell::TwinCell;
use crate::twin_rule::{FLOOR, FLOOR_UNCONFIRMED, SCORE};

/// A cell against its twins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Comparison {
    /// ln(cell / median of its twins).
    pub(crate) ln_ratio: f64,
    /// Standard deviation of that.
    pub(crate) deviation: f64,
    /// Twins, the cell itself not among them.
    pub(crate) twins: usize,
    /// Against the other direction of its pair.
    pub(crate) direction: Option<Direction>,
}

/// A cell against the other direction of its pair. The reference is 1: over all pairs
/// of a group each ratio stands beside its inverse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Direction {
    /// ln(cell / other direction).
    pub(crate) ln_ratio: f64,
    /// Standard deviation of that: the other pairs' own, or the noise where it is more.
    pub(crate) deviation: f64,
}

impl Comparison {
    pub(crate) fn score(&self) -> f64 {
        self.ln_ratio / self.deviation
    }

    /// Whether what is so much above the cell is as far below its twins as a cell must be that others of
    /// its part do not bear out.
    pub(crate) fn is_far_below(&self, above: f64) -> bool {
        self.ln_ratio + above < (1.0 - FLOOR_UNCONFIRMED).ln()
    }

    pub(crate) fn is_below_twins(&self) -> bool {
        self.ln_ratio < (1.0 - FLOOR).ln() && self.score() < -SCORE
    }

    /// Below the other direction, and not at what its twins reach: a pair of which one
    /// direction is as its twins and the other better is sound.
    pub(crate) fn is_below_other_direction(&self) -> bool {
        let floor = (1.0 - FLOOR).ln();
        self.ln_ratio < floor
            && self
                .direction
                .is_some_and(|direction| direction.ln_ratio < floor && direction.score() < -SCORE)
    }

    pub(crate) fn falls_short(&self) -> bool {
        self.is_below_twins() || self.is_below_other_direction()
    }

    /// The clearer one of both scores.
    pub(crate) fn lowest_score(&self) -> f64 {
        self.direction.map_or(self.score(), |direction| direction.score().min(self.score()))
    }
}

impl Direction {
    fn score(&self) -> f64 {
        self.ln_ratio / self.deviation
    }
}

/// The comparisons of all cells, kept up while cells are set aside.
#[derive(Debug)]
pub(crate) struct Comparisons<'a> {
    cells: &'a [TwinCell],
    groups: Vec<Vec<usize>>,
    /// The cells of each group that are not set aside, by what they reach.
    ranked: Vec<Ranked>,
    set_aside: Vec<bool>,
    directions: Vec<Option<Direction>>,
    of: Vec<Option<Comparison>>,
}

impl<'a> Comparisons<'a> {
    pub(crate) fn new(cells: &'a [TwinCell], set_aside: Vec<bool>) -> Self {
        let groups = groups(cells);
        let directions = directions(cells, &groups);
        let ranked = groups
            .iter()
            .map(|members| {
                let twins = members.iter().filter(|&&cell| !set_aside[cell]);
                Ranked::new(twins.map(|&cell| (cell, cells[cell].ln)))
            })
            .collect();
        let of = vec![None; cells.len()];
        let mut all = Self { cells, groups, ranked, set_aside, directions, of };
        for group in 0..all.groups.len() {
            all.compare_group(group);
        }
        all
    }

    /// The cell against twins that are not set aside; `None` where there is none.
    pub(crate) fn of(&self, cell: usize) -> Option<&Comparison> {
        self.of[cell].as_ref()
    }

    pub(crate) fn is_set_aside(&self, cell: usize) -> bool {
        self.set_aside[cell]
    }

    /// These cells are no longer twins of any other.
    pub(crate) fn set_aside(&mut self, cells: &[usize]) {
        let mut touched: Vec<usize> = cells.iter().map(|&cell| self.cells[cell].group).collect();
        touched.sort_unstable();
        touched.dedup();
        for &cell in cells {
            self.set_aside[cell] = true;
        }
        for group in touched {
            self.ranked[group].retain(|cell| !self.set_aside[cell]);
            self.compare_group(group);
        }
    }

    fn compare_group(&mut self, group: usize) {
        let ranked = &self.ranked[group];
        for (cell, others) in ranked.others() {
            self.of[cell] = compare(&self.cells[cell], &others, self.directions[cell]);
        }
        for &cell in self.groups[group].iter().filter(|&&cell| self.set_aside[cell]) {
            self.of[cell] = compare(&self.cells[cell], &ranked.all(), self.directions[cell]);
        }
    }
}

/// The members of each group.
pub(crate) fn groups(cells: &[TwinCell]) -> Vec<Vec<usize>> {
    let count = cells.iter().map(|cell| cell.group + 1).max().unwrap_or(0);
    let mut groups = vec![Vec::new(); count];
    for (index, cell) in cells.iter().enumerate() {
        groups[cell.group].push(index);
    }
    groups
}

fn compare(
    cell: &TwinCell,
    others: &Others<'_>,
    direction: Option<Direction>,
) -> Option<Comparison> {
    /// Variance of a median / that of a mean, for many normal values: pi / 2.
    const OF_MEDIAN: f64 = std::f64::consts::FRAC_PI_2;
    let middle = others.median()?;
    let spread = OF_MAD * others.median_deviation(middle)?;
    let noise = cell.noise * (1.0 + OF_MEDIAN / others.count() as f64).sqrt();
    Some(Comparison {
        ln_ratio: cell.ln - middle,
        // Cells without any noise (a simulation's) differ by what rounding leaves.
        deviation: spread.max(noise).max(1e-9),
        twins: others.count(),
        direction,
    })
}

/// Every cell against the other direction of its pair. With several groups of CPUs in an
/// initiator, or several nodes, that is the median of the cells the other way.
fn directions(cells: &[TwinCell], groups: &[Vec<usize>]) -> Vec<Option<Direction>> {
    let mut directions = vec![None; cells.len()];
    for members in groups {
        // Both ways of a pair of initiators, the lower initiator's first.
        let mut pairs: HashMap<(u32, u32), [Vec<usize>; 2]> = HashMap::new();
        for &index in members {
            let cell = &cells[index];
            if let Some(home) = cell.home.filter(|home| *home != cell.initiator) {
                let ends = (cell.initiator.min(home), cell.initiator.max(home));
                pairs.entry(ends).or_default()[usize::from(home < cell.initiator)].push(index);
            }
        }
        let middle =
            |way: &[usize]| median(&way.iter().map(|&cell| cells[cell].ln).collect::<Vec<f64>>());
        let mut ratios: Vec<((u32, u32), f64)> = pairs
            .iter()
            .filter_map(|(&ends, [there, back])| {
                Some((ends, (middle(there)? - middle(back)?).abs()))
            })
            .collect();
        ratios.sort_unstable_by_key(|(ends, _)| *ends);
        let ranked = Ranked::new(ratios.iter().map(|(_, ratio)| *ratio).enumerate());
        for (index, others) in ranked.others() {
            // Without another pair to compare with, both ways are expected to be equal within
            // their own noise.
            let spread = OF_MAD * others.median().unwrap_or(0.0);
            let [there, back] = &pairs[&ratios[index].0];
            for (way, other) in [(there, back), (back, there)] {
                let noise =
                    |way: &[usize]| way.iter().map(|&cell| cells[cell].noise).fold(0.0, f64::max);
                let Some(reference) = middle(other) else { continue };
                for &cell in way {
                    let noise = cells[cell].noise.hypot(noise(other));
                    directions[cell] = Some(Direction {
                        ln_ratio: cells[cell].ln - reference,
                        deviation: spread.max(noise).max(1e-9),
                    });
                }
            }
        }
    }
    directions
}

/// Numbers in ascending order, each with its key.
#[derive(Debug)]
pub(crate) struct Ranked {
    values: Vec<f64>,
    keys: Vec<usize>,
}

/// The numbers without one of them, or all.
pub(crate) struct Others<'a> {
    values: &'a [f64],
    without: usize,
}

impl Ranked {
    pub(crate) fn new(values: impl Iterator<Item = (usize, f64)>) -> Self {
        let mut sorted: Vec<(usize, f64)> = values.collect();
        sorted.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
        let (keys, values) = sorted.into_iter().unzip();
        Self { values, keys }
    }

    /// Each key with the numbers of all others.
    pub(crate) fn others(&self) -> impl Iterator<Item = (usize, Others<'_>)> {
        let values = &self.values;
        self.keys.iter().enumerate().map(move |(without, &key)| (key, Others { values, without }))
    }

    fn all(&self) -> Others<'_> {
        Others { values: &self.values, without: self.values.len() }
    }

    fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let kept = |(&key, &value): (&usize, &f64)| keep(key).then_some((key, value));
        (self.keys, self.values) = self.keys.iter().zip(&self.values).filter_map(kept).unzip();
    }
}

impl Others<'_> {
    pub(crate) fn count(&self) -> usize {
        self.values.len() - usize::from(self.without < self.values.len())
    }

    fn at(&self, rank: usize) -> f64 {
        self.values[rank + usize::from(rank >= self.without)]
    }

    pub(crate) fn median(&self) -> Option<f64> {
        self.middle(|rank| self.at(rank))
    }

    /// Median of the distances from `middle`.
    fn median_deviation(&self, middle: f64) -> Option<f64> {
        self.middle(|nearer| self.deviation(nearer, middle))
    }

    fn middle(&self, at: impl Fn(usize) -> f64) -> Option<f64> {
        let count = self.count();
        match count {
            0 => None,
            _ if count % 2 == 1 => Some(at(count / 2)),
            _ => Some(f64::midpoint(at(count / 2 - 1), at(count / 2))),
        }
    }

    /// The distance from `middle` that this many others come nearer than. The nearest
    /// k + 1 of sorted numbers are neighbours, so it is the smallest reach of a window
    /// of this many, which is where the reach to the right overtakes that to the left.
    fn deviation(&self, nearer: usize, middle: f64) -> f64 {
        let reach = |first: usize| (middle - self.at(first)).max(self.at(first + nearer) - middle);
        let last = self.count() - 1 - nearer;
        let (mut low, mut high) = (0, last);
        while low < high {
            let first = usize::midpoint(low, high);
            if self.at(first + nearer) - middle >= middle - self.at(first) {
                high = first;
            } else {
                low = first + 1;
            }
        }
        let before = low.checked_sub(1).map_or(f64::INFINITY, reach);
        reach(low).min(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, by sorting anew.
    #[test]
    fn medians_and_deviations_of_the_others_are_those_of_a_list_without_the_one() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..2000 {
            let count = random.usize(1..12);
            // Few different values, so that there are ties.
            let values: Vec<f64> = (0..count).map(|_| f64::from(random.u8(0..9))).collect();
            let ranked = Ranked::new(values.iter().copied().enumerate());
            check(&ranked.all(), &values);
            for (without, others) in ranked.others() {
                let mut rest = values.clone();
                rest.remove(without);
                check(&others, &rest);
            }
        }
    }

    fn check(others: &Others<'_>, rest: &[f64]) {
        assert_eq!((others.count(), others.median()), (rest.len(), median(rest)));
        if let Some(middle) = median(rest) {
            let away: Vec<f64> = rest.iter().map(|value| (value - middle).abs()).collect();
            assert_eq!(others.median_deviation(middle), median(&away), "{rest:?}");
        }
    }

    #[test]
    fn what_is_not_kept_is_no_other() {
        let mut ranked = Ranked::new([5.0, 1.0, 3.0].into_iter().enumerate());
        ranked.retain(|key| key != 1);
        let medians: Vec<(usize, Option<f64>)> =
            ranked.others().map(|(key, others)| (key, others.median())).collect();
        assert_eq!(medians, [(2, Some(5.0)), (0, Some(3.0))]);
        ranked.retain(|key| key == 2);
        assert!(ranked.others().all(|(_, others)| others.median().is_none()));
    }
}
