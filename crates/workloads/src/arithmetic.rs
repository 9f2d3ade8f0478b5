//! Small things that several workloads compute with.

#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
pub fn real(count: usize) -> f64 {
    count as f64
}

/// The larger one; what is not a number is larger than any.
#[inline]
pub fn larger(known: f64, next: f64) -> f64 {
    if known.is_nan() || known >= next { known } else { next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_is_larger_than_any() {
        assert!(larger(f64::NAN, 1.0).is_nan() && larger(1.0, f64::NAN).is_nan());
        assert_eq!([larger(1.0, 2.0), larger(2.0, 1.0)].map(f64::to_bits), [2.0_f64.to_bits(); 2]);
    }
}
