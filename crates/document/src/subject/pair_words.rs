//! Many pairs in few words.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::{IndexSet, InitiatorKind, MemoryKind, NodeSet, Relation};

use super::pair_position::PairPosition;

/// Marks a set of initiators' numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Initiators {}

/// Initiators by their numbers.
pub(crate) type InitiatorSet = IndexSet<Initiators>;

/// Phrases that are printed before the rest is counted.
const MOST: usize = 8;

/// A phrase may name exceptions of up to one in so many of its pairs.
const EXCEPTION: usize = 8;

/// The pairs of a class in phrases. A phrase such as "local" stands for all pairs of
/// that kind among `all`, or all at one distance, and names those that are in another class or
/// in none; what is left is listed by initiators and nodes. `all` holds every pair of these
/// initiators with a node of the machine, measured or not.
pub(crate) fn pair_words(
    of_class: &[PairPosition],
    all: &[PairPosition],
    initiator: InitiatorKind,
) -> Vec<String> {
    let one_memory_kind = all.iter().all(|pair| pair.memory_kind == all[0].memory_kind);
    let mut left: Vec<&PairPosition> = of_class.iter().collect();
    let mut phrases = Vec::new();
    for with_distance in [false, true] {
        let group_of = |pair: &PairPosition| {
            let distance = if with_distance { Some(pair.distance?) } else { None };
            Some(Group { relation: pair.relation?, memory_kind: pair.memory_kind, distance })
        };
        let mut groups: BTreeMap<Group, Vec<&PairPosition>> = BTreeMap::new();
        let mut rest = Vec::new();
        for pair in left {
            match group_of(pair) {
                Some(group) => groups.entry(group).or_default().push(pair),
                None => rest.push(pair),
            }
        }
        for (group, pairs) in groups {
            let there: Vec<&PairPosition> =
                all.iter().filter(|pair| group_of(pair) == Some(group)).collect();
            let held: BTreeSet<(u32, u32)> = pairs.iter().map(|pair| place(pair)).collect();
            let missing: Vec<&PairPosition> =
                there.iter().copied().filter(|pair| !held.contains(&place(pair))).collect();
            if missing.len() * EXCEPTION <= there.len() {
                let phrase = group.phrase(&there, initiator, one_memory_kind);
                let but = listed(&missing, initiator).join(", ");
                phrases.push(if but.is_empty() {
                    phrase
                } else {
                    format!("{phrase}, except {but}")
                });
            } else {
                rest.extend(pairs);
            }
        }
        left = rest;
    }
    phrases.extend(listed(&left, initiator));
    if phrases.len() > MOST {
        let more = phrases.len() - (MOST - 1);
        phrases.truncate(MOST - 1);
        phrases.push(format!("and {more} more groups; --json lists all pairs"));
    }
    phrases
}

fn place(pair: &PairPosition) -> (u32, u32) {
    (pair.index, pair.memory_node)
}

/// Pairs that lie alike in the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    relation: Relation,
    memory_kind: MemoryKind,
    /// The firmware's distance, where pairs are told apart by it.
    distance: Option<u64>,
}

impl Group {
    /// The kind of memory goes unsaid where there is only one.
    fn phrase(
        self,
        pairs: &[&PairPosition],
        initiator: InitiatorKind,
        one_memory_kind: bool,
    ) -> String {
        let numbers: InitiatorSet = pairs.iter().map(|pair| pair.index).collect();
        let who = initiators(initiator, &numbers);
        let their = if numbers.len() == 1 { "its" } else { "their" };
        let node = if numbers.len() == pairs.len() { "node" } else { "nodes" };
        let memory = if one_memory_kind { String::new() } else { format!(" {}", self.memory_kind) };
        let distance =
            self.distance.map_or(String::new(), |distance| format!(" at distance {distance}"));
        match self.relation {
            Relation::Local => {
                format!("local{memory}: {who} on {their} own{memory} {node}{distance}")
            }
            Relation::SamePackage => {
                format!("{who} on the other{memory} {node} of {their} package{distance}")
            }
            Relation::OtherPackage => {
                format!("{who} on{memory} nodes of other packages{distance}")
            }
        }
    }
}

/// Initiators that reach the same nodes together, or nodes that are reached by the
/// same initiators, whichever takes fewer phrases.
fn listed(pairs: &[&PairPosition], initiator: InitiatorKind) -> Vec<String> {
    let rows = joined(pairs.iter().map(|pair| (pair.index, pair.memory_node)));
    let columns = joined(pairs.iter().map(|pair| (pair.memory_node, pair.index)));
    let rectangles: Vec<(InitiatorSet, NodeSet)> = if rows.len() <= columns.len() {
        rows
    } else {
        columns.into_iter().map(|(nodes, of)| (of, nodes)).collect()
    };
    rectangles
        .into_iter()
        .map(|(of, nodes)| {
            let plural = if nodes.len() == 1 { "" } else { "s" };
            format!("{} on node{plural} {nodes}", initiators(initiator, &of))
        })
        .collect()
}

/// Joins the firsts that have equal sets of seconds, by the lowest first.
fn joined<First, Second: PartialEq>(
    pairs: impl Iterator<Item = (u32, u32)>,
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

/// `cluster 0`, `L3 domains 0-3,8`.
pub(crate) fn initiators(kind: InitiatorKind, numbers: &InitiatorSet) -> String {
    let name = match kind {
        InitiatorKind::Cluster => "cluster",
        InitiatorKind::L3 => "L3 domain",
        InitiatorKind::Core => "core",
    };
    let plural = if numbers.len() == 1 { "" } else { "s" };
    format!("{name}{plural} {numbers}")
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    use super::*;

    /// Two packages of two nodes each; the cluster's number is its node's.
    fn pair(index: u32, memory_node: u32) -> PairPosition {
        let relation = match (index, memory_node) {
            (_, 9) => None,
            (a, b) if a == b => Some(Relation::Local),
            (a, b) if a / 2 == b / 2 => Some(Relation::SamePackage),
            _ => Some(Relation::OtherPackage),
        };
        PairPosition {
            index,
            memory_node,
            memory_kind: if memory_node == 9 { MemoryKind::Cxl } else { MemoryKind::Dram },
            relation,
            // Even nodes of other packages are nearer than odd ones.
            distance: match relation {
                Some(Relation::OtherPackage) => Some(20 + u64::from(memory_node % 2)),
                Some(_) => Some(10),
                None => None,
            },
        }
    }

    type Pairs<'p> = &'p [(u32, u32)];

    fn words(of_class: Pairs<'_>, all: Pairs<'_>) -> Vec<String> {
        let positions = |pairs: Pairs<'_>| -> Vec<PairPosition> {
            pairs.iter().map(|&(index, node)| pair(index, node)).collect()
        };
        pair_words(&positions(of_class), &positions(all), InitiatorKind::Cluster)
    }

    fn everything(initiators: u32) -> Vec<(u32, u32)> {
        (0..initiators).flat_map(|a| (0..initiators).map(move |b| (a, b))).collect()
    }

    /// Whatever is not in the class is not claimed for it, be it in another class or refused.
    #[test]
    fn a_class_is_worded_by_what_all_its_pairs_share() {
        let (one, two, four, eight) = (everything(1), everything(2), everything(4), everything(8));
        let own =
            |initiators: u32| -> Vec<(u32, u32)> { (0..initiators).map(|a| (a, a)).collect() };
        let far: Vec<(u32, u32)> = four.iter().copied().filter(|(a, b)| a / 2 != b / 2).collect();
        let far_but_one: Vec<(u32, u32)> = far.iter().copied().filter(|it| *it != (0, 3)).collect();
        let and_cxl = [&two[..], &[(0, 9), (1, 9)]].concat();
        let odd: Vec<(u32, u32)> = (0..32).map(|a| (a, (a * 7 + 3) % 32)).collect();
        let classes: [(&str, Pairs<'_>, Pairs<'_>); 15] = [
            ("one pair", &one, &one),
            ("all local", &own(4), &four),
            ("all of the same package", &[(0, 1), (1, 0), (2, 3), (3, 2)], &four),
            ("three of the same package", &[(0, 1), (1, 0), (2, 3)], &four),
            ("all of other packages", &far, &four),
            ("all but one of other packages", &far_but_one, &four),
            ("all but one local", &own(7), &eight),
            ("some local", &own(2), &four),
            ("a block", &[(0, 2), (0, 3), (1, 2), (1, 3)], &four),
            ("a column and one", &[(0, 2), (1, 2), (3, 1)], &four),
            ("all at a distance", &[(0, 2), (1, 2), (2, 0), (3, 0)], &four),
            ("some at a distance", &[(0, 2), (1, 2), (2, 0)], &four),
            ("all of a node of no package", &[(0, 9), (1, 9)], &and_cxl),
            ("local beside another kind", &own(2), &and_cxl),
            ("no order", &odd, &everything(32)),
        ];
        let mut text = String::new();
        for (what, of_class, all) in classes {
            text += &format!("{what}:\n  {}\n", words(of_class, all).join("\n  "));
        }
        let own = |index, memory_node| PairPosition {
            relation: Some(Relation::Local),
            memory_kind: MemoryKind::Dram,
            ..pair(index, memory_node)
        };
        for all in [&[own(0, 0), own(0, 1)][..], &[own(0, 0), own(0, 1), own(1, 2)]] {
            let words = pair_words(all, all, InitiatorKind::Cluster);
            text += &format!("several local nodes:\n  {}\n", words.join("\n  "));
        }
        expect_file!["../../tests/golden/pair_words.txt"].assert_eq(&text);
    }
}
