//! The mean of repeated values without those that lie far off, for fits that need more than the
//! median tells.
//! Source: Hampel, The breakdown points of the mean combined with some rejection rules,
//! Technometrics 27 (1985), 95-107: rule X84, which takes 5.2 in place of our 7.4: of six or eight
//! values that would cast out good ones.

use crate::median::median;

/// Values farther from the median than this many median absolute deviations do not count: 5 standard
/// deviations of normal values.
const FAR: f64 = 7.4;

/// The mean of the values that are within 7.4 median absolute deviations of the median. Of normal
/// values it scatters little more than the mean, where the median's variance is 1.57 times as
/// large; nearly half of the values may be wild. `None` without values.
pub fn mean_of_calm(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    let off = |value: f64| (value - middle).abs();
    let offs: Vec<f64> = values.iter().map(|&value| off(value)).collect();
    let room = FAR * median(&offs)?;
    let calm: Vec<f64> = values.iter().copied().filter(|&value| off(value) <= room).collect();
    if calm.is_empty() {
        return Some(middle);
    }
    let count = calm.len() as f64;
    Some(calm.iter().sum::<f64>() / count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal_quantile;

    /// By hand: the median of 1, 2, 3, 4, 100 is 3, its median absolute deviation 1.
    #[test]
    fn five_values_by_hand() {
        assert_eq!(mean_of_calm(&[100.0, 1.0, 4.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(mean_of_calm(&[1.0, 2.0, 3.0, 4.0, 8.0]), Some(3.6));
        assert_eq!(mean_of_calm(&[7.0, 7.0, 7.0, 1.0]), Some(7.0));
        assert_eq!(mean_of_calm(&[1.0, 2.0]), Some(1.5));
        assert_eq!(mean_of_calm(&[]), None);
    }

    #[test]
    fn it_scatters_less_than_the_median_and_bears_outliers() {
        let mut random = fastrand::Rng::with_seed(11);
        let (mut squares, mut of_median) = (0.0, 0.0);
        for _ in 0..2000 {
            let values: Vec<f64> =
                (0..8).map(|_| normal_quantile(random.f64().max(1e-12)).unwrap()).collect();
            squares += mean_of_calm(&values).unwrap().powi(2);
            of_median += median(&values).unwrap().powi(2);
        }
        assert!(squares < 0.9 * of_median, "{squares} and {of_median}");
        let wild = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, -900.0, 1e6];
        assert!((mean_of_calm(&wild).unwrap() - 1.0).abs() < 0.02);
    }
}
