//! A chase beside threads that load the same memory more and more.

use std::collections::BTreeSet;

use nearfar_machine::{Cache, CpuSet, MemoryPolicy};
use nearfar_record::{Absent, Actor, Case, LatencyLoad, ReasonCode, Stream, Suite};

use super::{Walk, memory_walk};
use crate::experiment::omitted::{made, omitted};
use crate::experiment::setting::{Loop, Setting};
use crate::experiment::stream::StreamPlan;
use crate::experiment::whole_initiator::WholeInitiator;
use crate::kernel_name::MemoryKernel;

/// Pauses of the threads, in additions after each KiB of traffic: a thread with two arrays pauses twice as
/// long, after a KiB of each. A core that streams alone
/// takes about 250 cycles for a KiB, so that the longest pauses leave a few percent of the
/// traffic; where many cores fill a memory, the first ones change nothing.
const PAUSES: [u32; 12] = [0, 64, 128, 256, 384, 512, 768, 1024, 1536, 2048, 4096, 8192];

/// Those that the law of a family needs, for each kernel in turn: of cores that fill a memory when each
/// takes 250 to 2000 cycles for a KiB some leave between a fifth and all of the traffic, and those of one
/// kernel lie between those of the others, as their curves are of one shape.
const FEW_PAUSES: [[u32; 4]; 3] =
    [[0, 384, 1024, 2560], [0, 512, 1536, 4096], [0, 768, 2048, 6144]];

/// Reads; twice as many reads as writes; as many. Their stores go past the caches, so that what
/// crosses to the memory is known.
const KERNELS: [&str; 3] = ["load", "2l1nt", "copy_nt"];

/// `standard` measures all pairs up to this number; of more, one of each kind.
const MOST_PAIRS: usize = 4;

/// Threads of an initiator on a node.
type Pair<'a> = (&'a WholeInitiator, u32);

/// Each initiator's first core waits for a node, the others load it. `full` has more loads on the
/// nearest own node and the nearest remote one of the first initiator that has own memory.
pub(super) fn cases(
    setting: Setting<'_>,
    initiators: &[WholeInitiator],
) -> Vec<Result<Case, Absent>> {
    let is_full = setting.inputs.suite == Suite::Full;
    let targets = |initiator| WholeInitiator::targets(initiator, setting).into_iter();
    let all = initiators.iter().flat_map(|it| targets(it).map(move |node| (it, node)));
    let all: Vec<Pair<'_>> = all.collect();
    let of_own = initiators
        .iter()
        .find_map(|initiator| Some((initiator, initiator.own_targets(setting).first().copied()?)));
    let Some((first, near)) = of_own else {
        let text = "no initiator that may be used has a memory node of its own that may be used";
        return vec![Err(omitted("latency/loaded", ReasonCode::NodeNotAllowed, text))];
    };
    let detailed = [Some(near), first.nearest_remote(setting)].map(|node| Some((first, node?)));
    let is_detailed = |(initiator, node): Pair<'_>| {
        let same = |it: &Pair<'_>| (it.0.index(), it.1) == (initiator.index(), node);
        is_full && detailed.iter().flatten().any(same)
    };
    let mut cases = Vec::new();
    let pairs = if is_full || all.len() <= MOST_PAIRS {
        all
    } else {
        let kept = one_of_each_kind(setting, &all);
        cases.push(Err(thinned(all.len(), kept.len())));
        kept
    };
    let (able, unable): (Vec<Pair<'_>>, Vec<Pair<'_>>) =
        pairs.into_iter().partition(|(initiator, _)| !generators(setting, initiator).is_empty());
    cases.extend(unable.first().map(|(initiator, _)| Err(no_generators(initiator))));
    let kernels = setting.kernel_names(&KERNELS);
    for (kernel, few_pauses) in kernels.iter().zip(FEW_PAUSES.iter().cycle()) {
        let of = match setting.preferred(format!("latency/loaded/{kernel}"), kernel) {
            Ok(of) => of,
            Err(absent) => {
                cases.push(Err(absent));
                continue;
            }
        };
        let arrays = MemoryKernel::named(kernel).map_or(1, |it| it.array_widths().len());
        let arrays = u32::try_from(arrays).unwrap_or(1);
        for &(initiator, node) in &able {
            let walk = memory_walk(setting, initiator, node);
            let generators = generators(setting, initiator);
            // What `standard` measures is a part of what `full` does.
            let mut pauses = BTreeSet::from(*few_pauses);
            if is_detailed((initiator, node)) {
                pauses.extend(PAUSES);
            }
            for pause in pauses {
                cases.push(case(setting, initiator, walk, &generators, &of, pause * arrays));
            }
        }
    }
    cases
}

/// The first pair of each kind of memory at each distance, own memory first.
fn one_of_each_kind<'a>(setting: Setting<'_>, pairs: &[Pair<'a>]) -> Vec<Pair<'a>> {
    let kind = |&(initiator, node): &Pair<'_>| {
        (initiator.owns(node), initiator.relation(setting.machine, node))
    };
    let mut kept: Vec<Pair<'a>> = Vec::new();
    for pair in pairs {
        if kept.iter().all(|known| kind(known).cmp(&kind(pair)).is_ne()) {
            kept.push(*pair);
        }
    }
    kept
}

fn thinned(pairs: usize, kept: usize) -> Absent {
    let text = format!(
        "there are {pairs} pairs of an initiator and a memory node; the suite standard measures the \
         latency beside traffic of {kept} of them, one of each kind of memory at each distance; \
         --suite full measures all"
    );
    omitted("latency/loaded/thinned", ReasonCode::FullSuiteOnly, text)
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
    let (loads, stores) =
        MemoryKernel::named(&kernel).map_or((0, 0), |it| (it.loads(), it.stores()));
    let id = format!(
        "latency/initiator{}/node{}/loaded/{kernel}/pause{pause_cycles}",
        initiator.index(),
        walk.node
    );
    let cpus = generators.iter().copied().collect();
    let memory = MemoryPolicy::Preferred(walk.node);
    let plan = StreamPlan::pinned(cpus, generators.to_vec(), of, memory, 2);
    let load = LatencyLoad { kernel, variant, threads: plan.threads, pause_cycles, loads, stores };
    let actors = plan.on_memory(setting).map(|stream| {
        let stream = Actor::Stream(Stream { pause_cycles, ..stream });
        vec![Actor::Chase(initiator.chase(setting, walk)), stream]
    });
    made(id, vec![initiator.latency(walk, Some(load))], actors)
}
