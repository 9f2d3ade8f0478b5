//! Records of latencies whose rounds are written by hand, of machines with a few nodes.

use std::collections::BTreeMap;

use nearfar_machine::{
    Binding, Cache, CacheKind, Core, CpuSet, Distances, MemoryKind, MemoryNode, MemoryPolicy,
};
use nearfar_record::{
    Actor, ActorSample, Case, Chase, ChaseWalk, Coordinates, LatencyCoordinates, LatencyLoad,
    PageNodes, PageSizes, Pages, Pinning, Proof, ProofMethod, Record, Sample, Stream, ThreadSample,
    TrafficMethod, read_record,
};

/// Bytes that chases walk through where a test does not care.
pub const SET: u64 = 64 << 20;

/// A header with what the format asks for, of a machine without anything.
const HEADER: &str = r#"{"header": {
    "schema": "nearfar.record/1", "versions": {"nearfar": "test"}, "host": "test",
    "started": "2026-01-01T00:00:00Z", "executor": "simulated",
    "inputs": {"suite": "quick", "experiments": ["roofs"], "initiator": "cluster",
        "pages": "transparent", "window_ns": 1000000000, "windows_per_round": 1, "runs": 1,
        "grid": "sparse", "min_rounds": 1, "max_rounds": 1, "target": 0.01, "seed": 0},
    "fingerprint": "cbf29ce484222325",
    "machine": {"source": "live", "packages": [], "nodes": [], "cores": [], "caches": [],
        "firmware_figures": [], "devices": [], "allowed_cpus": "", "allowed_nodes": "",
        "notes": []},
    "environment": {"cpu": {}, "firmware": {}, "architecture": "x86_64", "cgroup": {},
        "unknown": {}}}}"#;

/// A machine with so many nodes of two cores, each with a first-level cache of 32 KiB, a second
/// one of 1 MiB and lines of 64 bytes, and the firmware's distances.
pub fn empty_record(nodes: u32, distances: Option<Vec<Vec<u64>>>) -> Record {
    let mut record = read_record(format!("{}\n", HEADER.replace('\n', " ")).as_bytes()).unwrap();
    let machine = &mut record.header.machine;
    for node in 0..nodes {
        let cpus: CpuSet = [2 * node, 2 * node + 1].into_iter().collect();
        for cpu in cpus.iter() {
            machine.cores.push(Core { cpus: CpuSet::single(cpu) });
            for (level, bytes) in [(1, 32 << 10), (2, 1 << 20)] {
                machine.caches.push(Cache {
                    level,
                    kind: CacheKind::Unified,
                    bytes: Some(bytes),
                    line_bytes: Some(64),
                    cpus: CpuSet::single(cpu),
                });
            }
        }
        machine.nodes.push(MemoryNode {
            os_index: node,
            kind: MemoryKind::Dram,
            cpus: cpus.clone(),
            locality: cpus,
            memory_bytes: None,
            memory_side_cache_bytes: None,
        });
    }
    machine.distances = distances.map(|values| Distances { nodes: (0..nodes).collect(), values });
    record
}

/// Traffic beside a chase, with what its threads move in each round, useful bytes/s.
pub struct Load<'a> {
    pub pause_cycles: u32,
    pub rounds: &'a [f64],
}

/// A chase of a cluster on a node: ns of an access in each round.
pub fn add_chase(
    record: &mut Record,
    (cluster, node, bytes): (u32, u32, u64),
    ns: &[f64],
    load: Option<&Load<'_>>,
) {
    let name = load.map_or("idle".into(), |load| format!("pause{}", load.pause_cycles));
    let id = format!("latency/cluster{cluster}/node{node}/{bytes}/{name}");
    let place = LatencyCoordinates {
        cluster,
        cpu_node: Some(cluster),
        memory_node: node,
        working_set_bytes: bytes,
        pages: Pages::Transparent,
        walk: ChaseWalk::PageGroups,
        load: load.map(|load| LatencyLoad {
            kernel: "load".into(),
            variant: "avx2".into(),
            threads: 1,
            pause_cycles: load.pause_cycles,
        }),
    };
    let mut actors = vec![Actor::Chase(Chase {
        binding: Binding {
            cpus: CpuSet::single(2 * cluster),
            memory: MemoryPolicy::Preferred(node),
        },
        thread_cpu: 2 * cluster,
        working_set_bytes: bytes,
        llc_multiple: Some(if bytes >= SET { 4.0 } else { 0.5 }),
        group_bytes: 256 << 10,
        pages: Pages::Transparent,
    })];
    actors.extend(load.map(|load| stream(cluster, node, load.pause_cycles)));
    record.cases.push(Case {
        id: id.clone(),
        coordinates: vec![Coordinates::Latency(place)],
        actors,
    });
    for (round, &ns) in ns.iter().enumerate() {
        let mut moved = vec![8e9 / ns];
        moved.extend(load.and_then(|load| load.rounds.get(round)));
        record.samples.push(sample(&id, round, node, &moved));
    }
}

pub fn stream(cluster: u32, node: u32, pause_cycles: u32) -> Actor {
    let cpu = 2 * cluster + 1;
    Actor::Stream(Stream {
        kernel: "load".into(),
        variant: "avx2".into(),
        binding: Binding { cpus: CpuSet::single(cpu), memory: MemoryPolicy::Preferred(node) },
        write_memory: None,
        threads: 1,
        pinning: Pinning::OnePerCore,
        thread_cpus: vec![cpu],
        working_set_bytes: 1 << 30,
        llc_multiple: Some(4.0),
        pages: Pages::Transparent,
        pause_cycles,
    })
}

/// A window of a second in which the actors move so many bytes.
pub fn sample(id: &str, round: usize, node: u32, moved: &[f64]) -> Sample {
    let pages = PageNodes {
        method: ProofMethod::Simulated,
        page_bytes: 4096,
        pages: BTreeMap::from([(node, 1)]),
        unknown: 0,
    };
    let actor = |bytes: &f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "rates in tests are positive and below 1e13"
        )]
        let useful_bytes = *bytes as u64;
        ActorSample {
            kernel: "load".into(),
            variant: "avx2".into(),
            unroll: 1,
            useful_bytes,
            traffic_bytes_min: useful_bytes,
            traffic_bytes_max: useful_bytes,
            traffic_method: TrafficMethod::Nt,
            flops: 0,
            accesses: useful_bytes / 8,
            threads: vec![ThreadSample {
                cpu_before: None,
                cpu_after: None,
                useful_bytes,
                flops: 0,
                passes: 1,
                core_ghz: None,
                involuntary_switches: 0,
                off_cpu_ns: 0,
                minor_faults: 0,
            }],
            proof: Some(Proof { before: pages.clone(), after: pages.clone() }),
            write_proof: None,
            page_sizes: PageSizes { huge_bytes: None, resident_bytes: None },
            transfer: None,
        }
    };
    Sample {
        case: id.into(),
        sequence: 0,
        round: u32::try_from(round).unwrap(),
        window: 0,
        start_ns: 0,
        window_ns: 1_000_000_000,
        actors: moved.iter().map(actor).collect(),
        disturbances: Vec::new(),
        run: None,
    }
}
