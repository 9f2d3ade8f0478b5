//! A machine that nobody has and a run of the engine on it.

use std::fs;
use std::path::Path;

use nearfar_machine::{
    Cache, CacheKind, Core, CpuSet, Distances, InitiatorKind, Machine, MemoryKind, MemoryNode,
    Package, Source,
};
use nearfar_measure::simulated::{SimulatedExecutor, SimulatedRates};
use nearfar_measure::{Engine, Interrupt, Outcome};
use nearfar_record::{
    Environment, Executor as ExecutorKind, Header, Inputs, Pages, Record, RecordWriter, SCHEMA,
    Suite, Versions, read_record,
};

pub const CORES_PER_NODE: u32 = 4;
const GIB: u64 = 1 << 30;

/// `nodes` nodes of four cores, two nodes a package, an L3 of 16 MiB for every two cores.
pub fn machine(nodes: u32) -> Machine {
    let cpus_of =
        |node: u32| -> CpuSet { (node * CORES_PER_NODE..(node + 1) * CORES_PER_NODE).collect() };
    let cpus = nodes * CORES_PER_NODE;
    let distance = |from: u32, to: u32| match (from == to, from / 2 == to / 2) {
        (true, _) => 10,
        (false, true) => 16,
        (false, false) => 22,
    };
    Machine {
        source: Source::Simulated("test".into()),
        packages: (0..nodes.div_ceil(2))
            .map(|os_index| Package {
                os_index,
                cpus: cpus_of(2 * os_index).union(&if 2 * os_index + 1 < nodes {
                    cpus_of(2 * os_index + 1)
                } else {
                    CpuSet::new()
                }),
                model: None,
            })
            .collect(),
        nodes: (0..nodes)
            .map(|os_index| MemoryNode {
                os_index,
                kind: MemoryKind::Dram,
                cpus: cpus_of(os_index),
                locality: cpus_of(os_index),
                memory_bytes: Some(16 * GIB),
                memory_side_cache_bytes: None,
            })
            .collect(),
        cores: (0..cpus).map(|cpu| Core { cpus: CpuSet::single(cpu) }).collect(),
        caches: (0..cpus / 2)
            .map(|pair| Cache {
                level: 3,
                kind: CacheKind::Unified,
                bytes: Some(16 << 20),
                line_bytes: Some(64),
                cpus: [2 * pair, 2 * pair + 1].into_iter().collect(),
            })
            .collect(),
        distances: Some(Distances {
            nodes: (0..nodes).collect(),
            values: (0..nodes)
                .map(|from| (0..nodes).map(|to| distance(from, to)).collect())
                .collect(),
        }),
        firmware_figures: Vec::new(),
        devices: Vec::new(),
        allowed_cpus: (0..cpus).collect(),
        allowed_nodes: (0..nodes).collect(),
        interleave_weights: None,
        notes: Vec::new(),
    }
}

/// 10 GB/s local and 4 GB/s remote by one thread, 25 GB/s at most by a node.
pub fn rates() -> SimulatedRates {
    SimulatedRates {
        local_per_thread: 10e9,
        remote_per_thread: 4e9,
        node: 25e9,
        noise: 0.0,
        disturbed: 0.0,
        full_nodes: Vec::new(),
    }
}

pub fn inputs(suite: Suite) -> Inputs {
    Inputs {
        suite,
        experiments: vec!["pairs".into()],
        initiator: InitiatorKind::Cluster,
        kernels: None,
        variant: None,
        pages: Pages::Transparent,
        working_set_bytes: None,
        window_ns: 50_000_000,
        windows_per_round: 2,
        min_rounds: 6,
        max_rounds: 8,
        target: 0.01,
        budget_ns: None,
        seed: 7,
    }
}

pub fn new_record(machine: &Machine, inputs: Inputs) -> Record {
    Record::new(Header {
        schema: SCHEMA.into(),
        versions: Versions { nearfar: "test".into(), hwloc: None },
        host: "test".into(),
        started: "2026-01-01T00:00:00Z".into(),
        executor: ExecutorKind::Simulated,
        inputs,
        fingerprint: machine.fingerprint(),
        machine: machine.clone(),
        environment: Environment { available_bytes: Some(64 * GIB), ..Environment::default() },
    })
}

/// Measures into `path`: a new record, or the one that is there.
pub fn measure(
    path: &Path,
    record: Record,
    rates: &SimulatedRates,
    interrupt_after: Option<u64>,
) -> Outcome {
    let interrupt = Interrupt::default();
    let machine = record.header.machine.clone();
    let mut executor = SimulatedExecutor::new(machine, rates.clone(), 3, interrupt.clone());
    if let Some(runs) = interrupt_after {
        executor.interrupt_after(runs);
    }
    let resumed = record.length > 0;
    let mut writer = if resumed {
        RecordWriter::append(path, record.length).unwrap()
    } else {
        RecordWriter::create(path, true).unwrap()
    };
    let mut watch = |_: nearfar_measure::Status<'_>| {};
    let mut engine = Engine::new(&mut executor, &mut writer, &interrupt, &mut watch, record);
    if resumed {
        engine.resume().unwrap();
    } else {
        engine.begin(&[]).unwrap();
    }
    engine.measure().unwrap()
}

pub fn read(path: &Path) -> Record {
    read_record(fs::File::open(path).unwrap()).unwrap()
}
