//! Recorded machines from outside the repository (`../shared/zoo` beside the
//! workspace), where they are there. The expected counts come from the table in
//! their README, which was made with another program.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers as well")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nearfar_machine::{DeviceKind, Machine, MemoryKind};
use nearfar_topology::{TopologyError, amend_from_sysfs, read_xml};

fn zoo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/zoo")
}

fn xml_files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = ["xml", "from-sysfs", "qemu"]
        .iter()
        .filter_map(|folder| fs::read_dir(zoo().join(folder)).ok())
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "xml"))
        .collect();
    files.sort();
    files
}

/// A machine of the zoo, or `None` where the zoo is not there.
fn machine(file: &str) -> Option<Machine> {
    let path = zoo().join(file);
    path.exists().then(|| read_xml(&path).unwrap())
}

/// The same, completed from its saved tree.
fn amended(folder: &str, name: &str) -> Option<Machine> {
    let mut machine = machine(&format!("{folder}/{name}.xml"))?;
    let archive = zoo().join(format!("sysfs/{name}.tar.bz2"));
    let unpacked = tempfile::tempdir().unwrap();
    // Not all trees have all of these; tar then fails after unpacking the others.
    let parts = ["devices/system/node", "bus/pci/devices", "devices/pci*"];
    let unpacking = Command::new("tar")
        .arg("xjf")
        .arg(&archive)
        .arg("-C")
        .arg(unpacked.path())
        .arg("--wildcards")
        .args(parts.map(|part| format!("{name}/sys/{part}")))
        .arg(format!("{name}/proc/meminfo"))
        .output();
    if unpacking.is_err() || !unpacked.path().join(name).join("sys").is_dir() {
        return None;
    }
    amend_from_sysfs(&mut machine, &unpacked.path().join(name));
    assert_eq!(machine.check(), Vec::<String>::new(), "{name}");
    Some(machine)
}

/// File, nodes, PUs, PCI devices and nodes behind a memory-side cache, by the README.
fn table() -> Vec<(String, [usize; 4])> {
    let text = fs::read_to_string(zoo().join("README.md")).unwrap_or_default();
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    rows.map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let number = |column: usize| cells[column].parse().unwrap();
        (cells[1].trim_matches('`').to_owned(), [number(2), number(3), number(7), number(6)])
    })
    .collect()
}

#[test]
fn every_recorded_machine_is_read_or_refused_for_a_reason() {
    let mut read = 0;
    let mut refused: BTreeMap<String, u32> = BTreeMap::new();
    for path in xml_files() {
        match read_xml(&path) {
            Ok(machine) => {
                read += 1;
                assert_eq!(machine.check(), Vec::<String>::new(), "{}", path.display());
                assert!(!machine.initiators().is_empty(), "{} has no initiator", path.display());
            }
            Err(error) => {
                let newer = matches!(error, TopologyError::NewerFormat { .. });
                assert!(newer, "{}: {error}", path.display());
                *refused.entry("written by hwloc 3".into()).or_default() += 1;
            }
        }
    }
    say(&format!("zoo: {read} read, {} refused {refused:?}", refused.values().sum::<u32>()));
}

#[test]
fn counts_are_those_of_the_readme() {
    let mut checked = 0;
    for (file, counts) in table() {
        if file.ends_with(".v3.xml") {
            continue;
        }
        let machine = machine(&file).unwrap();
        let cached = machine.nodes.iter().filter(|node| node.memory_side_cache_bytes.is_some());
        let [nodes, units, devices, caches] = counts;
        let ours = [machine.nodes.len(), machine.cpus().len(), cached.count()];
        assert_eq!(ours, [nodes, units, caches], "{file}: nodes, PUs, memory-side caches");
        // The table counts all PCI devices; hwloc keeps the important ones here.
        assert!(machine.devices.len() <= devices, "{file}: {} devices", machine.devices.len());
        checked += 1;
    }
    say(&format!("zoo: counts of {checked} machines checked"));
}

#[test]
fn kinds_of_memory_and_owners_of_cpus() {
    if let Some(knl) = machine("xml/64intel64-fakeKNL-SNC4-hybrid.xml") {
        let (hbm, dram): (Vec<_>, Vec<_>) =
            knl.nodes.iter().partition(|node| node.kind == MemoryKind::Hbm);
        assert_eq!((hbm.len(), dram.len()), (4, 4));
        assert!(hbm.iter().all(|node| node.cpus.is_empty() && node.locality.len() == 16));
        assert!(dram.iter().all(|node| node.kind == MemoryKind::Dram && node.cpus.len() == 16));
    }
    if let Some(tiers) = amended("from-sysfs", "fakeheteromemtiers") {
        use MemoryKind::{Dram, Hbm, Nvm};
        let kinds: Vec<MemoryKind> = tiers.nodes.iter().map(|node| node.kind).collect();
        assert_eq!(kinds, [Dram, Dram, Hbm, Hbm, Nvm, Nvm, Nvm]);
        assert_eq!(tiers.node(2).map(|node| node.cpus.len()), Some(2), "HBM that has CPUs");
    }
    if let Some(cached) = machine("xml/memorysidecaches.xml") {
        let sizes = cached.nodes.iter().map(|node| node.memory_side_cache_bytes);
        assert!(sizes.eq([Some(96 << 30); 4]), "96 GiB of DDR before each node of Optane");
    }
}

/// The kernel's lists decide where they are there; without them the same owners
/// are inferred on all recorded machines but those where nothing could tell.
#[test]
fn inferred_owners_are_the_kernels() {
    let mut checked = 0;
    for (file, _) in table().iter().filter(|(file, _)| !file.starts_with("xml/")) {
        let (folder, name) = file.trim_end_matches(".xml").split_once('/').unwrap();
        let (Some(inferred), Some(told)) = (machine(file), amended(folder, name)) else {
            continue;
        };
        for (guess, fact) in inferred.nodes.iter().zip(&told.nodes) {
            let (guess, fact) = (guess.cpus.is_empty(), fact.cpus.is_empty());
            assert_eq!(guess, fact, "{file}: memory-only or not");
        }
        checked += 1;
    }
    say(&format!("zoo: owners of CPUs checked on {checked} machines"));
}

#[test]
fn guest_with_a_cpuless_node_and_devices() {
    let Some(machine) = amended("qemu", "qemu-cxl-pci") else {
        return;
    };
    let far = machine.node(2).unwrap();
    assert!(far.cpus.is_empty());
    assert_eq!(machine.distance(0, 2), Some(14));
    let figure = machine.firmware_figures.iter().find(|figure| figure.node == 2).unwrap();
    assert_eq!(figure.read_bytes_per_s, Some(28e9), "the guest's HMAT, in MB/s");
    assert_eq!(figure.read_latency_ns, Some(220.0));
    let on = |bus_id: &str| {
        let device = machine.devices.iter().find(|device| device.bus_id == bus_id).unwrap();
        (device.nodes.to_string(), device.link.gt_per_s, device.link.lanes)
    };
    assert_eq!(on("0000:39:00.0"), ("1".into(), Some(2.5), Some(1)));
    assert_eq!(on("0000:51:00.0"), ("2".into(), Some(2.5), Some(1)), "hwloc does not know it");
    assert_eq!(on("0000:00:1f.2").0, "", "no one knows it");
}

#[test]
fn limits_of_a_cpuset_are_kept() {
    let Some(machine) = amended("qemu", "qemu-amd-2p-offline-cpuset") else {
        return;
    };
    assert_eq!(machine.allowed_cpus.to_string(), "1-2,4-6", "CPU 3 is offline");
    assert_eq!(machine.allowed_nodes.to_string(), "0-2");
    assert_eq!(machine.cpus().to_string(), "0-2,4-7");
}

#[test]
fn one_matrix_of_several_is_taken() {
    let Some(machine) = machine("xml/16amd64-4distances.xml") else {
        return;
    };
    let distances = machine.distances.as_ref().unwrap();
    assert_eq!((distances.nodes.len(), machine.distance(0, 7)), (8, Some(20)));
    let note = machine.notes.iter().find(|note| note.starts_with("distance matrices")).unwrap();
    assert_eq!(note.matches("latency of").count(), 3, "{note}");
}

#[test]
fn gpus_keep_their_names_and_places() {
    let Some(machine) = machine("xml/nvidiaDGX2.xml") else {
        return;
    };
    let gpus = machine.devices.iter().filter(|device| device.kind == DeviceKind::Accelerator);
    let gpus: Vec<_> = gpus.collect();
    assert_eq!(gpus.len(), 16);
    assert_eq!(gpus[0].os_names, ["nvml0"]);
    assert_eq!(gpus.iter().filter(|gpu| gpu.nodes.contains(1)).count(), 8);
}

/// The test runner hides what passing tests print; these counts are to be seen.
fn say(words: &str) {
    use std::io::Write;
    // eprintln! would be hidden as well.
    let mut stderr = std::io::stderr();
    stderr.write_all(format!("{words}\n").as_bytes()).unwrap();
}
