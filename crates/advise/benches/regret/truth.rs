//! What a machine gives at best, by looking everywhere.

use nearfar_advise::{Shares, Workers};
use nearfar_flow::Load;

/// What one question came to; regrets are fractions.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The machine, and which initiators are in use.
    pub asked: String,
    /// Of what is predicted to give most.
    pub largest: f64,
    /// Of what is ranked first: the simplest that cannot be told from that.
    pub first: f64,
    /// Of what is recommended, which can be the default.
    pub recommended: f64,
    /// The least gain that is recommended however sure it is not.
    pub floor: f64,
    /// What the recommendation gains over the default; `None` where it is the default.
    pub gained: Option<f64>,
    /// Whether the truth is of the flow model's own law.
    pub is_own_law: bool,
    /// Whether it is of another law.
    pub is_foreign_law: bool,
    /// Of [`RULES`].
    pub by_rule: [f64; 4],
    /// Of private data: of what is ranked first, and of local pages; `None` where not looked at.
    pub private: Option<(f64, f64)>,
}

impl Outcome {
    /// Whether the machine is one of a paper.
    pub fn is_of_paper(&self) -> bool {
        !self.is_own_law && !self.is_foreign_law
    }
}

/// Placements that people and systems choose without a model.
pub const RULES: [&str; 4] = [
    "the best one node",
    "all nodes, uniform",
    "local: nodes in use, uniform",
    "the kernel's automatic weights",
];

/// A machine whose answers are the truth.
pub struct Truth<'a> {
    /// What loads get, bytes/s.
    pub rates: &'a dyn Fn(&[Load]) -> Vec<f64>,
    pub workers: &'a [Workers],
    pub nodes: &'a [u32],
}

/// Page shares that are moved at a time.
const STEPS: [f64; 4] = [0.125, 0.0625, 0.03125, 0.015_625];

impl Truth<'_> {
    /// Threads x the slowest thread's rate, bytes/s.
    pub fn paced(&self, pages: &[Shares]) -> f64 {
        let load = |(index, it): (usize, &Workers)| {
            let own = pages.get(index).unwrap_or(&pages[0]);
            let on = self.nodes.iter().zip(own).filter(|(_, share)| **share > 1e-6);
            let kept: f64 = on.clone().map(|(_, share)| share).sum();
            let shares = on.map(|(&node, share)| (node, share / kept)).collect();
            Load { initiator: it.initiator, threads: it.threads, shares }
        };
        let loads: Vec<Load> = self.workers.iter().enumerate().map(load).collect();
        let threads: u32 = self.workers.iter().map(|it| it.threads).sum();
        let rates = (self.rates)(&loads);
        let of_one = rates.iter().zip(self.workers).map(|(it, own)| it / f64::from(own.threads));
        f64::from(threads) * of_one.fold(f64::INFINITY, f64::min)
    }

    /// Regrets of [`RULES`]; `carried` is what each node can give to the group of CPUs nearest to it.
    pub fn by_rule(&self, best: f64, own: &[usize], carried: &[f64]) -> [f64; 4] {
        let count = self.nodes.len();
        let regret = |shares: Shares| 1.0 - self.paced(&[shares]) / best;
        let all: Vec<usize> = (0..count).collect();
        // Linux 6.16, mm/mempolicy.c: floor(32 x bandwidth / sum), at least 1.
        let sum: f64 = carried.iter().sum();
        let weights = carried.iter().map(|it| (32.0 * it / sum).floor().max(1.0));
        let weights: Vec<f64> = weights.collect();
        let sum: f64 = weights.iter().sum();
        [
            all.iter().map(|&it| regret(equal(count, &[it]))).fold(1.0, f64::min),
            regret(equal(count, &all)),
            regret(equal(count, own)),
            regret(weights.iter().map(|it| it / sum).collect()),
        ]
    }

    /// The best of a grid over all shares and of `others`, and what exchange makes of the best
    /// three.
    pub fn best_shared(&self, others: &[Shares]) -> f64 {
        let parts = [0, 0, 32, 16, 8, 6, 5, 4, 3][self.nodes.len().min(8)];
        let mut all: Vec<(f64, Vec<Shares>)> = grid(self.nodes.len(), parts)
            .into_iter()
            .chain(others.iter().cloned())
            .map(|shares| vec![shares])
            .map(|pages| (self.paced(&pages), pages))
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.truncate(2);
        self.best_by_exchange(all)
    }

    /// What exchange makes of the best of these, each initiator's pages by themselves.
    pub fn best_private(&self, starts: &[Vec<Shares>]) -> f64 {
        let of = |pages: &Vec<Shares>| (self.paced(pages), pages.clone());
        self.best_by_exchange(starts.iter().map(of).collect())
    }

    fn best_by_exchange(&self, starts: Vec<(f64, Vec<Shares>)>) -> f64 {
        starts.into_iter().map(|start| self.exchange(start)).fold(0.0, f64::max)
    }

    fn exchange(&self, (mut best, mut pages): (f64, Vec<Shares>)) -> f64 {
        let count = self.nodes.len();
        for step in STEPS {
            loop {
                let before = best;
                for of in 0..pages.len() {
                    for place in 0..count * count {
                        let (from, to) = (place / count, place % count);
                        let moved = step.min(pages[of][from]);
                        if from == to || moved < 1e-6 {
                            continue;
                        }
                        let had = pages[of].clone();
                        pages[of][from] -= moved;
                        pages[of][to] += moved;
                        let paced = self.paced(&pages);
                        if paced > best * (1.0 + 1e-6) {
                            best = paced;
                        } else {
                            pages[of] = had;
                        }
                    }
                }
                if best < before * (1.0 + 1e-5) {
                    break;
                }
            }
        }
        best
    }
}

/// Equal shares of some of the nodes.
pub fn equal(count: usize, on: &[usize]) -> Shares {
    let mut shares = vec![0.0; count];
    on.iter().for_each(|&it| shares[it] = 1.0 / on.len() as f64);
    shares
}

/// All shares that are multiples of 1 / parts.
fn grid(nodes: usize, parts: u32) -> Vec<Shares> {
    fn fill(nodes: usize, left: u32, parts: u32, begun: &mut Vec<f64>, all: &mut Vec<Shares>) {
        if nodes == 1 {
            let mut whole = begun.clone();
            whole.push(f64::from(left) / f64::from(parts));
            all.push(whole);
            return;
        }
        for own in 0..=left {
            begun.push(f64::from(own) / f64::from(parts));
            fill(nodes - 1, left - own, parts, begun, all);
            begun.pop();
        }
    }
    let mut all = Vec::new();
    fill(nodes, parts, parts, &mut Vec::new(), &mut all);
    all
}
