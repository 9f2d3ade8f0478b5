//! The cases of a record that tell the flow model something, and which of them are fitted.

use std::collections::{BTreeMap, BTreeSet};

use nearfar_flow::Load;
use nearfar_machine::{Initiator, Machine, MemoryNode, MemoryPolicy};
use nearfar_record::{
    Actor, Coordinates, Experiment, Part, Roof, RoofPurpose, Stage, Suite, pages_in_turn,
};

use super::case::{FlowCase, FlowLayout, FlowLink, FlowStream, MachinePart};
use super::parameters::pairs_of;
use crate::inapplicable::Inapplicable;
use crate::record_figures::{CaseFigures, RecordFigures};

/// Pairs of initiator and node; more would make the fit long.
const MOST_PAIRS: usize = 400;
/// Initiators up to the last with a pair, times memory nodes with a pair: what one is asked of.
const MOST_CELLS: usize = 1600;
/// Cases with several streams that are fitted of each experiment; more tell little and take time.
const MOST_CASES: usize = 32;
/// Cases of one initiator alone on several nodes: each is the only one that fills its initiator's way.
const MOST_ALONE: usize = 128;
/// Lone cases of each further kernel.
const MOST_OF_KERNEL: usize = 24;
/// Cases that are not fitted and are predicted instead, of each experiment.
const MOST_HELD_OUT: usize = 48;
/// No law of this kind fits a machine better: a case that was measured better counts as if it
/// had this standard error.
const LEAST_NOISE: f64 = 0.02;
/// Where rounds do not tell it.
const UNKNOWN_NOISE: f64 = 0.03;
/// Standard error of a median / that of a mean.
const OF_MEDIAN: f64 = 1.2533;

#[derive(Debug)]
pub(crate) struct Observed {
    pub layout: FlowLayout,
    /// Instruction-set variant of each kernel in cases with several streams.
    pub variants: Vec<String>,
    /// Its variant in lone cases.
    pub lone_variants: Vec<String>,
    pub fitted: Vec<FlowCase>,
    pub held_out: Vec<FlowCase>,
}

type Loop<'a> = (&'a str, &'a str);

/// Initiator and node.
type Pair = (u32, u32);

/// A kernel in the variant that it runs in beside others, and in the one that stands for it where a
/// pair has no lone figures of that: screening chooses for near and for far memory, and memory
/// bounds both.
struct KnownLoop<'a> {
    beside: Loop<'a>,
    /// Pairs of which there are lone figures in that variant.
    measured: BTreeSet<Pair>,
    substitute: Loop<'a>,
}

/// A case that may be of use, with where it stands.
struct Candidate<'a> {
    experiment: Experiment,
    /// Of a case of `pairs`.
    pair: Option<Pair>,
    figures: CaseFigures<'a>,
}

/// Finds the kernel that most experiments share, and its cases.
///
/// # Errors
/// Where the record holds no pairs, no case with several streams, or too many pairs.
pub(crate) fn observe(figures: &RecordFigures<'_>) -> Result<Observed, Inapplicable> {
    let record = figures.record();
    let machine = &record.header.machine;
    let candidates = candidates(figures);
    let without = |experiment| Err(Inapplicable::without(record, experiment));
    let has = |wanted| candidates.iter().any(|it| it.experiment == wanted);
    if !has(Experiment::Pairs) {
        let is_shared = |it: &Candidate<'_>| it.figures.actors().len() > 1;
        if candidates.iter().any(is_shared) {
            return without(Experiment::Pairs);
        }
        let Inapplicable { why, .. } = Inapplicable::without(record, Experiment::Pairs);
        let needed = [Experiment::Pairs, Experiment::Mixes];
        return Err(Inapplicable::until_measured(record, &needed, Suite::Standard, why));
    }
    let Some(first) = shared_loop(&candidates) else { return without(Experiment::Mixes) };
    let loops: Vec<KnownLoop<'_>> = loops_of_mixes(&candidates, first)
        .into_iter()
        .map(|beside| KnownLoop::of(&candidates, beside))
        .collect();
    let initiators = machine.initiators();
    let observer = Observer { initiators: &initiators, loops: &loops };
    let mut pairs = Vec::new();
    let mut by_experiment: BTreeMap<Experiment, Vec<FlowCase>> = BTreeMap::new();
    let mut alone: BTreeMap<Experiment, Vec<FlowCase>> = BTreeMap::new();
    let mut kernels: Vec<Vec<FlowCase>> = vec![Vec::new(); loops.len()];
    for candidate in &candidates {
        let Some(case) = observer.case(candidate) else { continue };
        match case.streams.as_slice() {
            [only] if only.kernel > 0 => kernels[only.kernel].push(case),
            _ if candidate.experiment == Experiment::Pairs => pairs.push(case),
            [_] => alone.entry(candidate.experiment).or_default().push(case),
            _ => by_experiment.entry(candidate.experiment).or_default().push(case),
        }
    }
    let kernels_of_mixes = loops.iter().map(|it| it.beside.0.into()).collect();
    let mut observed = Observed {
        layout: layout(machine, &initiators, &pairs_of(&pairs), kernels_of_mixes)?,
        variants: loops.iter().map(|it| it.beside.1.into()).collect(),
        lone_variants: loops.iter().map(|it| it.substitute.1.into()).collect(),
        fitted: Vec::new(),
        held_out: Vec::new(),
    };
    observed.take_pairs(pairs);
    for cases in kernels {
        observed.take(ends_of_pairs(cases), MOST_OF_KERNEL);
    }
    for cases in by_experiment.into_values() {
        observed.take(cases, MOST_CASES);
    }
    for cases in alone.into_values() {
        observed.take(cases, MOST_ALONE);
    }
    if observed.fitted.iter().all(|case| case.streams.len() < 2) {
        return without(Experiment::Mixes);
    }
    Ok(observed)
}

/// The parts of a machine as far as pairs were measured: a record from anywhere may name any number
/// of initiators and nodes.
fn layout(
    machine: &Machine,
    initiators: &[Initiator],
    pairs: &BTreeSet<(u32, u32)>,
    kernels: Vec<String>,
) -> Result<FlowLayout, Inapplicable> {
    let rows = pairs.iter().map(|&(initiator, _)| initiator as usize + 1).max().unwrap_or(0);
    let own: BTreeSet<u32> = pairs.iter().map(|&(_, node)| node).collect();
    if pairs.len() > MOST_PAIRS || rows * own.len() > MOST_CELLS {
        return Err(Inapplicable::here(format!(
            "the record has {} pairs of {} nodes and initiators up to number {}, more than the fit \
             takes",
            pairs.len(),
            own.len(),
            rows.saturating_sub(1)
        )));
    }
    let used: Vec<&MemoryNode> =
        machine.nodes.iter().filter(|node| own.contains(&node.os_index)).collect();
    Ok(FlowLayout {
        initiators: rows,
        nodes: used.iter().map(|node| node.os_index).collect(),
        links: links(machine, &initiators[..rows.min(initiators.len())], &used),
        kernels,
    })
}

impl Observed {
    /// Of each pair one thread, all threads, and of every second pair a number between; the
    /// others are predicted.
    fn take_pairs(&mut self, cases: Vec<FlowCase>) {
        let mut of_pair: BTreeMap<(u32, u32), Vec<FlowCase>> = BTreeMap::new();
        for case in cases {
            if let Some((initiator, node, _)) = case.as_pair() {
                of_pair.entry((initiator, node)).or_default().push(case);
            }
        }
        let mut between = Vec::new();
        for (place, mut cases) in of_pair.into_values().enumerate() {
            cases.sort_by_key(|case| case.as_pair());
            let last = cases.len() - 1;
            for (index, case) in cases.into_iter().enumerate() {
                let is_middle = index == last.div_ceil(2) && place.is_multiple_of(2);
                let is_fitted = index == 0 || index == last || is_middle;
                let taken = if is_fitted { &mut self.fitted } else { &mut between };
                taken.push(case);
            }
        }
        self.held_out.extend(evenly(between, MOST_HELD_OUT).0);
    }

    fn take(&mut self, cases: Vec<FlowCase>, most: usize) {
        let (taken, rest) = evenly(cases, most);
        self.fitted.extend(taken);
        self.held_out.extend(evenly(rest, MOST_HELD_OUT).0);
    }
}

/// Cases of one pair with the fewest and with the most threads.
fn ends_of_pairs(cases: Vec<FlowCase>) -> Vec<FlowCase> {
    let mut ends: BTreeMap<(u32, u32), (u32, u32)> = BTreeMap::new();
    for (initiator, node, threads) in cases.iter().filter_map(FlowCase::as_pair) {
        let (fewest, most) = ends.entry((initiator, node)).or_insert((threads, threads));
        *fewest = threads.min(*fewest);
        *most = threads.max(*most);
    }
    let is_end = |case: &FlowCase| {
        case.as_pair().is_some_and(|(initiator, node, threads)| {
            ends.get(&(initiator, node)).is_some_and(|&(a, b)| threads == a || threads == b)
        })
    };
    cases.into_iter().filter(is_end).collect()
}

/// At most this many of these, evenly chosen; then the others.
fn evenly(cases: Vec<FlowCase>, most: usize) -> (Vec<FlowCase>, Vec<FlowCase>) {
    let count = cases.len();
    let most = most.min(count);
    let indexed = cases.into_iter().enumerate();
    let (taken, rest): (Vec<_>, Vec<_>) =
        indexed.partition(|(index, _)| (index + 1) * most / count > index * most / count);
    let cases = |indexed: Vec<(usize, FlowCase)>| indexed.into_iter().map(|(_, it)| it).collect();
    (cases(taken), cases(rest))
}

/// Cases of threads that stream from memory, each once, with at least one sample.
fn candidates<'a>(figures: &'a RecordFigures<'a>) -> Vec<Candidate<'a>> {
    let mut seen = BTreeSet::new();
    let mut candidates = Vec::new();
    for (coordinates, case) in figures.places(Some) {
        let Some(experiment) = experiment(coordinates) else { continue };
        let is_sound = !case.samples().is_empty() && case.actors().iter().all(is_plain);
        if is_sound && seen.insert(case.planned().id) {
            let pair = coordinates.as_pair().map(|it| (it.initiator, it.memory_node));
            candidates.push(Candidate { experiment, pair, figures: case });
        }
    }
    candidates
}

/// The experiment of a case that tells what parts carry; lone cells of roofs and sharing are
/// those of pairs again.
fn experiment(coordinates: &Coordinates) -> Option<Experiment> {
    let tells = match coordinates {
        Coordinates::Pairs(place) => place.stage == Stage::Matrix,
        Coordinates::Sharing(place) => place.local_threads > 0 && place.remote_threads > 0,
        Coordinates::Links(_) | Coordinates::Mixes(_) => true,
        Coordinates::Roofs(place) => {
            let is_alone =
                matches!(place.roof, Roof::Compute | Roof::Cache { .. } | Roof::Memory { .. });
            !is_alone && place.purpose == RoofPurpose::Roof
        }
        _ => false,
    };
    tells.then(|| coordinates.experiment())
}

fn is_plain(actor: &Actor) -> bool {
    actor.as_stream().is_some_and(|stream| {
        stream.pause_cycles == 0 && stream.write_memory.is_none() && actor.is_pinned()
    })
}

fn loop_of(actor: &Actor) -> Loop<'_> {
    (actor.kernel(), actor.variant())
}

impl<'a> KnownLoop<'a> {
    fn of(candidates: &[Candidate<'a>], beside: Loop<'a>) -> Self {
        let lone = || {
            let pairs = candidates.iter().filter_map(|it| Some((it.pair?, it)));
            pairs.flat_map(|(pair, it)| {
                it.figures.actors().iter().map(move |of| (pair, loop_of(of)))
            })
        };
        let measured: BTreeSet<Pair> =
            lone().filter(|(_, of)| *of == beside).map(|(pair, _)| pair).collect();
        let mut others = lone().filter(|(pair, of)| {
            of.0 == beside.0 && pages_in_turn(of.1) == 1 && !measured.contains(pair)
        });
        let substitute = others.next().map_or(beside, |(_, of)| of);
        Self { beside, measured, substitute }
    }

    /// Whether a pair's lone figures are those of this loop.
    fn is_of_pair(&self, pair: Pair, of: Loop<'_>) -> bool {
        of == if self.measured.contains(&pair) { self.beside } else { self.substitute }
    }
}

/// Of the kernels that have pairs the loop that most of `roofs` and `links` use, of which no other
/// is of use; then the one of the most experiments, the one that only loads, and the one with the
/// most streams.
fn shared_loop<'a>(candidates: &[Candidate<'a>]) -> Option<Loop<'a>> {
    let mut uses: BTreeMap<Loop<'a>, (BTreeSet<Experiment>, usize)> = BTreeMap::new();
    let mut with_pairs: BTreeSet<&str> = BTreeSet::new();
    for candidate in candidates {
        for actor in candidate.figures.actors() {
            if candidate.experiment == Experiment::Pairs {
                with_pairs.insert(actor.kernel());
            } else {
                let (experiments, streams) = uses.entry(loop_of(actor)).or_default();
                experiments.insert(candidate.experiment);
                *streams += 1;
            }
        }
    }
    let known = uses.into_iter().filter(|(of, _)| with_pairs.contains(of.0));
    let best = known.max_by_key(|(of, (experiments, streams))| {
        let alone_of_use = [Experiment::Roofs, Experiment::Links];
        let count = alone_of_use.iter().filter(|it| experiments.contains(it)).count();
        (count, experiments.len(), of.0 == "load", *streams, std::cmp::Reverse(*of))
    });
    best.map(|(of, _)| of)
}

/// The first loop, and those that run beside it in mixes.
fn loops_of_mixes<'a>(candidates: &[Candidate<'a>], first: Loop<'a>) -> Vec<Loop<'a>> {
    let mixes = candidates.iter().filter(|it| it.experiment == Experiment::Mixes);
    let others: BTreeSet<Loop<'a>> =
        mixes.flat_map(|it| it.figures.actors()).map(loop_of).filter(|of| *of != first).collect();
    std::iter::once(first).chain(others).collect()
}

struct Observer<'a> {
    initiators: &'a [Initiator],
    loops: &'a [KnownLoop<'a>],
}

impl Observer<'_> {
    /// A candidate as a case; `None` where its kernels are others, or it says nothing.
    fn case(&self, candidate: &Candidate<'_>) -> Option<FlowCase> {
        let actors = candidate.figures.actors();
        let kernel_of = |actor: &Actor| {
            let of = loop_of(actor);
            self.loops.iter().position(|it| match candidate.pair {
                Some(pair) => it.is_of_pair(pair, of),
                None => it.beside == of,
            })
        };
        // Of other kernels than the first only pairs and what mixes and sharing mix.
        let is_of_any = matches!(
            candidate.experiment,
            Experiment::Pairs | Experiment::Mixes | Experiment::Sharing
        );
        if !is_of_any && actors.iter().any(|actor| kernel_of(actor) != Some(0)) {
            return None;
        }
        let streams = actors.iter().enumerate().map(|(position, actor)| {
            let kernel = kernel_of(actor)?;
            let load = self.load(actor)?;
            let found = candidate.figures.bandwidth(Part::Actor(position))?;
            let rate = found.sum.median;
            let scatter = found.deviation_between_rounds.map_or(UNKNOWN_NOISE, |deviation| {
                let rounds = found.sum.count.max(1) as f64;
                OF_MEDIAN * deviation / rounds.sqrt()
            });
            let noise = scatter.max(LEAST_NOISE);
            (rate > 0.0 && noise.is_finite()).then_some(FlowStream { load, kernel, rate, noise })
        });
        let streams = streams.collect::<Option<Vec<FlowStream>>>()?;
        (!streams.is_empty()).then_some(FlowCase { experiment: candidate.experiment, streams })
    }

    fn load(&self, actor: &Actor) -> Option<Load> {
        let own = self.initiators.iter().find(|own| actor.cpus().is_subset(&own.cpus))?;
        let shares = shares(actor.memory()?, own)?;
        let threads = actor.threads();
        (threads > 0).then_some(Load { initiator: own.index, threads, shares })
    }
}

/// The share of the pages on each node; `None` where the policy does not say it.
pub(crate) fn shares(policy: &MemoryPolicy, initiator: &Initiator) -> Option<Vec<(u32, f64)>> {
    match policy {
        MemoryPolicy::FirstTouch => only(initiator.memory_nodes.iter()),
        MemoryPolicy::Bind(nodes) => only(nodes.iter()),
        MemoryPolicy::Preferred(node) => Some(vec![(*node, 1.0)]),
        MemoryPolicy::Interleave(_) | MemoryPolicy::Weighted(_) => {
            let shares = policy.interleave_shares().filter(|shares| !shares.is_empty())?;
            Some(shares.into_iter().collect())
        }
    }
}

fn only(mut nodes: impl Iterator<Item = u32>) -> Option<Vec<(u32, f64)>> {
    let first = nodes.next()?;
    nodes.next().is_none().then(|| vec![(first, 1.0)])
}

/// What paths share beside controllers and issue limits, as far as packages tell: the way of a
/// package and of each of its initiators to each other package, and the channels of each package.
fn links(machine: &Machine, initiators: &[Initiator], nodes: &[&MemoryNode]) -> Vec<FlowLink> {
    let mut links: BTreeMap<MachinePart, BTreeSet<(u32, u32)>> = BTreeMap::new();
    let mut initiators_of: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for initiator in initiators {
        let own = machine.only_package(&initiator.cpus);
        if let Some(own) = own {
            initiators_of.entry(own).or_default().insert(initiator.index);
        }
        for node in nodes {
            let Some(to) = machine.only_package(&node.locality) else { continue };
            let path = (initiator.index, node.os_index);
            let mut add = |part| links.entry(part).or_default().insert(path);
            add(MachinePart::Channels { package: to, memory_kind: node.kind });
            if let Some(from) = own.filter(|&from| from != to) {
                add(MachinePart::Link { from_package: from, to_package: to });
                add(MachinePart::InitiatorLink { initiator: initiator.index, to_package: to });
            }
        }
    }
    // Where it would be another part again, it is none.
    let nodes_of = |paths: &BTreeSet<(u32, u32)>| {
        paths.iter().map(|&(_, node)| node).collect::<BTreeSet<u32>>().len()
    };
    let has_siblings = |initiator: &u32| {
        initiators_of.values().any(|own| own.len() > 1 && own.contains(initiator))
    };
    let is_own = |(part, paths): &(MachinePart, BTreeSet<(u32, u32)>)| match part {
        MachinePart::Link { .. } => paths.len() > 1,
        MachinePart::InitiatorLink { initiator, .. } => {
            nodes_of(paths) > 1 && has_siblings(initiator)
        }
        _ => nodes_of(paths) > 1,
    };
    let own = links.into_iter().filter(is_own);
    own.map(|(part, crosses)| FlowLink { part, crosses }).collect()
}
