//! Small machines of our own, written by hand so that each value is known from
//! the file and not from the reader.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers as well")]

use std::path::Path;

use nearfar_machine::{CacheKind, CpuSet, DeviceKind, Machine, MemoryKind, NodeSet, Source};
use nearfar_topology::{TopologyError, parse_synthetic, parse_xml, read_live, read_xml};
use proptest::prelude::*;

const MIB: f64 = 1_048_576.0;

fn text(file: &str) -> String {
    std::fs::read_to_string(path(file)).unwrap()
}

fn path(file: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines").join(file)
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
fn dram_beside_hbm() {
    let machine = read_xml(&path("dram_beside_hbm.xml")).unwrap();
    assert_eq!(machine.source, Source::Xml("dram_beside_hbm.xml".into()));
    assert_eq!(machine.packages[0].model.as_deref(), Some("Invented CPU"));
    let [hbm, dram] = &machine.nodes[..] else { panic!("{:?}", machine.nodes) };
    assert_eq!((hbm.os_index, hbm.kind), (0, MemoryKind::Hbm));
    assert_eq!((dram.os_index, dram.kind), (2, MemoryKind::Dram));
    assert_eq!((&hbm.cpus, &hbm.locality), (&cpus(""), &cpus("0-1")));
    assert_eq!((&dram.cpus, &dram.locality), (&cpus("0-1"), &cpus("0-1")));
    assert!(noted(&machine, "taken for memory-only: 0"));
    assert_eq!(hbm.memory_side_cache_bytes, None);
    assert_eq!(dram.memory_side_cache_bytes, Some(4096));
    assert_eq!(dram.memory_bytes, Some(1_048_576));
    assert_eq!(machine.cores.len(), 1);
    assert_eq!(machine.cores[0].cpus, cpus("0-1"));
    let [cache] = &machine.caches[..] else { panic!("{:?}", machine.caches) };
    assert_eq!((cache.level, cache.kind, cache.bytes), (3, CacheKind::Unified, Some(32768)));
    assert_eq!(cache.line_bytes, Some(64));
    assert_eq!(machine.distances, None);
    assert_eq!(machine.allowed_nodes, nodes("0"));

    let [of_hbm, of_dram] = &machine.firmware_figures[..] else {
        panic!("{:?}", machine.firmware_figures)
    };
    assert_eq!((of_hbm.node, of_dram.node), (0, 2));
    assert_eq!(of_hbm.initiator, Some(cpus("0-1")));
    assert_eq!(of_hbm.read_bytes_per_s, Some(1000.0 * MIB), "the mean stands for both");
    assert_eq!(of_hbm.write_bytes_per_s, Some(1000.0 * MIB));
    assert!(noted(&machine, "Bandwidth of nodes 0 is given as one mean"));
    assert_eq!(of_dram.read_bytes_per_s, Some(300.0 * MIB));
    assert_eq!(of_dram.write_bytes_per_s, None, "not given is not known");
    assert_eq!((of_dram.read_latency_ns, of_dram.write_latency_ns), (Some(90.0), None));
}

#[test]
fn far_node_and_nic() {
    let machine = read_xml(&path("far_node_and_nic.xml")).unwrap();
    let numbers: Vec<u32> = machine.packages.iter().map(|package| package.os_index).collect();
    assert_eq!(numbers, [36, 5418], "labels of firmware, not positions");
    assert_eq!(machine.cpus(), cpus("0,4"));
    assert_eq!(machine.allowed_cpus, cpus("4"));
    let far = machine.node(3).unwrap();
    assert_eq!((&far.cpus, &far.locality), (&cpus(""), &cpus("0,4")));
    assert!(noted(&machine, "taken for memory-only: 3"));
    assert_eq!(machine.node(1).unwrap().memory_bytes, None, "not given is not known");

    // The file lists the nodes as 3, 0, 1; rows and columns follow them.
    let distances = machine.distances.as_ref().unwrap();
    assert_eq!(distances.nodes, [0, 1, 3]);
    assert_eq!((machine.distance(3, 0), machine.distance(0, 3)), (Some(17), Some(19)));
    assert_eq!((machine.distance(1, 0), machine.distance(0, 1)), (Some(32), Some(21)));
    assert!(noted(&machine, "distance matrices not used: latency of 2 PU"));

    let [nic, disk] = &machine.devices[..] else { panic!("{:?}", machine.devices) };
    assert_eq!((nic.bus_id.as_str(), nic.kind), ("0000:3b:00.1", DeviceKind::Network));
    assert_eq!(nic.class.as_deref(), Some("Ethernet"));
    assert_eq!(nic.vendor_device.as_deref(), Some("15b3:1017"));
    assert_eq!(nic.name.as_deref(), Some("Mellanox MT27800"));
    assert_eq!(nic.os_names, ["eth7", "mlx5_1"]);
    assert!(nic.nodes.contains(1) && !nic.nodes.contains(0), "{}", nic.nodes);
    assert_eq!(nic.cpus, cpus("4"));
    let speed = nic.link.bytes_per_s.unwrap();
    assert!((speed / 15.753_846e9 - 1.0).abs() < 1e-6, "{speed}");
    assert_eq!((disk.class.as_deref(), disk.kind), (Some("NVMe"), DeviceKind::Storage));
    assert_eq!((&disk.nodes, disk.link.bytes_per_s), (&nodes(""), None), "not known");
    assert!(noted(&machine, "the nearest node is not known of the devices 0001:01:00.0"));
}

#[test]
fn synthetic_text() {
    let machine = parse_synthetic("pack:2 numa:2(memory=1GB) l3:1 core:3 pu:2").unwrap();
    assert_eq!((machine.packages.len(), machine.nodes.len()), (2, 4));
    assert_eq!((machine.cores.len(), machine.cpus().len()), (12, 24));
    assert_eq!(machine.initiators().len(), 4);
    assert!(machine.nodes.iter().all(|node| node.memory_bytes.is_some()));
    assert!(machine.nodes.iter().all(|node| node.cpus == node.locality));
    assert_eq!(machine.caches.iter().filter(|cache| cache.level == 3).count(), 4);
}

#[test]
fn synthetic_text_that_is_refused() {
    for text in ["", "elephant:3"] {
        let refused = parse_synthetic(text);
        assert!(matches!(refused, Err(TopologyError::Refused { .. })), "{text:?}: {refused:?}");
    }
    for text in [
        "node:",
        "node:4 core:four",
        "node:0 pu:1",
        "node:65537 pu:1",
        "pack:256 core:256 pu:2",
        "pu:8193",
        "pu:99999999999999999999",
    ] {
        let refused = parse_synthetic(text);
        assert!(matches!(refused, Err(TopologyError::UnsafeText { .. })), "{text:?}: {refused:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn synthetic_counts_multiply(nodes in 1_usize..6, cores in 1_usize..6, units in 1_usize..4) {
        let text = format!("numa:{nodes} core:{cores} pu:{units}");
        let machine = parse_synthetic(&text).unwrap();
        prop_assert_eq!(machine.nodes.len(), nodes);
        prop_assert_eq!(machine.cores.len(), nodes * cores);
        prop_assert_eq!(machine.cpus().len(), nodes * cores * units);
        prop_assert_eq!(machine.check(), Vec::<String>::new());
        let shared: usize = machine.nodes.iter().map(|node| node.cpus.len()).sum();
        prop_assert_eq!(shared, machine.cpus().len());
    }

    #[test]
    fn any_text_is_refused_as_xml(text in "\\PC*") {
        prop_assert!(parse_xml(&text, "any").is_err());
    }
}

/// The counts of the kernel's list of processors are an oracle beside hwloc.
#[test]
fn this_machine() {
    let machine = match read_live(Path::new("/")) {
        Err(TopologyError::EnvironmentOverride { names }) => {
            println!("not checked: {names:?} set");
            return;
        }
        other => other.unwrap(),
    };
    assert_eq!(machine.source, Source::Live);
    assert_eq!(machine.check(), Vec::<String>::new());
    let listed = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let listed = listed.lines().filter(|line| line.starts_with("processor")).count();
    assert_eq!(machine.cpus().len(), listed);
    assert!(!machine.allowed_cpus.is_empty() && !machine.allowed_nodes.is_empty());
}

/// Each refusal by its variant, from one sound file with one thing changed.
#[test]
fn refusals() {
    let sound = text("far_node_and_nic.xml");
    let changed = |from: &str, to: &str| {
        assert!(sound.contains(from), "{from} is not in the file");
        let error = parse_xml(&sound.replacen(from, to, 1), "changed");
        let error = error.expect_err(&format!("{from} to {to:.60}"));
        let kind = format!("{error:?}");
        assert!(error.to_string().contains("changed"), "{error}");
        kind.split([' ', '{']).next().unwrap().to_owned()
    };
    assert_eq!(changed("version=\"2.0\"", "version=\"3.0\""), "NewerFormat");
    assert_eq!(changed(" version=\"2.0\"", ""), "OlderFormat");
    assert_eq!(changed("version=\"2.0\"", "version=\"two\""), "NotATopology");
    assert_eq!(changed("<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">", "<a/>"), "NotATopology");
    assert_eq!(changed("\"hwloc2.dtd\">", "\"x\" [<!ENTITY a \"b\">]>"), "UnsafeValue");
    assert_eq!(changed("</topology>", ""), "NotXml");
    assert_eq!(changed("</topology>", "</topology><topology version=\"2.0\"/>"), "NotXml");
    // hwloc would take these for 0, for nothing, or pass over them and what follows.
    for (from, to) in [
        ("type=\"PU\" os_index=\"4\"", "type=\"PU\" os_index=\"-4\""),
        ("type=\"PU\" os_index=\"4\"", "type=\"PU\" os_index=\"4294967300\""),
        ("cpuset=\"0x00000011\"", "cpuset=\"0xf...f\""),
        ("cpuset=\"0x00000011\"", "cpuset=\"seventeen\""),
        ("type=\"Core\"", "type = \"Core\""),
        ("object type=\"Core\"", "object kind=\"Core\""),
        ("gp_index=", "gp_index= "),
        ("</object>", "$</object>"),
        ("</object>", "<!-- x --></object>"),
        ("</object>", "<![CDATA[x]]></object>"),
    ] {
        assert_eq!(changed(from, to), "UnsafeValue", "{to}");
    }
    assert_eq!(changed("type=\"Core\"", "type=\"Elephant\""), "Refused");
    let large = format!("<!--{}--></topology>", "x\n".repeat(33 << 20));
    assert_eq!(changed("</topology>", &large), "FileTooLarge");
}

#[test]
fn files_that_cannot_be_read() {
    let missing = read_xml(Path::new("/nonexistent/machine.xml")).unwrap_err();
    assert!(matches!(missing, TopologyError::Unreadable { .. }), "{missing:?}");
    assert!(missing.to_string().contains("/nonexistent/machine.xml"));
    let folder = read_xml(&path("")).unwrap_err();
    assert!(matches!(folder, TopologyError::Unreadable { .. }), "{folder:?}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bytes.xml");
    std::fs::write(&file, b"<topology version=\"2.0\">\xff\xfe").unwrap();
    assert!(matches!(read_xml(&file).unwrap_err(), TopologyError::NotXml { byte: 24, .. }));
}

/// hwloc 3 writes its version; the message says how to get a file that can be read.
#[test]
fn newer_format_says_how_to_export() {
    let newer = text("far_node_and_nic.xml").replace("version=\"2.0\"", "version=\"3.0\"");
    let message = parse_xml(&newer, "new.xml").unwrap_err().to_string();
    assert!(message.contains("--export-xml-flags v2"), "{message}");
}
