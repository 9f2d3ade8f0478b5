//! What is measured of a random machine, and the sets that are foretold.

use fastrand::Rng;
use nearfar_flow::Load;
use nearfar_model::{FlowCase, LinkEnds};
use nearfar_record::Experiment;

use super::machine::Machine;

/// How many random sets are measured.
#[derive(Debug, Clone, Copy)]
pub struct SetsWanted {
    pub mixes: usize,
}

/// One thread and all threads of every pair, all clusters on each node, each on its own, each alone
/// on all nodes, all on all, the links, and mixes.
pub fn sets(
    machine: &Machine,
    wanted: SetsWanted,
    random: &mut Rng,
) -> Vec<(Experiment, Vec<Load>)> {
    let (nodes, threads) = (machine.nodes, machine.threads);
    let on = |cluster: u32, threads: u32, nodes: &[u32]| {
        let share = 1.0 / nodes.len() as f64;
        Load { cluster, threads, shares: nodes.iter().map(|&node| (node, share)).collect() }
    };
    let all: Vec<u32> = (0..nodes).collect();
    let mut sets = Vec::new();
    for cluster in 0..nodes {
        for node in 0..nodes {
            sets.push((Experiment::Pairs, vec![on(cluster, 1, &[node])]));
            sets.push((Experiment::Pairs, vec![on(cluster, threads, &[node])]));
        }
        sets.push((Experiment::Roofs, vec![on(cluster, threads, &all)]));
        let contended = (0..nodes).map(|other| on(other, threads, &[cluster])).collect();
        sets.push((Experiment::Roofs, contended));
    }
    sets.push((Experiment::Roofs, (0..nodes).map(|it| on(it, threads, &all)).collect()));
    sets.push((Experiment::Roofs, (0..nodes).map(|it| on(it, threads, &[it])).collect()));
    for link in &machine.layout().links {
        if !matches!(link.ends, LinkEnds::Packages { .. }) {
            continue;
        }
        let mut clusters: Vec<u32> = link.crosses.iter().map(|&(from, _)| from).collect();
        clusters.dedup();
        let mut to: Vec<u32> = link.crosses.iter().map(|&(_, to)| to).collect();
        to.sort_unstable();
        to.dedup();
        let loads = clusters.iter().map(|&cluster| on(cluster, threads, &to)).collect();
        sets.push((Experiment::Links, loads));
    }
    sets.extend(
        unseen(machine, wanted.mixes, random).into_iter().map(|it| (Experiment::Mixes, it)),
    );
    sets
}

/// Random sets: each node 0 to 2 streams of random numbers of threads on a random or its own node,
/// a quarter over two nodes with random weights.
pub fn unseen(machine: &Machine, count: usize, random: &mut Rng) -> Vec<Vec<Load>> {
    let mut sets = Vec::new();
    while sets.len() < count {
        let mut set = Vec::new();
        for cluster in 0..machine.nodes {
            let mut left = machine.threads;
            for _ in 0..random.u32(0..=2) {
                if left == 0 {
                    break;
                }
                let threads = random.u32(1..=left);
                left -= threads;
                let first = if random.bool() { cluster } else { random.u32(..machine.nodes) };
                let mut shares = vec![(first, 1.0)];
                if random.f64() < 0.25 {
                    let other = (first + random.u32(1..machine.nodes)) % machine.nodes;
                    let share = 0.1 + 0.8 * random.f64();
                    shares = vec![(first, share), (other, 1.0 - share)];
                }
                set.push(Load { cluster, threads, shares });
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
