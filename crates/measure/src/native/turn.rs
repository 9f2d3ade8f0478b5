//! The turn in which nodes get pages.
//!
//! Pages are dealt one by one in a turn that keeps every node as near to its share as can be, so
//! that any run of pages, and so every thread's slice, has the shares of the whole to within
//! about a page of each node.

use std::collections::BTreeMap;
use std::ops::Range;

/// Runs of pages that a policy each may be set for, of vm.max_map_count (65,530 by default), which
/// several pools, and all else that is mapped, share.
const MOST_RUNS: usize = 16_384;

/// In which turn nodes get pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    nodes: Vec<u32>,
}

impl Turn {
    /// A turn in which each node gets this many pages, spread evenly: the next page goes to the node
    /// that is furthest behind its share.
    pub fn new(weights: &BTreeMap<u32, u32>) -> Self {
        let shared = weights.values().copied().fold(0, greatest_common_divisor).max(1);
        let weights: Vec<(u32, i64)> = weights
            .iter()
            .map(|(&node, &weight)| (node, i64::from(weight / shared)))
            .filter(|&(_, weight)| weight > 0)
            .collect();
        let length: i64 = weights.iter().map(|&(_, weight)| weight).sum();
        let mut behind = vec![0; weights.len()];
        let mut nodes = Vec::new();
        for _ in 0..length {
            for (behind, &(_, weight)) in behind.iter_mut().zip(&weights) {
                *behind += weight;
            }
            let most = behind.iter().copied().max();
            // The first of several: the turn is the same each time.
            if let Some(next) = behind.iter().position(|&behind| Some(behind) == most) {
                behind[next] -= length;
                nodes.push(weights[next].0);
            }
        }
        Self { nodes }
    }

    /// The node of a page by its number.
    pub fn node_of(&self, page: usize) -> u32 {
        self.nodes.get(page % self.nodes.len().max(1)).copied().unwrap_or(0)
    }

    /// The first `pages` as runs on one node each.
    pub fn runs(&self, pages: usize) -> Vec<(Range<usize>, u32)> {
        let mut runs: Vec<(Range<usize>, u32)> = Vec::new();
        for page in 0..pages {
            let node = self.node_of(page);
            match runs.last_mut() {
                Some((run, of)) if *of == node => run.end = page + 1,
                _ => runs.push((page..page + 1, node)),
            }
        }
        runs
    }

    /// The runs of bytes of a range in which pages of at least `page_bytes` are dealt out. Pages
    /// are dealt by twos, fours and so on where the runs would be too many to have a policy each.
    pub fn runs_of_bytes(&self, bytes: usize, page_bytes: usize) -> Vec<(Range<usize>, u32)> {
        let mut dealt = page_bytes;
        loop {
            let runs = self.runs(bytes.div_ceil(dealt));
            if runs.len() <= MOST_RUNS {
                let in_bytes = |run: Range<usize>| {
                    (run.start * dealt).min(bytes)..(run.end * dealt).min(bytes)
                };
                return runs.into_iter().map(|(run, node)| (in_bytes(run), node)).collect();
            }
            dealt *= 2;
        }
    }
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(weights: &[(u32, u32)]) -> Turn {
        Turn::new(&weights.iter().copied().collect())
    }

    #[test]
    fn pages_are_spread_over_the_turn() {
        assert_eq!(turn(&[(0, 3), (2, 1)]).nodes, [0, 0, 2, 0]);
        assert_eq!(turn(&[(0, 200), (2, 200)]).nodes, [0, 2]);
        assert_eq!(turn(&[(5, 7)]).nodes, [5]);
        let runs = turn(&[(0, 3), (2, 1)]).runs(9);
        assert_eq!(runs, [(0..2, 0), (2..3, 2), (3..6, 0), (6..7, 2), (7..9, 0)]);
    }

    #[test]
    fn runs_are_few_enough_and_cover_all() {
        for bytes in [4096, 1 << 20, (1 << 30) + 4096] {
            let runs = turn(&[(0, 1), (1, 1)]).runs_of_bytes(bytes, 4096);
            assert!(runs.len() <= MOST_RUNS);
            assert_eq!(runs.first().unwrap().0.start, 0);
            assert_eq!(runs.last().unwrap().0.end, bytes);
            assert!(runs.windows(2).all(|pair| pair[0].0.end == pair[1].0.start));
            assert!(runs.iter().all(|(run, _)| run.start % 4096 == 0));
        }
    }

    #[test]
    fn every_run_of_pages_has_the_shares_of_the_whole() {
        let mut random = fastrand::Rng::with_seed(12);
        for nodes in [1, 2, 2, 2, 3, 8] {
            for _ in 0..50 {
                let weights: BTreeMap<u32, u32> =
                    (0..nodes).map(|node| (node, random.u32(1..=255))).collect();
                let turn = Turn::new(&weights);
                let all: f64 = weights.values().copied().map(f64::from).sum();
                let (start, pages) = (random.usize(..1000), random.usize(1..500));
                for (&node, &weight) in &weights {
                    let of_node = |&page: &usize| turn.node_of(page) == node;
                    let got = (start..start + pages).filter(of_node).count();
                    let share = pages as f64 * f64::from(weight) / all;
                    let off = (got as f64 - share).abs();
                    assert!(off <= 2.0, "{got} of {pages} pages, not {share}: {weights:?}");
                }
            }
        }
    }
}
