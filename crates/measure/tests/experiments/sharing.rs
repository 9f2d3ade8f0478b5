use std::collections::BTreeSet;

use nearfar_machine::{Machine, NodeSet};
use nearfar_measure::experiment::Planned;
use nearfar_record::{Coordinates, Experiment, Grid, Inputs, SharingCoordinates};

use crate::machines::{
    builtin, case, full, ids, nodes_of, places, planned, random_machine, reasons, standard,
    streams, synthetic,
};

fn sharing(machine: &Machine, inputs: Inputs) -> Planned {
    planned(machine, Experiment::Sharing, inputs)
}

fn coordinates(planned: &Planned) -> Vec<&SharingCoordinates> {
    places(planned).map(|(place, _)| of_sharing(place)).collect()
}

fn of_sharing(place: &Coordinates) -> &SharingCoordinates {
    match place {
        Coordinates::Sharing(sharing) => sharing,
        other => panic!("{other:?} in sharing"),
    }
}

/// (n, m) of a remote initiator on a node.
fn cells(planned: &Planned, node: u32, remote: u32, kernel: &str) -> Vec<(u32, u32)> {
    let all = coordinates(planned);
    let of_pair = all.iter().filter(|place| {
        place.memory_node == node && place.remote_initiator == remote && place.kernel == kernel
    });
    let cells: BTreeSet<(u32, u32)> =
        of_pair.map(|place| (place.local_threads, place.remote_threads)).collect();
    cells.into_iter().collect()
}

/// The paper's machine: two packages of four cores (Xeon E5520).
fn nehalem() -> Machine {
    synthetic("pack:2 [numa] l3:1(size=8MB) core:4 pu:2")
}

#[test]
fn the_sparse_grid_is_lone_runs_and_four_mixed_cells() {
    let planned = sharing(&nehalem(), standard());
    let of_node_0: Vec<&str> =
        ids(&planned).into_iter().filter(|id| id.starts_with("sharing/node0/")).collect();
    let expected = [
        "initiator0x1",
        "initiator0x4",
        "initiator1x1",
        "initiator1x4",
        "initiator0x1+initiator1x1",
        "initiator0x2+initiator1x2",
        "initiator0x4+initiator1x1",
        "initiator0x4+initiator1x4",
    ];
    assert_eq!(of_node_0, expected.map(|name| format!("sharing/node0/{name}/triad/avx512")));
    assert_eq!(planned.cases.len(), 2 * expected.len());
    assert!(planned.absent.is_empty());
}

#[test]
fn the_full_grid_is_the_paper_s_table() {
    let planned = sharing(&nehalem(), full());
    let all: Vec<(u32, u32)> =
        (0..=4).flat_map(|n| (0..=4).map(move |m| (n, m))).filter(|&cell| cell != (0, 0)).collect();
    for kernel in ["triad", "load", "copy_nt"] {
        assert_eq!(cells(&planned, 0, 1, kernel), all, "{kernel}");
        assert_eq!(cells(&planned, 1, 0, kernel), all, "{kernel}");
    }
    assert_eq!(planned.cases.len(), 3 * 2 * 24);
    let grid = Inputs { grid: Grid::Full, ..standard() };
    assert_eq!(sharing(&nehalem(), grid).cases.len(), 2 * 24);
}

#[test]
fn large_initiators_have_few_counts() {
    let most = |cores: u32| -> Vec<u32> {
        let machine = synthetic(&format!("pack:2 [numa] l3:1(size=8MB) core:{cores} pu:1"));
        let planned = sharing(&machine, full());
        let lone = cells(&planned, 0, 1, "triad").into_iter().filter(|&(_, m)| m == 0);
        lone.map(|(n, _)| n).collect()
    };
    assert_eq!(most(3), [1, 2, 3]);
    assert_eq!(most(6), [1, 2, 4, 6]);
    assert_eq!(most(24), [1, 2, 4, 8, 16, 24]);
    assert_eq!(most(64), [1, 2, 4, 16, 32, 64]);
    assert_eq!(most(96), [1, 2, 8, 16, 64, 96]);
}

#[test]
fn two_groups_share_one_node() {
    let planned = sharing(&nehalem(), standard());
    let both = case(&planned, "sharing/node1/initiator1x4+initiator0x1/triad/avx512");
    let groups = streams(both);
    // Cores have two CPUs each; one of them is used.
    assert_eq!(groups[0].thread_cpus, [8, 10, 12, 14]);
    assert_eq!(groups[1].thread_cpus, [0]);
    assert!(groups.iter().all(|stream| nodes_of(stream) == NodeSet::single(1)));
    let lone = case(&planned, "sharing/node1/initiator0x4/triad/avx512");
    let place = of_sharing(&lone.coordinates[0]);
    assert_eq!((place.local_initiator, place.remote_initiator), (1, 0));
    assert_eq!((place.local_threads, place.remote_threads), (0, 4));
}

/// The local initiator alone is measured once, for every remote initiator.
#[test]
fn lone_local_runs_are_shared() {
    let machine = synthetic("pack:3 [numa] l3:1(size=8MB) core:2 pu:1");
    let planned = sharing(&machine, full());
    let lone = case(&planned, "sharing/node1/initiator1x2/triad/avx512");
    let remotes: Vec<u32> =
        lone.coordinates.iter().map(|place| of_sharing(place).remote_initiator).collect();
    assert_eq!(remotes, [0, 2]);
    // A node: 2 local runs, and for each of 2 remote initiators 2 lone ones and 4 cells.
    assert_eq!(planned.cases.len(), 3 * 3 * (2 + 2 * (2 + 4)));
}

#[test]
fn the_sparse_grid_takes_one_initiator_of_each_relation() {
    let machine = builtin("two-socket-8-nodes");
    let sparse = sharing(&machine, standard());
    let remotes = |node: u32| -> BTreeSet<u32> {
        let all = coordinates(&sparse);
        let of_node = all.iter().filter(|place| place.memory_node == node);
        of_node.map(|place| place.remote_initiator).collect()
    };
    assert_eq!(remotes(0), BTreeSet::from([1, 4]));
    assert_eq!(remotes(6), BTreeSet::from([0, 4]));
    assert_eq!(reasons(&sparse), [("sharing/alike", "full_suite_only")]);
    assert!(sparse.absent[0].reason.text.contains("40 pairs"), "{}", sparse.absent[0].reason.text);
    let all = sharing(&machine, Inputs { grid: Grid::Full, ..standard() });
    assert!(all.absent.is_empty());
    assert!(sparse.cases.len() * 10 <= all.cases.len() * 4, "{}", sparse.cases.len());
    let ids: BTreeSet<&str> = ids(&all).into_iter().collect();
    assert!(sparse.cases.iter().all(|case| ids.contains(case.id.as_str())));
}

#[test]
fn what_cannot_share_is_named() {
    assert_eq!(
        reasons(&sharing(&synthetic("node:1 core:4 pu:2"), full())),
        [("sharing", "one_initiator")]
    );
    assert_eq!(
        reasons(&sharing(&synthetic("node:1 core:1 pu:2"), full())),
        [("sharing", "one_core")]
    );
    let mut machine = synthetic("pack:3 [numa] core:2 pu:1");
    machine.allowed_cpus = "0-3".parse().unwrap();
    machine.allowed_nodes = [1, 2].into_iter().collect();
    let limited = sharing(&machine, standard());
    assert_eq!(
        reasons(&limited),
        [
            ("sharing/initiator2", "cpus_not_allowed"),
            ("sharing/node0", "node_not_allowed"),
            ("sharing/node2", "cpus_not_allowed"),
        ]
    );
    assert!(coordinates(&limited).iter().all(|place| place.memory_node == 1));
    machine.allowed_cpus = "0-1".parse().unwrap();
    assert_eq!(reasons(&sharing(&machine, standard())), [("sharing", "one_initiator")]);
}

#[test]
fn coordinates_are_those_of_the_groups() {
    for seed in 0..100 {
        let machine = random_machine(seed);
        let initiators = machine.initiators();
        for (place, case) in places(&sharing(&machine, full())) {
            let place = of_sharing(place);
            let initiator = |index: u32| &initiators[index as usize];
            let (local, remote) =
                (initiator(place.local_initiator), initiator(place.remote_initiator));
            assert!(local.memory_nodes.contains(place.memory_node), "{seed}: {}", case.id);
            assert!(!remote.memory_nodes.contains(place.memory_node), "{seed}: {}", case.id);
            let sides = [(local, place.local_threads), (remote, place.remote_threads)];
            let sides = sides.into_iter().filter(|&(_, threads)| threads > 0);
            for ((initiator, _), stream) in sides.zip(streams(case)) {
                assert!(stream.binding.cpus.is_subset(&initiator.cpus), "{seed}: {}", case.id);
            }
        }
    }
}
