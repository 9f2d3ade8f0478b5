//! Threads that access memory, and what they get of a machine's capacities together.

use std::collections::BTreeMap;

use crate::capacities::{Capacities, ControllerPressure, Part};
use crate::error::FlowError;
use crate::system::{Stream, System};

/// Threads of one initiator that access memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    pub initiator: u32,
    /// Threads; none move nothing.
    pub threads: u32,
    /// The fraction of its bytes on each node; they add up to 1.
    pub shares: Vec<(u32, f64)>,
}

/// Shares must add up to 1 within this.
const SHARE_TOLERANCE: f64 = 1e-6;
/// Smaller shares are none: one page in 4 TiB.
const SMALLEST_SHARE: f64 = 1e-9;

/// A load, the capacities that it sees, and what each of its threads asks for at most,
/// bytes/s.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub capacities: &'a Capacities,
    pub load: &'a Load,
    pub most: Option<f64>,
    /// What a thread asks for / what the capacities say of one.
    pub demand_scale: f64,
}

impl<'a> Ask<'a> {
    pub fn of(capacities: &'a Capacities, load: &'a Load) -> Self {
        Self { capacities, load, most: None, demand_scale: 1.0 }
    }
}

/// An ask with threads, found on the machine.
#[derive(Debug)]
pub(crate) struct Busy<'a> {
    ask: Ask<'a>,
    row: usize,
    /// Columns and shares.
    shares: Vec<(usize, f64)>,
}

impl<'a> Busy<'a> {
    pub fn find(ask: Ask<'a>) -> Result<Self, FlowError> {
        let rows = ask.capacities.one_thread.len();
        let initiator = ask.load.initiator;
        let row = usize::try_from(initiator).ok().filter(|&row| row < rows).ok_or_else(|| {
            FlowError::Load(format!("there is no initiator {initiator}; the machine has {rows}"))
        })?;
        Ok(Self { row, shares: shares_by_column(&ask)?, ask })
    }

    /// Those of these asks that have threads.
    pub fn all(asks: &[Ask<'a>]) -> Result<Vec<Self>, FlowError> {
        asks.iter().filter(|ask| ask.load.threads > 0).map(|ask| Self::find(*ask)).collect()
    }

    pub fn threads(&self) -> f64 {
        f64::from(self.ask.load.threads)
    }

    /// The fraction of its bytes on a node.
    pub fn share_of(&self, node: u32) -> f64 {
        let on = |&&(column, _): &&(usize, f64)| self.ask.capacities.nodes[column] == node;
        self.shares.iter().filter(on).map(|&(_, share)| share).sum()
    }
}

/// What loads get together of which each sees capacities of its own (a simulated
/// machine's, by variant): the same parts, of which a byte of one load may take more than
/// a byte of another. Saturation, fairness and interference are those of the first.
pub(crate) fn rates_together(asks: &[Ask<'_>]) -> Result<Vec<f64>, FlowError> {
    let busy = Busy::all(asks)?;
    Ok(slowed_rates(asks, &busy, &flow(&busy)?))
}

impl Capacities {
    /// What each load moves when all run at the same time, bytes/s, in their order.
    ///
    /// Loads of one initiator with the same shares get together what one load with all
    /// their threads would get, whatever the fairness: a thread of each demands the same,
    /// so their slowdown is the same. They need not be merged.
    ///
    /// # Errors
    /// [`FlowError::Load`] for an initiator or node that the machine does not have or
    /// shares that do not add up to 1; [`FlowError::System`] and
    /// [`FlowError::NotSettled`] from the solver.
    pub fn rates(&self, loads: &[Load]) -> Result<Vec<f64>, FlowError> {
        self.check()?;
        let asks: Vec<Ask<'_>> = loads.iter().map(|load| Ask::of(self, load)).collect();
        rates_together(&asks)
    }
}

/// What all asks get, of which those with threads get so much by the flow law.
pub(crate) fn slowed_rates(asks: &[Ask<'_>], busy: &[Busy<'_>], by_flow: &[f64]) -> Vec<f64> {
    let found = under_pressure(busy, by_flow);
    // A load without threads moves nothing.
    let mut rates = vec![0.0; asks.len()];
    let places = asks.iter().enumerate().filter(|(_, ask)| ask.load.threads > 0);
    for ((index, _), rate) in places.zip(found) {
        rates[index] = rate;
    }
    rates
}

/// What loads get when those that meet at a node slow each other, from what they get without
/// that. The time of a load adds up over the nodes that it is on.
fn under_pressure(busy: &[Busy<'_>], lone: &[f64]) -> Vec<f64> {
    let Some(first) = busy.first() else { return Vec::new() };
    let mut times = vec![1.0; busy.len()];
    for pressure in &first.ask.capacities.pressure {
        let (on_local, on_remote) = pressure.slowdowns(busy, lone);
        for (time, load) in times.iter_mut().zip(busy) {
            let own = pressure.local.contains(&load.ask.load.initiator);
            *time += load.share_of(pressure.node) * (if own { on_local } else { on_remote } - 1.0);
        }
    }
    lone.iter().zip(times).map(|(rate, time)| rate / time).collect()
}

impl ControllerPressure {
    /// What the node's loads are slowed by: the local ones and the remote ones, from 1.
    fn slowdowns(&self, busy: &[Busy<'_>], lone: &[f64]) -> (f64, f64) {
        let (mut local, mut queue, mut remote) = (0.0, 0.0, 0.0);
        for (load, rate) in busy.iter().zip(lone) {
            let share = load.share_of(self.node);
            // Each load against what its own variant reaches.
            let Some(own) = load.ask.capacities.pressure.iter().find(|it| it.node == self.node)
            else {
                continue;
            };
            if self.local.contains(&load.ask.load.initiator) {
                local += rate * share / own.local_best;
                let of_one = load.ask.most.map_or(own.local_one, |most| most.min(own.local_one));
                queue += load.threads() * share * of_one / own.local_best;
            } else {
                remote += rate * share / own.remote_best;
            }
        }
        (1.0 + self.a * local * remote, 1.0 + self.b * queue * remote)
    }
}

/// What they get by the flow law.
fn flow(busy: &[Busy<'_>]) -> Result<Vec<f64>, FlowError> {
    shared_system(busy).map_or_else(|| Ok(Vec::new()), |shared| Ok(shared.system.solve()?.rates))
}

/// The parts that loads share, as a system.
#[derive(Debug)]
pub(crate) struct SharedSystem {
    pub system: System,
    /// The part that each resource stands for.
    pub parts: Vec<Part>,
    /// Demand of one thread of each load, bytes/s.
    pub of_one: Vec<f64>,
}

/// The system of loads; `None` without loads.
pub(crate) fn shared_system(busy: &[Busy<'_>]) -> Option<SharedSystem> {
    let first = busy.first()?;
    let law = first.ask.capacities;
    let demands = demands_of_one(busy);
    let crowding = crowding(busy, &demands, &law.interference);
    // Resources stand in the order of the parts and not of the loads: where a system has several
    // solutions the order decides which is found.
    let usages: Vec<Vec<(Part, f64)>> = busy.iter().map(|load| usage(load, &crowding)).collect();
    let mut parts: Vec<Part> = usages.iter().flatten().map(|&(part, _)| part).collect();
    parts.sort_unstable();
    parts.dedup();
    let stream = |((load, of_one), usage): ((&Busy<'_>, &f64), Vec<(Part, f64)>)| {
        let demand = lowered_demand(load, *of_one, &usage, law.saturation);
        let resource = |part| parts.partition_point(|it| *it < part);
        let usage = usage.into_iter().map(|(part, usage)| (resource(part), usage)).collect();
        // By what a thread would ask for unhindered: one that pauses is served when it asks.
        Stream { demand, weight: load.threads() * of_one.powf(law.fairness), usage }
    };
    let streams = busy.iter().zip(&demands).zip(usages).map(stream).collect();
    let system = System { capacities: vec![1.0; parts.len()], streams, saturation: law.saturation };
    Some(SharedSystem { system, parts, of_one: demands })
}

/// Fractions of the parts' capacities that a byte/s of a load takes, in the order of the parts.
fn usage(load: &Busy<'_>, crowding: &[f64]) -> Vec<(Part, f64)> {
    let on = |&(column, share): &(usize, f64)| {
        let parts = load.ask.capacities.parts_between(load.row, column);
        parts.map(move |(part, capacity)| {
            let crowded = match part {
                Part::Controller { column } => crowding[column],
                _ => 1.0,
            };
            (part, share / capacity * crowded)
        })
    };
    let mut usage: Vec<(Part, f64)> = load.shares.iter().flat_map(on).collect();
    usage.sort_by_key(|&(part, _)| part);
    usage.dedup_by(|again, kept| {
        let is_same = again.0 == kept.0;
        if is_same {
            kept.1 += again.1;
        }
        is_same
    });
    usage
}

/// Demand of one thread of each load, whose shares are its time by node, bytes/s.
fn demands_of_one(busy: &[Busy<'_>]) -> Vec<f64> {
    let threads_on = |row: usize, column: usize| -> f64 {
        let own = busy.iter().filter(|load| load.row == row);
        let on = own.flat_map(|load| load.shares.iter().map(|it| (it, load.threads())));
        on.filter(|(it, _)| it.0 == column).map(|(it, threads)| threads * it.1).sum()
    };
    let of_one = |load: &Busy<'_>| {
        let time = |&(column, share): &(usize, f64)| {
            let all = || threads_on(load.row, column);
            share / load.ask.capacities.demand_of_one(load.row, column, all)
        };
        load.ask.demand_scale / load.shares.iter().map(time).sum::<f64>()
    };
    busy.iter().map(of_one).collect()
}

/// By how much more a byte takes of each node's controller because several initiators use it
/// (see [`Capacities::interference`]), by column.
fn crowding(busy: &[Busy<'_>], demands: &[f64], interference: &[f64]) -> Vec<f64> {
    let offered_to = |column: usize| {
        let mut by_initiator: BTreeMap<usize, f64> = BTreeMap::new();
        for (load, &demand) in busy.iter().zip(demands) {
            let demand = load.threads() * load.ask.most.map_or(demand, |most| most.min(demand));
            for (_, share) in load.shares.iter().filter(|it| it.0 == column) {
                *by_initiator.entry(load.row).or_insert(0.0) += demand * share;
            }
        }
        by_initiator
    };
    let factor = |(column, &lost): (usize, &f64)| {
        if lost > 0.0 {
            1.0 + lost * (effective_number(offered_to(column).values()) - 1.0)
        } else {
            1.0
        }
    };
    interference.iter().enumerate().map(factor).collect()
}

/// How many of these matter: (sum x)^2 / sum x^2, 1 for one.
pub(crate) fn effective_number<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    let (sum, squares) = values.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    if squares > 0.0 { (sum * sum / squares).max(1.0) } else { 1.0 }
}

/// Demand of a load whose threads ask for no more than `most` each. It is such that the load
/// alone moves the smaller of its rate without that and of what it asks for: with y = n most
/// and u_r what a byte/s takes of part r,
///
/// ```text
/// x^-p = d^-p + sum u_r^p = y^-p
/// ```
fn lowered_demand(load: &Busy<'_>, of_one: f64, usage: &[(Part, f64)], p: f64) -> f64 {
    let demand = load.threads() * of_one;
    let Some(most) = load.ask.most else { return demand };
    let asked = load.threads() * most;
    let limits: f64 = usage.iter().map(|(_, usage)| (asked * usage).powf(p)).sum();
    if limits >= 1.0 { demand } else { demand.min(asked * (1.0 - limits).powf(-1.0 / p)) }
}

fn shares_by_column(ask: &Ask<'_>) -> Result<Vec<(usize, f64)>, FlowError> {
    let mut columns = Vec::new();
    for &(node, share) in &ask.load.shares {
        let column = ask
            .capacities
            .column(node)
            .ok_or_else(|| FlowError::Load(format!("there is no memory node {node}")))?;
        if !(0.0..=1.0 + SHARE_TOLERANCE).contains(&share) {
            return Err(FlowError::Load(format!(
                "the share {share} of node {node} is not from 0 to 1"
            )));
        }
        if share > SMALLEST_SHARE {
            columns.push((column, share));
        }
    }
    let sum = columns.iter().fold(0.0, |sum, &(_, share)| sum + share);
    if (sum - 1.0).abs() > SHARE_TOLERANCE {
        return Err(FlowError::Load(format!("its shares add up to {sum}, not to 1")));
    }
    Ok(columns)
}
