//! How long an access takes: on an idle machine, and longer beside loads.
//!
//! ```text
//! wait = s u / ((1 - u) + u s / q)
//! ```
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | u | utilisation of the fullest part that the access passes, 0 to 1 | 1 |
//! | s | `service_ns`: what one access keeps a part busy | ns |
//! | q | `most_ns`: the wait at u = 1 | ns |
//!
//! For a small s / q it is the waiting time of one server with random arrivals and service
//! times (M/M/1), s u / (1 - u); q bounds it, because a machine has only so many accesses
//! under way. Source: ours. The parts are the node's controller and the links on the way;
//! [`crate::Capacities`] says how full they are.

use std::ops::RangeInclusive;

use nearfar_machine::Machine;

use crate::bounds::{self, BadKey};
use crate::cache_roof::{LEVELS, MEMORY_SIDE_LEVEL};
use crate::latency_family::{LatencyFamily, families};
use crate::machine_file::{LatencyEntry, MachineFile};
use crate::pair_selection::{Pair, Pairs};

/// A cycle takes a tenth of a nanosecond on no machine, and an access a tenth of a
/// millisecond on none.
pub(crate) const NANOSECONDS: RangeInclusive<f64> = 0.01..=1e5;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Latency {
    /// One dependent load by initiator index and, in the machine's order, memory node, when
    /// nothing else runs and the TLB hits; ns.
    pub idle_ns: Vec<Vec<Option<f64>>>,
    /// The same from the caches of level 1, 2, 3 and beside the memory.
    pub cache_ns: [Option<f64>; 4],
    /// What misses in the TLB add.
    pub translation: Option<Translation>,
    /// How accesses wait beside loads where there is no family.
    pub queue: Option<Queue>,
    /// Curves of latency over traffic, by initiator index and node as `idle_ns`.
    pub families: Vec<Vec<Option<LatencyFamily>>>,
}

/// What an access takes longer when each misses the TLB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Translation {
    /// On pages of the smallest size, ns.
    pub base_pages_ns: f64,
    pub huge_pages_ns: f64,
}

/// The queue of a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Queue {
    /// What one access keeps a part busy, ns.
    pub service_ns: f64,
    /// The wait where a part is full, ns.
    pub most_ns: f64,
}

impl Queue {
    /// What an access waits where the fullest part on its way is used to this fraction, ns.
    pub fn wait_ns(&self, utilisation: f64) -> f64 {
        let used = utilisation.clamp(0.0, 1.0);
        if used > 0.0 {
            self.service_ns * used / ((1.0 - used) + used * self.service_ns / self.most_ns)
        } else {
            0.0
        }
    }
}

pub(crate) fn latency(
    file: &MachineFile,
    machine: &Machine,
    pairs: &Pairs,
) -> Result<Latency, BadKey> {
    let chase = &file.chase;
    let number = |key: &str, value: Option<f64>| {
        value.map(|ns| bounds::number(&format!("chase.{key}"), ns, &NANOSECONDS)).transpose()
    };
    let cache_ns = [
        number("l1_ns", chase.l1_ns)?,
        number("l2_ns", chase.l2_ns)?,
        number("l3_ns", chase.l3_ns)?,
        number("memory_side_ns", chase.memory_side_ns)?,
    ];
    for (level, ns) in LEVELS.zip(&cache_ns) {
        let is_there = if level == MEMORY_SIDE_LEVEL {
            machine.nodes.iter().any(|node| node.memory_side_cache_bytes.is_some())
        } else {
            machine.caches.iter().any(|cache| cache.level == u32::from(level))
        };
        if ns.is_some() && !is_there {
            let why = format!("gives a latency for level {level}, of which there is no cache");
            return Err(BadKey::new("chase", why));
        }
    }
    let translation = match (
        number("base_pages_ns", chase.base_pages_ns)?,
        number("huge_pages_ns", chase.huge_pages_ns)?,
    ) {
        (Some(base_pages_ns), Some(huge_pages_ns)) => {
            Some(Translation { base_pages_ns, huge_pages_ns })
        }
        (None, None) => None,
        _ => return Err(BadKey::new("chase", "gives one of base_pages_ns and huge_pages_ns only")),
    };
    let families = families(file, machine, pairs)?;
    let idle_ns = idle(file, pairs, &families)?;
    Ok(Latency { idle_ns, cache_ns, translation, queue: queue(file)?, families })
}

fn queue(file: &MachineFile) -> Result<Option<Queue>, BadKey> {
    match (file.queue.service_ns, file.queue.most_ns) {
        (Some(service_ns), Some(most_ns)) => {
            let service_ns = bounds::number("queue.service_ns", service_ns, &NANOSECONDS)?;
            let longer = service_ns..=*NANOSECONDS.end();
            let most_ns = bounds::number("queue.most_ns", most_ns, &longer)?;
            Ok(Some(Queue { service_ns, most_ns }))
        }
        (None, None) => Ok(None),
        _ => Err(BadKey::new("queue", "gives one of service_ns and most_ns only")),
    }
}

/// What the entries say of each pair, the later prevailing, then the matrix, and families before all.
fn idle(
    file: &MachineFile,
    pairs: &Pairs,
    families: &[Vec<Option<LatencyFamily>>],
) -> Result<Vec<Vec<Option<f64>>>, BadKey> {
    let mut idle: Vec<Vec<Option<f64>>> =
        families.iter().map(|row| vec![None; row.len()]).collect();
    for (key, entry) in bounds::entries("latency", &file.latency)? {
        let ns = bounds::number(&format!("{key}.ns"), entry.ns, &NANOSECONDS)?;
        let LatencyEntry { pairs: named, relation, distance, kind, .. } = entry;
        for pair in pairs.selected(&key, named.as_ref(), *relation, *distance, *kind)? {
            let Pair { row, column, .. } = pairs.all[pair];
            idle[row][column] = Some(ns);
        }
    }
    let matrix = file.matrix.latency_ns.as_deref();
    for (pair, ns) in pairs.cells("matrix.latency_ns", matrix, &NANOSECONDS)? {
        idle[pairs.all[pair].row][pairs.all[pair].column] = Some(ns);
    }
    for (row, of_row) in idle.iter_mut().zip(families) {
        for (ns, family) in row.iter_mut().zip(of_row) {
            *ns = family.as_ref().map(LatencyFamily::idle_ns).or(*ns);
        }
    }
    Ok(idle)
}
