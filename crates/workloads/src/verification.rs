//! Whether a run's result is right.

use serde::Serialize;

/// A value of a result beside the known one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// What was compared.
    pub quantity: String,
    pub expected: f64,
    pub found: f64,
    /// Most that the two may differ, as a fraction of the expected value; of 0 itself where that
    /// is 0. 0 for integers, which are exact.
    pub tolerance: f64,
}

impl Check {
    pub fn relative(
        quantity: impl Into<String>,
        expected: f64,
        found: f64,
        tolerance: f64,
    ) -> Self {
        Self { quantity: quantity.into(), expected, found, tolerance }
    }

    /// Of counts.
    pub fn exact(quantity: impl Into<String>, expected: u64, found: u64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "counts here are below 2^53")]
        let (expected, found) = (expected as f64, found as f64);
        Self { quantity: quantity.into(), expected, found, tolerance: 0.0 }
    }

    /// Whether the two agree.
    pub fn holds(&self) -> bool {
        let scale = if self.expected == 0.0 { 1.0 } else { self.expected.abs() };
        // Written so that NaN does not hold.
        (self.found - self.expected).abs() <= self.tolerance * scale
    }
}

/// Whether all hold, and there are some.
pub fn is_verified(checks: &[Check]) -> bool {
    !checks.is_empty() && checks.iter().all(Check::holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_or_beyond_its_tolerance_does_not_hold() {
        for (expected, found, tolerance, holds) in [
            (2.0, 2.0, 0.0, true),
            (2.0, 2.1, 0.1, true),
            (-2.0, -2.3, 0.1, false),
            (0.0, 1e-9, 1e-8, true),
            (1.0, f64::NAN, 1.0, false),
            (1.0, f64::INFINITY, 1.0, false),
        ] {
            let check = Check::relative("x", expected, found, tolerance);
            assert_eq!(check.holds(), holds, "{check:?}");
        }
        assert!(!is_verified(&[]));
    }
}
