//! Which machines fall short of their peers. The first measurement only chooses who is measured again, at most
//! twice; bad is who falls short in all of them together by more than chance gives any machine of the fleet, and in
//! those alone that came after the choice.

use std::collections::BTreeMap;

use nearfar_stats::OF_MAD;
use serde::Serialize;

use crate::parts::{MachinePart, PartSort, PartTest};
use crate::peers::{Peers, critical, median_of};
use crate::verdict::VerdictKind;

/// A loss below this fraction does not matter.
pub const FLEET_FLOOR: f64 = 0.03;

/// The probability that a machine of a fleet of sound ones is called bad (family-wise error rate).
const FAMILY_ERROR: f64 = 0.001;

/// Standardised loss that the measurements after the first must show by themselves.
const REPEATED: f64 = 3.0;

/// Standard errors by which a loss may fall below the floor and still be it.
const FLOOR_ERRORS: f64 = 2.0;

/// Measurements after which nothing is asked for again.
const MOST_MEASUREMENTS: usize = 3;

/// Share of sound machines that each sort of part may ask to be measured again, together below 5 %. Memories
/// have most: a slow module is what is looked for, and its cells are few.
fn again_share(sort: PartSort) -> f64 {
    match sort {
        PartSort::Machine => 0.001,
        PartSort::Memory => 0.032,
        PartSort::Initiator => 0.004,
        PartSort::Link => 0.006,
        PartSort::Cell => 0.003,
    }
}

/// Fewer differences between measurements of one machine say nothing of how far it repeats itself.
const FEWEST_DIFFERENCES: usize = 8;

/// What falls short.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shortfall {
    pub part: MachinePart,
    /// The cells that show it most, by their id without places.
    pub series: String,
    /// How much of what its peers have there it has, of the median over its measurements.
    pub ratio: f64,
    /// How far below its peers, as standard deviations of a normal number.
    pub score: f64,
    /// Further series of cells that show it.
    pub further_series: usize,
}

impl Shortfall {
    /// Which part, in a few words.
    pub fn part_words(&self) -> String {
        match &self.part {
            MachinePart::Machine => "whole machine".into(),
            MachinePart::Memory(node) => format!("memory of node {node}"),
            MachinePart::Initiator(initiator) => format!("CPUs of initiator {initiator}"),
            MachinePart::Link(from, to) => format!("link of packages {from} and {to}"),
            MachinePart::Cell(case) => case.clone(),
        }
    }

    /// In a few words.
    pub fn words(&self) -> String {
        format!("{} {:.1} %", self.part_words(), 100.0 * (self.ratio - 1.0))
    }
}

/// What is made of one machine.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judgement {
    pub verdict: VerdictKind,
    /// The largest first.
    pub shortfalls: Vec<Shortfall>,
    /// How much of its peers' medians the machine has over all cells, by its last measurement.
    pub ratio: f64,
}

/// Thresholds of a group's tests.
struct Thresholds {
    again: Vec<f64>,
    bad: Vec<f64>,
    /// Of the variance of a first measurement, the part that differs from one to the next.
    within: BTreeMap<PartSort, f64>,
    /// ln, above 0.
    floor: f64,
}

/// Judges the machines of a group, each by its measurements (ln of figures, more is better). `family` is how many
/// tests are made in the fleet.
pub(crate) fn judge(
    peers: &Peers,
    machines: &[Vec<Vec<f64>>],
    family: f64,
    floor: f64,
) -> Vec<Judgement> {
    let mut thresholds = Thresholds::new(peers, family, floor);
    let scores: Vec<Vec<Vec<f64>>> = machines
        .iter()
        .map(|runs| {
            let standardised = |gains: &Vec<f64>| -> Vec<f64> {
                let statistics = peers.statistics(gains);
                let norms = statistics.iter().zip(&peers.norms);
                norms.map(|(statistic, norm)| (statistic - norm.center) / norm.spread).collect()
            };
            runs.iter().map(standardised).collect()
        })
        .collect();
    thresholds.learn(peers, &scores);
    let judged = machines.iter().zip(&scores);
    judged.map(|(runs, scores)| thresholds.judge_one(peers, runs, scores)).collect()
}

impl Thresholds {
    fn new(peers: &Peers, family: f64, floor: f64) -> Self {
        let mut of_sort = BTreeMap::<PartSort, f64>::new();
        for test in &peers.tests {
            *of_sort.entry(test.part.sort()).or_default() += 1.0;
        }
        let again = |test: &PartTest| {
            let sort = test.part.sort();
            again_share(sort) / of_sort[&sort]
        };
        let tests = || peers.tests.iter().zip(&peers.norms);
        Self {
            again: tests().map(|(test, norm)| critical(again(test), norm.values)).collect(),
            bad: tests().map(|(_, norm)| critical(FAMILY_ERROR / family, norm.values)).collect(),
            within: BTreeMap::new(),
            floor: -(-floor).ln_1p(),
        }
    }

    /// How far machines repeat themselves, by those that were measured twice; what was chosen for is left out,
    /// because it was chosen for its luck as well.
    fn learn(&mut self, peers: &Peers, scores: &[Vec<Vec<f64>>]) {
        let mut differences: BTreeMap<PartSort, Vec<f64>> = BTreeMap::new();
        for runs in scores {
            let [first, second, ..] = runs.as_slice() else { continue };
            for (position, test) in peers.tests.iter().enumerate() {
                let difference = (second[position] - first[position]).abs() / 2_f64.sqrt();
                if difference.is_finite() && first[position] > -self.again[position] {
                    differences.entry(test.part.sort()).or_default().push(difference);
                }
            }
        }
        let enough = differences.into_iter().filter(|(_, of)| of.len() >= FEWEST_DIFFERENCES);
        self.within = enough
            .filter_map(|(sort, mut of)| {
                Some((sort, (OF_MAD * median_of(&mut of)?).powi(2).min(1.0)))
            })
            .collect();
    }

    /// Standard deviation of the mean of `count` measurements / that of one.
    fn scale(&self, sort: PartSort, count: f64) -> f64 {
        let within = self.within.get(&sort).copied().unwrap_or_default();
        (1.0 - within + within / count).sqrt()
    }

    fn judge_one(&self, peers: &Peers, runs: &[Vec<f64>], scores: &[Vec<f64>]) -> Judgement {
        let mut verdict = VerdictKind::Good;
        let mut found: Vec<(usize, f64, VerdictKind)> = Vec::new();
        let mut told = 0;
        for (position, test) in peers.tests.iter().enumerate() {
            let of_runs: Vec<f64> =
                scores.iter().map(|of| of[position]).filter(|it| it.is_finite()).collect();
            let Some(kind) = self.kind(test, position, peers.norms[position].spread, &of_runs)
            else {
                continue;
            };
            told += 1;
            if kind != VerdictKind::Good {
                found.push((
                    position,
                    mean(&of_runs) / self.scale(test.part.sort(), of_runs.len() as f64),
                    kind,
                ));
                verdict = verdict.max(kind);
            }
        }
        if 2 * told < peers.tests.len() {
            verdict = verdict.max(VerdictKind::Unknown);
        }
        found.retain(|(_, _, kind)| *kind == verdict || verdict == VerdictKind::Unknown);
        let last = runs.last().map_or(&[][..], Vec::as_slice);
        let mut all: Vec<f64> = last
            .iter()
            .zip(&peers.centers)
            .map(|(gain, center)| gain - center)
            .filter(|it| it.is_finite())
            .collect();
        Judgement {
            verdict,
            shortfalls: shortfalls(peers, runs, found),
            ratio: median_of(&mut all).map_or(f64::NAN, f64::exp),
        }
    }

    /// What a part's standardised measurements come to; `None` where there is none.
    fn kind(
        &self,
        test: &PartTest,
        position: usize,
        spread: f64,
        scores: &[f64],
    ) -> Option<VerdictKind> {
        let sort = test.part.sort();
        let beyond = |scores: &[f64], threshold: f64| {
            let scale = self.scale(sort, scores.len() as f64);
            let middle = mean(scores);
            middle / scale < -threshold && (FLOOR_ERRORS * scale - middle) * spread > self.floor
        };
        let again = self.again[position];
        Some(match scores {
            [] => return None,
            [_] if beyond(scores, again) => VerdictKind::Again,
            [_] => VerdictKind::Good,
            [_, later @ ..] if beyond(scores, self.bad[position]) && beyond(later, REPEATED) => {
                VerdictKind::Bad
            }
            _ if scores.len() < MOST_MEASUREMENTS && beyond(scores, again) => VerdictKind::Again,
            _ => VerdictKind::Good,
        })
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The findings that no larger one of the same cells explains, those of one part together.
fn shortfalls(
    peers: &Peers,
    runs: &[Vec<f64>],
    mut found: Vec<(usize, f64, VerdictKind)>,
) -> Vec<Shortfall> {
    // What explains many cells stands before any of them.
    let is_cell = |position: usize| peers.tests[position].part.sort() == PartSort::Cell;
    found.sort_by(|a, b| is_cell(a.0).cmp(&is_cell(b.0)).then(a.1.total_cmp(&b.1)));
    let mut kept: Vec<&PartTest> = Vec::new();
    let mut shortfalls: Vec<Shortfall> = Vec::new();
    for (position, score, _) in found {
        let test = &peers.tests[position];
        let is_explained = kept.iter().any(|known| {
            known.series == test.series
                && test.inside.iter().any(|cell| known.inside.contains(cell))
        });
        if is_explained {
            continue;
        }
        kept.push(test);
        if let Some(known) = shortfalls.iter_mut().find(|it| it.part == test.part) {
            known.further_series += 1;
            continue;
        }
        let mut ratios: Vec<f64> = runs.iter().map(|gains| peers.ratio(test, gains)).collect();
        shortfalls.push(Shortfall {
            part: test.part.clone(),
            series: peers.series[test.series].name.clone(),
            ratio: median_of(&mut ratios).unwrap_or(f64::NAN),
            score,
            further_series: 0,
        });
    }
    shortfalls
}
