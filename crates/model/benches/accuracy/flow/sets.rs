//! What is measured of a random machine, and the sets that are predicted.

use fastrand::Rng;
use nearfar_flow::Load;
use nearfar_model::{FlowCase, MachinePart};
use nearfar_record::Experiment;

use super::machine::Machine;

/// Cases with several streams that are fitted of an experiment, as of a record.
const MOST_CASES: usize = 32;

/// Of what the suite `standard` measures the cases that are fitted, by one kernel, with this many
/// random sets.
pub fn sets(machine: &Machine, mixes: usize, random: &mut Rng) -> Vec<(Experiment, Vec<Load>)> {
    let mut sets = Vec::new();
    let mut add = |experiment, of: Vec<Vec<Load>>| {
        sets.extend(of.into_iter().map(|set| (experiment, set)));
    };
    add(Experiment::Pairs, pairs(machine));
    add(Experiment::Sharing, sharing(machine));
    add(Experiment::Links, links(machine));
    add(Experiment::Roofs, roofs(machine));
    add(Experiment::Mixes, unseen(machine, mixes, random));
    sets
}

/// Threads of an initiator, their pages in turn on nodes.
fn on(initiator: u32, threads: u32, nodes: &[u32]) -> Load {
    let share = 1.0 / nodes.len() as f64;
    Load { initiator, threads, shares: nodes.iter().map(|&node| (node, share)).collect() }
}

/// One thread and all threads of every pair, of every second local one also half of them: remote
/// pairs lose such counts where there are many.
fn pairs(machine: &Machine) -> Vec<Vec<Load>> {
    let (nodes, threads) = (machine.nodes, machine.threads);
    let of_pair = |place: u32| {
        let (initiator, node) = (place / nodes, place % nodes);
        let half = (initiator == node && place.is_multiple_of(2)).then_some(threads.div_ceil(2));
        let counts = [Some(1), half, Some(threads)].into_iter().flatten();
        counts.map(move |threads| vec![on(initiator, threads, &[node])])
    };
    (0..nodes * nodes).flat_map(of_pair).collect()
}

/// On each node its own threads beside those of the next initiator and of one half the machine away.
fn sharing(machine: &Machine) -> Vec<Vec<Load>> {
    let (nodes, threads) = (machine.nodes, machine.threads);
    let half = threads.div_ceil(2);
    let mut all = Vec::new();
    for local in 0..nodes {
        let mut remote = vec![(local + 1) % nodes, (local + nodes / 2) % nodes];
        remote.dedup();
        for remote in remote {
            let cells = [(1, 1), (half, half), (threads, 1), (threads, threads)];
            all.extend(cells.map(|(n, m)| vec![on(local, n, &[local]), on(remote, m, &[local])]));
        }
    }
    let (count, most) = (all.len(), MOST_CASES.min(all.len()));
    let is_taken = |index: usize| (index + 1) * most / count > index * most / count;
    let taken = all.into_iter().enumerate().filter(|(index, _)| is_taken(*index));
    taken.map(|(_, set)| set).collect()
}

/// Each initiator alone and all of them over all nodes, all on each node, each on its own.
fn roofs(machine: &Machine) -> Vec<Vec<Load>> {
    let (nodes, threads) = (machine.nodes, machine.threads);
    let all: Vec<u32> = (0..nodes).collect();
    let interleaved = all.iter().map(|&initiator| vec![on(initiator, threads, &all)]);
    let contended = all.iter().map(|&node| {
        let user = |&initiator: &u32| on(initiator, threads, &[node]);
        all.iter().map(user).collect()
    });
    let all_local = all.iter().map(|&it| on(it, threads, &[it])).collect();
    let congested = all.iter().map(|&it| on(it, threads, &all)).collect();
    interleaved.chain(contended).chain([all_local, congested]).collect()
}

/// The initiators of a package on the nodes of another one way, both ways, and each alone.
fn links(machine: &Machine) -> Vec<Vec<Load>> {
    let mut sets = Vec::new();
    for link in &machine.layout().links {
        if !matches!(link.part, MachinePart::Link { .. }) {
            continue;
        }
        let mut initiators: Vec<u32> = link.crosses.iter().map(|&(from, _)| from).collect();
        initiators.dedup();
        let mut to: Vec<u32> = link.crosses.iter().map(|&(_, to)| to).collect();
        to.sort_unstable();
        to.dedup();
        let across = |initiators: &[u32], to: &[u32]| -> Vec<Load> {
            initiators.iter().map(|&initiator| on(initiator, machine.threads, to)).collect()
        };
        let there = across(&initiators, &to);
        if initiators.len() > 1 && to.len() > 1 {
            sets.extend(there.iter().map(|load| vec![load.clone()]));
        }
        // A node is its initiator's own here, and has its number.
        if initiators[0] < to[0] {
            sets.push([there.clone(), across(&to, &initiators)].concat());
        }
        sets.push(there);
    }
    sets
}

/// Random sets: each node 0 to 2 streams of random numbers of threads on a random or its own node,
/// a quarter over two nodes with random weights.
pub fn unseen(machine: &Machine, count: usize, random: &mut Rng) -> Vec<Vec<Load>> {
    let mut sets = Vec::new();
    while sets.len() < count {
        let mut set = Vec::new();
        for initiator in 0..machine.nodes {
            let mut left = machine.threads;
            for _ in 0..random.u32(0..=2) {
                if left == 0 {
                    break;
                }
                let threads = random.u32(1..=left);
                left -= threads;
                let first = if random.bool() { initiator } else { random.u32(..machine.nodes) };
                let mut shares = vec![(first, 1.0)];
                if random.f64() < 0.25 {
                    let other = (first + random.u32(1..machine.nodes)) % machine.nodes;
                    let share = 0.1 + 0.8 * random.f64();
                    shares = vec![(first, share), (other, 1.0 - share)];
                }
                set.push(Load { initiator, threads, shares });
            }
        }
        if set.len() > 1 {
            sets.push(set);
        }
    }
    sets
}

/// The sets as cases with noise.
pub fn measured(
    machine: &Machine,
    sets: Vec<(Experiment, Vec<Load>)>,
    noise: f64,
    random: &mut Rng,
) -> Vec<FlowCase> {
    let mut cases: Vec<FlowCase> =
        sets.iter().map(|(experiment, set)| machine.case(*experiment, set, noise)).collect();
    for stream in cases.iter_mut().flat_map(|case| &mut case.streams) {
        stream.rate *= (noise * normal(random)).exp();
    }
    cases
}

/// A standard normal value (Box and Muller).
fn normal(random: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}
