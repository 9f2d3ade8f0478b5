//! Values as they are printed: with this many digits, in a unit.

use nearfar_units::words;
use serde::Deserialize;

/// A value and the digits it is printed with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Printed {
    pub value: f64,
    pub decimals: u8,
}

impl Printed {
    /// Half a unit of the last printed digit: what was printed lies so near.
    pub fn half_unit(self) -> f64 {
        0.5 * 10_f64.powi(-i32::from(self.decimals))
    }

    /// Least and greatest value that is printed like this.
    pub fn bounds(self) -> (f64, f64) {
        (self.value - self.half_unit(), self.value + self.half_unit())
    }

    pub fn is_rounded(self, value: f64) -> bool {
        (value - self.value).abs() <= self.half_unit() * (1.0 + 1e-9)
    }
}

/// The unit of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum Unit {
    /// 1e6 bytes/s, as STREAM prints it.
    #[serde(rename = "MB/s")]
    MegabytesPerSecond,
    /// 1e9 bytes/s.
    #[serde(rename = "GB/s")]
    GigabytesPerSecond,
}

impl Unit {
    pub fn bytes_per_s(self) -> f64 {
        match self {
            Self::MegabytesPerSecond => 1e6,
            Self::GigabytesPerSecond => 1e9,
        }
    }
}

words!(Unit);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_unit_follows_the_digits() {
        let printed = Printed { value: 0.5144, decimals: 4 };
        assert!((printed.half_unit() - 5e-5).abs() < 1e-18);
        assert!(printed.is_rounded(8778.0 / 17066.0));
        assert!(!printed.is_rounded(8780.0 / 17066.0));
        assert!((Printed { value: 8127.0, decimals: 0 }.half_unit() - 0.5).abs() < 1e-15);
    }
}
