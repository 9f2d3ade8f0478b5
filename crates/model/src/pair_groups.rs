//! Many pairs in few groups: those that lie alike in the machine, else blocks of groups of CPUs and nodes.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{
    CpuGroupSet, IndexSet, MemoryKind, NodePosition, NodeSet, Relation, Relations,
};
use nearfar_record::{Coordinates, Record};
use serde::Serialize;

/// Pairs of a class that are named together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "pairs", rename_all = "snake_case")]
pub enum PairGroup {
    /// All pairs of these groups of CPUs and the machine's nodes that lie so, but for a few.
    Alike {
        relation: Relation,
        /// What the nodes are made of; null where all are made of the same.
        memory_kind: Option<MemoryKind>,
        /// The firmware's distance; null where pairs at any distance are meant.
        distance: Option<u64>,
        cpu_groups: CpuGroupSet,
        /// Whether each of these groups of CPUs has only one such node.
        is_one_node_each: bool,
        /// Those that are in another class, or in none.
        except: Vec<PairBlock>,
    },
    /// Each of these groups of CPUs with each of these nodes.
    Block { cpu_groups: CpuGroupSet, memory_nodes: NodeSet },
}

/// Groups of CPUs, each with each of some nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairBlock {
    pub cpu_groups: CpuGroupSet,
    pub memory_nodes: NodeSet,
}

/// A CPU group's number and a memory node's.
type Pair = (u32, u32);

/// A group may leave out up to one in this many of the pairs that lie alike.
const EXCEPTION: usize = 8;

/// The pairs of a class in groups. `all` holds every pair of these groups of CPUs with a node of the
/// machine, measured or not, so that a group claims none that is not in the class.
pub fn pair_groups(
    of_class: &BTreeSet<Pair>,
    all: &BTreeMap<Pair, NodePosition>,
) -> Vec<PairGroup> {
    let kinds: BTreeSet<MemoryKind> = all.values().map(|it| it.memory_kind).collect();
    let mut left = of_class.clone();
    let mut groups = Vec::new();
    for with_distance in [false, true] {
        let mut alike: BTreeMap<_, BTreeSet<Pair>> = BTreeMap::new();
        for (&pair, position) in all {
            let distance = position.distance.filter(|_| with_distance);
            if let Some(relation) =
                position.relation.filter(|_| distance.is_some() == with_distance)
            {
                alike.entry((relation, position.memory_kind, distance)).or_default().insert(pair);
            }
        }
        for ((relation, memory_kind, distance), there) in alike {
            let missing: BTreeSet<Pair> = there.difference(&left).copied().collect();
            if missing.len() == there.len() || missing.len() * EXCEPTION > there.len() {
                continue;
            }
            let cpu_groups: CpuGroupSet = there.iter().map(|&(cpu_group, _)| cpu_group).collect();
            groups.push(PairGroup::Alike {
                relation,
                memory_kind: Some(memory_kind).filter(|_| kinds.len() > 1),
                distance,
                is_one_node_each: cpu_groups.len() == there.len(),
                cpu_groups,
                except: blocks(&missing),
            });
            left.retain(|pair| !there.contains(pair));
        }
    }
    let block =
        |PairBlock { cpu_groups, memory_nodes }| PairGroup::Block { cpu_groups, memory_nodes };
    groups.extend(blocks(&left).into_iter().map(block));
    groups
}

/// Groups of CPUs that reach the same nodes together, or nodes that are reached by the same groups of CPUs,
/// whichever takes fewer blocks.
fn blocks(pairs: &BTreeSet<Pair>) -> Vec<PairBlock> {
    let rows = joined(pairs.iter().copied());
    let columns = joined(pairs.iter().map(|&(cpu_group, node)| (node, cpu_group)));
    let block = |(cpu_groups, memory_nodes)| PairBlock { cpu_groups, memory_nodes };
    if rows.len() <= columns.len() {
        rows.into_iter().map(block).collect()
    } else {
        columns.into_iter().map(|(nodes, of)| block((of, nodes))).collect()
    }
}

/// Joins the firsts that have equal sets of seconds, by the lowest first.
fn joined<First, Second: PartialEq>(
    pairs: impl Iterator<Item = Pair>,
) -> Vec<(IndexSet<First>, IndexSet<Second>)> {
    let mut seconds: BTreeMap<u32, IndexSet<Second>> = BTreeMap::new();
    for (first, second) in pairs {
        seconds.entry(first).or_default().insert(second);
    }
    let mut groups: Vec<(IndexSet<First>, IndexSet<Second>)> = Vec::new();
    for (first, of_first) in seconds {
        match groups.iter_mut().find(|(_, known)| *known == of_first) {
            Some((firsts, _)) => {
                firsts.insert(first);
            }
            None => groups.push((IndexSet::single(first), of_first)),
        }
    }
    groups
}

/// Of more pairs those alone that are known: a stranger's record can name any nodes.
const MOST_POSITIONS: usize = 1 << 18;

/// Where all pairs lie of a group of CPUs of `known` and a memory node of the machine or of `known`.
pub(crate) fn positions(record: &Record, known: &BTreeSet<Pair>) -> BTreeMap<Pair, NodePosition> {
    let machine = &record.header.machine;
    let relations = Relations::new(machine);
    let with_memory = machine.nodes.iter().filter(|node| node.has_memory());
    let mut nodes: BTreeSet<u32> = with_memory.map(|node| node.os_index).collect();
    nodes.extend(known.iter().map(|&(_, node)| node));
    let cpu_groups: BTreeSet<u32> = known.iter().map(|&(cpu_group, _)| cpu_group).collect();
    let of_cases = record.cases.iter().flat_map(|case| &case.coordinates);
    let of_absent = record.absent.iter().flat_map(|absent| &absent.coordinates);
    let initiators: BTreeMap<u32, (u32, Option<u32>)> = of_cases
        .chain(of_absent)
        .filter_map(Coordinates::as_pair)
        .map(|pair| (pair.index, (pair.initiator, pair.cpu_node)))
        .collect();
    let position = |cpu_group: u32, node: u32| {
        let &(initiator, cpu_node) = initiators.get(&cpu_group)?;
        Some(((cpu_group, node), relations.position(initiator, cpu_node, node)))
    };
    if cpu_groups.len().saturating_mul(nodes.len()) > MOST_POSITIONS {
        return known.iter().filter_map(|&(cpu_group, node)| position(cpu_group, node)).collect();
    }
    cpu_groups
        .iter()
        .flat_map(|&cpu_group| nodes.iter().filter_map(move |&node| position(cpu_group, node)))
        .collect()
}
