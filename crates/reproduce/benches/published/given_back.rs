//! What a record of the simulated machine, with noise, and the models fitted to it give back of what was
//! published.
#![expect(clippy::print_stdout, reason = "a program for developers")]

use nearfar_flow::{KernelLoad, Load, SimulatedMachine};
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{
    CurveFamily, FlowCase, FlowStream, NumaFactor, RecordFigures, flow, latency, pairs,
};
use nearfar_record::{Absence, Experiment, Suite};
use nearfar_units::BytesPerSecond;

use crate::{Errors, TRAFFIC, cells, cores, loaded_points, thread_points};

/// Means of a machine's errors: of what the record says, and of what fitted laws say.
const MOST_MEASURED: f64 = 0.02;
const MOST_BY_LAW: f64 = 0.05;

pub fn print_errors(machines: &[SimulatedMachine]) -> bool {
    println!(
        "\nPublished figures as a record of the suite standard (with noise) and the laws fitted to it give them \
         back:\nnumber, mean and worst error, %. Promised of each machine: means of at most {:.0} % measured, {:.0} % by \
         law.\n",
        100.0 * MOST_MEASURED,
        100.0 * MOST_BY_LAW
    );
    println!(
        "{:20} | {:18} | {:18} | {:18} | {:18} | {:18} | {:18}",
        "machine",
        "all threads",
        "idle latency",
        "flow: all threads",
        "flow: by threads",
        "law beside traffic",
        "mixes, all nodes"
    );
    machines.iter().map(print_machine).fold(true, |all, kept| all & kept)
}

fn print_machine(machine: &SimulatedMachine) -> bool {
    let record = simulate(machine, suite_inputs(Suite::Standard), true).unwrap();
    let refused = record.absent.iter().filter(|absent| absent.absence == Absence::Refused).count();
    let figures = RecordFigures::new(&record);
    let published = &machine.published;
    let [mut measured, mut idle, mut by_flow, mut by_threads, mut beside, mut mixes]: [Errors; 6] =
        Default::default();
    let matrix = pairs(&figures);
    let flow = flow(&figures);
    let law_of = |initiator: u32, node: u32, threads: u32| {
        let load = Load { initiator, threads, shares: vec![(node, 1.0)] };
        let stream = FlowStream { load, kernel: 0, rate: 1.0, noise: 1.0 };
        let case = FlowCase { experiment: Experiment::Pairs, streams: vec![stream] };
        Some(flow.as_ref().ok()?.fitted.rates(&case)?[0])
    };
    for (initiator, node, rate) in cells(machine, &published.all_threads) {
        let threads = cores(machine, initiator);
        let cell = matrix.cell(initiator, node, "load", threads).and_then(|cell| cell.best());
        measured.add(cell.map_or(f64::NAN, |it| it.summary.sum.median), rate);
        by_flow.0.extend(law_of(initiator, node, threads).map(|it| (it / rate - 1.0).abs()));
    }
    for (initiator, node, threads, rate) in thread_points(machine) {
        let is_possible = threads <= cores(machine, initiator);
        let found = law_of(initiator, node, threads).filter(|_| is_possible);
        by_threads.0.extend(found.map(|it| (it / rate - 1.0).abs()));
    }
    let times = latency(&figures).unwrap();
    for (initiator, node, ns) in cells(machine, &published.latency_ns) {
        let is_own = |it: &&NumaFactor| (it.initiator, it.memory_node) == (initiator, node);
        let time = times.factors.iter().find(is_own).and_then(|it| it.time.as_ref());
        idle.add(time.map_or(f64::NAN, |time| time.time.value.0), ns);
    }
    for point in loaded_points(machine).iter().filter(|point| point.is_below_the_wall()) {
        let is_own =
            |it: &&CurveFamily| (it.initiator, it.memory_node) == (point.initiator, point.node);
        let law = times.families.iter().find(is_own).and_then(|it| it.law.as_result().ok());
        // Beyond the read shares and the traffic that the suite measures the law says nothing, or little.
        let found = law.and_then(|law| {
            let is_measured = law.most_traffic(point.read_share)?.0 >= point.traffic;
            let time = || law.time(point.read_share, BytesPerSecond(point.traffic)).ok();
            is_measured.then(time)?
        });
        beside.0.extend(found.map(|it| (it.value.0 / point.ns - 1.0).abs()));
    }
    for (kernel, traffic) in &published.traffic {
        mixes.add(all_nodes(machine, kernel), *traffic);
    }
    println!(
        "{:20} | {} | {} | {} | {} | {} | {}",
        machine.name,
        measured.words(),
        idle.words(),
        by_flow.words(),
        by_threads.words(),
        beside.words(),
        mixes.words()
    );
    if refused > 0 {
        println!("{:20} | {refused} cases were refused", machine.name);
    }
    refused == 0
        && measured.is_within(MOST_MEASURED)
        && idle.is_within(MOST_MEASURED)
        && [by_flow, beside, mixes].iter().all(|it| it.is_within(MOST_BY_LAW))
}

/// What crosses to the memories when all cores run a kernel on their own nodes, bytes/s.
fn all_nodes(machine: &SimulatedMachine, kernel: &str) -> f64 {
    let initiators = machine.machine.initiators();
    let loads = initiators.iter().map(|initiator| {
        let node = initiator.cpu_node.unwrap();
        let threads = cores(machine, initiator.index);
        let load = Load { initiator: initiator.index, threads, shares: vec![(node, 1.0)] };
        KernelLoad::new(kernel, machine.variants(kernel)[0].clone(), load)
    });
    let useful: f64 = machine.rates(&loads.collect::<Vec<_>>()).unwrap().iter().sum();
    useful * TRAFFIC.iter().find(|(known, _)| *known == kernel).unwrap().1
}
