//! Cases at a place of every kind in every experiment, on the machines of these records:
//! cluster 0 has the CPUs 0-1 and node 0, cluster 1 the CPUs 2-3 and node 1.

use nearfar_machine::{Backend, CpuSet, HostMemory, MemoryKind, MemoryPolicy, TransferDirection};
use nearfar_record::{
    Actor, Affinity, Case, Chase, ChaseWalk, Command, CommandCoordinates, Compute, Coordinates,
    DeviceCoordinates, DeviceStreamCoordinates, Header, HybridCoordinates, HybridPoint,
    LatencyCoordinates, LatencyLoad, LinkCoordinates, MixCoordinates, PageSplit, Pages,
    PairCoordinates, Pinning, Roof, RoofCoordinates, RoofPurpose, ScalingCoordinates,
    SharingCoordinates, Stage, Stream, Transfer, TransferBeside, TransferCoordinates, TransferKind,
    Way,
};

const VARIANT: &str = "avx512";

/// CPUs of a cluster.
fn cpus_of(cluster: u32) -> CpuSet {
    [2 * cluster, 2 * cluster + 1].into_iter().collect()
}

/// The lowest node with CPUs of a cluster.
fn cpu_node_of(cluster: u32) -> Option<u32> {
    (cluster == 0).then_some(0)
}

fn policy(text: &str) -> MemoryPolicy {
    text.parse().unwrap()
}

/// Threads of a cluster, one on each of its first cores.
fn stream(kernel: &str, cluster: u32, threads: u32, memory: &str) -> Stream {
    let cpus = cpus_of(cluster);
    let memory = policy(memory);
    Stream {
        kernel: kernel.into(),
        variant: VARIANT.into(),
        thread_cpus: cpus.iter().take(threads as usize).collect(),
        binding: nearfar_machine::Binding { cpus, memory },
        write_memory: None,
        threads,
        pinning: Pinning::OnePerCore,
        working_set_bytes: 16 << 20,
        llc_multiple: Some(4.25),
        pages: Pages::Transparent,
        pause_cycles: 0,
    }
}

fn case(id: &str, coordinates: Vec<Coordinates>, actors: Vec<Actor>) -> Case {
    Case { id: id.into(), coordinates, actors }
}

/// One of every kind.
pub fn cases(header: &Header) -> Vec<Case> {
    [
        pairs(header),
        scaling(),
        sharing(),
        links(),
        roofs(),
        hybrid(),
        mixes(),
        latency(),
        devices(),
        commands(header),
    ]
    .concat()
}

fn pairs(header: &Header) -> Vec<Case> {
    let initiators = header.machine.initiators(header.inputs.initiator);
    let numbered = |(number, kernel, memory): (u32, &str, &str)| {
        // The last one is of the other cluster.
        let initiator = &initiators[if number == 6 { initiators.len() - 1 } else { 0 }];
        let cpus = initiator.cpus();
        let threads = u32::try_from(cpus.len()).unwrap();
        let memory_node = policy(memory).nodes().unwrap().first().unwrap();
        let pair = PairCoordinates {
            initiator: initiator.kind,
            index: initiator.index,
            cluster: initiator.cluster,
            cpu_node: cpu_node_of(initiator.cluster),
            memory_node,
            kernel: kernel.into(),
            variant: VARIANT.into(),
            threads,
            stage: if number == 5 { Stage::Screening } else { Stage::Matrix },
        };
        let known = number % 2 == 0;
        let mut stream = stream(kernel, 0, 0, memory);
        stream.threads = threads;
        stream.thread_cpus = cpus.iter().collect();
        stream.binding.cpus = cpus;
        stream.pinning = if known { Pinning::OnePerCore } else { Pinning::OnePerPu };
        stream.llc_multiple = known.then_some(4.25);
        stream.pages = if known { Pages::Transparent } else { Pages::Huge };
        let PairCoordinates { initiator, index, .. } = pair;
        let id =
            format!("pairs/{initiator}{index}/node{memory_node}/{kernel}/{VARIANT}/t{threads}");
        case(&id, vec![Coordinates::Pairs(pair)], vec![Actor::Stream(stream)])
    };
    [
        (0, "load", "preferred:0"),
        (1, "load", "preferred:1"),
        (2, "load", "bind:2"),
        (3, "ddot", "preferred:3"),
        (4, "load", "preferred:4"),
        (5, "load", "preferred:5"),
        (6, "load", "preferred:0"),
    ]
    .map(numbered)
    .into()
}

fn scaling() -> Vec<Case> {
    let place = |affinity| {
        Coordinates::Scaling(ScalingCoordinates {
            affinity,
            threads: 2,
            kernel: "copy".into(),
            variant: VARIANT.into(),
        })
    };
    let everywhere: CpuSet = "0-3".parse().unwrap();
    let touched = |pinning, thread_cpus| {
        let mut stream = stream("copy", 0, 2, "first-touch");
        stream.binding.cpus = everywhere.clone();
        (stream.pinning, stream.thread_cpus) = (pinning, thread_cpus);
        vec![Actor::Stream(stream)]
    };
    vec![
        case(
            "scaling/copy/avx512/t2/compact",
            vec![place(Affinity::Compact), place(Affinity::Scatter)],
            touched(Pinning::OnePerCore, vec![0, 2]),
        ),
        case(
            "scaling/copy/avx512/t2/unbound",
            vec![place(Affinity::Unbound)],
            touched(Pinning::Unbound, vec![]),
        ),
    ]
}

fn sharing() -> Vec<Case> {
    let place = |local_threads, remote_threads| {
        Coordinates::Sharing(SharingCoordinates {
            memory_node: 0,
            local_cluster: 0,
            remote_cluster: 1,
            local_threads,
            remote_threads,
            kernel: "triad".into(),
            variant: VARIANT.into(),
        })
    };
    let group = |cluster, threads| Actor::Stream(stream("triad", cluster, threads, "preferred:0"));
    vec![
        case("sharing/node0/cluster0x2/triad/avx512", vec![place(2, 0)], vec![group(0, 2)]),
        case("sharing/node0/cluster1x2/triad/avx512", vec![place(0, 2)], vec![group(1, 2)]),
        case(
            "sharing/node0/cluster0x2+cluster1x1/triad/avx512",
            vec![place(2, 1)],
            vec![group(0, 2), group(1, 1)],
        ),
    ]
}

fn links() -> Vec<Case> {
    let place = |cluster, way| {
        Coordinates::Links(LinkCoordinates {
            from_package: 0,
            to_package: 1,
            cluster,
            way,
            kernel: "load".into(),
            variant: VARIANT.into(),
            threads: 2,
        })
    };
    let direction = |cluster, memory| Actor::Stream(stream("load", cluster, 2, memory));
    vec![
        case(
            "links/package0-package1/one_way/load/avx512",
            vec![place(None, Way::OneWay)],
            vec![direction(0, "interleave:1,5")],
        ),
        case(
            "links/package0-package1/both_ways/load/avx512",
            vec![place(None, Way::BothWays)],
            vec![direction(0, "preferred:1"), direction(1, "preferred:0")],
        ),
        case(
            "links/cluster0-package1/one_way/load/avx512",
            vec![place(Some(0), Way::OneWay)],
            vec![direction(0, "interleave:1,5")],
        ),
    ]
}

fn roofs() -> Vec<Case> {
    let place = |cluster, actor, roof, kernel: &str| {
        Coordinates::Roofs(RoofCoordinates {
            cluster,
            actor,
            roof,
            kernel: kernel.into(),
            variant: VARIANT.into(),
            threads: 2,
            purpose: if kernel == "1l_4fma" { RoofPurpose::Validation } else { RoofPurpose::Roof },
        })
    };
    let one = |id: &str, roof, kernel: &str, memory: &str| {
        let actor = Actor::Stream(stream(kernel, 0, 2, memory));
        case(id, vec![place(0, 0, roof, kernel)], vec![actor])
    };
    let both = |id: &str, roof: fn(u32) -> Roof, memories: [&str; 2]| {
        let actor =
            |cluster: u32| Actor::Stream(stream("load", cluster, 2, memories[cluster as usize]));
        let places = [0, 1].map(|cluster| place(cluster, cluster, roof(cluster), "load"));
        case(id, places.into(), vec![actor(0), actor(1)])
    };
    let compute = Actor::Compute(Compute {
        kernel: "fma_dp".into(),
        variant: VARIANT.into(),
        cpus: cpus_of(0),
        thread_cpus: vec![0, 1],
    });
    vec![
        case(
            "roofs/cluster0/compute/fma_dp/avx512",
            vec![place(0, 0, Roof::Compute, "fma_dp")],
            vec![compute],
        ),
        one("roofs/cluster0/l3/2l1s/avx512", Roof::Cache { level: 3 }, "2l1s", "preferred:0"),
        one("roofs/cluster0/l3/1l_4fma/avx512", Roof::Cache { level: 3 }, "1l_4fma", "preferred:0"),
        one("roofs/cluster0/node2/load/avx512", Roof::Memory { node: 2 }, "load", "preferred:2"),
        one(
            "roofs/cluster0/interleaved/hbm/load/avx512",
            Roof::Interleaved { kind: MemoryKind::Hbm },
            "load",
            "preferred:1",
        ),
        both(
            "roofs/contended/node2x2/load/avx512",
            |_| Roof::Contended { node: 2, clusters: 2 },
            ["preferred:2", "preferred:2"],
        ),
        both(
            "roofs/all_local/load/avx512",
            |cluster| Roof::AllLocal { node: cluster },
            ["preferred:0", "preferred:1"],
        ),
        both(
            "roofs/congested/hbm/load/avx512",
            |_| Roof::Congested { kind: MemoryKind::Hbm },
            ["preferred:1", "preferred:1"],
        ),
    ]
}

fn hybrid() -> Vec<Case> {
    let even = PageSplit { fast: 1, slow: 1 };
    let (fast, slow) = (PageSplit { fast: 1, slow: 0 }, PageSplit { fast: 0, slow: 1 });
    let mostly_fast = PageSplit { fast: 3, slow: 1 };
    let memory = |split: PageSplit| match (split.fast, split.slow) {
        (_, 0) => "preferred:0".to_string(),
        (0, _) => "preferred:1".to_string(),
        (fast, slow) => format!("weighted:0={fast},1={slow}"),
    };
    let point = |name: &str, point, (loads, stores), load_pages, store_pages| {
        let read = if loads > 0 { format!("{loads}l") } else { String::new() };
        let written = if stores > 0 { format!("{stores}nt") } else { String::new() };
        let kernel = format!("{read}{written}");
        let pages: Vec<PageSplit> = [load_pages, store_pages].into_iter().flatten().collect();
        let mut stream = stream(&kernel, 0, 2, &memory(pages[0]));
        stream.pages = Pages::Small;
        let other = pages.get(1).filter(|&&split| split != pages[0]);
        stream.write_memory = other.map(|&split| policy(&memory(split)));
        let coordinates = HybridCoordinates {
            cluster: 0,
            fast_node: 0,
            slow_node: 1,
            point,
            loads,
            stores,
            load_pages,
            store_pages,
            kernel,
            variant: VARIANT.into(),
            threads: 2,
        };
        let id = format!("hybrid/cluster0/node0+node1/{name}");
        case(&id, vec![Coordinates::Hybrid(coordinates)], vec![Actor::Stream(stream)])
    };
    let corner = |of: TransferKind| {
        let name = format!("corner/{}", of.as_str());
        let corner = HybridPoint::Corner { of };
        match of {
            TransferKind::FastLoad => point(&name, corner, (1, 0), Some(fast), None),
            TransferKind::SlowLoad => point(&name, corner, (1, 0), Some(slow), None),
            TransferKind::FastStore => point(&name, corner, (0, 1), None, Some(fast)),
            TransferKind::SlowStore => point(&name, corner, (0, 1), None, Some(slow)),
        }
    };
    let pair = |dominating, beside| HybridPoint::Pair { dominating, beside };
    let mut cases: Vec<Case> = TransferKind::ALL.map(corner).into();
    cases.push(point(
        "pair/lf-ss",
        pair(TransferKind::FastLoad, TransferKind::SlowStore),
        (3, 1),
        Some(fast),
        Some(slow),
    ));
    cases.push(point(
        "pair/sf-lf",
        pair(TransferKind::FastStore, TransferKind::FastLoad),
        (1, 2),
        Some(fast),
        Some(fast),
    ));
    cases.push(point(
        "pair/ls-lf",
        pair(TransferKind::SlowLoad, TransferKind::FastLoad),
        (1, 0),
        Some(mostly_fast),
        None,
    ));
    cases.push(point("surface/2l1nt", HybridPoint::Surface, (2, 1), Some(even), Some(mostly_fast)));
    cases
}

fn mixes() -> Vec<Case> {
    let streams = [stream("load", 0, 1, "interleave:0-1"), stream("copy_nt", 1, 2, "preferred:0")];
    let place = Coordinates::Mixes(MixCoordinates { index: 0 });
    vec![case("mixes/0", vec![place], streams.map(Actor::Stream).into())]
}

fn latency() -> Vec<Case> {
    let chase = |cluster: u32, walk: ChaseWalk, pages: Pages, load: Option<LatencyLoad>| {
        let cpus = cpus_of(cluster);
        let thread_cpu = cpus.first().unwrap();
        let working_set_bytes = 64 << 20;
        let memory_node = 0;
        let chase = Chase {
            binding: nearfar_machine::Binding { cpus, memory: policy("preferred:0") },
            thread_cpu,
            working_set_bytes,
            llc_multiple: (cluster == 0).then_some(2.0),
            group_bytes: match walk {
                ChaseWalk::PageGroups => 512 << 10,
                ChaseWalk::Anywhere => working_set_bytes,
            },
            pages,
        };
        let mut actors = vec![Actor::Chase(chase)];
        let mut name = format!(
            "64MiB/{}/{}",
            if pages == Pages::Small { "small" } else { "huge" },
            walk.as_str()
        );
        if let Some(load) = &load {
            let mut traffic = stream(&load.kernel, cluster, load.threads, "preferred:0");
            traffic.thread_cpus = vec![thread_cpu + 1];
            traffic.pause_cycles = load.pause_cycles;
            actors.push(Actor::Stream(traffic));
            name = format!("loaded/{}/pause{}", load.kernel, load.pause_cycles);
        }
        let place = LatencyCoordinates {
            cluster,
            cpu_node: cpu_node_of(cluster),
            memory_node,
            working_set_bytes,
            pages,
            walk,
            load,
        };
        let id = format!("latency/cluster{cluster}/node{memory_node}/{name}");
        case(&id, vec![Coordinates::Latency(place)], actors)
    };
    let load = |kernel: &str, pause_cycles| LatencyLoad {
        kernel: kernel.into(),
        variant: VARIANT.into(),
        threads: 1,
        pause_cycles,
    };
    vec![
        chase(0, ChaseWalk::PageGroups, Pages::Transparent, None),
        chase(1, ChaseWalk::Anywhere, Pages::Small, None),
        chase(0, ChaseWalk::PageGroups, Pages::Transparent, Some(load("load", 0))),
        chase(0, ChaseWalk::PageGroups, Pages::Transparent, Some(load("2l1s", 256))),
    ]
}

/// Every program at every placement.
fn commands(header: &Header) -> Vec<Case> {
    let commands = header.inputs.commands.as_ref().unwrap();
    let cases = commands.programs.iter().flat_map(|program| {
        commands.placements.iter().map(|at| {
            let place = Coordinates::Commands(CommandCoordinates {
                command: program.label.clone(),
                cluster: at.cluster,
                cpu_node: at.cpu_node,
                memory_node: at.memory_node,
            });
            let actor = Actor::Command(Command {
                label: program.label.clone(),
                program: program.program.clone(),
                arguments: program.arguments.clone(),
                binding: at.binding.clone(),
            });
            let id = format!("commands/{}/cluster{}", program.label, at.cluster);
            case(&id, vec![place], vec![actor])
        })
    });
    cases.collect()
}

/// Alone, beside streams, beside a second device, between devices; and the streams alone.
fn devices() -> Vec<Case> {
    let transfer = |device: &str, cluster: u32, direction: TransferDirection| {
        let is_to_peer = direction == TransferDirection::ToPeer;
        let memory = if is_to_peer { "first-touch".into() } else { format!("preferred:{cluster}") };
        Transfer {
            device: device.into(),
            peer: is_to_peer.then(|| "cuda1".into()),
            backend: Backend::Cuda,
            direction,
            host_memory: (!is_to_peer).then_some(HostMemory::Pinned),
            binding: nearfar_machine::Binding { cpus: cpus_of(cluster), memory: policy(&memory) },
            thread_cpu: cpus_of(cluster).first().unwrap(),
            bytes: 1 << 20,
            pages: Pages::Transparent,
        }
    };
    let place = |transfer: &Transfer, actor: u32, beside: Option<TransferBeside>| {
        let cluster = if transfer.binding.cpus == cpus_of(0) { 0 } else { 1 };
        let is_to_peer = transfer.peer.is_some();
        Coordinates::Devices(DeviceCoordinates::Transfer(TransferCoordinates {
            device: transfer.device.clone(),
            actor,
            cluster,
            cpu_node: cpu_node_of(cluster),
            memory_node: (!is_to_peer).then_some(cluster),
            direction: transfer.direction,
            host_memory: transfer.host_memory,
            peer: transfer.peer.clone(),
            bytes: transfer.bytes,
            beside,
        }))
    };
    let alone = |direction: TransferDirection| {
        let transfer = transfer("cuda0", 0, direction);
        let id = format!("devices/cuda0/{direction}");
        case(&id, vec![place(&transfer, 0, None)], vec![Actor::Transfer(transfer)])
    };
    let mut cases: Vec<Case> = [
        TransferDirection::ToDevice,
        TransferDirection::ToHost,
        TransferDirection::BothWays,
        TransferDirection::ToPeer,
    ]
    .map(alone)
    .into();
    let mut loaded = stream("load", 0, 1, "preferred:0");
    loaded.thread_cpus = vec![1];
    let with_streams =
        TransferBeside::Streams { kernel: "load".into(), variant: VARIANT.into(), threads: 1 };
    let one = transfer("cuda0", 0, TransferDirection::ToHost);
    cases.push(case(
        "devices/cuda0/to_host/beside/load",
        vec![place(&one, 0, Some(with_streams))],
        vec![Actor::Transfer(one.clone()), Actor::Stream(loaded.clone())],
    ));
    let streams = Coordinates::Devices(DeviceCoordinates::Streams(DeviceStreamCoordinates {
        cluster: 0,
        cpu_node: cpu_node_of(0),
        memory_node: 0,
        kernel: "load".into(),
        variant: VARIANT.into(),
        threads: 1,
    }));
    cases.push(case("devices/node0/load", vec![streams], vec![Actor::Stream(loaded)]));
    let other = transfer("cuda1", 1, TransferDirection::ToHost);
    let beside = |device: &str| Some(TransferBeside::Device { device: device.into() });
    cases.push(case(
        "devices/cuda0/to_host/beside/cuda1",
        vec![place(&one, 0, beside("cuda1")), place(&other, 1, beside("cuda0"))],
        vec![Actor::Transfer(one), Actor::Transfer(other)],
    ));
    cases
}
