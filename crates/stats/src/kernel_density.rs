//! Densities of samples by Gaussian kernels, on points of one distance.
//! Source: B. W. Silverman, Density Estimation for Statistics and Data Analysis (1986), section 2.4
//! and equation 3.31.

use std::f64::consts::TAU;

/// Points within one bandwidth.
const POINTS: f64 = 6.0;

/// The kernel ends this many bandwidths from its middle, where it is 4e-6 of its height.
const REACH: f64 = 5.0;

/// Points at most: values so far apart that they need more have wider kernels.
const MOST_POINTS: f64 = 65_536.0;

/// A density on points of one distance.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KernelDensity {
    /// The first point.
    pub from: f64,
    /// From one to the next.
    pub step: f64,
    /// Standard deviation of the kernel: as asked for, or more where points would be too many.
    pub bandwidth: f64,
    /// At each point; the integral is 1.
    pub density: Vec<f64>,
}

impl KernelDensity {
    /// The density of ascending values. `None` where there are none, or where they or the
    /// bandwidth are no numbers above 0.
    pub(crate) fn new(ascending: &[f64], bandwidth: f64) -> Option<Self> {
        let (&least, &largest) = (ascending.first()?, ascending.last()?);
        let range = largest - least;
        if !(bandwidth > 0.0 && bandwidth.is_finite() && range.is_finite()) {
            return None;
        }
        let step = (bandwidth / POINTS).max(range / MOST_POINTS);
        let bandwidth = bandwidth.max(step);
        #[expect(clippy::cast_possible_truncation, reason = "at most 5 x 6")]
        #[expect(clippy::cast_sign_loss, reason = "above 0")]
        let reach = (REACH * bandwidth / step).ceil() as usize;
        #[expect(clippy::cast_possible_truncation, reason = "at most the number of points")]
        #[expect(clippy::cast_sign_loss, reason = "a range")]
        let points = (range / step) as usize + 2 + 2 * reach;
        let from = least - (reach as f64) * step;
        let mut masses = vec![0.0; points];
        for value in ascending {
            // A value is shared out over the two points beside it.
            let place = (value - from) / step;
            #[expect(clippy::cast_possible_truncation, reason = "at most the number of points")]
            #[expect(clippy::cast_sign_loss, reason = "no value is below the first point")]
            let point = (place as usize).min(points - 2);
            let part = place - (point as f64);
            masses[point] += 1.0 - part;
            masses[point + 1] += part;
        }
        let height = 1.0 / (TAU.sqrt() * bandwidth * (ascending.len() as f64));
        let kernel: Vec<f64> = (0..=reach)
            .map(|away| height * (-0.5 * ((away as f64) * step / bandwidth).powi(2)).exp())
            .collect();
        let mut density = vec![0.0; points];
        for (point, &mass) in masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
            let low = point.saturating_sub(reach);
            let high = (point + reach).min(points - 1);
            for (other, density) in density[low..=high].iter_mut().enumerate() {
                *density += mass * kernel[(low + other).abs_diff(point)];
            }
        }
        Some(Self { from, step, bandwidth, density })
    }

    pub(crate) fn value(&self, point: usize) -> f64 {
        self.from + (point as f64) * self.step
    }

    /// How many standard errors lie between a peak and a lower height, as differences of counts
    /// with Poisson errors, among this many values.
    pub(crate) fn depth(&self, peak: f64, valley: f64, values: usize) -> f64 {
        // A Gaussian kernel weighs as many values as lie evenly in 2 sqrt(pi) bandwidths.
        let counted = 2.0 * std::f64::consts::PI.sqrt() * (values as f64) * self.bandwidth;
        let sum = peak + valley;
        if sum > 0.0 { (peak - valley) / sum.sqrt() * counted.sqrt() } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by its definition, value by value.
    fn by_definition(values: &[f64], bandwidth: f64, at: f64) -> f64 {
        let kernels = values.iter().map(|value| (-0.5 * ((at - value) / bandwidth).powi(2)).exp());
        kernels.sum::<f64>() / (TAU.sqrt() * bandwidth * (values.len() as f64))
    }

    #[test]
    fn the_density_is_that_of_the_definition() {
        let mut random = fastrand::Rng::with_seed(4);
        let mut values: Vec<f64> = (0..80).map(|_| 5.0 * random.f64() * random.f64()).collect();
        values.sort_by(f64::total_cmp);
        let density = KernelDensity::new(&values, 0.3).unwrap();
        let highest = density.density.iter().copied().fold(0.0, f64::max);
        for (point, &found) in density.density.iter().enumerate() {
            let expected = by_definition(&values, 0.3, density.value(point));
            assert!((found - expected).abs() < 0.005 * highest, "{found} and {expected}");
        }
        let integral = density.density.iter().sum::<f64>() * density.step;
        assert!((integral - 1.0).abs() < 1e-4, "{integral}");
    }

    #[test]
    fn far_values_have_wider_kernels_and_no_more_points() {
        let density = KernelDensity::new(&[0.0, 1.0, 1e12], 0.1).unwrap();
        assert!(density.density.len() < 70_000 && density.bandwidth > 1e6);
        for values in [&[][..], &[0.0, f64::INFINITY], &[f64::MIN, f64::MAX]] {
            assert_eq!(KernelDensity::new(values, 0.1), None);
        }
        for bandwidth in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(KernelDensity::new(&[1.0, 2.0], bandwidth), None);
        }
    }
}
