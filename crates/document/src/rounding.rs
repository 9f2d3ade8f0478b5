//! Numbers as the page's data hold them: rounded to this many significant digits.

/// Powers of ten that a float holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Nearer than this to the middle between two whole numbers only the text says which is nearer.
const NEAR_HALF: f64 = 1e-6;

/// A number to this many significant digits, at most 6: the float that its text in them is read as.
/// What is no number stays none.
pub(crate) fn rounded(value: f64, digits: u8) -> f64 {
    by_scale(value, digits).unwrap_or_else(|| {
        let decimals = usize::from(digits.saturating_sub(1));
        format!("{value:.decimals$e}").parse().unwrap_or(f64::NAN)
    })
}

/// The same many times faster, for most numbers: a whole number and a power of ten are exact, and
/// so what one gives by the other is rounded once, as a text is that is read.
fn by_scale(value: f64, digits: u8) -> Option<f64> {
    let size = value.abs();
    if !(1e-9..1e12).contains(&size) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "-9 to 12")]
    let places = i32::from(digits) - 1 - size.log10().floor() as i32;
    let power = *POWERS.get(places.unsigned_abs() as usize)?;
    let scaled = if places < 0 { size / power } else { size * power };
    let whole = scaled.round();
    let has_digits =
        POWERS[usize::from(digits) - 1] <= whole && whole < POWERS[usize::from(digits)];
    if !has_digits || (scaled.fract() - 0.5).abs() < NEAR_HALF {
        return None;
    }
    let back = if places < 0 { whole * power } else { whole / power };
    Some(back.copysign(value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn six_digits_are_kept_and_no_number_is_none() {
        assert!((rounded(123.456_789, 6) - 123.457).abs() < 1e-9);
        assert!(rounded(f64::INFINITY, 6).is_infinite() && rounded(f64::NAN, 6).is_nan());
    }

    proptest! {
        #[test]
        fn a_rounded_number_is_what_its_text_is_read_as(
            value in prop_oneof![
                any::<f64>(),
                -1e5..1e5_f64,
                (-300_000..300_000_i32).prop_map(|n| f64::from(n) / 8.0),
            ],
            digits in 1_u8..=6,
        ) {
            let text = format!("{value:.*e}", usize::from(digits) - 1);
            let read: f64 = text.parse().unwrap();
            prop_assert_eq!(rounded(value, digits).to_bits(), read.to_bits(), "{} {}", value, text);
        }
    }
}
