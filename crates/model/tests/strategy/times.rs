//! Times of a line under each strategy, against figures computed by hand.

use nearfar_machine::{MemoryKind, PlacementStrategy};
use nearfar_model::{
    Access, Basis, LineCost, LineCosts, Parameters, RecordFigures, Strategy, strategy,
};
use nearfar_record::{Coordinates, Record, Roof};
use nearfar_specimen::{IN_MEMORY, add_alone, add_chase, latency as at, machine, record_of, roof};

/// A record with these latencies and roofs.
pub fn record(nodes: u32, [local, remote]: [f64; 2], roofs: [f64; 4]) -> Record {
    let mut record = record_of(machine(1, nodes, 2), &[]);
    for initiator in 0..nodes {
        for node in 0..nodes {
            let ns = if initiator == node { local } else { remote };
            add_chase(&mut record, at(initiator, node, IN_MEMORY, None), &[ns; 6], &[]);
        }
    }
    add_roofs(&mut record, nodes, roofs, &[1.0]);
    record
}

/// Every roof of a machine with this many nodes that the strategies need, the same for all, useful
/// bytes/s: those of own nodes, remote ones, one that all use, and all in turn. Rounds are this many
/// times these.
pub fn add_roofs(record: &mut Record, nodes: u32, rates: [f64; 4], rounds: &[f64]) {
    let [own, remote, central, spread] =
        rates.map(|rate| rounds.iter().map(|round| rate * round).collect::<Vec<f64>>());
    for initiator in 0..nodes {
        let mut add = |limit, rounds: &[f64]| {
            add_alone(record, Coordinates::Roofs(roof(initiator, limit, "load")), rounds);
        };
        add(Roof::AllLocal { node: initiator }, &own);
        add(Roof::Congested { kind: MemoryKind::Dram }, &spread);
        for node in 0..nodes {
            add(Roof::Contended { node, initiators: nodes }, &central);
            if node != initiator {
                add(Roof::Memory { node }, &remote);
            }
        }
    }
}

fn model(record: &Record) -> Strategy {
    strategy(&RecordFigures::new(record)).unwrap()
}

fn assert_near(one: f64, other: f64, room: f64) {
    assert!((one / other - 1.0).abs() < room, "{one} and {other}");
}

/// Four nodes, two threads each, lines of 64 bytes: 8 GB/s of an initiator are 16 ns for a line of
/// each of its threads.
#[test]
fn what_a_line_costs_follows_from_latencies_and_roofs() {
    let model = model(&record(4, [100.0, 200.0], [8e9, 4e9, 2e9, 5e9]));
    let costs = &model.costs;
    assert_eq!((costs.basis, costs.line_bytes, costs.is_line_assumed), (Basis::Roofs, 64, false));
    assert_eq!(model.interleave.to_string(), "cpus=0-7 mem=interleave:0-3");
    for (cost, latency, transfer) in [
        (costs.own, 100.0, 16.0),
        (costs.remote, 200.0, 32.0),
        (costs.central, 175.0, 64.0),
        (costs.spread, 175.0, 25.6),
    ] {
        assert_near(cost.latency_ns, latency, 1e-6);
        assert_near(cost.transfer_ns, transfer, 1e-6);
        assert_eq!(cost.noise, 0.0);
    }
    // Regular: 10 lines under way, so that bandwidth limits all but nothing else.
    for (strategy, ns) in [
        (PlacementStrategy::FirstTouch, 64.0),
        (PlacementStrategy::RoundRobin, 25.6),
        (PlacementStrategy::MemoryBind, 0.1 * 64.0 + 0.9 * 16.0),
        (PlacementStrategy::ParallelInit, 0.1 * 64.0 + 0.9 * (0.95 * 16.0 + 0.05 * 32.0)),
    ] {
        assert_near(model.regular.of(strategy).time.value.0, ns, 1e-6);
    }
    // Irregular: 2 under way, so that an access takes half its latency, 87.5 ns, everywhere.
    for (strategy, ns) in [
        (PlacementStrategy::FirstTouch, 87.5),
        (PlacementStrategy::RoundRobin, 87.5),
        (PlacementStrategy::ParallelInit, 87.5),
        (PlacementStrategy::MemoryBind, 0.1 * 87.5 + 0.9 * 1.1 * 87.5),
    ] {
        assert_near(model.irregular.of(strategy).time.value.0, ns, 1e-6);
    }
    let best = model.regular.best();
    assert_eq!(best.strategy, PlacementStrategy::MemoryBind);
    assert_near(best.gain.value.0, 64.0 / 20.8 - 1.0, 1e-6);
}

/// An initiator that has a remote node to itself gets 10 GB/s of it, and 8 of its own when all run.
#[test]
fn remote_transfers_are_no_faster_than_own_ones() {
    let costs = model(&record(4, [100.0, 200.0], [8e9, 10e9, 2e9, 5e9])).costs;
    assert_near(costs.remote.transfer_ns, costs.own.transfer_ns, 1e-12);
    assert_near(costs.own.transfer_ns, 16.0, 1e-6);
}

/// s central + (1 - s) own = spread: (25.6 - 16) / (64 - 16) = 0.2.
#[test]
fn at_the_break_even_share_binding_and_interleaving_take_as_long() {
    let model = model(&record(4, [100.0, 200.0], [8e9, 4e9, 2e9, 5e9]));
    let share = model.break_even_share.unwrap();
    assert_near(share, 0.2, 1e-6);
    let with = Parameters { unplaced_share: share, ..Parameters::EXPECTED };
    let time = |strategy| model.costs.time(strategy, Access::Regular, &with);
    assert_near(time(PlacementStrategy::MemoryBind), time(PlacementStrategy::RoundRobin), 1e-9);
    // Interleaved as fast as own, or no faster than central: there is no such share.
    for roofs in [[8e9, 4e9, 2e9, 8e9], [8e9, 4e9, 2e9, 2e9]] {
        let record = record(4, [100.0, 100.0], roofs);
        assert_eq!(strategy(&RecordFigures::new(&record)).unwrap().break_even_share, None);
    }
    // Central faster than own, and spread between: the share would say the opposite.
    let odd = record(4, [100.0, 100.0], [2e9, 2e9, 8e9, 5e9]);
    assert_eq!(strategy(&RecordFigures::new(&odd)).unwrap().break_even_share, None);
}

/// Where bandwidth limits everything, the equations of each strategy by hand.
#[test]
fn each_strategy_takes_what_its_equation_says() {
    let cost = |latency_ns, transfer_ns| LineCost { latency_ns, transfer_ns, noise: 0.0 };
    let costs = LineCosts {
        own: cost(200.0, 140.0),
        remote: cost(470.0, 315.0),
        central: cost(400.0, 490.0),
        spread: cost(400.0, 229.0),
        ..model(&record(4, [100.0, 200.0], [8e9, 4e9, 2e9, 5e9])).costs
    };
    for (strategy, regular, irregular) in [
        (PlacementStrategy::FirstTouch, 490.0, 490.0),
        (PlacementStrategy::RoundRobin, 229.0, 229.0),
        // 49 + 0.9 (133 + 15.75); 122.5 + 171.75.
        (PlacementStrategy::ParallelInit, 182.875, 294.25),
        // 49 + 126; 49 + 0.9 x 251.9.
        (PlacementStrategy::MemoryBind, 175.0, 275.71),
    ] {
        let time = |access| costs.time(strategy, access, &Parameters::EXPECTED);
        assert_near(time(Access::Regular), regular, 1e-9);
        assert_near(time(Access::Irregular), irregular, 1e-9);
    }
}
