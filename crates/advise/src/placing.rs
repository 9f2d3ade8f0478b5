//! The candidates of one team by the flow model.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use nearfar_flow::Capacities;
use nearfar_machine::{Initiator, MOST_PAGES_IN_TURN, Machine, MemoryPolicy, page_weights};
use nearfar_model::{Flow, first_cause};
use nearfar_record::Estimate;
use nearfar_units::BytesPerSecond;

use crate::candidate::{AdvisingModel, Candidate, CandidateKind, are_alike};
use crate::closed_form::Bounds;
use crate::demand::{Demand, Pattern};
use crate::question::{KernelRatios, LEAST_SHARE, PageNode, Question, Shares, Throughput, Workers};
use crate::room::{room, room_share, takes_pages};
use crate::search::equal_shares;
use crate::team::Team;

/// So many of the best starts are candidates, beside each lone node and all nodes.
const KEPT: usize = 10;

/// A program's accesses to nodes that nothing is known of may be this share: what is left of it are
/// pages of its libraries.
const MOST_UNKNOWN: f64 = 0.02;

/// A team's question, and what the machine says of its nodes.
pub(crate) struct Placing<'a> {
    pub team: Team,
    machine: &'a Machine,
    flow: &'a Flow,
    demand: &'a Demand,
    question: Question<'a>,
    /// Of each worker the positions of all nodes, those that the kernel would fill first first.
    orders: Vec<Vec<usize>>,
    initiators: Vec<Initiator>,
    /// What is found for data that all threads use alike, whatever else the patterns ask.
    shared: OnceLock<Vec<Candidate>>,
}

impl<'a> Placing<'a> {
    /// `None` where an initiator has no figures with the node that its pages come to lie on by
    /// themselves, or with no node.
    pub fn new(
        machine: &'a Machine,
        flow: &'a Flow,
        kernel: KernelRatios,
        demand: &'a Demand,
        possible: &'a [Capacities],
        team: &Team,
    ) -> Option<Self> {
        let workers = &team.workers;
        let is_reached =
            |&node: &u32| workers.iter().all(|it| flow.reached.contains(&(it.initiator, node)));
        let known = flow.layout.nodes.iter().copied().filter(is_reached);
        let page_node = |node| {
            let room_share = room_share(machine, node, demand.working_set_bytes);
            PageNode { node, room_share }
        };
        let page_nodes: Vec<PageNode> =
            known.filter(|&it| takes_pages(machine, it)).map(page_node).collect();
        let all = machine.initiators();
        let own = |initiator: u32| all.iter().find(|it| it.index == initiator).cloned();
        let initiators: Vec<Initiator> =
            workers.iter().map(|it| own(it.initiator)).collect::<Option<_>>()?;
        let orders = initiators.iter().map(|it| fallback_order(machine, it, &page_nodes));
        let orders: Vec<Vec<usize>> = orders.collect::<Option<_>>()?;
        let question = Question {
            capacities: &flow.fitted.capacities,
            kernel,
            workers: workers.clone(),
            page_nodes,
            possible,
        };
        let (team, shared) = (team.clone(), OnceLock::new());
        Some(Self { team, machine, flow, demand, question, orders, initiators, shared })
    }

    /// Where the accesses of each initiator went when the program was seen with nobody placing it, where
    /// that is known of every node that they went to.
    pub fn as_seen(&self) -> Option<Vec<Shares>> {
        let seen = self.demand.seen.as_ref()?;
        let of_worker = |worker: &Workers| {
            let on = seen.of(worker.initiator);
            // A node that is not named was not accessed; what is not known is held below.
            let share = |it: &PageNode| on.get(&it.node).copied().unwrap_or(0.0);
            let shares: Shares = self.question.page_nodes.iter().map(share).collect();
            let known: f64 = shares.iter().sum();
            let is_whole = known.is_finite() && (known - 1.0).abs() < MOST_UNKNOWN;
            is_whole.then(|| shares.iter().map(|share| share / known).collect())
        };
        self.question.workers.iter().map(of_worker).collect()
    }

    /// Pages as they come to lie by themselves: as they were seen, else by the pattern; `None` where
    /// there is no room for all.
    fn by_itself(&self, pattern: Pattern) -> Option<Vec<Shares>> {
        if let Some(seen) = self.as_seen() {
            return Some(seen);
        }
        let homes = if pattern == Pattern::Private { self.orders.len() } else { 1 };
        let start: Vec<Shares> = self.orders[..homes].iter().map(|it| self.alone(it[0])).collect();
        if self.question.fits(&start) {
            return Some(start);
        }
        if let [_] = start.as_slice() {
            return Some(vec![self.filled(&self.orders[0])?]);
        }
        // Each initiator's part of the data goes on to other nodes as far as all of them leave room.
        let mut left: Vec<f64> = self.question.page_nodes.iter().map(|it| it.room_share).collect();
        let threads = f64::from(self.question.threads());
        let mut pages = vec![vec![0.0; left.len()]; homes];
        for round in 0..left.len() {
            for (worker, order) in self.orders.iter().enumerate() {
                let part = f64::from(self.question.workers[worker].threads) / threads;
                let placed: f64 = pages[worker].iter().sum();
                let more = ((1.0 - placed) * part).min(left[order[round]]).max(0.0);
                left[order[round]] -= more;
                pages[worker][order[round]] += more / part;
            }
        }
        let is_whole = |own: &Shares| (own.iter().sum::<f64>() - 1.0).abs() < 1e-6;
        pages.iter().all(is_whole).then_some(pages)
    }

    /// Threads x the slowest thread's rate at most, as far as a few placements tell.
    pub fn promise(&self, pattern: Pattern) -> Option<f64> {
        let count = self.question.page_nodes.len();
        let everything: Vec<usize> = (0..count).collect();
        let bounds = Bounds::of(&self.question)?;
        let mut looks = vec![
            vec![bounds.in_proportion(&everything)],
            vec![bounds.nearest_first(&everything)],
            vec![equal_shares(&self.own_nodes(), count)],
        ];
        if matches!(pattern, Pattern::Private | Pattern::Regular) {
            looks.push(self.local());
        }
        let paced = |pages: &Vec<Shares>| Some(self.question.throughput(pages)?.paced);
        looks.iter().filter_map(paced).reduce(f64::max)
    }

    /// All candidates of this team, without their gains; of private data also those with pages of
    /// each initiator's own where that is asked for, which takes a longer search.
    pub fn candidates(&self, pattern: Pattern, is_by_initiator: bool) -> Vec<Candidate> {
        let mut all = self.shared.get_or_init(|| self.shared_candidates()).clone();
        if matches!(pattern, Pattern::Private | Pattern::Regular) {
            all.extend(self.local_candidate(pattern));
        }
        let is_private = pattern == Pattern::Private;
        if is_by_initiator && is_private && self.team.workers.len() > 1 {
            let uniform = vec![self.everywhere(); self.team.workers.len()];
            let mut beginnings = vec![self.local(), uniform];
            if let Some(by_itself) = self.by_itself(pattern) {
                beginnings.retain(|it| *it != by_itself);
                beginnings.push(by_itself);
            }
            if let Some(best) = self.question.search_private(beginnings) {
                all.extend(self.of_shares(best));
            }
        }
        all
    }

    fn shared_candidates(&self) -> Vec<Candidate> {
        let found = self.question.search_shared(&self.groups());
        let is_lone = |shares: &Shares| shares.iter().filter(|it| **it > 0.0).count() == 1;
        let everywhere = self.everywhere();
        let own = equal_shares(&self.own_nodes(), everywhere.len());
        let mut starts = found.starts;
        starts.sort_by(|a, b| b.1.total_cmp(&a.1));
        let kept = starts.into_iter().enumerate().filter(|(rank, (shares, _))| {
            *rank < KEPT || is_lone(shares) || *shares == everywhere || *shares == own
        });
        let best = found.best.into_iter().flatten();
        let shared = best.chain(kept.map(|(_, (shares, _))| shares));
        shared.filter_map(|shares| self.of_shares(vec![shares])).collect()
    }

    /// What happens without advice.
    pub fn default_candidate(&self, pattern: Pattern) -> Option<Candidate> {
        let pages = self.by_itself(pattern)?;
        let is_local = pattern == Pattern::Private && self.as_seen().is_none();
        let kind = if is_local { CandidateKind::Local } else { CandidateKind::FirstTouch };
        let mut own = self.candidate(kind, vec![MemoryPolicy::FirstTouch], &pages)?;
        (own.is_default, own.gain) = (true, Some(0.0));
        Some(own)
    }

    /// What the record's own case of that moved, threads x the slowest thread's rate, useful bytes/s; `None`
    /// where it has none, or of another kernel.
    pub fn measured_default(&self, pattern: Pattern) -> Option<f64> {
        self.measured(&self.by_itself(pattern)?)
    }

    fn measured(&self, pages: &[Shares]) -> Option<f64> {
        let is_of_kernel = self.question.kernel == KernelRatios::OF_FIRST;
        is_of_kernel.then(|| self.flow.measured_pace(&self.question.loads(pages)?))?
    }

    /// What this team gets where each thread uses its own part of the data on its own node; `None` where
    /// the parts find no room there.
    pub fn own_parts(&self) -> Option<Estimate<BytesPerSecond>> {
        let pages = self.local();
        let flows = self.question.fits(&pages).then(|| self.question.throughput(&pages));
        Some(self.flow.expected(flows??.paced))
    }

    fn local_candidate(&self, pattern: Pattern) -> Option<Candidate> {
        let first_touch = vec![MemoryPolicy::FirstTouch];
        let mut own = self.candidate(CandidateKind::Local, first_touch, &self.local())?;
        own.needs_change = pattern == Pattern::Regular;
        Some(own)
    }

    /// The candidate with weights for these shares; of several only where they differ.
    fn of_shares(&self, pages: Vec<Shares>) -> Option<Candidate> {
        let rounded: Vec<(CandidateKind, MemoryPolicy, Shares)> =
            self.weights(&pages).iter().map(|own| self.policy(own)).collect::<Option<_>>()?;
        let (kind, policies) = match rounded.as_slice() {
            [(kind, policy, _)] => (*kind, vec![policy.clone()]),
            all if all.iter().all(|it| it.1 == all[0].1) => return None,
            _ if pages == self.local() => return None,
            all => (CandidateKind::ByInitiator, all.iter().map(|it| it.1.clone()).collect()),
        };
        let pages: Vec<Shares> = rounded.into_iter().map(|it| it.2).collect();
        self.candidate(kind, policies, &pages)
    }

    /// The weights that come nearest to shares; those of pages that find room do so as well, but where
    /// there is hardly any room left: then a node is too full whatever is taken off another.
    fn weights(&self, pages: &[Shares]) -> Vec<Vec<u32>> {
        let mut weights: Vec<Vec<u32>> = pages.iter().map(|own| page_weights(own)).collect();
        if !self.question.fits(pages) {
            return weights;
        }
        // Each turn takes from every worker a page in turn off a node that is too full.
        for _ in 0..MOST_PAGES_IN_TURN {
            let given: Vec<Shares> = weights.iter().map(|own| shares_of(own)).collect();
            let all = self.question.share_of_all(&given);
            let is_full = |(share, it): (&f64, &PageNode)| *share > it.room_share + LEAST_SHARE;
            let Some(full) = all.iter().zip(&self.question.page_nodes).position(is_full) else {
                return weights;
            };
            for own in &mut weights {
                let times = MOST_PAGES_IN_TURN / own.iter().sum::<u32>().max(1);
                own.iter_mut().for_each(|weight| *weight *= times.max(1));
                own[full] = own[full].saturating_sub(1);
                *own = page_weights(&shares_of(own));
            }
        }
        weights
    }

    /// The policy with weights, and the shares that it gives; `None` where all are 0.
    fn policy(&self, weights: &[u32]) -> Option<(CandidateKind, MemoryPolicy, Shares)> {
        let on: BTreeMap<u32, u32> = self
            .question
            .page_nodes
            .iter()
            .zip(weights)
            .filter(|(_, weight)| **weight > 0)
            .map(|(page_node, &weight)| (page_node.node, weight))
            .collect();
        let given = shares_of(weights);
        let (&first, &weight) = on.first_key_value()?;
        let (kind, policy) = if on.len() == 1 {
            (CandidateKind::OneNode, MemoryPolicy::Preferred(first))
        } else if on.values().all(|&it| it == weight) {
            (CandidateKind::Interleave, MemoryPolicy::Interleave(on.keys().copied().collect()))
        } else {
            (CandidateKind::Weighted, MemoryPolicy::Weighted(on))
        };
        Some((kind, policy, given))
    }

    fn candidate(
        &self,
        kind: CandidateKind,
        policies: Vec<MemoryPolicy>,
        pages: &[Shares],
    ) -> Option<Candidate> {
        let flows = self.question.flows(pages)?;
        let predicted = self.question.throughput_of(&flows).paced;
        let possible = self.question.possible_throughputs(pages)?;
        let rate = |index: usize| flows.rates[index] / f64::from(self.team.workers[index].threads);
        let slowest = (0..flows.rates.len()).min_by(|&a, &b| rate(a).total_cmp(&rate(b)))?;
        let cause = first_cause(&flows, slowest);
        let shares = self.question.share_of_all(pages);
        let on: Vec<(u32, f64)> =
            self.question.page_nodes.iter().map(|it| it.node).zip(shares).collect();
        let used = on.iter().filter(|(_, share)| *share > LEAST_SHARE).map(|(node, _)| *node);
        let used: Vec<u32> = used.collect();
        let is_sound = predicted.is_finite() && predicted > 0.0;
        is_sound.then(|| {
            let expected = self.flow.expected(predicted);
            let is_told = cause.is_none_or(|part| self.flow.fitted.is_told(part));
            let highest = expected.ends()[1].0;
            let predicted = if is_told { expected } else { open_upward(expected, &possible) };
            let is_open = predicted.ends()[1].0 > highest * (1.0 + WORTH_TELLING);
            let room = room(self.machine, self.demand.working_set_bytes, &on);
            let made =
                Candidate::new(kind, &self.team, policies, AdvisingModel::Flow, predicted, room);
            Candidate {
                measured: self.measured(pages).map(BytesPerSecond),
                possible: possible.into_iter().map(|it| BytesPerSecond(it.paced)).collect(),
                is_open,
                is_alike: are_alike(&self.flow.fitted.capacities, used),
                limit: cause.and_then(|part| self.flow.layout.part(part)),
                ..made.over_all_of(self.machine)
            }
        })
    }

    /// Each initiator's pages on the node where they come to lie by themselves.
    fn local(&self) -> Vec<Shares> {
        self.orders.iter().map(|it| self.alone(it[0])).collect()
    }

    fn alone(&self, page_node: usize) -> Shares {
        equal_shares(&[page_node], self.question.page_nodes.len())
    }

    fn everywhere(&self) -> Shares {
        let count = self.question.page_nodes.len();
        equal_shares(&(0..count).collect::<Vec<_>>(), count)
    }

    fn own_nodes(&self) -> Vec<usize> {
        let mut own: Vec<usize> = self.orders.iter().map(|it| it[0]).collect();
        own.sort_unstable();
        own.dedup();
        own
    }

    /// As much on each node as finds room there, in this order.
    fn filled(&self, order: &[usize]) -> Option<Shares> {
        let mut left = 1.0_f64;
        let mut shares = vec![0.0; order.len()];
        for &page_node in order {
            shares[page_node] = left.min(self.question.page_nodes[page_node].room_share);
            left -= shares[page_node];
        }
        (left < 1e-6).then_some(shares)
    }

    /// The nodes of the initiators in use, those of each package, and those of each kind.
    fn groups(&self) -> Vec<Vec<usize>> {
        let of = |is_own: &dyn Fn(&nearfar_machine::MemoryNode) -> bool| -> Vec<usize> {
            let page_nodes = self.question.page_nodes.iter().enumerate();
            let own = page_nodes.filter(|(_, it)| self.machine.node(it.node).is_some_and(is_own));
            own.map(|(index, _)| index).collect()
        };
        let near = |initiator: &Initiator| {
            of(&|node: &nearfar_machine::MemoryNode| initiator.memory_nodes.contains(node.os_index))
        };
        let mut groups = vec![self.own_nodes()];
        groups.extend(self.initiators.iter().map(near));
        let packages = self.machine.packages.iter();
        groups.extend(packages.map(|package| of(&|node| node.locality.intersects(&package.cpus))));
        let kinds: Vec<_> = self.machine.nodes.iter().map(|node| node.kind).collect();
        groups.extend(kinds.into_iter().map(|kind| of(&|node| node.kind == kind)));
        groups
    }
}

/// What weights give each node; 0 where all are 0.
fn shares_of(weights: &[u32]) -> Shares {
    let sum = f64::from(weights.iter().sum::<u32>().max(1));
    weights.iter().map(|&weight| f64::from(weight) / sum).collect()
}

/// The nodes in the order in which the kernel fills them for an initiator: its own or nearest, the
/// others by distance. `None` without nodes, and where the first node has no
/// figures.
fn fallback_order(
    machine: &Machine,
    initiator: &Initiator,
    page_nodes: &[PageNode],
) -> Option<Vec<usize>> {
    let home = machine.home_memory(initiator)?;
    page_nodes.iter().find(|it| it.node == home)?;
    let key = |&index: &usize| {
        let node = page_nodes[index].node;
        let distance = machine.distance(home, node);
        // Nodes without a distance come behind those with one.
        let is_foreign = !initiator.memory_nodes.contains(node);
        (node != home, distance.is_none(), distance, is_foreign, node)
    };
    let mut order: Vec<usize> = (0..page_nodes.len()).collect();
    order.sort_by_key(key);
    Some(order)
}

/// A range that goes up by less than this fraction more is as wide as the model's error.
const WORTH_TELLING: f64 = 0.01;

/// What a placement is expected to give whose limit no case fills: up to the most that a machine gives
/// which the record leaves possible.
fn open_upward(of: Estimate<BytesPerSecond>, possible: &[Throughput]) -> Estimate<BytesPerSecond> {
    let [low, high] = of.ends().map(|end| end.0);
    let paced = possible.iter().map(|it| it.paced).filter(|it| it.is_finite());
    Estimate::computed(of.value.0, (low, paced.fold(high, f64::max)), of.cases)
}
