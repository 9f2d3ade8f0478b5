//! Headers in which everything is given, and in which nothing is that can be null.

use std::collections::BTreeMap;

use nearfar_machine::{
    AbsentBackend, Accelerator, Backend, Cache, CacheKind, Core, Device, DeviceKind, Distances,
    FirmwareFigure, InitiatorKind, Link, Machine, MemoryKind, MemoryModule, MemoryNode, Package,
    Source,
};
use nearfar_record::{
    Better, Cgroup, CommandInputs, CommandPlacement, CommandProgram, CountedQuantity, CounterCheck,
    Cpu, DeviceInputs, Environment, Executor, Experiment, Firmware, Grid, Header, Inputs, Metric,
    Pages, SCHEMA, Simulation, Suite, TriedCounter, Versions,
};

/// A machine in which everything is known: two packages, each with a node of its own (that of
/// the second without CPUs), and nodes that are everybody's.
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
        packages: [(0, "0-1"), (1, "2-3")]
            .map(|(os_index, cpus)| Package {
                os_index,
                cpus: cpus.parse().unwrap(),
                model: Some("A CPU".into()),
            })
            .into(),
        nodes: vec![
            node(0, MemoryKind::Dram, "0-1", "0-1"),
            node(1, MemoryKind::Hbm, "", "2-3"),
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

/// A program on the CPUs of either cluster, with its memory on a node and dealt out over two.
pub fn commands() -> CommandInputs {
    let placement = |cluster, cpu_node, memory_node, binding: &str| CommandPlacement {
        cluster,
        cpu_node,
        memory_node,
        binding: binding.parse().unwrap(),
    };
    CommandInputs {
        programs: vec![CommandProgram {
            label: "solver".into(),
            program: "./solver".into(),
            arguments: vec!["-n".into(), "5".into()],
        }],
        placements: vec![
            placement(0, Some(0), Some(1), "cpus=0-1 mem=preferred:1"),
            placement(1, None, None, "cpus=2-3 mem=interleave:0-1"),
        ],
        metric: Some(Metric {
            pattern: "rate: ([0-9.]+)".into(),
            unit: Some("MB/s".into()),
            better: Better::Higher,
        }),
        timeout_ns: Some(60_000_000_000),
        counters: Some(vec![
            TriedCounter {
                quantity: CountedQuantity::LlcMisses,
                events: vec!["LONGEST_LAT_CACHE.MISS".into()],
                meaning: Some("requests that the last-level cache did not have".into()),
                source: Some("SDM architectural event".into()),
                check: Some(CounterCheck {
                    work: "the lines of one pass of loads over local memory".into(),
                    expected: 1e6,
                    counted: 1.01e6,
                }),
                unavailable: None,
            },
            TriedCounter {
                quantity: CountedQuantity::Cycles,
                events: Vec::new(),
                meaning: None,
                source: None,
                check: None,
                unavailable: Some("no event of this CPU is known for it".into()),
            },
        ]),
    }
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
            experiments: Experiment::ALL.into(),
            initiator: InitiatorKind::L3,
            kernels: Some(vec!["load".into(), "triad_nt".into()]),
            variant: Some("avx512".into()),
            pages: Pages::Huge,
            working_set_bytes: Some(8 << 20),
            window_ns: 5_000_000,
            windows_per_round: 2,
            runs: 5,
            grid: Grid::Full,
            min_rounds: 6,
            max_rounds: 8,
            target: 0.01,
            budget_ns: Some(60_000_000_000),
            seed: u64::MAX,
            commands: Some(commands()),
            devices: Some(devices()),
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
            grid: Grid::Sparse,
            budget_ns: None,
            commands: Some(CommandInputs {
                metric: None,
                timeout_ns: None,
                counters: None,
                ..commands()
            }),
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

/// Two devices, and an interface that shows none.
fn devices() -> DeviceInputs {
    let accelerator = |number: u32| Accelerator {
        id: format!("cuda{number}"),
        backend: Backend::Cuda,
        number,
        name: "An accelerator".into(),
        driver: Some("CUDA driver 12.8".into()),
        bus_id: Some(format!("0000:0{number}:00.0")),
        memory_bytes: Some(3 << 30),
        shares_host_memory: false,
        nodes: [number].into_iter().collect(),
    };
    DeviceInputs {
        accelerators: vec![accelerator(0), accelerator(1)],
        absent: vec![AbsentBackend {
            backend: Backend::Opencl,
            reason: "libOpenCL.so.1 is not there".into(),
        }],
    }
}
