//! The NUMA factor of each cluster and node, and what the firmware says of it.

use std::collections::HashMap;

use nearfar_machine::{Cluster, Machine, NodeSet};
use nearfar_record::Chase;

use crate::chases::{AccessTime, ChaseFigures};

/// A ratio of two medians.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factor {
    /// Ratio of the medians.
    pub value: f64,
    /// From the least to the most that the intervals of both medians leave room for.
    pub interval: (f64, f64),
}

/// A cluster on a node.
#[derive(Debug, Clone, PartialEq)]
pub struct NumaFactor {
    /// The case, by its id.
    pub case: String,
    /// The cluster of the chase.
    pub cluster: u32,
    /// The lowest node with CPUs of that cluster.
    pub cpu_node: Option<u32>,
    /// The node that is accessed.
    pub memory_node: u32,
    /// Whether the node is one of the cluster's own.
    pub is_local: bool,
    /// Time of an idle access; `None` where it was not measured.
    pub time: Option<AccessTime>,
    /// Whether caches answered a part of the accesses, so that memory alone takes longer.
    pub is_short: bool,
    /// That time / the least of the cluster's own nodes; in words why it is not known.
    pub factor: Result<Factor, String>,
    /// The firmware's distance / 10, which by the ACPI's convention is such a factor; `None` where
    /// the firmware gives none.
    pub firmware: Option<f64>,
}

/// The NUMA factors of all remote nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FactorSpan {
    pub least: f64,
    pub most: Factor,
    /// Cluster of the pair with the most.
    pub worst_cluster: u32,
    /// Its memory node.
    pub worst_node: u32,
    /// Pairs of a cluster and a remote node that have a factor.
    pub pairs: usize,
}

/// A firmware's factor that is further from the measured one than this fraction, and outside of
/// its interval, is contradicted. Firmware counts in tenths of a local access, and most vendors in
/// hops: a smaller difference is no lie.
pub const FIRMWARE_ROOM: f64 = 0.2;

impl NumaFactor {
    /// The firmware's factor / the measured one - 1; `None` where either is not known.
    #[must_use]
    pub fn firmware_error(&self) -> Option<f64> {
        let measured = self.factor.as_ref().ok()?.value;
        Some(self.firmware? / measured - 1.0).filter(|error| error.is_finite())
    }

    /// Whether what the firmware says is not so; `None` where that cannot be told.
    #[must_use]
    pub fn is_firmware_wrong(&self) -> Option<bool> {
        let (error, firmware) = (self.firmware_error()?, self.firmware?);
        let (low, high) = self.factor.as_ref().ok()?.interval;
        Some(error.abs() > FIRMWARE_ROOM && !(low..=high).contains(&firmware))
    }
}

/// The factor of each cell of the idle matrix.
pub(super) fn numa_factors(machine: &Machine, matrix: &[&ChaseFigures]) -> Vec<NumaFactor> {
    let clusters = machine.clusters();
    let own_nodes = own_nodes(&clusters);
    let is_own = |chase: &ChaseFigures| {
        let nodes = own_nodes.get(&chase.place.cluster);
        nodes.is_some_and(|nodes| nodes.contains(chase.place.memory_node))
    };
    // Of each cluster the fastest chase on a node of its own.
    let mut own: HashMap<u32, &ChaseFigures> = HashMap::new();
    for chase in matrix.iter().filter(|chase| is_own(chase) && usable(chase).is_some()) {
        let fastest = own.entry(chase.place.cluster).or_insert(chase);
        if median(chase) < median(fastest) {
            *fastest = chase;
        }
    }
    let of = |chase: &&ChaseFigures| {
        let own = own.get(&chase.place.cluster).copied();
        numa_factor(machine, chase, is_own(chase), own)
    };
    matrix.iter().map(of).collect()
}

fn numa_factor(
    machine: &Machine,
    chase: &ChaseFigures,
    is_local: bool,
    own: Option<&ChaseFigures>,
) -> NumaFactor {
    let place = &chase.place;
    let factor = match (usable(chase), own) {
        (None, _) => Err("its accesses have no time".into()),
        (_, None) => Err(format!("no node of cluster {}'s own has a time", place.cluster)),
        (Some(time), Some(own)) => ratio(chase, time, own),
    };
    NumaFactor {
        case: chase.case.id.clone(),
        cluster: place.cluster,
        cpu_node: place.cpu_node,
        memory_node: place.memory_node,
        is_local,
        time: chase.time,
        is_short: is_short(chase),
        factor,
        firmware: place
            .cpu_node
            .and_then(|node| machine.distance(node, place.memory_node))
            .and_then(firmware_factor),
    }
}

/// The nodes that are each cluster's own, by its number.
pub(super) fn own_nodes(clusters: &[Cluster]) -> HashMap<u32, &NodeSet> {
    clusters.iter().map(|cluster| (cluster.index, &cluster.memory_nodes)).collect()
}

/// Whether caches answered a part of a chase.
fn is_short(chase: &ChaseFigures) -> bool {
    chase.case.llc_multiple.is_some_and(|multiple| multiple < Chase::LEAST_LLC_MULTIPLE)
}

/// A time that can be divided by.
fn usable(chase: &ChaseFigures) -> Option<AccessTime> {
    chase.time.filter(|time| time.ns.median > 0.0 && time.ns.interval.0 > 0.0)
}

fn median(chase: &ChaseFigures) -> f64 {
    chase.time.map_or(f64::INFINITY, |time| time.ns.median)
}

fn ratio(chase: &ChaseFigures, time: AccessTime, own: &ChaseFigures) -> Result<Factor, String> {
    if chase.case.id == own.case.id {
        return Ok(Factor { value: 1.0, interval: (1.0, 1.0) });
    }
    let how = |chase: &ChaseFigures| (chase.place.pages, chase.place.walk);
    if how(chase) != how(own) {
        return Err("its chase walks in another way, or on other pages, than the local one".into());
    }
    let Some(own) = usable(own) else { return Err("the local accesses have no time".into()) };
    let factor = Factor {
        value: time.ns.median / own.ns.median,
        interval: (time.ns.interval.0 / own.ns.interval.1, time.ns.interval.1 / own.ns.interval.0),
    };
    let is_finite = factor.value.is_finite() && factor.interval.1.is_finite();
    if is_finite { Ok(factor) } else { Err("its time is beyond all numbers".into()) }
}

/// The distances of firmware are counted in tenths of a local access; 0 and 255 mean that it does
/// not know.
fn firmware_factor(distance: u64) -> Option<f64> {
    let known = u8::try_from(distance).ok().filter(|distance| (1..255).contains(distance));
    known.map(|distance| f64::from(distance) / 10.0)
}

/// The factors of remote nodes together.
pub(super) fn span(machine: &Machine, factors: &[NumaFactor]) -> Result<FactorSpan, String> {
    let remote: Vec<(&NumaFactor, Factor)> = factors
        .iter()
        .filter(|pair| !pair.is_local)
        .filter_map(|pair| Some((pair, *pair.factor.as_ref().ok()?)))
        .collect();
    let value = |(_, factor): &&(&NumaFactor, Factor)| factor.value;
    let least = remote.iter().min_by(|one, other| value(one).total_cmp(&value(other)));
    let most = remote.iter().max_by(|one, other| value(one).total_cmp(&value(other)));
    match (least, most) {
        (Some(&(_, least)), Some(&(worst, most))) => Ok(FactorSpan {
            least: least.value,
            most,
            worst_cluster: worst.cluster,
            worst_node: worst.memory_node,
            pairs: remote.len(),
        }),
        _ if machine.nodes.len() == 1 => Err("one node: nothing is remote".into()),
        _ if factors.iter().all(|pair| pair.is_local) => {
            Err("every node that was measured is local to the cluster that accessed it".into())
        }
        _ => Err("no remote node has a time beside a local one".into()),
    }
}
