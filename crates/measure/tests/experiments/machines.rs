//! Machines to plan for, and what a plan is asked by.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fastrand::Rng;
use nearfar_flow::read_machine;
use nearfar_kernels::CATALOG;
use nearfar_machine::{
    Cache, CacheKind, Core, CpuSet, Distances, Machine, MemoryKind, MemoryNode, NodeSet, Package,
    Source,
};
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
    let kernels = CATALOG.iter().map(|kernel| kernel.name.to_owned());
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
    let shape = Shape {
        packages: random.u32(1..=4),
        nodes: random.u32(1..=3),
        domains: random.u32(1..=2),
        cores: random.u32(1..=6),
        threads: random.u32(1..=2),
        first_cpus_first: random.bool(),
    };
    let mut machine = shape.machine(&mut random);
    let all = machine.cpus();
    if random.bool() {
        machine.allowed_cpus = all.iter().filter(|_| random.u32(0..8) > 0).collect();
        let nodes = machine.allowed_nodes.iter().filter(|_| random.u32(0..8) > 0);
        machine.allowed_nodes = nodes.collect();
    }
    if random.u32(0..4) > 0 {
        machine.distances = Some(random_distances(&machine, &mut random));
    }
    assert_eq!(machine.check(), Vec::<String>::new(), "machine {seed}");
    machine
}

/// Numbers of parts, each within the one before.
struct Shape {
    packages: u32,
    nodes: u32,
    domains: u32,
    cores: u32,
    threads: u32,
    /// The first CPUs of all cores are counted before the second ones.
    first_cpus_first: bool,
}

impl Shape {
    fn machine(&self, random: &mut Rng) -> Machine {
        let (mut packages, mut nodes, mut caches) = (Vec::new(), Vec::new(), Vec::new());
        let mut cores = Vec::new();
        let all_cores = self.packages * self.nodes * self.domains * self.cores;
        let with_caches = random.u32(0..4) > 0;
        let mut next_node = 0;
        for package in 0..self.packages {
            let mut of_package = CpuSet::new();
            for _ in 0..self.nodes {
                let mut of_node = CpuSet::new();
                for _ in 0..self.domains {
                    let mut of_domain = CpuSet::new();
                    for _ in 0..self.cores {
                        let number = u32::try_from(cores.len()).unwrap();
                        let cpu = |thread: u32| match self.first_cpus_first {
                            true => number + thread * all_cores,
                            false => number * self.threads + thread,
                        };
                        let cpus: CpuSet = (0..self.threads).map(cpu).collect();
                        of_domain.extend(cpus.iter());
                        cores.push(Core { cpus });
                    }
                    if with_caches {
                        caches.push(cache(of_domain.clone()));
                    }
                    of_node.extend(of_domain.iter());
                }
                next_node += random.u32(0..2);
                nodes.push(node(next_node, of_node.clone(), of_node.clone(), random));
                next_node += 1;
                if random.u32(0..4) == 0 {
                    nodes.push(node(next_node, CpuSet::new(), of_node.clone(), random));
                    next_node += 1;
                }
                of_package.extend(of_node.iter());
            }
            packages.push(Package { os_index: package, cpus: of_package, model: None });
        }
        let all: CpuSet = cores.iter().flat_map(|core: &Core| core.cpus.iter()).collect();
        if random.u32(0..4) == 0 {
            nodes.push(node(next_node, CpuSet::new(), all.clone(), random));
        }
        cores.sort_by_key(|core: &Core| core.cpus.first());
        Machine {
            source: Source::Simulated("random".into()),
            packages,
            allowed_nodes: nodes.iter().map(|node| node.os_index).collect(),
            nodes,
            cores,
            caches,
            distances: None,
            firmware_figures: Vec::new(),
            devices: Vec::new(),
            allowed_cpus: all,
            interleave_weights: None,
            memory_modules: None,
            empty_memory_sockets: None,
            memory_modules_unknown: None,
            notes: Vec::new(),
        }
    }
}

fn cache(cpus: CpuSet) -> Cache {
    let bytes = Some(16 << 20);
    Cache { level: 3, kind: CacheKind::Unified, bytes, line_bytes: Some(64), cpus }
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
