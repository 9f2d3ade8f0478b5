//! The samples behind figures, as the page shows them: quantiles of all, and each sample up to a
//! budget.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use nearfar_model::RecordFigures;
use nearfar_record::{Actor, Aggregate, Case, Part, SampleTotals, Work};
use serde::Serialize;

use crate::figure::Unit;

/// Samples that a page holds in all: of six digits and a comma each, about 1.5 MB.
const BUDGET: usize = 200_000;

/// Samples of cases; none by default.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Samples {
    /// Samples that the page holds.
    pub held: usize,
    /// Samples that there are behind its figures.
    pub all: usize,
    cases: Vec<CaseSamples>,
    #[serde(skip)]
    numbers: BTreeMap<(String, &'static str), usize>,
}

/// What was taken of one case.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct CaseSamples {
    /// The case.
    case: String,
    /// What its samples count.
    unit: &'static str,
    /// Samples that there are.
    all: usize,
    /// Of these, how many something disturbed.
    disturbed: usize,
    /// The least, 5, 25, 50, 75, 95 % and the most; of the undisturbed where there are any.
    quantiles: [f64; 7],
    /// Samples, evenly chosen where there is no room for all.
    values: Vec<f64>,
    /// Which of these something disturbed.
    marked: Vec<usize>,
}

/// What the quantiles of a case are.
const QUANTILES: [f64; 7] = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0];

impl Samples {
    /// Of the cases and units that figures name.
    pub fn new(figures: &RecordFigures<'_>, wanted: &BTreeSet<(&str, &'static str)>) -> Self {
        let cases = &figures.record().cases;
        let planned: HashMap<&str, &Case> =
            cases.iter().map(|case| (case.id.as_str(), case)).collect();
        let mut taken = Vec::new();
        for &(id, unit) in wanted {
            let Some(case) = planned.get(id) else { continue };
            let values: Vec<(f64, bool)> = figures
                .samples_of(id)
                .iter()
                .filter_map(|sample| {
                    let value = value(case, &sample.totals(), unit)?;
                    Some((value, sample.is_disturbed()))
                })
                .collect();
            if !values.is_empty() {
                taken.push((id, unit, values));
            }
        }
        let counts: Vec<usize> = taken.iter().map(|(_, _, values)| values.len()).collect();
        let most = most_of_a_case(&counts, BUDGET);
        let all = counts.iter().sum();
        let mut samples = Self { held: 0, all, cases: Vec::new(), numbers: BTreeMap::new() };
        for (id, unit, values) in taken {
            let of_case = CaseSamples::new(id, unit, &values, most);
            samples.held += of_case.values.len();
            samples.numbers.insert((id.into(), unit), samples.cases.len());
            samples.cases.push(of_case);
        }
        samples
    }

    /// Where the samples of a case stand that count this; `None` where it has none.
    pub fn number(&self, case: &str, unit: &'static str) -> Option<usize> {
        self.numbers.get(&(case.to_string(), unit)).copied()
    }
}

/// A sample in a unit; `None` where it has no such value.
fn value(case: &Case, totals: &SampleTotals, unit: &str) -> Option<f64> {
    let is_chase = |position: usize| matches!(case.actors.get(position), Some(Actor::Chase(_)));
    let has_chase = case.actors.iter().any(|actor| matches!(actor, Actor::Chase(_)));
    let rate = |totals: &SampleTotals, work| totals.rate(Part::Case, work, Aggregate::Sum);
    let value = if unit == Unit::Ns.as_str() {
        // An access of a chase is 8 useful bytes.
        8e9 / rate(&totals.of_actors(is_chase), Work::UsefulBytes)
    } else if unit == Unit::GflopPerS.as_str() {
        rate(totals, Work::Flops) / 1e9
    } else if has_chase {
        rate(&totals.of_actors(|position| !is_chase(position)), Work::UsefulBytes) / 1e9
    } else {
        rate(totals, Work::UsefulBytes) / 1e9
    };
    value.is_finite().then_some(value)
}

/// How many of a case fit where all cases have the same right to a place.
fn most_of_a_case(counts: &[usize], budget: usize) -> usize {
    let mut sorted = counts.to_vec();
    sorted.sort_unstable();
    let mut left = budget;
    for (position, &count) in sorted.iter().enumerate() {
        let each = left / (sorted.len() - position);
        if count > each {
            return each;
        }
        left -= count;
    }
    sorted.last().copied().unwrap_or(0)
}

impl CaseSamples {
    fn new(case: &str, unit: &'static str, all: &[(f64, bool)], most: usize) -> Self {
        let disturbed = all.iter().filter(|(_, disturbed)| *disturbed).count();
        let only_disturbed = disturbed == all.len();
        let counted = all.iter().filter(|(_, disturbed)| only_disturbed || !disturbed);
        let mut sorted: Vec<f64> = counted.map(|(value, _)| *value).collect();
        sorted.sort_by(f64::total_cmp);
        let held = all.len().min(most);
        let chosen: Vec<(f64, bool)> =
            (0..held).filter_map(|one| all.get(one * all.len() / held).copied()).collect();
        let marked = chosen.iter().enumerate().filter(|(_, (_, disturbed))| *disturbed);
        Self {
            case: case.into(),
            unit,
            all: all.len(),
            disturbed,
            quantiles: QUANTILES.map(|share| short(quantile(&sorted, share))),
            marked: marked.map(|(position, _)| position).collect(),
            values: chosen.iter().map(|(value, _)| short(*value)).collect(),
        }
    }
}

/// The smallest value that at least this share of all is at most.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "samples of a case")]
    let rank = (share * sorted.len() as f64).ceil();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the length")]
    let rank = (rank as usize).max(1);
    sorted.get(rank - 1).copied().unwrap_or(f64::NAN)
}

/// Four significant digits.
fn short(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cases_have_the_same_right_to_a_place() {
        assert_eq!(most_of_a_case(&[6, 6, 30], 100), 30);
        assert_eq!(most_of_a_case(&[6, 6, 30, 100], 60), 24);
        assert_eq!(most_of_a_case(&[10, 10], 6), 3);
        assert_eq!(most_of_a_case(&[], 6), 0);
        assert_eq!(most_of_a_case(&[5; 10], 3), 0);
    }

    #[test]
    fn chosen_samples_are_spread_over_all_and_disturbed_ones_are_marked() {
        let all: Vec<(f64, bool)> = (0..10).map(|n| (f64::from(n), n % 4 == 0)).collect();
        let some = CaseSamples::new("c", "ns", &all, 5);
        assert_eq!((some.all, some.disturbed), (10, 3));
        assert_eq!(some.values, [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(some.marked, [0, 2, 4]);
        // 1 2 3 5 6 7 9 are undisturbed.
        assert_eq!(some.quantiles.to_vec(), [1.0, 1.0, 2.0, 5.0, 7.0, 9.0, 9.0]);
    }

    #[test]
    fn only_disturbed_samples_count_where_there_are_no_others() {
        let one = CaseSamples::new("c", "ns", &[(2.0, true)], 9);
        assert_eq!(one.quantiles.to_vec(), [2.0; 7]);
        assert_eq!(CaseSamples::new("c", "ns", &[(2.0, true)], 0).values, [0.0; 0]);
    }
}
