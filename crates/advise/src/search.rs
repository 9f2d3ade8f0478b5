//! The placements that are looked at, and the best that exchange makes of them: pages move from node
//! to node while the fitted law says that the program gains.

use crate::closed_form::Bounds;
use crate::question::{LEAST_SHARE, Question, Shares, Throughput};
use crate::side_by_side::side_by_side;

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
        let mut starts: Vec<(Shares, f64)> = Vec::new();
        for shares in all {
            // On nodes that are alike the forms often say the same.
            let known = starts.iter().find(|(known, _)| *known == shares).cloned();
            starts.extend(known.or_else(|| valued(shares)));
        }
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
        let beginnings = fitting.into_iter().take(BEGINNINGS).map(|(shares, _)| vec![shares]);
        Found { starts, best: self.best_from(&beginnings.collect::<Vec<_>>()) }
    }

    /// The best placement of data that each initiator's threads have for themselves, beginning at
    /// these placements, each initiator's own; `None` where none finds room.
    pub fn search_private(&self, mut starts: Vec<Vec<Shares>>) -> Option<Vec<Shares>> {
        starts.retain(|start| self.fits(start));
        self.best_from(&starts)
    }

    fn best_from(&self, beginnings: &[Vec<Shares>]) -> Option<Vec<Shares>> {
        let reached = side_by_side(beginnings, |start| self.exchange(start.clone()));
        let valued =
            reached.into_iter().filter_map(|pages| Some((self.throughput(&pages)?.paced, pages)));
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
        let moves: Vec<Move> = (0..pages.len())
            .flat_map(|of| (0..count).map(move |from| (of, from)))
            .flat_map(|(of, from)| (0..count).map(move |to| Move { of, from, to }))
            .filter(|it| it.from != it.to)
            .collect();
        for &step in steps {
            // What was tried in vain since the last move is so again.
            let mut in_vain = 0;
            let turns = std::iter::repeat_n(&moves, most_turns.min(MOST_TURNS)).flatten();
            for it in turns {
                let is_made = self.try_move(pages, *it, step, &mut reached, &score);
                in_vain = if is_made { 0 } else { in_vain + 1 };
                if in_vain == moves.len() {
                    break;
                }
            }
        }
    }

    /// Whether a move was worth it, and was made.
    fn try_move(
        &self,
        pages: &mut [Shares],
        Move { of, from, to }: Move,
        step: f64,
        reached: &mut f64,
        score: &impl Fn(&[Shares]) -> Option<f64>,
    ) -> bool {
        let (had, has) = (pages[of][from], pages[of][to]);
        let moved = step.min(had);
        if moved <= LEAST_SHARE {
            return false;
        }
        pages[of][from] = had - moved;
        pages[of][to] = has + moved;
        let value = if self.fits(pages) { score(pages) } else { None };
        if let Some(value) = value.filter(|value| *value > *reached * (1.0 + LEAST_GAIN)) {
            *reached = value;
            return true;
        }
        pages[of][from] = had;
        pages[of][to] = has;
        false
    }
}

/// Of the pages of a worker, or of all, those on a node to another.
#[derive(Debug, Clone, Copy)]
struct Move {
    of: usize,
    from: usize,
    to: usize,
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
