//! Graph500's statistics of searches.

use serde::Serialize;

use crate::arithmetic::real;
use crate::clock::Search;

/// Which edges count as traversed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// All of the list that were reached: the specification and the reference up to 2.1.4.
    WithLoops,
    /// Without those from a vertex to itself: the reference from 3.0 on.
    WithoutLoops,
}

/// How values are spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    pub min: f64,
    pub first_quartile: f64,
    pub median: f64,
    pub third_quartile: f64,
    pub max: f64,
    /// Harmonic for rates, otherwise arithmetic.
    pub mean: f64,
    /// Standard deviation: of rates, that of the harmonic mean.
    pub deviation: f64,
}

/// What Graph500 prints of the searches of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchStatistics {
    pub seconds: Spread,
    pub edges: Spread,
    /// Traversed edges per second.
    pub teps: Spread,
}

/// Mean, and standard deviation of one value.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = real(values.len());
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, if values.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 })
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Self {
        let (mean, deviation) = moments(&values);
        values.sort_by(f64::total_cmp);
        let last = values.len() - 1;
        // Between two places where the number of values does not divide.
        let at = |quarters: usize| {
            let (low, high) = (quarters * last / 4, (quarters * values.len() / 4).min(last));
            f64::midpoint(values[low], values[high])
        };
        let third_quartile =
            f64::midpoint(values[last - last / 4], values[last - values.len() / 4]);
        Self {
            min: values[0],
            first_quartile: at(1),
            median: at(2),
            third_quartile,
            max: values[last],
            mean,
            deviation,
        }
    }

    /// Of rates of the same work, their inverse being what adds up.
    fn of_rates(rates: Vec<f64>) -> Self {
        let (mean, deviation) = moments(&rates.iter().map(|rate| 1.0 / rate).collect::<Vec<_>>());
        let mean = 1.0 / mean;
        let others = real(rates.len().max(2) - 1);
        Self { mean, deviation: deviation * mean * mean / others.sqrt(), ..Self::of(rates) }
    }
}

impl SearchStatistics {
    /// None of no searches.
    pub fn of(searches: &[Search], counting: Counting) -> Option<Self> {
        if searches.is_empty() {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
        let edges = |search: &Search| match counting {
            Counting::WithLoops => (search.edges + search.loops) as f64,
            Counting::WithoutLoops => search.edges as f64,
        };
        let seconds = |search: &Search| search.time.as_secs_f64();
        Some(Self {
            seconds: Spread::of(searches.iter().map(seconds).collect()),
            edges: Spread::of(searches.iter().map(edges).collect()),
            teps: Spread::of_rates(searches.iter().map(|it| edges(it) / seconds(it)).collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn rates_have_a_harmonic_mean_and_quartiles_lie_between_two_values() {
        let search =
            |seconds, edges| Search { time: Duration::from_secs(seconds), edges, loops: 1 };
        let searches = [search(1, 12), search(2, 12), search(3, 12), search(6, 12)];
        let of = SearchStatistics::of(&searches, Counting::WithoutLoops).unwrap();
        // 4 / (1/12 + 1/6 + 1/4 + 1/2).
        assert!((of.teps.mean - 4.0).abs() < 1e-12);
        // The inverses' deviation is 0.18002..., times 16 / sqrt 3.
        assert!((of.teps.deviation - 1.663).abs() < 1e-3, "{}", of.teps.deviation);
        let spread = |of: Spread| {
            [of.min, of.first_quartile, of.median, of.third_quartile, of.max].map(f64::to_bits)
        };
        assert_eq!(spread(of.seconds), [1.0, 1.5, 2.5, 4.5, 6.0].map(f64::to_bits));
        assert_eq!(spread(of.teps), [2.0, 3.0, 5.0, 9.0, 12.0].map(f64::to_bits));
        let with_loops = SearchStatistics::of(&searches, Counting::WithLoops).unwrap();
        assert_eq!((with_loops.edges.mean, of.edges.mean), (13.0, 12.0));
        assert_eq!(SearchStatistics::of(&[], Counting::WithLoops), None);
    }
}
