//! Finds the working set at which bandwidth no longer contains cache: before a record begins, sizes of
//! 4 to 32 times the caches are measured in alternation, and the smallest is taken that is as fast as
//! twice its size.
//!
//! STREAM's rule, four times the caches for each array, is not enough: caches that replace at random, or
//! keep lines of the last pass, serve a tenth of the accesses there.

use std::collections::BTreeMap;
use std::time::Duration;

use nearfar_record::{
    Actor, Case, Chase, Coordinates, Experiment, Header, Inputs, Record, SizeRatio, SizeScreen,
    Suite,
};
use nearfar_stats::estimate_median;

use crate::executor::{Executor, Failure, Rates, WindowRequest};
use crate::experiment::plan;

/// Multiples of the caches, ascending powers of two.
const MULTIPLES: [u32; 4] = [4, 8, 16, 32];
/// The multiple where nobody looked: it holds STREAM's rule for kernels with up to four arrays.
pub const DEFAULT_CACHE_MULTIPLE: u32 = 16;
/// Of chases the lines that they touch: the smallest set on memory, and those that are tried.
const CHASE_MULTIPLES: [u32; 3] = [2, 4, 8];
/// A kernel that reads and one that writes, each with one array.
const KERNELS: [&str; 2] = ["load", "store"];
/// Rounds: with fewer than six no interval of 95% exists.
const MIN_ROUNDS: u32 = 6;
const MAX_ROUNDS: u32 = 12;
const WINDOW: Duration = Duration::from_millis(20);

/// What was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct ScreenedSizes {
    /// For streams: all arrays together / the caches.
    pub multiple: u32,
    /// For chases: lines touched / the caches; `None` where none are planned.
    pub chase_multiple: Option<u32>,
    pub screen: SizeScreen,
}

impl ScreenedSizes {
    /// Inputs that plan by these sizes.
    pub fn applied(self, inputs: Inputs) -> Inputs {
        let (multiple, chases) = (Some(self.multiple), self.chase_multiple);
        Inputs {
            cache_multiple: multiple,
            chase_multiple: chases,
            size_screen: Some(self.screen),
            ..inputs
        }
    }
}

/// Looks for the sizes that a record's cases need, within about `limit`. `None` where sizes are given or no
/// case is on memory.
///
/// # Errors
/// When the program is asked to end.
pub fn screen_sizes(
    executor: &mut dyn Executor,
    header: &Header,
    rates: Rates,
    limit: Duration,
) -> Result<Option<ScreenedSizes>, Failure> {
    let inputs = &header.inputs;
    if inputs.working_set_bytes.is_some() || inputs.cache_multiple.is_some() {
        return Ok(None);
    }
    let streams = inputs.experiments.iter().any(|experiment| experiment.streams_on_memory());
    let chases = inputs.experiments.contains(&Experiment::Latency);
    if !streams && !chases {
        return Ok(None);
    }
    let mut series: Vec<Sizes> = Vec::new();
    if streams {
        series.extend(stream_series(header, executor));
    }
    if chases {
        series.extend(chase_series(header, executor));
    }
    let cut_short = keep_affordable(&mut series, rates, limit);
    let mut seen: BTreeMap<(usize, u32), Vec<f64>> = BTreeMap::new();
    let begun = executor.now();
    for round in 0..MAX_ROUNDS {
        let cases: Vec<&Case> = series.iter().flatten().map(|(_, case)| case).collect();
        executor.begin_round(&cases);
        // Sizes follow each other at once, so that what slows the machine for a while slows both.
        for (at, sizes) in series.iter().enumerate() {
            for (multiple, case) in sizes {
                let request = WindowRequest { round, first: 0, count: 1, shortest: WINDOW };
                match executor.run(case, request) {
                    Ok(windows) => seen.entry((at, *multiple)).or_default().extend(
                        windows.iter().filter_map(|window| {
                            let bytes = window.actors.first()?.useful_bytes as f64;
                            let rate = bytes / window.length.as_secs_f64();
                            (rate > 0.0 && rate.is_finite()).then_some(rate)
                        }),
                    ),
                    Err(Failure::Interrupted) => return Err(Failure::Interrupted),
                    // The record's own cases say why.
                    Err(Failure::Refused(_)) => {}
                }
            }
        }
        let ratios = ratios(&series, &seen);
        let is_decided = ratios.iter().all(|ratio| ratio.is_within() || ratio.low > 1.0);
        let took = executor.now().saturating_sub(begun);
        let next = took + took / (round + 1);
        if round + 1 >= MIN_ROUNDS && (is_decided || next > limit) {
            break;
        }
    }
    Ok(Some(choose(ratios(&series, &seen), chases, cut_short)))
}

/// The smallest multiple from which on every kernel is as fast as with twice the set; else the largest.
fn choose(ratios: Vec<SizeRatio>, chases: bool, cut_short: Option<String>) -> ScreenedSizes {
    let choose_of = |is_chase: bool, least: u32| {
        let of: Vec<&SizeRatio> =
            ratios.iter().filter(|ratio| (ratio.kernel == Chase::KERNEL) == is_chase).collect();
        let mut multiples: Vec<u32> = of.iter().map(|ratio| ratio.multiple).collect();
        multiples.sort_unstable();
        multiples.dedup();
        let is_settled = |multiple: &u32| {
            of.iter().filter(|ratio| ratio.multiple == *multiple).all(|ratio| ratio.is_within())
        };
        let found = multiples.iter().copied().find(is_settled);
        let last = multiples.last().map_or(least, |multiple| multiple * 2);
        (found.unwrap_or(last.max(least)), found.is_some())
    };
    let (multiple, streams_settled) = choose_of(false, DEFAULT_CACHE_MULTIPLE);
    let (chase_multiple, chases_settled) = choose_of(true, CHASE_MULTIPLES[0]);
    let has_streams = ratios.iter().any(|ratio| ratio.kernel != Chase::KERNEL);
    let is_settled = (streams_settled || !has_streams && chases) && (chases_settled || !chases);
    let screen = SizeScreen { ratios, is_settled, cut_short };
    ScreenedSizes { multiple, chase_multiple: chases.then_some(chase_multiple), screen }
}

/// Ratios of neighbouring sizes, round by round.
fn ratios(series: &[Sizes], seen: &BTreeMap<(usize, u32), Vec<f64>>) -> Vec<SizeRatio> {
    let mut found = Vec::new();
    for (at, sizes) in series.iter().enumerate() {
        for pair in sizes.windows(2) {
            let [(multiple, case), (twice, _)] = pair else { continue };
            let (Some(small), Some(large)) = (seen.get(&(at, *multiple)), seen.get(&(at, *twice)))
            else {
                continue;
            };
            let of_rounds: Vec<f64> =
                small.iter().zip(large).map(|(one, other)| one / other).collect();
            let (Some(estimate), Some(actor)) = (estimate_median(&of_rounds), case.actors.first())
            else {
                continue;
            };
            let kernel = match actor {
                Actor::Stream(stream) => stream.kernel.clone(),
                _ => Chase::KERNEL.into(),
            };
            let (low, high) = estimate.interval;
            let (threads, multiple, ratio) = (actor.threads(), *multiple, estimate.median);
            found.push(SizeRatio { kernel, threads, multiple, ratio, low, high });
        }
    }
    found
}

/// Leaves out the largest sizes that six rounds within the limit, or the memory, have no room for; says so.
fn keep_affordable(series: &mut [Sizes], rates: Rates, limit: Duration) -> Option<String> {
    let bytes = |case: &Case| case.actors.iter().map(Actor::working_set_bytes).sum::<u64>() as f64;
    let mut cut_short = None;
    loop {
        // A pool has the size of its largest case and is touched once in a round.
        let touched = series.iter().flatten().map(|(_, case)| bytes(case)).fold(0.0, f64::max);
        let moved: f64 = series.iter().flatten().map(|(_, case)| bytes(case)).sum();
        let round = touched / rates.touch + moved / rates.stream;
        let first = touched / rates.first_touch;
        let longest = series.iter().map(Vec::len).max().unwrap_or(0);
        if first + f64::from(MIN_ROUNDS) * round <= limit.as_secs_f64() || longest <= 2 {
            return cut_short;
        }
        for sizes in series.iter_mut().filter(|sizes| sizes.len() == longest) {
            sizes.pop();
        }
        cut_short = Some(format!("larger sizes take more than {} s", limit.as_secs()));
    }
}

/// By kernel and thread count: a case for each multiple of the caches, on the first initiator's own memory.
fn stream_series(header: &Header, executor: &dyn Executor) -> Vec<Sizes> {
    let variants = executor.variants();
    let planned = |multiple: u32| {
        let inputs = Inputs {
            suite: Suite::Quick,
            experiments: vec![Experiment::Pairs],
            group_by: nearfar_machine::GroupBy::Memory,
            kernels: Some(KERNELS.map(String::from).to_vec()),
            cache_multiple: Some(multiple),
            ..header.inputs.clone()
        };
        cases(header, inputs, Experiment::Pairs, 1, &variants)
    };
    series_of(header, &MULTIPLES, planned, |place| match place {
        Coordinates::Pairs(place) => {
            Some((place.initiator, place.memory_node, (place.kernel.clone(), place.threads)))
        }
        _ => None,
    })
}

/// The same of a chase by one thread.
fn chase_series(header: &Header, executor: &dyn Executor) -> Vec<Sizes> {
    let variants = executor.variants();
    let planned = |multiple: u32| {
        let inputs = Inputs {
            suite: Suite::Quick,
            experiments: vec![Experiment::Latency],
            chase_multiple: Some(multiple),
            ..header.inputs.clone()
        };
        cases(header, inputs, Experiment::Latency, 0, &variants)
    };
    series_of(header, &CHASE_MULTIPLES, planned, |place| match place {
        Coordinates::Latency(place) => {
            Some((place.initiator, place.memory_node, (Chase::KERNEL.into(), 1)))
        }
        _ => None,
    })
}

fn cases(
    header: &Header,
    inputs: Inputs,
    experiment: Experiment,
    phase: u32,
    variants: &crate::executor::OfferedVariants,
) -> Vec<Case> {
    let record = Record::new(Header { inputs, ..header.clone() });
    plan(experiment, phase, variants, &record).cases
}

/// Kernel and threads.
type ScreenedLoop = (String, u32);

/// Cases by multiple, ascending.
type Sizes = Vec<(u32, Case)>;

fn series_of(
    header: &Header,
    multiples: &[u32],
    planned: impl Fn(u32) -> Vec<Case>,
    place_of: impl Fn(&Coordinates) -> Option<(u32, u32, ScreenedLoop)>,
) -> Vec<Sizes> {
    let machine = &header.machine;
    let homes: BTreeMap<u32, u32> = machine
        .initiators()
        .iter()
        .filter_map(|own| Some((own.index, machine.home_memory(own)?)))
        .collect();
    let mut series: BTreeMap<(u32, ScreenedLoop), Sizes> = BTreeMap::new();
    for &multiple in multiples {
        for mut case in planned(multiple) {
            let Some((initiator, node, what)) = case.coordinates.first().and_then(&place_of) else {
                continue;
            };
            if homes.get(&initiator) != Some(&node) {
                continue;
            }
            let sizes = series.entry((initiator, what)).or_default();
            let set = case.actors.first().map(Actor::working_set_bytes);
            let last = sizes.last().and_then(|(_, case)| case.actors.first());
            // A set that memory has no room for is cut off to the size of the last.
            if set > last.map(Actor::working_set_bytes) {
                case.id = format!("size/{multiple}/{}", case.id);
                sizes.push((multiple, case));
            }
        }
    }
    let first = series.keys().next().map(|(initiator, _)| *initiator);
    let of_first = series.into_iter().filter(|((initiator, _), _)| Some(*initiator) == first);
    of_first.map(|(_, sizes)| sizes).filter(|sizes| sizes.len() > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ratios of one kernel at 4, 8 and 16 times the caches, each with this half-width.
    fn ratios(kernel: &str, of: &[(u32, f64)], half_width: f64) -> Vec<SizeRatio> {
        let ratio = |&(multiple, ratio): &(u32, f64)| SizeRatio {
            kernel: kernel.into(),
            threads: 1,
            multiple,
            ratio,
            low: ratio - half_width,
            high: ratio + half_width,
        };
        of.iter().map(ratio).collect()
    }

    #[test]
    fn the_smallest_size_is_taken_that_is_as_fast_as_twice_its_size() {
        let load = ratios("load", &[(4, 1.12), (8, 1.0), (16, 1.0)], 0.005);
        let store = ratios("store", &[(4, 1.2), (8, 1.05), (16, 1.01)], 0.005);
        let chosen = |ratios: Vec<SizeRatio>| {
            let sizes = choose(ratios, false, None);
            (sizes.multiple, sizes.screen.is_settled)
        };
        assert_eq!(chosen(load.clone()), (8, true));
        assert_eq!(chosen([load, store].concat()), (16, true), "for every kernel");
        let sound = ratios("load", &[(4, 1.0), (8, 1.0), (16, 1.0)], 0.01);
        assert_eq!(chosen(sound), (4, true));
    }

    #[test]
    fn what_never_settles_or_scatters_is_the_largest_and_marked() {
        let falling = ratios("load", &[(4, 1.3), (8, 1.2), (16, 1.1)], 0.005);
        let sizes = choose(falling, false, None);
        assert_eq!((sizes.multiple, sizes.screen.is_settled), (32, false));
        assert!(sizes.screen.farthest(16).is_some_and(|ratio| ratio.ratio > 1.05));
        let noisy = choose(ratios("load", &[(4, 1.0), (8, 1.0), (16, 1.0)], 0.05), false, None);
        assert_eq!((noisy.multiple, noisy.screen.is_settled), (32, false), "not shown is not so");
        let none = choose(Vec::new(), false, Some("no memory".into()));
        assert_eq!((none.multiple, none.screen.is_settled), (DEFAULT_CACHE_MULTIPLE, false));
    }

    #[test]
    fn chases_have_a_multiple_of_their_own() {
        let streams = ratios("load", &[(4, 1.0), (8, 1.0)], 0.001);
        let chase = ratios(Chase::KERNEL, &[(2, 1.07), (4, 1.0)], 0.001);
        let sizes = choose([streams, chase].concat(), true, None);
        assert_eq!((sizes.multiple, sizes.chase_multiple), (4, Some(4)));
        assert!(sizes.screen.is_settled);
    }
}
