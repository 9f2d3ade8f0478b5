//! Bandwidths.

use std::fmt;
use std::str::FromStr;

use crate::number::{QuantityError, format_significant, split_number};
use crate::quantity::{BytesPerSecond, Quantity};

impl FromStr for BytesPerSecond {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let (number, unit) = split_number(text)?;
        // Case does not matter but where it tells bits from bytes: Gb/s is gigabits.
        let factor = match unit {
            "MB/s" | "mb/s" | "MB/S" => 1e6,
            "GB/s" | "gb/s" | "GB/S" => 1e9,
            "TB/s" | "tb/s" | "TB/S" => 1e12,
            _ => {
                return Err(QuantityError::Unit {
                    text: text.into(),
                    examples: "12.8GB/s or 800MB/s",
                });
            }
        };
        Ok(Self(number * factor))
    }
}

impl fmt::Display for BytesPerSecond {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} GB/s", format_significant(self.in_unit(), 3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints_decimal_units() {
        let bandwidth: BytesPerSecond = "12.8GB/s".parse().unwrap();
        assert!((bandwidth.0 - 12.8e9).abs() < 1.0);
        assert_eq!(bandwidth.to_string(), "12.8 GB/s");
        assert_eq!("12.8 gb/s".parse(), Ok(bandwidth));
        assert_eq!("12.8GB/S".parse(), Ok(bandwidth));
        for text in ["12.8", "12.8GiB/s", "12.8Gb/s", "800Mb/s", "12.8 gib/s", "12.8GB"] {
            assert!(text.parse::<BytesPerSecond>().is_err(), "{text} was read");
        }
    }
}
