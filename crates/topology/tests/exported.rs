//! Machines that are written as hwloc's XML and read again, and values in it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::fs;
use std::path::{Path, PathBuf};

use nearfar_machine::{AttributeValue, CpuSet, Machine, MemoryAttribute};
use nearfar_topology::{
    Caution, TopologyError, machine_xml, parse_synthetic, parse_xml, read_xml,
    write_memory_attributes,
};

/// hwloc's files here, and those of the zoo beside the checkout where it is there.
fn files() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["tests/machines", "../../../shared/zoo/xml", "../../../shared/zoo/qemu"];
    let entries =
        folders.iter().filter_map(|folder| fs::read_dir(here.join(folder)).ok()).flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "xml"));
    files.sort();
    files
}

/// What a machine says that its XML must keep.
fn assert_kept(machine: &Machine, read: &Machine, name: &str) {
    assert_eq!(read.packages, machine.packages, "{name}");
    assert_eq!(read.cores, machine.cores, "{name}");
    assert_eq!(read.caches, machine.caches, "{name}");
    assert_eq!(read.distances, machine.distances, "{name}");
    assert_eq!(read.allowed_cpus, machine.allowed_cpus, "{name}");
    for (read, node) in read.nodes.iter().zip(&machine.nodes) {
        let said = |node: &nearfar_machine::MemoryNode| {
            let of = (node.os_index, node.kind, node.locality.clone());
            (of, node.memory_bytes, node.memory_side_cache_bytes)
        };
        assert_eq!(said(read), said(node), "{name}");
    }
    assert_eq!(read.fingerprint(), machine.fingerprint(), "{name}");
}

#[test]
fn a_machine_that_was_written_is_read_as_the_same() {
    let synthetic = ["node:4 core:4 pu:2", "pack:2 numa:2 l3:2 l2:2 core:2 pu:1", "pu:3"];
    let mut machines: Vec<(String, Machine)> =
        synthetic.iter().map(|text| ((*text).into(), parse_synthetic(text).unwrap())).collect();
    let from_files = files()
        .into_iter()
        .filter_map(|path| Some((path.display().to_string(), read_xml(&path).ok()?)));
    machines.extend(from_files);
    assert!(machines.len() >= 5);
    for (name, machine) in machines {
        let read = parse_xml(&machine_xml(&machine).unwrap(), "written.xml")
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_kept(&machine, &read, &name);
    }
}

#[test]
fn parts_that_overlap_are_not_written() {
    let mut machine = parse_synthetic("pack:2 core:2 pu:1").unwrap();
    machine.packages[0].cpus = [0, 1, 2].into_iter().collect();
    let why = machine_xml(&machine).unwrap_err();
    assert!(why.contains("Package") && why.contains("0-2") && why.contains("2-3"), "{why}");
}

fn value(attribute: MemoryAttribute, node: u32, value: u64) -> AttributeValue {
    AttributeValue { attribute, initiator: [0, 1].into_iter().collect::<CpuSet>(), node, value }
}

/// The machine's firmware claims `Bandwidth` of node 0, `ReadBandwidth` and `ReadLatency` of
/// node 2.
#[test]
fn measured_values_take_the_place_of_all_that_was_claimed_of_the_attribute() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines/dram_beside_hbm.xml");
    let text = fs::read_to_string(path).unwrap();
    let values = [
        value(MemoryAttribute::ReadBandwidth, 0, 400_000),
        value(MemoryAttribute::ReadBandwidth, 2, 80_000),
        value(MemoryAttribute::Latency, 0, 150),
        value(MemoryAttribute::Bandwidth, 2, 70_000),
    ];
    let cautions = [(Caution::Simulated, "computed".into())];
    let written = write_memory_attributes(&text, "f.xml", &values, &cautions).unwrap();
    assert_eq!(written.replaced, [MemoryAttribute::Bandwidth, MemoryAttribute::ReadBandwidth]);
    assert_eq!(written.text.matches("<memattr ").count(), 4);
    let machine = parse_xml(&written.text, "f.xml").unwrap();
    let of = |node| machine.firmware_figures.iter().find(|figure| figure.node == node).unwrap();
    assert_eq!(of(0).read_bytes_per_s, Some(400_000.0 * 1_048_576.0));
    assert_eq!(of(0).write_bytes_per_s, None);
    assert_eq!(of(0).read_latency_ns, Some(150.0));
    assert_eq!(of(2).read_bytes_per_s, Some(80_000.0 * 1_048_576.0));
    // Of latencies of reads nothing was measured: the claim stays.
    assert_eq!(of(2).read_latency_ns, Some(90.0));
    // hwloc took the machine's information.
    let caution = "<info name=\"NearfarSimulated\" value=\"computed\"/>";
    assert!(written.text.contains(caution));
    // Written once more it is the same.
    let again = write_memory_attributes(&written.text, "f.xml", &values, &cautions).unwrap();
    assert_eq!(again.text, written.text);
    // Of a record without cautions those of the earlier one go.
    let sound = write_memory_attributes(&written.text, "f.xml", &values, &[]).unwrap();
    assert!(!sound.text.contains("Nearfar"));
}

#[test]
fn a_node_that_is_not_there_is_named() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines/dram_beside_hbm.xml");
    let text = fs::read_to_string(path).unwrap();
    let values = [value(MemoryAttribute::Latency, 1, 90)];
    let error = write_memory_attributes(&text, "f.xml", &values, &[]).unwrap_err();
    assert!(matches!(error, TopologyError::NoTarget { node: 1, .. }), "{error}");
}
