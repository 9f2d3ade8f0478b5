//! What whole-machine placements come to by a fitted law, and which part holds them up.

use std::mem::discriminant;

use nearfar_flow::{Flows, Load, Part, ScaledLoad, UsedPart};
use nearfar_machine::{Machine, MemoryKind};
use nearfar_record::Estimate;
use nearfar_units::BytesPerSecond;
use serde::Serialize;

use super::case::{FlowCase, FlowLayout, FlowStream, MachinePart};
use super::fit::FittedFlow;

/// Threads and data of the whole machine in some order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "placement", rename_all = "snake_case")]
pub enum PlacementKind {
    /// Every initiator on memory of its own.
    OwnNodes,
    /// Every initiator's pages in turn over all ordinary nodes.
    AllNodes,
    /// Every initiator's pages in turn over the ordinary nodes of other packages.
    OtherPackages,
    /// All initiators on one node.
    OneNode { memory_node: u32 },
}

/// What a placement comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowPlacement {
    #[serde(flatten)]
    pub kind: PlacementKind,
    /// What all initiators move together with all their cores, useful bytes.
    #[serde(rename = "predicted_gb_per_s")]
    pub total: Estimate<BytesPerSecond>,
    /// What a case of the record moved that is the same, useful bytes; null where there is none.
    #[serde(rename = "measured_gb_per_s")]
    pub measured: Option<BytesPerSecond>,
    /// What each initiator moves.
    pub initiators: Vec<InitiatorRate>,
    /// What holds most of it up; null where the threads themselves do.
    pub limit: Option<PlacementLimit>,
}

/// What an initiator moves.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InitiatorRate {
    pub initiator: u32,
    #[serde(rename = "gb_per_s")]
    pub rate: BytesPerSecond,
}

/// The part that holds a placement up most.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacementLimit {
    pub part: MachinePart,
    /// What it carries / its capacity, below 1.
    pub filled_share: f64,
    /// The initiators of which a part of its sort is the first cause.
    pub initiators: Vec<u32>,
}

/// A stream whose parts take less of its demand is held up by its own threads.
pub(crate) const HELD_UP: f64 = 0.1;

/// Shares of pages that differ by less are the same.
const SAME_SHARE: f64 = 1e-6;

/// Threads with all cores of each initiator, on the placements that the machine has.
pub(crate) fn placements(
    machine: &Machine,
    layout: &FlowLayout,
    fitted: &FittedFlow,
    pairs: &Reached,
    measured: &[&FlowCase],
) -> Vec<FlowPlacement> {
    let whole = Whole::of(machine, layout);
    let one_node = |&memory_node: &u32| PlacementKind::OneNode { memory_node };
    let kinds = [PlacementKind::OwnNodes, PlacementKind::AllNodes, PlacementKind::OtherPackages]
        .into_iter()
        .chain(whole.ordinary.iter().map(one_node));
    kinds.filter_map(|kind| whole.placement(kind, fitted, pairs, measured)).collect()
}

/// Pairs of initiator and node that were measured.
pub(crate) type Reached = std::collections::BTreeSet<(u32, u32)>;

struct Whole<'a> {
    machine: &'a Machine,
    layout: &'a FlowLayout,
    /// Initiators with cores that may be used, and how many.
    initiators: Vec<(nearfar_machine::Initiator, u32)>,
    /// Nodes of the kinds that nodes with CPUs have.
    ordinary: Vec<u32>,
}

impl<'a> Whole<'a> {
    fn of(machine: &'a Machine, layout: &'a FlowLayout) -> Self {
        let cores = |initiator: &nearfar_machine::Initiator| {
            u32::try_from(machine.allowed_cores(&initiator.cpus).len()).unwrap_or(u32::MAX)
        };
        let initiators = machine.initiators().into_iter().map(|it| (cores(&it), it));
        let with_cpus = machine.nodes.iter().filter(|node| !node.cpus.is_empty());
        let kinds: Vec<MemoryKind> = with_cpus.map(|node| node.kind).collect();
        let ordinary = machine.nodes.iter().filter(|node| kinds.contains(&node.kind));
        Self {
            machine,
            layout,
            initiators: initiators
                .filter(|(cores, _)| *cores > 0)
                .map(|(cores, it)| (it, cores))
                .collect(),
            ordinary: ordinary.map(|node| node.os_index).collect(),
        }
    }

    /// `None` where the machine has no such placement or a pair of it was not measured.
    fn placement(
        &self,
        kind: PlacementKind,
        fitted: &FittedFlow,
        reached: &Reached,
        measured: &[&FlowCase],
    ) -> Option<FlowPlacement> {
        if kind == PlacementKind::AllNodes && self.ordinary.len() < 2
            || kind != PlacementKind::OwnNodes && self.ordinary.len() == 1
        {
            return None;
        }
        let mut loads = Vec::new();
        for (initiator, threads) in &self.initiators {
            let nodes: Vec<u32> = match kind {
                PlacementKind::OwnNodes => {
                    self.machine.home_memory(initiator).into_iter().collect()
                }
                PlacementKind::AllNodes => self.ordinary.clone(),
                PlacementKind::OneNode { memory_node } => vec![memory_node],
                PlacementKind::OtherPackages => self.nodes_of_others(initiator),
            };
            if nodes.is_empty()
                || nodes.iter().any(|&node| !reached.contains(&(initiator.index, node)))
            {
                return None;
            }
            let share = 1.0 / nodes.len() as f64;
            let shares = nodes.into_iter().map(|node| (node, share)).collect();
            let load = Load { initiator: initiator.index, threads: *threads, shares };
            loads.push(ScaledLoad { load, demand_scale: 1.0 });
        }
        let plain: Vec<Load> = loads.iter().map(|it| it.load.clone()).collect();
        let flows = fitted.capacities.flows(&loads, None).ok()?;
        let total = flows.rates.iter().sum();
        let by_initiator = loads.iter().zip(&flows.rates);
        Some(FlowPlacement {
            kind,
            total: Estimate::computed(total, (total, total), Vec::new()),
            measured: measured.iter().find(|case| is_of(case, &plain)).map(|case| moved(case)),
            initiators: by_initiator
                .map(|(load, &rate)| InitiatorRate {
                    initiator: load.load.initiator,
                    rate: BytesPerSecond(rate),
                })
                .collect(),
            limit: limit(&flows, &loads, self.layout),
        })
    }

    fn nodes_of_others(&self, initiator: &nearfar_machine::Initiator) -> Vec<u32> {
        let Some(own) = self.machine.only_package(&initiator.cpus) else { return Vec::new() };
        let is_other = |node: &&u32| {
            let package = self.machine.node(**node).map(|node| &node.locality);
            package.and_then(|it| self.machine.only_package(it)).is_some_and(|it| it != own)
        };
        self.ordinary.iter().filter(is_other).copied().collect()
    }
}

/// Whether a case is of the first kernel with these loads, in whatever order.
pub(super) fn is_of(case: &FlowCase, loads: &[Load]) -> bool {
    let is_same = |stream: &FlowStream, load: &Load| {
        let share_of = |load: &Load, node: u32| -> f64 {
            load.shares.iter().filter(|(on, _)| *on == node).map(|(_, share)| share).sum()
        };
        let has_same =
            |&(node, share): &(u32, f64)| (share_of(&stream.load, node) - share).abs() < SAME_SHARE;
        stream.kernel == 0
            && stream.load.initiator == load.initiator
            && stream.load.threads == load.threads
            && load.shares.iter().all(has_same)
    };
    case.streams.len() == loads.len()
        && loads.iter().all(|it| case.streams.iter().any(|stream| is_same(stream, it)))
}

fn moved(case: &FlowCase) -> BytesPerSecond {
    BytesPerSecond(case.streams.iter().map(|stream| stream.rate).sum())
}

/// The part that takes most of what the streams ask for and do not get.
fn limit(flows: &Flows, loads: &[ScaledLoad], layout: &FlowLayout) -> Option<PlacementLimit> {
    let lost = |stream: usize| (flows.demands[stream] - flows.rates[stream]).max(0.0);
    let taken = |slows: &[f64]| -> f64 {
        slows.iter().enumerate().map(|(stream, share)| share * lost(stream)).sum()
    };
    let all: f64 = flows.demands.iter().sum();
    if (0..loads.len()).map(lost).sum::<f64>() < HELD_UP * all {
        return None;
    }
    let parts = flows.parts();
    // Of the sort of parts at which most is lost together the one that takes most.
    let of_sort = |part: &Part| -> f64 {
        let alike = parts.iter().filter(|it| discriminant(&it.part) == discriminant(part));
        alike.map(|it| taken(&it.slows)).sum()
    };
    let key = |it: &UsedPart| (of_sort(&it.part), taken(&it.slows));
    let worst = parts.iter().max_by(|a, b| {
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    })?;
    let is_first = |stream: usize| {
        let own = first_cause(flows, stream);
        own.is_some_and(|part| discriminant(&part) == discriminant(&worst.part))
    };
    let initiators = loads.iter().enumerate().filter(|(stream, _)| is_first(*stream));
    Some(PlacementLimit {
        part: layout.part(worst.part)?,
        filled_share: worst.filled,
        initiators: initiators.map(|(_, load)| load.load.initiator).collect(),
    })
}

/// The part that slows the stream at this position most; `None` where its own threads are what it
/// waits for.
pub fn first_cause(flows: &Flows, stream: usize) -> Option<Part> {
    if flows.rates[stream] > (1.0 - HELD_UP) * flows.demands[stream] {
        return None;
    }
    let parts = flows.parts().iter().filter(|part| part.slows[stream] > 0.0);
    parts.max_by(|a, b| a.slows[stream].total_cmp(&b.slows[stream])).map(|used| used.part)
}
