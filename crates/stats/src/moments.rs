//! Means and spreads of two samples beside each other.
//! Source of the intervals: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter
//! 13; widened by sqrt(n / (n - 1)), which percentiles of few values lack.

use fastrand::Rng;

use crate::draws::percentile_interval;

/// Draws: an interval's ends move by a tenth of its width from seed to seed.
const DRAWS: usize = 1000;

/// With fewer values in a sample there are no intervals.
const FEWEST_FOR_MOMENTS: usize = 5;

/// Means and spreads (standard deviation / mean) of two samples, one over the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MomentRatios {
    /// mean(a) / mean(b).
    pub mean: f64,
    /// Its 95 % interval.
    pub mean_interval: (f64, f64),
    /// spread(a) / spread(b); `None` where either has no spread, or a mean that is not positive.
    pub spread: Option<f64>,
    /// Its 95 % interval; `None` also where draws seldom have a spread.
    pub spread_interval: Option<(f64, f64)>,
}

/// The ratios; the two samples are resampled independently. `None` with fewer values than
/// 5, or where the mean of `b` is not positive or one is no number.
pub fn ratios_of_moments(a: &[f64], b: &[f64], seed: u64) -> Option<MomentRatios> {
    let fewest = a.len().min(b.len());
    if fewest < FEWEST_FOR_MOMENTS {
        return None;
    }
    let (own, other) = (Moments::of(a.iter()), Moments::of(b.iter()));
    let mean = Some(own.mean / other.mean).filter(|it| other.mean > 0.0 && it.is_finite())?;
    let mut random = Rng::with_seed(seed);
    let mut draw = |values: &[f64]| {
        Moments::of((0..values.len()).map(|_| &values[random.usize(..values.len())]))
    };
    let (mut means, mut spreads) = (Vec::with_capacity(DRAWS), Vec::with_capacity(DRAWS));
    for _ in 0..DRAWS {
        let (own, other) = (draw(a), draw(b));
        means.push(own.mean / other.mean);
        spreads.extend(own.spread_over(&other));
    }
    let fewest = fewest as f64;
    let wider = (fewest / (fewest - 1.0)).sqrt();
    let spread = own.spread_over(&other);
    // A draw of one value again and again has no spread.
    let has_most = spreads.len() * 10 > DRAWS * 9;
    let spread_interval = spread
        .filter(|_| has_most)
        .and_then(|spread| interval(&spreads, spread, wider))
        .map(|(low, high)| (low.max(0.0), high));
    Some(MomentRatios {
        mean,
        mean_interval: interval(&means, mean, wider)?,
        spread,
        spread_interval,
    })
}

/// The middle 95 % of draws, its ends farther from the middle by a factor.
fn interval(draws: &[f64], middle: f64, wider: f64) -> Option<(f64, f64)> {
    let (low, high) = percentile_interval(draws)?;
    let [low, high] = [low, high].map(|end| middle + wider * (end - middle));
    (low.is_finite() && high.is_finite()).then_some((low.min(middle), high.max(middle)))
}

/// Mean and standard deviation (with n - 1).
struct Moments {
    mean: f64,
    deviation: f64,
}

impl Moments {
    fn of<'v>(values: impl ExactSizeIterator<Item = &'v f64>) -> Self {
        let count = values.len() as f64;
        // About the first value, so that squares of like values lose no digits.
        let (mut first, mut sum, mut squares) = (None, 0.0, 0.0);
        for value in values {
            let from = value - *first.get_or_insert(*value);
            sum += from;
            squares += from * from;
        }
        let variance = (squares - sum * sum / count) / (count - 1.0);
        Self { mean: first.unwrap_or(0.0) + sum / count, deviation: variance.max(0.0).sqrt() }
    }

    fn spread_over(&self, other: &Self) -> Option<f64> {
        let spread =
            |it: &Self| (it.mean > 0.0 && it.deviation > 0.0).then(|| it.deviation / it.mean);
        Some(spread(self)? / spread(other)?).filter(|ratio| ratio.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::normal_quantile;

    fn normal(random: &mut Rng, mean: f64, deviation: f64, count: usize) -> Vec<f64> {
        let draw = || mean + deviation * normal_quantile(random.f64().max(1e-300)).unwrap();
        std::iter::repeat_with(draw).take(count).collect()
    }

    #[test]
    fn intervals_hold_known_ratios_as_often_as_they_say() {
        let mut random = Rng::with_seed(1);
        for count in [8, 30, 200] {
            let trials: usize = 200;
            let (mut means, mut spreads) = (0, 0);
            for seed in 0..200 {
                let a = normal(&mut random, 79.0, 1.0, count);
                let b = normal(&mut random, 67.0, 6.0, count);
                let ratios = ratios_of_moments(&a, &b, seed).unwrap();
                let holds = |(low, high): (f64, f64), truth: f64| low <= truth && truth <= high;
                means += usize::from(holds(ratios.mean_interval, 79.0 / 67.0));
                let truth = (1.0 / 79.0) / (6.0 / 67.0);
                spreads += usize::from(holds(ratios.spread_interval.unwrap(), truth));
            }
            assert!(means * 100 >= trials * 88, "{count}: {means} of {trials}");
            assert!(spreads * 100 >= trials * 80, "{count}: {spreads} of {trials}");
        }
    }

    #[test]
    fn what_has_no_ratio_is_none() {
        assert_eq!(ratios_of_moments(&[1.0; 4], &[1.0; 9], 1), None);
        assert_eq!(ratios_of_moments(&[1.0; 9], &[0.0; 9], 1), None);
        assert_eq!(ratios_of_moments(&[f64::NAN; 9], &[1.0; 9], 1), None);
        let same = ratios_of_moments(&[3.0; 9], &[2.0; 9], 1).unwrap();
        assert_eq!((same.mean, same.mean_interval), (1.5, (1.5, 1.5)));
        assert_eq!((same.spread, same.spread_interval), (None, None));
        let zero = ratios_of_moments(&[0.0; 9], &[2.0, 3.0, 2.0, 3.0, 2.0], 1).unwrap();
        assert_eq!((zero.mean, zero.spread), (0.0, None));
    }
}
