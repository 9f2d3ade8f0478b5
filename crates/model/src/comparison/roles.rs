//! Machines of different kinds beside each other: what the same kernel and number of threads reach where
//! memory lies alike, whatever the machines' nodes are called and however many they are.

use std::collections::{BTreeMap, HashSet};

use nearfar_machine::{CpuSet, Machine, Relation, Relations};
use nearfar_record::{
    ChaseWalk, Coordinates, LatencyCoordinates, PairCoordinates, Record, Stage, pages_in_turn,
};
use nearfar_stats::median;
use nearfar_units::words;
use serde::{Deserialize, Serialize};

use super::compared_record::ComparedRecord;
use super::figure::{ComparedFigures, Figure, Quantity};

/// What two machines reach, of all pairs of cores and memory that lie alike.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRole {
    /// Where the memory lies.
    pub memory: Relation,
    /// The kernel; null of the idle time of an access.
    pub kernel: Option<String>,
    pub threads: RoleThreads,
    /// The median over pairs.
    #[serde(flatten)]
    pub figures: ComparedFigures,
    /// Pairs of the first machine.
    pub a_pairs: usize,
    /// Of the second.
    pub b_pairs: usize,
    /// b / a.
    pub ratio: f64,
}

/// Threads of a group of CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RoleThreads {
    One,
    /// One on each core of the group.
    All,
}

words!(RoleThreads);

/// Idle times stand behind bandwidths.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Role<'a> {
    quantity: Quantity,
    kernel: Option<&'a str>,
    threads: RoleThreads,
    memory: Relation,
}

/// What both machines reach, where they are of different kinds or ran no loop in common, as CPUs of two
/// architectures do; nothing where their cases are the same.
pub(super) fn roles(a: &ComparedRecord, b: &ComparedRecord) -> Vec<ComparedRole> {
    let is_of_one_kind = are_of_one_kind(&a.record().header.machine, &b.record().header.machine);
    let [of_a, of_b] = [a, b].map(|it| pair_cases(it.record()));
    if is_of_one_kind && (of_a.is_empty() || of_b.is_empty() || !of_a.is_disjoint(&of_b)) {
        return Vec::new();
    }
    let (of_a, mut of_b) = (by_role(a), by_role(b));
    let both = of_a.into_iter().filter_map(|(role, a)| {
        let b = of_b.remove(&role)?;
        let (a_median, b_median) = (median(&a)?, median(&b)?);
        Some(ComparedRole {
            memory: role.memory,
            kernel: role.kernel.map(String::from),
            threads: role.threads,
            figures: role.quantity.of_both(a_median, b_median),
            a_pairs: a.len(),
            b_pairs: b.len(),
            ratio: b_median / a_median,
        })
    });
    both.collect()
}

/// The cases of pairs of cores and memory, by what makes them the same in two records; the variant of
/// the loop is part of it.
fn pair_cases(record: &Record) -> HashSet<&[Coordinates]> {
    let is_pair = |at: &Coordinates| matches!(at, Coordinates::Pairs(_));
    let pairs = record.cases.iter().filter(|case| case.coordinates.iter().any(is_pair));
    pairs.map(|case| case.coordinates.as_slice()).collect()
}

/// Two groups with at most this many times as many cores do the same with the same numbers of threads.
const MOST_CORES: f64 = 1.1;

/// Whether numbers of nodes and of groups of CPUs mean the same on both, and the groups have about as many
/// cores: of others the same threads are another part of what a group can do.
pub(super) fn are_of_one_kind(a: &Machine, b: &Machine) -> bool {
    let (cores_of_a, cores_of_b) = (cores(a), cores(b));
    let is_near = |(a, b): (&usize, &usize)| *a.max(b) as f64 <= MOST_CORES * *a.min(b) as f64;
    shape(a) == shape(b) && cores_of_a.iter().zip(&cores_of_b).all(is_near)
}

/// The initiators with their nodes, and the nodes.
fn shape(machine: &Machine) -> (Vec<(u32, Option<u32>)>, Vec<u32>) {
    let initiators = machine.initiators();
    let nodes = machine.nodes.iter().map(|node| node.os_index);
    (initiators.iter().map(|it| (it.index, it.cpu_node)).collect(), nodes.collect())
}

/// How many cores each initiator has.
fn cores(machine: &Machine) -> Vec<usize> {
    let count = |own: &CpuSet| machine.cores.iter().filter(|it| it.cpus.intersects(own)).count();
    machine.initiators().iter().map(|it| count(&it.cpus)).collect()
}

/// The best figure of each pair, by its role, of the variants that walk in order: every machine has
/// these.
fn by_role(of: &ComparedRecord) -> BTreeMap<Role<'_>, Vec<f64>> {
    let record = of.record();
    let relations = Relations::new(&record.header.machine);
    let most = most_threads(record);
    let mut pairs: BTreeMap<(Role<'_>, (u32, u32)), f64> = BTreeMap::new();
    let mut sets: BTreeMap<(u32, u32), (u64, f64)> = BTreeMap::new();
    let measured = record.cases.iter().zip(of.figures());
    let measured = measured.filter_map(|(case, figure)| Some((case, figure.as_ref().ok()?)));
    let places = measured.flat_map(|(case, it)| case.coordinates.iter().map(move |at| (at, it)));
    for (place, figure) in places {
        match place {
            Coordinates::Pairs(place)
                if place.stage == Stage::Matrix && pages_in_turn(&place.variant) == 1 =>
            {
                let Some(threads) = threads_of(place, &most) else { continue };
                let position =
                    relations.position(place.initiator, place.cpu_node, place.memory_node);
                let Some(memory) = position.relation else { continue };
                let (quantity, kernel) = (figure.quantity, Some(place.kernel.as_str()));
                let role = Role { quantity, kernel, threads, memory };
                let best = pairs.entry((role, (place.index, place.memory_node))).or_default();
                *best = best.max(figure.median);
            }
            Coordinates::Latency(place) if is_idle(place) => keep_largest(&mut sets, place, figure),
            _ => {}
        }
    }
    let mut roles: BTreeMap<Role<'_>, Vec<f64>> = BTreeMap::new();
    for ((role, _), value) in pairs {
        roles.entry(role).or_default().push(value);
    }
    for ((initiator, node), (_, time)) in sets {
        let Some(memory) = relations.position(initiator, None, node).relation else { continue };
        let role = Role {
            quantity: Quantity::AccessTime,
            kernel: None,
            threads: RoleThreads::One,
            memory,
        };
        roles.entry(role).or_default().push(time);
    }
    roles
}

fn is_idle(place: &LatencyCoordinates) -> bool {
    place.load.is_none() && place.walk == ChaseWalk::PageGroups
}

/// Of several sets of a pair the largest is in memory.
fn keep_largest(
    sets: &mut BTreeMap<(u32, u32), (u64, f64)>,
    place: &LatencyCoordinates,
    figure: &Figure,
) {
    let bytes = place.working_set_bytes;
    let known = sets.entry((place.initiator, place.memory_node)).or_insert((bytes, figure.median));
    if bytes > known.0 {
        *known = (bytes, figure.median);
    }
}

/// The most threads of each group of CPUs.
fn most_threads(record: &Record) -> BTreeMap<u32, u32> {
    let mut most = BTreeMap::new();
    for place in record.cases.iter().flat_map(|case| &case.coordinates) {
        if let Coordinates::Pairs(place) = place {
            let known = most.entry(place.index).or_insert(place.threads);
            *known = place.threads.max(*known);
        }
    }
    most
}

/// `None` of numbers between one and all.
fn threads_of(place: &PairCoordinates, most: &BTreeMap<u32, u32>) -> Option<RoleThreads> {
    match place.threads {
        1 => Some(RoleThreads::One),
        threads if most.get(&place.index) == Some(&threads) => Some(RoleThreads::All),
        _ => None,
    }
}
