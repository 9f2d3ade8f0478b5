//! Which initiators a program's threads run on.

use std::collections::BTreeSet;

use nearfar_machine::{CpuSet, GroupBy, Initiator, Machine};
use serde::Serialize;

use crate::demand::{Demand, DemandError};
use crate::question::Workers;
use crate::search::MOST_NODES;

/// Threads of initiators, and the CPUs that they run on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Team {
    /// Threads of each initiator.
    #[serde(rename = "threads")]
    pub workers: Vec<Workers>,
    /// A CPU for each thread, of a core of its own.
    #[serde(skip)]
    pub cpus: Vec<CpuSet>,
    /// Whether it has a thread on every core that may be used, and none was asked for by its number.
    #[serde(skip)]
    pub is_whole: bool,
}

impl Team {
    /// The CPUs of all its threads.
    pub fn all_cpus(&self) -> CpuSet {
        self.cpus.iter().flat_map(CpuSet::iter).collect()
    }
}

/// The ways to share out a demand's threads over initiators, evenly: where the initiators are named
/// one, else one for each set of initiators that has a core for each. Of more than
/// [`MOST_NODES`] initiators the sets are each alone, those of a package, and all. The first is how
/// a system shares threads out that nobody places: over all initiators.
///
/// # Errors
/// [`DemandError`] where an initiator is not there, or threads do not find a core each.
pub(crate) fn teams(machine: &Machine, demand: &Demand) -> Result<Vec<Team>, DemandError> {
    let mut initiators: Vec<(Initiator, Vec<CpuSet>)> = Vec::new();
    for initiator in machine.initiators() {
        let cores = cores_in_turn(machine, &initiator);
        if !cores.is_empty() {
            initiators.push((initiator, cores));
        }
    }
    let known: Vec<u32> = initiators.iter().map(|(it, _)| it.index).collect();
    if let Some(named) = &demand.initiators {
        let mut seen = BTreeSet::new();
        for &initiator in named {
            if !known.contains(&initiator) {
                let list: Vec<String> = known.iter().map(u32::to_string).collect();
                return Err(DemandError::NoInitiator { initiator, known: list.join(", ") });
            }
            if !seen.insert(initiator) {
                return Err(DemandError::InitiatorTwice(initiator));
            }
        }
        initiators.retain(|(it, _)| seen.contains(&it.index));
    }
    let cores: usize = initiators.iter().map(|(_, cores)| cores.len()).sum();
    let cores = u32::try_from(cores).unwrap_or(u32::MAX);
    let threads = demand.threads.unwrap_or(cores);
    if threads > cores {
        let initiators =
            if demand.initiators.is_some() { "these initiators have" } else { "there are" };
        return Err(DemandError::TooManyThreads { threads, initiators: initiators.into(), cores });
    }
    let is_named = demand.initiators.is_some();
    if threads == 0 || is_named && (threads as usize) < initiators.len() {
        return Err(DemandError::TooFewThreads { threads, initiators: initiators.len().max(1) });
    }
    let everywhere: Vec<usize> = (0..initiators.len().min(threads as usize)).collect();
    let mut sets = vec![everywhere];
    if !is_named {
        for set in sets_of_initiators(machine, &initiators) {
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
    }
    let is_whole = !is_named && threads == cores;
    let made = sets.iter().filter_map(|set| team(&initiators, set, threads));
    Ok(made.map(|team| Team { is_whole, ..team }).collect())
}

/// The cores of an initiator, one CPU of each, those of its L3 domains in turn: as cases with some of
/// the cores were measured.
fn cores_in_turn(machine: &Machine, initiator: &Initiator) -> Vec<CpuSet> {
    let domains = machine.cpu_groups(GroupBy::L3);
    let own: Vec<&Vec<CpuSet>> =
        domains.iter().filter(|it| it.initiator == initiator.index).map(|it| &it.cores).collect();
    let most = own.iter().map(|cores| cores.len()).max().unwrap_or(0);
    let turn = |place: usize| own.iter().filter_map(move |cores| cores.get(place));
    (0..most).flat_map(turn).filter_map(CpuSet::first).map(CpuSet::single).collect()
}

fn sets_of_initiators(
    machine: &Machine,
    initiators: &[(Initiator, Vec<CpuSet>)],
) -> Vec<Vec<usize>> {
    let count = initiators.len();
    let mut sets: Vec<Vec<usize>> = if count <= MOST_NODES {
        let members = |bits: u32| (0..count).filter(|place| bits >> place & 1 == 1).collect();
        (1..1_u32 << count).map(members).collect()
    } else {
        let of_package = |package: &nearfar_machine::Package| -> Vec<usize> {
            (0..count).filter(|&it| initiators[it].0.cpus.intersects(&package.cpus)).collect()
        };
        let alone = (0..count).map(|it| vec![it]);
        alone.chain(machine.packages.iter().map(of_package)).collect()
    };
    sets.retain(|set| !set.is_empty());
    sets.sort_by_key(Vec::len);
    sets
}

/// Threads dealt out one by one; `None` where they do not find a core each, or an initiator of the set
/// gets none.
fn team(initiators: &[(Initiator, Vec<CpuSet>)], set: &[usize], threads: u32) -> Option<Team> {
    let mut counts = vec![0_usize; set.len()];
    let mut left = threads as usize;
    while left > 0 {
        let before = left;
        for (count, &initiator) in counts.iter_mut().zip(set) {
            if left > 0 && *count < initiators[initiator].1.len() {
                *count += 1;
                left -= 1;
            }
        }
        if left == before {
            return None;
        }
    }
    let mut team = Team { workers: Vec::new(), cpus: Vec::new(), is_whole: false };
    for (&count, &initiator) in counts.iter().zip(set) {
        let (of, cores) = &initiators[initiator];
        team.workers.push(Workers { initiator: of.index, threads: u32::try_from(count).ok()? });
        team.cpus.push(cores.iter().take(count).flat_map(CpuSet::iter).collect());
    }
    team.workers.iter().all(|it| it.threads > 0).then_some(team)
}
