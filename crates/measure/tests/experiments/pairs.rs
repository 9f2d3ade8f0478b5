use nearfar_machine::{GroupBy, NodeSet};
use nearfar_record::{Experiment, Inputs, Record, Suite};

use crate::machines::{ids, offered, reasons, record, synthetic};
use nearfar_measure::experiment::{Planned, plan};
use nearfar_measure::suite_inputs;

/// The matrix, which is the second phase.
fn matrix(machine: &nearfar_machine::Machine, group_by: GroupBy) -> Planned {
    let record: Record = record(machine, Inputs { group_by, ..suite_inputs(Suite::Quick) });
    let variants = offered();
    plan(Experiment::Pairs, 1, &variants, &record)
}

#[test]
fn parts_that_may_not_be_used_are_named_by_the_initiators_asked_for() {
    let mut machine = synthetic("pack:3 [numa] l3:1 core:2 pu:1");
    machine.allowed_cpus = "0,2-3".parse().unwrap();
    machine.allowed_nodes = NodeSet::from_iter([0, 2]);
    machine.nodes[2].memory_bytes = Some(0);
    let of = |kind| {
        let plan = matrix(&machine, kind);
        let named: Vec<(String, String)> = reasons(&plan)
            .into_iter()
            .map(|(name, code)| (name.to_owned(), code.to_owned()))
            .collect();
        (ids(&plan).len(), named)
    };
    let named = |cpu_groups: &[&str]| -> Vec<(String, String)> {
        let cpus = cpu_groups.iter().map(|name| (*name, "cpus_not_allowed"));
        let nodes = [("pairs/node1", "node_not_allowed"), ("pairs/node2", "node_not_allowed")];
        cpus.chain(nodes).map(|(name, code)| (name.to_owned(), code.to_owned())).collect()
    };
    // Three kernels on one node; one core of the first initiator, one or both of the second.
    assert_eq!(of(GroupBy::Memory), (3 * 3, named(&["pairs/initiator2"])));
    assert_eq!(of(GroupBy::L3), (3 * 3, named(&["pairs/l32"])));
    let cores = ["pairs/core1", "pairs/core4", "pairs/core5"];
    assert_eq!(of(GroupBy::Core), (3 * 3, named(&cores)));
}

#[test]
fn one_node_has_no_remote_pair() {
    let plan = matrix(&synthetic("pack:1 [numa] core:2 pu:1"), GroupBy::Memory);
    assert_eq!(reasons(&plan), [("pairs/remote", "one_node")]);
}
