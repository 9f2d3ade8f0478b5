//! The median and its distribution-free interval by order statistics.
//! Source: David and Nagaraja, Order Statistics, 3rd ed. (2003), section 7.1.

use serde::Serialize;

/// A median with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The median of the values.
    pub median: f64,
    /// It holds the true median with at least `confidence`.
    pub interval: (f64, f64),
    /// The interval's exact coverage, a fraction. Below 0.95 when there are too
    /// few values (fewer than six) for any interval of 95 %.
    pub confidence: f64,
    /// How many values there were.
    pub count: usize,
}

impl Estimate {
    /// Half the interval's width as a fraction of the median.
    pub fn relative_half_width(&self) -> f64 {
        (self.interval.1 - self.interval.0) / 2.0 / self.median
    }
}

/// The standard deviation of a normal distribution / its median absolute deviation (Hampel, J. Am. Stat.
/// Assoc. 69, 1974).
pub const OF_MAD: f64 = 1.4826;

/// The median; the mean of the two middle values when their number is even.
pub fn median(values: &[f64]) -> Option<f64> {
    middle(&sort(values))
}

/// The narrowest symmetric pair of order statistics that covers the true median
/// with at least `confidence`, and the exact coverage; for too few values the
/// smallest and the largest with the coverage they have.
pub fn median_interval(values: &[f64], confidence: f64) -> Option<((f64, f64), f64)> {
    interval(&sort(values), confidence)
}

/// Median and 95 % interval together.
pub fn estimate_median(values: &[f64]) -> Option<Estimate> {
    let sorted = sort(values);
    let median = middle(&sorted)?;
    let (interval, confidence) = interval(&sorted, 0.95)?;
    Some(Estimate { median, interval, confidence, count: values.len() })
}

/// Largest minus smallest value as a fraction of the median.
pub fn relative_spread(values: &[f64]) -> Option<f64> {
    let sorted = sort(values);
    Some((sorted.last()? - sorted.first()?) / middle(&sorted)?)
}

fn middle(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        count if count % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

fn interval(sorted: &[f64], confidence: f64) -> Option<((f64, f64), f64)> {
    let count = sorted.len();
    if count == 0 {
        return None;
    }
    // P(median outside [x_(k), x_(n+1-k)]) = 2 P(Binomial(n, 1/2) < k), its terms in logarithms
    // so that large counts neither overflow nor vanish.
    let as_float = |n: usize| n as f64;
    let mut log_term = as_float(count) * 0.5_f64.ln();
    let mut below = 0.0;
    let mut best = (1, 0.0);
    for rank in 1..=(count / 2).max(1) {
        below += log_term.exp();
        log_term += (as_float(count + 1 - rank) / as_float(rank)).ln();
        let coverage = 1.0 - 2.0 * below;
        if rank > 1 && coverage < confidence {
            break;
        }
        best = (rank, coverage);
    }
    let (rank, coverage) = best;
    Some(((sorted[rank - 1], sorted[count - rank]), coverage.max(0.0)))
}

fn sort(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_even_and_none() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    /// Ranks from the printed table of the sign test's confidence limits
    /// (Conover, Practical Nonparametric Statistics, table A3, p = 0.5).
    #[test]
    fn interval_ranks_are_the_tabulated_ones() {
        for (count, rank) in [(6, 1), (8, 1), (9, 2), (12, 3), (20, 6), (30, 10)] {
            let values: Vec<f64> = (1..=count).map(f64::from).collect();
            let ((low, high), coverage) = median_interval(&values, 0.95).unwrap();
            assert_eq!((low, high), (f64::from(rank), f64::from(count + 1 - rank)));
            assert!(coverage >= 0.95);
        }
    }

    #[test]
    fn too_few_values_say_so() {
        let ((low, high), coverage) = median_interval(&[1.0, 2.0, 3.0], 0.95).unwrap();
        assert_eq!((low, high), (1.0, 3.0));
        assert!((coverage - 0.75).abs() < 1e-12);
        let (_, coverage) = median_interval(&[1.0], 0.95).unwrap();
        assert!(coverage.abs() < 1e-12);
    }

    /// The interval's promise, on a skewed distribution whose median is known.
    #[test]
    fn interval_covers_the_median_as_often_as_it_says() {
        let mut random = fastrand::Rng::with_seed(7);
        let median = std::f64::consts::LN_2;
        let trials = 4000;
        let covered = (0..trials)
            .filter(|_| {
                let values: Vec<f64> = (0..15).map(|_| -(1.0 - random.f64()).ln()).collect();
                let ((low, high), _) = median_interval(&values, 0.95).unwrap();
                low <= median && median <= high
            })
            .count();
        // Exact coverage for 15 values is 0.9648; four standard errors are 0.012.
        let rate = f64::from(u32::try_from(covered).unwrap()) / f64::from(trials);
        assert!((rate - 0.9648).abs() < 0.012, "coverage {rate}");
    }
}
