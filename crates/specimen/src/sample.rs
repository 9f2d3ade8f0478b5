//! What is seen of actors in a window, made by hand.

use std::collections::BTreeMap;

use nearfar_machine::{CpuSet, MemoryPolicy};
use nearfar_record::{
    Actor, ActorSample, CommandRun, PageNodes, PageSizes, Proof, ProofMethod, Sample, ThreadSample,
    TrafficMethod,
};

/// Pages on each node, as move_pages(2) tells them.
pub fn pages(of_nodes: impl IntoIterator<Item = (u32, u64)>) -> PageNodes {
    PageNodes {
        method: ProofMethod::MovePages,
        page_bytes: 4096,
        pages: of_nodes.into_iter().collect(),
        unknown: 0,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates of tests are not negative and below 1e15"
)]
fn whole(much: f64) -> u64 {
    much.round() as u64
}

/// What an actor does whose threads do so much each: bytes, or floating-point operations of one that
/// computes.
pub fn done(actor: &Actor, each: &[f64]) -> ActorSample {
    let computes = matches!(actor, Actor::Compute(_));
    let thread = |&much: &f64| {
        let much = whole(much);
        if computes {
            ThreadSample::quiet(None, 0, much)
        } else {
            ThreadSample::quiet(None, much, 0)
        }
    };
    let threads: Vec<ThreadSample> = each.iter().map(thread).collect();
    let useful_bytes = threads.iter().map(|thread| thread.useful_bytes).sum();
    let written = actor.as_stream().and_then(|stream| stream.write_memory.as_ref());
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
        proof: actor.memory().map(placed),
        write_proof: written.map(placed),
        page_sizes: PageSizes::default(),
        transfer: None,
        messages: None,
    }
}

/// The same of an actor whose threads do so much together: each as much as the others, and the first
/// what is left over.
pub fn evenly(actor: &Actor, together: f64) -> ActorSample {
    done(actor, &parts(together, actor.threads()))
}

/// The same with floating-point operations, evenly spread over the threads.
pub fn with_flops(mut seen: ActorSample, together: f64) -> ActorSample {
    let threads = u32::try_from(seen.threads.len()).unwrap_or(u32::MAX);
    for (thread, flops) in seen.threads.iter_mut().zip(parts(together, threads)) {
        thread.flops = whole(flops);
    }
    seen.flops = seen.threads.iter().map(|thread| thread.flops).sum();
    seen
}

fn parts(together: f64, threads: u32) -> Vec<f64> {
    let each = (together / f64::from(threads)).floor();
    let mut parts = vec![each; threads as usize];
    if let Some(first) = parts.first_mut() {
        *first += together.round() - each * f64::from(threads);
    }
    parts
}

/// The same on cores of this clock, GHz.
pub fn at_clock(mut seen: ActorSample, ghz: f64) -> ActorSample {
    for thread in &mut seen.threads {
        thread.core_ghz = Some(ghz);
    }
    seen
}

/// Pages as the policy asks for them; those that are touched first are on node 0.
fn placed(policy: &MemoryPolicy) -> Proof {
    const PAGES: u64 = 1000;
    let of_nodes: BTreeMap<u32, u64> = match policy {
        MemoryPolicy::FirstTouch => BTreeMap::from([(0, PAGES)]),
        MemoryPolicy::Preferred(node) => BTreeMap::from([(*node, PAGES)]),
        MemoryPolicy::Bind(nodes) | MemoryPolicy::Interleave(nodes) => {
            nodes.iter().map(|node| (node, PAGES)).collect()
        }
        MemoryPolicy::Weighted(weights) => {
            weights.iter().map(|(&node, &weight)| (node, weight.into())).collect()
        }
    };
    Proof { before: pages(of_nodes.clone()), after: pages(of_nodes) }
}

/// A window of a second.
pub fn window(case: &str, round: u32, actors: Vec<ActorSample>) -> Sample {
    Sample {
        case: case.into(),
        sequence: 0,
        round,
        window: 0,
        start_ns: 0,
        window_ns: 1_000_000_000,
        actors,
        disturbances: Vec::new(),
        run: None,
        workload: None,
        cpu_distance: None,
    }
}

/// A run of a program that took this many seconds.
pub fn run_of(case: &str, round: u32, seconds: f64, metric: Option<f64>) -> Sample {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some seconds")]
    let window_ns = (seconds * 1e9) as u64;
    let run = CommandRun {
        metric,
        pages: Some(pages([(0, 1000)])),
        pages_unknown: None,
        shared_bytes_by_node: None,
        cpus_seen: CpuSet::single(0),
        counts: Vec::new(),
        before: None,
    };
    Sample { window_ns, run: Some(run), ..window(case, round, Vec::new()) }
}
