//! Splitting a quantity's text into number and unit, and printing numbers.

use crate::excerpt::excerpt;

/// Why a quantity could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// There is no number at its start.
    #[error("'{}' does not start with a number such as 8 or 1.5", excerpt(.0))]
    NoNumber(String),
    /// The unit is missing or unknown.
    #[error("'{}' has no unit that is known here; write for example {examples}", excerpt(text))]
    Unit {
        text: String,
        /// What would have been accepted.
        examples: &'static str,
    },
    /// More than makes sense.
    #[error("'{}' is out of range: give a number {sensible}", excerpt(text))]
    Beyond {
        text: String,
        /// What would have been accepted.
        sensible: &'static str,
    },
    /// An entry of a list is no number and no range.
    #[error(
        "'{}' in the list '{}' is no number and no range; write for example 0-3,8",
        excerpt(entry),
        excerpt(list)
    )]
    Entry { entry: String, list: String },
    /// Negative, not finite or beyond what can be held.
    #[error("'{}' is out of range", excerpt(.0))]
    Range(String),
}

/// Splits `1.5GiB` into `1.5` and `GiB`. Exponents, signs, `inf` and `nan` are
/// not numbers here.
pub(crate) fn split_number(text: &str) -> Result<(f64, &str), QuantityError> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number: f64 = digits.parse().map_err(|_| QuantityError::NoNumber(text.into()))?;
    if number.is_finite() {
        Ok((number, unit.trim_start()))
    } else {
        Err(QuantityError::Range(text.into()))
    }
}

/// A number in this many significant digits, without exponent: 12.3, 0.0451, 1234.
pub fn format_significant(value: f64, digits: u32) -> String {
    if value == 0.0 || !value.is_finite() {
        // Zero has no sign.
        return format!("{:.0}", value + 0.0);
    }
    // The exponent is taken after rounding: 9.999 in three digits is 10.0, not 10.00.
    let digits = usize::try_from(digits.max(1)).unwrap_or(1);
    let rounded = format!("{:.*e}", digits - 1, value.abs());
    let exponent: i64 =
        rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let decimals = i64::try_from(digits).unwrap_or(1) - 1 - exponent;
    format!("{value:.*}", usize::try_from(decimals).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits() {
        for (value, text) in [
            (12.345, "12.3"),
            (0.04512, "0.0451"),
            (1234.0, "1234"),
            (0.0, "0"),
            (-0.0, "0"),
            (-3.0, "-3.00"),
            (9.999, "10.0"),
            (0.9996, "1.00"),
        ] {
            assert_eq!(format_significant(value, 3), text);
        }
    }
}
