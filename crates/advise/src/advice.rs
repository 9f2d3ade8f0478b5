//! The candidates for a program, ranked, and the one that is worth it.
//!
//! ```text
//! gain   = predicted / predicted of the default - 1
//! worth it: gain >= max(5 %, 2 x model error), by the model that foretells the candidate
//! ```
//!
//! Predicted is threads x the slowest thread's rate: what a program with equally divided work
//! gets. Source: ours. Holds when memory is what the program waits for.
//! Fails where the models fail that it asks; `benches/regret` says how much is lost then.

use std::collections::BTreeSet;

use nearfar_kernels::find;
use nearfar_machine::MemoryPolicy;
use nearfar_model::{Flow, Inapplicable, OverlapBounds, RecordFigures, flow, hybrid};

use crate::candidate::Candidate;
use crate::demand::{Demand, DemandError};
use crate::fast_share;
use crate::placing::Placing;
use crate::question::KernelRatios;
use crate::room::{Room, takes_pages};
use crate::team::{Team, teams};

/// What is advised.
#[derive(Debug, Clone, PartialEq)]
pub enum Advice {
    /// There is one node that pages may lie on, and so nothing to choose.
    OneNode(u32),
    /// Candidates were compared.
    Ranked(Box<Ranking>),
}

/// Candidates for a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The law that foretells most of them.
    pub flow: Flow,
    /// The kernel of that law whose share of loads is nearest to the program's: its position.
    pub kernel: usize,
    /// That kernel's share of loads, where the catalog knows it.
    pub kernel_load_share: Option<f64>,
    /// All, the largest gain first; of nearly equal gains the simpler first.
    pub candidates: Vec<Candidate>,
    /// The position of what happens without advice; `None` where the data finds no room then.
    pub default: Option<usize>,
    /// Whether its pages are where they were seen, and not where the pattern says.
    pub is_default_seen: bool,
    /// The position of the best that is worth it, else of the default; `None` where nothing finds
    /// room.
    pub recommended: Option<usize>,
    /// Nodes that pages may lie on and of which the record lacks figures, so that none is advised.
    pub unmeasured: Vec<u32>,
}

/// Why nothing is advised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdviceError {
    #[error("no flow model: {0}")]
    NoModel(Inapplicable),
    #[error(transparent)]
    Demand(#[from] DemandError),
}

/// Teams that are looked at in full, beside the one that the system would make.
const MOST_TEAMS: usize = 3;

/// Predictions that differ by a smaller fraction are the same: the simpler goes first.
const SAME: f64 = 0.002;

/// What to do with a program on a record's machine.
///
/// # Errors
/// [`AdviceError`] where the record or the demand does not allow an answer.
pub fn advise(figures: &RecordFigures<'_>, demand: &Demand) -> Result<Advice, AdviceError> {
    let machine = &figures.record().header.machine;
    if demand.load_share.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
        return Err(DemandError::NoShare.into());
    }
    let nodes = machine.nodes.iter().map(|node| node.os_index);
    let usable: Vec<u32> = nodes.filter(|&node| takes_pages(machine, node)).collect();
    let teams = teams(machine, demand)?;
    if let [only] = usable[..] {
        return Ok(Advice::OneNode(only));
    }
    let flow = flow(figures).map_err(AdviceError::NoModel)?;
    let hybrid = demand.load_share.and_then(|_| hybrid(figures, OverlapBounds::NotNegative).ok());
    let (kernel, kernel_load_share) = nearest_kernel(&flow, demand.load_share);
    let Some(&(bytes, demanded)) = flow.fitted.kernels.get(kernel) else {
        return Err(DemandError::NotMeasured.into());
    };
    let kernel_ratios = KernelRatios { bytes, demand: demanded };
    let place = |team: &Team| Placing::new(machine, &flow, kernel_ratios, demand, team);
    let mut placings: Vec<(f64, Placing<'_>)> = teams
        .iter()
        .filter_map(place)
        .filter_map(|placing| Some((placing.promise()?, placing)))
        .collect();
    let default_team = teams.first();
    let is_default = |placing: &Placing<'_>| Some(&placing.team) == default_team;
    if !placings.iter().any(|(_, placing)| is_default(placing)) {
        return Err(DemandError::NotMeasured.into());
    }
    // Of teams that promise the same the smaller stands first.
    let level = |promise: f64| (promise.ln() / SAME).round();
    placings.sort_by(|a, b| {
        let initiators = |placing: &Placing<'_>| placing.team.workers.len();
        level(b.0).total_cmp(&level(a.0)).then(initiators(&a.1).cmp(&initiators(&b.1)))
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
    let mut is_default_seen = false;
    let of_pair = default_team
        .and_then(|team| fast_share::candidates(hybrid.as_ref(), machine, demand, team));
    let mut all = of_pair.unwrap_or_else(|| {
        let mut all = Vec::new();
        let mut by_itself = None;
        for (place, (_, placing)) in placings.iter_mut().enumerate() {
            if is_default(placing) {
                by_itself = placing.default_candidate();
                is_default_seen = by_itself.is_some() && placing.as_seen().is_some();
            }
            let is_by_initiator = place == 0 || is_default(placing);
            all.extend(placing.candidates(is_by_initiator));
        }
        let mut all = measure_by_default(all, by_itself.as_ref(), flow.least_difference());
        all.extend(by_itself);
        all
    });
    rank(&mut all);
    let default = all.iter().position(|it| it.is_default);
    let is_worth = |it: &Candidate| it.is_eligible() && it.is_claimed;
    let recommended = all.iter().position(is_worth).or_else(|| {
        // Without a default that finds room, the best that does.
        default.or_else(|| all.iter().position(Candidate::is_eligible))
    });
    let reached: BTreeSet<u32> = flow.reached.iter().map(|&(_, node)| node).collect();
    Ok(Advice::Ranked(Box::new(Ranking {
        kernel,
        kernel_load_share,
        candidates: all,
        default,
        is_default_seen,
        recommended,
        unmeasured: usable.into_iter().filter(|node| !reached.contains(node)).collect(),
        flow,
    })))
}

/// The position of the kernel whose share of loads is nearest to what is asked; the first where
/// nothing is asked or known.
fn nearest_kernel(flow: &Flow, load_share: Option<f64>) -> (usize, Option<f64>) {
    let share = |name: &String| {
        let kernel = find(name)?;
        let (loads, stores) = (f64::from(kernel.loads()), f64::from(kernel.stores()));
        (loads + stores > 0.0).then(|| loads / (loads + stores))
    };
    let known: Vec<Option<f64>> = flow.layout.kernels.iter().map(share).collect();
    let first = known.first().copied().flatten();
    let Some(asked) = load_share else { return (0, first) };
    let off = |share: &Option<f64>| share.map_or(f64::INFINITY, |share| (share - asked).abs());
    let nearest = known.iter().enumerate().min_by(|a, b| off(a.1).total_cmp(&off(b.1)));
    nearest.map_or((0, first), |(position, share)| (position, *share))
}

/// Gains over the default. Without a default none is known, and none is claimed.
fn measure_by_default(
    all: Vec<Candidate>,
    default: Option<&Candidate>,
    least_gain: f64,
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
        let is_default =
            default.is_some_and(|it| is_known(it) && !candidate.needs_change && is_alike(it));
        if is_default || distinct.iter().any(is_known) {
            continue;
        }
        if let Some(default) = default {
            let gain = candidate.predicted.value / default.predicted.value - 1.0;
            (candidate.gain, candidate.is_claimed) = (Some(gain), gain >= least_gain);
        }
        distinct.push(candidate);
    }
    distinct
}

/// The largest gain first; those that are nearly as good as the best, the simplest first:
/// those that find room, by how pages are placed, on how many initiators and nodes.
fn rank(all: &mut [Candidate]) {
    all.sort_by(|a, b| b.worth().total_cmp(&a.worth()));
    let is_in_reach = |it: &Candidate| matches!(it.room, Room::Fits | Room::Unknown);
    let Some(first) = all.iter().find(|it| is_in_reach(it)).map(Candidate::worth) else { return };
    let near = all.partition_point(|it| it.worth() >= first * (1.0 - SAME));
    let nodes = |it: &Candidate| -> usize {
        it.policies.iter().filter_map(MemoryPolicy::nodes).map(|nodes| nodes.len()).sum()
    };
    if let Some(nearly_best) = all.get_mut(..near) {
        let initiators = |it: &Candidate| it.team.workers.len();
        nearly_best.sort_by_key(|it| (!is_in_reach(it), it.kind, initiators(it), nodes(it)));
    }
}
