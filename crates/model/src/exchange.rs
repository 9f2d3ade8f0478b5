//! How long two CPUs take to hand a cache line to each other, and which levels there are.
//!
//! | symbol | meaning | unit |
//! | --- | --- | --- |
//! | t(a, b) | one hand-over between the CPUs a and b: window / hand-overs of both | ns |
//! | level | pairs whose t by store and load is within a quarter of the level's largest | 1 |
//!
//! Source: ours. Pairs are parted by `stats::partition`, which bandwidth classes are made by; what the
//! topology says of a pair (same core, same L3 ..) is compared with it and decides nothing.
//! Holds when: both threads have their CPUs for all of the window, and the line's page is where the case
//! says.
//! Fails when: a virtual machine's CPUs move between cores of the host: a level is then a mean of several.
//! Pinned by `crates/model/tests/exchange` and `crates/measure/tests/simulated/exchange.rs`.

use std::collections::{BTreeMap, HashMap};

use nearfar_machine::{CpuRelation, CpuSet, Machine};
use nearfar_record::{Coordinates, Estimate, ExchangeCoordinates, Experiment, HandOver, Outcome};
use nearfar_stats::{PartitionRule, estimate_median, partition};
use nearfar_units::{Nanoseconds, Ratio};
use serde::Serialize;

use crate::chases::{AccessTime, access_time};
use crate::inapplicable::Inapplicable;
use crate::record_figures::{PlannedCase, RecordFigures};

/// A level spans at most this part of its largest time: the cores of one mesh or ring differ by as much
/// with the way that the line goes.
pub const LEVEL_SPAN: f64 = 0.25;

/// A line that two CPUs hand to each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HandOverFigures {
    #[serde(flatten)]
    pub case: PlannedCase,
    #[serde(flatten)]
    pub place: ExchangeCoordinates,
    /// How the two CPUs lie to each other; null where the topology does not say.
    pub relation: Option<CpuRelation>,
    /// Time of a hand-over, one way; null without samples, and where a round had none.
    #[serde(rename = "hand_over")]
    pub time: Option<AccessTime>,
}

/// Times of a hand-over of a record.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exchanges {
    /// Pairs of CPUs, by both, node and way.
    pub pairs: Vec<HandOverFigures>,
    /// Levels of times by store and load, the fastest first.
    pub levels: Vec<ExchangeLevel>,
    /// Pairs that are of another level than most that lie as they do.
    pub deviating: Vec<DeviatingPair>,
    /// What compare-and-swap takes / what store and load take, over pairs that have both.
    pub compare_swap: Outcome<Estimate<Ratio>>,
    /// CPUs that share a last-level cache; on a machine with many such groups its packages.
    pub groups: Vec<CpuSet>,
    /// The same pairs by the groups of their CPUs.
    pub between_groups: Vec<GroupHandOver>,
    /// A level spans at most this part of its largest time, a fraction.
    pub level_span: f64,
}

/// Pairs of CPUs that take about as long.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExchangeLevel {
    /// From 0, the fastest.
    pub level: usize,
    /// By store and load: median over its pairs.
    #[serde(rename = "store_load_ns")]
    pub store_load: Estimate<Nanoseconds>,
    /// By compare-and-swap on the same pairs; null where none was measured so.
    #[serde(rename = "compare_swap_ns")]
    pub compare_swap: Option<Estimate<Nanoseconds>>,
    /// Pairs that lie so to each other, by how they do; those of which the topology says nothing are
    /// left out here.
    pub relations: BTreeMap<CpuRelation, usize>,
    /// Both CPUs of each pair.
    pub pairs: Vec<[u32; 2]>,
}

/// Pairs of CPUs of a group, or of two.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupHandOver {
    /// Positions among `groups`, the lower first.
    pub groups: [usize; 2],
    pub by: HandOver,
    /// Median over its pairs.
    #[serde(rename = "time_ns")]
    pub time: Estimate<Nanoseconds>,
    pub pairs: usize,
}

/// A pair that is of another level than most that lie as it does.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviatingPair {
    pub cpus: [u32; 2],
    pub relation: CpuRelation,
    pub level: usize,
    /// The level of most pairs that lie so.
    pub usual_level: usize,
    /// Its time by store and load.
    #[serde(rename = "time_ns")]
    pub time: Estimate<Nanoseconds>,
}

/// The hand-overs of a record, by CPUs, node and way.
pub fn hand_overs(figures: &RecordFigures<'_>) -> Vec<HandOverFigures> {
    let machine = &figures.record().header.machine;
    let places = figures.places(|coordinates| match coordinates {
        Coordinates::Exchange(place) => Some(place),
        _ => None,
    });
    let mut all: Vec<HandOverFigures> = places
        .map(|(place, case)| HandOverFigures {
            case: case.planned(),
            place: place.clone(),
            relation: machine.cpu_relation(place.first_cpu, place.second_cpu),
            time: access_time(case),
        })
        .collect();
    all.sort_by_cached_key(|it| {
        let ExchangeCoordinates { first_cpu, second_cpu, memory_node, by } = it.place;
        (first_cpu, second_cpu, memory_node, by)
    });
    all
}

/// The levels of a record.
///
/// # Errors
/// Where no pair of CPUs has a time that was not disturbed.
pub fn exchanges(figures: &RecordFigures<'_>) -> Result<Exchanges, Inapplicable> {
    let pairs = hand_overs(figures);
    let machine = &figures.record().header.machine;
    let near = |by| on_first_node(machine, &pairs, by);
    let (store_load, compare_swap) = (near(HandOver::StoreLoad), near(HandOver::CompareSwap));
    if store_load.is_empty() {
        return Err(no_times(figures, &pairs));
    }
    let levels = levels(&store_load, &compare_swap);
    let deviating = deviating(&levels, &store_load);
    let groups = groups(machine);
    let ways = [(HandOver::StoreLoad, &store_load), (HandOver::CompareSwap, &compare_swap)];
    let of_way = |(by, times)| between_groups(&groups, by, times);
    let between_groups = ways.into_iter().flat_map(of_way).collect();
    let compare_swap = Outcome::from(ratio(&store_load, &compare_swap));
    Ok(Exchanges {
        pairs,
        levels,
        deviating,
        compare_swap,
        groups,
        between_groups,
        level_span: LEVEL_SPAN,
    })
}

fn no_times(figures: &RecordFigures<'_>, pairs: &[HandOverFigures]) -> Inapplicable {
    if !pairs.iter().filter_map(|it| it.time.as_ref()).any(|time| time.only_disturbed) {
        return Inapplicable::without(figures.record(), Experiment::Exchange);
    }
    let why = "in every window one of the two CPUs ran something else, so that times are of waiting for it \
               and not of a hand-over; measure on idle CPUs"
        .into();
    // To go on with the record would add nothing.
    let remedy = Some("nearfar characterize --only exchange --out FILE".into());
    Inapplicable { why, remedy }
}

/// By both CPUs: how they lie, and the time; without pairs of which every window was disturbed, which wait
/// for CPUs and not for lines.
type Times<'a> = BTreeMap<[u32; 2], (Option<CpuRelation>, &'a Estimate<Nanoseconds>)>;

/// Of each pair that has a time the one on a line of the first CPU's node, or what there is.
fn on_first_node<'a>(machine: &Machine, pairs: &'a [HandOverFigures], by: HandOver) -> Times<'a> {
    let initiators = machine.initiators();
    let is_own = |place: &ExchangeCoordinates| {
        let own = initiators.iter().find(|it| it.cpus.contains(place.first_cpu));
        own.is_some_and(|it| it.memory_nodes.contains(place.memory_node))
    };
    let mut times = Times::new();
    // Those of the first CPU's own node come last and replace the others.
    let of_way = || pairs.iter().filter(|it| it.place.by == by);
    let (own, others): (Vec<_>, Vec<_>) = of_way().partition(|it| is_own(&it.place));
    for pair in others.into_iter().chain(own) {
        let counts = |it: &&AccessTime| it.time.is_positive() && !it.only_disturbed;
        if let Some(time) = pair.time.as_ref().filter(counts) {
            let cpus = [pair.place.first_cpu, pair.place.second_cpu];
            times.insert(cpus, (pair.relation, &time.time));
        }
    }
    times
}

fn levels(store_load: &Times<'_>, compare_swap: &Times<'_>) -> Vec<ExchangeLevel> {
    let all: Vec<_> = store_load.iter().collect();
    let values: Vec<f64> = all.iter().map(|(_, (_, time))| time.value.0).collect();
    let rule = PartitionRule { span: LEVEL_SPAN, noise: None };
    // Times are positive, and none is so far from another that this fails.
    let parts = partition(&values, &rule).unwrap_or_default();
    let fastest_first = parts.into_iter().rev().enumerate();
    let level = |(level, part): (usize, nearfar_stats::Part)| {
        let members = || part.members.iter().map(|&member| all[member]);
        let mut relations = BTreeMap::new();
        for relation in members().filter_map(|(_, (relation, _))| *relation) {
            *relations.entry(relation).or_insert(0) += 1;
        }
        let pairs: Vec<[u32; 2]> = members().map(|(cpus, _)| *cpus).collect();
        let swaps = pairs.iter().filter_map(|cpus| Some(compare_swap.get(cpus)?.1));
        Some(ExchangeLevel {
            level,
            store_load: together(&members().map(|(_, (_, time))| *time).collect::<Vec<_>>())?,
            compare_swap: together(&swaps.collect::<Vec<_>>()),
            relations,
            pairs,
        })
    };
    fastest_first.filter_map(level).collect()
}

/// More groups than this make no matrix that fits a terminal.
const MOST_GROUPS: usize = 9;

fn groups(machine: &Machine) -> Vec<CpuSet> {
    let domains = machine.l3_domains();
    let packages = machine.packages.len();
    if domains.len() <= MOST_GROUPS || packages == 0 || packages >= domains.len() {
        return domains;
    }
    machine.packages.iter().map(|package| package.cpus.clone()).collect()
}

fn between_groups(groups: &[CpuSet], by: HandOver, times: &Times<'_>) -> Vec<GroupHandOver> {
    let group_of: HashMap<u32, usize> = groups
        .iter()
        .enumerate()
        .flat_map(|(place, cpus)| cpus.iter().map(move |cpu| (cpu, place)))
        .collect();
    let mut of_groups: BTreeMap<[usize; 2], Vec<&Estimate<Nanoseconds>>> = BTreeMap::new();
    for ([first, second], (_, time)) in times {
        if let (Some(&one), Some(&other)) = (group_of.get(first), group_of.get(second)) {
            of_groups.entry([one.min(other), one.max(other)]).or_default().push(time);
        }
    }
    let found = of_groups.into_iter().filter_map(|(groups, times)| {
        Some(GroupHandOver { groups, by, time: together(&times)?, pairs: times.len() })
    });
    found.collect()
}

/// The median of several, or the one that there is with its own interval.
fn together(times: &[&Estimate<Nanoseconds>]) -> Option<Estimate<Nanoseconds>> {
    if let [only] = times {
        return Some((*only).clone());
    }
    let median = estimate_median(&times.iter().map(|time| time.value.0).collect::<Vec<_>>())?;
    let cases = times.iter().flat_map(|time| time.cases.clone()).collect();
    let of_pairs = Estimate::computed(median.median, median.interval, cases);
    Some(Estimate { confidence: Some(median.confidence), ..of_pairs })
}

fn deviating(levels: &[ExchangeLevel], store_load: &Times<'_>) -> Vec<DeviatingPair> {
    let mut usual: BTreeMap<CpuRelation, (usize, usize)> = BTreeMap::new();
    for level in levels {
        for (&relation, &count) in &level.relations {
            let most = usual.entry(relation).or_insert((level.level, count));
            if count > most.1 {
                *most = (level.level, count);
            }
        }
    }
    let mut found = Vec::new();
    for level in levels {
        for &cpus in &level.pairs {
            let Some(&(Some(relation), time)) = store_load.get(&cpus) else { continue };
            let usual_level = usual.get(&relation).map_or(level.level, |most| most.0);
            if usual_level != level.level {
                let (level, time) = (level.level, time.clone());
                found.push(DeviatingPair { cpus, relation, level, usual_level, time });
            }
        }
    }
    found
}

fn ratio(store_load: &Times<'_>, compare_swap: &Times<'_>) -> Result<Estimate<Ratio>, String> {
    let both: Vec<_> = store_load
        .iter()
        .filter_map(|(cpus, (_, load))| Some((*load, compare_swap.get(cpus)?.1)))
        .collect();
    let cases = both.iter().flat_map(|(load, swap)| [&load.cases, &swap.cases]);
    let cases: Vec<String> = cases.flatten().cloned().collect();
    if let [(load, swap)] = both.as_slice() {
        let ([least, most], [swap_least, swap_most]) = (load.ends(), swap.ends());
        let ends = (swap_least.0 / most.0, swap_most.0 / least.0);
        return Ok(Estimate::computed(swap.value.0 / load.value.0, ends, cases));
    }
    let ratios: Vec<f64> = both.iter().map(|(load, swap)| swap.value.0 / load.value.0).collect();
    let median = estimate_median(&ratios).ok_or("no pair of CPUs was measured both ways")?;
    let of_pairs = Estimate::computed(median.median, median.interval, cases);
    Ok(Estimate { confidence: Some(median.confidence), ..of_pairs })
}
