//! Threads of initiators and the nodes that their pages may lie on: what placements of the pages
//! give by the flow law.

use fastrand::Rng;
use nearfar_flow::{Capacities, Flows, Load, ScaledLoad};
use nearfar_model::{FittedFlow, FlowCase, FlowLayout};
use nearfar_stats::normal_quantile;
use serde::Serialize;

use crate::side_by_side::side_by_side;

/// Threads of an initiator that work on the program's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Workers {
    pub initiator: u32,
    /// Its threads; at least one.
    pub threads: u32,
}

/// A node that pages may lie on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageNode {
    /// The node's number.
    pub node: u32,
    /// The largest share of the program's pages that finds room on it, 0 to 1.
    pub room_share: f64,
}

/// Shares of pages on each node, in their order; they add up to 1.
pub type Shares = Vec<f64>;

/// A kernel among those that the flow law was fitted to: its useful bytes where parts are full,
/// and a thread's demand in bytes of the first kernel, each against the first kernel's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelRatios {
    /// Of useful bytes.
    pub bytes: f64,
    pub demand: f64,
}

impl KernelRatios {
    pub(crate) const OF_FIRST: Self = Self { bytes: 1.0, demand: 1.0 };
}

/// Who works, on which nodes pages may lie, and by which law.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// What the parts of the machine carry.
    pub capacities: &'a Capacities,
    /// What the threads run.
    pub kernel: KernelRatios,
    /// The threads; of each initiator once.
    pub workers: Vec<Workers>,
    /// Where pages may lie; each node once.
    pub page_nodes: Vec<PageNode>,
    /// The same with other numbers that the record leaves possible; may be empty.
    pub possible: &'a [Capacities],
}

/// Smaller shares are none.
pub(crate) const LEAST_SHARE: f64 = 1e-6;

/// What the slowest part of a program with equally divided work sets, and all of them together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Throughput {
    /// Threads x the slowest thread's rate, useful bytes/s: what divided work gets.
    pub paced: f64,
    /// The sum of all threads, useful bytes/s.
    pub sum: f64,
}

impl Question<'_> {
    pub fn threads(&self) -> u32 {
        self.workers.iter().map(|it| it.threads).sum()
    }

    /// What each initiator's threads get: with one placement for all, or one for each of them in
    /// their order. `None` where the law has no answer.
    pub fn flows(&self, pages: &[Shares]) -> Option<Flows> {
        self.flows_of(self.capacities, pages)
    }

    /// What the threads of each worker ask for; `None` where a worker has no pages.
    pub(crate) fn loads(&self, pages: &[Shares]) -> Option<Vec<Load>> {
        let load = |(index, workers): (usize, &Workers)| {
            let own = pages.get(index).or_else(|| pages.first().filter(|_| pages.len() == 1))?;
            let on = self.page_nodes.iter().zip(own).filter(|(_, share)| **share > LEAST_SHARE);
            let kept: f64 = on.clone().map(|(_, share)| share).sum();
            let shares = on.map(|(page_node, share)| (page_node.node, share / kept)).collect();
            Some(Load { initiator: workers.initiator, threads: workers.threads, shares })
        };
        self.workers.iter().enumerate().map(load).collect()
    }

    fn flows_of(&self, capacities: &Capacities, pages: &[Shares]) -> Option<Flows> {
        let scaled = |load| ScaledLoad { load, demand_scale: self.kernel.demand };
        let loads: Vec<ScaledLoad> = self.loads(pages)?.into_iter().map(scaled).collect();
        capacities.flows(&loads, None).ok()
    }

    /// What the program gets; `None` as of [`Question::flows`].
    pub fn throughput(&self, pages: &[Shares]) -> Option<Throughput> {
        Some(self.throughput_of(&self.flows(pages)?))
    }

    /// The same on each of the machines that are possible.
    pub fn possible_throughputs(&self, pages: &[Shares]) -> Option<Vec<Throughput>> {
        let on = |capacities| Some(self.throughput_of(&self.flows_of(capacities, pages)?));
        self.possible.iter().map(on).collect()
    }

    /// The mean over the machines that are possible; where none are named, of this one.
    pub fn expected_throughput(&self, pages: &[Shares]) -> Option<Throughput> {
        if self.possible.is_empty() {
            return self.throughput(pages);
        }
        let all = self.possible_throughputs(pages)?;
        let mean = |of: fn(&Throughput) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        Some(Throughput { paced: mean(|it| it.paced), sum: mean(|it| it.sum) })
    }

    /// The same of flows that were computed.
    pub fn throughput_of(&self, flows: &Flows) -> Throughput {
        let rates = flows.rates.iter().zip(&self.workers);
        let of_one = rates.map(|(rate, it)| rate / f64::from(it.threads));
        let slowest = of_one.fold(f64::INFINITY, f64::min);
        Throughput {
            paced: slowest * f64::from(self.threads()) * self.kernel.bytes,
            sum: flows.rates.iter().sum::<f64>() * self.kernel.bytes,
        }
    }

    /// The share of all pages on each node: by threads, where each has as much data.
    pub fn share_of_all(&self, pages: &[Shares]) -> Shares {
        if let [one] = pages {
            return one.clone();
        }
        let all = f64::from(self.threads());
        let mut sum = vec![0.0; self.page_nodes.len()];
        for (own, workers) in pages.iter().zip(&self.workers) {
            let part = f64::from(workers.threads) / all;
            sum.iter_mut().zip(own).for_each(|(sum, share)| *sum += part * share);
        }
        sum
    }

    /// Whether pages find room.
    pub fn fits(&self, pages: &[Shares]) -> bool {
        let shares = self.share_of_all(pages);
        shares.iter().zip(&self.page_nodes).all(|(share, it)| *share <= it.room_share + LEAST_SHARE)
    }

    /// What does not find room goes to the other nodes that have some, in proportion to what
    /// they hold, and where they hold nothing to their room. `None` where all are full.
    pub fn fitted(&self, shares: &[f64]) -> Option<Shares> {
        let room: Vec<f64> = self.page_nodes.iter().map(|it| it.room_share).collect();
        let mut fitted = shares.to_vec();
        // Each turn fills at least one node.
        for _ in 0..=room.len() {
            let over: f64 = fitted.iter().zip(&room).map(|(it, room)| (it - room).max(0.0)).sum();
            if over <= LEAST_SHARE {
                return Some(fitted);
            }
            fitted.iter_mut().zip(&room).for_each(|(it, room)| *it = it.min(*room));
            let free = |index: usize| (room[index] - fitted[index]).max(0.0);
            let open: Vec<usize> = (0..room.len()).filter(|&it| free(it) > LEAST_SHARE).collect();
            let held: f64 = open.iter().map(|&it| fitted[it]).sum();
            let weight = |it: usize| if held > LEAST_SHARE { fitted[it] / held } else { 0.0 };
            let all_free: f64 = open.iter().map(|&it| free(it)).sum();
            if all_free + LEAST_SHARE < over {
                return None;
            }
            let added: Vec<(usize, f64)> = open
                .iter()
                .map(|&it| {
                    let by_room = free(it) / all_free;
                    (it, over * if held > LEAST_SHARE { weight(it) } else { by_room })
                })
                .collect();
            added.into_iter().for_each(|(it, more)| fitted[it] += more);
        }
        None
    }
}

/// Machines are drawn in pairs, one off the fit one way, the other the other.
const PAIRS: usize = 6;

/// Twelve machines that the record could as well be of, always the same of the same fit to these cases. A
/// placement that is good on all of them on average loses less to noise, and to what no case tells, than
/// the best one of the fit. Where one has no solution there are fewer.
pub fn possible_machines(
    fitted: &FittedFlow,
    layout: &FlowLayout,
    cases: &[FlowCase],
) -> Vec<Capacities> {
    let both_ways = (0..PAIRS).flat_map(|pair| [(pair, 1.0), (pair, -1.0)]);
    let drawn = side_by_side(&both_ways.collect::<Vec<_>>(), |&(pair, way)| {
        let mut numbers = 0..;
        fitted.possible(layout, cases, || way * numbers.next().map_or(0.0, |it| drawn(it, pair)))
    });
    drawn.into_iter().flatten().collect()
}

/// What a number is off by in a pair of machines, in its standard deviations. Over all pairs its values lie in as
/// many parts of the normal distribution that are equally likely, so that a few machines show what a number
/// alone can do (Latin hypercube; McKay, Beckman and Conover, Technometrics 21, 1979).
fn drawn(number: u64, pair: usize) -> f64 {
    let mut random = Rng::with_seed(number);
    let mut parts: [usize; PAIRS] = std::array::from_fn(|it| it);
    random.shuffle(&mut parts);
    let signs: [bool; PAIRS] = std::array::from_fn(|_| random.bool());
    let within: [f64; PAIRS] = std::array::from_fn(|_| random.f64());
    let half = (parts[pair] as f64 + within[pair]) / PAIRS as f64;
    // Half a normal distribution: the other half is the pair's other machine.
    let off = normal_quantile(0.5 + 0.499 * half).unwrap_or_default();
    if signs[pair] { off } else { -off }
}
