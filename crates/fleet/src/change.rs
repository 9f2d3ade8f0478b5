//! Steps and slopes in a short series of numbers with noise of a known size.
//! Source: the generalised likelihood ratio over the place of a change, Basseville and Nikiforov, Detection of
//! Abrupt Changes (1993), sections 2.4.3 and 9.1; a threshold for all places, shapes and parts together, by
//! simulation (`cargo bench -p nearfar-fleet`).
//! Holds when: noise is independent from run to run. Fails when: it wanders, which is then a change itself.

use nearfar_stats::OF_MAD;
use serde::Serialize;

use crate::peers::{critical, median_of};

/// Runs of one machine for one false alarm: 10,000 years of weekly ones, with some room.
const RUNS_PER_FALSE_ALARM: f64 = 2.0 * 520_000.0;

/// Changes that are looked for at each run and that do not depend on each other, about.
const INDEPENDENT_CHANGES: f64 = 3.0;

/// Runs before and after a step, and behind the begin of a slope, at the least.
const BEFORE: usize = 4;
const AFTER_STEP: usize = 2;
const AFTER_SLOPE: usize = 5;

/// A change below this, of a logarithm, does not matter.
const LEAST_CHANGE: f64 = 0.01;

/// Spreads by which a value may differ from its neighbours.
const MOST_ALONE: f64 = 3.0;

/// The most runs in which a change is looked for.
const MOST_RUNS: usize = 104;

/// How something changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangeShape {
    /// From one run to the next.
    Step,
    /// A little with each run.
    Slope,
}

/// A change in a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    pub shape: ChangeShape,
    /// Position of the first value after it.
    pub first: usize,
    /// Position of the value by which it was certain.
    pub found_at: usize,
    /// By how much the series had changed at its end, or at the next change.
    pub size: f64,
    pub score: f64,
}

/// When a change is certain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detector {
    /// Standard deviation of a value.
    pub spread: f64,
    pub threshold: f64,
}

impl Detector {
    /// For a series that may give this share of a machine's false alarms. `values` is the number of
    /// differences that the spread was estimated from.
    pub fn new(spread: f64, values: f64, share: f64) -> Self {
        let tests = 2.0 * INDEPENDENT_CHANGES * RUNS_PER_FALSE_ALARM;
        Self { spread, threshold: critical(share / tests, values) }
    }
}

/// The spread of values around their series by the differences of neighbours, which neither steps nor slopes
/// widen much, and on how many it rests; `None` of too few.
pub fn successive_spread(series: &[Vec<f64>]) -> Option<(f64, f64)> {
    let mut differences: Vec<f64> = series
        .iter()
        .flat_map(|of| of.windows(2).map(|pair| (pair[1] - pair[0]).abs() / 2_f64.sqrt()))
        .collect();
    let count = differences.len();
    let spread = OF_MAD * median_of(&mut differences)?;
    (count >= BEFORE).then(|| (spread.max(1e-4), count as f64))
}

/// All changes of a series, in their order, each looked for from the one before.
pub fn find_changes(values: &[f64], detector: &Detector) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let mut begin = 0;
    while let Some(mut change) = first_change(&values[begin..], detector) {
        change.first += begin;
        change.found_at += begin;
        begin = change.first.max(begin + 1);
        changes.push(change);
        // A slope goes on: what follows is the same change.
        if change.shape == ChangeShape::Slope {
            break;
        }
    }
    changes
}

/// The first value by which a change is certain.
fn first_change(values: &[f64], detector: &Detector) -> Option<Change> {
    (BEFORE + AFTER_STEP..=values.len()).find_map(|end| {
        let begin = end.saturating_sub(MOST_RUNS);
        let mut change = largest_change(&values[begin..end], detector)?;
        change.first += begin;
        change.found_at = end - 1;
        Some(change)
    })
}

/// The same values, of which none is far from both of its neighbours: one disturbed run is no change.
fn without_outliers(values: &[f64], spread: f64) -> Vec<f64> {
    let last = values.len() - 1;
    let around = |place: usize| place.clamp(1, last - 1) - 1..place.clamp(1, last - 1) + 2;
    let calm = |(place, value): (usize, &f64)| {
        let middle = median_of(&mut values[around(place)].to_vec()).unwrap_or(*value);
        value.clamp(middle - MOST_ALONE * spread, middle + MOST_ALONE * spread)
    };
    values.iter().enumerate().map(calm).collect()
}

/// The largest change that the series shows at its end; `None` where none is beyond chance.
fn largest_change(values: &[f64], detector: &Detector) -> Option<Change> {
    let values = without_outliers(values, detector.spread);
    let count = values.len() as f64;
    let total: f64 = values.iter().sum();
    // Sums from a place on: of the values, and of them times how far they are behind it.
    let (mut sum, mut moment) = (0.0, 0.0);
    let mut largest: Option<Change> = None;
    for (first, value) in values.iter().enumerate().rev() {
        moment += sum + value;
        sum += value;
        let after = values.len() - first;
        let behind = after as f64;
        let mut consider = |shape, size: f64, error: f64| {
            let score = size / error;
            if largest.is_none_or(|known| known.score.abs() < score.abs()) {
                largest = Some(Change { shape, first, found_at: 0, size, score });
            }
        };
        if first >= BEFORE && after >= AFTER_STEP {
            let before = count - behind;
            let (low, high) = ((total - sum) / before, sum / behind);
            let is_repeated = values
                .iter()
                .rev()
                .take(2)
                .all(|value| 2.0 * (value - low) * (high - low).signum() > (high - low).abs());
            if is_repeated {
                consider(
                    ChangeShape::Step,
                    high - low,
                    detector.spread * (1.0 / before + 1.0 / behind).sqrt(),
                );
            }
        }
        if (first == 0 || first >= BEFORE) && after >= AFTER_SLOPE {
            // x = 0 before the place, then 1, 2, ..
            let x = behind * (behind + 1.0) / 2.0;
            let squares = behind * (behind + 1.0) * (2.0 * behind + 1.0) / 6.0 - x * x / count;
            let slope = (moment - x * total / count) / squares;
            consider(ChangeShape::Slope, slope * behind, detector.spread * behind / squares.sqrt());
        }
    }
    largest.filter(|change| {
        change.score.abs() > detector.threshold && change.size.abs() > LEAST_CHANGE
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DETECTOR: Detector = Detector { spread: 0.005, threshold: 6.0 };

    /// What noise there is alternates, so that nothing depends on luck.
    fn series(of: impl Fn(f64) -> f64) -> Vec<f64> {
        (0..30).map(|run| of(f64::from(run)) + if run % 2 == 0 { 0.003 } else { -0.003 }).collect()
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let found = find_changes(&series(|run| if run < 12.0 { 0.0 } else { -0.03 }), &DETECTOR);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (found[0].shape, found[0].first, found[0].found_at),
            (ChangeShape::Step, 12, 13)
        );
        assert!((found[0].size + 0.03).abs() < 0.004, "{found:?}");
    }

    #[test]
    fn a_slope_is_one_change() {
        let found = find_changes(&series(|run| -0.002 * (run - 11.0).max(0.0)), &DETECTOR);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].shape == ChangeShape::Slope && found[0].size < -0.01, "{found:?}");
        assert!((10..15).contains(&found[0].first), "{found:?}");
    }

    #[test]
    fn one_bad_run_is_no_change() {
        assert_eq!(find_changes(&series(|_| 0.0), &DETECTOR), []);
        for at in [5.0, 12.0, 29.0] {
            let found = find_changes(
                &series(|run| if (run - at).abs() < 0.5 { -0.1 } else { 0.0 }),
                &DETECTOR,
            );
            assert!(found.is_empty(), "{at}: {found:?}");
        }
    }

    #[test]
    fn the_spread_is_that_of_the_noise_and_not_of_steps() {
        let steps: Vec<Vec<f64>> = vec![series(|run| if run < 15.0 { 0.0 } else { -0.5 }); 3];
        let (spread, count) = successive_spread(&steps).unwrap();
        assert!((spread - 1.4826 * 0.006 / 2_f64.sqrt()).abs() < 1e-6, "{spread}");
        assert!((count - 87.0).abs() < 1e-9);
        assert_eq!(successive_spread(&[vec![1.0, 2.0]]), None);
    }
}
