//! Samples of any case, whose counts follow from each other.

use std::collections::BTreeMap;

use nearfar_machine::MemoryPolicy;
use nearfar_record::{
    Actor, ActorSample, Case, CommandRun, CountedQuantity, Disturbance, PageNodes, PageSizes,
    Proof, ProofMethod, RunCount, Sample, ThreadSample, TrafficMethod, TransferSample,
};

/// A node that every machine of these records has, besides those that pages are asked for on.
const OTHER_NODE: u32 = 5;

/// A sample of a case at a round and window. With disturbances its first thread notes what
/// [`super::vocabulary::disturbances`] say. What can be null is so in every second sample.
pub fn sample(
    case: &Case,
    sequence: u64,
    (round, window): (u32, u32),
    method: ProofMethod,
    disturbances: Vec<Disturbance>,
) -> Sample {
    let known = sequence.is_multiple_of(2) || !disturbances.is_empty();
    let run = case.command().map(|_| run(sequence, method));
    let looped = if run.is_some() { &[][..] } else { &case.actors[..] };
    let actors = looped.iter().enumerate().map(|(position, actor)| {
        let disturbed = position == 0 && !disturbances.is_empty();
        let looks_at_clock = known && case.depends_on_clock();
        let threads = threads(actor, known, looks_at_clock, disturbed);
        let cached = case.may_be_cached(position);
        actor_sample(actor, threads, sequence, method, cached)
    });
    Sample {
        case: case.id.clone(),
        sequence,
        round,
        window,
        start_ns: 6_000_000 * sequence,
        window_ns: 5_000_000,
        actors: actors.collect(),
        disturbances,
        run,
    }
}

/// A run of a program, of which every second was not looked at. Records of simulated machines
/// ask for no metric and no counters here.
fn run(sequence: u64, method: ProofMethod) -> CommandRun {
    let seen = sequence.is_multiple_of(2);
    CommandRun {
        metric: (method != ProofMethod::Simulated).then_some(12.5),
        pages: seen.then(|| PageNodes {
            method: ProofMethod::NumaMaps,
            page_bytes: 4096,
            pages: BTreeMap::from([(0, 3), (1, 1000)]),
            unknown: 0,
        }),
        pages_unknown: (!seen).then(|| "it ended before".into()),
        cpus_seen: if seen { "0-1".parse().unwrap() } else { Default::default() },
        counts: if method == ProofMethod::Simulated { Vec::new() } else { vec![count(seen)] },
    }
}

/// Of the counter that the known header believes.
fn count(counted: bool) -> RunCount {
    RunCount {
        quantity: CountedQuantity::LlcMisses,
        count: counted.then_some(12_345.5),
        counted_share: counted.then_some(0.75),
        unavailable: (!counted).then(|| "it was never its turn to be counted".into()),
    }
}

/// (bytes, operations) of a thread in a window. An idle case moves nothing.
fn work(actor: &Actor) -> (u64, u64) {
    let bytes = if actor.kernel() == "ddot" { 0 } else { 1 << 18 };
    match actor {
        Actor::Stream(stream) if stream.kernel.ends_with("fma") => (bytes, bytes),
        Actor::Stream(_) | Actor::Chase(_) | Actor::Transfer(_) => (bytes, 0),
        Actor::Compute(_) => (0, 1 << 20),
        Actor::Command(_) => (0, 0),
    }
}

fn threads(actor: &Actor, known: bool, looks_at_clock: bool, disturbed: bool) -> Vec<ThreadSample> {
    let (useful_bytes, flops) = work(actor);
    let thread = |number: u32| {
        let disturbed = disturbed && number == 0;
        let noted = |count| if disturbed { count } else { 0 };
        let own = actor.thread_cpus().get(number as usize).copied().unwrap_or(number);
        ThreadSample {
            cpu_before: known.then_some(own),
            cpu_after: known.then_some(if disturbed { own ^ 1 } else { own }),
            useful_bytes,
            flops,
            passes: 30,
            core_ghz: looks_at_clock.then_some(3.25),
            involuntary_switches: noted(3),
            off_cpu_ns: noted(900_000),
            minor_faults: noted(12),
        }
    };
    (0..actor.threads()).map(thread).collect()
}

fn actor_sample(
    actor: &Actor,
    threads: Vec<ThreadSample>,
    sequence: u64,
    method: ProofMethod,
    cached: bool,
) -> ActorSample {
    let useful_bytes: u64 = threads.iter().map(|thread| thread.useful_bytes).sum();
    let accesses = useful_bytes / 8;
    let (lines, read_first) = (accesses * 64, useful_bytes * 3 / 2);
    let (traffic_method, min, max) = match (actor, sequence % 4) {
        (Actor::Transfer(_), _) => (TrafficMethod::Device, 0, useful_bytes),
        (Actor::Chase(_), _) if cached => (TrafficMethod::Cached, 0, lines),
        _ if cached => (TrafficMethod::Cached, 0, useful_bytes),
        (Actor::Chase(_), _) => (TrafficMethod::Lines, lines, lines),
        (Actor::Stream(_), 1) => (TrafficMethod::Allocate, read_first, read_first),
        (Actor::Stream(_), 2) => (TrafficMethod::EvasionPossible, useful_bytes, read_first),
        (Actor::Stream(_), 3) => (TrafficMethod::Counted, useful_bytes / 2, useful_bytes * 3),
        _ => (TrafficMethod::Nt, useful_bytes, useful_bytes),
    };
    let proof = |policy: &MemoryPolicy| {
        let pages = page_nodes(policy, actor.working_set_bytes() / 4096, method);
        Proof { before: pages.clone(), after: pages }
    };
    let written = actor.as_stream().and_then(|stream| stream.write_memory.as_ref());
    let known = sequence.is_multiple_of(2) && actor.memory().is_some();
    ActorSample {
        kernel: actor.kernel().into(),
        variant: actor.variant().into(),
        unroll: 4,
        useful_bytes,
        traffic_bytes_min: min,
        traffic_bytes_max: max,
        traffic_method,
        flops: threads.iter().map(|thread| thread.flops).sum(),
        accesses,
        threads,
        proof: actor.memory().map(proof),
        write_proof: written.map(proof),
        page_sizes: PageSizes {
            huge_bytes: known.then_some(2 << 20),
            resident_bytes: known.then_some(8 << 20),
        },
        transfer: match actor {
            Actor::Transfer(transfer) => Some(TransferSample {
                copies: 17,
                copy_bytes: transfer.memory_bytes(),
                device_ns: sequence.is_multiple_of(2).then_some(1_000_000),
            }),
            _ => None,
        },
    }
}

/// So many pages where a policy puts them; of many some are elsewhere or not said to be anywhere.
fn page_nodes(policy: &MemoryPolicy, all: u64, method: ProofMethod) -> PageNodes {
    let weights: BTreeMap<u32, u64> = match policy {
        MemoryPolicy::FirstTouch => BTreeMap::from([(0, 1)]),
        MemoryPolicy::Weighted(weights) => {
            weights.iter().map(|(&node, &weight)| (node, u64::from(weight))).collect()
        }
        _ => policy.nodes().unwrap().iter().map(|node| (node, 1)).collect(),
    };
    let sum: u64 = weights.values().sum();
    let mut pages: BTreeMap<u32, u64> =
        weights.iter().map(|(&node, &weight)| (node, (all * weight).div_ceil(sum))).collect();
    let stray = u64::from(all > 2048);
    *pages.entry(OTHER_NODE).or_default() += stray;
    pages.retain(|_, &mut pages| pages > 0);
    PageNodes { method, page_bytes: 4096, pages, unknown: stray }
}
