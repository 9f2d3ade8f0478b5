//! Every machine under both kernels, by root and by nobody: every case has all its
//! pages proven on the node that was asked for.

use serde_json::Value;

use crate::boot::User::{Nobody, Root};
use crate::boot::{Boot, NEW, OLD, Run};
use crate::check;
use crate::expected::Expected;

fn plain(user: crate::boot::User) -> Run {
    Run::new("", user, Expected::all())
}

/// One kernel where three would only take longer.
fn one_kernel(user: crate::boot::User) -> Run {
    let expected = Expected { kernels: 1, ..Expected::all() };
    Run { options: "--kernel triad", ..Run::new("one kernel", user, expected) }
}

#[test]
fn every_case_on_machines_whose_nodes_have_cpus_is_proven() {
    check(
        "machines whose nodes have CPUs",
        &[
            Boot::new("amd-2p", OLD, vec![plain(Nobody), one_kernel(Root)]),
            Boot::new("amd-2p", NEW, vec![plain(Root), one_kernel(Nobody)]),
            Boot::new("amd-4p", OLD, vec![one_kernel(Root)]),
            Boot::new("amd-4p", NEW, vec![plain(Nobody)]),
            Boot::new("intel-2p", NEW, vec![plain(Root)]),
        ],
    );
}

/// Nodes without CPUs are targets and never initiators.
#[test]
fn every_case_on_machines_with_memory_only_nodes_is_proven() {
    check(
        "machines with nodes without CPUs",
        &[
            Boot::new("knl", OLD, vec![plain(Root)]),
            Boot::new("knl", NEW, vec![plain(Nobody)]),
            Boot::new("cxl", OLD, vec![one_kernel(Nobody)]),
            Boot::new("cxl", NEW, vec![plain(Root)]),
        ],
    );
}

#[test]
fn one_node_has_local_cases_only() {
    check(
        "one node",
        &[
            Boot { node_mib: 768, ..Boot::new("one-node", OLD, vec![plain(Root)]) },
            Boot { node_mib: 768, ..Boot::new("one-node", NEW, vec![plain(Nobody)]) },
        ],
    );
}

#[test]
fn pcie_devices_are_near_the_nodes_where_they_are_plugged_in() {
    let devices = [(0, "virtio-net-pci"), (1, "bochs-display"), (1, "virtio-net-pci")];
    let boot = Boot {
        devices: devices.map(|(node, name)| (node, name.to_string())).to_vec(),
        setup: "as-nobody nearfar topo --json >/out/topo.json",
        ..Boot::new("intel-2p", NEW, vec![Run { name: "PCIe devices", ..one_kernel(Nobody) }])
    };
    for ended in check("PCIe devices", &[boot]) {
        let topo: Value = serde_json::from_slice(&ended.files["topo.json"]).unwrap();
        let mut seen: Vec<(String, Option<u64>)> = topo["devices"]
            .as_array()
            .unwrap()
            .iter()
            .map(|device| (device["kind"].as_str().unwrap().into(), device["node"].as_u64()))
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
}
