//! Published families of latency over traffic: from twelve points of each, all others below 90 % of the
//! largest traffic of their read share.
//!
//! The twelve by one rule: of the least read share, the most and the middle one of the list the points
//! nearest to 0, 45, 75 and 93 % of the largest traffic.
//!
//! Families in files are judged beside them: `-- families FILE.json`, `{"50": [[GB/s, ns], ..], ..}` by
//! percent of reads, as the Mess benchmark writes them.

#![expect(clippy::print_stdout, reason = "a program for developers")]

use std::collections::BTreeMap;

use nearfar_flow::{FamilyCurve, LatencyFamily, read_machine};
use nearfar_model::{FamilyLaw, LoadedAccess};
use nearfar_stats::{median, normal_quantile};
use nearfar_units::BytesPerSecond;

/// Machines whose files have families.
const MACHINES: [&str; 6] = [
    "epyc-7742",
    "xeon-gold-5218",
    "xeon-8480",
    "xeon-8480-highmem",
    "xeon-max-9480",
    "xeon-8568-cxl",
];
const TAKEN: [f64; 4] = [0.0, 0.45, 0.75, 0.93];
const JUDGED: f64 = 0.9;
/// Relative standard deviation of the twelve, and how often it is drawn.
const NOISE: f64 = 0.05;
const TRIALS: u64 = 15;
/// Promised: median and 95th percentile of the errors, without noise and with it.
const PROMISED: [f64; 2] = [0.02, 0.07];
const PROMISED_WITH_NOISE: [f64; 2] = [0.05, 0.15];

pub fn print_errors() -> bool {
    println!("families: errors of the points that were not taken, %");
    println!(
        "  {:<26} {:>6} {:>7} {:>6} {:>8}   with 5 % noise, over {TRIALS} draws: {:>7} {:>6}",
        "machine", "points", "median", "95th", "within", "median", "95th"
    );
    let mut kept = true;
    for name in MACHINES {
        for (pair, family) in families(name) {
            kept &= print_family(&format!("{name} {}-{}", pair.0, pair.1), &family);
        }
    }
    // Nothing is promised of what others measured since.
    for file in std::env::args().filter(|word| word.ends_with(".json")) {
        print_family(&file, &family_in(&file));
    }
    kept
}

/// Prints what is told of a family by twelve of its points, and whether it is what is promised.
fn print_family(label: &str, family: &LatencyFamily) -> bool {
    let exact = Judged::of(family, &twelve(family, &mut || 0.0));
    let mut random = fastrand::Rng::with_seed(1);
    let mut noise = || NOISE * normal_quantile(random.f64().max(1e-9)).unwrap();
    let trials = (0..TRIALS).map(|_| Judged::of(family, &twelve(family, &mut noise)));
    let errors: Vec<f64> = trials.flat_map(|trial| trial.errors).collect();
    let noisy = Judged { errors, within: 0 }.quantiles();
    let [middle, most] = exact.quantiles();
    println!(
        "  {label:<26} {:>6} {:>7.2} {:>6.2} {:>6.0} %{:>43.2} {:>6.2}",
        exact.errors.len(),
        100.0 * middle,
        100.0 * most,
        100.0 * exact.within as f64 / exact.errors.len() as f64,
        100.0 * noisy[0],
        100.0 * noisy[1]
    );
    [middle, most].iter().zip(PROMISED).all(|(found, most)| *found <= most)
        && noisy.iter().zip(PROMISED_WITH_NOISE).all(|(found, most)| *found <= most)
}

/// A family of a file, by ascending read share and traffic.
fn family_in(file: &str) -> LatencyFamily {
    let text = std::fs::read_to_string(file).unwrap();
    let read: BTreeMap<String, Vec<(f64, f64)>> = serde_json::from_str(&text).unwrap();
    let curve = |(percent, points): (String, Vec<(f64, f64)>)| {
        let mut points: Vec<(f64, f64)> = points.iter().map(|&(gb, ns)| (1e9 * gb, ns)).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        FamilyCurve { read_share: percent.parse::<f64>().unwrap() / 100.0, points }
    };
    let mut curves: Vec<FamilyCurve> = read.into_iter().map(curve).collect();
    curves.sort_by(|one, other| one.read_share.total_cmp(&other.read_share));
    LatencyFamily { curves }
}

/// The families of a machine, each once, with the pair that has it.
fn families(name: &str) -> Vec<((usize, usize), LatencyFamily)> {
    let machine = read_machine(name).unwrap();
    let mut found: Vec<((usize, usize), LatencyFamily)> = Vec::new();
    for (row, of_row) in machine.latency.families.iter().enumerate() {
        for (column, family) in of_row.iter().enumerate() {
            let is_new = |it: &&LatencyFamily| found.iter().all(|(_, known)| known != *it);
            found.extend(family.iter().find(is_new).map(|it| ((row, column), it.clone())));
        }
    }
    found
}

/// The twelve, each off by as much as drawn.
fn twelve(family: &LatencyFamily, off: &mut dyn FnMut() -> f64) -> Vec<LoadedAccess> {
    let curves = &family.curves;
    let places = [0, curves.len() / 2, curves.len() - 1];
    let of_curve = |curve: &FamilyCurve| {
        TAKEN.map(|part| {
            let far = |at: f64| (at - part * curve.most_traffic()).abs();
            let nearest = curve.points.iter().min_by(|a, b| far(a.0).total_cmp(&far(b.0)));
            let &(traffic, ns) = nearest.unwrap();
            LoadedAccess { read_share: curve.read_share, traffic, ns }
        })
    };
    let taken = places.into_iter().flat_map(|place| of_curve(&curves[place]));
    taken.map(|point| LoadedAccess { ns: point.ns * (1.0 + off()), ..point }).collect()
}

struct Judged {
    errors: Vec<f64>,
    /// How many lie in the interval of 95 %.
    within: usize,
}

impl Judged {
    fn of(family: &LatencyFamily, taken: &[LoadedAccess]) -> Self {
        let law = FamilyLaw::through(taken, Vec::new()).unwrap();
        let mut judged = Self { errors: Vec::new(), within: 0 };
        for curve in &family.curves {
            for &(traffic, ns) in &curve.points {
                let is_taken =
                    |it: &LoadedAccess| (it.read_share, it.traffic) == (curve.read_share, traffic);
                if traffic >= JUDGED * curve.most_traffic() || taken.iter().any(is_taken) {
                    continue;
                }
                let found = law.time(curve.read_share, BytesPerSecond(traffic));
                let error =
                    found.as_ref().map_or(f64::INFINITY, |it| (it.value.0 / ns - 1.0).abs());
                judged.errors.push(error);
                let ends = found.ok().and_then(|it| it.interval);
                let holds = ends.is_some_and(|[low, high]| (low.0..=high.0).contains(&ns));
                judged.within += usize::from(holds);
            }
        }
        judged
    }

    /// Median and 95th percentile.
    fn quantiles(&self) -> [f64; 2] {
        let mut sorted = self.errors.clone();
        sorted.sort_by(f64::total_cmp);
        [median(&sorted).unwrap(), sorted[(sorted.len() - 1) * 95 / 100]]
    }
}
