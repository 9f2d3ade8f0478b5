//! Cases by their place in an experiment.

use std::collections::BTreeMap;

use nearfar_machine::{Binding, CpuSet, GroupBy, Machine, MemoryPolicy, PlacementStrategy};
use nearfar_record::{
    Actor, Affinity, ArrayPlacement, Case, ChaseWalk, Command, CommandCoordinates, Coordinates,
    Exchange, ExchangeCoordinates, HybridCoordinates, HybridPoint, LatencyCoordinates, LatencyLoad,
    Messages, NetworkCoordinates, PageSplit, Pages, PairCoordinates, Pinning, Roof,
    RoofCoordinates, RoofPurpose, ScalingCoordinates, SharingCoordinates, Stage, Stream, Workload,
    WorkloadCoordinates,
};

use crate::actor::{IN_MEMORY, chase, compute, stream};

const VARIANT: &str = "avx2";

/// One thread of an initiator, which is also the number of its own node, on a node.
pub fn pair(initiator: u32, memory_node: u32, kernel: &str) -> PairCoordinates {
    PairCoordinates {
        group_by: GroupBy::Memory,
        index: initiator,
        initiator,
        cpu_node: Some(initiator),
        memory_node,
        kernel: kernel.into(),
        variant: VARIANT.into(),
        threads: 1,
        stage: Stage::Matrix,
    }
}

/// Threads of copy over the machine.
pub fn scaling(threads: u32, affinity: Affinity) -> ScalingCoordinates {
    ScalingCoordinates { affinity, threads, kernel: "copy".into(), variant: VARIANT.into() }
}

/// Threads of the triad by initiators 0 and 1 on node 0.
pub fn sharing(local_threads: u32, remote_threads: u32) -> SharingCoordinates {
    SharingCoordinates {
        memory_node: 0,
        local_initiator: 0,
        remote_initiator: 1,
        local_threads,
        remote_threads,
        kernel: "triad".into(),
        variant: VARIANT.into(),
    }
}

/// A roof of an initiator by two threads.
pub fn roof(initiator: u32, roof: Roof, kernel: &str) -> RoofCoordinates {
    RoofCoordinates {
        initiator,
        actor: 0,
        roof,
        kernel: kernel.into(),
        variant: VARIANT.into(),
        threads: 2,
        purpose: RoofPurpose::Roof,
    }
}

/// Loads and stores of initiator 0 over node 1, the fast one, and node 0.
pub fn hybrid(
    point: HybridPoint,
    (loads, stores): (u32, u32),
    load_pages: PageSplit,
    store_pages: PageSplit,
) -> HybridCoordinates {
    HybridCoordinates {
        initiator: 0,
        fast_node: 1,
        slow_node: 0,
        point,
        loads,
        stores,
        load_pages: (loads > 0).then_some(load_pages),
        store_pages: (stores > 0).then_some(store_pages),
        kernel: format!("{loads}l{stores}nt"),
        variant: VARIANT.into(),
        threads: 2,
    }
}

/// A chase of an initiator on a node, alone or beside a thread that loads and pauses for this many cycles.
pub fn latency(
    initiator: u32,
    memory_node: u32,
    working_set_bytes: u64,
    pause_cycles: Option<u32>,
) -> LatencyCoordinates {
    LatencyCoordinates {
        initiator,
        cpu_node: Some(initiator),
        memory_node,
        working_set_bytes,
        pages: Pages::Transparent,
        walk: ChaseWalk::PageGroups,
        load: pause_cycles.map(|pause_cycles| LatencyLoad {
            kernel: "load".into(),
            variant: VARIANT.into(),
            threads: 1,
            pause_cycles,
            loads: 1,
            stores: 0,
        }),
    }
}

/// The case at this place, with its actors. Where the machine has no such initiator, the CPU with the
/// initiator's number does it all. Places in `links`, `mixes` and `devices` do not say what their actors are:
/// these have none.
pub fn case_at(machine: &Machine, place: Coordinates) -> Case {
    let (id, actors) = match &place {
        Coordinates::Pairs(place) => of_pair(machine, place),
        Coordinates::Scaling(place) => of_scaling(machine, place),
        Coordinates::Sharing(place) => of_sharing(machine, place),
        Coordinates::Roofs(place) => of_roof(machine, place),
        Coordinates::Hybrid(place) => of_hybrid(machine, place),
        Coordinates::Latency(place) => of_latency(machine, place),
        Coordinates::Commands(place) => of_command(machine, place),
        Coordinates::Workloads(place) => of_workload(machine, place),
        Coordinates::Exchange(place) => of_exchange(place),
        Coordinates::Network(place) => of_network(machine, place),
        Coordinates::Links(_) | Coordinates::Mixes(_) | Coordinates::Devices(_) => {
            (place.experiment().to_string(), Vec::new())
        }
    };
    Case { id, coordinates: vec![place], actors }
}

fn cpus_of(machine: &Machine, initiator: u32) -> CpuSet {
    let initiators = machine.initiators().into_iter();
    let mut cpus = initiators.filter(|it| it.index == initiator).map(|it| it.cpus);
    cpus.next().unwrap_or_else(|| CpuSet::single(initiator))
}

/// Threads in turn over the CPUs of an initiator.
fn threads_of(
    machine: &Machine,
    initiator: u32,
    (kernel, variant, threads): (&str, &str, u32),
    memory: MemoryPolicy,
) -> Stream {
    let all = stream(kernel, variant, cpus_of(machine, initiator), memory);
    let thread_cpus = all.thread_cpus.iter().copied().cycle().take(threads as usize).collect();
    Stream { threads, thread_cpus, ..all }
}

fn of_pair(machine: &Machine, place: &PairCoordinates) -> (String, Vec<Actor>) {
    let PairCoordinates { group_by, index, memory_node, kernel, variant, threads, .. } = place;
    let memory = MemoryPolicy::Preferred(*memory_node);
    let threads_of = threads_of(machine, place.initiator, (kernel, variant, *threads), memory);
    let group = group_by.group();
    let id = format!("pairs/{group}{index}/node{memory_node}/{kernel}/{variant}/t{threads}");
    (id, vec![Actor::Stream(threads_of)])
}

fn of_scaling(machine: &Machine, place: &ScalingCoordinates) -> (String, Vec<Actor>) {
    let ScalingCoordinates { affinity, threads, kernel, variant } = place;
    let mut stream = stream(kernel, variant, machine.cpus(), MemoryPolicy::FirstTouch);
    stream.threads = *threads;
    if *affinity == Affinity::Unbound {
        stream.pinning = Pinning::Unbound;
        stream.thread_cpus.clear();
    }
    stream.thread_cpus.truncate(*threads as usize);
    let id = format!("scaling/{kernel}/{variant}/t{threads}/{}", affinity.as_str());
    (id, vec![Actor::Stream(stream)])
}

fn of_sharing(machine: &Machine, place: &SharingCoordinates) -> (String, Vec<Actor>) {
    let SharingCoordinates { memory_node: node, kernel, variant, .. } = place;
    let (near, far) = (place.local_initiator, place.remote_initiator);
    let (n, m) = (place.local_threads, place.remote_threads);
    let groups = [(near, n), (far, m)].into_iter().filter(|(_, threads)| *threads > 0);
    let actors = groups.map(|(initiator, threads)| {
        let memory = MemoryPolicy::Preferred(*node);
        Actor::Stream(threads_of(machine, initiator, (kernel, variant, threads), memory))
    });
    let id =
        format!("sharing/node{node}/initiator{near}x{n}+initiator{far}x{m}/{kernel}/{variant}");
    (id, actors.collect())
}

fn of_roof(machine: &Machine, place: &RoofCoordinates) -> (String, Vec<Actor>) {
    let RoofCoordinates { initiator, roof, kernel, variant, threads, .. } = place;
    let memory = match *roof {
        Roof::Compute | Roof::Cache { .. } => MemoryPolicy::Preferred(*initiator),
        Roof::Memory { node } | Roof::Contended { node, .. } | Roof::AllLocal { node } => {
            MemoryPolicy::Preferred(node)
        }
        Roof::Interleaved { kind } | Roof::Congested { kind } => {
            let nodes = machine.nodes.iter().filter(|node| node.kind == kind);
            MemoryPolicy::Interleave(nodes.map(|node| node.os_index).collect())
        }
    };
    let actor = if *roof == Roof::Compute {
        compute(kernel, variant, cpus_of(machine, *initiator))
    } else {
        Actor::Stream(threads_of(machine, *initiator, (kernel, variant, *threads), memory))
    };
    (format!("roofs/initiator{initiator}/{roof:?}/{kernel}/{variant}/t{threads}"), vec![actor])
}

fn of_hybrid(machine: &Machine, place: &HybridCoordinates) -> (String, Vec<Actor>) {
    let HybridCoordinates { fast_node, slow_node, kernel, variant, .. } = place;
    let policy = |split: PageSplit| match split {
        PageSplit { slow: 0, .. } => MemoryPolicy::Preferred(*fast_node),
        PageSplit { fast: 0, .. } => MemoryPolicy::Preferred(*slow_node),
        PageSplit { fast, slow } => {
            MemoryPolicy::Weighted(BTreeMap::from([(*fast_node, fast), (*slow_node, slow)]))
        }
    };
    let (read, written) = (place.load_pages.map(policy), place.store_pages.map(policy));
    let write_memory = read.as_ref().and(written.clone());
    let memory = read.or(written).unwrap_or(MemoryPolicy::FirstTouch);
    let stream = threads_of(machine, place.initiator, (kernel, variant, place.threads), memory);
    let id =
        format!("hybrid/initiator{}/node{fast_node}+node{slow_node}/{kernel}", place.initiator);
    (id, vec![Actor::Stream(Stream { write_memory, ..stream })])
}

fn of_latency(machine: &Machine, place: &LatencyCoordinates) -> (String, Vec<Actor>) {
    let LatencyCoordinates { initiator, memory_node, working_set_bytes: bytes, .. } = place;
    let cpus = cpus_of(machine, *initiator);
    let other = cpus.iter().nth(1).map_or_else(|| cpus.clone(), CpuSet::single);
    let mut actors = vec![chase(cpus, *memory_node, *bytes, place.pages)];
    let mut id = format!("latency/initiator{initiator}/node{memory_node}/{bytes}");
    if let Some(LatencyLoad { kernel, variant, pause_cycles, .. }) = &place.load {
        let beside = stream(kernel, variant, other, MemoryPolicy::Preferred(*memory_node));
        actors.push(Actor::Stream(Stream { pause_cycles: *pause_cycles, ..beside }));
        id = format!("{id}/pause{pause_cycles}");
    }
    (id, actors)
}

fn of_exchange(place: &ExchangeCoordinates) -> (String, Vec<Actor>) {
    let &ExchangeCoordinates { first_cpu, second_cpu, memory_node, by } = place;
    let actor = Exchange {
        binding: Binding {
            cpus: [first_cpu, second_cpu].into_iter().collect(),
            memory: MemoryPolicy::Preferred(memory_node),
        },
        thread_cpus: vec![first_cpu, second_cpu],
        by,
        pages: Pages::Small,
    };
    let id = format!("exchange/cpu{first_cpu}/cpu{second_cpu}/node{memory_node}/{by}");
    (id, vec![Actor::Exchange(actor)])
}

fn of_network(machine: &Machine, place: &NetworkCoordinates) -> (String, Vec<Actor>) {
    let &NetworkCoordinates { initiator, memory_node, way, message_bytes, threads, .. } = place;
    let initiators = machine.initiators();
    let cpus = initiators.iter().find(|it| it.index == initiator).map(|it| it.cpus.clone());
    let cpus: CpuSet = cpus.unwrap_or_default();
    let actor = Messages {
        way,
        thread_cpus: cpus.iter().take(threads as usize).collect(),
        binding: Binding { cpus, memory: MemoryPolicy::Preferred(memory_node) },
        message_bytes,
        buffer_bytes: IN_MEMORY,
        pages: Pages::Small,
    };
    let id =
        format!("network/initiator{initiator}/node{memory_node}/{way}/{message_bytes}/t{threads}");
    (id, vec![Actor::Messages(actor)])
}

fn of_command(machine: &Machine, place: &CommandCoordinates) -> (String, Vec<Actor>) {
    let CommandCoordinates { command: label, initiator, memory_node, .. } = place;
    let memory = memory_node.map_or_else(
        || MemoryPolicy::Interleave(machine.allowed_nodes.clone()),
        MemoryPolicy::Preferred,
    );
    let on = memory_node.map_or("all".into(), |node| format!("node{node}"));
    let command = Command {
        label: label.clone(),
        program: "./it".into(),
        arguments: Vec::new(),
        environment: BTreeMap::new(),
        binding: Binding { cpus: cpus_of(machine, *initiator), memory },
    };
    let mut id = format!("commands/{label}/initiator{initiator}/{on}");
    let mut actors = vec![Actor::Command(command)];
    if let (Some(load), Some(node)) = (&place.load, memory_node) {
        let LatencyLoad { kernel, variant, pause_cycles, .. } = load;
        let all = cpus_of(machine, *initiator);
        // The first half is the program's.
        let half = all.len() / 2;
        let (own, others) = (all.iter().take(half).collect(), all.iter().skip(half).collect());
        if let Actor::Command(command) = &mut actors[0] {
            command.binding.cpus = own;
        }
        let beside = stream(kernel, variant, others, MemoryPolicy::Preferred(*node));
        actors.insert(0, Actor::Stream(Stream { pause_cycles: *pause_cycles, ..beside }));
        id = format!("{id}/beside/{kernel}/pause{pause_cycles}");
    }
    (id, actors)
}

fn of_workload(machine: &Machine, place: &WorkloadCoordinates) -> (String, Vec<Actor>) {
    let WorkloadCoordinates { workload, initiator, memory_node, strategy, .. } = place;
    let strategy = strategy.unwrap_or(PlacementStrategy::ParallelInit);
    let (on, placement) = match memory_node {
        Some(node) => {
            (format!("node{node}"), ArrayPlacement::Policy(MemoryPolicy::Preferred(*node)))
        }
        None => (strategy.to_string(), ArrayPlacement::Strategy(strategy)),
    };
    let cpus = initiator.map_or(machine.allowed_cpus.clone(), |it| cpus_of(machine, it));
    let thread_cpus: Vec<u32> = cpus.iter().take(place.threads as usize).collect();
    let id = format!("workloads/{workload}/{on}/t{}", place.threads);
    let actor = Workload {
        workload: workload.clone(),
        cpus,
        thread_cpus,
        placement,
        working_set_bytes: 1 << 20,
    };
    (id, vec![Actor::Workload(actor)])
}
