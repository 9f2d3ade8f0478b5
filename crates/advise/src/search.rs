//! The placements that are looked at, and the best that exchange makes of them: pages move from node
//! to node while the fitted law says that the program gains.

use crate::closed_form::Bounds;
use crate::question::{LEAST_SHARE, Question, Shares, Throughput};

/// Placements of data that all threads use alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Shares and what the law says of them, useful bytes/s by the slowest thread; equal shares
    /// of subsets first, then the closed forms. Whether they find room is not looked at.
    pub starts: Vec<(Shares, f64)>,
    /// What exchange made of the best that find room; `None` where no placement does.
    pub best: Option<Vec<Shares>>,
}

/// Page shares that are moved at a time, the largest first.
const STEPS: [f64; 4] = [0.125, 0.0625, 0.03125, 0.015_625];
/// The same for the mean over the machines that are possible.
const LAST_STEPS: [f64; 2] = [0.0625, 0.03125];
/// A move that gains a smaller fraction is not made.
const LEAST_GAIN: f64 = 1e-5;
/// Turns through all moves with one step; the law's throughput has one hill, so that few are
/// needed.
const MOST_TURNS: usize = 40;
/// Looks at a placement, times initiators with pages of their own, times nodes: on machines of very
/// many nodes the exchange ends before it has tried all.
const MOST_LOOKS: usize = 2_000_000;
/// With pages of each initiator placed apart a move can raise what others get before it raises the
/// slowest: the sum of all threads counts by this part.
const SUM_COUNTS: f64 = 0.02;

/// Exchange begins at this many of the best starts: near optima of the law can differ.
const BEGINNINGS: usize = 2;

impl Question<'_> {
    /// Placements for data that all threads use alike. `groups` are sets of nodes that are
    /// looked at whatever they can give.
    pub fn search_shared(&self, groups: &[Vec<usize>]) -> Found {
        let Some(bounds) = Bounds::of(self) else {
            return Found { starts: Vec::new(), best: None };
        };
        let subsets = subsets(&bounds.most, groups);
        let equal = subsets.iter().map(|subset| equal_shares(subset, self.page_nodes.len()));
        let wide = || subsets.iter().filter(|subset| subset.len() > 1);
        let all = equal
            .chain(wide().map(|subset| bounds.in_proportion(subset)))
            .chain(wide().map(|subset| bounds.nearest_first(subset)));
        let valued = |shares: Shares| {
            let paced = self.throughput(std::slice::from_ref(&shares))?.paced;
            Some((shares, paced))
        };
        let starts: Vec<(Shares, f64)> = all.filter_map(valued).collect();
        let mut fitting: Vec<(Shares, f64)> = starts
            .iter()
            .filter_map(|(shares, paced)| {
                if self.fits(std::slice::from_ref(shares)) {
                    return Some((shares.clone(), *paced));
                }
                valued(self.fitted(shares)?)
            })
            .collect();
        fitting.sort_by(|a, b| b.1.total_cmp(&a.1));
        let reached = fitting.into_iter().take(BEGINNINGS).map(|(shares, _)| vec![shares]);
        let reached = reached.map(|start| self.exchange(start));
        Found { starts, best: self.best_of(reached) }
    }

    /// The best placement of data that each initiator's threads have for themselves, beginning at
    /// these placements, each initiator's own; `None` where none finds room.
    pub fn search_private(&self, starts: Vec<Vec<Shares>>) -> Option<Vec<Shares>> {
        let fitting = starts.into_iter().filter(|start| self.fits(start));
        self.best_of(fitting.map(|start| self.exchange(start)))
    }

    fn best_of(&self, all: impl Iterator<Item = Vec<Shares>>) -> Option<Vec<Shares>> {
        let valued = all.filter_map(|pages| Some((self.throughput(&pages)?.paced, pages)));
        valued.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, pages)| pages)
    }

    /// Better shares than these, as far as moves between two nodes lead. Nothing is moved to where it
    /// finds no room.
    fn exchange(&self, start: Vec<Shares>) -> Vec<Shares> {
        let mut pages = start;
        self.climb(&mut pages, &STEPS, |pages| Some(score(self.throughput(pages)?, pages)));
        if pages.len() == 1 && !self.possible.is_empty() {
            let expected = |pages: &[Shares]| Some(score(self.expected_throughput(pages)?, pages));
            self.climb(&mut pages, &LAST_STEPS, expected);
        }
        pages
    }

    fn climb(&self, pages: &mut [Shares], steps: &[f64], score: impl Fn(&[Shares]) -> Option<f64>) {
        let Some(mut reached) = score(pages) else { return };
        let count = self.page_nodes.len().max(1);
        let looks_of_turn = pages.len() * count * count;
        let most_turns = MOST_LOOKS / (pages.len() * count * looks_of_turn.max(1));
        for &step in steps {
            for _ in 0..most_turns.min(MOST_TURNS) {
                if !self.turn(pages, &mut reached, step, &score) {
                    break;
                }
            }
        }
    }

    /// Tries each move once; whether one was made.
    fn turn(
        &self,
        pages: &mut [Shares],
        reached: &mut f64,
        step: f64,
        score: &impl Fn(&[Shares]) -> Option<f64>,
    ) -> bool {
        let before = *reached;
        let count = self.page_nodes.len();
        for of in 0..pages.len() {
            for from in 0..count {
                for to in (0..count).filter(|&to| to != from) {
                    let moved = step.min(pages[of][from]);
                    if moved <= LEAST_SHARE {
                        break;
                    }
                    let (had, has) = (pages[of][from], pages[of][to]);
                    pages[of][from] = had - moved;
                    pages[of][to] = has + moved;
                    let value = if self.fits(pages) { score(pages) } else { None };
                    match value {
                        Some(value) if value > *reached * (1.0 + LEAST_GAIN) => *reached = value,
                        _ => {
                            pages[of][from] = had;
                            pages[of][to] = has;
                        }
                    }
                }
            }
        }
        *reached > before
    }
}

fn score(throughput: Throughput, pages: &[Shares]) -> f64 {
    let counts = if pages.len() > 1 { SUM_COUNTS } else { 0.0 };
    throughput.paced + counts * throughput.sum
}

/// Up to this many nodes all subsets are looked at, 255 of them.
pub(crate) const MOST_NODES: usize = 8;

/// Subsets of as many nodes as `most` has, each in ascending order, none twice. Of more than
/// [`MOST_NODES`] those of the ones that can give most, by `most`; and the named groups.
pub(crate) fn subsets(most: &[f64], groups: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..most.len()).collect();
    order.sort_by(|&a, &b| most[b].total_cmp(&most[a]));
    order.truncate(MOST_NODES);
    order.sort_unstable();
    let members = |bits: u32| {
        let chosen = order.iter().enumerate().filter(move |(place, _)| bits >> place & 1 == 1);
        chosen.map(|(_, &page_node)| page_node).collect::<Vec<usize>>()
    };
    let mut all: Vec<Vec<usize>> = (1..1_u32 << order.len()).map(members).collect();
    let everything: Vec<usize> = (0..most.len()).collect();
    let lone = (0..most.len()).map(|page_node| vec![page_node]);
    for group in groups.iter().cloned().chain([everything]).chain(lone) {
        if !group.is_empty() && !all.contains(&group) {
            all.push(group);
        }
    }
    all
}

/// Equal shares of a subset's nodes.
pub(crate) fn equal_shares(subset: &[usize], page_nodes: usize) -> Vec<f64> {
    let share = 1.0 / subset.len().max(1) as f64;
    let mut shares = vec![0.0; page_nodes];
    subset.iter().for_each(|&page_node| shares[page_node] = share);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_nodes_have_255_subsets_and_more_nodes_those_of_the_widest_eight() {
        let of = |count: usize| subsets(&vec![1.0; count], &[]).len();
        assert_eq!([of(1), of(2), of(3), of(8)], [1, 3, 7, 255]);
        let most: Vec<f64> = (0..12_u32).map(f64::from).collect();
        let all = subsets(&most, &[vec![0, 1]]);
        assert_eq!(all.len(), 255 + 4 + 2, "of 4..=11, the lone others, the group and all");
        assert!(all.contains(&vec![0, 1]) && all.contains(&(0..12).collect()));
        assert!(all.contains(&vec![4, 11]) && !all.contains(&vec![3, 11]));
        assert!(all.iter().all(|subset| subset.is_sorted()));
    }
}
