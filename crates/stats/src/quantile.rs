//! What a share of the values is at most.
//! Source: Hyndman and Fan, The American Statistician 50 (1996), definition 7.

/// What this share (0 to 1) of ascending values is at most, linear between them; `None` without
/// values, or for a share outside of 0 to 1.
pub fn quantile(ascending: &[f64], share: f64) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    if !(0.0..=1.0).contains(&share) {
        return None;
    }
    let place = share * (last as f64);
    #[expect(clippy::cast_possible_truncation, reason = "at most the number of values")]
    #[expect(clippy::cast_sign_loss, reason = "a share of a number of values")]
    let low = place as usize;
    let next = ascending[(low + 1).min(last)];
    Some(ascending[low] + place.fract() * (next - ascending[low]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_values_and_between_them_it_is_linear() {
        let ascending = [1.0, 2.0, 4.0, 8.0, 16.0];
        for (share, expected) in [(0.0, 1.0), (0.25, 2.0), (0.375, 3.0), (0.9, 12.8), (1.0, 16.0)] {
            let found = quantile(&ascending, share).unwrap();
            assert!((found - expected).abs() < 1e-12, "{share}: {found}");
        }
        assert_eq!(quantile(&[3.0], 0.7), Some(3.0));
    }

    #[test]
    fn no_values_and_no_share_have_none() {
        assert_eq!(quantile(&[], 0.5), None);
        for share in [-0.1, 1.1, f64::NAN] {
            assert_eq!(quantile(&[1.0, 2.0], share), None);
        }
    }
}
