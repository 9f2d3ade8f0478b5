//! How much repeated values scatter, pooled over many quantities of which each was
//! measured a few times, and how much of that is left in the best of them.

use crate::median::median;

/// Standard deviation (with n - 1) / mean; `None` for fewer than two values or a
/// mean that is not positive.
pub fn relative_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean > 0.0).then(|| (squares / (count - 1.0)).sqrt() / mean)
}

/// The standard deviation that quantities have in common, from each one's
/// (deviation, number of values): the median, so that single quantities with outliers
/// do not count, of deviations divided by the factor by which the median deviation
/// of that many normal values falls short of the true one: 0.69 for two,
/// 0.93 for six, by the median of chi-square after Wilson and Hilferty (PNAS 17, 1931).
/// Quantities with one value say nothing; `None` when there are no others.
pub fn pooled_deviation(deviations: &[(f64, usize)]) -> Option<f64> {
    let corrected: Vec<f64> = deviations
        .iter()
        .filter(|&&(_, count)| count > 1)
        .map(|&(deviation, count)| {
            let freedom = (count - 1) as f64;
            deviation / (1.0 - 2.0 / (9.0 * freedom)).powf(1.5)
        })
        .collect();
    median(&corrected)
}

/// Standard deviation of the largest of this many standard normal values: 1 for one,
/// 0.67 for five. Tabulated after Tippett (Biometrika 17, 1925) and Teichroew (Ann.
/// Math. Stat. 27, 1956), linear in the logarithm of the count between, the last for more.
pub fn deviation_of_largest(count: usize) -> f64 {
    const TABLE: [(usize, f64); 9] = [
        (1, 1.0),
        (2, 0.8256),
        (3, 0.7480),
        (4, 0.7012),
        (5, 0.6690),
        (7, 0.6260),
        (10, 0.5868),
        (30, 0.4958),
        (100, 0.4294),
    ];
    let log = |count: usize| (count as f64).ln();
    for ends in TABLE.windows(2) {
        let ((low, from), (high, to)) = (ends[0], ends[1]);
        if count <= low {
            return from;
        }
        if count < high {
            let part = (log(count) - log(low)) / (log(high) - log(low));
            return from + part * (to - from);
        }
    }
    TABLE[TABLE.len() - 1].1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::normal_quantile;

    #[test]
    fn deviation_of_values_worked_by_hand() {
        // 8, 10, 12: mean 10, variance (4 + 0 + 4) / 2.
        assert!((relative_deviation(&[8.0, 10.0, 12.0]).unwrap() - 0.2).abs() < 1e-12);
        assert_eq!(relative_deviation(&[8.0]), None);
        assert_eq!(relative_deviation(&[0.0, 0.0]), None);
    }

    /// Normal values of a known deviation, few a quantity: without the correction six
    /// values would give 7 % too little, two 33 %.
    #[test]
    fn pooled_deviation_finds_the_true_one() {
        let mut random = fastrand::Rng::with_seed(11);
        for count in [2, 3, 6, 12] {
            let deviations: Vec<(f64, usize)> = (0..20_000)
                .map(|_| {
                    let values: Vec<f64> = (0..count)
                        .map(|_| 1.0 + 0.02 * normal_quantile(random.f64().max(1e-300)).unwrap())
                        .collect();
                    (relative_deviation(&values).unwrap(), count)
                })
                .collect();
            let pooled = pooled_deviation(&deviations).unwrap();
            assert!((pooled / 0.02 - 1.0).abs() < 0.02, "{count}: {pooled}");
        }
        assert_eq!(pooled_deviation(&[(0.1, 1)]), None);
        assert_eq!(pooled_deviation(&[]), None);
    }

    #[test]
    fn outliers_in_a_few_quantities_do_not_count() {
        let mut deviations = vec![(0.02, 6); 90];
        let clean = pooled_deviation(&deviations).unwrap();
        deviations.extend(vec![(5.0, 6); 10]);
        assert!((pooled_deviation(&deviations).unwrap() - clean).abs() < 1e-12);
    }

    /// The moments of the largest of n by quadrature over its distribution: the u-th
    /// quantile of the largest is the u^(1/n)-th of the parent.
    #[test]
    fn deviation_of_the_largest_is_that_of_its_distribution() {
        for count in [1_u32, 2, 3, 4, 5, 6, 8, 10, 15, 30, 60, 100] {
            let steps = 400_000;
            let (mut mean, mut square) = (0.0, 0.0);
            for step in 0..steps {
                let u = (f64::from(step) + 0.5) / f64::from(steps);
                let x = normal_quantile(u.powf(1.0 / f64::from(count))).unwrap();
                mean += x / f64::from(steps);
                square += x * x / f64::from(steps);
            }
            let exact = (square - mean * mean).sqrt();
            let ours = deviation_of_largest(usize::try_from(count).unwrap());
            assert!((ours / exact - 1.0).abs() < 0.01, "{count}: {ours} and {exact}");
        }
    }
}
