//! Samples while a hypervisor had the CPUs on other cores than in most.
//!
//! A guest's CPUs go from core to core of its host, and with them what they share: a cache and its way to the
//! memory, or a core's units. What a load takes from a program or a chase in one window it does not take in
//! the next, and neither figure is an error of the other. The guest does not see it but by the time that a
//! line takes between the CPUs: 24 to 63 ns within a cache of an EPYC, and 145 to 250 between two
//! (docs/models/programs.md).

use std::collections::{HashMap, HashSet};

use nearfar_record::{CpuDistance, MovedCores, Record, Sample};
use nearfar_stats::median;

/// Times of a line without a gap of this factor are of the same cores: within a cache they lie by each other,
/// and what is between two caches lies by itself.
const NEIGHBOURS: f64 = 1.25;

/// Of all times the part that must be within that factor of one for others to be reached by it: a few lie
/// anywhere.
const DENSE: f64 = 0.02;

/// Other cores' times are from the usual ones at least this factor.
const OTHER_CORES: f64 = 1.5;

/// Which samples of a record are of the usual cores.
#[derive(Debug)]
pub(crate) struct CoreMoves<'a> {
    /// By the two CPUs: the least and the most that a line takes between the cores that they were on most; none
    /// where nobody looked.
    usual: HashMap<[u32; 2], [f64; 2]>,
    /// Cases that have samples of the usual cores.
    judged: HashSet<&'a str>,
    pub moved: Option<MovedCores>,
}

impl<'a> CoreMoves<'a> {
    /// Of a guest's record: elsewhere a slow clock makes lines slow, and nobody moves CPUs.
    pub fn of(record: &'a Record) -> Self {
        let mut moves = Self { usual: HashMap::new(), judged: HashSet::new(), moved: None };
        if record.header.environment.known_hypervisor().is_none() {
            return moves;
        }
        let seen: Vec<(&Sample, CpuDistance)> =
            record.samples.iter().filter_map(|it| Some((it, it.cpu_distance?))).collect();
        let mut by_cpus: HashMap<[u32; 2], Vec<[f64; 2]>> = HashMap::new();
        for (_, distance) in &seen {
            by_cpus.entry(distance.cpus).or_default().push(both_ns(distance));
        }
        moves.usual = by_cpus.into_iter().map(|(cpus, all)| (cpus, usual_ns(&all))).collect();
        let undisturbed: HashSet<&str> = (seen.iter())
            .filter(|(sample, _)| !sample.is_disturbed())
            .map(|(sample, _)| sample.case.as_str())
            .collect();
        let counts =
            |sample: &Sample| !sample.is_disturbed() || !undisturbed.contains(sample.case.as_str());
        let of_usual = seen.iter().filter(|(sample, it)| counts(sample) && moves.is_usual(it));
        moves.judged = of_usual.map(|(sample, _)| sample.case.as_str()).collect();
        let (left_out, kept): (Vec<_>, Vec<_>) =
            seen.iter().partition(|(sample, _)| moves.leaves_out(sample));
        // Of a sample during which they were moved one of both is usual.
        let other = left_out.iter().flat_map(|(_, it)| {
            both_ns(it).into_iter().filter(|&ns| !moves.is_usual_ns(it.cpus, ns))
        });
        let usual = kept.iter().flat_map(|(_, it)| both_ns(it));
        let medians =
            median(&usual.collect::<Vec<f64>>()).zip(median(&other.collect::<Vec<f64>>()));
        let count = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        moves.moved = medians.map(|(usual_ns, other_ns)| MovedCores {
            left_out: count(left_out.len()),
            of: count(seen.len()),
            usual_ns,
            other_ns,
        });
        moves
    }

    /// Whether a sample says nothing beside those of its case: those of the usual cores are others.
    pub fn leaves_out(&self, sample: &Sample) -> bool {
        let is_other = sample.cpu_distance.is_some_and(|it| !self.is_usual(&it));
        is_other && self.judged.contains(sample.case.as_str())
    }

    fn is_usual(&self, distance: &CpuDistance) -> bool {
        both_ns(distance).into_iter().all(|ns| self.is_usual_ns(distance.cpus, ns))
    }

    fn is_usual_ns(&self, cpus: [u32; 2], ns: f64) -> bool {
        self.usual.get(&cpus).is_none_or(|[least, most]| (*least..=*most).contains(&ns))
    }
}

fn both_ns(distance: &CpuDistance) -> [f64; 2] {
    [distance.before_ns, distance.after_ns]
}

/// Of what was seen of two CPUs before and after samples the range that holds most samples, of two such the
/// nearer: of the ranges without a gap, by which density-based clustering divides them (Ester et al., KDD 1996).
fn usual_ns(all: &[[f64; 2]]) -> [f64; 2] {
    let mut ns: Vec<f64> = all.iter().flatten().copied().collect();
    ns.sort_by(f64::total_cmp);
    let up_to = |most: f64| ns.partition_point(|&it| it <= most);
    let around = |it: f64| up_to(NEIGHBOURS * it) - up_to(it / NEIGHBOURS);
    let dense = ns.iter().copied().filter(|&it| around(it) as f64 >= DENSE * ns.len() as f64);
    let mut ranges: Vec<[f64; 2]> = Vec::new();
    for it in dense {
        match ranges.last_mut() {
            Some([_, most]) if it <= NEIGHBOURS * *most => *most = it,
            _ => ranges.push([it, it]),
        }
    }
    let widened = ranges.into_iter().map(|[least, most]| [least / OTHER_CORES, OTHER_CORES * most]);
    let held = |[least, most]: &[f64; 2]| {
        all.iter().filter(|both| both.iter().all(|ns| (*least..=*most).contains(ns))).count()
    };
    widened.rev().max_by_key(held).unwrap_or([0.0, f64::INFINITY])
}
