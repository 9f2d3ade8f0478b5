//! How long a plan takes at most, from a short look at the machine.

use std::collections::BTreeMap;
use std::time::Duration;

use nearfar_machine::{Initiator, Machine, MemoryPolicy, NodeSet};
use nearfar_record::{Actor, Case, Chase, Experiment, Inputs, Pages, Record, Workload};
use nearfar_workloads::{PhaseTraffic, Workload as Named};

use crate::executor::{OfferedVariants, Rates};
use crate::experiment::{phases, plan};

/// What a plan will take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    /// Its cases, by their ids, as far as they are known before anything is measured.
    pub case_ids: Vec<String>,
    /// How many of them each experiment has, in their order.
    pub experiments: Vec<(Experiment, usize)>,
    /// Most rounds of a case.
    pub rounds: u32,
    /// All rounds, at most.
    pub total: Duration,
    /// The rounds that every case gets, at most.
    pub least: Duration,
    /// Most memory that is mapped at a time.
    pub buffers_bytes: u64,
}

/// A case runs threads, proves pages and reads files beside moving data.
const FIXED_PER_CASE: Duration = Duration::from_millis(12);

/// Seconds to ask for the node of a page, before and after, and to look at one element of it.
const PER_PAGE: f64 = 250e-9;

/// The same where huge pages are asked about as wholes.
const PER_BASE_PAGE_OF_HUGE: f64 = 120e-9;

/// Passes over the working set before the window: one by the kernel, and part of
/// one to write again what another kernel has overwritten.
const PASSES: f64 = 1.4;

/// The bound over the expected: neighbours on a shared machine, and the kernels
/// that are slower than the one that was looked at.
const MARGIN: f64 = 1.1;

/// How much slower a remote node may be where the firmware gives no distance.
const UNKNOWN_REMOTE_SLOWDOWN: f64 = 2.0;

/// Seconds of an access that waits for memory, remote and with its translation missed.
const SLOW_ACCESS: f64 = 250e-9;

/// Bytes a second of a slow copy to a device: pageable memory over an old link.
const SLOW_COPY: f64 = 1.5e9;

/// Bytes of a cache that any machine has.
const SMALL_CACHE: f64 = 1e6;

/// Operations a second of a thread in code that waits for itself.
const SLOW_FLOPS: f64 = 1e9;

/// Seconds in which a device is opened and its memory filled.
const OPEN_DEVICE: f64 = 0.1;

/// Seconds in which connections are made, warm up and end, on a link of 1 Gb/s.
const CONNECT: f64 = 0.5;

/// How much slower than local memory an actor's may be: its distance over the local one, at
/// least 1.
fn slowdown(actor: &Actor, machine: &Machine, initiators: &[Initiator]) -> f64 {
    let home = initiators.iter().find(|initiator| initiator.cpus.intersects(actor.cpus()));
    let Some((home, nodes)) = home.zip(actor.memory().and_then(MemoryPolicy::nodes)) else {
        return 1.0;
    };
    let of_node = |node: u32| {
        if home.memory_nodes.contains(node) {
            return 1.0;
        }
        let distance = home.cpu_node.and_then(|from| machine.distance(from, node));
        let ratio = distance.map_or(UNKNOWN_REMOTE_SLOWDOWN, |distance| distance as f64 / 10.0);
        ratio.max(UNKNOWN_REMOTE_SLOWDOWN)
    };
    nodes.iter().map(of_node).fold(1.0, f64::max)
}

/// How many times as fast as one thread an actor's are. Threads of one initiator share its
/// memory: two are counted as the gain that any machine gives. Those of several initiators have
/// several memories, if they touched their own first.
fn gain_of_threads(actor: &Actor, initiators: &[Initiator]) -> f64 {
    let own = actor.memory() == Some(&MemoryPolicy::FirstTouch);
    let used =
        initiators.iter().filter(|initiator| initiator.cpus.intersects(actor.cpus())).count();
    let most = if own { 2 * used.max(1) } else { 2 };
    f64::from(actor.threads().min(u32::try_from(most).unwrap_or(u32::MAX)))
}

/// Seconds of one run of a case, beside what is touched for the round as a whole.
fn case_seconds(
    case: &Case,
    inputs: &Inputs,
    machine: &Machine,
    initiators: &[Initiator],
    rates: Rates,
) -> f64 {
    let windows = case.rounds(inputs).map_or(0, |rounds| rounds.windows);
    let window = Duration::from_nanos(inputs.window_ns).as_secs_f64();
    // Actors run at the same time: the slowest decides, and all share the memory.
    let (mut ready, mut longest) = (0.0_f64, window);
    for actor in &case.actors {
        let bytes = as_float(actor.working_set_bytes());
        let pages = bytes / 4096.0 * per_page(actor);
        let slowdown = slowdown(actor, machine, initiators);
        match actor {
            Actor::Stream(stream) => {
                let gain = gain_of_threads(actor, initiators);
                let rate = rates.stream * gain / slowdown;
                let touch = if stream.binding.memory == MemoryPolicy::FirstTouch {
                    bytes / (rates.first_touch.min(rates.touch) * gain)
                } else {
                    0.0
                };
                ready += PASSES * bytes / rate + pages + touch;
                let caches = stream.llc_multiple.filter(|_| case.is_on_memory());
                longest = longest.max(caches.map_or(0.0, |multiple| 2.0 * bytes / multiple / rate));
            }
            Actor::Chase(chase) => {
                let nodes = bytes / as_float(Chase::NODE_BYTES);
                let accesses = if chase.is_beyond_caches() { 0.0 } else { nodes };
                ready += accesses * SLOW_ACCESS + bytes / rates.touch + pages;
            }
            Actor::Transfer(_) => {
                // Opening a device, the copies of the warm-up and those that check the data, and
                // a window that holds a whole copy at least.
                let copies = bytes / SLOW_COPY;
                ready += OPEN_DEVICE + 4.0 * copies;
                longest = longest.max(copies);
            }
            Actor::Workload(workload) => {
                let gain = gain_of_threads(actor, initiators);
                longest = longest.max(workload_seconds(workload, rates.stream * gain / slowdown));
                ready += bytes / rates.touch + bytes / 4096.0 * PER_PAGE;
            }
            Actor::Exchange(_) => ready += pages,
            Actor::Messages(_) => ready += CONNECT + bytes / rates.touch + pages,
            Actor::Compute(_) | Actor::Command(_) => {}
        }
    }
    ready + f64::from(windows) * longest + FIXED_PER_CASE.as_secs_f64()
}

/// Seconds of a run of a workload, its warm-up and verification with it, at such a rate of streams: by
/// what it declares for a small cache.
fn workload_seconds(workload: &Workload, rate: f64) -> f64 {
    let Ok(named) = workload.workload.parse::<Named>() else { return 0.0 };
    let seconds = |phase: &PhaseTraffic| {
        let threads = workload.thread_cpus.len() as f64;
        phase.bytes() / rate + phase.flops / (SLOW_FLOPS * threads)
    };
    2.0 * named.program().traffic(SMALL_CACHE).iter().map(seconds).sum::<f64>()
}

fn per_page(actor: &Actor) -> f64 {
    let pages = match actor {
        Actor::Stream(stream) => stream.pages,
        Actor::Chase(chase) => chase.pages,
        Actor::Exchange(exchange) => exchange.pages,
        Actor::Transfer(transfer) => transfer.pages,
        Actor::Messages(messages) => messages.pages,
        Actor::Compute(_) | Actor::Command(_) | Actor::Workload(_) => return 0.0,
    };
    if pages == Pages::Small { PER_PAGE } else { PER_BASE_PAGE_OF_HUGE }
}

/// What cases of a round share: memory on the same nodes with the same pages, whatever the
/// weights, as the native executor has it.
type PoolKey = (NodeSet, Pages);

/// The pools of an actor with their bytes, halves of its arrays where two policies hold.
fn pools_of(actor: &Actor) -> Vec<(PoolKey, u64)> {
    let (policies, pages) = match actor {
        Actor::Stream(stream) => {
            (vec![Some(&stream.binding.memory), stream.write_memory.as_ref()], stream.pages)
        }
        Actor::Chase(chase) => (vec![Some(&chase.binding.memory)], chase.pages),
        Actor::Exchange(exchange) => (vec![Some(&exchange.binding.memory)], exchange.pages),
        Actor::Messages(messages) => (vec![Some(&messages.binding.memory)], messages.pages),
        Actor::Transfer(transfer) if transfer.peer.is_none() => {
            (vec![Some(&transfer.binding.memory)], transfer.pages)
        }
        Actor::Compute(_) | Actor::Transfer(_) | Actor::Command(_) | Actor::Workload(_) => {
            return Vec::new();
        }
    };
    let policies: Vec<_> = policies.into_iter().flatten().collect();
    let bytes = actor.working_set_bytes() / policies.len().max(1) as u64;
    // Memory that is touched first by its users names no nodes: it belongs to its case.
    let named = policies.into_iter().filter_map(MemoryPolicy::nodes);
    named.map(|nodes| ((nodes, pages), bytes)).collect()
}

/// Bytes that are touched once for a round over these cases, by one thread.
fn pool_bytes(cases: &[&Case]) -> u64 {
    let mut pools: BTreeMap<PoolKey, u64> = BTreeMap::new();
    for case in cases {
        let mut of_case: BTreeMap<PoolKey, u64> = BTreeMap::new();
        for (key, bytes) in case.actors.iter().flat_map(pools_of) {
            *of_case.entry(key).or_default() += bytes;
        }
        for (key, bytes) in of_case {
            let pool = pools.entry(key).or_default();
            *pool = (*pool).max(bytes);
        }
    }
    pools.values().sum()
}

/// Bytes that a case has beside the pools.
fn own_bytes(case: &Case) -> u64 {
    let own = |actor: &&Actor| {
        let is_program = matches!(actor, Actor::Workload(_));
        is_program || actor.memory() == Some(&MemoryPolicy::FirstTouch)
    };
    case.actors.iter().filter(own).map(Actor::working_set_bytes).sum()
}

/// Most memory that is mapped at a time in a round over these cases.
fn mapped_bytes(cases: &[&Case]) -> u64 {
    pool_bytes(cases) + cases.iter().map(|case| own_bytes(case)).max().unwrap_or(0)
}

/// Time of a round over these cases, at most.
pub fn round_time(cases: &[&Case], inputs: &Inputs, machine: &Machine, rates: Rates) -> Duration {
    let initiators = machine.initiators();
    let of_case = |case: &&Case| case_seconds(case, inputs, machine, &initiators, rates);
    let seconds =
        cases.iter().map(of_case).sum::<f64>() + as_float(pool_bytes(cases)) / rates.touch;
    Duration::from_secs_f64(seconds * MARGIN)
}

/// Time at most for all that a record asks for. Of experiments whose later cases follow from
/// samples of earlier ones, those are counted that can be planned now.
pub fn estimate(record: &Record, variants: &OfferedVariants, rates: Rates) -> Estimate {
    let header = &record.header;
    let (inputs, machine) = (record.inputs(), &header.machine);
    let measured = rounds_measured(record);
    let mut found = Estimate {
        case_ids: Vec::new(),
        experiments: Vec::new(),
        rounds: 0,
        total: Duration::ZERO,
        least: Duration::ZERO,
        buffers_bytes: 0,
    };
    for &experiment in &inputs.experiments {
        let before = found.case_ids.len();
        for phase in 0..phases(experiment) {
            let mut planned = plan(experiment, phase, variants, record);
            planned.cases.retain(|case| {
                let done = measured.get(&*case.id).copied().unwrap_or(0);
                case.rounds(inputs).is_none_or(|rounds| done < rounds.most)
            });
            let of_cases = planned.cases.iter().filter_map(|case| case.rounds(inputs));
            let (least, most) = of_cases.fold((0, 0), |(least, most), rounds| {
                (least.max(rounds.least), most.max(rounds.most))
            });
            let cases: Vec<&Case> = planned.cases.iter().collect();
            let round = round_time(&cases, inputs, machine, rates);
            found.total += round * most;
            found.least += round * least;
            found.rounds = found.rounds.max(most);
            found.buffers_bytes = found.buffers_bytes.max(mapped_bytes(&cases));
            found.case_ids.extend(planned.cases.into_iter().map(|case| case.id));
        }
        found.experiments.push((experiment, found.case_ids.len() - before));
    }
    let rate = rates.first_touch.min(rates.touch);
    let first = Duration::from_secs_f64(as_float(found.buffers_bytes) / rate);
    found.total += first;
    found.least += first;
    found
}

/// Rounds of the cases that a record holds.
fn rounds_measured(record: &Record) -> BTreeMap<&str, u32> {
    let mut rounds = BTreeMap::new();
    for sample in &record.samples {
        let most = rounds.entry(&*sample.case).or_insert(0);
        *most = sample.round.saturating_add(1).max(*most);
    }
    rounds
}

fn as_float(bytes: u64) -> f64 {
    bytes as f64
}
