//! A chase beside threads that load the same memory more and more.

use nearfar_machine::{Cache, CpuSet, MemoryPolicy};
use nearfar_record::{Absent, Actor, Case, LatencyLoad, ReasonCode, Stream, Suite};

use super::{Walk, memory_walk};
use crate::experiment::omitted::{made, omitted};
use crate::experiment::setting::{Loop, Setting};
use crate::experiment::stream::StreamPlan;
use crate::experiment::whole_initiator::WholeInitiator;

/// Pauses of the threads, in additions after each KiB of each array. A core that streams alone
/// takes about 250 cycles for a KiB, so that the longest pauses leave a few percent of the
/// traffic; where many cores fill a memory, the first ones change nothing.
const PAUSES: [u32; 12] = [0, 64, 128, 256, 384, 512, 768, 1024, 1536, 2048, 4096, 8192];

/// Those of `standard`; the chase alone is the eighth point.
const FEW_PAUSES: [u32; 7] = [0, 128, 256, 512, 1024, 2048, 8192];

/// Reads; twice as many reads as writes; as many, past the caches.
const KERNELS: [&str; 3] = ["load", "2l1s", "copy_nt"];

/// The first initiator that has own memory: its first core waits, the others load. `standard` has
/// loads on its nearest node; `full` also the other kernels, and its nearest remote node.
pub(super) fn cases(
    setting: Setting<'_>,
    initiators: &[WholeInitiator],
) -> Vec<Result<Case, Absent>> {
    let is_full = setting.inputs.suite == Suite::Full;
    let of_own = initiators
        .iter()
        .find_map(|initiator| Some((initiator, initiator.own_targets(setting).first().copied()?)));
    let Some((initiator, near)) = of_own else {
        let text = "no initiator that may be used has a memory node of its own that may be used";
        return vec![Err(omitted("latency/loaded", ReasonCode::NodeNotAllowed, text))];
    };
    let generators = generators(setting, initiator);
    if generators.is_empty() {
        return vec![Err(no_generators(initiator))];
    }
    let remote = initiator.nearest_remote(setting).filter(|_| is_full);
    let pauses = if is_full { &PAUSES[..] } else { &FEW_PAUSES[..] };
    let suite_kernels = if is_full { &KERNELS[..] } else { &KERNELS[..1] };
    let mut cases = Vec::new();
    for kernel in &setting.kernel_names(suite_kernels) {
        let of = match setting.preferred(format!("latency/loaded/{kernel}"), kernel) {
            Ok(of) => of,
            Err(absent) => {
                cases.push(Err(absent));
                continue;
            }
        };
        for node in std::iter::once(near).chain(remote) {
            let walk = memory_walk(setting, initiator, node);
            for &pause_cycles in pauses {
                cases.push(case(setting, initiator, walk, &generators, &of, pause_cycles));
            }
        }
    }
    cases
}

/// CPUs of the threads that load: one of every core that has no second-level cache in common
/// with the chase, whose lines they would throw out there.
fn generators(setting: Setting<'_>, initiator: &WholeInitiator) -> Vec<u32> {
    let chase = initiator.first_cpu();
    let of_chase = |cache: &&Cache| cache.level == 2 && cache.cpus.contains(chase);
    let shared: CpuSet = setting
        .machine
        .caches
        .iter()
        .filter(of_chase)
        .flat_map(|cache| cache.cpus.iter())
        .collect();
    let others = initiator.thread_cpus.iter().copied().skip(1);
    others.filter(|&cpu| !shared.contains(cpu)).collect()
}

fn no_generators(initiator: &WholeInitiator) -> Absent {
    let text = if initiator.threads() < 2 {
        format!(
            "of initiator {} one core may be used: nothing can load the memory beside the chase",
            initiator.index()
        )
    } else {
        format!(
            "every core of initiator {} shares its second-level cache with the chase, which threads \
             on it would disturb there",
            initiator.index()
        )
    };
    omitted("latency/loaded", ReasonCode::OneCore, text)
}

fn case(
    setting: Setting<'_>,
    initiator: &WholeInitiator,
    walk: Walk,
    generators: &[u32],
    of: &Loop,
    pause_cycles: u32,
) -> Result<Case, Absent> {
    let Loop { kernel, variant } = of.clone();
    let id = format!(
        "latency/initiator{}/node{}/loaded/{kernel}/pause{pause_cycles}",
        initiator.index(),
        walk.node
    );
    let cpus = generators.iter().copied().collect();
    let memory = MemoryPolicy::Preferred(walk.node);
    let plan = StreamPlan::pinned(cpus, generators.to_vec(), of, memory, 2);
    let load = LatencyLoad { kernel, variant, threads: plan.threads, pause_cycles };
    let actors = plan.on_memory(setting).map(|stream| {
        let stream = Actor::Stream(Stream { pause_cycles, ..stream });
        vec![Actor::Chase(initiator.chase(setting, walk)), stream]
    });
    made(id, vec![initiator.latency(walk, Some(load))], actors)
}
