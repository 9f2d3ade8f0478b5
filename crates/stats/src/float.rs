//! Counts in arithmetic.

/// A count as a number; exact below 2^53.
pub(crate) fn float(count: usize) -> f64 {
    count as f64
}
