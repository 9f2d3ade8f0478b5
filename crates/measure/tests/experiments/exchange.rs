use std::collections::{BTreeMap, BTreeSet};

use nearfar_machine::MemoryPolicy;
use nearfar_record::{Coordinates, Experiment, ReasonCode};

use crate::machines::{builtin, full, ids, planned, standard, synthetic};

/// Two packages with a node and two cores of two hardware threads each.
const SMALL: &str = "pack:2 [numa(memory=68719476736)] l3:1(size=16777216) core:2 pu:2";

#[test]
fn each_two_cpus_meet_once_on_the_node_of_the_first() {
    let plan = planned(&synthetic(SMALL), Experiment::Exchange, standard());
    assert_eq!(plan.cases.len(), 2 * 28);
    assert!(plan.absent.is_empty());
    assert_eq!(ids(&plan)[0], "exchange/cpu0/cpu1/node0/store_load");
    assert_eq!(ids(&plan)[1], "exchange/cpu0/cpu1/node0/compare_swap");
    for case in &plan.cases {
        let Coordinates::Exchange(place) = &case.coordinates[0] else { panic!() };
        assert!(place.first_cpu < place.second_cpu);
        assert_eq!(place.memory_node, place.first_cpu / 4);
        let policy = MemoryPolicy::Preferred(place.memory_node);
        assert_eq!(case.actors[0].memory(), Some(&policy));
        assert_eq!(case.actors[0].thread_cpus(), [place.first_cpu, place.second_cpu]);
    }
}

#[test]
fn full_has_lines_of_both_nodes() {
    let plan = planned(&synthetic(SMALL), Experiment::Exchange, full());
    // 16 of the 28 pairs are of two nodes.
    assert_eq!(plan.cases.len(), 2 * (28 + 16));
    assert!(ids(&plan).contains(&"exchange/cpu0/cpu4/node1/store_load"));
}

/// Some of each kind, and the record says so.
#[test]
fn large_machines_are_thinned_by_kind() {
    let machine = builtin("two-socket-8-nodes");
    let plan = planned(&machine, Experiment::Exchange, standard());
    assert_eq!(plan.cases.len(), 2 * 60);
    let mut kinds: BTreeMap<_, BTreeSet<[u32; 2]>> = BTreeMap::new();
    for case in &plan.cases {
        let Coordinates::Exchange(place) = &case.coordinates[0] else { panic!() };
        let cpus = [place.first_cpu, place.second_cpu];
        kinds.entry(machine.cpu_relation(cpus[0], cpus[1])).or_default().insert(cpus);
    }
    assert_eq!(kinds.values().map(BTreeSet::len).collect::<Vec<_>>(), [12; 5]);
    assert_eq!(plan.absent[0].reason.code, ReasonCode::FullSuiteOnly);
    let cpus = machine.cpus().len();
    let all = planned(&machine, Experiment::Exchange, full());
    let pairs: BTreeSet<_> = all.cases.iter().map(|case| case.actors[0].thread_cpus()).collect();
    assert_eq!(pairs.len(), cpus * (cpus - 1) / 2);
    assert!(all.absent.is_empty());
}

#[test]
fn one_cpu_has_nobody_to_hand_a_line_to() {
    let mut machine = synthetic(SMALL);
    machine.allowed_cpus = "3".parse().unwrap();
    let plan = planned(&machine, Experiment::Exchange, standard());
    assert!(plan.cases.is_empty());
    assert_eq!(plan.absent[0].reason.code, ReasonCode::OneCore);
}
