//! Samples while a hypervisor had the CPUs on other cores than in most.
//!
//! A guest's CPUs go from core to core of its host, and with them what they share: a cache and its way to the
//! memory, or a core's units. What a load takes from a program or a chase in one window it does not take in
//! the next, and neither figure is an error of the other. The guest does not see it but by the time that a
//! line takes between the CPUs: about 10 ns between hardware threads of a core, 25 between cores of a cache,
//! 150 between caches.

use std::collections::{HashMap, HashSet};

use nearfar_record::{CpuDistance, MovedCores, Record, Sample};
use nearfar_stats::median;

/// Between the same cores, and cores that share as much, a line does not take so many times as long.
const OTHER_CORES: f64 = 2.0;

/// Which samples of a record are of the usual cores.
#[derive(Debug)]
pub(crate) struct CoreMoves<'a> {
    /// By the two CPUs: the least and the most that a line takes between the cores that they were on most.
    usual: HashMap<[u32; 2], [f64; 2]>,
    /// Cases that have samples of the usual cores.
    judged: HashSet<&'a str>,
    pub moved: Option<MovedCores>,
}

impl<'a> CoreMoves<'a> {
    pub fn of(record: &'a Record) -> Self {
        let seen = || record.samples.iter().filter_map(|it| Some((it, it.cpu_distance?)));
        let mut by_cpus: HashMap<[u32; 2], Vec<CpuDistance>> = HashMap::new();
        for (_, distance) in seen() {
            by_cpus.entry(distance.cpus).or_default().push(distance);
        }
        let usual = by_cpus.into_iter().map(|(cpus, all)| (cpus, usual_ns(&all))).collect();
        let mut moves = Self { usual, judged: HashSet::new(), moved: None };
        let of_usual = seen().filter(|(_, distance)| moves.is_usual(distance));
        let judged = of_usual.map(|(sample, _)| sample.case.as_str()).collect();
        moves.judged = judged;
        // Of a sample during which they were moved one of both tells.
        let farther = |left_out: bool| -> Vec<f64> {
            let of_kind = seen().filter(|(sample, _)| moves.leaves_out(sample) == left_out);
            of_kind.map(|(_, it)| it.before_ns.max(it.after_ns)).collect()
        };
        let [kept, left_out] = [false, true].map(farther);
        let count = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        moves.moved = median(&kept).zip(median(&left_out)).map(|(usual_ns, other_ns)| MovedCores {
            left_out: count(left_out.len()),
            of: count(kept.len() + left_out.len()),
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
        let [least, most] = self.usual.get(&distance.cpus).copied().unwrap_or([0.0, f64::INFINITY]);
        [distance.before_ns, distance.after_ns].iter().all(|ns| (least..=most).contains(ns))
    }
}

/// Of what was seen of two CPUs, the range that holds most.
fn usual_ns(all: &[CpuDistance]) -> [f64; 2] {
    let mut ns: Vec<f64> = all.iter().flat_map(|it| [it.before_ns, it.after_ns]).collect();
    ns.sort_by(f64::total_cmp);
    let mut ranges: Vec<[f64; 2]> = Vec::new();
    for ns in ns {
        match ranges.last() {
            Some([_, most]) if ns <= *most => {}
            _ => ranges.push([ns, OTHER_CORES * ns]),
        }
    }
    let held = |[least, most]: &[f64; 2]| {
        let within = |ns: f64| (*least..=*most).contains(&ns);
        all.iter().filter(|it| within(it.before_ns) && within(it.after_ns)).count()
    };
    ranges.into_iter().max_by_key(held).unwrap_or([0.0, f64::INFINITY])
}
