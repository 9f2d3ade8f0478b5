//! Lines of every kind, with every optional field both given and null, made of the
//! record's own types.

use std::collections::BTreeMap;

use nearfar_machine::{
    Cache, CacheKind, Core, CpuSet, Device, DeviceKind, Distances, FirmwareFigure, InitiatorKind,
    Link, Machine, MemoryKind, MemoryModule, MemoryNode, Package, Source,
};
use nearfar_record::{
    Absence, Absent, Actor, ActorSample, Case, Cgroup, Coordinates, Cpu, Disturbance, Environment,
    Executor, Finished, Firmware, Header, Inputs, Line, PageNodes, PageSizes, Pages, Pinning,
    Proof, ProofMethod, Reason, ReasonCode, Resumed, SCHEMA, Sample, Simulation, Stage, Stream,
    Suite, ThreadSample, TrafficMethod, Versions,
};

use crate::vocabulary;

/// A machine in which everything is known: two nodes with CPUs, one without.
pub fn known_machine() -> Machine {
    let node = |os_index, kind, cpus: &str, locality: &str| MemoryNode {
        os_index,
        kind,
        cpus: cpus.parse().unwrap(),
        locality: locality.parse().unwrap(),
        memory_bytes: Some(64 << 30),
        memory_side_cache_bytes: Some(16 << 30),
    };
    let cache = |level, kind, cpus: &str| Cache {
        level,
        kind,
        bytes: Some(32 << 20),
        line_bytes: Some(64),
        cpus: cpus.parse().unwrap(),
    };
    Machine {
        source: Source::Live,
        packages: vec![Package {
            os_index: 0,
            cpus: "0-3".parse().unwrap(),
            model: Some("A CPU".into()),
        }],
        nodes: vec![
            node(0, MemoryKind::Dram, "0-1", "0-1"),
            node(1, MemoryKind::Hbm, "2-3", "2-3"),
            node(2, MemoryKind::Cxl, "", "0-3"),
            node(3, MemoryKind::Nvm, "", "0-3"),
            node(4, MemoryKind::Gpu, "", "0-3"),
            node(5, MemoryKind::Unknown, "", "0-3"),
        ],
        cores: ["0", "1", "2", "3"].map(|cpu| Core { cpus: cpu.parse().unwrap() }).into(),
        caches: vec![
            cache(1, CacheKind::Data, "0"),
            cache(3, CacheKind::Unified, "0-1"),
            cache(3, CacheKind::Unified, "2-3"),
        ],
        distances: Some(Distances { nodes: vec![0, 1], values: vec![vec![10, 21], vec![21, 10]] }),
        firmware_figures: vec![FirmwareFigure {
            initiator: Some("0-1".parse().unwrap()),
            node: 1,
            read_bytes_per_s: Some(1e11),
            write_bytes_per_s: Some(0.5e11),
            read_latency_ns: Some(120.5),
            write_latency_ns: Some(130.0),
        }],
        devices: [DeviceKind::Network, DeviceKind::Storage, DeviceKind::Accelerator]
            .map(|kind| Device {
                bus_id: "0000:3b:00.0".into(),
                kind,
                class: Some("Ethernet".into()),
                vendor_device: Some("15b3:1017".into()),
                name: Some("ConnectX-5".into()),
                os_names: vec!["eth0".into()],
                nodes: "0".parse().unwrap(),
                cpus: "0-1".parse().unwrap(),
                link: Link {
                    gt_per_s: Some(8.0),
                    lanes: Some(16),
                    max_gt_per_s: Some(16.0),
                    max_lanes: Some(16),
                    bytes_per_s: Some(15.75e9),
                },
            })
            .into(),
        allowed_cpus: "0-3".parse().unwrap(),
        allowed_nodes: "0-5".parse().unwrap(),
        interleave_weights: Some(BTreeMap::from([(0, 3), (1, 1)])),
        memory_modules: Some(vec![MemoryModule {
            locator: "DIMM 1".into(),
            bank: Some("P0 CHANNEL A".into()),
            kind: Some("DDR4".into()),
            bytes: Some(64 << 30),
            configured_mt_per_s: Some(2933),
            max_mt_per_s: Some(3200),
            data_bits: Some(64),
            manufacturer: Some("A maker".into()),
            part_number: Some("A part".into()),
        }]),
        empty_memory_sockets: Some(15),
        memory_modules_unknown: None,
        notes: vec!["a note".into()],
    }
}

/// The same machine with nothing known that can be unknown.
pub fn unknown_machine(source: Source) -> Machine {
    let mut machine = known_machine();
    machine.source = source;
    machine.packages[0].model = None;
    for node in &mut machine.nodes {
        (node.memory_bytes, node.memory_side_cache_bytes) = (None, None);
    }
    for cache in &mut machine.caches {
        (cache.bytes, cache.line_bytes) = (None, None);
    }
    machine.distances = None;
    machine.firmware_figures = vec![FirmwareFigure {
        initiator: None,
        node: 1,
        read_bytes_per_s: None,
        write_bytes_per_s: None,
        read_latency_ns: None,
        write_latency_ns: None,
    }];
    machine.devices = vec![Device {
        bus_id: "0000:00:01.0".into(),
        kind: DeviceKind::Other,
        class: None,
        vendor_device: None,
        name: None,
        os_names: Vec::new(),
        nodes: "".parse().unwrap(),
        cpus: "".parse().unwrap(),
        link: Link::default(),
    }];
    machine.interleave_weights = None;
    machine.empty_memory_sockets = None;
    // A list whose modules say nothing can be described, and none at all.
    machine.memory_modules = matches!(machine.source, Source::Synthetic(_)).then(|| {
        vec![MemoryModule {
            locator: String::new(),
            bank: None,
            kind: None,
            bytes: None,
            configured_mt_per_s: None,
            max_mt_per_s: None,
            data_bits: None,
            manufacturer: None,
            part_number: None,
        }]
    });
    machine.memory_modules_unknown = Some("the firmware does not say".into());
    machine.notes.clear();
    machine
}

/// A header in which everything is given.
pub fn known_header() -> Header {
    let machine = known_machine();
    Header {
        schema: SCHEMA.into(),
        versions: Versions { nearfar: "0.1.0".into(), hwloc: Some("2.9".into()) },
        host: "node17".into(),
        started: "2025-03-01T12:00:00Z".into(),
        executor: Executor::Native,
        simulation: None,
        inputs: Inputs {
            suite: Suite::Full,
            experiments: vec!["pairs".into()],
            initiator: InitiatorKind::L3,
            kernels: Some(vec!["load".into(), "triad_nt".into()]),
            variant: Some("avx512".into()),
            pages: Pages::Huge,
            working_set_bytes: Some(8 << 20),
            window_ns: 5_000_000,
            windows_per_round: 2,
            min_rounds: 6,
            max_rounds: 8,
            target: 0.01,
            budget_ns: Some(60_000_000_000),
            seed: u64::MAX,
        },
        fingerprint: machine.fingerprint(),
        machine,
        environment: Environment {
            cpu: Cpu {
                vendor: Some("GenuineIntel".into()),
                model_name: Some("A CPU".into()),
                family: Some(6),
                model: Some(207),
                stepping: Some(2),
                microcode: Some("0x1".into()),
            },
            firmware: Firmware {
                system_vendor: Some("A maker".into()),
                product: Some("A product".into()),
                board: Some("A board".into()),
                bios_version: Some("1.2".into()),
                bios_date: Some("01/02/2024".into()),
            },
            kernel_release: Some("6.12.0".into()),
            architecture: "x86_64".into(),
            hypervisor: Some("none".into()),
            governors: Some(vec!["performance".into()]),
            boost: Some(true),
            smt: Some(false),
            transparent_huge_pages: Some("madvise".into()),
            numa_balancing: Some(0),
            ksm: Some(0),
            clock_source: Some("tsc".into()),
            perf_event_paranoid: Some(-1),
            cgroup: Cgroup { cpu_limit: Some(1.5), memory_limit_bytes: Some(1 << 34) },
            load_average: Some(0.1),
            memory_bytes: Some(1 << 37),
            available_bytes: Some(1 << 36),
            unknown: BTreeMap::new(),
        },
    }
}

/// A simulated machine's header in which nothing is given that can be null.
pub fn unknown_header(source: Source) -> Header {
    let known = known_header();
    let machine = unknown_machine(source);
    Header {
        fingerprint: machine.fingerprint(),
        versions: Versions { hwloc: None, ..known.versions },
        executor: Executor::Simulated,
        simulation: Some(Simulation {
            name: "amd-2p".into(),
            title: "A machine".into(),
            noise: true,
            file: "name = \"amd-2p\"".into(),
        }),
        inputs: Inputs {
            suite: Suite::Standard,
            initiator: InitiatorKind::Core,
            kernels: None,
            variant: None,
            pages: Pages::Small,
            working_set_bytes: None,
            budget_ns: None,
            ..known.inputs
        },
        machine,
        environment: Environment {
            architecture: "x86_64".into(),
            unknown: BTreeMap::from([
                ("cpu".into(), "/proc/cpuinfo: No such file".into()),
                ("firmware.board".into(), "/sys/class/dmi/id/board_name is empty".into()),
            ]),
            ..Environment::default()
        },
        ..known
    }
}

/// The CPUs of the first initiator of the kind that a header asks for.
fn initiator_cpus(header: &Header) -> CpuSet {
    header.machine.initiators(header.inputs.initiator)[0].cpus()
}

/// A case of the header's first initiator on node `node`, one thread on each of its CPUs;
/// odd nodes have nothing that can be null. Only pairs have coordinates.
pub fn case(header: &Header, node: u32, memory: &str, pinning: Pinning) -> Case {
    let known = node.is_multiple_of(2);
    let cpus = initiator_cpus(header);
    let threads = u32::try_from(cpus.len()).unwrap();
    let pair = Coordinates::Pairs {
        initiator: header.inputs.initiator,
        index: 0,
        cluster: 0,
        cpu_node: known.then_some(0),
        memory_node: node,
        kernel: "load".into(),
        variant: "avx512".into(),
        threads,
        stage: if node == 5 { Stage::Screening } else { Stage::Matrix },
    };
    let is_pair = memory == format!("preferred:{node}");
    Case {
        id: format!("pairs/{}0/node{node}/load/avx512/t{threads}", header.inputs.initiator),
        coordinates: if is_pair { vec![pair] } else { Vec::new() },
        actors: vec![Actor::Stream(Stream {
            kernel: "load".into(),
            variant: "avx512".into(),
            binding: format!("cpus={cpus} mem={memory}").parse().unwrap(),
            threads,
            pinning,
            thread_cpus: if pinning == Pinning::Unbound { vec![] } else { cpus.iter().collect() },
            working_set_bytes: 8 << 20,
            llc_multiple: known.then_some(4.25),
            pages: if known { Pages::Transparent } else { Pages::Huge },
        })],
    }
}

/// A sample of a case; `useful_bytes` are of each thread. With disturbances its first
/// thread notes what [`vocabulary::disturbances`] say.
pub fn sample(
    case: &Case,
    sequence: u64,
    method: ProofMethod,
    traffic_method: TrafficMethod,
    useful_bytes: u64,
    disturbances: Vec<Disturbance>,
) -> Sample {
    let known = sequence.is_multiple_of(2);
    let Actor::Stream(stream) = &case.actors[0];
    let thread = |number: u32| {
        let disturbed = number == 0 && !disturbances.is_empty();
        let noted = |count| if disturbed { count } else { 0 };
        ThreadSample {
            cpu_before: known.then_some(number),
            cpu_after: known.then_some(if disturbed { 1 } else { number }),
            useful_bytes,
            passes: 3,
            involuntary_switches: noted(3),
            off_cpu_ns: noted(900_000),
            minor_faults: noted(12),
        }
    };
    let threads: Vec<ThreadSample> = (0..stream.threads).map(thread).collect();
    let all_bytes = useful_bytes * u64::from(stream.threads);
    let asked = stream.binding.memory.nodes().and_then(|nodes| nodes.first()).unwrap_or(0);
    let nodes = PageNodes {
        method,
        page_bytes: 4096,
        pages: BTreeMap::from([(asked, 2046), (5, 1)]),
        unknown: 1,
    };
    Sample {
        case: case.id.clone(),
        sequence,
        round: u32::try_from(sequence / 2).unwrap(),
        window: u32::try_from(sequence % 2).unwrap(),
        start_ns: 6_000_000 * sequence,
        window_ns: 5_000_000,
        actors: vec![ActorSample {
            kernel: "load".into(),
            variant: "avx512".into(),
            unroll: 4,
            useful_bytes: all_bytes,
            traffic_bytes_min: all_bytes,
            traffic_bytes_max: all_bytes,
            traffic_method,
            flops: 0,
            accesses: all_bytes / 8,
            threads,
            proof: Proof { before: nodes.clone(), after: nodes },
            page_sizes: PageSizes {
                huge_bytes: known.then_some(8 << 20),
                resident_bytes: known.then_some(8 << 20),
            },
        }],
        disturbances,
    }
}

/// A case that was refused in a round, and one that was not asked for; `None` where the
/// code is not a reason for that.
fn absent(code: ReasonCode, case: &Case, refused: bool) -> Option<Absent> {
    use ReasonCode::{Budget, CpusNotAllowed, NoVariant, NodeNotAllowed, OneNode, ScreenedOut};
    let omits = matches!(code, Budget | CpusNotAllowed | NodeNotAllowed | OneNode | ScreenedOut);
    (code == NoVariant || omits != refused).then(|| Absent {
        case: case.id.clone(),
        coordinates: if refused { case.coordinates.clone() } else { Vec::new() },
        absence: if refused { Absence::Refused } else { Absence::Omitted },
        reason: Reason { code, text: "what happened; what to do".into() },
        round: refused.then_some(2),
    })
}

/// A record that can be read, with lines of every kind after `header`.
pub fn record(header: Header) -> Vec<Line> {
    let cases = [
        case(&header, 0, "preferred:0", Pinning::OnePerCore),
        case(&header, 1, "preferred:1", Pinning::OnePerPu),
        case(&header, 2, "first-touch", Pinning::Unbound),
        case(&header, 3, "interleave:0-3", Pinning::Unbound),
        case(&header, 4, "bind:1,3", Pinning::Unbound),
        case(&header, 5, "preferred:5", Pinning::OnePerCore),
        case(&header, 6, "weighted:0=3,2=255", Pinning::Unbound),
    ];
    use ProofMethod::{GetMempolicy, MovePages, NumaMaps, OneAllowedNode, Simulated};
    use TrafficMethod::{Allocate, Counted, EvasionPossible, Nt};
    let by = |method| if header.executor == Executor::Simulated { Simulated } else { method };
    let disturbances = vocabulary::disturbances;
    let samples = [
        sample(&cases[0], 0, by(MovePages), Nt, 4 << 20, Vec::new()),
        sample(&cases[0], 1, by(GetMempolicy), Allocate, 2 << 20, Vec::new()),
        sample(&cases[1], 2, by(NumaMaps), EvasionPossible, 1 << 20, disturbances()),
        sample(&cases[2], 3, by(OneAllowedNode), Counted, 1 << 20, Vec::new()),
        sample(&cases[3], 4, by(MovePages), Nt, 0, Vec::new()),
    ];
    let mut lines = vec![Line::Header(Box::new(header))];
    lines.extend(cases.iter().cloned().map(Line::Case));
    lines.extend(samples.into_iter().map(Line::Sample));
    for code in vocabulary::reason_codes() {
        lines.extend(
            [true, false]
                .into_iter()
                .filter_map(|refused| absent(code, &cases[1], refused))
                .map(Line::Absent),
        );
    }
    lines.extend(vocabulary::cautions().iter().map(|caution| Line::Warning(caution.warning())));
    for given in [true, false] {
        lines.push(Line::Resumed(Resumed {
            at: "2025-03-01T12:05:00Z".into(),
            samples: 5,
            torn_line_dropped: given,
            budget_ns: given.then_some(1),
        }));
        lines.push(Line::Finished(Finished {
            at: "2025-03-01T12:06:00Z".into(),
            seconds: 1.25,
            rounds: 6,
            interrupted_by: given.then_some(2),
            peak_resident_bytes: given.then_some(15 << 20),
        }));
    }
    lines
}
