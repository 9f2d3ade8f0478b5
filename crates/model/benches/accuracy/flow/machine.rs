//! Random machines: 2 to 8 nodes in one or two packages, 4 to 24 threads a node.

use std::collections::BTreeSet;

use fastrand::Rng;
use nearfar_flow::{Capacities, Load, SharedLink};
use nearfar_machine::MemoryKind;
use nearfar_model::{FlowCase, FlowLayout, FlowLink, FlowStream, MachinePart};
use nearfar_record::Experiment;

use super::queueing;

/// The law that a machine obeys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// The flow law.
    Own,
    /// The flow law with limits so hard that nothing is smooth.
    Hard,
    /// A closed queueing network: threads wait with their lines in queues (mean value analysis).
    Queueing,
    /// Hard limits that serve every thread alike: proportional fairness.
    PerThread,
    /// The flow law, but a controller that serves several packages loses time at every turn.
    Turnaround,
}

/// A machine and what its parts carry.
pub struct Machine {
    pub family: Family,
    pub nodes: u32,
    /// Threads of each node's initiator.
    pub threads: u32,
    pub truth: Capacities,
    links: Vec<FlowLink>,
}

/// Lines that a thread has under way.
const LINES: f64 = 10.0;
/// What a controller loses for each further initiator in use.
const TURNAROUND: f64 = 0.04;

impl Machine {
    pub fn random(family: Family, random: &mut Rng) -> Self {
        let nodes = random.u32(2..=8);
        let threads = random.u32(4..=24);
        let mut between = |from: f64, to: f64| from + (to - from) * random.f64();
        let local = 1e9 * between(15.0, 60.0);
        // 25 to 80 % of the threads fill the path.
        let one = local / (f64::from(threads) * between(0.25, 0.8));
        let classes: Vec<f64> = (0..3).map(|_| between(0.25, 0.85)).collect();
        let package = |node: u32| if nodes > 3 { node / nodes.div_ceil(2) } else { node };
        let count = nodes as usize;
        let mut one_thread = vec![vec![0.0; count]; count];
        let mut path = vec![vec![None; count]; count];
        for from in 0..nodes {
            for to in 0..nodes {
                let (c, m) = (from as usize, to as usize);
                let class = if from == to {
                    1.0
                } else {
                    classes[(from.abs_diff(to) as usize) % classes.len()]
                };
                path[c][m] = Some(local * class * between(0.92, 1.08));
                one_thread[c][m] = one * class.powf(0.6) * between(0.95, 1.05);
            }
        }
        let controller = (0..nodes).map(|_| Some(local * between(0.95, 1.5))).collect();
        let issue = (0..nodes).map(|_| Some(local * between(1.0, 1.8))).collect();
        let paths = |is_own: &dyn Fn(u32, u32) -> bool| -> BTreeSet<(u32, u32)> {
            let pairs = (0..nodes).flat_map(|c| (0..nodes).map(move |m| (c, m)));
            pairs.filter(|&(c, m)| is_own(c, m)).collect()
        };
        let widest = |c: u32, crosses: &BTreeSet<(u32, u32)>| {
            let of = crosses.iter().filter(|(from, _)| *from == c);
            of.filter_map(|&(c, m)| path[c as usize][m as usize]).fold(0.0, f64::max)
        };
        let mut links = Vec::new();
        let mut shared = Vec::new();
        let mut add = |part: MachinePart, capacity: f64, crosses: BTreeSet<(u32, u32)>| {
            if crosses.len() > 1 {
                shared.push(SharedLink { name: String::new(), capacity, crosses: crosses.clone() });
                links.push(FlowLink { part, crosses });
            }
        };
        for from in 0..2 {
            let to = 1 - from;
            let crosses = paths(&|c, m| package(c) == from && package(m) == to);
            // Of what all initiators of the package could move over it at once.
            let all: f64 = (0..nodes).map(|c| widest(c, &crosses)).sum();
            add(
                MachinePart::Link { from_package: from, to_package: to },
                all * between(0.4, 0.9),
                crosses,
            );
        }
        for initiator in (0..nodes).filter(|_| nodes > 3) {
            let to = 1 - package(initiator);
            let crosses = paths(&|c, m| c == initiator && package(m) == to);
            let most = widest(initiator, &crosses);
            add(
                MachinePart::InitiatorLink { initiator, to_package: to },
                most * between(1.0, 1.6),
                crosses,
            );
        }
        for package_of in (0..2).filter(|_| nodes > 3) {
            let crosses = paths(&|_, m| package(m) == package_of);
            let part = MachinePart::Channels { package: package_of, memory_kind: MemoryKind::Dram };
            let count = f64::from(nodes) / 2.0;
            add(part, local * count * between(0.9, 2.0), crosses);
        }
        let truth = Capacities {
            nodes: (0..nodes).collect(),
            one_thread,
            path,
            curves: Vec::new(),
            controller,
            interference: vec![if family == Family::Turnaround { TURNAROUND } else { 0.0 }; count],
            issue,
            links: shared,
            pressure: Vec::new(),
            saturation: if family == Family::Hard { 60.0 } else { between(3.0, 8.0) },
            fairness: between(0.0, 1.0),
        };
        Self { family, nodes, threads, truth, links }
    }

    pub fn layout(&self) -> FlowLayout {
        FlowLayout {
            initiators: self.nodes as usize,
            nodes: self.truth.nodes.clone(),
            links: self.links.clone(),
            kernels: vec!["load".into()],
        }
    }

    /// What loads get of it when they run together, bytes/s.
    pub fn rates(&self, loads: &[Load]) -> Vec<f64> {
        match self.family {
            Family::Own | Family::Hard | Family::Turnaround => self.truth.rates(loads).unwrap(),
            Family::Queueing => queueing::closed_queueing(&self.truth, loads, LINES),
            Family::PerThread => queueing::proportionally_fair(&self.truth, loads),
        }
    }

    /// The true rates of a set as a case.
    pub fn case(&self, experiment: Experiment, set: &[Load], noise: f64) -> FlowCase {
        let streams = set.iter().zip(self.rates(set));
        let stream =
            |(load, rate): (&Load, f64)| FlowStream { load: load.clone(), kernel: 0, rate, noise };
        FlowCase { experiment, streams: streams.map(stream).collect() }
    }
}
