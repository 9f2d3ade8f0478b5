//! Records of machines that the tests make, with noise as on real ones.

use nearfar_machine::{Distances, Machine};
use nearfar_record::{Coordinates, Experiment, PairCoordinates, Record};
use nearfar_specimen::{add_alone, pair, record_of};

pub const KERNELS: [&str; 5] = ["load", "copy", "copy_nt", "triad", "triad_nt"];

/// A machine of one core a node; distances are 10, 12 within a package and 32.
pub fn machine(packages: u32, nodes_per_package: u32) -> Machine {
    let nodes = packages * nodes_per_package;
    let distance = |a: u32, b: u32| match (a == b, a / nodes_per_package == b / nodes_per_package) {
        (true, _) => 10,
        (_, true) => 12,
        _ => 32,
    };
    let mut machine = nearfar_specimen::machine(packages, nodes_per_package, 1);
    machine.distances = Some(Distances {
        nodes: (0..nodes).collect(),
        values: (0..nodes).map(|a| (0..nodes).map(|b| distance(a, b)).collect()).collect(),
    });
    machine
}

/// What a sound pair gives, bytes/s: by distance, and by threads up to a limit.
fn sound(machine: &Machine, initiator: u32, node: u32, threads: u32) -> f64 {
    let (one, most) = match machine.distance(initiator, node).unwrap() {
        10 => (20e9, 40e9),
        12 => (15e9, 31e9),
        _ => (9e9, 26e9),
    };
    (one * f64::from(threads)).min(most)
}

/// Noise as on real machines: it only lowers, a few windows a lot. None where there is to be none.
fn noisy(random: &mut fastrand::Rng, rate: f64, noise: f64) -> f64 {
    if noise <= 0.0 {
        return rate;
    }
    // The sum of twelve uniform numbers is nearly normal (variance 1 about 6).
    let normal = (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
    let outlier = if random.u8(..100) == 0 { 1.0 - 0.4 * random.f64() } else { 1.0 };
    rate * (1.0 - noise * normal.abs()) * outlier
}

pub struct Plan<'a> {
    pub kernels: &'a [&'a str],
    pub threads: &'a [u32],
    pub rounds: usize,
    pub noise: f64,
    pub seed: u64,
}

pub const PLAN: Plan<'static> =
    Plan { kernels: &KERNELS, threads: &[1, 2, 4, 8], rounds: 6, noise: 0.01, seed: 1 };

/// A record of every pair; `share` is what remains of a pair with this many threads.
pub fn record(machine: &Machine, plan: &Plan<'_>, share: impl Fn(u32, u32, u32) -> f64) -> Record {
    record_by_round(machine, plan, |initiator, node, threads, _| share(initiator, node, threads))
}

/// A record of every pair; `share` is what remains of a pair with this many threads in a
/// round.
pub fn record_by_round(
    machine: &Machine,
    plan: &Plan<'_>,
    share: impl Fn(u32, u32, u32, usize) -> f64,
) -> Record {
    let mut random = fastrand::Rng::with_seed(plan.seed);
    let mut record = record_of(machine.clone(), &[Experiment::Pairs]);
    let nodes = u32::try_from(machine.nodes.len()).unwrap();
    let initiators = u32::try_from(machine.cores.len()).unwrap();
    for (initiator, node) in (0..initiators).flat_map(|a| (0..nodes).map(move |b| (a, b))) {
        for (scale, kernel) in (0..).zip(plan.kernels) {
            for &threads in plan.threads {
                let rate =
                    sound(machine, initiator, node, threads) * (1.0 + 0.1 * f64::from(scale));
                let rounds: Vec<f64> = (0..plan.rounds)
                    .map(|round| rate * share(initiator, node, threads, round))
                    .map(|rate| noisy(&mut random, rate, plan.noise))
                    .collect();
                let place = PairCoordinates { threads, ..pair(initiator, node, kernel) };
                add_alone(&mut record, Coordinates::Pairs(place), &rounds);
            }
        }
    }
    record
}
