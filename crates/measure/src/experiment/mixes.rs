//! `mixes`: random sets of streams that run at the same time. They tell a model of shared
//! capacities most for their number, and how far it can be believed.

use std::collections::BTreeSet;

use fastrand::Rng;
use nearfar_machine::{CpuGroup, CpuSet, Initiator, MemoryPolicy, NodeSet};
use nearfar_record::{
    Absent, Actor, Case, Coordinates, Experiment, MixCoordinates, Reason, ReasonCode, Suite,
};

use super::Planned;
use super::omitted::{made, omitted, one_core, unusable_parts};
use super::setting::{Loop, Setting};
use super::stream::StreamPlan;

/// One that reads, one that stores past the caches, and one that does both through them.
const KERNELS: [&str; 3] = ["load", "triad", "copy_nt"];

/// How likely an initiator takes part in a set.
const TAKES_PART: f64 = 0.7;

/// How likely a stream's pages are interleaved over two nodes.
const INTERLEAVED: f64 = 0.25;

/// How likely the other streams are on memory of their own initiator.
const LOCAL: f64 = 0.5;

/// A small machine has few different sets: the search for more ends after this many draws for
/// each that is wanted.
const DRAWS_FOR_EACH: u32 = 8;

/// So many different sets at most.
fn suite_sets(suite: Suite) -> u32 {
    match suite {
        Suite::Quick | Suite::Standard => 8,
        Suite::Full => 32,
    }
}

/// Different sets of at least two streams, the same for the same seed; those of `standard` are
/// the first of `full`. Where only one initiator can be used its threads are divided between two
/// streams.
pub(super) fn plan(setting: Setting<'_>) -> Planned {
    let mut planned =
        Planned { cases: Vec::new(), absent: unusable_parts(setting, Experiment::Mixes) };
    let kernels = setting.kernels(&KERNELS);
    let kernels = setting.loops(Experiment::Mixes, kernels, &mut planned.absent);
    let parts = Parts {
        initiators: setting.machine.initiators(),
        usable: setting.initiator_groups(),
        nodes: setting.targets().collect(),
        kernels,
    };
    if let Some(absent) = one_core(setting, Experiment::Mixes, &parts.usable) {
        planned.absent.push(absent);
        return planned;
    }
    if parts.nodes.is_empty() || parts.kernels.is_empty() {
        return planned;
    }
    let l3_domains = setting.machine.l3_domains();
    let wanted = suite_sets(setting.inputs.suite);
    let sets = parts.different_sets(setting.inputs.seed, wanted);
    planned.absent.extend(parts.no_more_sets(count(sets.len()), wanted));
    let case = |(index, set): (u32, Vec<Drawn<'_>>)| case(setting, &l3_domains, index, &set);
    planned.extend((0..).zip(sets).map(case));
    planned
}

/// What streams are drawn from.
struct Parts {
    initiators: Vec<Initiator>,
    /// Initiators with CPUs that may be used.
    usable: Vec<CpuGroup>,
    nodes: Vec<u32>,
    kernels: Vec<Loop>,
}

/// A stream that was drawn.
#[derive(Debug)]
struct Drawn<'a> {
    initiator: &'a CpuGroup,
    threads: u32,
    memory: MemoryPolicy,
    runs: &'a Loop,
}

impl Parts {
    /// Sets that differ in more than their order.
    fn different_sets(&self, seed: u64, wanted: u32) -> Vec<Vec<Drawn<'_>>> {
        let mut random = Rng::with_seed(seed);
        let mut seen = BTreeSet::new();
        let mut sets = Vec::new();
        for _ in 0..wanted * DRAWS_FOR_EACH {
            if sets.len() >= wanted as usize {
                break;
            }
            let set = match self.usable.as_slice() {
                [only] => self.divide(only, &mut random),
                _ => self.draw(&mut random),
            };
            let mut described: Vec<_> = set
                .iter()
                .map(|one| (one.initiator.index, one.threads, one.memory.clone(), one.runs))
                .collect();
            described.sort();
            if seen.insert(described) {
                sets.push(set);
            }
        }
        sets
    }

    /// Why there are fewer sets than wanted.
    fn no_more_sets(&self, found: u32, wanted: u32) -> Option<Absent> {
        let (initiators, nodes, kernels) =
            (self.usable.len(), self.nodes.len(), self.kernels.len());
        let code = match (initiators, nodes) {
            (1, _) => ReasonCode::OneInitiator,
            (_, 1) => ReasonCode::OneNode,
            _ => ReasonCode::NoVariant,
        };
        let last = wanted.checked_sub(1).filter(|_| found < wanted)?;
        let cores: usize = self.usable.iter().map(|initiator| initiator.cores.len()).sum();
        let text = format!(
            "no more than {found} different sets were found of {initiators} initiator(s) with {cores} \
             cores, {nodes} memory node(s) and {kernels} kernel(s)"
        );
        Some(omitted(format!("mixes/{found}-{last}"), code, text))
    }

    /// A stream for most initiators, two at least.
    fn draw(&self, random: &mut Rng) -> Vec<Drawn<'_>> {
        let (mut taken, mut rest): (Vec<&CpuGroup>, Vec<&CpuGroup>) =
            self.usable.iter().partition(|_| random.f64() < TAKES_PART);
        random.shuffle(&mut rest);
        while let (true, Some(initiator)) = (taken.len() < 2, rest.pop()) {
            taken.push(initiator);
        }
        taken.sort_by_key(|initiator| initiator.index);
        taken
            .into_iter()
            .map(|initiator| Drawn {
                initiator,
                threads: random.u32(1..=count(initiator.cores.len())),
                memory: self.draw_memory(initiator, random),
                runs: &self.kernels[random.usize(..self.kernels.len())],
            })
            .collect()
    }

    /// Two streams of one initiator, with different kernels where there are two.
    fn divide<'a>(&'a self, initiator: &'a CpuGroup, random: &mut Rng) -> Vec<Drawn<'a>> {
        let threads = random.u32(2..=count(initiator.cores.len()));
        let first = random.u32(1..threads);
        let kernels = self.kernels.len();
        let kernel = random.usize(..kernels);
        let other = if kernels > 1 { kernel + random.usize(1..kernels) } else { kernel };
        [(first, kernel), (threads - first, other % kernels)]
            .into_iter()
            .map(|(threads, kernel)| Drawn {
                initiator,
                threads,
                memory: self.draw_memory(initiator, random),
                runs: &self.kernels[kernel],
            })
            .collect()
    }

    fn draw_memory(&self, initiator: &CpuGroup, random: &mut Rng) -> MemoryPolicy {
        if self.nodes.len() > 1 && random.f64() < INTERLEAVED {
            let first = random.usize(..self.nodes.len());
            let second = first + random.usize(1..self.nodes.len());
            let both = [first, second].map(|place| self.nodes[place % self.nodes.len()]);
            return MemoryPolicy::Interleave(NodeSet::from_iter(both));
        }
        let of_initiator = self.initiators.iter().find(|known| known.index == initiator.initiator);
        let is_local =
            |node: &u32| of_initiator.is_some_and(|own| own.memory_nodes.contains(*node));
        let local: Vec<u32> = self.nodes.iter().copied().filter(is_local).collect();
        let from = if random.f64() < LOCAL && !local.is_empty() { &local } else { &self.nodes };
        MemoryPolicy::Preferred(from[random.usize(..from.len())])
    }
}

fn case(
    setting: Setting<'_>,
    l3_domains: &[CpuSet],
    index: u32,
    set: &[Drawn<'_>],
) -> Result<Case, Absent> {
    let coordinates = vec![Coordinates::Mixes(MixCoordinates { index })];
    made(format!("mixes/{index}"), coordinates, actors(setting, l3_domains, set))
}

fn actors(
    setting: Setting<'_>,
    l3_domains: &[CpuSet],
    set: &[Drawn<'_>],
) -> Result<Vec<Actor>, Reason> {
    let mut actors = Vec::new();
    for (place, drawn) in set.iter().enumerate() {
        // Threads of the same initiator lie behind those of the streams before.
        let earlier: u32 = set[..place]
            .iter()
            .filter(|other| other.initiator.index == drawn.initiator.index)
            .map(|other| other.threads)
            .sum();
        let cores = (drawn.initiator, earlier + drawn.threads);
        let (memory, sharers) = (drawn.memory.clone(), sharers(set, drawn));
        let plan =
            StreamPlan::spread(l3_domains, cores, drawn.runs, memory, sharers)?.after(earlier);
        actors.push(Actor::Stream(plan.on_memory(setting)?));
    }
    Ok(actors)
}

/// Streams of a set that use a node of this one, itself among them.
fn sharers(set: &[Drawn<'_>], drawn: &Drawn<'_>) -> u64 {
    let nodes = drawn.memory.nodes().unwrap_or_default();
    let shares =
        |other: &&Drawn<'_>| other.memory.nodes().is_some_and(|others| others.intersects(&nodes));
    set.iter().filter(shares).count() as u64
}

fn count(cores: usize) -> u32 {
    u32::try_from(cores).unwrap_or(u32::MAX)
}
