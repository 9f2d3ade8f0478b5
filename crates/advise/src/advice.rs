//! The candidates for a program, ranked, and the one that is worth it.
//!
//! ```text
//! gain   = predicted / predicted of the default - 1
//! worth it: gain >= max(5 %, 2 x model error), by the model that predicts the candidate; or
//!           a mean gain >= 5 % on 12 machines that the record leaves possible, none of which loses
//!           2.5 %, or >= 2 % where none loses anything
//! ```
//!
//! Predicted is threads x the slowest thread's rate: what a program with equally divided work
//! gets. Of candidates that cannot be told from the best the one goes first that asks least of its
//! user ([`least_effort`]). Source: ours. Holds when memory is what the program waits for.
//! Fails where the models fail that it asks; `benches/regret` says how much is lost then.

use std::collections::BTreeSet;

use nearfar_flow::Capacities;
use nearfar_kernels::find;
use nearfar_machine::Machine;
use nearfar_model::{Flow, Hybrid, Inapplicable, OverlapBounds, RecordFigures, flow, hybrid};
use nearfar_record::{Absence, Absent, Coordinates, Estimate, Experiment, Record, Suite};
use nearfar_units::BytesPerSecond;

use crate::candidate::{
    AdvisingModel, Candidate, CandidateKind, LEAST_GAIN, MOST_TOLERANCE, is_claimed, least_effort,
    mean,
};
use crate::demand::{Demand, DemandError, Pattern};
use crate::fast_share;
use crate::lone_pairs::LonePairs;
use crate::placing::Placing;
use crate::question::{KernelRatios, possible_machines};
use crate::room::takes_pages;
use crate::side_by_side::side_by_side;
use crate::team::{Team, teams};

/// What is advised.
#[derive(Debug, Clone, PartialEq)]
pub enum Advice {
    /// There is one node that pages may lie on, and so nothing to choose.
    OneNode(u32),
    /// Candidates were compared.
    Ranked(Box<Ranking>),
}

/// What predictions rest on.
#[derive(Debug, Clone, PartialEq)]
pub enum Basis {
    Flow {
        flow: Box<Flow>,
        /// The position of its kernel whose share of loads is nearest to the program's.
        kernel: usize,
        /// That kernel's share of loads, where the catalog knows it.
        kernel_load_share: Option<f64>,
    },
    /// Lone pairs, where the record does not hold what the flow model needs.
    Pairs(Box<LonePairs>),
}

/// Candidates for a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// What most of them are predicted by.
    pub basis: Basis,
    /// How threads use the data.
    pub pattern: Pattern,
    /// All, the largest gain first, but for that which is as good as the best as far as can be told and
    /// asks least of its user: that stands before all.
    pub candidates: Vec<Candidate>,
    /// The position of what happens without advice; `None` where the data finds no room then.
    pub default: Option<usize>,
    /// Whether its pages are where they were seen, and not where the pattern says.
    pub is_default_seen: bool,
    /// The position of the best that is worth it, else of the default; `None` where nothing finds
    /// room.
    pub recommended: Option<usize>,
    /// What the default's threads get where each uses its own part of the data, on its own node; `None`
    /// where the parts find no room there.
    pub own_parts: Option<Estimate<BytesPerSecond>>,
    /// Whether what is recommended gives less than that.
    pub is_below_own_parts: bool,
    /// Nodes that pages may lie on and of which the record lacks figures, so that none is advised.
    pub unmeasured: Vec<u32>,
}

/// Why nothing is advised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdviceError {
    /// The record holds too little.
    #[error("no advice: {0}")]
    NoModel(Inapplicable),
    #[error(transparent)]
    Demand(#[from] DemandError),
}

/// Teams that are looked at in full, beside the one that the system would make.
const MOST_TEAMS: usize = 3;

/// Predictions that differ by a smaller fraction are the same.
const SAME: f64 = 0.002;

/// What to do with a program on a record's machine.
///
/// # Errors
/// [`AdviceError`] where the record or the demand does not allow an answer.
pub fn advise(figures: &RecordFigures<'_>, demand: &Demand) -> Result<Advice, AdviceError> {
    let mut each = advise_each(figures, demand, &[demand.pattern])?;
    Ok(each.remove(0))
}

/// The same for each of these patterns in place of the demand's.
///
/// # Errors
/// As [`advise`].
pub fn advise_each(
    figures: &RecordFigures<'_>,
    demand: &Demand,
    patterns: &[Pattern],
) -> Result<Vec<Advice>, AdviceError> {
    let record = figures.record();
    let machine = &record.header.machine;
    if demand.load_share.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
        return Err(DemandError::NoShare.into());
    }
    if demand.working_set_bytes == Some(0) {
        return Err(DemandError::NoData.into());
    }
    if demand.initiators.as_ref().is_some_and(Vec::is_empty) {
        return Err(DemandError::NoInitiators.into());
    }
    let nodes = machine.nodes.iter().map(|node| node.os_index);
    let usable: Vec<u32> = nodes.filter(|&node| takes_pages(machine, node)).collect();
    let teams = teams(machine, demand)?;
    if let [only] = usable[..] {
        return Ok(vec![Advice::OneNode(only); patterns.len()]);
    }
    let basis = Basis::of(figures, demand.load_share)?;
    // Where its two memories are all there is: threads that use both at a time hinder each other, which the
    // flow model does not know. Beside more memories two of them are not what there is to choose from.
    let may_be_hybrid = usable.len() == fast_share::MEMORIES;
    let hybrid = may_be_hybrid.then(|| hybrid(figures, OverlapBounds::NotNegative).ok()).flatten();
    let reached: BTreeSet<u32> = basis.reached().into_iter().map(|(_, node)| node).collect();
    let unmeasured: Vec<u32> = usable.into_iter().filter(|node| !reached.contains(node)).collect();
    let possible = match &basis {
        Basis::Flow { flow, .. } => possible_machines(&flow.fitted, &flow.layout, &flow.cases),
        Basis::Pairs(_) => Vec::new(),
    };
    let placings = placings(&teams, machine, &basis, demand, &possible);
    let of = |&pattern: &Pattern| {
        let demand = Demand { pattern, ..demand.clone() };
        let asked = Asked { machine, demand: &demand, teams: &teams, hybrid: hybrid.as_ref() };
        let found = match &basis {
            Basis::Flow { flow, .. } => asked.by_flow(flow, &placings),
            Basis::Pairs(pairs) => asked.by_pairs(pairs),
        };
        let found = found.ok_or_else(|| AdviceError::NoModel(no_own_pair(record)))?;
        let unmeasured = unmeasured.clone();
        Ok(Advice::Ranked(Box::new(Ranking::of(found, basis.clone(), pattern, unmeasured))))
    };
    patterns.iter().map(of).collect()
}

pub(crate) fn no_own_pair(record: &Record) -> Inapplicable {
    let why = "the record has no lone figure of these CPUs with their own memory";
    let initiators = record.header.machine.initiators();
    let is_own = |of: &Coordinates| match of {
        Coordinates::Pairs(pair) => initiators
            .iter()
            .any(|it| it.index == pair.initiator && it.memory_nodes.contains(pair.memory_node)),
        _ => false,
    };
    let is_refused =
        |it: &&Absent| it.absence == Absence::Refused && it.coordinates.iter().any(is_own);
    // What the machine refused once it would refuse again.
    if let Some(refused) = record.absent.iter().find(is_refused) {
        return Inapplicable::here(format!("{why}, which was refused: {}", refused.reason.text));
    }
    Inapplicable::until_measured(record, &[Experiment::Pairs], Suite::Standard, why)
}

impl Basis {
    pub(crate) fn of(
        figures: &RecordFigures<'_>,
        load_share: Option<f64>,
    ) -> Result<Self, AdviceError> {
        let without_flow = match flow(figures) {
            Ok(flow) => {
                let (kernel, kernel_load_share) = nearest_kernel(&flow, load_share);
                return Ok(Self::Flow { flow: Box::new(flow), kernel, kernel_load_share });
            }
            Err(without) => without,
        };
        let pairs = LonePairs::of(figures, load_share, without_flow);
        let without = || Inapplicable::without(figures.record(), Experiment::Pairs);
        Ok(Self::Pairs(Box::new(pairs.ok_or_else(|| AdviceError::NoModel(without()))?)))
    }

    /// Pairs of initiator and node of which there are figures.
    pub(crate) fn reached(&self) -> BTreeSet<(u32, u32)> {
        match self {
            Self::Flow { flow, .. } => flow.reached.clone(),
            Self::Pairs(pairs) => pairs.reached(),
        }
    }
}

/// By the flow model the teams that were measured, and what is asked of each; empty without figures of the
/// kernel.
pub(crate) fn placings<'a>(
    teams: &[Team],
    machine: &'a Machine,
    basis: &'a Basis,
    demand: &'a Demand,
    possible: &'a [Capacities],
) -> Vec<Placing<'a>> {
    let Basis::Flow { flow, kernel, .. } = basis else { return Vec::new() };
    let Some(&(bytes, demanded)) = flow.fitted.kernels.get(*kernel) else { return Vec::new() };
    let kernel = KernelRatios { bytes, demand: demanded };
    let of = |team| Placing::new(machine, flow, kernel, demand, possible, team);
    teams.iter().filter_map(of).collect()
}

/// A demand, and the teams that may meet it, the system's own first.
struct Asked<'a> {
    machine: &'a Machine,
    demand: &'a Demand,
    teams: &'a [Team],
    hybrid: Option<&'a Hybrid>,
}

/// Candidates, and what they are compared with.
struct Found {
    candidates: Vec<Candidate>,
    is_default_seen: bool,
    own_parts: Option<Estimate<BytesPerSecond>>,
}

impl Asked<'_> {
    /// `None` where the default team was not measured.
    fn by_flow(&self, flow: &Flow, placings: &[Placing<'_>]) -> Option<Found> {
        let Self { machine, demand, .. } = *self;
        let pattern = demand.pattern;
        let promised = |placing| Some((Placing::promise(placing, pattern)?, placing));
        let mut placings: Vec<(f64, &Placing<'_>)> = placings.iter().filter_map(promised).collect();
        let default_team = self.teams.first()?;
        let is_default = |placing: &Placing<'_>| placing.team == *default_team;
        let own = placings.iter().map(|(_, it)| *it).find(|it| is_default(it))?;
        let own_parts = own.own_parts();
        // Of teams that promise the same the smaller stands first.
        let level = |promise: f64| (promise.ln() / SAME).round();
        placings.sort_by(|a, b| {
            let initiators = |placing: &Placing<'_>| placing.team.workers.len();
            level(b.0).total_cmp(&level(a.0)).then(initiators(a.1).cmp(&initiators(b.1)))
        });
        let mut promised: Vec<f64> = Vec::new();
        placings.retain(|(promise, placing)| {
            let is_new = promised.iter().all(|known| (promise / known - 1.0).abs() > SAME);
            let is_kept = is_new && promised.len() < MOST_TEAMS;
            if is_kept {
                promised.push(*promise);
            }
            is_kept || is_default(placing)
        });
        if let Some(candidates) = fast_share::candidates(self.hybrid, machine, demand, default_team)
        {
            // What own parts would reach is the flow model's, which knows loads alone: no figure beside these.
            return Some(Found { candidates, is_default_seen: false, own_parts: None });
        }
        let default = own.default_candidate(pattern);
        let is_default_seen = default.is_some() && own.as_seen().is_some();
        let first = &placings.first()?.1.team;
        let all = side_by_side(&placings, |(_, placing)| {
            let is_by_initiator = placing.team == *first || is_default(placing);
            placing.candidates(pattern, is_by_initiator)
        });
        let all: Vec<Candidate> = all.into_iter().flatten().collect();
        let least = flow.least_difference();
        // Where the default was measured a gain is one over that as well.
        let measured = own.measured_default(pattern);
        let is_above_measured = |own: &Candidate| {
            measured.is_none_or(|before| own.predicted.value.0 / before - 1.0 >= LEAST_GAIN)
        };
        let is_claimed = |gain: f64, own: &Candidate, default: &Candidate| {
            is_claimed(gain, &own.possible_gains(default), least) && is_above_measured(own)
        };
        let candidates = measured_by(all, default, is_claimed);
        Some(Found { candidates, is_default_seen, own_parts })
    }

    /// The same by lone pairs. A gain is claimed that comes whatever shared parts carry.
    fn by_pairs(&self, pairs: &LonePairs) -> Option<Found> {
        let Self { machine, demand, teams, .. } = *self;
        let own_parts = pairs.own_parts(machine, demand, teams.first()?)?;
        let default = pairs.default_candidate(machine, demand, teams.first()?);
        let is_default_seen = default.as_ref().is_some_and(|(_, is_seen)| *is_seen);
        let of = |team: &Team| pairs.candidates(machine, demand, team);
        let (default_team, others) = teams.split_first()?;
        // Of which parts more initiators share nothing is known but their packages.
        let others = others.iter().filter(|team| team.workers.len() == 1 || pairs.is_package(team));
        let all: Vec<Candidate> =
            std::iter::once(default_team).chain(others).flat_map(of).collect();
        let is_claimed = |_: f64, candidate: &Candidate, default: &Candidate| {
            let ends = candidate.predicted.ends().into_iter().zip(default.predicted.ends());
            ends.into_iter().all(|(own, before)| own.0 / before.0 - 1.0 >= LEAST_GAIN)
        };
        let candidates = measured_by(all, default.map(|(default, _)| default), is_claimed);
        Some(Found { candidates, is_default_seen, own_parts })
    }
}

impl Ranking {
    fn of(found: Found, basis: Basis, pattern: Pattern, unmeasured: Vec<u32>) -> Self {
        let candidates = ranked(found.candidates, pattern);
        let default = candidates.iter().position(|it| it.is_default);
        let is_worth = |it: &Candidate| it.is_eligible() && it.is_claimed;
        let recommended = candidates.iter().position(is_worth).or_else(|| {
            // Without a default that finds room, the best that does.
            default.or_else(|| candidates.iter().position(Candidate::is_eligible))
        });
        let best = recommended.and_then(|it| candidates.get(it));
        let is_below = |own: &Estimate<BytesPerSecond>| {
            best.is_some_and(|it| it.predicted.value.0 < own.value.0 * (1.0 - MOST_TOLERANCE))
        };
        Self {
            is_below_own_parts: found.own_parts.as_ref().is_some_and(is_below),
            basis,
            pattern,
            default,
            is_default_seen: found.is_default_seen,
            recommended,
            candidates,
            own_parts: found.own_parts,
            unmeasured,
        }
    }
}

/// The position of the kernel whose share of loads is nearest to what is asked; the first where
/// nothing is asked or known.
fn nearest_kernel(flow: &Flow, load_share: Option<f64>) -> (usize, Option<f64>) {
    let share = |name: &String| load_share_of(name);
    let known: Vec<Option<f64>> = flow.layout.kernels.iter().map(share).collect();
    let first = known.first().copied().flatten();
    let Some(asked) = load_share else { return (0, first) };
    let off = |share: &Option<f64>| share.map_or(f64::INFINITY, |share| (share - asked).abs());
    let nearest = known.iter().enumerate().min_by(|a, b| off(a.1).total_cmp(&off(b.1)));
    nearest.map_or((0, first), |(position, share)| (position, *share))
}

/// Share of loads of a kernel of the catalog.
pub(crate) fn load_share_of(kernel: &str) -> Option<f64> {
    let kernel = find(kernel)?;
    let (loads, stores) = (f64::from(kernel.loads()), f64::from(kernel.stores()));
    (loads + stores > 0.0).then(|| loads / (loads + stores))
}

/// Candidates with their gains over the default, which stands last. Without a default none is known, and
/// none is claimed.
fn measured_by(
    all: Vec<Candidate>,
    default: Option<Candidate>,
    is_claimed: impl Fn(f64, &Candidate, &Candidate) -> bool,
) -> Vec<Candidate> {
    let mut distinct: Vec<Candidate> = Vec::new();
    for mut candidate in all {
        let is_known =
            |it: &Candidate| it.team == candidate.team && it.policies == candidate.policies;
        // The default of private data is the local placement of its team.
        let is_alike = |it: &Candidate| {
            it.room == candidate.room
                && (candidate.predicted.value / it.predicted.value - 1.0).abs() <= SAME
        };
        let is_default = |it: &Candidate| is_known(it) && !candidate.needs_change && is_alike(it);
        if default.as_ref().is_some_and(is_default) || distinct.iter().any(is_known) {
            continue;
        }
        if let Some(default) = &default {
            let gain = candidate.predicted.value / default.predicted.value - 1.0;
            candidate.gain = Some(gain);
            candidate.mean_gain = mean(&candidate.possible_gains(default));
            candidate.is_claimed = is_claimed(gain, &candidate, default);
        }
        distinct.push(candidate);
    }
    distinct.extend(default);
    distinct
}

/// The largest gain first, but before all that of the ones as good as the best, as far as can be told,
/// which asks least. Those of a kind that cannot be told from each other are one.
pub(crate) fn ranked(mut all: Vec<Candidate>, pattern: Pattern) -> Vec<Candidate> {
    all.sort_by(|a, b| b.worth().total_cmp(&a.worth()));
    let Some(tolerance) = all.iter().find(|it| it.is_eligible()).map(tolerance) else {
        return together(all, SAME, pattern);
    };
    let least = {
        let eligible: Vec<(usize, &Candidate)> =
            all.iter().enumerate().filter(|(_, it)| it.is_eligible()).collect();
        let first = least_effort(
            &eligible,
            tolerance,
            |(_, it)| it.worth(),
            |(_, it)| &it.possible,
            |(_, it)| it.effort(),
        );
        first.and_then(|first| eligible.get(first)).map(|(place, _)| *place)
    };
    if let Some(before_it) = least.and_then(|place| all.get_mut(..=place)) {
        before_it.rotate_right(1);
    }
    together(all, tolerance, pattern)
}

/// Predictions within this fraction of a candidate's cannot be told from it.
fn tolerance(best: &Candidate) -> f64 {
    let reach = match best.model {
        AdvisingModel::Pairs => MOST_TOLERANCE,
        AdvisingModel::Flow | AdvisingModel::Hybrid => best.predicted.relative_half_width(),
    };
    reach.clamp(SAME, MOST_TOLERANCE)
}

/// Candidates of a kind, on as many initiators and nodes, that cannot be told from the first of them, as
/// its ties.
fn together(all: Vec<Candidate>, tolerance: f64, pattern: Pattern) -> Vec<Candidate> {
    let mut heads: Vec<Candidate> = Vec::new();
    // Pages on one node are what happens where one thread writes them first.
    let is_default_node = |head: &Candidate, it: &Candidate| {
        head.is_default
            && pattern != Pattern::Private
            && head.kind == CandidateKind::FirstTouch
            && it.kind == CandidateKind::OneNode
            && head.team == it.team
    };
    let is_tie = |head: &Candidate, it: &Candidate| {
        let is_of_kind =
            !head.is_default && head.effort() == it.effort() || is_default_node(head, it);
        let is_near = (it.predicted.value / head.predicted.value - 1.0).abs() <= tolerance;
        let is_as_good = it.room == head.room && it.needs_change == head.needs_change;
        is_of_kind && is_near && is_as_good && it.is_claimed == head.is_claimed
    };
    // The default is a head wherever it stands.
    let default = all.iter().find(|it| it.is_default).cloned();
    for candidate in all {
        if default.as_ref().is_some_and(|head| !candidate.is_default && is_tie(head, &candidate)) {
            continue;
        }
        match heads.iter_mut().find(|head| !candidate.is_default && is_tie(head, &candidate)) {
            Some(head) => head.ties.push(candidate.bindings()),
            None => heads.push(candidate),
        }
    }
    heads
}
