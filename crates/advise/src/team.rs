//! Which clusters a program's threads run on.

use std::collections::BTreeSet;

use nearfar_machine::{Cluster, CpuSet, InitiatorKind, Machine};
use serde::Serialize;

use crate::demand::{Demand, DemandError};
use crate::question::Workers;
use crate::subsets::MOST_NODES;

/// Threads of clusters, and the CPUs that they run on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Team {
    /// Threads of each cluster.
    #[serde(rename = "threads")]
    pub workers: Vec<Workers>,
    /// A CPU for each thread, of a core of its own.
    #[serde(skip)]
    pub cpus: Vec<CpuSet>,
}

impl Team {
    /// The CPUs of all its threads.
    pub fn all_cpus(&self) -> CpuSet {
        self.cpus.iter().flat_map(CpuSet::iter).collect()
    }
}

/// The ways to share out a demand's threads over clusters, evenly: where the clusters are named
/// one, else one for each set of clusters that has a core for each. Of more than
/// [`MOST_NODES`] clusters the sets are each alone, those of a package, and all. The first is how
/// a system shares threads out that nobody places: over all clusters.
///
/// # Errors
/// [`DemandError`] where a cluster is not there, or threads do not find a core each.
pub(crate) fn teams(machine: &Machine, demand: &Demand) -> Result<Vec<Team>, DemandError> {
    let mut clusters: Vec<(Cluster, Vec<CpuSet>)> = Vec::new();
    for cluster in machine.clusters() {
        let cores = cores_in_turn(machine, &cluster);
        if !cores.is_empty() {
            clusters.push((cluster, cores));
        }
    }
    let known: Vec<u32> = clusters.iter().map(|(it, _)| it.index).collect();
    if let Some(named) = &demand.clusters {
        let mut seen = BTreeSet::new();
        for &cluster in named {
            if !known.contains(&cluster) {
                let list: Vec<String> = known.iter().map(u32::to_string).collect();
                return Err(DemandError::NoCluster { cluster, known: list.join(", ") });
            }
            if !seen.insert(cluster) {
                return Err(DemandError::ClusterTwice(cluster));
            }
        }
        clusters.retain(|(it, _)| seen.contains(&it.index));
    }
    let cores: usize = clusters.iter().map(|(_, cores)| cores.len()).sum();
    let cores = u32::try_from(cores).unwrap_or(u32::MAX);
    let threads = demand.threads.unwrap_or(cores);
    if threads > cores {
        let clusters = if demand.clusters.is_some() { "these clusters have" } else { "there are" };
        return Err(DemandError::TooManyThreads { threads, clusters: clusters.into(), cores });
    }
    let is_named = demand.clusters.is_some();
    if threads == 0 || is_named && (threads as usize) < clusters.len() {
        return Err(DemandError::TooFewThreads { threads, clusters: clusters.len().max(1) });
    }
    let everywhere: Vec<usize> = (0..clusters.len().min(threads as usize)).collect();
    let mut sets = vec![everywhere];
    if !is_named {
        for set in sets_of_clusters(machine, &clusters) {
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
    }
    Ok(sets.iter().filter_map(|set| team(&clusters, set, threads)).collect())
}

/// The cores of a cluster, one CPU of each, those of its L3 domains in turn: as cases with some of
/// the cores were measured.
fn cores_in_turn(machine: &Machine, cluster: &Cluster) -> Vec<CpuSet> {
    let domains = machine.initiators(InitiatorKind::L3);
    let own: Vec<&Vec<CpuSet>> =
        domains.iter().filter(|it| it.cluster == cluster.index).map(|it| &it.cores).collect();
    let most = own.iter().map(|cores| cores.len()).max().unwrap_or(0);
    let turn = |place: usize| own.iter().filter_map(move |cores| cores.get(place));
    (0..most).flat_map(turn).filter_map(CpuSet::first).map(CpuSet::single).collect()
}

fn sets_of_clusters(machine: &Machine, clusters: &[(Cluster, Vec<CpuSet>)]) -> Vec<Vec<usize>> {
    let count = clusters.len();
    let mut sets: Vec<Vec<usize>> = if count <= MOST_NODES {
        let members = |bits: u32| (0..count).filter(|place| bits >> place & 1 == 1).collect();
        (1..1_u32 << count).map(members).collect()
    } else {
        let of_package = |package: &nearfar_machine::Package| -> Vec<usize> {
            (0..count).filter(|&it| clusters[it].0.cpus.intersects(&package.cpus)).collect()
        };
        let alone = (0..count).map(|it| vec![it]);
        alone.chain(machine.packages.iter().map(of_package)).collect()
    };
    sets.retain(|set| !set.is_empty());
    sets.sort_by_key(Vec::len);
    sets
}

/// Threads dealt out one by one; `None` where they do not find a core each, or a cluster of the set
/// gets none.
fn team(clusters: &[(Cluster, Vec<CpuSet>)], set: &[usize], threads: u32) -> Option<Team> {
    let mut counts = vec![0_usize; set.len()];
    let mut left = threads as usize;
    while left > 0 {
        let before = left;
        for (count, &cluster) in counts.iter_mut().zip(set) {
            if left > 0 && *count < clusters[cluster].1.len() {
                *count += 1;
                left -= 1;
            }
        }
        if left == before {
            return None;
        }
    }
    let mut team = Team { workers: Vec::new(), cpus: Vec::new() };
    for (&count, &cluster) in counts.iter().zip(set) {
        let (of, cores) = &clusters[cluster];
        team.workers.push(Workers { cluster: of.index, threads: u32::try_from(count).ok()? });
        team.cpus.push(cores.iter().take(count).flat_map(CpuSet::iter).collect());
    }
    team.workers.iter().all(|it| it.threads > 0).then_some(team)
}
