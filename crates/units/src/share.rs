//! Shares and ratios.

use crate::number::{QuantityError, split_number};

/// Reads `70%` or `0.7` as 0.7.
///
/// # Errors
/// When there is no number, or something else than `%` behind it.
pub fn parse_ratio(text: &str) -> Result<f64, QuantityError> {
    match split_number(text)? {
        (number, "") => Ok(number),
        (number, "%") => Ok(number / 100.0),
        _ => Err(QuantityError::Unit { text: text.into(), examples: "70% or 0.7" }),
    }
}

/// Reads a part of a whole: `70%` or `0.7`.
///
/// # Errors
/// As [`parse_ratio`], and when it is more than the whole.
pub fn parse_share(text: &str) -> Result<f64, QuantityError> {
    let ratio = parse_ratio(text)?;
    if ratio <= 1.0 {
        return Ok(ratio);
    }
    Err(QuantityError::Beyond { text: text.into(), sensible: "from 0 to 1, or from 0% to 100%" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_fraction_or_a_percentage() {
        for (text, share) in [("70%", 0.7), ("0.7", 0.7), ("100 %", 1.0), ("0", 0.0), ("1", 1.0)] {
            assert!((parse_share(text).unwrap() - share).abs() < 1e-12, "{text}");
        }
        for text in ["", "%", "1.01", "101%", "-1", "0.7x", "1e-3", "nan", "70 percent"] {
            assert!(parse_share(text).is_err(), "{text:?} was read");
        }
        assert!((parse_ratio("250%").unwrap() - 2.5).abs() < 1e-12);
    }
}
