//! Shares of pages that need no search, for data that all threads use alike.
//!
//! ```text
//! u_m = min( K_m, min over c of B_cm / d_c, N min over c of d1_cm )
//! w_m = u_m / sum of u                                          in proportion
//! w_m ~ as much of u_m as issue limits and threads can use,     nearest first
//!       nodes in the order of sum over c of d_c / d1_cm
//! ```
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | d_c | share of the threads that initiator c has | fraction |
//! | N | threads | 1 |
//! | B, K, I, d1 | path, controller, issue limit, what one thread asks | useful bytes/s |
//! | u_m, w_m | what node m can give to all, its share of the pages | useful bytes/s, fraction |
//!
//! Source: ours; the second form is the fractional knapsack, exact where nothing else binds.
//! Fails when: links that several paths share bind, or parts saturate softly; both are for the
//! exchange on the model, which begins here.

use crate::question::{Question, Shares};

/// What nodes can give to data that all threads use alike.
#[derive(Debug)]
pub(crate) struct Bounds {
    /// u of each node, useful bytes/s.
    pub most: Vec<f64>,
    /// Seconds of a thread for a byte of each node, mean over threads.
    pub seconds: Vec<f64>,
    /// What issue limits leave of the sum, useful bytes/s.
    issue: f64,
    /// Share of the threads and d1 on each node, of each initiator.
    initiators: Vec<(f64, Vec<f64>)>,
    threads: f64,
}

impl Bounds {
    /// `None` where an initiator or a node is not of the machine.
    pub fn of(question: &Question<'_>) -> Option<Self> {
        let capacities = question.capacities;
        let threads = f64::from(question.threads());
        let column = |node: u32| capacities.nodes.iter().position(|&known| known == node);
        let columns: Vec<usize> =
            question.page_nodes.iter().map(|it| column(it.node)).collect::<Option<_>>()?;
        let mut bounds = Self {
            most: columns
                .iter()
                .map(|&it| capacities.controller.get(it).copied().flatten())
                .map(|it| it.unwrap_or(f64::INFINITY))
                .collect(),
            seconds: vec![0.0; columns.len()],
            issue: f64::INFINITY,
            initiators: Vec::new(),
            threads,
        };
        for workers in &question.workers {
            let row = usize::try_from(workers.initiator).ok()?;
            let part = f64::from(workers.threads) / threads;
            if let Some(issue) = capacities.issue.get(row)? {
                bounds.issue = bounds.issue.min(issue / part);
            }
            let (path, one) = (capacities.path.get(row)?, capacities.one_thread.get(row)?);
            for (page_node, &column) in columns.iter().enumerate() {
                let most = &mut bounds.most[page_node];
                if let Some(path) = path[column] {
                    *most = most.min(path / part);
                }
                *most = most.min(threads * one[column]);
                bounds.seconds[page_node] += part / one[column];
            }
            bounds.initiators.push((part, columns.iter().map(|&it| one[it]).collect()));
        }
        let is_sound = bounds.most.iter().all(|it| it.is_finite() && *it > 0.0);
        is_sound.then_some(bounds)
    }

    /// In proportion to what the nodes of a subset can give.
    pub fn in_proportion(&self, subset: &[usize]) -> Shares {
        self.shares(subset.iter().map(|&page_node| (page_node, self.most[page_node])))
    }

    /// Nearest first, as much as threads can use.
    pub fn nearest_first(&self, subset: &[usize]) -> Shares {
        let mut order = subset.to_vec();
        order.sort_by(|&a, &b| self.seconds[a].total_cmp(&self.seconds[b]));
        let mut left = self.issue;
        let mut idle: Vec<f64> =
            self.initiators.iter().map(|(part, _)| part * self.threads).collect();
        let mut taken = Vec::new();
        for page_node in order {
            let by_threads = self.initiators.iter().zip(&idle);
            let by_threads = by_threads.map(|((part, one), idle)| idle * one[page_node] / part);
            let most = by_threads.fold(self.most[page_node].min(left), f64::min).max(0.0);
            left -= most;
            for ((part, one), idle) in self.initiators.iter().zip(&mut idle) {
                *idle -= part * most / one[page_node];
            }
            taken.push((page_node, most));
        }
        self.shares(taken.into_iter())
    }

    fn shares(&self, given: impl Iterator<Item = (usize, f64)>) -> Shares {
        let mut shares = vec![0.0; self.most.len()];
        given.for_each(|(page_node, amount)| shares[page_node] = amount);
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= sum);
        shares
    }
}
