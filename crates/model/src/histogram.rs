//! How values spread, in bins of one width.

use serde::Serialize;

/// Bins of one width, from the one with the smallest value to that with the largest.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Histogram {
    /// Lower end of the first bin.
    pub from: f64,
    pub width: f64,
    /// Values in each; a bin holds its lower end and not its upper one.
    pub counts: Vec<usize>,
}

/// Widths between which there is no other, but for factors of ten.
const WIDTHS: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];

/// Values that spread by less than this have bins finer than 1.
const FINE: f64 = 3.0;

impl Histogram {
    /// Values in at most this many bins: of 1 where those are few enough, else of the next width
    /// with which they are; of less where the values spread by less than 3. `None` without values,
    /// or where one is no number.
    pub fn of(values: &[f64], most: usize) -> Option<Self> {
        let least = values.iter().copied().min_by(f64::total_cmp)?;
        let largest = values.iter().copied().max_by(f64::total_cmp)?;
        if !(largest - least).is_finite() {
            return None;
        }
        // Values of which none differs are in bins of a thousandth of them.
        let spread = (largest - least).max(largest.abs() / 1e3).max(1e-9);
        let decade = 10_f64.powf((spread / most as f64).log10().floor());
        let decade = if spread < FINE { decade } else { decade.max(1.0) };
        let widths =
            (0..).flat_map(|power| WIDTHS.map(|width| width * decade * 10_f64.powi(power)));
        widths.take(5 * 400).find_map(|width| {
            let bin = |value: f64| (value / width).floor();
            let first = bin(least);
            let bins = bin(largest) - first + 1.0;
            let fits = bins <= most as f64;
            if !fits {
                return None;
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 0 to a number of lines"
            )]
            let position = |value: f64| (bin(value) - first) as usize;
            let mut counts = vec![0; position(largest) + 1];
            for &value in values {
                counts[position(value)] += 1;
            }
            Some(Self { from: first * width, width, counts })
        })
    }

    /// The bins: lower end, upper end, values.
    pub fn bins(&self) -> impl Iterator<Item = (f64, f64, usize)> {
        (0_u32..).zip(&self.counts).map(|(position, &count)| {
            let from = self.from + f64::from(position) * self.width;
            (from, from + self.width, count)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Histogram {
        Histogram::of(values, 12).unwrap()
    }

    #[test]
    fn bins_are_of_1_where_that_is_few_enough() {
        let histogram = of(&[78.2, 78.9, 79.0, 82.0]);
        assert_eq!((histogram.from, histogram.width), (78.0, 1.0));
        assert_eq!(histogram.counts, [2, 1, 0, 0, 1]);
        assert_eq!(histogram.bins().nth(1), Some((79.0, 80.0, 1)));
    }

    #[test]
    fn wide_spreads_have_wider_bins_and_narrow_ones_finer() {
        // 47 .. 83 as in the paper: 3 would make 13 bins.
        for (values, width) in
            [([47.0, 83.0], 4.0), ([470.0, 830.0], 40.0), ([5.71, 5.85], 0.02), ([8.0, 11.5], 1.0)]
        {
            let histogram = of(&values);
            assert!((histogram.width / width - 1.0).abs() < 1e-12, "{histogram:?}");
        }
        assert_eq!(of(&[47.0, 83.0]).counts.len(), 10);
        assert!(of(&[1e-9, 1e9]).counts.len() <= 12);
    }

    #[test]
    fn every_value_is_in_one_bin() {
        for seed in 0..200 {
            let mut random = fastrand::Rng::with_seed(seed);
            let scale = 10_f64.powi(random.i32(-6..9));
            let count = random.usize(1..60);
            let values: Vec<f64> = (0..count).map(|_| scale * (1.0 + random.f64())).collect();
            let histogram = of(&values);
            assert_eq!(histogram.counts.iter().sum::<usize>(), count);
            assert!(histogram.counts.len() <= 12);
            assert!(histogram.counts[0] > 0 && *histogram.counts.last().unwrap() > 0);
            for (from, to, count) in histogram.bins() {
                let slack = histogram.width * 1e-6;
                let near = |end: f64| values.iter().filter(|v| (**v - end).abs() < slack).count();
                let within = values.iter().filter(|v| (from..to).contains(v)).count();
                assert!(within.abs_diff(count) <= near(from) + near(to), "{histogram:?}");
            }
        }
    }

    #[test]
    fn equal_values_are_one_bin_and_none_is_no_histogram() {
        assert_eq!(of(&[7.0; 9]).counts, [9]);
        assert_eq!(of(&[0.0, 0.0]).counts, [2]);
        assert_eq!(Histogram::of(&[], 12), None);
        assert_eq!(Histogram::of(&[f64::NAN], 12), None);
        assert_eq!(Histogram::of(&[f64::INFINITY, 1.0], 12), None);
    }
}
