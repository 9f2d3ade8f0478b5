//! A record whose rounds are written by hand.

use std::collections::BTreeMap;

use nearfar_machine::{Binding, CpuSet, InitiatorKind, MemoryPolicy};
use nearfar_record::{
    Actor, ActorSample, Case, Coordinates, PageNodes, PageSizes, Pages, PairCoordinates, Pinning,
    Proof, ProofMethod, Record, Sample, Stage, Stream, ThreadSample, TrafficMethod, read_record,
};

/// A header with what the format asks for, of a machine without anything.
const HEADER: &str = r#"{"header": {
    "schema": "nearfar.record/1", "versions": {"nearfar": "test"}, "host": "test",
    "started": "2026-01-01T00:00:00Z", "executor": "simulated",
    "inputs": {"suite": "quick", "experiments": ["pairs"], "initiator": "cluster",
        "pages": "transparent", "window_ns": 1000000000, "windows_per_round": 1,
        "runs": 1,
        "grid": "sparse", "min_rounds": 1, "max_rounds": 1, "target": 0.01, "seed": 0},
    "fingerprint": "cbf29ce484222325",
    "machine": {"source": "live", "packages": [], "nodes": [], "cores": [], "caches": [],
        "firmware_figures": [], "devices": [], "allowed_cpus": "", "allowed_nodes": "",
        "notes": []},
    "environment": {"cpu": {}, "firmware": {}, "architecture": "x86_64", "cgroup": {},
        "unknown": {}}}}"#;

/// A record without cases.
pub fn empty_record() -> Record {
    read_record(format!("{}\n", HEADER.replace('\n', " ")).as_bytes()).unwrap()
}

/// One kernel of one initiator on one node.
pub struct Measured<'a> {
    pub initiator: u32,
    pub node: u32,
    pub kernel: &'a str,
    pub variant: &'a str,
    pub threads: u32,
    /// Useful bytes/s of each round.
    pub rounds: &'a [f64],
}

/// Adds a case with one window of one second in each round.
pub fn add_case(record: &mut Record, measured: &Measured<'_>) {
    let id = format!(
        "pairs/cluster{}/node{}/{}/{}/t{}",
        measured.initiator, measured.node, measured.kernel, measured.variant, measured.threads
    );
    let cpus: CpuSet = [measured.initiator].into_iter().collect();
    record.cases.push(Case {
        id: id.clone(),
        coordinates: vec![coordinates(measured)],
        actors: vec![Actor::Stream(Stream {
            kernel: measured.kernel.into(),
            variant: measured.variant.into(),
            binding: Binding { cpus, memory: MemoryPolicy::Preferred(measured.node) },
            write_memory: None,
            threads: measured.threads,
            pinning: Pinning::OnePerCore,
            thread_cpus: vec![measured.initiator],
            working_set_bytes: 1 << 30,
            llc_multiple: Some(4.0),
            pages: Pages::Transparent,
            pause_cycles: 0,
        })],
    });
    for (round, &rate) in (0..).zip(measured.rounds) {
        record.samples.push(sample(&id, measured, round, rate));
    }
}

pub fn coordinates(measured: &Measured<'_>) -> Coordinates {
    Coordinates::Pairs(PairCoordinates {
        initiator: InitiatorKind::Cluster,
        index: measured.initiator,
        cluster: measured.initiator,
        cpu_node: Some(measured.initiator),
        memory_node: measured.node,
        kernel: measured.kernel.into(),
        variant: measured.variant.into(),
        threads: measured.threads,
        stage: Stage::Matrix,
    })
}

fn sample(id: &str, measured: &Measured<'_>, round: u32, rate: f64) -> Sample {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates in tests are positive and below 1e13"
    )]
    let useful_bytes = rate as u64;
    let pages = PageNodes {
        method: ProofMethod::Simulated,
        page_bytes: 4096,
        pages: BTreeMap::from([(measured.node, 1)]),
        unknown: 0,
    };
    Sample {
        case: id.into(),
        sequence: 0,
        round,
        window: 0,
        start_ns: 0,
        window_ns: 1_000_000_000,
        actors: vec![ActorSample {
            kernel: measured.kernel.into(),
            variant: measured.variant.into(),
            unroll: 1,
            useful_bytes,
            traffic_bytes_min: useful_bytes,
            traffic_bytes_max: useful_bytes,
            traffic_method: TrafficMethod::Nt,
            flops: 0,
            accesses: 0,
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
            proof: Some(Proof { before: pages.clone(), after: pages }),
            write_proof: None,
            page_sizes: PageSizes { huge_bytes: None, resident_bytes: None },
            transfer: None,
        }],
        disturbances: Vec::new(),
        run: None,
    }
}
