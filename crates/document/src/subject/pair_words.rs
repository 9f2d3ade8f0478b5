//! Many pairs in few words.

use nearfar_machine::{CpuGroupSet, GroupBy, NodeSet, Relation};
use nearfar_model::PairGroup;

use super::who::Who;

/// Phrases that are printed before the rest is counted.
const MOST: usize = 8;

/// Groups of pairs, a phrase each; the last phrases of many are counted.
pub(crate) fn pair_words(groups: &[PairGroup], kind: GroupBy, who: &Who) -> Vec<String> {
    let mut phrases: Vec<String> = groups.iter().map(|group| phrase(group, kind, who)).collect();
    if phrases.len() > MOST {
        let more = phrases.len() - (MOST - 1);
        phrases.truncate(MOST - 1);
        phrases.push(format!("and {more} more groups; --json lists all pairs"));
    }
    phrases
}

/// `local: CPUs 0-15 on their own node`. The kind of memory goes unsaid where there is only one.
fn phrase(group: &PairGroup, kind: GroupBy, of: &Who) -> String {
    let (relation, memory_kind, distance, numbers, is_one, except) = match group {
        PairGroup::Block { cpu_groups, memory_nodes } => {
            return block_words(cpu_groups, memory_nodes, kind, of);
        }
        PairGroup::Alike {
            relation,
            memory_kind,
            distance,
            cpu_groups,
            is_one_node_each,
            except,
        } => (relation, memory_kind, distance, cpu_groups, is_one_node_each, except),
    };
    let who = cpu_groups(kind, numbers, of);
    let are_many = numbers.len() > 1 || who.starts_with("CPUs ");
    let their = if are_many { "their" } else { "its" };
    let node = if *is_one { "node" } else { "nodes" };
    let memory = memory_kind.map_or_else(String::new, |memory| format!(" {memory}"));
    let distance = distance.map_or_else(String::new, |it| format!(" at distance {it}"));
    let words = match relation {
        Relation::Local => {
            format!("local{memory}: {who} on {their} own{memory} {node}{distance}")
        }
        Relation::SamePackage => {
            format!("{who} on the other{memory} {node} of {their} package{distance}")
        }
        Relation::OtherPackage => format!("{who} on{memory} nodes of other packages{distance}"),
    };
    let but: Vec<String> =
        except.iter().map(|it| block_words(&it.cpu_groups, &it.memory_nodes, kind, of)).collect();
    if but.is_empty() { words } else { format!("{words}, except {}", but.join(", ")) }
}

fn block_words(groups: &CpuGroupSet, nodes: &NodeSet, kind: GroupBy, who: &Who) -> String {
    let plural = if nodes.len() == 1 { "" } else { "s" };
    format!("{} on node{plural} {nodes}", cpu_groups(kind, groups, who))
}

/// `CPUs 0-15`, `L3 domains 0-3,8`.
fn cpu_groups(kind: GroupBy, numbers: &CpuGroupSet, who: &Who) -> String {
    let name = match kind {
        GroupBy::Memory => return who.all_cpus(numbers.iter()),
        GroupBy::L3 => "L3 domain",
        GroupBy::Core => "core",
    };
    let plural = if numbers.len() == 1 { "" } else { "s" };
    format!("{name}{plural} {numbers}")
}

/// The same of one as the label of a row.
pub(crate) fn group_label(kind: GroupBy, number: u32, who: &Who) -> String {
    match kind {
        GroupBy::Memory => who.label(number),
        GroupBy::L3 | GroupBy::Core => cpu_group(kind, number, who),
    }
}

/// `CPUs 0-3`, `core 5`.
pub(crate) fn cpu_group(kind: GroupBy, number: u32, who: &Who) -> String {
    cpu_groups(kind, &CpuGroupSet::single(number), who)
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;
    use nearfar_machine::{MemoryKind, NodePosition};
    use nearfar_model::pair_groups;

    use super::*;

    type Pairs<'p> = &'p [(u32, u32)];

    /// Two packages of two nodes each; the initiator's number is its node's.
    fn position(index: u32, memory_node: u32) -> NodePosition {
        let relation = match (index, memory_node) {
            (_, 9) => None,
            (a, b) if a == b => Some(Relation::Local),
            (a, b) if a / 2 == b / 2 => Some(Relation::SamePackage),
            _ => Some(Relation::OtherPackage),
        };
        NodePosition {
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

    fn words(of_class: Pairs<'_>, all: Pairs<'_>, at: impl Fn(u32, u32) -> NodePosition) -> String {
        let all = all.iter().map(|&(index, node)| ((index, node), at(index, node))).collect();
        let groups = pair_groups(&of_class.iter().copied().collect(), &all);
        pair_words(&groups, GroupBy::Memory, &Who::default()).join("\n  ")
    }

    fn everything(cpu_groups: u32) -> Vec<(u32, u32)> {
        (0..cpu_groups).flat_map(|a| (0..cpu_groups).map(move |b| (a, b))).collect()
    }

    /// Whatever is not in the class is not claimed for it, be it in another class or refused.
    #[test]
    fn a_class_is_worded_by_what_all_its_pairs_share() {
        let (one, two, four, eight) = (everything(1), everything(2), everything(4), everything(8));
        let own =
            |cpu_groups: u32| -> Vec<(u32, u32)> { (0..cpu_groups).map(|a| (a, a)).collect() };
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
            text += &format!("{what}:\n  {}\n", words(of_class, all, position));
        }
        let own = |index, node| NodePosition {
            relation: Some(Relation::Local),
            memory_kind: MemoryKind::Dram,
            ..position(index, node)
        };
        for all in [&[(0, 0), (0, 1)][..], &[(0, 0), (0, 1), (1, 2)]] {
            text += &format!("several local nodes:\n  {}\n", words(all, all, own));
        }
        expect_file!["../../tests/golden/pair_words.txt"].assert_eq(&text);
    }
}
