//! Samples drawn again, for what is computed from several of them together.
//! Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.

use crate::median::median;

/// For each draw what `estimate` says of every sample, each resampled independently; `None` for a
/// sample without values.
pub fn drawn_estimates(
    samples: &[&[f64]],
    draws: usize,
    seed: u64,
    estimate: impl Fn(&[f64]) -> Option<f64>,
) -> Vec<Vec<Option<f64>>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut drawn = |values: &[f64]| {
        let resample: Vec<f64> =
            (0..values.len()).map(|_| values[random.usize(..values.len())]).collect();
        estimate(&resample)
    };
    (0..draws).map(|_| samples.iter().map(|values| drawn(values)).collect()).collect()
}

/// Residuals drawn again with replacement, for a fit to be made anew with each draw.
pub fn drawn_residuals(residuals: &[f64], draws: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut draw =
        |_| residuals.iter().map(|_| residuals[random.usize(..residuals.len())]).collect();
    (0..draws).map(&mut draw).collect()
}

/// Of fewer drawn figures the outermost are no percentiles of an interval of 95 %.
const FEWEST: usize = 40;

/// The percentile interval of 95 % of drawn figures; `None` below 40.
pub fn percentile_interval(drawn: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = drawn.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    (count >= FEWEST).then(|| (sorted[count * 25 / 1000], sorted[count * 975 / 1000 - 1]))
}

/// The standard error that drawn figures show: half the width of their middle 68.27 %, which one
/// outlier among few values does not make larger. `None` below 40.
pub fn percentile_error(drawn: &[f64]) -> Option<f64> {
    let mut sorted = drawn.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    (count >= FEWEST).then(|| (sorted[count * 841 / 1000] - sorted[count * 159 / 1000]) / 2.0)
}

/// Of a ratio of medians: the interval's ends then move by well under their width from seed to seed.
const RESAMPLES: usize = 10_000;

/// A ratio of two medians with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioEstimate {
    /// median(a) / median(b).
    pub ratio: f64,
    /// 95 % percentile interval.
    pub interval: (f64, f64),
}

/// median(a) / median(b); the two samples are resampled independently. `None`
/// when either is empty or the median of `b` is zero.
pub fn ratio_of_medians(a: &[f64], b: &[f64], seed: u64) -> Option<RatioEstimate> {
    let ratio = median(a)? / median(b)?;
    let drawn = drawn_estimates(&[a, b], RESAMPLES, seed, median);
    let ratios: Option<Vec<f64>> = drawn.iter().map(|draw| Some(draw[0]? / draw[1]?)).collect();
    let interval = percentile_interval(&ratios?)?;
    ratio.is_finite().then_some(RatioEstimate { ratio, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard error of a normal sample's median is 1.2533 / sqrt(n) deviations.
    #[test]
    fn medians_scatter_as_they_should() {
        let normal: Vec<f64> =
            (1..200).map(|k| crate::normal_quantile(f64::from(k) / 200.0).unwrap()).collect();
        let drawn = drawn_estimates(&[&normal, &[]], 400, 1, median);
        let medians: Vec<f64> = drawn.iter().map(|draw| draw[0].unwrap()).collect();
        let (low, high) = percentile_interval(&medians).unwrap();
        let expected = 1.96 * 1.2533 / 199.0_f64.sqrt();
        for end in [-low, high] {
            assert!((end / expected - 1.0).abs() < 0.25, "{end} beside {expected}");
        }
        let error = percentile_error(&medians).unwrap();
        assert!((error / (expected / 1.96) - 1.0).abs() < 0.25, "{error}");
        assert!(drawn.iter().all(|draw| draw[1].is_none()));
    }

    /// However low it is: the error is of the others.
    #[test]
    fn one_outlier_makes_the_interval_wider_and_not_the_error() {
        let with = |outlier: f64| -> Vec<f64> {
            let values = [1.0, 1.01, 0.99, 1.005, 0.995, outlier];
            drawn_estimates(&[&values], 400, 5, median)
                .iter()
                .map(|draw| draw[0].unwrap())
                .collect()
        };
        let (odd, far) = (with(0.6), with(0.1));
        let low = |drawn: &[f64]| percentile_interval(drawn).unwrap().0;
        assert!(low(&odd) < 0.9 && low(&far) < low(&odd) - 0.2);
        let [error, of_far] = [&odd, &far].map(|drawn| percentile_error(drawn).unwrap());
        assert!(error > 0.0 && error < 0.01, "{error}");
        assert!((of_far - error).abs() < 1e-12, "{of_far} and {error}");
    }

    #[test]
    fn a_seed_gives_one_answer_and_few_draws_none() {
        let values = [1.0, 2.0, 4.0];
        let draw = || drawn_estimates(&[&values], 50, 3, median);
        assert_eq!(draw(), draw());
        assert_eq!(percentile_interval(&[1.0; 39]), None);
        assert_eq!(percentile_interval(&[1.0; 40]), Some((1.0, 1.0)));
    }

    #[test]
    fn interval_covers_a_known_ratio() {
        let mut random = fastrand::Rng::with_seed(3);
        let trials = 60;
        let covered = (0..trials)
            .filter(|&seed| {
                let a: Vec<f64> = (0..20).map(|_| 1.1 + 0.1 * random.f64()).collect();
                let b: Vec<f64> = (0..20).map(|_| 1.0 + 0.1 * random.f64()).collect();
                let estimate = ratio_of_medians(&a, &b, seed).unwrap();
                let truth = 1.15 / 1.05;
                estimate.interval.0 <= truth && truth <= estimate.interval.1
            })
            .count();
        assert!(covered >= 51, "{covered} of {trials}");
    }

    #[test]
    fn nothing_measured_is_no_ratio() {
        assert_eq!(ratio_of_medians(&[], &[1.0], 1), None);
    }
}
