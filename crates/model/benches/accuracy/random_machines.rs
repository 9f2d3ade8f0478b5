//! The table of rates on random machines.

use std::collections::BTreeMap;

use fastrand::Rng;
use nearfar_model::{ClassRule, classes};
use nearfar_stats::{PartitionRule, partition};

use crate::random_matrix::{Family, RandomMatrix, Verdict};
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

const FAMILY: Family =
    Family { nodes: (4, 16), gap: (0.15, 0.45), spread: 0.0, noise: 0.02, disturbed: 0.0, runs: 5 };

/// How many machines a rule got right.
#[derive(Default)]
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
         the true noise of a value\n  inside  the other reading, told the true noise: noise widens \
         classes while they are formed\n"
    );
    println!(
        "{:<30} {:>5}  {:>13}  {:>13}  {:>13}  promised",
        "", "nodes", "record", "told", "inside"
    );
    let mut kept = true;
    for row in rows() {
        let (low, high) = row.family.nodes;
        let mut random = Rng::with_seed(u64::from(100 * low + high));
        let mut tallies = [Tally::default(), Tally::default(), Tally::default()];
        for _ in 0..MACHINES {
            let machine = row.family.draw(&mut random);
            for (tally, verdict) in tallies.iter_mut().zip(judge(&machine, &row.family)) {
                tally.count(verdict);
            }
        }
        let missed = row.promised.is_some_and(|promised| tallies[0].rate() < promised);
        kept &= !missed;
        let nodes = if low == high { low.to_string() } else { format!("{low}-{high}") };
        let [record, told, inside] = tallies.map(|tally| tally.text());
        let promised = row.promised.map_or_else(|| "-".into(), |rate| (100.0 * rate).to_string());
        let missed = if missed { "  MISSED" } else { "" };
        println!("{:<30} {nodes:>5}  {record}  {told}  {inside}  {promised}{missed}", row.what);
    }
    kept
}

/// By the rule from a record, by the same told the noise, and by the other reading.
fn judge(machine: &RandomMatrix, family: &Family) -> [Verdict; 3] {
    let rule = ClassRule::default();
    let found = classes(&machine.record, &rule).unwrap();
    let best: BTreeMap<(u32, u32), f64> = found.sets[0]
        .classes
        .iter()
        .flat_map(|class| &class.pairs)
        .map(|pair| ((pair.initiator, pair.memory_node), pair.best))
        .collect();
    let values: Vec<f64> = best.into_values().collect();
    let runs = usize::try_from(family.runs).unwrap();
    let error = family.noise * nearfar_stats::deviation_of_largest(runs);
    let told = partition(&values, &PartitionRule { span: rule.span, noise: Some(error) }).unwrap();
    let told: Vec<Vec<usize>> = told.into_iter().map(|part| part.members).collect();
    let inside = tolerance_inside::partition(&values, rule.span, error);
    [machine.judge_classes(&found), machine.judge(&told), machine.judge(&inside)]
}
