//! One bandwidth for each group of CPUs and memory node, to be read against each other.
//! Units: useful bytes/s.          Source: the matrix of Intel's Memory Latency Checker.
//! All are of one kernel and number of threads where some kernel covers as many pairs as all together: of
//! those that cover most pairs the one that moves most. A pair that it leaves out has the best that was
//! measured of it, and says so.

use std::collections::BTreeMap;

use crate::pairs::{Figure, PlacedCell};

/// The best bandwidth of each pair, as far as possible by one kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct BestPairs<'p> {
    pub kernel: &'p str,
    /// Whether all threads of a group ran, and not one.
    pub all_threads: bool,
    /// By group of CPUs, then by node.
    pub pairs: Vec<BestPair<'p>>,
}

/// A pair; its cell has no figure where it was refused.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestPair<'p> {
    pub cell: &'p PlacedCell,
    /// Whether it is of another kernel or number of threads than most.
    pub is_other: bool,
}

impl<'p> BestPair<'p> {
    pub fn figure(&self) -> Option<&'p Figure> {
        self.cell.cell.best()
    }
}

impl BestPairs<'_> {
    /// The number of threads of all groups, where it is one.
    pub fn threads(&self) -> Option<u32> {
        let mut threads = self.pairs.iter().filter(|pair| !pair.is_other).map(|it| it.cell.threads);
        let first = threads.next()?;
        threads.all(|count| count == first).then_some(first)
    }
}

fn rate(cell: &PlacedCell) -> Option<f64> {
    Some(cell.cell.best()?.summary.sum.median)
}

/// The best of these cells; `None` where none has a figure.
pub fn best_pairs(cells: &[PlacedCell]) -> Option<BestPairs<'_>> {
    let mut most: BTreeMap<u32, u32> = BTreeMap::new();
    for cell in cells {
        let threads = most.entry(cell.row.index).or_default();
        *threads = cell.threads.max(*threads);
    }
    // How many pairs each choice covers, and what it moves on all of them.
    let mut choices: BTreeMap<(&str, bool), (usize, f64)> = BTreeMap::new();
    let ways = |cell: &PlacedCell| {
        let is_all = most.get(&cell.row.index) == Some(&cell.threads);
        [(is_all, true), (cell.threads == 1, false)]
            .into_iter()
            .filter(|way| way.0)
            .map(|way| way.1)
    };
    for cell in cells {
        let Some(rate) = rate(cell) else { continue };
        for all_threads in ways(cell) {
            let choice = choices.entry((cell.kernel.as_str(), all_threads)).or_default();
            *choice = (choice.0 + 1, choice.1 + rate);
        }
    }
    let best = choices
        .iter()
        .max_by(|(_, one), (_, other)| one.0.cmp(&other.0).then_with(|| one.1.total_cmp(&other.1)));
    let (&(kernel, all_threads), _) = best?;
    let is_chosen =
        |cell: &PlacedCell| cell.kernel == kernel && ways(cell).any(|way| way == all_threads);
    let mut pairs: BTreeMap<(u32, u32), BestPair<'_>> = BTreeMap::new();
    for cell in cells {
        let next = BestPair { cell, is_other: !is_chosen(cell) };
        let rank = |pair: &BestPair<'_>| (rate(pair.cell).is_some(), !pair.is_other);
        let known = pairs.entry((cell.row.index, cell.memory_node)).or_insert(next);
        let is_more = rate(next.cell) > rate(known.cell);
        if rank(&next) > rank(known) || (rank(&next) == rank(known) && is_more) {
            *known = next;
        }
    }
    Some(BestPairs { kernel, all_threads, pairs: pairs.into_values().collect() })
}
