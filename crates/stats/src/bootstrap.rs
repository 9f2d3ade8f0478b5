//! Ratios of medians with percentile-bootstrap intervals.
//! Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.

use crate::median::median;

/// Resamples drawn: the interval's ends then move by well under their width from
/// seed to seed.
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
    let mut random = fastrand::Rng::with_seed(seed);
    let mut draw = |values: &[f64]| {
        let resample: Vec<f64> =
            (0..values.len()).map(|_| values[random.usize(..values.len())]).collect();
        median(&resample)
    };
    let mut ratios = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        ratios.push(draw(a)? / draw(b)?);
    }
    ratios.sort_by(f64::total_cmp);
    let interval = (ratios[RESAMPLES * 25 / 1000], ratios[RESAMPLES * 975 / 1000 - 1]);
    ratio.is_finite().then_some(RatioEstimate { ratio, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_samples_have_ratio_one_inside_the_interval() {
        let values: Vec<f64> = (1..=15).map(f64::from).collect();
        let estimate = ratio_of_medians(&values, &values, 1).unwrap();
        assert!((estimate.ratio - 1.0).abs() < 1e-12);
        assert!(estimate.interval.0 < 1.0 && 1.0 < estimate.interval.1);
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
