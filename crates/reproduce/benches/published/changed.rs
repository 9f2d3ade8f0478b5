//! What `predict --what-if` says of a record, against the machine as it is then: published in two modes,
//! or simulated with slower memory, or with its memory nodes joined (pages in turn over them).
#![expect(clippy::print_stdout, reason = "a program for developers")]

use std::collections::{BTreeMap, BTreeSet};

use nearfar_flow::{KernelLoad, Load, SimulatedMachine, read_machine};
use nearfar_machine::{Relation, Relations, TheoreticalMaximum};
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{BandwidthOf, LatencyOf, RecordFigures, Then, WhatIf, what_if};
use nearfar_record::{Outcome, Record, Suite};
use nearfar_units::Quantity;

use crate::{Errors, cores};

const PROMISED: f64 = 0.10;
/// Questions that may stay without an answer, a share of each machine's and of all.
const REFUSED: f64 = 0.5;

/// What a memory node of the machines has.
pub const MEMORY: [(&str, &str, u32); 11] = [
    ("ddr4-2s", "DDR4-3200", 8),
    ("epyc-7742", "DDR4-3200", 8),
    ("epyc-9224-nps2-cxl", "DDR5-4800", 6),
    ("epyc-9354p-nps1", "DDR5-4800", 12),
    ("xeon-6240", "DDR4-2933", 6),
    ("xeon-6548y", "DDR5-5200", 8),
    ("xeon-8468-snc4", "DDR5-4800", 2),
    ("xeon-8480", "DDR5-4800", 8),
    ("xeon-8480-highmem", "DDR5-4800", 8),
    ("xeon-8568-cxl", "DDR5-4800", 8),
    ("xeon-gold-5218", "DDR4-2933", 6),
];

/// Machines with several nodes in a package.
const PARTS: [&str; 2] = ["xeon-8468-snc4", "two-socket-8-nodes"];

/// What a machine has: of several nodes or pairs the one in the middle, GB/s and ns.
struct Truth {
    bandwidth: BTreeMap<BandwidthOf, f64>,
    latency: BTreeMap<LatencyOf, f64>,
}

pub fn print_errors() -> bool {
    println!(
        "\nWhat if, against the machine as it is then: questions, of these without an answer; mean and worst error of \
         the others, %; within their interval. Promised: means of at most {:.0} %, at most half without an answer.\n",
        100.0 * PROMISED
    );
    println!("{:25} | {:14} | asked | unknown | {:18} | within", "machine", "change", "error");
    let mut all = Tally::default();
    let mut kept = true;
    for (from, change, to) in [
        ("epyc-9354p-nps4", "nps=1", "epyc-9354p-nps1"),
        ("epyc-9354p-nps1", "nps=4", "epyc-9354p-nps4"),
    ] {
        let (from, to) = (read_machine(from).unwrap(), read_machine(to).unwrap());
        kept &= print_question(&from, change, None, &published(&to), &mut all);
    }
    for name in PARTS {
        let machine = read_machine(name).unwrap();
        kept &= print_question(&machine, "nps=1", None, &joined(&machine), &mut all);
    }
    for (name, module, channels) in MEMORY {
        let machine = read_machine(name).unwrap();
        let nodes = ordinary_nodes(&machine);
        let maximum = TheoreticalMaximum::memory(&format!("{module}x{channels}")).unwrap();
        for left in BTreeSet::from([channels - channels.div_ceil(6), channels / 2]) {
            let slower = slower(&machine, &nodes, f64::from(left) / f64::from(channels));
            let change = format!("channels={left}");
            kept &= print_question(&machine, &change, Some(&maximum), &figures(&slower), &mut all);
        }
        let one = TheoreticalMaximum::memory(module).unwrap();
        let speeds = one.slower_speeds();
        let below = speeds.last().unwrap();
        let slower = slower(&machine, &nodes, below.bytes_per_s / one.bytes_per_s);
        let change = format!("dimm={}", below.name);
        kept &= print_question(&machine, &change, Some(&maximum), &figures(&slower), &mut all);
        let maximum = TheoreticalMaximum::memory(&format!("{}x{channels}", below.name)).unwrap();
        let change = format!("dimm={module}");
        kept &= print_question(&slower, &change, Some(&maximum), &figures(&machine), &mut all);
    }
    all.print("all", "");
    kept && all.unknown as f64 <= REFUSED * all.asked as f64
}

#[derive(Default)]
struct Tally {
    asked: usize,
    unknown: usize,
    within: usize,
    errors: Errors,
}

impl Tally {
    fn print(&self, name: &str, change: &str) {
        let (asked, unknown) = (self.asked, self.unknown);
        let answered = asked - unknown;
        println!(
            "{name:25} | {change:14} | {asked:5} | {unknown:7} | {} | {} of {answered}",
            self.errors.words(),
            self.within
        );
    }

    fn add<U: Quantity>(&mut self, then: &Outcome<Then<U>>, truth: Option<&f64>) {
        self.asked += 1;
        let Some(then) = then.found() else {
            self.unknown += 1;
            return;
        };
        let truth = *truth.unwrap();
        self.errors.add(then.figure.value.in_unit(), truth);
        let [low, high] = then.figure.ends().map(U::in_unit);
        // Of the record that the truth would be read from, too, a figure is a median of noisy rounds.
        self.within += usize::from(0.98 * low <= truth && truth <= 1.02 * high);
    }
}

fn print_question(
    machine: &SimulatedMachine,
    change: &str,
    maximum: Option<&TheoreticalMaximum>,
    truth: &Truth,
    all: &mut Tally,
) -> bool {
    let record = record_of(machine);
    let maximum = maximum.cloned().ok_or_else(String::new);
    let found = what_if(&RecordFigures::new(&record), &change.parse().unwrap(), &maximum, None);
    let WhatIf { bandwidth, latency, .. } = found.unwrap();
    let mut tally = Tally::default();
    for it in &bandwidth {
        tally.add(&it.then, truth.bandwidth.get(&it.of));
        all.add(&it.then, truth.bandwidth.get(&it.of));
    }
    for it in &latency {
        tally.add(&it.then, truth.latency.get(&it.of));
        all.add(&it.then, truth.latency.get(&it.of));
    }
    tally.print(&machine.name, change);
    tally.errors.is_within(PROMISED)
}

fn record_of(machine: &SimulatedMachine) -> Record {
    simulate(machine, suite_inputs(Suite::Standard), true).unwrap()
}

/// The same where the memory of these nodes carries less: their controllers, and with them those paths that
/// come to carry more than the memory behind them. Links between packages stay.
pub fn slower(machine: &SimulatedMachine, nodes: &[u32], factor: f64) -> SimulatedMachine {
    let mut slower = machine.clone();
    slower.name = format!("{} slower", machine.name);
    for capacities in &mut slower.capacities {
        for (column, node) in capacities.nodes.clone().into_iter().enumerate() {
            if !nodes.contains(&node) {
                continue;
            }
            let paths = capacities.path.iter().filter_map(|row| row[column]);
            let left = factor * paths.fold(0.0, f64::max);
            let own = capacities.path.iter_mut().filter_map(|row| row[column].as_mut());
            own.for_each(|path| *path = path.min(left));
            capacities.controller[column] = capacities.controller[column].map(|it| factor * it);
        }
    }
    slower
}

/// Nodes of ordinary memory, in their order.
pub fn ordinary_nodes(of: &SimulatedMachine) -> Vec<u32> {
    let ordinary = of.machine.nodes.iter().filter(|node| node.kind.may_be_ordinary());
    ordinary.map(|node| node.os_index).collect()
}

/// What reads and lone accesses get, without noise.
fn figures(of: &SimulatedMachine) -> Truth {
    let relations = Relations::new(&of.machine);
    let mut rates: BTreeMap<Relation, Vec<f64>> = BTreeMap::new();
    let mut times: BTreeMap<Relation, Vec<f64>> = BTreeMap::new();
    let initiators = of.machine.initiators();
    let ordinary = ordinary_nodes(of);
    for initiator in &initiators {
        for &node in &ordinary {
            let at = relations.position(initiator.index, initiator.cpu_node, node);
            let Some(relation) = at.relation else { continue };
            let shares = vec![(node, 1.0)];
            let rate = total(of, &[(initiator.index, shares)]);
            rates.entry(relation).or_default().push(rate);
            times.entry(relation).or_default().extend(of.idle_latency_ns(initiator.index, node));
        }
    }
    let own = initiators.iter().filter_map(|it| Some((it.index, vec![(it.cpu_node?, 1.0)])));
    let all = total(of, &own.collect::<Vec<_>>());
    let middle = |of: &BTreeMap<Relation, Vec<f64>>, relation| {
        of.get(&relation).map(|it| middle(it.clone()))
    };
    let pairs = [
        (BandwidthOf::OwnNode, Relation::Local),
        (BandwidthOf::OtherPackage, Relation::OtherPackage),
    ];
    let lone =
        [(LatencyOf::Own, Relation::Local), (LatencyOf::OtherPackage, Relation::OtherPackage)];
    Truth {
        bandwidth: pairs
            .into_iter()
            .filter_map(|(of, relation)| Some((of, middle(&rates, relation)?)))
            .chain([(BandwidthOf::AllOwn, all)])
            .collect(),
        latency: lone
            .into_iter()
            .filter_map(|(of, relation)| Some((of, middle(&times, relation)?)))
            .collect(),
    }
}

/// What was published of a machine, else what it has: of its own node with the most threads.
fn published(of: &SimulatedMachine) -> Truth {
    let mut truth = figures(of);
    let own = of.published.threads.iter().filter(|((from, to), _)| from == to);
    let most: Vec<f64> =
        own.filter_map(|(_, rates)| rates.values().copied().reduce(f64::max)).collect();
    if !most.is_empty() {
        truth.bandwidth.insert(BandwidthOf::OwnNode, middle(most) / 1e9);
    }
    truth
}

/// The same where the nodes of each package are one: pages in turn over them.
fn joined(of: &SimulatedMachine) -> Truth {
    let initiators = of.machine.initiators();
    let package_of = |node: u32| {
        let node = of.machine.node(node).unwrap();
        of.machine.only_package(&node.cpus)
    };
    let mut packages: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for node in of.machine.nodes.iter().filter(|node| !node.cpus.is_empty()) {
        packages.entry(package_of(node.os_index).unwrap()).or_default().push(node.os_index);
    }
    let in_turn = |from: u32, to: u32| -> Vec<(u32, Vec<(u32, f64)>)> {
        let share = 1.0 / packages[&to].len() as f64;
        let shares: Vec<(u32, f64)> = packages[&to].iter().map(|&node| (node, share)).collect();
        let own = initiators.iter().filter(|it| it.cpu_node.and_then(package_of) == Some(from));
        own.map(|it| (it.index, shares.clone())).collect()
    };
    let mean_time = |from: u32, to: u32| {
        let times: Vec<f64> = in_turn(from, to)
            .iter()
            .flat_map(|(initiator, shares)| {
                shares.iter().map(|(node, _)| of.idle_latency_ns(*initiator, *node).unwrap())
            })
            .collect();
        times.iter().sum::<f64>() / times.len() as f64
    };
    let names: Vec<u32> = packages.keys().copied().collect();
    let own = || names.iter().map(|&it| (it, it));
    let others = || {
        let pairs = names.iter().flat_map(|&from| names.iter().map(move |&to| (from, to)));
        pairs.filter(|(from, to)| from != to)
    };
    let rates = |pairs: &mut dyn Iterator<Item = (u32, u32)>| {
        middle(pairs.map(|(from, to)| total(of, &in_turn(from, to))).collect())
    };
    let times = |pairs: &mut dyn Iterator<Item = (u32, u32)>| {
        middle(pairs.map(|(from, to)| mean_time(from, to)).collect())
    };
    let everyone: Vec<_> = own().flat_map(|(from, to)| in_turn(from, to)).collect();
    Truth {
        bandwidth: BTreeMap::from([
            (BandwidthOf::OwnNode, rates(&mut own())),
            (BandwidthOf::AllOwn, total(of, &everyone)),
            (BandwidthOf::OtherPackage, rates(&mut others())),
        ]),
        latency: BTreeMap::from([
            (LatencyOf::Own, times(&mut own())),
            (LatencyOf::OtherPackage, times(&mut others())),
        ]),
    }
}

/// What all cores of initiators read together from nodes by these shares, GB/s.
fn total(of: &SimulatedMachine, loads: &[(u32, Vec<(u32, f64)>)]) -> f64 {
    let loads = loads.iter().map(|(initiator, shares)| {
        let load =
            Load { initiator: *initiator, threads: cores(of, *initiator), shares: shares.clone() };
        KernelLoad::new("load", of.variants("load")[0].clone(), load)
    });
    of.rates(&loads.collect::<Vec<_>>()).unwrap().iter().sum::<f64>() / 1e9
}

fn middle(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len().saturating_sub(1) / 2]
}
