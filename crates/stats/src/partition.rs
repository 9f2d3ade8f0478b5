//! Classes of positive numbers: the fewest contiguous ones that are narrow enough.
//!
//! Two steps. The first takes no noise into account: the fewest classes of which each
//! spans at most a fraction of its maximum, and of all such partitions the one with the
//! least sum of squares of logarithms about the classes' means. The second merges neighbours
//! that noise alone would have separated: many values of one level spread wider than
//! the span, because the range of m values of standard error s is s d2(m).
//!
//! No random start (k-means has one, and may need more classes, as its cuts do not look
//! at the span). O(n log n): greedy sweeps from both ends bound where each border of a
//! partition into the fewest classes can lie; these ranges do not overlap, and because
//! the sum of squares is a concave Monge cost the best border moves one way, so
//! each range is searched by halving (Wu, J. Algorithms 12, 1991, for the quantisation of
//! numbers).

use std::collections::BTreeSet;

use crate::normal::expected_range;

/// What a class may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartitionRule {
    /// A class spans at most this fraction of its maximum, in (0, 1), and what noise
    /// explains.
    pub span: f64,
    /// Relative standard error of each value; `None` when it is not known, and then
    /// nothing is merged.
    pub noise: Option<f64>,
}

/// A class.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Indices of its values, ascending.
    pub members: Vec<usize>,
    /// Its largest value.
    pub max: f64,
    /// Its smallest value.
    pub min: f64,
    /// Whether it is wider than the rule's span, as noise explains the rest.
    pub widened_by_noise: bool,
    /// Whether the gap to the next lower class is less than [`GAP_IN_STANDARD_ERRORS`], so
    /// that the border between them is arbitrary; `false` where the noise is not known.
    pub border_within_noise: bool,
}

/// Rounding in logarithms: 93 and 100 are seven percent apart.
const ROUNDING: f64 = 1e-12;

/// A border is within the noise when the gap across it is less than this many standard errors
/// of a value: two values differ at the 5 % level from 1.96 sqrt(2) = 2.8 on.
pub const GAP_IN_STANDARD_ERRORS: f64 = 3.0;

impl Part {
    /// (max - min) / max.
    pub fn span(&self) -> f64 {
        (self.max - self.min) / self.max
    }
}

/// The classes of some numbers, the largest first; no classes for no numbers. `None`
/// when a number is not finite and positive, or two are so far apart that their ratio is not
/// finite, the span is not in (0, 1), or the noise is negative or not finite.
pub fn partition(values: &[f64], rule: &PartitionRule) -> Option<Vec<Part>> {
    let noise = rule.noise.unwrap_or(0.0);
    let sound = values.iter().all(|&value| value > 0.0 && value.is_finite())
        && (rule.span > 0.0 && rule.span < 1.0)
        && (noise >= 0.0 && noise.is_finite());
    if !sound {
        return None;
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
    // Logarithms below the maximum: ascending, from 0.
    let depths: Vec<f64> =
        order.iter().map(|&index| (values[order[0]] / values[index]).ln()).collect();
    if depths.iter().any(|depth| !depth.is_finite()) {
        return None;
    }
    let width = -(1.0 - rule.span).ln() + ROUNDING;
    let mut borders = fewest(&depths, width);
    merge_within_noise(&mut borders, &depths, width, noise);
    let mut parts = Vec::new();
    let mut begin = 0;
    for end in borders.into_iter().chain((!values.is_empty()).then_some(values.len())) {
        let mut members = order[begin..end].to_vec();
        members.sort_unstable();
        let gap = depths.get(end).map(|next| next - depths[end - 1]);
        parts.push(Part {
            members,
            max: values[order[begin]],
            min: values[order[end - 1]],
            widened_by_noise: depths[end - 1] - depths[begin] > width,
            border_within_noise: gap.is_some_and(|gap| gap < GAP_IN_STANDARD_ERRORS * noise),
        });
        begin = end;
    }
    Some(parts)
}

/// Borders (the index at which a class begins, without 0) of the partition into the
/// fewest classes no wider than `width`, with the least sum of squares among these.
fn fewest(depths: &[f64], width: f64) -> BTreeSet<usize> {
    let count = depths.len();
    // The furthest each border can lie, and the nearest.
    let mut furthest = vec![0];
    while furthest[furthest.len() - 1] < count {
        let begin = furthest[furthest.len() - 1];
        furthest.push(depths.partition_point(|depth| depth - depths[begin] <= width));
    }
    let mut nearest = vec![count];
    while nearest[nearest.len() - 1] > 0 {
        let end = nearest[nearest.len() - 1];
        nearest.push(depths.partition_point(|depth| depths[end - 1] - depth > width));
    }
    nearest.reverse();

    let cost = SquareSums::new(depths);
    // Least cost of what lies above each place of the last border, and for each border
    // and place the place of the border before.
    let mut above = vec![0.0];
    let mut before: Vec<Vec<usize>> = Vec::new();
    for class in 1..furthest.len() {
        let search = Search {
            above: &above,
            first_begin: nearest[class - 1],
            first_end: nearest[class],
            depths,
            width,
            cost: &cost,
        };
        let ends = furthest[class] - nearest[class] + 1;
        let mut best = vec![(f64::INFINITY, 0); ends];
        search.halve(&mut best, 0, 0, above.len());
        above = best.iter().map(|&(sum, _)| sum).collect();
        before.push(best.into_iter().map(|(_, begin)| begin).collect());
    }
    let mut borders = BTreeSet::new();
    let mut end = count;
    for class in (1..before.len()).rev() {
        end = before[class][end - nearest[class + 1]];
        borders.insert(end);
    }
    borders
}

/// The best begin of a class for each of its possible ends.
struct Search<'a> {
    /// Least cost above each possible begin.
    above: &'a [f64],
    first_begin: usize,
    first_end: usize,
    depths: &'a [f64],
    width: f64,
    cost: &'a SquareSums,
}

impl Search<'_> {
    /// Fills `best`, the (cost, begin) of the ends from `first_end + offset` on, from begins
    /// number `low` to below `high`: the middle end by looking at all of them, the ends
    /// on each side of it on its side of that best begin.
    fn halve(&self, best: &mut [(f64, usize)], offset: usize, low: usize, high: usize) {
        if best.is_empty() {
            return;
        }
        let middle = best.len() / 2;
        let end = self.first_end + offset + middle;
        let mut chosen = low;
        for place in low..high {
            let begin = self.first_begin + place;
            if begin >= end || self.depths[end - 1] - self.depths[begin] > self.width {
                continue;
            }
            let sum = self.above[place] + self.cost.within(begin, end);
            if sum < best[middle].0 {
                best[middle] = (sum, begin);
                chosen = place;
            }
        }
        let (left, right) = best.split_at_mut(middle);
        self.halve(left, offset, low, chosen + 1);
        self.halve(&mut right[1..], offset + middle + 1, chosen, high);
    }
}

/// Sums of squares about the mean of any range, in constant time.
struct SquareSums {
    sums: Vec<(f64, f64)>,
}

impl SquareSums {
    fn new(depths: &[f64]) -> Self {
        let mut sums = vec![(0.0, 0.0)];
        let mut total = (0.0, 0.0);
        for depth in depths {
            total = (total.0 + depth, total.1 + depth * depth);
            sums.push(total);
        }
        Self { sums }
    }

    fn within(&self, begin: usize, end: usize) -> f64 {
        let count = (end - begin) as f64;
        let sum = self.sums[end].0 - self.sums[begin].0;
        let squares = self.sums[end].1 - self.sums[begin].1;
        (squares - sum * sum / count).max(0.0)
    }
}

/// Removes borders between neighbours that noise alone explains, the smallest gap first:
/// the gap is less than three standard errors, and the union is no wider than `width` and
/// the expected range of that many values. The first condition keeps true gaps of a tenth apart,
/// which the second alone would close.
fn merge_within_noise(borders: &mut BTreeSet<usize>, depths: &[f64], width: f64, noise: f64) {
    let gap = |border: usize| depths[border] - depths[border - 1];
    let mut narrow: Vec<usize> = borders
        .iter()
        .copied()
        .filter(|&border| gap(border) < GAP_IN_STANDARD_ERRORS * noise)
        .collect();
    narrow.sort_by(|&a, &b| gap(a).total_cmp(&gap(b)));
    // A merger can allow another that was refused before, as larger classes may be wider.
    loop {
        let before = narrow.len();
        narrow.retain(|&border| {
            let begin = borders.range(..border).next_back().copied().unwrap_or(0);
            let end = borders.range(border + 1..).next().copied().unwrap_or(depths.len());
            let explained = width + noise * expected_range(end - begin);
            let merges = depths[end - 1] - depths[begin] <= explained;
            if merges {
                borders.remove(&border);
            }
            !merges
        });
        if narrow.len() == before {
            return;
        }
    }
}
