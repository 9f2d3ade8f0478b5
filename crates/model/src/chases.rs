//! How long one access takes: alone, by size, and beside traffic.
//! Units: ns, useful bytes/s.
//! A chase has one thread whose loads wait for each other: time of an access = window /
//! accesses, and an access is 8 useful bytes.
//! Source: McVoy and Staelin, lmbench (USENIX 1996); the idle matrix and the loaded curve are
//! those of Intel's Memory Latency Checker.
//! Fails when: the walk lets a prefetcher guess the next line, or pages are smaller than asked
//! for (`page_sizes` of the samples).

use std::collections::{BTreeMap, HashMap};

use nearfar_machine::Initiator;
use nearfar_record::{
    Aggregate, CaseSummary, Chase, ChaseWalk, Coordinates, Estimate, LatencyCoordinates, Pages,
    Part,
};
use nearfar_stats::{Estimate as Median, estimate_median};
use nearfar_units::Nanoseconds;
use serde::Serialize;

use crate::record_figures::{CaseFigures, PlannedCase, RecordFigures};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChaseFigures {
    #[serde(flatten)]
    pub case: PlannedCase,
    /// Where it stands.
    #[serde(flatten)]
    pub place: LatencyCoordinates,
    /// Whether it stands in the idle matrix.
    pub in_matrix: bool,
    /// Time of an access; null without samples, and where `has_empty_round`.
    #[serde(rename = "latency")]
    pub time: Option<AccessTime>,
    /// Whether the chase made no access in a round: such a round has no time, and the others
    /// alone would be too short.
    pub has_empty_round: bool,
    /// What the threads beside it moved; null where there are none, or no samples.
    #[serde(rename = "load_gb_per_s")]
    pub load: Option<CaseSummary>,
    /// Least and most bytes that cross to the memory for a useful byte of theirs; null as above, and
    /// where caches can have answered everything.
    #[serde(rename = "crossing_per_useful_byte")]
    pub crossing: Option<[f64; 2]>,
    /// Median clock of its core, GHz; null where nobody looked.
    pub core_ghz: Option<f64>,
    /// What translating addresses adds to an access; null for a walk by groups of pages, and
    /// where either walk has no time.
    pub translation: Option<Translation>,
}

/// What translating addresses adds to an access: the walk anywhere - that by groups of pages over
/// the same set, ns. Noise can make it negative.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Translation {
    /// Difference of the medians.
    pub ns: f64,
    /// From the least to the most that the intervals of both medians leave room for.
    #[serde(rename = "interval_ns")]
    pub interval: (f64, f64),
}

impl ChaseFigures {
    /// Whether caches answered a part of the accesses, so that memory alone takes longer.
    pub fn is_short(&self) -> bool {
        self.case.llc_multiple.is_some_and(|multiple| multiple < Chase::LEAST_LLC_MULTIPLE)
    }

    /// Whether the node is one of the initiator's own.
    pub(crate) fn is_local(&self, initiators: &[Initiator]) -> bool {
        let own = initiators.iter().find(|it| it.index == self.place.initiator);
        own.is_some_and(|it| it.memory_nodes.contains(self.place.memory_node))
    }
}

impl Translation {
    fn between(anywhere: &Estimate<Nanoseconds>, by_groups: &Estimate<Nanoseconds>) -> Self {
        let ([least, most], [other_least, other_most]) = (anywhere.ends(), by_groups.ends());
        Self {
            ns: anywhere.value.0 - by_groups.value.0,
            interval: (least.0 - other_most.0, most.0 - other_least.0),
        }
    }

    /// Whether the medians' intervals leave room for no difference.
    pub fn is_within_noise(&self) -> bool {
        self.interval.0 <= 0.0 && self.interval.1 >= 0.0
    }
}

/// Time of an access.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccessTime {
    /// Median over rounds.
    #[serde(rename = "time_ns")]
    pub time: Estimate<Nanoseconds>,
    /// Rounds that count.
    pub rounds: usize,
    pub samples: usize,
    /// Samples that were left out because something disturbed them.
    pub disturbed: usize,
    /// Whether all samples were disturbed, and so none was left out.
    pub only_disturbed: bool,
}

/// The chases of a record: by initiator and node, idle ones first by size, pages and walk, then
/// loaded ones from the longest pause of the generators to the shortest.
pub fn chases(figures: &RecordFigures<'_>) -> Vec<ChaseFigures> {
    let places = figures.places(|coordinates| match coordinates {
        Coordinates::Latency(place) => Some(place),
        _ => None,
    });
    let mut all: Vec<ChaseFigures> = places
        .map(|(place, case)| {
            let times = times_by_round(case);
            let has_empty_round = times.iter().any(|ns| !ns.is_finite());
            ChaseFigures {
                case: case.planned(),
                place: place.clone(),
                in_matrix: false,
                time: estimate_median(&times)
                    .filter(|_| !has_empty_round)
                    .map(|ns| with_samples(&ns, case)),
                has_empty_round,
                load: place.load.as_ref().and_then(|_| case.bandwidth(Part::Actor(1))),
                crossing: place.load.as_ref().and_then(|_| crossing(case)),
                core_ghz: case.core_ghz(0),
                translation: None,
            }
        })
        .collect();
    all.sort_by_cached_key(|figures| {
        let LatencyCoordinates {
            initiator, memory_node, working_set_bytes, pages, walk, load, ..
        } = figures.place.clone();
        let load = load.map(|load| {
            (load.kernel, load.variant, load.threads, std::cmp::Reverse(load.pause_cycles))
        });
        (initiator, memory_node, load, working_set_bytes, pages, walk)
    });
    let by_groups: HashMap<LatencyCoordinates, Estimate<Nanoseconds>> = all
        .iter()
        .filter(|figures| figures.place.walk == ChaseWalk::PageGroups)
        .filter_map(|figures| Some((figures.place.clone(), figures.time.as_ref()?.time.clone())))
        .collect();
    for figures in all.iter_mut().filter(|figures| figures.place.walk == ChaseWalk::Anywhere) {
        let same = LatencyCoordinates { walk: ChaseWalk::PageGroups, ..figures.place.clone() };
        let both = figures.time.as_ref().zip(by_groups.get(&same));
        figures.translation =
            both.map(|(anywhere, by_groups)| Translation::between(&anywhere.time, by_groups));
    }
    for position in matrix_positions(&all) {
        all[position].in_matrix = true;
    }
    all
}

/// The idle matrix of these, by initiator, then by node.
pub fn idle_matrix(all: &[ChaseFigures]) -> Vec<&ChaseFigures> {
    all.iter().filter(|figures| figures.in_matrix).collect()
}

/// Of each initiator and node the chase over the most memory, by groups of pages and with huge pages if
/// there is such a one.
fn matrix_positions(all: &[ChaseFigures]) -> Vec<usize> {
    let mut cells: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    let rank = |position: usize| {
        let LatencyCoordinates { working_set_bytes, pages, walk, .. } = all[position].place;
        (working_set_bytes, walk == ChaseWalk::PageGroups, pages != Pages::Small)
    };
    let idle = all.iter().enumerate().filter(|(_, figures)| figures.place.load.is_none());
    for (position, figures) in idle {
        let place = (figures.place.initiator, figures.place.memory_node);
        let best = cells.entry(place).or_insert(position);
        if rank(position) > rank(*best) {
            *best = position;
        }
    }
    cells.into_values().collect()
}

/// Of the second actor over all samples; `None` where it moved nothing.
#[expect(clippy::cast_precision_loss, reason = "bytes of windows are below 2^53")]
fn crossing(case: CaseFigures<'_>) -> Option<[f64; 2]> {
    let beside = || case.samples().iter().filter_map(|sample| sample.actors.get(1));
    let useful: u64 = beside().map(|actor| actor.useful_bytes).sum();
    let least: u64 = beside().map(|actor| actor.traffic_bytes_min).sum();
    let most: u64 = beside().map(|actor| actor.traffic_bytes_max).sum();
    (useful > 0 && least > 0).then(|| [least, most].map(|bytes| bytes as f64 / useful as f64))
}

/// Time of an access of a case's first actor; `None` without samples, and where a round had no access.
pub(crate) fn access_time(case: CaseFigures<'_>) -> Option<AccessTime> {
    let times = times_by_round(case);
    let is_whole = times.iter().all(|ns| ns.is_finite());
    estimate_median(&times).filter(|_| is_whole).map(|ns| with_samples(&ns, case))
}

/// ns of an access in each round; infinite in one without an access.
fn times_by_round(case: CaseFigures<'_>) -> Vec<f64> {
    const ACCESS_BYTES: f64 = 8.0;
    let rates = case.rounds(Part::Actor(0), Aggregate::Sum);
    rates.into_iter().map(|bytes_per_s| 1e9 * ACCESS_BYTES / bytes_per_s).collect()
}

fn with_samples(ns: &Median, case: CaseFigures<'_>) -> AccessTime {
    let samples = case.samples();
    let disturbed = samples.iter().filter(|sample| sample.is_disturbed()).count();
    AccessTime {
        time: Estimate::of_rounds(ns, &case.planned().id),
        rounds: ns.count,
        samples: samples.len(),
        disturbed,
        only_disturbed: disturbed == samples.len(),
    }
}
