use nearfar_machine::{Machine, MemoryKind};
use nearfar_measure::experiment::Planned;
use nearfar_record::{Case, Coordinates, Experiment, Inputs, Way};

use crate::machines::{
    builtin, case, full, ids, places, planned, random_machine, reasons, standard, streams,
    synthetic,
};

fn links(machine: &Machine) -> Planned {
    planned(machine, Experiment::Links, standard())
}

/// CPUs of threads and memory of each stream.
fn told(case: &Case) -> Vec<(Vec<u32>, String)> {
    let stream = |stream: &&nearfar_record::Stream| {
        (stream.thread_cpus.clone(), stream.binding.memory.to_string())
    };
    streams(case).iter().map(stream).collect()
}

#[test]
fn each_direction_alone_and_both_at_once() {
    let planned = links(&synthetic("pack:2 [numa] l3:1 core:2 pu:2"));
    let of_load: Vec<&str> = ids(&planned).into_iter().filter(|id| id.contains("/load/")).collect();
    let expected = [
        "links/package0-package1/one_way/load/avx512",
        "links/package0-package1/both_ways/load/avx512",
        "links/package1-package0/one_way/load/avx512",
    ];
    assert_eq!(of_load, expected);
    assert_eq!(planned.cases.len(), 2 * expected.len());
    let there = (vec![0, 2], "preferred:1".to_owned());
    let back = (vec![4, 6], "preferred:0".to_owned());
    assert_eq!(told(case(&planned, expected[0])), std::slice::from_ref(&there));
    assert_eq!(told(case(&planned, expected[1])), [there, back.clone()]);
    assert_eq!(told(case(&planned, expected[2])), [back]);
}

#[test]
fn all_initiators_use_all_nodes_of_the_other_package() {
    let planned = links(&synthetic("pack:2 numa:2 l3:1 core:2 pu:1"));
    let both = case(&planned, "links/package0-package1/both_ways/copy_nt/avx512");
    let memory = |text: &str| text.to_owned();
    assert_eq!(
        told(both),
        [
            (vec![0, 1], memory("interleave:2-3")),
            (vec![2, 3], memory("interleave:2-3")),
            (vec![4, 5], memory("interleave:0-1")),
            (vec![6, 7], memory("interleave:0-1")),
        ]
    );
    let Coordinates::Links(place) = &both.coordinates[0] else { panic!("not links") };
    assert_eq!((place.threads, place.way), (4, Way::BothWays));
}

#[test]
fn initiators_alone_go_by_their_own_way() {
    let machine = synthetic("pack:2 numa:2 l3:1 core:2 pu:1");
    let alone = |planned: &Planned| -> Vec<String> {
        let is_alone = |place: &Coordinates| match place {
            Coordinates::Links(place) => place.initiator.is_some(),
            other => panic!("{other:?} in links"),
        };
        let all = places(planned).filter(|(place, _)| is_alone(place));
        all.map(|(_, case)| case.id.clone()).collect()
    };
    let standard = links(&machine);
    let expected = [
        "initiator0-package1",
        "initiator1-package1",
        "initiator2-package0",
        "initiator3-package0",
    ];
    assert_eq!(alone(&standard), expected.map(|way| format!("links/{way}/one_way/load/avx512")));
    let of = case(&standard, "links/initiator3-package0/one_way/load/avx512");
    assert_eq!(told(of), [(vec![6, 7], "interleave:0-1".to_owned())]);
    let Coordinates::Links(place) = &of.coordinates[0] else { panic!("not links") };
    assert_eq!((place.from_package, place.initiator, place.threads), (1, Some(3), 2));
    assert_eq!(reasons(&standard), [("links/alone_kernels", "full_suite_only")]);
    let full = planned(&machine, Experiment::Links, full());
    assert_eq!(alone(&full).len(), 2 * expected.len());
    assert_eq!(reasons(&full), []);
    // The package's case again, and pairs again.
    assert_eq!(alone(&links(&synthetic("pack:2 [numa] l3:1 core:2 pu:2"))), [""; 0]);
    let mut one_node = machine;
    one_node.allowed_nodes = [0, 1, 2].into_iter().collect();
    let limited = ["initiator2-package0", "initiator3-package0"];
    let limited = limited.map(|way| format!("links/{way}/one_way/load/avx512"));
    assert_eq!(alone(&links(&one_node)), limited);
}

#[test]
fn memory_of_other_kinds_is_left_out_unless_there_is_no_other() {
    // Nodes 0 and 2 have cores, 1 and 3 are their fast memory.
    let mut machine = synthetic("pack:2 [numa] [numa] l3:1 core:2 pu:1");
    for node in &mut machine.nodes {
        let fast = node.os_index % 2 == 1;
        node.kind = if fast { MemoryKind::Hbm } else { MemoryKind::Dram };
        node.cpus = if fast { nearfar_machine::CpuSet::new() } else { node.locality.clone() };
    }
    let of = |machine: &Machine| {
        told(case(&links(machine), "links/package0-package1/one_way/load/avx512"))
    };
    assert_eq!(of(&machine), [(vec![0, 1], "preferred:2".to_owned())]);
    machine.allowed_nodes = [0, 1, 3].into_iter().collect();
    assert_eq!(of(&machine), [(vec![0, 1], "preferred:3".to_owned())]);
}

#[test]
fn packages_without_cores_or_memory_of_their_own_are_named() {
    assert_eq!(reasons(&links(&synthetic("node:4 core:2 pu:1"))), [("links", "one_package")]);
    assert_eq!(
        reasons(&links(&synthetic("numa:1 pack:2 core:2 pu:1"))),
        [("links/package0", "one_initiator"), ("links/package1", "one_initiator")]
    );
    let mut machine = synthetic("pack:4 [numa] core:2 pu:1");
    machine.allowed_cpus = "0-5".parse().unwrap();
    machine.allowed_nodes = [0, 1, 3].into_iter().collect();
    let limited = links(&machine);
    assert_eq!(
        reasons(&limited),
        [
            ("links/initiator3", "cpus_not_allowed"),
            ("links/node2", "node_not_allowed"),
            ("links/package2", "node_not_allowed"),
            ("links/package3", "cpus_not_allowed"),
        ]
    );
    assert_eq!(limited.cases.len(), 2 * 3);
    let inputs = Inputs { variant: Some("neon".into()), ..standard() };
    let foreign = planned(&builtin("amd-2p"), Experiment::Links, inputs);
    assert_eq!(reasons(&foreign), [("links/load", "no_variant"), ("links/copy_nt", "no_variant")]);
}

#[test]
fn threads_are_of_one_package_and_memory_of_the_other() {
    for seed in 0..200 {
        let machine = random_machine(seed);
        for (place, case) in places(&links(&machine)) {
            let Coordinates::Links(place) = place else { panic!("{place:?} in links") };
            let package = |number: u32| &machine.packages[number as usize].cpus;
            let (from, to) = (package(place.from_package), package(place.to_package));
            for stream in streams(case) {
                let there = stream.binding.cpus.is_subset(from);
                assert!(there || place.way == Way::BothWays, "{seed}: {}", case.id);
                let memory = if there { to } else { from };
                assert!(there || stream.binding.cpus.is_subset(to), "{seed}: {}", case.id);
                for node in stream.binding.memory.nodes().unwrap().iter() {
                    let locality = &machine.node(node).unwrap().locality;
                    assert!(locality.is_subset(memory), "{seed}: {}", case.id);
                }
            }
        }
    }
}
