//! Counts in arithmetic.

/// A count as a number; exact below 2^53.
#[expect(clippy::cast_precision_loss, reason = "a number of values or points")]
pub(crate) fn float(count: usize) -> f64 {
    count as f64
}
