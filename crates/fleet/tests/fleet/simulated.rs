//! Machines with 8 memory nodes whose truth is known: two models with 2 packages of 4 nodes, one with 4 of 2.
//! 1.5 % are common to all cells of a machine; 2 % are independent per cell and run, 0.5 % common per run.

use std::collections::BTreeMap;

use fastrand::Rng;
use nearfar_fleet::{
    Identity, KindInitiator, KindNode, MachineKind, MachineName, MachineSummary, MeasurementHealth,
    MeasurementStatus, MedianSpan, SUMMARY_SCHEMA, SummaryCell,
};
use nearfar_machine::MemoryKind;
use nearfar_record::Executor;

pub const NOW: &str = "2026-01-01T00:00:00Z";
const NODES: u32 = 8;

/// What is wrong with a machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    None,
    /// One node's memory gives this much less, from everywhere.
    Memory(f64),
    /// One link between packages gives this much less, both ways.
    Link(f64),
}

pub struct Machine {
    pub model: u32,
    /// ln of what all its cells have of the usual.
    pub common: f64,
    pub fault: Fault,
    /// The node, or the packages, that have it.
    pub at: (u32, u32),
}

pub fn normal(rng: &mut Rng) -> f64 {
    let (radius, angle) =
        ((-2.0 * (1.0 - rng.f64()).ln()).sqrt(), std::f64::consts::TAU * rng.f64());
    radius * angle.cos()
}

fn package(model: u32, node: u32) -> u32 {
    if model == 2 { node / 2 } else { node / 4 }
}

pub fn kind(model: u32) -> MachineKind {
    let at = |node| Some(package(model, node));
    MachineKind {
        executor: Executor::Simulated,
        architecture: "x86_64".into(),
        cpu: Some(format!("model {model}")),
        stepping: Some(1),
        initiators: (0..NODES).map(|node| KindInitiator { cpus: 16, package: at(node) }).collect(),
        nodes: (0..NODES)
            .map(|node| KindNode {
                node,
                memory: MemoryKind::Dram,
                package: at(node),
                gib: Some(64),
            })
            .collect(),
        distances: None,
        nearfar: "bench".into(),
        measured: "quick".into(),
    }
}

impl Machine {
    /// One measurement.
    pub fn measure(&self, name: &MachineName, rng: &mut Rng) -> MachineSummary {
        let run = 0.005 * normal(rng);
        let mut cells = Vec::with_capacity(64);
        for from in 0..NODES {
            for to in 0..NODES {
                let ends = (package(self.model, from), package(self.model, to));
                let crosses = ends == self.at || (ends.1, ends.0) == self.at;
                let loss = match self.fault {
                    Fault::Memory(loss) if to == self.at.0 => (1.0 - loss).ln(),
                    Fault::Link(loss) if crosses => (1.0 - loss).ln(),
                    _ => 0.0,
                };
                let base: f64 = if ends.0 == ends.1 { 100.0 } else { 30.0 };
                let median = base * (self.common + run + 0.02 * normal(rng) + loss).exp();
                let span = MedianSpan { median, low: 0.99 * median, high: 1.01 * median };
                cells.push(SummaryCell {
                    case: format!("pairs/initiator{from}/node{to}/triad/avx2/t16"),
                    from: Some(from),
                    to: Some(to),
                    gb_per_s: Some(span),
                    gflop_per_s: None,
                    ns: None,
                    rounds: 7,
                });
            }
        }
        MachineSummary {
            schema: SUMMARY_SCHEMA.into(),
            machine: name.clone(),
            started: NOW.into(),
            ended: NOW.into(),
            status: MeasurementStatus::Measured,
            why: None,
            partial: None,
            record: None,
            kind: Some(kind(self.model)),
            configuration: BTreeMap::new(),
            identity: Identity::default(),
            health: MeasurementHealth::default(),
            cells,
            absent: BTreeMap::new(),
        }
    }
}

pub fn name(number: usize) -> MachineName {
    format!("n{number}").parse().unwrap()
}
