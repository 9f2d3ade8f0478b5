//! The samples behind figures, as the page shows them: quantiles of all, and each sample up to a
//! budget.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use nearfar_model::RecordFigures;
use nearfar_record::{Actor, Aggregate, Case, Part, SampleTotals, Work};
use serde::Serialize;

use crate::figure::{Behind, Counted};
use crate::rounding::rounded;

/// Samples that a page holds in all: of four digits and a comma each, about 1 MB.
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
    numbers: BTreeMap<Behind, usize>,
}

/// What was taken of one case.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct CaseSamples {
    #[serde(flatten)]
    behind: Behind,
    /// What they count.
    unit: &'static str,
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

const QUANTILES: [f64; 7] = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0];

impl Samples {
    /// Those that figures name.
    pub fn new(figures: &RecordFigures<'_>, wanted: BTreeSet<Behind>) -> Self {
        let cases = &figures.record().cases;
        let planned: HashMap<&str, &Case> =
            cases.iter().map(|case| (case.id.as_str(), case)).collect();
        let mut taken = Vec::new();
        for behind in wanted {
            let Some(case) = planned.get(behind.case.as_str()) else { continue };
            let totals = figures.of_case(case).totals();
            let values: Vec<(f64, bool)> = totals
                .iter()
                .filter_map(|totals| {
                    Some((value(case, totals, behind.counted)?, totals.is_disturbed()))
                })
                .collect();
            if !values.is_empty() {
                taken.push((behind, values));
            }
        }
        let counts: Vec<usize> = taken.iter().map(|(_, values)| values.len()).collect();
        let most = most_of_a_case(&counts, BUDGET);
        let all = counts.iter().sum();
        let mut samples = Self { held: 0, all, cases: Vec::new(), numbers: BTreeMap::new() };
        for (behind, values) in taken {
            let of_case = CaseSamples::new(behind.clone(), &values, most);
            samples.held += of_case.values.len();
            samples.numbers.insert(behind, samples.cases.len());
            samples.cases.push(of_case);
        }
        samples
    }

    /// Where these samples stand; `None` where there are none.
    pub fn number(&self, behind: &Behind) -> Option<usize> {
        self.numbers.get(behind).copied()
    }
}

/// What is counted of a sample; `None` where it has no such value.
fn value(case: &Case, totals: &SampleTotals, counted: Counted) -> Option<f64> {
    let rate = |part, work, aggregate| totals.rate(part, work, aggregate);
    let (bytes, sum) = (Work::UsefulBytes, Aggregate::Sum);
    let value = match counted {
        Counted::Bytes => rate(Part::Case, bytes, sum) / 1e9,
        Counted::PacedBytes => rate(Part::Case, bytes, Aggregate::Paced) / 1e9,
        Counted::ActorBytes(actor) => rate(Part::Actor(actor), bytes, sum) / 1e9,
        Counted::ActorFlops(actor) => rate(Part::Actor(actor), Work::Flops, sum) / 1e9,
        Counted::ActorShare(actor) => {
            rate(Part::Actor(actor), bytes, sum) / rate(Part::Case, bytes, sum)
        }
        Counted::AccessTime => {
            let chase = case.actors.iter().position(|actor| matches!(actor, Actor::Chase(_)))?;
            // An access of a chase is 8 useful bytes.
            8e9 / rate(Part::Actor(chase), bytes, sum)
        }
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
    fn new(behind: Behind, all: &[(f64, bool)], most: usize) -> Self {
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
            unit: behind.counted.unit().as_str(),
            behind,
            all: all.len(),
            disturbed,
            quantiles: QUANTILES.map(|share| short(quantile(&sorted, share))),
            marked: marked.map(|(position, _)| position).collect(),
            values: chosen.iter().map(|(value, _)| short(*value)).collect(),
        }
    }
}

/// Between the two values next to that share of the ranks, as the median is.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = share * sorted.len().saturating_sub(1) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the length")]
    let below = rank.floor() as usize;
    let Some(&low) = sorted.get(below) else { return f64::NAN };
    let high = sorted.get(below + 1).copied().unwrap_or(low);
    low + (high - low) * rank.fract()
}

/// Four significant digits.
fn short(value: f64) -> f64 {
    rounded(value, 4)
}

#[cfg(test)]
mod tests {
    use nearfar_flow::read_machine;
    use nearfar_measure::{simulated::simulate, suite_inputs};
    use nearfar_model::ModelChoices;
    use nearfar_record::{Experiment, Inputs, Record, Suite};

    use serde_json::Value;

    use super::*;
    use crate::charts;
    use crate::document::Document;
    use crate::figure::Figure;
    use crate::page::behind;
    use crate::subject::Sources;
    use crate::table::Cell;

    #[test]
    fn all_cases_have_the_same_right_to_a_place() {
        assert_eq!(most_of_a_case(&[6, 6, 30], 100), 30);
        assert_eq!(most_of_a_case(&[6, 6, 30, 100], 60), 24);
        assert_eq!(most_of_a_case(&[10, 10], 6), 3);
        assert_eq!(most_of_a_case(&[], 6), 0);
        assert_eq!(most_of_a_case(&[5; 10], 3), 0);
    }

    fn of(all: &[(f64, bool)], most: usize) -> CaseSamples {
        let behind = Behind { case: "c".into(), counted: Counted::AccessTime };
        CaseSamples::new(behind, all, most)
    }

    #[test]
    fn chosen_samples_are_spread_over_all_and_disturbed_ones_are_marked() {
        let all: Vec<(f64, bool)> = (0..10).map(|n| (f64::from(n), n % 4 == 0)).collect();
        let some = of(&all, 5);
        assert_eq!((some.all, some.disturbed, some.unit), (10, 3, "ns"));
        assert_eq!(some.values, [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(some.marked, [0, 2, 4]);
        // 1 2 3 5 6 7 9 are undisturbed.
        assert_eq!(some.quantiles.to_vec(), [1.0, 1.3, 2.5, 5.0, 6.5, 8.4, 9.0]);
    }

    #[test]
    fn the_middle_of_an_even_number_lies_between() {
        let four = [4.0, 1.0, 3.0, 2.0].map(|value| (value, false));
        assert_eq!(of(&four, 9).quantiles[3].to_bits(), 2.5_f64.to_bits());
    }

    #[test]
    fn only_disturbed_samples_count_where_there_are_no_others() {
        assert_eq!(of(&[(2.0, true)], 9).quantiles.to_vec(), [2.0; 7]);
        assert_eq!(of(&[(2.0, true)], 0).values, [0.0; 0]);
    }

    /// What a simulated machine gives of these experiments, or of all.
    fn simulated(machine: &str, experiments: Option<Experiment>) -> Record {
        let inputs = suite_inputs(Suite::Standard);
        let of_one = |one| Inputs { experiments: vec![one], ..inputs.clone() };
        let inputs = experiments.map_or_else(|| inputs.clone(), of_one);
        simulate(&read_machine(machine).unwrap(), inputs, true).unwrap()
    }

    /// The samples of every figure reach from below it to above it: those of another actor, or of
    /// all, would not.
    #[test]
    fn figures_lie_among_their_samples() {
        let mut counted = figures_among_samples(&simulated("joe0", None));
        // Devices beside each other and beside streams.
        counted.extend(figures_among_samples(&simulated("amd-2p", Some(Experiment::Devices))));
        assert_eq!(counted.len(), 7, "{counted:?}");
    }

    fn figures_among_samples(record: &Record) -> BTreeSet<Counted> {
        let sources = Sources::new(record, &ModelChoices::default());
        let document = Document::of(&sources);
        let cells = document.sections.iter().flat_map(|section| &section.tables);
        let figures: Vec<&Figure> = cells
            .flat_map(|table| table.rows.iter().flatten())
            .filter_map(|cell| match cell {
                Cell::Figure(figure) if figure.behind.is_some() => Some(figure),
                _ => None,
            })
            .collect();
        let wanted = figures.iter().filter_map(|figure| figure.behind.clone()).collect();
        let samples = Samples::new(&sources.figures, wanted);
        let mut counted = BTreeSet::new();
        for figure in figures {
            let behind = figure.behind.as_ref().unwrap();
            let of = &samples.cases[samples.number(behind).unwrap()];
            let [least, .., most] = of.quantiles;
            let is_among = (0.999 * least..=1.001 * most).contains(&figure.value);
            assert!(is_among, "{} of {behind:?}: {:?}", figure.value, of.quantiles);
            counted.insert(match behind.counted {
                Counted::ActorBytes(actor) => Counted::ActorBytes(actor.min(1)),
                Counted::ActorFlops(_) => Counted::ActorFlops(0),
                other => other,
            });
        }
        assert!(!counted.is_empty());
        counted
    }

    /// The same of charts: points of lines, and runs.
    #[test]
    fn points_lie_among_their_samples() {
        points_among_samples(
            &simulated("joe0", None),
            &[
                "scaling-threads",
                "latency-sizes",
                "latency-loaded",
                "sharing-factor",
                "scaling-runs",
            ],
        );
        points_among_samples(
            &simulated("amd-2p", Some(Experiment::Devices)),
            &["devices-map", "devices-sizes"],
        );
    }

    fn points_among_samples(record: &Record, ids: &[&str]) {
        let sources = Sources::new(record, &ModelChoices::default());
        let charts = charts::all(&sources);
        let samples = Samples::new(&sources.figures, behind(&Document::of(&sources), &charts));
        let known = serde_json::to_value(&samples).unwrap();
        let check = |value: &Value, behind: &Value| {
            let is_it = |of: &&Value| ["case", "counted"].iter().all(|key| of[key] == behind[key]);
            let of = known["cases"].as_array().unwrap().iter().find(is_it).unwrap();
            let end = |end: usize| of["quantiles"][end].as_f64().unwrap();
            let value = value.as_f64().unwrap();
            assert!((0.999 * end(0)..=1.001 * end(6)).contains(&value), "{value} of {of}");
        };
        for id in ids {
            let chart = charts.iter().find(|chart| chart.id == *id).unwrap();
            let chart = serde_json::to_value(chart).unwrap();
            let mut checked = 0;
            for layer in chart["layers"].as_array().unwrap() {
                let series = layer["series"].as_array().into_iter().flatten();
                for series in series.filter(|series| series["style"] != "edge") {
                    let behind = series["behind"].as_array().unwrap().iter();
                    for (value, behind) in series["y"].as_array().unwrap().iter().zip(behind) {
                        let is_bend = series["style"] == "stars";
                        assert_eq!(behind.is_null(), is_bend, "{id}: {series}");
                        if !is_bend {
                            check(value, behind);
                            checked += 1;
                        }
                    }
                }
                for cell in layer["cells"].as_array().into_iter().flatten() {
                    check(&cell["figures"][0][0], &cell["behind"]);
                    checked += 1;
                }
                for group in layer["groups"].as_array().into_iter().flatten() {
                    for value in group["values"].as_array().unwrap() {
                        check(value, &group["behind"]);
                        checked += 1;
                    }
                }
            }
            assert!(checked > 0, "{id}");
        }
    }
}
