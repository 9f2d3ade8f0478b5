//! Time of an access by the level of the memory that answers it.

use std::collections::HashMap;

use nearfar_machine::{Initiator, Machine};
use nearfar_record::{Chase, Estimate, LatencyCoordinates};
use nearfar_units::Nanoseconds;
use serde::Serialize;

use crate::chases::ChaseFigures;

/// Time of an access that one level answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelLatency {
    /// The initiator of the chase.
    pub initiator: u32,
    /// The node behind the caches.
    pub memory_node: u32,
    /// The cache, 1 being the one next to the core, or null for memory.
    pub level: Option<u32>,
    /// Bytes that are walked through: of several sets that the level holds the largest.
    pub working_set_bytes: u64,
    /// Time of an access.
    #[serde(rename = "time_ns")]
    pub time: Estimate<Nanoseconds>,
}

/// A set that fills a cache does not stay in it: other data, and lines that share a place. Sets
/// above this part of it are no cache's.
const FILLED: f64 = 0.75;

/// Of each initiator and node of the idle matrix with other sizes beside it, walked in the same way.
pub(super) fn levels(
    machine: &Machine,
    all: &[ChaseFigures],
    matrix: &[&ChaseFigures],
) -> Vec<LevelLatency> {
    let way =
        |place: &LatencyCoordinates| (place.initiator, place.memory_node, place.pages, place.walk);
    let mut by_way: HashMap<_, Vec<&ChaseFigures>> = HashMap::new();
    for chase in all.iter().filter(|chase| chase.place.load.is_none()) {
        by_way.entry(way(&chase.place)).or_default().push(chase);
    }
    let initiators = machine.initiators();
    let mut found = Vec::new();
    for largest in matrix {
        let place = &largest.place;
        let own = initiators.iter().find(|it| it.index == place.initiator);
        let sizes = by_way.get(&way(place)).filter(|sizes| sizes.len() > 1);
        let (Some(sizes), Some(own)) = (sizes, own) else { continue };
        let caches = cache_bytes(machine, own);
        let mut of_pair: Vec<LevelLatency> = Vec::new();
        for chase in sizes {
            let (Some(time), Some(level)) = (&chase.time, level_of(chase, &caches)) else {
                continue;
            };
            let latency = LevelLatency {
                initiator: place.initiator,
                memory_node: place.memory_node,
                level,
                working_set_bytes: chase.place.working_set_bytes,
                time: time.time.clone(),
            };
            // Sizes come in ascending order: the later one of a level is the larger.
            of_pair.retain(|other| other.level != level);
            of_pair.push(latency);
        }
        found.extend(of_pair);
    }
    found
}

/// Levels of the caches of an initiator's first CPU with their sizes, the innermost first.
fn cache_bytes(machine: &Machine, initiator: &Initiator) -> Vec<(u32, u64)> {
    let Some(cpu) = initiator.cpus.first() else { return Vec::new() };
    let mut sizes: Vec<(u32, u64)> = machine
        .caches
        .iter()
        .filter(|cache| cache.cpus.contains(cpu))
        .filter_map(|cache| Some((cache.level, cache.bytes?)))
        .collect();
    sizes.sort_unstable();
    sizes
}

/// The level that holds a chase's set and that no inner level holds a part of worth naming:
/// `Some(None)` is memory, `None` a set between two levels.
fn level_of(chase: &ChaseFigures, caches: &[(u32, u64)]) -> Option<Option<u32>> {
    let as_float = |bytes: u64| bytes as f64;
    let bytes = as_float(chase.place.working_set_bytes);
    if chase.case.llc_multiple.is_some_and(|multiple| multiple >= Chase::LEAST_LLC_MULTIPLE) {
        return Some(None);
    }
    let place = caches.iter().position(|&(_, size)| bytes <= FILLED * as_float(size))?;
    let inner = place.checked_sub(1).and_then(|inner| caches.get(inner));
    let is_beyond = inner.is_none_or(|&(_, size)| bytes > as_float(size));
    is_beyond.then(|| Some(caches[place].0))
}
