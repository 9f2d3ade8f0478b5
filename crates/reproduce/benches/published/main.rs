//! Machines of published figures: what a record and the models fitted to it give back of these, and how well
//! two thirds of them are predicted by the models fitted to the rest:
//! `cargo bench -p nearfar-reproduce --bench published`. Status 1 when a promise is missed.
#![expect(clippy::unwrap_used, reason = "a program for developers that cannot go on panics")]

mod changed;
mod degraded;
mod given_back;
mod predicted;

use std::process::ExitCode;

use nearfar_flow::{SimulatedMachine, published_machines};

/// Bytes that cross to the memory / useful bytes, of the kernels that stand for published mixes: ordinary
/// stores read their line first.
const TRAFFIC: [(&str, f64); 5] =
    [("load", 1.0), ("triad", 4.0 / 3.0), ("copy", 1.5), ("store", 2.0), ("triad_nt", 1.0)];
/// Of that traffic, what is read.
const READ_SHARES: [(&str, f64); 5] =
    [("load", 1.0), ("triad", 0.75), ("copy", 2.0 / 3.0), ("store", 0.5), ("triad_nt", 2.0 / 3.0)];

fn main() -> ExitCode {
    let machines = published_machines().unwrap();
    let kept = [
        given_back::print_errors(&machines),
        predicted::print_errors(&machines),
        changed::print_errors(),
        degraded::print_counts(),
    ];
    if kept == [true; 4] { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Sizes of relative errors.
#[derive(Default)]
struct Errors(Vec<f64>);

impl Errors {
    fn add(&mut self, found: f64, published: f64) {
        self.0.push((found / published - 1.0).abs());
    }

    fn mean(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.iter().sum::<f64>() / self.0.len() as f64)
    }

    fn is_within(&self, most: f64) -> bool {
        self.mean().is_none_or(|mean| mean <= most)
    }

    /// Number, mean and worst, percent.
    fn words(&self) -> String {
        let worst = self.0.iter().copied().fold(0.0, f64::max);
        self.mean().map_or_else(
            || format!("{:>18}", "-"),
            |mean| format!("{:>4} {:>6.1} {:>6.1}", self.0.len(), 100.0 * mean, 100.0 * worst),
        )
    }
}

/// The cells of a published matrix: initiator, node, value.
fn cells(machine: &SimulatedMachine, matrix: &[Vec<f64>]) -> Vec<(u32, u32, f64)> {
    let initiators = machine.machine.initiators();
    let rows = initiators.iter().zip(matrix).flat_map(|(initiator, row)| {
        let of_row = machine.machine.nodes.iter().zip(row);
        of_row.map(|(node, value)| (initiator.index, node.os_index, *value))
    });
    rows.collect()
}

/// An initiator's cores.
fn cores(machine: &SimulatedMachine, initiator: u32) -> u32 {
    let initiators = machine.machine.initiators();
    let own = initiators.iter().find(|it| it.index == initiator).unwrap();
    u32::try_from(machine.machine.allowed_cores(&own.cpus).len()).unwrap()
}

/// The published numbers of threads: initiator, node, threads, bytes/s.
fn thread_points(machine: &SimulatedMachine) -> Vec<(u32, u32, u32, f64)> {
    let initiator = |node: u32| {
        let initiators = machine.machine.initiators();
        initiators.iter().find(|it| it.cpu_node == Some(node)).unwrap().index
    };
    let curves = machine.published.threads.iter();
    let points = curves.flat_map(|((from, to), points)| {
        points.iter().map(|(threads, rate)| (initiator(*from), *to, *threads, *rate))
    });
    points.collect()
}

/// A published point of latency beside traffic.
#[derive(Clone, Copy, PartialEq)]
struct Loaded {
    initiator: u32,
    node: u32,
    read_share: f64,
    /// Bytes/s.
    traffic: f64,
    ns: f64,
    /// The most traffic of its curve, bytes/s.
    most: f64,
}

impl Loaded {
    /// Above 90 % of the most traffic latencies stand on a wall and are no function of it.
    fn is_below_the_wall(&self) -> bool {
        self.traffic < 0.9 * self.most
    }
}

/// What was published of several pairs together counts once.
fn loaded_points(machine: &SimulatedMachine) -> Vec<Loaded> {
    let mut points: Vec<Loaded> = Vec::new();
    for (row, initiator) in machine.machine.initiators().iter().enumerate() {
        for (column, node) in machine.machine.nodes.iter().enumerate() {
            let family = machine.latency.families[row][column].iter();
            for curve in family.flat_map(|family| &family.curves) {
                let loaded = curve.points.iter().filter(|(traffic, _)| *traffic > 0.0);
                let is_new = |&&(traffic, ns): &&(f64, f64)| {
                    let is_same = |it: &Loaded| {
                        (it.read_share, it.traffic, it.ns) == (curve.read_share, traffic, ns)
                    };
                    !points.iter().any(is_same)
                };
                let of = |&(traffic, ns): &(f64, f64)| Loaded {
                    initiator: initiator.index,
                    node: node.os_index,
                    read_share: curve.read_share,
                    traffic,
                    ns,
                    most: curve.most_traffic(),
                };
                let new: Vec<Loaded> = loaded.filter(is_new).map(of).collect();
                points.extend(new);
            }
        }
    }
    points
}
