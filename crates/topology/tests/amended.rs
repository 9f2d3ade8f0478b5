//! What the kernel's files add to a machine, on trees that the tests write.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers as well")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use nearfar_machine::{CpuSet, Machine, NodeSet};
use nearfar_topology::{TopologyError, amend_from_sysfs, parse_synthetic, read_live, read_xml};
use tempfile::TempDir;

const NODES: &str = "sys/devices/system/node";
const NIC: &str = "sys/bus/pci/devices/0000:3b:00.1";
const DISK: &str = "sys/bus/pci/devices/0001:01:00.0";

fn tree(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    root
}

/// Nodes 0 and 1 with CPUs 0 and 4, node 3 local to both, a NIC and a disk.
fn machine() -> Machine {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    read_xml(&folder.join("far_node_and_nic.xml")).unwrap()
}

fn amended(files: &[(&str, &str)]) -> Machine {
    let mut machine = machine();
    amend_from_sysfs(&mut machine, tree(files).path());
    assert_eq!(machine.check(), Vec::<String>::new());
    machine
}

fn node(path: &str) -> String {
    format!("{NODES}/{path}")
}

fn cpus(list: &str) -> CpuSet {
    list.parse().unwrap()
}

fn nodes(list: &str) -> NodeSet {
    list.parse().unwrap()
}

fn noted(machine: &Machine, words: &str) -> bool {
    machine.notes.iter().any(|note| note.contains(words))
}

#[test]
fn empty_tree_changes_nothing_but_says_what_may_be_used() {
    let mut expected = machine();
    let machine = amended(&[]);
    expected.notes.push("this process may use 1 of 2 CPUs: 4".into());
    assert_eq!(machine, expected);
}

#[test]
fn cpus_of_nodes_are_the_kernels() {
    let machine = amended(&[
        (&node("online"), "0-1,3\n"),
        (&node("has_cpu"), "1,3\n"),
        (&node("node0/cpulist"), "\n"),
        (&node("node1/cpulist"), "4\n"),
        (&node("node3/cpulist"), "0\n"),
    ]);
    let owned: Vec<&CpuSet> = machine.nodes.iter().map(|node| &node.cpus).collect();
    assert_eq!(owned, [&cpus(""), &cpus("4"), &cpus("0")], "against what was inferred");
    assert!(!noted(&machine, "inferred"));
    assert!(!noted(&machine, "contradicts itself"));
}

#[test]
fn cpus_of_nodes_stay_inferred_when_one_list_is_missing() {
    let machine = amended(&[
        (&node("online"), "0-1,3\n"),
        (&node("node0/cpulist"), "\n"),
        (&node("node1/cpulist"), "4\n"),
    ]);
    assert_eq!(machine.node(0).unwrap().cpus, cpus("0"));
    assert!(noted(&machine, "inferred"));
}

#[test]
fn contradictions_are_noted() {
    let machine = amended(&[
        (&node("online"), "0-1,3,7\n"),
        (&node("has_memory"), "0-1,3,7\n"),
        (&node("has_cpu"), "0\n"),
        (&node("node0/cpulist"), "0,9\n"),
        (&node("node1/cpulist"), "4\n"),
        (&node("node3/cpulist"), "\n"),
    ]);
    assert!(noted(&machine, "leaves out the nodes 7"));
    assert!(noted(&machine, "0 by has_cpu, 0-1 by their lists"));
    assert!(noted(&machine, "the kernel gives node 0 the CPUs 0,9"));
    assert_eq!(machine.node(0).unwrap().cpus, cpus("0"));
}

/// A machine that hwloc describes by `synthetic`, and the kernel by CPUs of each node and by the nodes with
/// memory.
fn as_the_kernel_says(
    synthetic: &str,
    lists: &[&str],
    has_memory: &str,
    distances: &[&str],
) -> Machine {
    let mut files = vec![
        (node("online"), format!("0-{}\n", lists.len() - 1)),
        (node("has_memory"), format!("{has_memory}\n")),
    ];
    for (number, list) in lists.iter().enumerate() {
        files.push((node(&format!("node{number}/cpulist")), format!("{list}\n")));
    }
    for (number, row) in distances.iter().enumerate() {
        files.push((node(&format!("node{number}/distance")), format!("{row}\n")));
    }
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let mut machine = parse_synthetic(synthetic).unwrap();
    amend_from_sysfs(&mut machine, tree(&files).path());
    assert_eq!(machine.check(), Vec::<String>::new());
    machine
}

/// CPUs and local memory of the initiators.
fn initiators(machine: &Machine) -> Vec<(String, String)> {
    let all = machine.initiators().into_iter();
    all.map(|own| (own.cpus.to_string(), own.memory_nodes.to_string())).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(cpus, nodes)| ((*cpus).into(), (*nodes).into())).collect()
}

#[test]
fn nodes_across_packages_are_initiators_as_the_kernel_has_them() {
    let lists = ["0-1,4-5", "2-3,6-7"];
    // hwloc drops such nodes' places, or a node.
    for synthetic in ["pack:2 [numa] core:4 pu:1", "[numa] pack:2 core:4 pu:1"] {
        let machine = as_the_kernel_says(synthetic, &lists, "0-1", &["10 20", "20 10"]);
        assert_eq!(initiators(&machine), pairs(&[("0-1,4-5", "0"), ("2-3,6-7", "1")]));
        assert_eq!(machine.nodes_across_packages(), nodes("0-1"));
    }
}

#[test]
fn cpus_of_nodes_without_memory_are_initiators() {
    let lists = ["0-1", "2-3", "4-5", "6-7"];
    let rows = ["10 12 12 12", "12 10 12 12", "12 12 10 12", "12 12 12 10"];
    let machine = as_the_kernel_says("numa:4 core:2 pu:1", &lists, "1-2", &rows);
    let expected = pairs(&[("0-1", ""), ("2-3", "1"), ("4-5", "2"), ("6-7", "")]);
    assert_eq!(initiators(&machine), expected);
    assert_eq!(machine.node(0).unwrap().memory_bytes, Some(0));
    assert_eq!(machine.allowed_nodes, nodes("1-2"));
    assert!(!noted(&machine, "may allocate"), "no cpuset keeps it from memory that is not there");
    let all_remote = as_the_kernel_says(
        "[numa] [numa] core:4 pu:1",
        &["", "", "0-3"],
        "0-1",
        &["10 20 20", "20 10 20", "20 20 10"],
    );
    assert_eq!(initiators(&all_remote), pairs(&[("0-3", "")]));
    assert_eq!(all_remote.cpus_near(all_remote.node(1).unwrap()), cpus("0-3"), "as near as any");
}

#[test]
fn memory_at_distance_twenty_is_not_local() {
    let rows = ["10 20 40", "20 10 40", "40 40 10"];
    let machine =
        as_the_kernel_says("[numa] [numa] [numa] core:4 pu:1", &["0-3", "", ""], "0-2", &rows);
    assert_eq!(initiators(&machine), pairs(&[("0-3", "0")]));
    assert!(machine.cpus_near(machine.node(1).unwrap()).is_empty());
}

#[test]
fn nodes_with_neither_cpus_nor_memory_are_left_out() {
    let mut lists = vec!["0", "1"];
    lists.resize(40, "");
    let machine = as_the_kernel_says("numa:2 core:1 pu:1", &lists, "0-1", &[]);
    assert_eq!(machine.nodes.len(), 2);
    let machine =
        as_the_kernel_says("pack:2 [numa] [numa] core:1 pu:1", &["0", "", "1", ""], "0,2", &[]);
    let numbers: Vec<u32> = machine.nodes.iter().map(|node| node.os_index).collect();
    assert_eq!(numbers, [0, 2]);
    assert!(noted(&machine, "left out: nodes 1,3, which have neither CPUs nor memory"));
}

#[test]
fn missing_garbled_and_unreadable_differ() {
    let missing = amended(&[]);
    assert!(!noted(&missing, "not understood") && !noted(&missing, "cannot be read"));
    let garbled = amended(&[(&node("online"), "zero to three\n")]);
    assert!(noted(&garbled, "online is not understood: 'zero to three'"));
    let not_text = tree(&[]);
    fs::create_dir_all(not_text.path().join(NODES)).unwrap();
    fs::write(not_text.path().join(node("online")), b"\xff\xfe").unwrap();
    let mut machine = machine();
    amend_from_sysfs(&mut machine, not_text.path());
    assert!(noted(&machine, "online is not understood: not text"));
    // A folder in a file's place cannot be read by anyone, root included.
    let unreadable = amended(&[(&node("online/x"), "")]);
    assert!(noted(&unreadable, "online cannot be read"), "{:?}", unreadable.notes);
}

#[test]
fn distances_come_from_the_kernel_where_hwloc_has_none() {
    let mut machine = parse_synthetic("numa:2 pu:1").unwrap();
    machine.distances = None;
    let root = tree(&[
        (&node("online"), "0-1\n"),
        (&node("node0/distance"), "10 32\n"),
        (&node("node1/distance"), "31 10\n"),
    ]);
    amend_from_sysfs(&mut machine, root.path());
    assert_eq!((machine.distance(0, 1), machine.distance(1, 0)), (Some(32), Some(31)));
}

#[test]
fn firmware_figures_are_in_the_kernels_units() {
    let machine = amended(&[
        (&node("node3/access0/initiators/node0/x"), ""),
        (&node("node3/access0/initiators/read_bandwidth"), "999\n"),
        (&node("node3/access1/initiators/node0/x"), ""),
        (&node("node3/access1/initiators/read_bandwidth"), "28000\n"),
        (&node("node3/access1/initiators/write_bandwidth"), "0\n"),
        (&node("node3/access1/initiators/read_latency"), "220\n"),
        (&node("node1/access0/initiators/node1/x"), ""),
        (&node("node1/access0/initiators/write_latency"), "80\n"),
    ]);
    let [near, far] = &machine.firmware_figures[..] else {
        panic!("{:?}", machine.firmware_figures)
    };
    assert_eq!((near.node, near.write_latency_ns), (1, Some(80.0)), "class 0 without a class 1");
    assert_eq!((far.node, &far.initiator), (3, &Some(cpus("0"))));
    assert_eq!(far.read_bytes_per_s, Some(28e9), "MB/s of class 1");
    assert_eq!(far.write_bytes_per_s, None, "0 is not known");
    assert_eq!((far.read_latency_ns, far.write_latency_ns), (Some(220.0), None));
}

#[test]
fn interleave_weights() {
    const FOLDER: &str = "sys/kernel/mm/mempolicy/weighted_interleave";
    assert_eq!(amended(&[]).interleave_weights, None);
    let weight = |node: u32| format!("{FOLDER}/node{node}");
    for name in ["auto", "__auto_type"] {
        let machine = amended(&[
            (&weight(0), "3\n"),
            (&weight(3), "1\n"),
            (&format!("{FOLDER}/{name}"), "true\n"),
        ]);
        assert_eq!(machine.interleave_weights, Some(BTreeMap::from([(0, 3), (3, 1)])));
        assert!(noted(&machine, "the kernel's own"), "{name}");
    }
    let mut alone = parse_synthetic("numa:1 pu:2").unwrap();
    let automatic = format!("{FOLDER}/auto");
    amend_from_sysfs(&mut alone, tree(&[(&weight(0), "1\n"), (&automatic, "true\n")]).path());
    assert!(!noted(&alone, "the kernel's own"), "nothing to interleave: {:?}", alone.notes);
    let odd = amended(&[(&weight(0), "0\n"), (&weight(1), "5\n")]);
    assert_eq!(odd.interleave_weights, Some(BTreeMap::from([(1, 5)])), "0 is no weight");
    assert!(noted(&odd, "node0 is not understood: '0'"));
}

#[test]
fn links_and_places_of_devices() {
    let machine = amended(&[
        (&format!("{NIC}/current_link_speed"), "8.0 GT/s PCIe\n"),
        (&format!("{NIC}/current_link_width"), "8\n"),
        (&format!("{NIC}/max_link_speed"), "16 GT/s\n"),
        (&format!("{NIC}/max_link_width"), "16\n"),
        (&format!("{NIC}/numa_node"), "-1\n"),
        (&format!("{DISK}/current_link_speed"), "Unknown\n"),
        (&format!("{DISK}/current_link_width"), "0\n"),
        (&format!("{DISK}/max_link_width"), "255\n"),
        (&format!("{DISK}/max_link_speed"), "fast\n"),
        (&format!("{DISK}/numa_node"), "3\n"),
    ]);
    let [nic, disk] = &machine.devices[..] else { panic!("{:?}", machine.devices) };
    assert_eq!((nic.link.gt_per_s, nic.link.lanes), (Some(8.0), Some(8)));
    assert_eq!((nic.link.max_gt_per_s, nic.link.max_lanes), (Some(16.0), Some(16)));
    assert!(nic.nodes.contains(1), "-1 says nothing, hwloc's answer stays");
    assert_eq!(disk.link, nearfar_machine::Link::default(), "Unknown, 0 and 255 are not known");
    assert!(noted(&machine, "max_link_speed is not understood: 'fast'"));
    assert!(!noted(&machine, "current_link_speed is not understood"));
    assert_eq!((&disk.nodes, &disk.cpus), (&nodes("3"), &cpus("0,4")));
    assert!(!noted(&machine, "the nearest node is not known"), "the kernel knew it");
}

#[test]
fn what_the_process_may_use_is_narrowed() {
    let mut machine = parse_synthetic("numa:2 core:2 pu:1").unwrap();
    let status = "Name:\tx\nCpus_allowed:\tf\nCpus_allowed_list:\t1-2,7\nMems_allowed_list:\t1\n";
    amend_from_sysfs(&mut machine, tree(&[("proc/self/status", status)]).path());
    assert_eq!((&machine.allowed_cpus, &machine.allowed_nodes), (&cpus("1-2"), &nodes("1")));
    assert!(noted(&machine, "this process may use 2 of 4 CPUs: 1-2"));
    assert!(noted(&machine, "this process may allocate on 1 of 2 nodes with memory: 1"));
    let mut whole = parse_synthetic("numa:2 core:2 pu:1").unwrap();
    let status = "Cpus_allowed_list:\t0-3\nMems_allowed_list:\t0-1\n";
    amend_from_sysfs(&mut whole, tree(&[("proc/self/status", status)]).path());
    assert_eq!(whole.notes, Vec::<String>::new());
}

/// The two nodes whose size is known have 3 MiB together, the third is not known.
#[test]
fn sizes_of_nodes_are_held_against_the_machines() {
    let third = node("node1/meminfo");
    let of_node = "\nNode 1 MemTotal:        1024 kB\nNode 1 MemFree: 1 kB\n";
    let machine = amended(&[(&third, of_node), ("proc/meminfo", "MemTotal:  4000 kB\n")]);
    assert_eq!(machine.node(1).unwrap().memory_bytes, Some(1 << 20));
    assert!(!noted(&machine, "/proc/meminfo"), "4 MiB against 4000 KiB is within 10 %");
    let machine = amended(&[(&third, of_node), ("proc/meminfo", "MemTotal:  9000 kB\n")]);
    assert!(noted(&machine, "the nodes have 4 MiB together, /proc/meminfo says 8 MiB"));
    let machine = amended(&[("proc/meminfo", "MemTotal:  9000 kB\n")]);
    assert!(!noted(&machine, "/proc/meminfo says"), "no sum without all sizes");
}

/// Set for the child of the test below only.
const CHILD: &str = "NEARFAR_TEST_LIVE_CHILD";

#[test]
fn environment_does_not_reach_a_live_reading() {
    if std::env::var_os(CHILD).is_some() {
        match read_live(Path::new("/")).unwrap_err() {
            TopologyError::EnvironmentOverride { names } => println!("refused {}", names.join(" ")),
            error @ TopologyError::ForeignEnvironment { .. } => println!("refused {error}"),
            error => panic!("{error}"),
        }
        return;
    }
    for (name, refused) in [
        ("HWLOC_SYNTHETIC", "HWLOC_SYNTHETIC"),
        ("HWLOC_XMLFILE", "HWLOC_XMLFILE"),
        ("HWLOC_PCI_0000_3b_LOCALCPUS", "HWLOC_PCI_0000_3b_LOCALCPUS"),
        ("HWLOC_PLUGINS_PATH", "hwloc is not asked"),
        ("HWLOC_LIBXML", "hwloc is not asked"),
    ] {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "amended::environment_does_not_reach_a_live_reading", "--nocapture"])
            .env(CHILD, "1")
            .env(name, "numa:7 pu:7")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(&format!("refused {refused}")), "{said}");
    }
}
