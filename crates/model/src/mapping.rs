//! What-if tables: which shares over classes the possible mappings of processes give.
//! Units: fractions of the theoretical maximum.     Source: braithwaite2012, eq. 4.17, 4.18.
//! Processes run at the same time, so the bounds by time of [`crate::data_access`], which
//! are those of one program, say nothing of them; the slowest process's alpha does.
//! Holds when: every process makes the same number of accesses, all of them to its own
//! target, from a place that it has for itself; each then gets what it would get alone.
//! Fails when: targets or processes share what carries them (two devices behind one link,
//! two processes on one controller); the thesis's tables leave that out, and so do these.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{GroupBy, NodeSet};
use serde::{Serialize, Serializer};

use crate::classes::{Class, ClassPair, ClassSet, Classes};
use crate::data_access::{DataAccessError, count, data_access};
use crate::device_classes::{DeviceClasses, DevicePair};

/// What one process accesses: a device, or a memory node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Target {
    /// Class in which it is reached, by place; null where that is not known, and then
    /// its process is not mapped to that place.
    pub class_from: Vec<Option<usize>>,
}

/// The mappings that come to the same shares.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mapping {
    /// Share of all accesses by class.
    pub shares: Vec<f64>,
    /// Sum of alpha x share (eq. 4.6): the mean of the processes' alphas.
    pub d: f64,
    /// Alpha of the process that gets least. With equal work it ends last, and so decides
    /// the time.
    pub slowest_alpha: f64,
    /// How many mappings there are of this kind, at most what 64 bits hold.
    #[serde(rename = "mappings", serialize_with = "serialize_count")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub count: u128,
    /// One of them: the place of each process, by its position among the places.
    pub example: Vec<usize>,
}

/// JSON's readers take 64 bits at the most; what does not fit is the largest of these.
fn serialize_count<S: Serializer>(count: &u128, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(*count).unwrap_or(u64::MAX))
}

/// Why there is no table of mappings.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MappingError {
    #[error("there are no targets: give at least one process its device or data")]
    NoTargets,
    #[error(
        "target {target} has {} and target 0 has {places}; each needs the same",
        count(*.given, "place", "places")
    )]
    Places { target: usize, given: usize, places: usize },
    #[error(
        "target {target} is reached in class {class}, and there are alphas for {}",
        count(*.alphas, "class", "classes")
    )]
    Class { target: usize, class: usize, alphas: usize },
    #[error(
        "{} cannot each have a place for itself from which its target's class is known ({} in all)",
        count(*.processes, "process", "processes"), count(*.places, "place", "places")
    )]
    NoRoom { processes: usize, places: usize },
    #[error(
        "{} with {} different targets on {}: more than {MAX_STATES} partial outcomes; ask for \
         fewer processes",
        count(*.processes, "process", "processes"), .kinds, count(*.places, "place", "places")
    )]
    TooMany { processes: usize, kinds: usize, places: usize },
    #[error(transparent)]
    DataAccess(#[from] DataAccessError),
}

/// Partial outcomes held at once: fourteen processes with targets that all differ on
/// fourteen places need 120 000, with three classes.
const MAX_STATES: usize = 200_000;

/// Outcomes of giving some of the places away: how many processes of each kind have
/// one, and how many processes reach their target in each class.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Partial {
    mapped: Vec<usize>,
    classes: Vec<usize>,
}

/// How many ways lead to a partial outcome, and the last step of one of them.
struct Ways {
    count: u128,
    last: Option<usize>,
}

struct Step {
    kind: usize,
    place: usize,
    before: Option<usize>,
}

/// All mappings of processes to places, by their shares over classes, the best first: the one
/// whose slowest process gets most, of equal ones that with the higher D. Process i accesses
/// `targets[i]`, and no two processes have the same place.
///
/// Mappings are not listed one by one: places are given away in turn, and what
/// comes to the same is counted together, so that two processes on a thousand places and eight
/// on sixteen are equally quick.
///
/// # Errors
/// When the numbers do not fit together, or too many different targets make too many
/// partial outcomes; see [`MappingError`].
pub fn mappings(targets: &[Target], alpha: &[f64]) -> Result<Vec<Mapping>, MappingError> {
    let places = check(targets, alpha.len())?;
    // Processes whose targets look the same from everywhere are of one kind.
    let mut kinds: BTreeMap<&Target, Vec<usize>> = BTreeMap::new();
    for (process, target) in targets.iter().enumerate() {
        kinds.entry(target).or_default().push(process);
    }
    let kinds: Vec<(&Target, Vec<usize>)> = kinds.into_iter().collect();
    let nothing = Partial { mapped: vec![0; kinds.len()], classes: vec![0; alpha.len()] };
    let mut outcomes = BTreeMap::from([(nothing, Ways { count: 1, last: None })]);
    let mut steps: Vec<Step> = Vec::new();
    for place in 0..places {
        outcomes = give_away(place, places, outcomes, &kinds, &mut steps).ok_or(
            MappingError::TooMany { processes: targets.len(), kinds: kinds.len(), places },
        )?;
    }
    let mut found = Vec::new();
    for (partial, ways) in outcomes {
        let shares: Vec<f64> = partial
            .classes
            .iter()
            .map(|&processes| processes as f64 / targets.len() as f64)
            .collect();
        let mut example = vec![0; targets.len()];
        let mut waiting: Vec<_> = kinds.iter().map(|(_, processes)| processes.iter()).collect();
        let mut last = ways.last;
        while let Some(step) = last.and_then(|step| steps.get(step)) {
            if let Some(&process) = waiting[step.kind].next_back() {
                example[process] = step.place;
            }
            last = step.before;
        }
        let d = data_access(alpha, &shares)?.d;
        let used = alpha.iter().zip(&partial.classes).filter(|(_, processes)| **processes > 0);
        let slowest_alpha = used.map(|(&alpha, _)| alpha).fold(f64::INFINITY, f64::min);
        found.push(Mapping { shares, d, slowest_alpha, count: ways.count, example });
    }
    if found.is_empty() {
        return Err(MappingError::NoRoom { processes: targets.len(), places });
    }
    found.sort_by(|a, b| b.slowest_alpha.total_cmp(&a.slowest_alpha).then(b.d.total_cmp(&a.d)));
    Ok(found)
}

/// The number of places.
fn check(targets: &[Target], alphas: usize) -> Result<usize, MappingError> {
    let places = targets.first().ok_or(MappingError::NoTargets)?.class_from.len();
    for (target, reached) in targets.iter().enumerate() {
        let given = reached.class_from.len();
        if given != places {
            return Err(MappingError::Places { target, given, places });
        }
        if let Some(class) = reached.class_from.iter().flatten().copied().find(|&c| c >= alphas) {
            return Err(MappingError::Class { target, class, alphas });
        }
    }
    Ok(places)
}

/// What one more place makes of the outcomes: it stays empty, or a process of any kind
/// that still has processes to map gets it. `None` when there are too many.
fn give_away(
    place: usize,
    places: usize,
    outcomes: BTreeMap<Partial, Ways>,
    kinds: &[(&Target, Vec<usize>)],
    steps: &mut Vec<Step>,
) -> Option<BTreeMap<Partial, Ways>> {
    let left = places - place - 1;
    // What cannot become a mapping of all processes is not carried along.
    let can_end = |partial: &Partial| {
        let waiting = |((_, all), done): (&(&Target, Vec<usize>), &usize)| all.len() - done;
        kinds.iter().zip(&partial.mapped).map(waiting).sum::<usize>() <= left
    };
    let mut next: BTreeMap<Partial, Ways> = BTreeMap::new();
    for (partial, ways) in outcomes {
        for (kind, (target, processes)) in kinds.iter().enumerate() {
            let waiting = processes.len() - partial.mapped[kind];
            let (Some(class), 1..) = (target.class_from[place], waiting) else { continue };
            let mut more = partial.clone();
            more.mapped[kind] += 1;
            more.classes[class] += 1;
            if can_end(&more) {
                let more = next.entry(more).or_insert_with(|| {
                    steps.push(Step { kind, place, before: ways.last });
                    Ways { count: 0, last: Some(steps.len() - 1) }
                });
                // Any of the processes that wait: they differ, though their targets do not.
                let count = ways.count.saturating_mul(waiting as u128);
                more.count = more.count.saturating_add(count);
            }
        }
        if can_end(&partial) {
            let same = next.entry(partial).or_insert(Ways { count: 0, last: ways.last });
            same.count = same.count.saturating_add(ways.count);
        }
        if next.len() > MAX_STATES {
            return None;
        }
    }
    Some(next)
}

/// Where a process may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MappingPlace {
    /// The number of the group of CPUs or memory node; of places that were only counted, the position.
    pub index: u32,
    /// The lowest node with CPUs of its initiator; null where it has none, or where places
    /// were only counted.
    pub cpu_node: Option<u32>,
}

/// What the places of mappings are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlaceKind {
    /// They were only counted.
    Positions,
    /// Groups of CPUs of this kind, from which processes access memory.
    CpuGroups(GroupBy),
    /// Memory nodes, with the data that devices copy.
    MemoryNodes,
}

/// How targets are reached from places.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reach {
    /// What the places are.
    pub places_are: PlaceKind,
    /// The places, by their number.
    pub places: Vec<MappingPlace>,
    /// What each process accesses.
    pub targets: Vec<Target>,
}

/// Targets reached from places that were only counted: as many as the most of a target.
pub fn reach_of_positions(targets: Vec<Target>) -> Reach {
    let places = targets.iter().map(|target| target.class_from.len()).max().unwrap_or(0);
    let place = |index| MappingPlace { index, cpu_node: None };
    let places = (0..).take(places).map(place).collect();
    Reach { places_are: PlaceKind::Positions, places, targets }
}

/// From each group of CPUs, which are of this kind, of a set of classes, the class in which each of
/// these memory nodes is reached: one process for each node of the list, with its data there. A node
/// may be named several times. A node that the set does not hold is reached from nowhere.
pub fn reach_of_data(set: &ClassSet, kind: GroupBy, memory_nodes: &[u32]) -> Reach {
    let reached = |pair: &ClassPair| {
        (MappingPlace { index: pair.cpu_group, cpu_node: pair.cpu_node }, pair.memory_node)
    };
    reach(PlaceKind::CpuGroups(kind), &set.classes, reached, memory_nodes)
}

/// The same of the nodes of a record, each of which has to be in a class.
///
/// # Errors
///
/// Which node is not, and what nodes there are.
pub fn reach_of_nodes(classes: &Classes, set: &ClassSet, nodes: &[u32]) -> Result<Reach, String> {
    let pairs = set.classes.iter().flat_map(|class| &class.pairs);
    let known: NodeSet = pairs.map(|pair| pair.memory_node).collect();
    if let Some(&node) = nodes.iter().find(|&&node| !known.contains(node)) {
        let mut of_node = classes.left_out.iter().filter(|out| out.memory_node == node);
        let refused = of_node.find_map(|out| out.refused.as_deref());
        let why =
            refused.map_or_else(String::new, |why| format!(": the machine refused it ({why})"));
        return Err(format!(
            "memory node {node} is in no class{why}; the record's classes hold the nodes {known}"
        ));
    }
    Ok(reach_of_data(set, classes.group_by, nodes))
}

/// From each memory node of a set of classes of copies, the class in which each of these devices
/// copies from or to it: one process for each device of the list, whose data is on the node that
/// is its place. A device may be named several times; one that the set does not hold is reached
/// from nowhere. Of several threads of the host that use a node, the fastest counts.
pub fn reach_of_devices(classes: &DeviceClasses, devices: &[String]) -> Reach {
    let reached = |pair: &DevicePair| {
        let node = pair.memory_node;
        (MappingPlace { index: node, cpu_node: Some(node) }, pair.device.clone())
    };
    reach(PlaceKind::MemoryNodes, &classes.classes, reached, devices)
}

/// `reached` gives of a pair the place and what is reached from there.
fn reach<Pair, Reached: Clone + Ord>(
    places_are: PlaceKind,
    classes: &[Class<Pair>],
    reached: impl Fn(&Pair) -> (MappingPlace, Reached),
    targets: &[Reached],
) -> Reach {
    let mut class_of: BTreeMap<(MappingPlace, Reached), usize> = BTreeMap::new();
    for class in classes {
        for pair in &class.pairs {
            // The fastest class comes first.
            class_of.entry(reached(pair)).or_insert(class.class);
        }
    }
    let places: BTreeSet<MappingPlace> = class_of.keys().map(|(place, _)| *place).collect();
    let class_from =
        |place: &MappingPlace, target: &Reached| class_of.get(&(*place, target.clone())).copied();
    let target = |target: &Reached| Target {
        class_from: places.iter().map(|place| class_from(place, target)).collect(),
    };
    let targets = targets.iter().map(target).collect();
    Reach { places_are, places: places.into_iter().collect(), targets }
}
