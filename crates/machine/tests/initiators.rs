//! Who is near what, on shapes of machines that have caught other tools out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use nearfar_machine::{
    Cache, CacheKind, Core, CpuSet, Distances, GroupBy, Machine, MemoryKind, MemoryNode, NodeSet,
    Package,
};
use nearfar_specimen::empty_machine;
use proptest::prelude::*;

fn set(list: &str) -> CpuSet {
    list.parse().unwrap()
}

/// (number, own CPUs, locality)
fn machine(nodes: &[(u32, &str, &str)], cores: &[&str], l3: &[&str]) -> Machine {
    let all: CpuSet = cores.iter().flat_map(|core| set(core).iter().collect::<Vec<_>>()).collect();
    Machine {
        nodes: nodes
            .iter()
            .map(|&(os_index, cpus, locality)| MemoryNode {
                os_index,
                kind: MemoryKind::Unknown,
                cpus: set(cpus),
                locality: set(locality),
                memory_bytes: Some(1 << 30),
                memory_side_cache_bytes: None,
            })
            .collect(),
        cores: cores.iter().map(|core| Core { cpus: set(core) }).collect(),
        caches: l3
            .iter()
            .map(|cpus| Cache {
                level: 3,
                kind: CacheKind::Unified,
                bytes: Some(1 << 25),
                line_bytes: Some(64),
                cpus: set(cpus),
            })
            .collect(),
        allowed_cpus: all,
        allowed_nodes: nodes.iter().map(|node| node.0).collect(),
        ..empty_machine()
    }
}

fn shape(machine: &Machine) -> Vec<(String, String, Option<u32>)> {
    machine
        .initiators()
        .into_iter()
        .map(|initiator| {
            (initiator.cpus.to_string(), initiator.memory_nodes.to_string(), initiator.cpu_node)
        })
        .collect()
}

fn row(cpus: &str, nodes: &str, cpu_node: Option<u32>) -> (String, String, Option<u32>) {
    (cpus.into(), nodes.into(), cpu_node)
}

/// Knights Landing in SNC mode: DRAM and MCDRAM of one initiator share their CPUs.
#[test]
fn fast_and_slow_memory_of_one_initiator_are_both_local() {
    let machine = machine(
        &[(0, "0-1", "0-1"), (1, "2-3", "2-3"), (2, "", "0-1"), (3, "", "2-3")],
        &["0", "1", "2", "3"],
        &[],
    );
    assert_eq!(shape(&machine), [row("0-1", "0,2", Some(0)), row("2-3", "1,3", Some(1))]);
}

/// A CXL node of the whole machine is local to no single initiator, and joins none together.
#[test]
fn memory_of_the_whole_machine_belongs_to_no_initiator() {
    let machine = machine(
        &[(0, "0-1", "0-1"), (1, "2-3", "2-3"), (2, "", "0-3")],
        &["0", "1", "2", "3"],
        &[],
    );
    assert_eq!(shape(&machine), [row("0-1", "0", Some(0)), row("2-3", "1", Some(1))]);
}

/// CPUs of a node and of its other half need not be neighbours in number.
#[test]
fn interleaved_cpu_numbers_stay_with_their_node() {
    let machine = machine(
        &[(0, "0,2,4,6", "0,2,4,6"), (1, "1,3,5,7", "1,3,5,7")],
        &["0,4", "1,5", "2,6", "3,7"],
        &[],
    );
    assert_eq!(shape(&machine), [row("0,2,4,6", "0", Some(0)), row("1,3,5,7", "1", Some(1))]);
    let cpu_groups = machine.cpu_groups(GroupBy::Memory);
    assert_eq!(cpu_groups[1].cores, [set("1,5"), set("3,7")]);
}

#[test]
fn a_node_without_memory_of_its_own_is_a_initiator_without_memory() {
    let machine = machine(&[(0, "0-1", "0-1")], &["0", "1", "2"], &[]);
    assert_eq!(shape(&machine), [row("0-1", "0", Some(0)), row("2", "", None)]);
}

/// Two initiators below one L3 (sub-NUMA clustering): the domain is cut at their border.
#[test]
fn an_l3_domain_over_two_initiators_is_cut() {
    let machine = machine(&[(0, "0-1", "0-1"), (1, "2-3", "2-3")], &["0", "1", "2", "3"], &["0-3"]);
    assert_eq!(machine.l3_domains(), [set("0-3")]);
    let domains: Vec<CpuSet> =
        machine.cpu_groups(GroupBy::L3).iter().map(|domain| domain.cpus()).collect();
    assert_eq!(domains, [set("0-1"), set("2-3")]);
}

#[test]
fn cpus_that_may_not_be_used_are_no_initiator() {
    let mut machine = machine(
        &[(0, "0-3", "0-3"), (1, "4-7", "4-7")],
        &["0-1", "2-3", "4-5", "6-7"],
        &["0-3", "4-7"],
    );
    machine.allowed_cpus = set("1-2");
    let initiators = machine.cpu_groups(GroupBy::Memory);
    assert_eq!(initiators[0].cores, [set("1"), set("2")]);
    assert!(initiators[1].cores.is_empty());
    // Numbers are of the hardware: a part of the machine keeps those of the whole.
    machine.allowed_cpus = set("5-6");
    let initiators = machine.cpu_groups(GroupBy::Memory);
    assert_eq!((initiators[1].index, initiators[1].initiator), (1, 1));
    let usable: Vec<u32> = machine
        .cpu_groups(GroupBy::Core)
        .iter()
        .filter(|core| !core.cores.is_empty())
        .map(|core| core.index)
        .collect();
    assert_eq!(usable, [2, 3]);
    // What the machine is does not depend on what may be used.
    assert_eq!(machine.initiators().len(), 2);
}

#[test]
fn the_fingerprint_is_of_the_hardware() {
    let first = machine(&[(0, "0-1", "0-1")], &["0", "1"], &["0-1"]);
    let mut smaller = first.clone();
    smaller.allowed_cpus = set("0");
    smaller.nodes[0].memory_bytes = Some(1);
    assert_eq!(first.fingerprint(), smaller.fingerprint());
    let mut other = first.clone();
    other.caches[0].bytes = Some(1);
    assert_ne!(first.fingerprint(), other.fingerprint());
}

#[test]
fn contradictions_are_found() {
    let sound = machine(&[(0, "0-1", "0-1")], &["0", "1"], &[]);
    assert_eq!(sound.check(), Vec::<String>::new());
    let overlapping = machine(&[(0, "0-1", "0-1")], &["0-1", "1"], &[]);
    assert_eq!(overlapping.check().len(), 1);
    let homeless = machine(&[(0, "0-5", "0-5")], &["0", "1"], &[]);
    assert_eq!(homeless.check().len(), 1);
    let mut elsewhere = sound.clone();
    elsewhere.allowed_nodes = NodeSet::single(7);
    assert_eq!(elsewhere.check().len(), 1);
}

#[test]
fn a_machine_survives_json() {
    let machine = machine(&[(0, "0-1", "0-1"), (2, "", "0-1")], &["0", "1"], &["0-1"]);
    let text = serde_json::to_string(&machine).unwrap();
    assert_eq!(serde_json::from_str::<Machine>(&text).unwrap(), machine);
}

fn with_distances(mut machine: Machine, values: &[&[u64]]) -> Machine {
    machine.distances = Some(Distances {
        nodes: machine.nodes.iter().map(|node| node.os_index).collect(),
        values: values.iter().map(|row| row.to_vec()).collect(),
    });
    machine
}

/// Memory next to the only CPUs is nearest to them and still remote: distance 20 is not 10.
#[test]
fn the_nearest_cpus_of_memory_need_not_have_it_local() {
    let nodes = [(0, "0-3", "0-3"), (1, "", "0-3"), (2, "", "0-3")];
    let distances: [&[u64]; 3] = [&[10, 20, 40], &[20, 10, 40], &[40, 40, 10]];
    let mut machine = with_distances(machine(&nodes, &["0", "1", "2", "3"], &[]), &distances);
    assert_eq!(shape(&machine), [row("0-3", "0", Some(0))]);
    assert_eq!(machine.cpus_near(&machine.nodes[1]), CpuSet::new());
    machine.nodes[1].kind = MemoryKind::Hbm;
    assert_eq!(shape(&machine), [row("0-3", "0-1", Some(0))], "HBM of the package");
}

/// Persistent memory of a package is nearer to its CPUs than the other package's memory.
#[test]
fn memory_nearer_than_any_other_cpus_memory_is_local() {
    let nodes = [(0, "0-1", "0-1"), (1, "2-3", "2-3"), (2, "", "0-1")];
    let distances: [&[u64]; 3] = [&[10, 21, 17], &[21, 10, 28], &[17, 28, 10]];
    let near = machine(&nodes, &["0", "1", "2", "3"], &[]);
    let machine = with_distances(near.clone(), &distances);
    assert_eq!(shape(&machine), [row("0-1", "0,2", Some(0)), row("2-3", "1", Some(1))]);
    let farther: [&[u64]; 3] = [&[10, 21, 24], &[21, 10, 28], &[24, 28, 10]];
    let machine = with_distances(near, &farther);
    assert_eq!(shape(&machine)[0], row("0-1", "0", Some(0)));
}

/// Half of the nodes have CPUs and no memory: theirs is on the nearest that has some.
#[test]
fn cpus_without_memory_are_initiators_with_the_nearest_memory() {
    let nodes = [(0, "0", "0"), (1, "1", "1"), (2, "2", "2"), (3, "3", "3")];
    let distances: [&[u64]; 4] =
        [&[10, 16, 16, 22], &[16, 10, 22, 16], &[16, 22, 10, 16], &[22, 16, 16, 10]];
    let mut machine = with_distances(machine(&nodes, &["0", "1", "2", "3"], &[]), &distances);
    for at in [0, 3] {
        machine.nodes[at].memory_bytes = Some(0);
        machine.allowed_nodes =
            machine.allowed_nodes.difference(&NodeSet::single(machine.nodes[at].os_index));
    }
    let own = ["", "1", "2", ""];
    let expected: Vec<_> =
        (0..4).map(|at| row(&at.to_string(), own[at as usize], Some(at))).collect();
    assert_eq!(shape(&machine), expected);
    let near: Vec<String> = machine
        .initiators()
        .iter()
        .map(|initiator| machine.nearest_memory(initiator).to_string())
        .collect();
    assert_eq!(near, ["1-2", "1", "2", "1-2"]);
    assert_eq!(machine.cpus_near(&machine.nodes[1]), set("0-1,3"));
    machine.allowed_nodes = NodeSet::single(2);
    assert_eq!(machine.home_memory(&machine.initiators()[0]), Some(2), "the one that it may use");
}

/// A guest whose nodes cross its packages; whole packages of one node are sound.
#[test]
fn nodes_that_cross_packages_are_found() {
    let package = |os_index, cpus| Package { os_index, cpus: set(cpus), model: None };
    let cores = ["0", "1", "2", "3", "4", "5", "6", "7"];
    let mut machine = machine(&[(0, "0-1,4-5", ""), (1, "2-3,6-7", "")], &cores, &[]);
    machine.packages = vec![package(0, "0-3"), package(1, "4-7")];
    assert_eq!(machine.nodes_across_packages().to_string(), "0-1");
    assert_eq!(shape(&machine), [row("0-1,4-5", "0", Some(0)), row("2-3,6-7", "1", Some(1))]);
    machine.nodes = vec![MemoryNode { cpus: set("0-7"), ..machine.nodes[0].clone() }];
    assert_eq!(machine.nodes_across_packages(), NodeSet::new());
}

proptest! {
    #[test]
    fn no_text_makes_the_readers_panic(text in "\\PC{0,40}") {
        text.parse::<CpuSet>().ok();
        text.parse::<nearfar_machine::Binding>().ok();
        text.parse::<nearfar_machine::MemoryPolicy>().ok();
    }

    /// By the definitions, CPU by CPU: nodes own CPUs, and memory-only nodes are next to some.
    #[test]
    fn initiators_and_domains_are_those_of_the_definitions(
        owners in prop::collection::vec(0_u32..5, 8),
        localities in prop::collection::vec(prop::collection::btree_set(0_u32..8, 0..8), 0..4),
        caches in prop::collection::vec((1_u32..4, prop::collection::btree_set(0_u32..8, 1..8)), 0..5),
    ) {
        let owned = |node: u32| (0..).zip(&owners).filter(move |(_, of)| **of == node).map(|(cpu, _)| cpu);
        // CPUs of node 4 are of none.
        let owned = (0..4).map(|node| (node, owned(node).collect::<CpuSet>().to_string()));
        let next_to = localities.iter().map(|cpus| cpus.iter().copied().collect::<CpuSet>());
        let next_to = (4..).zip(next_to).map(|(node, cpus)| (node, String::new(), cpus.to_string()));
        let nodes: Vec<(u32, String, String)> =
            owned.map(|(node, cpus)| (node, cpus.clone(), cpus)).chain(next_to).collect();
        let nodes: Vec<(u32, &str, &str)> =
            nodes.iter().map(|(node, cpus, next_to)| (*node, cpus.as_str(), next_to.as_str())).collect();
        let mut machine = machine(&nodes, &["0", "1", "2-3", "4-7"], &[]);
        machine.caches = caches
            .iter()
            .map(|(level, cpus)| Cache {
                level: *level,
                kind: CacheKind::Unified,
                bytes: None,
                line_bytes: None,
                cpus: cpus.iter().copied().collect(),
            })
            .collect();
        for initiator in machine.initiators() {
            let node = initiator.cpu_node;
            for (cpu, owner) in (0..).zip(&owners) {
                prop_assert_eq!(initiator.cpus.contains(cpu), *owner == node.unwrap_or(4));
            }
            for other in &machine.nodes {
                let is_own = node == Some(other.os_index);
                let is_next = other.cpus.is_empty() && other.locality == initiator.cpus;
                prop_assert_eq!(initiator.memory_nodes.contains(other.os_index), is_own || is_next);
            }
        }
        let mut placed = CpuSet::new();
        for domain in machine.l3_domains() {
            let first = domain.first().unwrap();
            let cache = machine.last_level_caches(&CpuSet::single(first)).first().map(|c| c.cpus.clone());
            let initiator = machine.initiators().into_iter().find(|c| c.cpus.contains(first)).unwrap();
            prop_assert_eq!(&domain, &cache.unwrap_or(initiator.cpus).difference(&placed));
            placed.extend(domain.iter());
        }
        prop_assert_eq!(placed, machine.cpus());
    }
}

/// Found by mutations of hwloc's synthetic text: the work grew with the cube of the nodes.
#[test]
fn machines_of_strangers_may_have_thousands_of_nodes() {
    let cpus: Vec<String> = (0..8192).map(|cpu| cpu.to_string()).collect();
    let nodes: Vec<(u32, &str, &str)> =
        (0..).zip(&cpus).map(|(number, cpu)| (number, cpu.as_str(), cpu.as_str())).collect();
    let cores: Vec<&str> = cpus.iter().map(String::as_str).collect();
    let machine = machine(&nodes, &cores, &[]);
    assert_eq!(machine.initiators().len(), 8192);
    assert_eq!(machine.l3_domains().len(), 8192);
}
