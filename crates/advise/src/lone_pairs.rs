//! What placements give as far as lone pairs tell: bounds, where a record lacks what the flow model
//! takes.
//!
//! ```text
//! N r    r the rate of each of N threads, initiators c with n_c threads, pages by shares s_cm
//! r <= 1 / sum over m of s_cm / (P_cm / n_c)        narrow: one node after the other, as fast as alone
//! r <= P_cm / (n_c s_cm), 1 / sum over m of s_cm / d_cm    wide: each path full, d_cm of one thread
//! r * sum over c of n_c s_cm <= K_m                 the controller
//! r * sum over c of p, m of q of n_c s_cm <= L_pq   the link from package p to package q
//! ```
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | P_cm | what n_c threads of initiator c move alone to or from node m | useful bytes/s |
//! | K_m, L_pq | narrow: the most that any lone pair moves there; wide: all pairs' together | useful bytes/s |
//!
//! Of counts of threads that were not measured P is on the chord between those that were (narrow), or
//! in proportion to the fewest (wide). Source: ours. Holds when a part carries at least what its
//! fastest lone pair moves. Fails when streams slow each other beyond that; then less comes than
//! the narrow bound says.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{GroupBy, Initiator, Machine, MemoryPolicy};
use nearfar_model::{Inapplicable, RecordFigures, pairs};
use nearfar_record::Estimate;
use nearfar_units::BytesPerSecond;

use crate::advice::load_share_of;
use crate::candidate::{AdvisingModel, Candidate, CandidateKind};
use crate::demand::{Demand, Pattern};
use crate::question::Workers;
use crate::room::{Room, room, takes_pages};
use crate::team::Team;

/// Figures of lone pairs with one kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct LonePairs {
    pub kernel: String,
    /// Its share of loads, where the catalog knows it.
    pub load_share: Option<f64>,
    /// Why there is no flow model.
    pub without_flow: Inapplicable,
    /// Medians by initiator, node and threads, useful bytes/s.
    cells: BTreeMap<(u32, u32), BTreeMap<u32, f64>>,
    initiators: Vec<Initiator>,
    /// The node for the pages of each.
    homes: BTreeMap<u32, u32>,
    /// The package of each initiator, and of each node, that has one.
    packages: [BTreeMap<u32, u32>; 2],
}

/// Rates of a placement, or what a part carries: if shared parts carry no more than a lone pair moves,
/// and if they carry all that several move.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bounds {
    narrow: f64,
    wide: f64,
}

/// Shares of pages by node.
pub(crate) type OnNodes = BTreeMap<u32, f64>;

impl LonePairs {
    /// The kernel whose share of loads is nearest to what is asked; `None` without pairs.
    pub(crate) fn of(
        figures: &RecordFigures<'_>,
        load_share: Option<f64>,
        without_flow: Inapplicable,
    ) -> Option<Self> {
        let matrix = pairs(figures);
        let machine = &figures.record().header.machine;
        let initiators = machine.initiators();
        let packages = [
            initiators
                .iter()
                .filter_map(|it| Some((it.index, machine.only_package(&it.cpus)?)))
                .collect(),
            machine
                .nodes
                .iter()
                .filter_map(|it| Some((it.os_index, machine.only_package(&it.locality)?)))
                .collect(),
        ];
        let off = |name: &String| match (load_share, load_share_of(name)) {
            (Some(asked), Some(known)) => (asked - known).abs(),
            _ => 0.0,
        };
        let kernel = matrix.kernels.iter().min_by(|a, b| off(a).total_cmp(&off(b)))?.clone();
        let mut cells: BTreeMap<(u32, u32), BTreeMap<u32, f64>> = BTreeMap::new();
        for (group, node, name, threads, cell) in matrix.cells() {
            let row = matrix.cpu_groups.iter().find(|row| row.index == group)?;
            if let Some(best) = cell.best()
                && name == kernel
                && row.group_by == GroupBy::Memory
            {
                let known = cells.entry((row.initiator, node)).or_default();
                known.insert(threads, best.summary.sum.median);
            }
        }
        let load_share = load_share_of(&kernel);
        let homes = initiators.iter();
        let homes = homes.filter_map(|own| Some((own.index, machine.home_memory(own)?))).collect();
        let found = Self { kernel, load_share, without_flow, cells, initiators, homes, packages };
        (!found.cells.is_empty()).then_some(found)
    }

    /// Pairs of initiator and node of which there are figures.
    pub(crate) fn reached(&self) -> BTreeSet<(u32, u32)> {
        self.cells.keys().copied().collect()
    }

    /// Whether a team is on all initiators of a package.
    pub(crate) fn is_package(&self, team: &Team) -> bool {
        let package = |initiator: &u32| self.packages[0].get(initiator);
        let own: Vec<u32> = team.workers.iter().map(|it| it.initiator).collect();
        let first = own.first().and_then(package);
        let of_first = self.packages[0].values().filter(|it| Some(*it) == first).count();
        first.is_some() && own.len() == of_first && own.iter().all(|it| package(it) == first)
    }

    /// What `threads` threads of an initiator move alone.
    fn alone(&self, initiator: u32, node: u32, threads: u32) -> Option<Bounds> {
        let known = self.cells.get(&(initiator, node))?;
        if let Some(&measured) = known.get(&threads) {
            return Some(Bounds { narrow: measured, wide: measured });
        }
        let count = f64::from(threads);
        let (&fewest, &least) = known.first_key_value()?;
        let below = known.range(..threads).next_back();
        let (at, rate) = below.map_or((0.0, 0.0), |(&at, &rate)| (f64::from(at), rate));
        let most = known.values().copied().fold(0.0, f64::max);
        let narrow = match known.range(threads..).next() {
            Some((&above, &reached)) => {
                rate + (reached - rate) * (count - at) / (f64::from(above) - at)
            }
            None => rate,
        };
        Some(Bounds { narrow, wide: (least * count / f64::from(fewest)).min(most).max(narrow) })
    }

    /// What a thread of the fewest that were measured moves.
    fn one_thread(&self, initiator: u32, node: u32) -> Option<f64> {
        let (&fewest, &least) = self.cells.get(&(initiator, node))?.first_key_value()?;
        Some(least / f64::from(fewest))
    }

    /// The most that any of these pairs moves, and what all initiators of them move together.
    fn carried(&self, is_part: impl Fn(u32, u32) -> bool) -> Bounds {
        let mut by_initiator: BTreeMap<u32, f64> = BTreeMap::new();
        for (&(initiator, node), rates) in &self.cells {
            if is_part(initiator, node) {
                let most = by_initiator.entry(initiator).or_default();
                *most = rates.values().copied().fold(*most, f64::max);
            }
        }
        Bounds {
            narrow: by_initiator.values().copied().fold(0.0, f64::max),
            wide: by_initiator.values().sum(),
        }
    }

    /// Threads x the rate of each, with one placement for all or one for each initiator; `None` where
    /// a pair in use was not measured.
    fn paced(&self, team: &Team, pages: &[OnNodes]) -> Option<Bounds> {
        let [of_initiators, of_nodes] = &self.packages;
        let package_of = |initiator: u32| of_initiators.get(&initiator).copied();
        let home_of = |node: u32| of_nodes.get(&node).copied();
        let mut rate = Bounds { narrow: f64::INFINITY, wide: f64::INFINITY };
        let mut on_node: BTreeMap<u32, f64> = BTreeMap::new();
        let mut on_link: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for (place, workers) in team.workers.iter().enumerate() {
            let shares = pages.get(place).or(pages.first())?;
            let threads = f64::from(workers.threads);
            let mut seconds = Bounds { narrow: 0.0, wide: 0.0 };
            for (&node, &share) in shares.iter().filter(|(_, share)| **share > 0.0) {
                let alone = self.alone(workers.initiator, node, workers.threads)?;
                seconds.narrow += share * threads / alone.narrow;
                seconds.wide += share / self.one_thread(workers.initiator, node)?;
                rate.wide = rate.wide.min(alone.wide / (threads * share));
                *on_node.entry(node).or_default() += threads * share;
                let ends = package_of(workers.initiator).zip(home_of(node));
                if let Some(ends) = ends.filter(|(from, to)| from != to) {
                    *on_link.entry(ends).or_default() += threads * share;
                }
            }
            rate.limit(Bounds { narrow: 1.0 / seconds.narrow, wide: 1.0 / seconds.wide }, 1.0);
        }
        for (node, demand) in on_node {
            rate.limit(self.carried(|_, of| of == node), demand);
        }
        for ((from, to), demand) in on_link {
            let is_across =
                |initiator, node| package_of(initiator) == Some(from) && home_of(node) == Some(to);
            rate.limit(self.carried(is_across), demand);
        }
        let threads: f64 = team.workers.iter().map(|it| f64::from(it.threads)).sum();
        let all = Bounds { narrow: rate.narrow * threads, wide: rate.wide * threads };
        (all.narrow > 0.0 && all.wide.is_finite()).then_some(all)
    }

    /// What threads get of an instance, at the pace of the slowest of all, with pages for each initiator.
    pub(crate) fn rate(&self, team: &Team, pages: &[OnNodes]) -> Option<Estimate<BytesPerSecond>> {
        Some(estimate(self.paced(team, pages)?))
    }

    /// Each initiator's pages on its own node.
    fn local_pages(&self, team: &Team) -> Option<Vec<OnNodes>> {
        let alone = |worker: &Workers| Some([(*self.homes.get(&worker.initiator)?, 1.0)].into());
        team.workers.iter().map(alone).collect()
    }

    /// What a team gets where each thread uses its own part of the data on its own node; `None` where that
    /// was not measured, within it where the parts find no room.
    pub(crate) fn own_parts(
        &self,
        machine: &Machine,
        demand: &Demand,
        team: &Team,
    ) -> Option<Option<Estimate<BytesPerSecond>>> {
        let pages = self.local_pages(team)?;
        let what = (CandidateKind::Local, MemoryPolicy::FirstTouch);
        let own = self.candidate(machine, demand, team, what, &pages)?;
        Some((!matches!(own.room, Room::TooSmall { .. })).then_some(own.predicted))
    }

    /// What happens without advice; whether that was seen.
    pub(crate) fn default_candidate(
        &self,
        machine: &Machine,
        demand: &Demand,
        team: &Team,
    ) -> Option<(Candidate, bool)> {
        let local = self.local_pages(team)?;
        let seen = seen_pages(demand, team);
        let is_seen = seen.is_some();
        let (kind, pages) = match (seen, demand.pattern) {
            (Some(pages), _) => (CandidateKind::FirstTouch, pages),
            (None, Pattern::Private) => (CandidateKind::Local, local),
            (None, _) => (CandidateKind::FirstTouch, local.into_iter().take(1).collect()),
        };
        let own =
            self.candidate(machine, demand, team, (kind, MemoryPolicy::FirstTouch), &pages)?;
        let fits = is_seen || !matches!(own.room, Room::TooSmall { .. });
        fits.then_some((Candidate { is_default: true, gain: Some(0.0), ..own }, is_seen))
    }

    /// A team's candidates without their gains: each node, and page by page over all nodes, those of
    /// the initiators in use, of each package and of each kind.
    pub(crate) fn candidates(
        &self,
        machine: &Machine,
        demand: &Demand,
        team: &Team,
    ) -> Vec<Candidate> {
        let is_reached = |node: u32| {
            team.workers.iter().all(|it| self.cells.contains_key(&(it.initiator, node)))
        };
        let nodes = machine.nodes.iter().map(|node| node.os_index);
        let nodes: Vec<u32> =
            nodes.filter(|&it| takes_pages(machine, it) && is_reached(it)).collect();
        let of = |is_of: &dyn Fn(u32) -> bool| -> BTreeSet<u32> {
            nodes.iter().copied().filter(|&node| is_of(node)).collect()
        };
        let in_use = |it: &&Initiator| team.workers.iter().any(|own| own.initiator == it.index);
        let mut groups: Vec<BTreeSet<u32>> = nodes.iter().map(|&node| [node].into()).collect();
        groups.push(of(&|_| true));
        groups.push(of(&|node| {
            self.initiators.iter().filter(in_use).any(|it| it.memory_nodes.contains(node))
        }));
        for package in &machine.packages {
            groups.push(of(&|node| {
                machine.node(node).is_some_and(|it| it.locality.intersects(&package.cpus))
            }));
        }
        for other in &machine.nodes {
            groups.push(of(&|node| machine.node(node).is_some_and(|it| it.kind == other.kind)));
        }
        let mut seen = BTreeSet::new();
        groups.retain(|group| !group.is_empty() && seen.insert(group.clone()));
        let spread = |group: &BTreeSet<u32>| {
            let share = 1.0 / group.len() as f64;
            let pages = vec![group.iter().map(|&node| (node, share)).collect()];
            let policy = match group.first() {
                Some(&only) if group.len() == 1 => {
                    (CandidateKind::OneNode, MemoryPolicy::Preferred(only))
                }
                _ => {
                    let nodes = group.iter().copied().collect();
                    (CandidateKind::Interleave, MemoryPolicy::Interleave(nodes))
                }
            };
            self.candidate(machine, demand, team, policy, &pages)
        };
        let mut all: Vec<Candidate> = groups.iter().filter_map(spread).collect();
        if matches!(demand.pattern, Pattern::Private | Pattern::Regular) {
            let policy = (CandidateKind::Local, MemoryPolicy::FirstTouch);
            let pages = self.local_pages(team);
            let local = pages.and_then(|it| self.candidate(machine, demand, team, policy, &it));
            all.extend(local.map(|local| Candidate {
                needs_change: demand.pattern == Pattern::Regular,
                ..local
            }));
        }
        all
    }

    fn candidate(
        &self,
        machine: &Machine,
        demand: &Demand,
        team: &Team,
        (kind, policy): (CandidateKind, MemoryPolicy),
        pages: &[OnNodes],
    ) -> Option<Candidate> {
        let bounds = self.paced(team, pages)?;
        let all: f64 = team.workers.iter().map(|it| f64::from(it.threads)).sum();
        let mut on: OnNodes = BTreeMap::new();
        for (place, workers) in team.workers.iter().enumerate() {
            for (&node, share) in pages.get(place).or(pages.first())? {
                *on.entry(node).or_default() += share * f64::from(workers.threads) / all;
            }
        }
        let on: Vec<(u32, f64)> = on.into_iter().collect();
        let room = room(machine, demand.working_set_bytes, &on);
        let predicted = estimate(bounds);
        let made = Candidate::new(kind, team, vec![policy], AdvisingModel::Pairs, predicted, room);
        Some(made.over_all_of(machine))
    }
}

impl Bounds {
    /// A rate at which so much of what is carried is asked for is not above it.
    fn limit(&mut self, carried: Self, demand: f64) {
        self.narrow = self.narrow.min(carried.narrow / demand);
        self.wide = self.wide.min(carried.wide / demand);
    }
}

/// Between both bounds, at equal factors from them.
fn estimate(bounds: Bounds) -> Estimate<BytesPerSecond> {
    let middle = (bounds.narrow * bounds.wide).sqrt();
    Estimate::computed(middle, (bounds.narrow, bounds.wide), Vec::new())
}

/// Where the accesses of each initiator were seen to go.
fn seen_pages(demand: &Demand, team: &Team) -> Option<Vec<OnNodes>> {
    let seen = demand.seen.as_ref()?;
    let of = |worker: &Workers| {
        let on = seen.of(worker.initiator);
        let known: f64 = on.values().sum();
        let is_known = known.is_finite() && known > 0.0;
        is_known.then(|| on.iter().map(|(&node, share)| (node, share / known)).collect())
    };
    team.workers.iter().map(of).collect()
}
