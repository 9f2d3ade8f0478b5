//! Capacities.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::number::{QuantityError, format_significant, split_number};

/// A number of bytes. In JSON a plain number.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

const KIB: u64 = 1024;

impl FromStr for Bytes {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let (number, unit) = split_number(text)?;
        let factor: u64 = match unit {
            "" | "B" => 1,
            "KiB" => KIB,
            "MiB" => KIB * KIB,
            "GiB" => KIB * KIB * KIB,
            "TiB" => KIB * KIB * KIB * KIB,
            "kB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "TB" => 1_000_000_000_000,
            _ => {
                return Err(QuantityError::Unit {
                    text: text.into(),
                    examples: "64KiB, 8MiB or 1GiB",
                });
            }
        };
        let bytes = number * factor as f64;
        // 2^53: beyond it an f64 no longer counts single bytes, and no machine has it.
        if bytes <= 9_007_199_254_740_992.0 {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "not negative by the grammar, at most 2^53 by the comparison"
            )]
            Ok(Self(bytes as u64))
        } else {
            Err(QuantityError::Range(text.into()))
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (factor, unit) = match self.0 {
            0..KIB => return write!(out, "{} B", self.0),
            bytes if bytes < KIB * KIB => (KIB, "KiB"),
            bytes if bytes < KIB * KIB * KIB => (KIB * KIB, "MiB"),
            bytes if bytes < KIB * KIB * KIB * KIB => (KIB * KIB * KIB, "GiB"),
            _ => (KIB * KIB * KIB * KIB, "TiB"),
        };
        if self.0.is_multiple_of(factor) {
            write!(out, "{} {unit}", self.0 / factor)
        } else {
            let value = self.0 as f64 / factor as f64;
            write!(out, "{} {unit}", format_significant(value, 3))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_families_of_units() {
        for (text, bytes) in [
            ("4096", 4096),
            ("64KiB", 65_536),
            ("1.5 GiB", 1_610_612_736),
            ("1GB", 1_000_000_000),
            ("0.5kB", 500),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)));
        }
        for text in ["", "MiB", "-1", "1e9", "8mib", "8M", "9000000GiB", "inf", "nan", "1.2.3"] {
            assert!(text.parse::<Bytes>().is_err(), "{text:?} was read");
        }
    }

    #[test]
    fn prints_powers_of_1024() {
        for (bytes, text) in [
            (100, "100 B"),
            (8 << 20, "8 MiB"),
            (1_610_612_736, "1.50 GiB"),
            (260 << 20, "260 MiB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }
}
