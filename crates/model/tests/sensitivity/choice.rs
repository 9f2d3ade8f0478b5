//! Which placements are chosen.

use nearfar_machine::{CpuSet, NodeSet};
use nearfar_model::{NoPlacements, PlacementChoice, command_placements};

use crate::sensitivity::runs::Machine4;

fn nodes_of(machine: &Machine4, choice: PlacementChoice, classes: bool) -> Vec<Option<u32>> {
    let reference = classes.then(|| machine.classes());
    let placements = command_placements(&machine.0, choice, reference.as_ref()).unwrap();
    placements.iter().map(|at| at.memory_node).collect()
}

/// One node of each class or distance, the local one first, and all in turn at the end.
#[test]
fn one_node_stands_for_each_level() {
    let mut machine = Machine4::new();
    let choice = PlacementChoice::Classes(Some(3));
    let expected = [Some(3), Some(2), Some(0), None];
    assert_eq!(nodes_of(&machine, choice, true), expected);
    assert_eq!(nodes_of(&machine, choice, false), expected, "by distance");
    assert_eq!(
        nodes_of(&machine, PlacementChoice::Classes(None), true),
        [Some(0), Some(1), Some(2), None]
    );
    // Of nodes that nothing is known of none stands for another.
    machine.0.distances = None;
    assert_eq!(nodes_of(&machine, choice, false), [Some(3), Some(0), Some(1), Some(2), None]);
}

#[test]
fn what_may_not_be_used_is_left_out() {
    let mut machine = Machine4::new();
    machine.0.allowed_nodes = "0,2".parse().unwrap();
    machine.0.allowed_cpus = "1,4-7".parse().unwrap();
    let placements = command_placements(&machine.0, PlacementChoice::Matrix, None).unwrap();
    let pairs: Vec<(u32, Option<u32>, String)> = placements
        .iter()
        .map(|at| (at.initiator, at.memory_node, at.binding.to_string()))
        .collect();
    let pair = |initiator, node, binding: &str| (initiator, Some(node), binding.to_string());
    assert_eq!(
        pairs,
        [
            pair(0, 0, "cpus=1 mem=preferred:0"),
            pair(0, 2, "cpus=1 mem=preferred:2"),
            pair(2, 0, "cpus=4-5 mem=preferred:0"),
            pair(2, 2, "cpus=4-5 mem=preferred:2"),
            pair(3, 0, "cpus=6-7 mem=preferred:0"),
            pair(3, 2, "cpus=6-7 mem=preferred:2"),
        ]
    );
    let of = |initiator| command_placements(&machine.0, PlacementChoice::Classes(initiator), None);
    // Initiator 1 has no CPU, initiator 3 no memory of its own.
    let usable = "0,2-3".to_string();
    assert_eq!(of(Some(1)), Err(NoPlacements::NoInitiator { asked: 1, usable }));
    assert_eq!(of(Some(3)), Err(NoPlacements::NoLocal));
    machine.0.allowed_nodes = NodeSet::single(2);
    let one = command_placements(&machine.0, PlacementChoice::Matrix, None);
    assert_eq!(one, Err(NoPlacements::OneNode(NodeSet::single(2))));
    machine.0.allowed_nodes = "1,3".parse().unwrap();
    machine.0.allowed_cpus = CpuSet::single(0);
    let none = command_placements(&machine.0, PlacementChoice::Classes(None), None);
    assert_eq!(none, Err(NoPlacements::NoLocal));
}
