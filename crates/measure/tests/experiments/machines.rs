//! Machines to plan for, and what a plan is asked by.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fastrand::Rng;
use nearfar_flow::read_machine;
use nearfar_kernels::CATALOG;
use nearfar_machine::{CpuSet, Distances, Machine, MemoryKind, MemoryNode, NodeSet};
use nearfar_measure::experiment::{Planned, plan};
use nearfar_measure::simulated::new_record;
use nearfar_measure::{OfferedVariants, flop_names, suite_inputs};
use nearfar_record::{Case, Coordinates, Experiment, Inputs, Record, Stream, Suite};
use nearfar_topology::{parse_synthetic, read_xml};

/// A machine from hwloc's synthetic text.
pub fn synthetic(text: &str) -> Machine {
    parse_synthetic(text).unwrap()
}

/// A machine that the program brings along.
pub fn builtin(name: &str) -> Machine {
    read_machine(name).unwrap().machine
}

pub fn standard() -> Inputs {
    suite_inputs(Suite::Standard)
}

pub fn full() -> Inputs {
    suite_inputs(Suite::Full)
}

/// A record in which this machine is to be measured, and nothing is yet.
pub fn record(machine: &Machine, inputs: Inputs) -> Record {
    let mut record = new_record(&read_machine("intel-2p").unwrap(), inputs, false);
    record.header.fingerprint = machine.fingerprint();
    record.header.machine = machine.clone();
    record
}

/// The kernels of a CPU with AVX-512.
pub fn offered() -> OfferedVariants {
    let variants = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let all: Vec<String> = variants(&["avx512", "avx2", "sse2", "portable"]);
    let others = [Experiment::Exchange, Experiment::Network].map(|it| it.as_str().to_owned());
    let kernels = CATALOG.iter().map(|kernel| kernel.name.to_owned()).chain(others);
    let named: BTreeMap<String, Vec<String>> =
        kernels.chain(flop_names()).map(|name| (name, all.clone())).collect();
    OfferedVariants { named, mixes: variants(&["avx512", "avx2", "sse2"]) }
}

/// The first phase of an experiment.
pub fn planned(machine: &Machine, experiment: Experiment, inputs: Inputs) -> Planned {
    let record = record(machine, inputs);
    let variants = offered();
    plan(experiment, 0, &variants, &record)
}

pub fn ids(planned: &Planned) -> Vec<&str> {
    planned.cases.iter().map(|case| case.id.as_str()).collect()
}

/// The case of that id.
pub fn case<'a>(planned: &'a Planned, id: &str) -> &'a Case {
    let found = planned.cases.iter().find(|case| case.id == id);
    found.unwrap_or_else(|| panic!("no case {id} among {:?}", ids(planned)))
}

/// The case's actors, which are streams.
pub fn streams(case: &Case) -> Vec<&Stream> {
    case.actors.iter().map(|actor| actor.as_stream().unwrap()).collect()
}

/// Reasons by the names of what they are of.
pub fn reasons(planned: &Planned) -> Vec<(&str, &str)> {
    let reason = |absent: &'_ nearfar_record::Absent| absent.reason.code.as_str();
    planned.absent.iter().map(|absent| (absent.case.as_str(), reason(absent))).collect()
}

/// Coordinates of all cases with their cases.
pub fn places(planned: &Planned) -> impl Iterator<Item = (&Coordinates, &Case)> {
    planned.cases.iter().flat_map(|case| case.coordinates.iter().map(move |place| (place, case)))
}

/// Recorded machines beside the workspace, where they are there.
pub fn zoo() -> Vec<(String, Machine)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/zoo");
    let mut files: Vec<PathBuf> = ["xml", "from-sysfs", "qemu"]
        .iter()
        .filter_map(|folder| fs::read_dir(root.join(folder)).ok())
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "xml"))
        .collect();
    files.sort();
    // Files of hwloc 3 are not read.
    let machine = |path: PathBuf| Some((path.display().to_string(), read_xml(&path).ok()?));
    files.into_iter().filter_map(machine).collect()
}

/// A machine of up to 4 packages, 12 nodes with cores and some without, with gaps in its numbers
/// and parts that may not be used.
pub fn random_machine(seed: u64) -> Machine {
    let mut random = Rng::with_seed(seed);
    let (packages, nodes, domains) = (random.u32(1..=4), random.u32(1..=3), random.u32(1..=2));
    let (cores, threads) = (random.u32(1..=6), random.u32(1..=2));
    let all_cores = packages * nodes * domains * cores;
    // The first CPUs of all cores are counted before the second ones, or core by core.
    let (of_core, of_thread) = if random.bool() { (1, all_cores) } else { (threads, 1) };
    let cpus_of = |core| (0..threads).map(move |thread| core * of_core + thread * of_thread);
    let numbers: Vec<String> = (0..all_cores).flat_map(cpus_of).map(|it| it.to_string()).collect();
    let mut machine = synthetic(&format!(
        "pack:{packages} numa:{nodes} l3:{domains}(size=16777216) core:{cores} \
         pu:{threads}(indexes={})",
        numbers.join(",")
    ));
    if random.u32(0..4) == 0 {
        machine.caches.clear();
    }
    let (mut nodes, mut next_node) = (Vec::new(), 0);
    for with_cores in std::mem::take(&mut machine.nodes) {
        next_node += random.u32(0..2);
        let cpus = with_cores.cpus;
        nodes.push(node(next_node, cpus.clone(), cpus.clone(), &mut random));
        next_node += 1;
        if random.u32(0..4) == 0 {
            nodes.push(node(next_node, CpuSet::new(), cpus, &mut random));
            next_node += 1;
        }
    }
    let all = machine.cpus();
    if random.u32(0..4) == 0 {
        nodes.push(node(next_node, CpuSet::new(), all.clone(), &mut random));
    }
    machine.allowed_nodes = nodes.iter().map(|node| node.os_index).collect();
    machine.nodes = nodes;
    if random.bool() {
        machine.allowed_cpus = all.iter().filter(|_| random.u32(0..8) > 0).collect();
        let nodes = machine.allowed_nodes.iter().filter(|_| random.u32(0..8) > 0);
        machine.allowed_nodes = nodes.collect();
    }
    machine.distances = None;
    if random.u32(0..4) > 0 {
        machine.distances = Some(random_distances(&machine, &mut random));
    }
    assert_eq!(machine.check(), Vec::<String>::new(), "machine {seed}");
    machine
}

fn node(os_index: u32, cpus: CpuSet, locality: CpuSet, random: &mut Rng) -> MemoryNode {
    let kind = match (cpus.is_empty(), random.bool()) {
        (false, _) => MemoryKind::Dram,
        (true, true) => MemoryKind::Hbm,
        (true, false) => MemoryKind::Cxl,
    };
    let memory_bytes = match random.u32(0..12) {
        0 => Some(0),
        1 => None,
        _ => Some(16 << 30),
    };
    MemoryNode { os_index, kind, cpus, locality, memory_bytes, memory_side_cache_bytes: None }
}

fn random_distances(machine: &Machine, random: &mut Rng) -> Distances {
    let nodes: Vec<u32> = machine.nodes.iter().map(|node| node.os_index).collect();
    let mut row = |from: &u32| -> Vec<u64> {
        nodes.iter().map(|to| if from == to { 10 } else { 10 + random.u64(1..=3) * 6 }).collect()
    };
    let values = nodes.iter().map(&mut row).collect();
    Distances { nodes, values }
}

/// Whether no CPU stands twice in these lists.
pub fn are_different(lists: &[&[u32]]) -> bool {
    let all = lists.concat();
    all.iter().copied().collect::<CpuSet>().len() == all.len()
}

/// Nodes of a stream's pages.
pub fn nodes_of(stream: &Stream) -> NodeSet {
    stream.binding.memory.nodes().unwrap_or_default()
}
