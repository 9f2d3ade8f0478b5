//! Every machine under both kernels, by root and by nobody: every case has all its
//! pages proven on the node that was asked for. A boot costs more than a run, so each
//! guest also has the runs of the other modules that its machine is fit for.

use nearfar_record::Experiment;
use serde_json::Value;

use crate::boot::User::{Nobody, Root};
use crate::boot::{Boot, Expectation, NEW, OLD, Run, User};
use crate::check;
use crate::expected::Expected;
use crate::{filters, lies, placement};

fn plain(user: User) -> Run {
    Run::new("", user, Expected::all())
}

/// Every experiment but the matrix of pairs, which the other runs have.
const EXPERIMENTS: &str = "scaling,sharing,links,roofs,hybrid,mixes,latency";

#[test]
fn every_experiment_is_run() {
    // No guest has a device that data can be copied to; workloads have tests of their own
    // ([`crate::workloads`]): emulated, those of a suite take minutes. Emulated CPUs that wait for each
    // other wait for the host's: hand-overs are run on it (`measure/tests/native`), and so are messages.
    let elsewhere = ["pairs", "devices", "workloads", "exchange", "network"];
    let mut run: Vec<&str> = EXPERIMENTS.split(',').chain(elsewhere).collect();
    run.sort_unstable();
    let mut all = Experiment::OF_MACHINE.map(Experiment::as_str);
    all.sort_unstable();
    assert_eq!(run, all);
}

fn experiments(user: User) -> Run {
    Run {
        only: EXPERIMENTS,
        options: "--suite standard --runs 2",
        expected: Expectation::Experiments,
        ..Run::new("every experiment", user, Expected::all())
    }
}

/// As [`experiments`], without the arithmetic of roofs: it touches no memory node, the emulation
/// of its instructions takes half the time of all, and it is the same in every guest: that with one node
/// has it.
fn experiments_of_memory(user: User) -> Vec<Run> {
    let of_memory = Run {
        name: "experiments of memory",
        only: "scaling,sharing,links,hybrid,mixes,latency",
        ..experiments(user)
    };
    // The variant without generated loops has the roofs of memory and caches only.
    let roofs = Run {
        name: "roofs of memory",
        only: "roofs",
        options: "--suite standard --runs 2 --isa portable",
        ..experiments(user)
    };
    vec![of_memory, roofs]
}

/// One kernel where three would only take longer.
fn one_kernel(user: User) -> Run {
    let expected = Expected { kernels: 1, ..Expected::all() };
    Run { options: "--kernel triad", ..Run::new("one kernel", user, expected) }
}

#[test]
#[ignore = "make outer: as with the other kernel"]
fn amd_2p_with_linux_6_1() {
    let mut runs = vec![plain(Nobody), one_kernel(Root)];
    runs.push(placement::offline_cpu(Nobody));
    check(&Boot::new("amd-2p", OLD, runs));
}

#[test]
fn amd_2p_with_linux_6_12() {
    let mut runs = vec![plain(Root), one_kernel(Nobody)];
    runs.extend(lies::about_nodes());
    runs.push(placement::offline_cpu(Root));
    check(&Boot::new("amd-2p", NEW, runs));
}

#[test]
#[ignore = "make outer: as with other machines"]
fn experiments_of_machines_with_two_packages() {
    for machine in ["amd-2p", "intel-2p"] {
        check(&Boot::new(machine, NEW, experiments_of_memory(Nobody)));
    }
}

#[test]
fn amd_4p_with_linux_6_1() {
    check(&Boot::new("amd-4p", OLD, vec![one_kernel(Root)]));
}

#[test]
#[ignore = "make outer: as with other machines"]
fn amd_4p_with_linux_6_12() {
    let mut runs = vec![one_kernel(Nobody)];
    runs.extend(experiments_of_memory(Nobody));
    check(&Boot::new("amd-4p", NEW, runs));
}

#[test]
fn intel_2p_with_linux_6_1() {
    let mut runs = filters::steps_down();
    runs.extend(placement::page_sizes());
    runs.extend(lies::cpuset_migration());
    // With balancing on, move_pages(2) of Linux 6.1 at times does not tell where pages are.
    let setup = "echo 0 >/proc/sys/kernel/numa_balancing";
    check(&Boot { setup, ..Boot::new("intel-2p", OLD, runs) });
}

#[test]
fn intel_2p_with_linux_6_12_and_devices() {
    let devices = [(0, "virtio-net-pci"), (1, "bochs-display"), (1, "virtio-net-pci")];
    let mut runs = vec![plain(Root)];
    runs.extend(placement::page_sizes());
    runs.push(placement::huge_pages_on_node_0());
    runs.extend(lies::cpuset_migration());
    runs.extend(lies::numa_balancing());
    let boot = Boot {
        devices: devices.map(|(node, name)| (node, name.to_string())).to_vec(),
        setup: NEAR_DEVICES,
        ..Boot::new("intel-2p", NEW, runs)
    };
    let files = check(&boot).files;
    let view = |name: &str| -> Value { serde_json::from_slice(&files[name]).unwrap() };
    judge_devices(&view("topo.json"));
    for (name, node) in [("adapter.json", 1), ("rank0.json", 0), ("rank1.json", 1)] {
        let report = view(name);
        assert_eq!(report["placement"], format!("local:{node}"), "{name}: {report:#}");
        let binding = report["binding"].as_str().unwrap();
        assert!(binding.ends_with(&format!("mem=preferred:{node}")), "{name}: {report:#}");
    }
    let lost = String::from_utf8_lossy(&files["lost.txt"]).to_string();
    assert!(lost.contains("the system does not say which memory node"), "{lost}");
}

/// Near an adapter on node 1, near the disk that hangs off the whole machine, and as two ranks of a launcher.
const NEAR_DEVICES: &str = r#"as-nobody nearfar topo --json >/out/topo.json
for device in /sys/bus/pci/devices/*; do
  case $(cat $device/class):$(cat $device/numa_node) in
  0x020000:1) adapter=${device##*/} ;;
  0x01*) disk=${device##*/} ;;
  esac
done
as-nobody nearfar run --near nic:$adapter --report=/out/adapter.json -- true
as-nobody nearfar run --near $disk -- true 2>/out/lost.txt
for rank in 0 1; do
  LOCAL_RANK=$rank LOCAL_WORLD_SIZE=2 nearfar run --near rank --report=/out/rank$rank.json -- true
done"#;

/// Devices are near the nodes where they are plugged in.
fn judge_devices(topo: &Value) {
    let mut seen: Vec<(String, Option<u64>)> = topo["devices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|device| {
            (
                device["kind"].as_str().unwrap().into(),
                device["nodes"].as_str().unwrap().parse().ok(),
            )
        })
        .collect();
    seen.sort();
    let near = |kind: &str, node| (kind.to_string(), node);
    let expected = [
        near("accelerator", Some(1)),
        near("network", Some(0)),
        near("network", Some(1)),
        // The disk for the results hangs off the whole machine.
        near("storage", None),
    ];
    assert_eq!(seen, expected, "{topo}");
}

#[test]
fn intel_2p_with_a_full_node() {
    check(&placement::full_node());
}

/// Nodes without CPUs are targets and never initiators.
#[test]
#[ignore = "make outer: as with the other kernel"]
fn knl_with_linux_6_1() {
    let mut runs = vec![plain(Root)];
    runs.extend(experiments_of_memory(Nobody));
    check(&Boot::new("knl", OLD, runs));
}

#[test]
fn knl_with_linux_6_12() {
    let mut runs = vec![plain(Nobody)];
    runs.extend(experiments_of_memory(Nobody));
    check(&Boot::new("knl", NEW, runs));
}

#[test]
#[ignore = "make outer: as with the other kernel"]
fn cxl_with_linux_6_1() {
    check(&Boot::new("cxl", OLD, vec![one_kernel(Nobody)]));
}

#[test]
fn cxl_with_linux_6_12() {
    let mut runs = vec![plain(Root)];
    runs.extend(experiments_of_memory(Nobody));
    runs.push(filters::memory_without_cpus());
    check(&Boot::new("cxl", NEW, runs));
}

/// One node has local cases only.
#[test]
#[ignore = "make outer: as with the other kernel"]
fn one_node_with_linux_6_1() {
    check(&Boot { node_mib: 768, ..Boot::new("one-node", OLD, vec![plain(Root)]) });
}

#[test]
fn one_node_with_linux_6_12() {
    check(&Boot {
        node_mib: 768,
        ..Boot::new("one-node", NEW, vec![plain(Nobody), experiments(Nobody)])
    });
}
