//! A record whose windows are written by hand: each is one second long, so that counts are rates.

use std::collections::BTreeMap;

use nearfar_machine::{
    Binding, Core, CpuSet, InitiatorKind, Machine, MemoryKind, MemoryNode, MemoryPolicy, Package,
    Source,
};
use nearfar_record::{
    Absence, Absent, Actor, ActorSample, Case, Chase, Coordinates, Disturbance, Environment,
    Executor, Experiment, Grid, Header, Inputs, PageNodes, PageSizes, Pages, Pinning, Proof,
    ProofMethod, Reason, ReasonCode, Record, SCHEMA, Sample, Sealing, Stream, Suite, ThreadSample,
    TrafficMethod, Versions,
};

/// What a thread did in a window.
#[derive(Debug, Clone, Copy, Default)]
pub struct Done {
    /// Useful GB.
    pub gb: f64,
    /// 1e9 floating-point operations.
    pub gflop: f64,
    /// Its core's clock.
    pub ghz: Option<f64>,
    /// Of a hundred pages, how many were on node 1 before and after.
    pub on_node_1: [u64; 2],
}

/// So many GB of each thread.
pub fn gb<const THREADS: usize>(each: [f64; THREADS]) -> Vec<Done> {
    each.map(|gb| Done { gb, ..Done::default() }).into()
}

/// Two packages with two cores and a node each, and a node of HBM that is both's.
pub fn machine() -> Machine {
    let cpus = |text: &str| -> CpuSet { text.parse().unwrap() };
    let node = |os_index, kind, of: &str, locality: &str| MemoryNode {
        os_index,
        kind,
        cpus: cpus(of),
        locality: cpus(locality),
        memory_bytes: Some(64 << 30),
        memory_side_cache_bytes: None,
    };
    let package = |os_index, of: &str| Package { os_index, cpus: cpus(of), model: None };
    Machine {
        source: Source::Synthetic("by hand".into()),
        packages: vec![package(0, "0-1"), package(1, "2-3")],
        nodes: vec![
            node(0, MemoryKind::Dram, "0-1", "0-1"),
            node(1, MemoryKind::Dram, "2-3", "2-3"),
            node(2, MemoryKind::Hbm, "", "0-3"),
        ],
        cores: ["0", "1", "2", "3"].map(|cpu| Core { cpus: cpus(cpu) }).into(),
        caches: Vec::new(),
        distances: None,
        firmware_figures: Vec::new(),
        devices: Vec::new(),
        allowed_cpus: cpus("0-3"),
        allowed_nodes: "0-2".parse().unwrap(),
        interleave_weights: None,
        memory_modules: None,
        empty_memory_sockets: None,
        memory_modules_unknown: None,
        notes: Vec::new(),
    }
}

/// A record without cases.
pub fn record(experiments: &[Experiment]) -> Record {
    let inputs = Inputs {
        suite: Suite::Standard,
        experiments: experiments.into(),
        initiator: InitiatorKind::Cluster,
        kernels: None,
        variant: None,
        pages: Pages::Transparent,
        working_set_bytes: None,
        window_ns: 1_000_000_000,
        windows_per_round: 1,
        runs: 10,
        grid: Grid::Sparse,
        min_rounds: 1,
        max_rounds: 1,
        target: 0.01,
        budget_ns: None,
        seed: 0,
        commands: None,
        devices: None,
    };
    let machine = machine();
    let header = Header {
        schema: SCHEMA.into(),
        versions: Versions { nearfar: "test".into(), hwloc: None },
        host: "by-hand".into(),
        started: "2026-01-01T00:00:00Z".into(),
        executor: Executor::Native,
        simulation: None,
        inputs,
        fingerprint: machine.fingerprint(),
        machine,
        environment: Environment { architecture: "x86_64".into(), ..Environment::default() },
    };
    Record {
        header,
        cases: Vec::new(),
        samples: Vec::new(),
        absent: Vec::new(),
        warnings: Vec::new(),
        resumed: Vec::new(),
        finished: None,
        seconds: 1.0,
        length: 0,
        torn: false,
        sealing: Sealing::Fits,
        seal: None,
    }
}

/// Threads of a kernel in avx2 on these CPUs.
pub fn stream(kernel: &str, cpus: &str, memory: MemoryPolicy) -> Actor {
    let cpus: CpuSet = cpus.parse().unwrap();
    Actor::Stream(Stream {
        kernel: kernel.into(),
        variant: "avx2".into(),
        threads: u32::try_from(cpus.len()).unwrap(),
        pinning: Pinning::OnePerCore,
        thread_cpus: cpus.iter().collect(),
        binding: Binding { cpus, memory },
        write_memory: None,
        working_set_bytes: 1 << 30,
        llc_multiple: Some(4.0),
        pages: Pages::Transparent,
        pause_cycles: 0,
    })
}

/// A chase of the first package's first CPU.
pub fn chase(node: u32, working_set_bytes: u64, pages: Pages) -> Actor {
    Actor::Chase(Chase {
        binding: Binding { cpus: "0-1".parse().unwrap(), memory: MemoryPolicy::Preferred(node) },
        thread_cpu: 0,
        working_set_bytes,
        llc_multiple: Some(2.0),
        group_bytes: 256 << 10,
        pages,
    })
}

/// Adds a case; `rounds` hold for each actor what its threads did.
pub fn add(
    record: &mut Record,
    id: &str,
    coordinates: Vec<Coordinates>,
    actors: Vec<Actor>,
    rounds: &[Vec<Vec<Done>>],
) {
    for (round, done) in (0..).zip(rounds) {
        let actors = actors.iter().zip(done).map(|(actor, done)| actor_sample(actor, done));
        record.samples.push(Sample {
            case: id.into(),
            sequence: u64::try_from(record.samples.len()).unwrap(),
            round,
            window: 0,
            start_ns: 0,
            window_ns: 1_000_000_000,
            actors: actors.collect(),
            disturbances: Vec::new(),
            run: None,
        });
    }
    record.cases.push(Case { id: id.into(), coordinates, actors });
}

/// Disturbs every sample of a case.
pub fn disturb(record: &mut Record, case: &str) {
    for sample in record.samples.iter_mut().filter(|sample| sample.case == case) {
        sample.disturbances.push(Disturbance::Moved { threads: 1 });
    }
}

/// Notes that a case of the record, or one that it does not have, was not measured.
pub fn absent(record: &mut Record, case: &str, absence: Absence, code: ReasonCode, text: &str) {
    let of = record.cases.iter().find(|planned| planned.id == case);
    record.absent.push(Absent {
        case: case.into(),
        coordinates: of.map_or_else(Vec::new, |case| case.coordinates.clone()),
        absence,
        reason: Reason { code, text: text.into() },
        round: (absence == Absence::Refused).then_some(0),
    });
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates in tests are positive and below 1e15"
)]
fn count(giga: f64) -> u64 {
    (giga * 1e9).round() as u64
}

fn actor_sample(actor: &Actor, done: &[Done]) -> ActorSample {
    let thread = |done: &Done| ThreadSample {
        cpu_before: None,
        cpu_after: None,
        useful_bytes: count(done.gb),
        flops: count(done.gflop),
        passes: 1,
        core_ghz: done.ghz,
        involuntary_switches: 0,
        off_cpu_ns: 0,
        minor_faults: 0,
    };
    let threads: Vec<ThreadSample> = done.iter().map(thread).collect();
    let nodes = |on_node_1: u64| PageNodes {
        method: ProofMethod::MovePages,
        page_bytes: 4096,
        pages: BTreeMap::from([(0, 100 - on_node_1), (1, on_node_1)]),
        unknown: 0,
    };
    let proof = |[before, after]: [u64; 2]| Proof { before: nodes(before), after: nodes(after) };
    // Where two arrays have policies of their own, the second thread's pages stand for the second.
    let written = actor.as_stream().is_some_and(|stream| stream.write_memory.is_some());
    let useful_bytes = threads.iter().map(|thread| thread.useful_bytes).sum();
    ActorSample {
        kernel: actor.kernel().into(),
        variant: actor.variant().into(),
        unroll: 1,
        useful_bytes,
        traffic_bytes_min: useful_bytes,
        traffic_bytes_max: useful_bytes,
        traffic_method: TrafficMethod::Nt,
        flops: threads.iter().map(|thread| thread.flops).sum(),
        accesses: useful_bytes / 8,
        threads,
        proof: actor.memory().map(|_| proof(done[0].on_node_1)),
        write_proof: written.then(|| proof(done[1].on_node_1)),
        page_sizes: PageSizes { huge_bytes: None, resident_bytes: None },
        transfer: None,
    }
}
