//! The placements that are looked at, and the best that exchange makes of them.

use crate::closed_form::Bounds;
use crate::question::{Question, Shares};
use crate::subsets::{equal_shares, subsets};

/// Placements of data that all threads use alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Shares and what the law says of them, useful bytes/s by the slowest thread; equal shares
    /// of subsets first, then the closed forms. Whether they find room is not looked at.
    pub starts: Vec<(Shares, f64)>,
    /// What exchange made of the best that find room; `None` where no placement does.
    pub best: Option<Vec<Shares>>,
}

/// Exchange begins at so many of the best starts: near optima of the law can differ.
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
}
