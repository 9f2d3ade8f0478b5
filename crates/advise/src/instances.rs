//! What a program gets that streams its data step by step (a token of a language model, an iteration of a
//! solver), by how many instances of it run and where their data lies.
//!
//! ```text
//! r   = n min over c of x_c / n_c           an instance of n threads, n_c of them of initiator c
//! 1 / (b / r + k) <= steps/s <= 1 / max(b / r, k)
//! ```
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | x_c | what the threads of initiator c get while all instances run, by the flow law or lone pairs | useful bytes/s |
//! | b | what an instance reads in a step | bytes |
//! | k | what a step computes: that of a thread on every core / the share of them that the instance has | s |
//!
//! A step's threads have equal parts of it, so the slowest decides. How much of k hides behind the memory is
//! not known: the value has all of it hidden (the roofline), the interval none. Source: ours. Holds where
//! the data exceeds the caches and each thread has a core. Fails where threads wait for each other, or are
//! more than cores.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{Initiator, Machine, MemoryPolicy, page_weights};
use nearfar_model::{MachinePart, RecordFigures, first_cause};
use nearfar_record::Estimate;
use nearfar_units::{BytesPerSecond, PerSecond, Quantity};

use crate::advice::{AdviceError, Basis, no_own_pair, placings, ranked};
use crate::arrangement::{Arrangement, Arrangements, DataPlace, InstanceKind, Step, StepRates};
use crate::demand::{Demand, DemandError, Pattern};
use crate::lone_pairs::OnNodes;
use crate::question::{KernelRatios, PageNode, Question, Workers};
use crate::room::{room, takes_pages};
use crate::team::{Team, teams};

/// What is asked of all instances.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceQuestion {
    /// Threads of all instances together, one on a core; `None` for one on every core.
    pub threads: Option<u32>,
    /// Share of loads in all bytes, 0 to 1; `None` where not known.
    pub load_share: Option<f64>,
    /// Bytes of the data of which each instance, or each node, can have a copy; `None` where not known.
    pub data_bytes: Option<u64>,
    pub step: Option<Step>,
}

/// An instance and the pages of each of its workers.
struct Instance {
    workers: Vec<Workers>,
    pages: Vec<OnNodes>,
}

/// What instances get on a record's machine, one and several, with their data in one place and copied.
///
/// # Errors
/// [`AdviceError`] where the record or the threads do not allow an answer.
pub fn arrange_instances(
    figures: &RecordFigures<'_>,
    asked: &InstanceQuestion,
) -> Result<Arrangements, AdviceError> {
    let record = figures.record();
    let machine = &record.header.machine;
    if asked.load_share.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
        return Err(DemandError::NoShare.into());
    }
    let demand = Demand {
        threads: asked.threads,
        initiators: None,
        working_set_bytes: asked.data_bytes,
        load_share: asked.load_share,
        pattern: Pattern::Shared,
        seen: None,
    };
    let none = || Team { workers: Vec::new(), cpus: Vec::new(), is_whole: false };
    let team = teams(machine, &demand)?.into_iter().next().unwrap_or_else(none);
    let basis = Basis::of(figures, asked.load_share)?;
    let reached = basis.reached();
    let initiators = machine.initiators();
    let arranging = Arranging { machine, basis: &basis, asked, demand, reached, initiators, team };
    let found = arranging.arrangements();
    if found.is_empty() {
        return Err(AdviceError::NoModel(no_own_pair(record)));
    }
    let unmeasured = arranging.unmeasured();
    Ok(Arrangements::of(found, basis, unmeasured))
}

struct Arranging<'a> {
    machine: &'a Machine,
    basis: &'a Basis,
    asked: &'a InstanceQuestion,
    /// The same of one instance.
    demand: Demand,
    reached: BTreeSet<(u32, u32)>,
    initiators: Vec<Initiator>,
    /// The threads of all initiators.
    team: Team,
}

impl Arranging<'_> {
    fn all(&self) -> &[Workers] {
        &self.team.workers
    }

    fn arrangements(&self) -> Vec<Arrangement> {
        use {DataPlace as Data, InstanceKind as Kind};
        let mut found: Vec<Arrangement> = Vec::new();
        let mut add = |kind, data, instances: Option<Vec<Instance>>| {
            found.extend(instances.and_then(|it| self.arrangement(kind, data, &it)));
        };
        let homes = self.groups(|it| self.own_node(it, 0));
        let packages = self.groups(|it| {
            let own = self.initiators.iter().find(|own| own.index == it)?;
            self.machine.only_package(&own.cpus)
        });
        let ranks =
            0..self.all().iter().map(|it| self.own_nodes(it.initiator).len()).max().unwrap_or(0);
        for (of_node, rank) in homes.iter().flat_map(|it| ranks.clone().map(move |rank| (it, rank)))
        {
            add(Kind::OneOnNode, Data::OneNode, self.on_own(of_node, rank).map(|it| vec![it]));
        }
        if homes.len() > 1 {
            let known = self.interleaved();
            for nodes in &known {
                add(Kind::OneOverAll, Data::Interleaved, Some(vec![spread(self.all(), nodes)]));
            }
            match self.best_shared() {
                Some(MemoryPolicy::Interleave(nodes)) => {
                    let nodes: BTreeSet<u32> = nodes.iter().collect();
                    let is_new = !known.contains(&nodes);
                    let best = is_new.then(|| vec![spread(self.all(), &nodes)]);
                    add(Kind::OneOverAll, Data::Interleaved, best);
                }
                Some(MemoryPolicy::Weighted(weights)) => {
                    let best = vec![weighted(self.all(), &weights)];
                    add(Kind::OneOverAll, Data::Weighted, Some(best));
                }
                _ => {}
            }
            let nodes: BTreeSet<u32> = self.reached.iter().map(|&(_, node)| node).collect();
            for node in nodes.into_iter().filter(|&node| takes_pages(self.machine, node)) {
                let on_one = spread(self.all(), &[node].into());
                add(Kind::OneOverAll, Data::OneNode, Some(vec![on_one]));
            }
            for rank in ranks {
                let whole = || self.on_own(self.all(), rank).map(|it| vec![it]);
                add(Kind::OneOverAll, Data::OwnParts, whole());
                add(Kind::OneOverAll, Data::CopyPerNode, whole());
                let of_each = homes.iter().map(|of_node| self.on_own(of_node, rank));
                add(Kind::OnePerNode, Data::CopyPerNode, of_each.collect());
            }
        }
        if packages.len() > 1 && packages.len() < homes.len() {
            let on_package = |of: &Vec<Workers>| spread(of, &self.homes_of(of));
            for package in &packages {
                add(Kind::OneOnPackage, Data::Interleaved, Some(vec![on_package(package)]));
            }
            let of_each = packages.iter().map(on_package).collect();
            add(Kind::OnePerPackage, Data::CopyPerPackage, Some(of_each));
        }
        found
    }

    /// The nodes of an initiator, that with its CPUs first; the nearest of one without memory.
    fn own_nodes(&self, initiator: u32) -> Vec<u32> {
        let Some(own) = self.initiators.iter().find(|it| it.index == initiator) else {
            return Vec::new();
        };
        let home = self.machine.home_memory(own);
        let others = own.memory_nodes.iter().filter(|&node| Some(node) != home);
        home.into_iter().chain(others).filter(|&node| takes_pages(self.machine, node)).collect()
    }

    fn own_node(&self, initiator: u32, rank: usize) -> Option<u32> {
        self.own_nodes(initiator).get(rank).copied()
    }

    fn homes_of(&self, workers: &[Workers]) -> BTreeSet<u32> {
        workers.iter().filter_map(|it| self.own_node(it.initiator, 0)).collect()
    }

    /// What pages may lie on in turn: the nodes of each kind, and all.
    fn interleaved(&self) -> BTreeSet<BTreeSet<u32>> {
        let nodes =
            || self.machine.nodes.iter().filter(|it| takes_pages(self.machine, it.os_index));
        let of = |kind| nodes().filter(|it| it.kind == kind).map(|it| it.os_index).collect();
        let mut all: BTreeSet<BTreeSet<u32>> = nodes().map(|it| of(it.kind)).collect();
        all.insert(nodes().map(|it| it.os_index).collect());
        all.retain(|it| it.len() > 1);
        all
    }

    /// How the pages of one instance over all lie best by the flow law.
    fn best_shared(&self) -> Option<MemoryPolicy> {
        let teams = std::slice::from_ref(&self.team);
        let placings = placings(teams, self.machine, self.basis, &self.demand, &[]);
        let all = ranked(placings.first()?.candidates(Pattern::Shared, false), Pattern::Shared);
        all.iter().find(|it| it.is_eligible())?.policies.first().cloned()
    }

    /// Workers by what this says of their initiators.
    fn groups(&self, of: impl Fn(u32) -> Option<u32>) -> Vec<Vec<Workers>> {
        let mut groups: BTreeMap<u32, Vec<Workers>> = BTreeMap::new();
        for &worker in self.all() {
            if let Some(key) = of(worker.initiator) {
                groups.entry(key).or_default().push(worker);
            }
        }
        groups.into_values().collect()
    }

    /// Each initiator's pages on one of its own nodes; `None` where one has none of this rank.
    fn on_own(&self, workers: &[Workers], rank: usize) -> Option<Instance> {
        let own = |it: &Workers| Some([(self.own_node(it.initiator, rank)?, 1.0)].into());
        let pages = workers.iter().map(own).collect::<Option<_>>()?;
        Some(Instance { workers: workers.to_vec(), pages })
    }

    /// `None` where a pair in use was not measured.
    fn arrangement(
        &self,
        kind: InstanceKind,
        data: DataPlace,
        instances: &[Instance],
    ) -> Option<Arrangement> {
        let threads = |of: &Instance| of.workers.iter().map(|it| it.threads).sum::<u32>();
        let (rates, limit) = self.rates(instances)?;
        let mut on = OnNodes::new();
        for instance in instances {
            for (worker, pages) in instance.workers.iter().zip(&instance.pages) {
                let part = f64::from(worker.threads) / f64::from(threads(instance));
                for (&node, share) in pages {
                    let on = on.entry(node).or_default();
                    *on = if data == DataPlace::CopyPerNode { 1.0 } else { *on + part * share };
                }
            }
        }
        let copies = match data {
            DataPlace::CopyPerNode => on.len(),
            _ => instances.len(),
        };
        let shares: Vec<(u32, f64)> = on.iter().map(|(&node, &share)| (node, share)).collect();
        let least = |a: &&Estimate<BytesPerSecond>, b: &&Estimate<BytesPerSecond>| {
            a.value.0.total_cmp(&b.value.0)
        };
        let counts: Vec<u32> = instances.iter().map(threads).collect();
        Some(Arrangement {
            instances: kind,
            count: instances.len(),
            threads: counts.iter().sum(),
            data,
            weights: (data == DataPlace::Weighted).then(|| weights(&on)),
            memory_nodes: on.into_keys().collect(),
            alike: Vec::new(),
            copies,
            bytes: self.asked.data_bytes.map(|bytes| bytes.saturating_mul(copies as u64)),
            room: room(self.machine, self.asked.data_bytes, &shares),
            each: rates.iter().min_by(least)?.clone(),
            together: sum(&rates, |it| it.0),
            limit,
            steps: self.asked.step.and_then(|step| self.steps(step, &counts, &rates)),
        })
    }

    /// What each instance gets, and what slows the slowest thread of all.
    fn rates(
        &self,
        instances: &[Instance],
    ) -> Option<(Vec<Estimate<BytesPerSecond>>, Option<MachinePart>)> {
        let workers: Vec<Workers> = instances.iter().flat_map(|it| it.workers.clone()).collect();
        let pages: Vec<OnNodes> = instances.iter().flat_map(|it| it.pages.clone()).collect();
        let mut used = workers
            .iter()
            .zip(&pages)
            .flat_map(|(worker, pages)| pages.keys().map(|&node| (worker.initiator, node)));
        if !used.all(|pair| self.reached.contains(&pair)) {
            return None;
        }
        let threads = |of: &[Workers]| f64::from(of.iter().map(|it| it.threads).sum::<u32>());
        match self.basis {
            Basis::Pairs(pairs) => {
                let all = threads(&workers);
                let team = Team { workers, cpus: Vec::new(), is_whole: false };
                let rate = pairs.rate(&team, &pages)?;
                let part = |it: &Instance| rate.scaled(threads(&it.workers) / all);
                Some((instances.iter().map(part).collect(), None))
            }
            Basis::Flow { flow, kernel, .. } => {
                let &(bytes, demand) = flow.fitted.kernels.get(*kernel)?;
                let nodes: BTreeSet<u32> = pages.iter().flat_map(|it| it.keys().copied()).collect();
                // Without a page there a node has no share.
                let shares = |on: &OnNodes| {
                    nodes.iter().map(|node| on.get(node).copied().unwrap_or(0.0)).collect()
                };
                let question = Question {
                    capacities: &flow.fitted.capacities,
                    kernel: KernelRatios { bytes, demand },
                    workers,
                    page_nodes: nodes
                        .iter()
                        .map(|&node| PageNode { node, room_share: 1.0 })
                        .collect(),
                    possible: &[],
                };
                let pages: Vec<Vec<f64>> = pages.iter().map(shares).collect();
                let flows = question.flows(&pages)?;
                let of_one: Vec<f64> = flows
                    .rates
                    .iter()
                    .zip(&question.workers)
                    .map(|(rate, it)| rate / f64::from(it.threads) * bytes)
                    .collect();
                let slowest = (0..of_one.len()).min_by(|&a, &b| of_one[a].total_cmp(&of_one[b]))?;
                let mut left = of_one.as_slice();
                let rate = |it: &Instance| {
                    let (own, others) = left.split_at(it.workers.len());
                    left = others;
                    let pace = own.iter().copied().fold(f64::INFINITY, f64::min);
                    flow.expected(pace * threads(&it.workers))
                };
                let limit = first_cause(&flows, slowest).and_then(|part| flow.layout.part(part));
                Some((instances.iter().map(rate).collect(), limit))
            }
        }
    }

    fn steps(
        &self,
        step: Step,
        threads: &[u32],
        rates: &[Estimate<BytesPerSecond>],
    ) -> Option<StepRates> {
        let cores = self.machine.allowed_cores(&self.machine.allowed_cpus).len();
        let bytes = step.bytes as f64;
        let of_one = |(&threads, rate): (&u32, &Estimate<BytesPerSecond>)| {
            let compute = step.compute_s * cores as f64 / f64::from(threads);
            let [low, high] = rate.ends().map(|it| bytes / it.0);
            let hidden = |memory: f64| 1.0 / memory.max(compute);
            let value = bytes / rate.value.0;
            let ends = (1.0 / (low + compute), hidden(high));
            (Estimate::<PerSecond>::computed(hidden(value), ends, Vec::new()), compute > value)
        };
        let all: Vec<(Estimate<PerSecond>, bool)> = threads.iter().zip(rates).map(of_one).collect();
        let slowest = all.iter().min_by(|a, b| a.0.value.0.total_cmp(&b.0.value.0));
        let each: Vec<Estimate<PerSecond>> = all.iter().map(|it| it.0.clone()).collect();
        Some(StepRates {
            together: sum(&each, |it| it.0),
            is_bound_by_compute: slowest?.1,
            each: slowest?.0.clone(),
        })
    }

    fn unmeasured(&self) -> Vec<u32> {
        let nodes = self.machine.nodes.iter().map(|it| it.os_index);
        let is_known = |node: u32| self.reached.iter().any(|&(_, it)| it == node);
        nodes.filter(|&node| takes_pages(self.machine, node) && !is_known(node)).collect()
    }
}

/// Pages in turn on each node for these shares.
fn weights(on: &OnNodes) -> BTreeMap<u32, u32> {
    let shares: Vec<f64> = on.values().copied().collect();
    on.keys().copied().zip(page_weights(&shares)).collect()
}

/// Workers whose pages lie in turn over these nodes.
fn spread(workers: &[Workers], nodes: &BTreeSet<u32>) -> Instance {
    let share = 1.0 / nodes.len() as f64;
    let pages: OnNodes = nodes.iter().map(|&node| (node, share)).collect();
    Instance { workers: workers.to_vec(), pages: vec![pages; workers.len()] }
}

/// Workers of whose pages each node has as many in turn as its weight.
fn weighted(workers: &[Workers], weights: &BTreeMap<u32, u32>) -> Instance {
    let sum = f64::from(weights.values().sum::<u32>());
    let pages = weights.iter().map(|(&node, &weight)| (node, f64::from(weight) / sum));
    Instance { workers: workers.to_vec(), pages: vec![pages.collect(); workers.len()] }
}

/// With intervals as if all erred alike.
fn sum<U: Quantity>(all: &[Estimate<U>], raw: impl Fn(U) -> f64) -> Estimate<U> {
    let of = |part: &dyn Fn(&Estimate<U>) -> U| all.iter().map(|it| raw(part(it))).sum::<f64>();
    let ends = (of(&|it| it.ends()[0]), of(&|it| it.ends()[1]));
    Estimate::computed(of(&|it| it.value), ends, Vec::new())
}
