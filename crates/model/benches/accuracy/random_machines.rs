//! The table of rates on random machines.

use std::collections::BTreeMap;

use fastrand::Rng;
use nearfar_model::{ClassRule, RecordFigures, classes};
use nearfar_record::Record;
use nearfar_stats::{PartitionRule, normal_quantile, partition};

use crate::random_matrix::{FAMILY, Family, RandomMatrix, Verdict};
use crate::tolerance_inside;

/// Machines of each row.
const MACHINES: u32 = 1000;

/// A row of the table.
struct Row {
    what: String,
    family: Family,
    /// Rate of the right number that is promised.
    promised: Option<f64>,
}

/// How many machines a rule got right.
struct Tally {
    number: u32,
    pairs: u32,
}

impl Tally {
    fn count(&mut self, verdict: Verdict) {
        self.number += u32::from(verdict.number);
        self.pairs += u32::from(verdict.pairs);
    }

    fn rate(&self) -> f64 {
        f64::from(self.number) / f64::from(MACHINES)
    }

    fn text(&self) -> String {
        let percent = |count: u32| 100.0 * f64::from(count) / f64::from(MACHINES);
        format!("{:>5.1} ({:>5.1})", percent(self.number), percent(self.pairs))
    }
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |what: &str, family: Family, promised| {
        for nodes in [(4, 16), (4, 4), (8, 8), (16, 16)] {
            rows.push(Row { what: what.into(), family: Family { nodes, ..family }, promised });
        }
    };
    add("gaps 15-45 %, best of 5", FAMILY, Some(0.97));
    add("gaps 15 %, best of 5", Family { gap: (0.15, 0.15), ..FAMILY }, Some(0.97));
    add("2 % of runs slowed, best of 5", Family { disturbed: 0.02, ..FAMILY }, None);
    add("gaps 10-15 %, best of 5", Family { gap: (0.10, 0.15), ..FAMILY }, None);
    add("gaps 10-12 %, best of 5", Family { gap: (0.10, 0.12), ..FAMILY }, None);
    add("noise 5 %, best of 5", Family { noise: 0.05, ..FAMILY }, None);
    for (percent, spread) in [(4, 0.04), (6, 0.06), (8, 0.08)] {
        add(&format!("spread {percent} %, best of 5"), Family { spread, ..FAMILY }, None);
    }
    let lowered = Family { one_sided: true, ..FAMILY };
    add("only lowered 2 %, gaps 15 %", Family { gap: (0.15, 0.15), ..lowered }, None);
    add("only lowered 2 %, gaps 10-12 %", Family { gap: (0.10, 0.12), ..lowered }, None);
    add("only lowered 5 %, gaps 15-45 %", Family { noise: 0.05, ..lowered }, None);
    add(
        "only lowered 5 %, gaps 10-12 %",
        Family { noise: 0.05, gap: (0.10, 0.12), ..lowered },
        None,
    );
    for (percent, spread) in [(4, 0.04), (6, 0.06), (8, 0.08)] {
        add(&format!("only lowered 2 %, spread {percent} %"), Family { spread, ..lowered }, None);
    }
    add("gaps 15-45 %, one run", Family { runs: 1, ..FAMILY }, None);
    add("gaps 10-15 %, one run", Family { gap: (0.10, 0.15), runs: 1, ..FAMILY }, None);
    for (percent, spread) in [(4, 0.04), (6, 0.06), (8, 0.08)] {
        add(&format!("spread {percent} %, one run"), Family { spread, runs: 1, ..FAMILY }, None);
    }
    rows
}

/// Prints the rates; whether all that are promised were reached.
#[expect(clippy::print_stdout, reason = "the table is the result")]
pub fn print_rates() -> bool {
    println!(
        "Classes of random machines of 2 to 6 classes, noise 2 % a run, {MACHINES} machines a row: \
         share with the right number\nof classes, in brackets with every pair in its class, in \
         percent.\n  record  what the library says of the record\n  told    the same rule, told \
         the true noise of a value\n  gaps    the same rule, the noise of a value from the distance of the best to the \
         second best round\n  inside  the other reading, told the true noise: noise widens \
         classes while they are formed\n"
    );
    println!(
        "{:<30} {:>5}  {:>13}  {:>13}  {:>13}  {:>13}  promised",
        "", "nodes", "record", "told", "gaps", "inside"
    );
    let mut kept = true;
    for row in rows() {
        let (low, high) = row.family.nodes;
        let error = true_error(&row.family);
        let mut random = Rng::with_seed(u64::from(100 * low + high));
        let mut tallies = [const { Tally { number: 0, pairs: 0 } }; 4];
        for _ in 0..MACHINES {
            let machine = row.family.draw(&mut random);
            for (tally, verdict) in tallies.iter_mut().zip(judge(&machine, error)) {
                tally.count(verdict);
            }
        }
        let missed = row.promised.is_some_and(|promised| tallies[0].rate() < promised);
        kept &= !missed;
        let nodes = if low == high { low.to_string() } else { format!("{low}-{high}") };
        let [record, told, gaps, inside] = tallies.map(|tally| tally.text());
        let promised = row.promised.map_or_else(|| "-".into(), |rate| (100.0 * rate).to_string());
        let missed = if missed { "  MISSED" } else { "" };
        println!(
            "{:<30} {nodes:>5}  {record}  {told}  {gaps}  {inside}  {promised}{missed}",
            row.what
        );
    }
    kept
}

/// By the rule from a record, by the same told the noise or working it out in another way,
/// and by the other reading.
fn judge(machine: &RandomMatrix, error: f64) -> [Verdict; 4] {
    let rule = ClassRule::default();
    let found = classes(&RecordFigures::new(&machine.record), &rule).unwrap();
    let best: BTreeMap<(u32, u32), f64> = found.sets[0]
        .classes
        .iter()
        .flat_map(|class| &class.pairs)
        .map(|pair| ((pair.cpu_group, pair.memory_node), pair.best))
        .collect();
    let values: Vec<f64> = best.into_values().collect();
    let told = partition(&values, &PartitionRule { span: rule.span, noise: Some(error) }).unwrap();
    let told: Vec<Vec<usize>> = told.into_iter().map(|part| part.members).collect();
    let inside = tolerance_inside::partition(&values, rule.span, error);
    let of_gaps = PartitionRule { span: rule.span, noise: error_by_gaps(&machine.record) };
    let gaps = partition(&values, &of_gaps).unwrap();
    let gaps: Vec<Vec<usize>> = gaps.into_iter().map(|part| part.members).collect();
    [
        machine.judge_classes(&found),
        machine.judge(&told),
        machine.judge(&gaps),
        machine.judge(&inside),
    ]
}

/// The true standard error of a best round: the standard deviation of the best of this many
/// over their quantiles.
fn true_error(family: &Family) -> f64 {
    const STEPS: u32 = 20_000;
    let (mut mean, mut square) = (0.0, 0.0);
    for step in 0..STEPS {
        let of_best = (f64::from(step) + 0.5) / f64::from(STEPS);
        let of_run = of_best.powf(1.0 / f64::from(family.runs));
        // -|z| is below x as often as z is below x or above -x.
        let of_normal = if family.one_sided { of_run / 2.0 } else { of_run };
        let run = normal_quantile(of_normal).unwrap();
        mean += run / f64::from(STEPS);
        square += run * run / f64::from(STEPS);
    }
    family.noise * (square - mean * mean).sqrt()
}

/// Standard error of a best round by how far it is above the second best: the mean distance,
/// by its median as for exponentially distributed ones. It is near the truth for the normal
/// distribution (0.668 and 0.669 standard deviations for five) and for half of one.
fn error_by_gaps(record: &Record) -> Option<f64> {
    let mut rounds: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for sample in &record.samples {
        rounds.entry(&sample.case).or_default().push(sample.actors[0].useful_bytes);
    }
    let gap = |mut rounds: Vec<u64>| {
        rounds.sort_unstable();
        let (&best, rest) = rounds.split_last()?;
        Some((best as f64 / *rest.last()? as f64).ln())
    };
    let gaps: Vec<f64> = rounds.into_values().filter_map(gap).collect();
    Some(nearfar_stats::median(&gaps)? / std::f64::consts::LN_2)
}
