//! What `doctor RECORD` names of machines of published figures with a channel or the modules' speed of a node, or of
//! a way between packages, taken away in simulation: by the twins of the machine, or by servers elsewhere.
#![expect(clippy::print_stdout, reason = "a program for developers")]

use nearfar_flow::{SimulatedMachine, read_machine};
use nearfar_machine::{Relation, Relations, TheoreticalMaximum};
use nearfar_measure::simulated::simulate;
use nearfar_measure::suite_inputs;
use nearfar_model::{
    BandwidthVerdict, NormalVerdict, Normality, Place, RatioOf, RecordFigures, Twins, normality,
    twins,
};
use nearfar_record::{Experiment, Suite};

use crate::changed::{MEMORY, ordinary_nodes, slower};

const SEEDS: u64 = 100;
/// Of the seeds that are named, or of which it is said that the cores limit first.
const PROMISED: u64 = 95;

/// What is taken away.
#[derive(Clone, Copy)]
enum Taken {
    Nothing,
    /// Of the first node alone this share of what it carries is left.
    FirstNode(f64),
    /// Of every node.
    AllNodes(f64),
    /// Of all ways between packages.
    Links(f64),
}

/// What became of a seed.
#[derive(Clone, Copy, PartialEq)]
enum Told {
    Named,
    CoresLimit,
    Nothing,
}

pub fn print_counts() -> bool {
    println!(
        "\nA channel, a speed of modules or a link taken away, {SEEDS} seeds: named, said that the cores limit first, not \
         seen. Promised: of one node at least {PROMISED} of the first two, and of nothing at most {} named.\n",
        SEEDS - PROMISED
    );
    println!(
        "{:20} | {:>17} | {:>17} | {:>17} | {:>17} | {:>17}",
        "machine",
        "nothing",
        "channel of a node",
        "speed of a node",
        "channel of all",
        "third of links"
    );
    let mut kept = true;
    for (name, module, channels) in MEMORY {
        let machine = read_machine(name).unwrap();
        let maximum = TheoreticalMaximum::memory(&format!("{module}x{channels}"));
        let maximum = maximum.map_err(|why| why.to_string());
        let one = TheoreticalMaximum::memory(module).unwrap();
        let speed = one.slower_speeds().last().unwrap().bytes_per_s / one.bytes_per_s;
        let channel = f64::from(channels - 1) / f64::from(channels);
        let mut cells = Vec::new();
        for taken in [
            Taken::Nothing,
            Taken::FirstNode(channel),
            Taken::FirstNode(speed),
            Taken::AllNodes(channel),
            Taken::Links(2.0 / 3.0),
        ] {
            let Some(degraded) = degraded(&machine, taken) else {
                cells.push(format!("{:>17}", "-"));
                continue;
            };
            let told: Vec<Told> =
                (0..SEEDS).map(|seed| told(&degraded, seed, taken, &maximum)).collect();
            let count = |of: Told| told.iter().filter(|it| **it == of).count();
            let [named, cores, nothing] = [Told::Named, Told::CoresLimit, Told::Nothing].map(count);
            cells.push(format!("{named:>5} {cores:>5} {nothing:>5}"));
            kept &= match taken {
                Taken::Nothing => named as u64 <= SEEDS - PROMISED,
                Taken::FirstNode(_) => (named + cores) as u64 >= PROMISED,
                Taken::AllNodes(_) | Taken::Links(_) => true,
            };
        }
        println!("{name:20} | {}", cells.join(" | "));
    }
    kept
}

/// `None` where the machine has no such part, or none beside it that it could be told by.
fn degraded(machine: &SimulatedMachine, taken: Taken) -> Option<SimulatedMachine> {
    let nodes = ordinary_nodes(machine);
    match taken {
        Taken::Nothing => Some(machine.clone()),
        Taken::FirstNode(left) => (nodes.len() > 1).then(|| slower(machine, &nodes[..1], left)),
        Taken::AllNodes(left) => Some(slower(machine, &nodes, left)),
        Taken::Links(left) => {
            let relations = Relations::new(&machine.machine);
            let mut degraded = machine.clone();
            let mut has_any = false;
            for initiator in machine.machine.initiators() {
                for (column, node) in machine.capacities.first()?.nodes.iter().enumerate() {
                    let position = relations.position(initiator.index, initiator.cpu_node, *node);
                    if position.relation != Some(Relation::OtherPackage) {
                        continue;
                    }
                    for capacities in &mut degraded.capacities {
                        let path = &mut capacities.path[initiator.index as usize][column];
                        *path = path.map(|path| path * left);
                        has_any |= path.is_some();
                    }
                }
            }
            has_any.then_some(degraded)
        }
    }
}

fn told(
    machine: &SimulatedMachine,
    seed: u64,
    taken: Taken,
    maximum: &Result<TheoreticalMaximum, String>,
) -> Told {
    let mut inputs = suite_inputs(Suite::Standard);
    inputs.seed = seed;
    inputs.experiments = vec![Experiment::Pairs, Experiment::Latency];
    inputs.kernels = Some(vec!["load".into()]);
    let record = simulate(machine, inputs, true).unwrap();
    let figures = RecordFigures::new(&record);
    let (twins, normal) = (twins(&figures), normality(&figures, maximum));
    match taken {
        Taken::Links(_) => told_of_links(&twins, &normal),
        Taken::FirstNode(_) | Taken::AllNodes(_) => told_of_memory(&twins, &normal),
        Taken::Nothing => match told_of_links(&twins, &normal) {
            Told::Nothing => told_of_memory(&twins, &normal),
            told => told,
        },
    }
}

fn told_of_memory(twins: &Twins, normal: &Normality) -> Told {
    let names_node = |place: &Place| matches!(place, Place::Memory { .. });
    let is_named = twins
        .findings
        .iter()
        .any(|it| names_node(&it.place) || it.or_place.as_ref().is_some_and(names_node));
    let verdicts = || normal.bandwidth.iter().map(|it| &it.verdict);
    if is_named || verdicts().any(|it| matches!(it, BandwidthVerdict::Low { .. })) {
        Told::Named
    } else if verdicts().any(|it| matches!(it, BandwidthVerdict::CoresLimit { .. })) {
        Told::CoresLimit
    } else {
        Told::Nothing
    }
}

fn told_of_links(twins: &Twins, normal: &Normality) -> Told {
    let is_low = normal
        .other_package
        .iter()
        .any(|it| it.of == RatioOf::Reads && it.verdict == NormalVerdict::Low);
    let is_named = twins.findings.iter().any(|it| {
        matches!(
            it.place,
            Place::Path { .. }
                | Place::PackageLink { .. }
                | Place::PackageToPackage { .. }
                | Place::InitiatorToPackage { .. }
        )
    });
    if is_low || is_named { Told::Named } else { Told::Nothing }
}
