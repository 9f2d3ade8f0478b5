//! How well published figures are predicted from a third of them, by the models that serve a record.
//!
//! Bandwidth of a pair by numbers of threads that it is known of: the flow law. Of all threads, and idle latency, of
//! a pair of which nothing is known: the median of the pairs that lie alike in the machine. Latency beside traffic: the
//! law of curves, below 90 % of the most traffic. Traffic of mixes: 1 / B on lines between read shares, as that
//! law has it. What none of these says is counted, and not predicted.
#![expect(clippy::print_stdout, reason = "a program for developers")]

use std::collections::BTreeMap;

use nearfar_flow::{Load, SimulatedMachine};
use nearfar_machine::Relations;
use nearfar_model::{
    FittedFlow, FlowCase, FlowLayout, FlowStream, LatencyLaw, LoadedAccess, fit_flow, fit_law,
};
use nearfar_record::Experiment;
use nearfar_stats::median;

use crate::{Errors, Loaded, READ_SHARES, cells, cores, loaded_points, thread_points};

const DRAWS: u64 = 20;
/// Machines with fewer values say nothing.
const FEWEST_VALUES: usize = 12;
const PROMISED: f64 = 0.10;
/// Machines that are worse, of which docs/published-machines.md says why.
const EXCEPTIONS: [&str; 1] = ["skylake-uneven"];
/// Points of a curve that its law needs.
const FEWEST_LOADED: usize = 3;
/// Of a published figure.
const NOISE: f64 = 0.02;

#[derive(Clone, Copy)]
enum Value {
    Bandwidth { initiator: u32, node: u32, threads: u32, rate: f64 },
    Idle { initiator: u32, node: u32, ns: f64 },
    Loaded(Loaded),
    Mix { read_share: f64, traffic: f64 },
}

pub fn print_errors(machines: &[SimulatedMachine]) -> bool {
    println!(
        "\nPublished figures predicted from a third of them, {DRAWS} draws: number over all draws, mean and worst error, %. \
         Promised: means of at most {:.0} %.\n",
        100.0 * PROMISED
    );
    println!("{:20} | values | predicted | {:18} | {:18}", "machine", "bandwidth", "latency");
    machines.iter().map(print_machine).fold(true, |all, kept| all & kept)
}

fn print_machine(machine: &SimulatedMachine) -> bool {
    let values = values(machine);
    if values.len() < FEWEST_VALUES {
        println!("{:20} | {:6} | too few", machine.name, values.len());
        return true;
    }
    let [mut bandwidth, mut latency]: [Errors; 2] = Default::default();
    let mut not_predicted = 0;
    for seed in 0..DRAWS {
        let mut shuffled = values.clone();
        fastrand::Rng::with_seed(seed).shuffle(&mut shuffled);
        let (drawn, rest) = shuffled.split_at(values.len().div_ceil(3));
        let known = Known::of(machine, drawn);
        for value in rest {
            let (found, truth, errors) = match *value {
                Value::Bandwidth { initiator, node, threads, rate } => {
                    (known.bandwidth(initiator, node, threads), rate, &mut bandwidth)
                }
                Value::Idle { initiator, node, ns } => {
                    (known.idle(initiator, node), ns, &mut latency)
                }
                Value::Loaded(point) if !point.is_below_the_wall() => continue,
                Value::Loaded(point) => (known.loaded(&point), point.ns, &mut latency),
                Value::Mix { read_share, traffic } => {
                    (known.mix(read_share), traffic, &mut bandwidth)
                }
            };
            match found {
                Some(found) => errors.add(found, truth),
                None => not_predicted += 1,
            }
        }
    }
    let all = bandwidth.0.len() + latency.0.len() + not_predicted;
    let share = 100.0 * (1.0 - not_predicted as f64 / all as f64);
    let kept = bandwidth.is_within(PROMISED) && latency.is_within(PROMISED);
    let is_known = EXCEPTIONS.contains(&machine.name.as_str());
    let marked = if kept {
        ""
    } else if is_known {
        " (see docs)"
    } else {
        " MISSED"
    };
    println!(
        "{:20} | {:6} | {share:6.0} % | {} | {}{marked}",
        machine.name,
        values.len(),
        bandwidth.words(),
        latency.words()
    );
    kept || is_known
}

/// All that was published of it and that the models speak of.
fn values(machine: &SimulatedMachine) -> Vec<Value> {
    let published = &machine.published;
    let all = cells(machine, &published.all_threads).into_iter().map(|(initiator, node, rate)| {
        Value::Bandwidth { initiator, node, threads: cores(machine, initiator), rate }
    });
    let by_threads = thread_points(machine).into_iter().map(|(initiator, node, threads, rate)| {
        Value::Bandwidth { initiator, node, threads, rate }
    });
    let idle = cells(machine, &published.latency_ns).into_iter();
    let idle = idle.map(|(initiator, node, ns)| Value::Idle { initiator, node, ns });
    let loaded = loaded_points(machine).into_iter().map(Value::Loaded);
    let mixes = published.traffic.iter().map(|(kernel, traffic)| {
        let share = READ_SHARES.iter().find(|(known, _)| known == kernel).unwrap().1;
        Value::Mix { read_share: share, traffic: *traffic }
    });
    all.chain(by_threads).chain(idle).chain(loaded).chain(mixes).collect()
}

/// What was drawn, and the laws that are fitted to it.
struct Known<'a> {
    machine: &'a SimulatedMachine,
    drawn: &'a [Value],
    flow: Option<FittedFlow>,
    /// Laws of latency beside traffic, by initiator and node.
    families: BTreeMap<(u32, u32), LatencyLaw>,
}

impl<'a> Known<'a> {
    fn of(machine: &'a SimulatedMachine, drawn: &'a [Value]) -> Self {
        let layout = FlowLayout {
            initiators: machine.machine.initiators().len(),
            nodes: machine.machine.nodes.iter().map(|node| node.os_index).collect(),
            links: Vec::new(),
            kernels: vec!["load".into()],
        };
        let cases = drawn.iter().filter_map(|value| match *value {
            Value::Bandwidth { initiator, node, threads, rate } => {
                Some(case(initiator, node, threads, rate))
            }
            _ => None,
        });
        let flow = fit_flow(&layout, &cases.collect::<Vec<_>>(), |_| false);
        let mut known = Self { machine, drawn, flow, families: BTreeMap::new() };
        known.families = known.families();
        known
    }

    fn families(&self) -> BTreeMap<(u32, u32), LatencyLaw> {
        let mut points: BTreeMap<(u32, u32), Vec<LoadedAccess>> = BTreeMap::new();
        for value in self.drawn {
            if let Value::Loaded(Loaded { initiator, node, read_share, traffic, ns, .. }) = *value {
                let access = LoadedAccess { read_share, traffic, ns };
                points.entry((initiator, node)).or_default().push(access);
            }
        }
        for (pair, points) in &mut points {
            let idle = self.idle(pair.0, pair.1);
            points.extend(idle.map(|ns| LoadedAccess { read_share: 1.0, traffic: 0.0, ns }));
        }
        let laws = points.into_iter().filter(|(_, points)| points.len() >= FEWEST_LOADED);
        laws.filter_map(|(pair, points)| Some((pair, fit_law(&points, None)?))).collect()
    }

    /// The flow law where the pair was drawn with any number of threads, else its twins.
    fn bandwidth(&self, initiator: u32, node: u32, threads: u32) -> Option<f64> {
        let is_own = |value: &Value| match *value {
            Value::Bandwidth { initiator: from, node: to, .. } => (from, to) == (initiator, node),
            _ => false,
        };
        let flow = self.flow.as_ref().filter(|_| self.drawn.iter().any(is_own));
        let by_law = flow.and_then(|flow| flow.rates(&case(initiator, node, threads, 1.0)));
        by_law.map(|rates| rates[0]).or_else(|| {
            self.twins(initiator, node, |value| match *value {
                Value::Bandwidth { initiator, node, threads: of, rate } if of == threads => {
                    Some((initiator, node, rate))
                }
                _ => None,
            })
        })
    }

    fn idle(&self, initiator: u32, node: u32) -> Option<f64> {
        self.twins(initiator, node, |value| match *value {
            Value::Idle { initiator, node, ns } => Some((initiator, node, ns)),
            _ => None,
        })
    }

    /// The median of what was drawn of pairs that lie alike.
    fn twins(
        &self,
        initiator: u32,
        node: u32,
        figure: impl Fn(&Value) -> Option<(u32, u32, f64)>,
    ) -> Option<f64> {
        let relations = Relations::new(&self.machine.machine);
        let cpu_nodes: BTreeMap<u32, Option<u32>> =
            self.machine.machine.initiators().iter().map(|it| (it.index, it.cpu_node)).collect();
        let lies =
            |initiator: u32, node: u32| relations.position(initiator, cpu_nodes[&initiator], node);
        let alike = self.drawn.iter().filter_map(figure);
        let alike = alike.filter(|&(from, to, _)| lies(from, to) == lies(initiator, node));
        median(&alike.map(|(.., value)| value).collect::<Vec<_>>())
    }

    fn loaded(&self, asked: &Loaded) -> Option<f64> {
        let law = self.families.get(&(asked.initiator, asked.node))?;
        // Beyond the drawn traffic the model marks what it says.
        let is_known = law.most_traffic(asked.read_share)? >= asked.traffic;
        law.time_ns(asked.read_share, asked.traffic).filter(|_| is_known)
    }

    /// 1 / B on lines between the read shares; nothing beyond them.
    fn mix(&self, read_share: f64) -> Option<f64> {
        let drawn = self.drawn.iter().filter_map(|value| match *value {
            Value::Mix { read_share, traffic } => Some((read_share, 1.0 / traffic)),
            _ => None,
        });
        let mut points: Vec<(f64, f64)> = drawn.collect();
        // All nodes read what each reads of its own memory.
        let initiators = self.machine.machine.initiators();
        let own = initiators
            .iter()
            .map(|it| self.bandwidth(it.index, it.cpu_node?, cores(self.machine, it.index)));
        let reads: Option<f64> = own.sum();
        points.extend(reads.map(|reads| (1.0, 1.0 / reads)));
        let far = |it: &(f64, f64)| (it.0 - read_share).abs();
        let nearest = |is_beside: &dyn Fn(f64) -> bool| {
            let beside = points.iter().filter(|it| is_beside(it.0));
            beside.min_by(|a, b| far(a).total_cmp(&far(b))).copied()
        };
        let (below, low) = nearest(&|share| share <= read_share)?;
        let (above, high) = nearest(&|share| share >= read_share)?;
        let part = if above > below { (read_share - below) / (above - below) } else { 0.0 };
        Some(1.0 / (low + (high - low) * part))
    }
}

fn case(initiator: u32, node: u32, threads: u32, rate: f64) -> FlowCase {
    let load = Load { initiator, threads, shares: vec![(node, 1.0)] };
    let streams = vec![FlowStream { load, kernel: 0, rate, noise: NOISE }];
    FlowCase { experiment: Experiment::Pairs, streams }
}
