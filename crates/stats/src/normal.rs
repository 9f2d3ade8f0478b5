//! The normal distribution's quantile, and what it says of extremes of samples.
//! Sources: Wichura, Algorithm AS 241, Applied Statistics 37 (1988), 477-484;
//! Blom, Statistical Estimates and Transformed Beta-Variables (1958), for the
//! expected extremes.

/// The value below which a standard normal variable lies with this probability,
/// to about 1e-15 of itself. `None` outside (0, 1).
pub fn normal_quantile(probability: f64) -> Option<f64> {
    if !(probability > 0.0 && probability < 1.0) {
        return None;
    }
    let centred = probability - 0.5;
    if centred.abs() <= 0.425 {
        let r = 0.180_625 - centred * centred;
        return Some(centred * polynomial(&CENTRE.0, r) / polynomial(&CENTRE.1, r));
    }
    let tail = if centred < 0.0 { probability } else { 1.0 - probability };
    let r = (-tail.ln()).sqrt();
    let magnitude = if r <= 5.0 {
        polynomial(&TAIL.0, r - 1.6) / polynomial(&TAIL.1, r - 1.6)
    } else {
        polynomial(&FAR_TAIL.0, r - 5.0) / polynomial(&FAR_TAIL.1, r - 5.0)
    };
    Some(magnitude.copysign(centred))
}

/// Expected range of this many standard normal values, by Blom's approximation
/// (tables of control charts call it d2): 0 for one, 1.18 for two, 5.0 for a hundred.
pub fn expected_range(count: usize) -> f64 {
    if count < 2 {
        return 0.0;
    }
    let count = count as f64;
    normal_quantile((count - 0.375) / (count + 0.25)).map_or(0.0, |largest| 2.0 * largest)
}

/// By Horner's rule; the coefficient of the highest power stands first.
fn polynomial(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// Numerator and denominator of AS 241's PPND16 for |p - 1/2| <= 0.425.
const CENTRE: ([f64; 8], [f64; 8]) = (
    [
        2.509_080_928_730_122_7e3,
        3.343_057_558_358_813e4,
        6.726_577_092_700_87e4,
        4.592_195_393_154_987e4,
        1.373_169_376_550_946e4,
        1.971_590_950_306_551_3e3,
        1.331_416_678_917_843_8e2,
        3.387_132_872_796_366_5,
    ],
    [
        5.226_495_278_852_854e3,
        2.872_908_573_572_194_3e4,
        3.930_789_580_009_271e4,
        2.121_379_430_158_659_7e4,
        5.394_196_021_424_751e3,
        6.871_870_074_920_579e2,
        4.231_333_070_160_091e1,
        1.0,
    ],
);

/// The same for tails down to exp(-25).
const TAIL: ([f64; 8], [f64; 8]) = (
    [
        7.745_450_142_783_414e-4,
        2.272_384_498_926_918_4e-2,
        2.417_807_251_774_506e-1,
        1.270_458_252_452_368_4,
        3.647_848_324_763_204_5,
        5.769_497_221_460_691,
        4.630_337_846_156_546,
        1.423_437_110_749_683_5,
    ],
    [
        1.050_750_071_644_416_9e-9,
        5.475_938_084_995_345e-4,
        1.519_866_656_361_645_7e-2,
        1.481_039_764_274_800_8e-1,
        6.897_673_349_851e-1,
        1.676_384_830_183_803_8,
        2.053_191_626_637_759,
        1.0,
    ],
);

/// The same for what lies further out.
const FAR_TAIL: ([f64; 8], [f64; 8]) = (
    [
        2.010_334_399_292_288_1e-7,
        2.711_555_568_743_487_6e-5,
        1.242_660_947_388_078_4e-3,
        2.653_218_952_657_612_4e-2,
        2.965_605_718_285_048_7e-1,
        1.784_826_539_917_291_3,
        5.463_784_911_164_114,
        6.657_904_643_501_103,
    ],
    [
        2.044_263_103_389_939_8e-15,
        1.421_511_758_316_446e-7,
        1.846_318_317_510_054_8e-5,
        7.868_691_311_456_133e-4,
        1.487_536_129_085_061_5e-2,
        1.369_298_809_227_358e-1,
        5.998_322_065_558_88e-1,
        1.0,
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    fn density(x: f64) -> f64 {
        (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
    }

    /// The integral of the density from x to infinity by Simpson's rule.
    fn upper_tail(x: f64) -> f64 {
        let steps = 20_000;
        let width = 12.0 / f64::from(steps);
        (0..=steps)
            .map(|step| {
                let weight = match step {
                    0 => 1.0,
                    last if last == steps => 1.0,
                    odd if odd % 2 == 1 => 4.0,
                    _ => 2.0,
                };
                weight * density(x + f64::from(step) * width)
            })
            .sum::<f64>()
            * width
            / 3.0
    }

    #[test]
    fn quantile_inverts_the_integral_of_the_density() {
        for probability in [0.5001, 0.6, 0.75, 0.9, 0.924, 0.926, 0.99, 0.999_99, 1.0 - 1e-9] {
            let quantile = normal_quantile(probability).unwrap();
            let tail = upper_tail(quantile);
            let error = tail / (1.0 - probability) - 1.0;
            assert!(error.abs() < 1e-6, "{probability}: {quantile}, {error}");
            let mirrored = normal_quantile(1.0 - probability).unwrap();
            assert!((quantile + mirrored).abs() < 1e-6 * quantile.abs());
        }
        // Beyond r = 5: exp(-25) is 1.4e-11. The tail is integrated on the left side.
        for probability in [1e-11, 1e-12, 1e-30, 1e-200] {
            let quantile = normal_quantile(probability).unwrap();
            assert!((upper_tail(-quantile) / probability - 1.0).abs() < 1e-6, "{probability}");
        }
    }

    #[test]
    fn outside_of_probabilities_there_is_none() {
        for probability in [0.0, 1.0, -0.1, 1.1, f64::NAN] {
            assert_eq!(normal_quantile(probability), None);
        }
    }

    /// d2 as tables of control charts print it (ASTM Manual on Presentation of
    /// Data, table 31).
    #[test]
    fn expected_range_is_near_the_tabulated_one() {
        for (count, d2) in [(2, 1.128), (3, 1.693), (5, 2.326), (10, 3.078), (25, 3.931)] {
            let error = expected_range(count) / d2 - 1.0;
            assert!(error.abs() < 0.05, "{count}: {error}");
        }
        assert!(expected_range(1).abs() < 1e-12);
        assert!(expected_range(0).abs() < 1e-12);
    }
}
