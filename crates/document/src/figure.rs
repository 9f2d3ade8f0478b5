//! A number as every format shows it.

use nearfar_report::{BandwidthView, FlopsView, TimeView};
use nearfar_units::format_significant;
use serde::Serialize;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Unit {
    /// 1e9 useful bytes a second.
    #[serde(rename = "GB/s")]
    GbPerS,
    /// 1e9 floating-point operations a second.
    #[serde(rename = "GFLOP/s")]
    GflopPerS,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Ns,
    /// A ratio.
    #[serde(rename = "1")]
    One,
}

/// A measured or modelled number: rounded once, here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// As it was worked out.
    pub value: f64,
    /// Its interval, or null.
    pub interval: Option<[f64; 2]>,
    /// What it counts.
    pub unit: Unit,
    /// The value as it is shown, without its unit.
    pub text: String,
    /// The interval as it is shown, or null.
    pub interval_text: Option<String>,
    /// Whether something disturbed all samples behind it.
    pub only_disturbed: bool,
    /// The case whose samples are behind it, by its id in the record; the page shows them.
    #[serde(skip)]
    pub case: Option<String>,
}

impl Unit {
    /// As it is written behind a number; nothing for a ratio.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GbPerS => "GB/s",
            Self::GflopPerS => "GFLOP/s",
            Self::Ns => "ns",
            Self::One => "",
        }
    }
}

/// Digits of a figure.
const DIGITS: u32 = 3;

impl Figure {
    /// A number with its interval.
    #[must_use]
    pub fn new(value: f64, interval: Option<[f64; 2]>, unit: Unit) -> Self {
        let written = |value| format_significant(value, DIGITS);
        let interval_text = interval.map(|[low, high]| match (written(low), written(high)) {
            (low, high) if low == high => low,
            (low, high) => format!("{low} to {high}"),
        });
        let text = written(value);
        Self { value, interval, unit, text, interval_text, only_disturbed: false, case: None }
    }

    /// The same as a figure of this case.
    #[must_use]
    pub fn of_case(self, case: &str) -> Self {
        Self { case: Some(case.into()), ..self }
    }

    /// The sum of a bandwidth.
    #[must_use]
    pub fn sum(view: &BandwidthView) -> Self {
        let figure = Self::new(view.sum_gb_per_s, Some(view.sum_interval_gb_per_s), Unit::GbPerS);
        Self { only_disturbed: view.rounds.only_disturbed, ..figure }
    }

    /// Threads x the slowest thread of a bandwidth.
    #[must_use]
    pub fn paced(view: &BandwidthView) -> Self {
        let interval = Some(view.paced_interval_gb_per_s);
        let figure = Self::new(view.paced_gb_per_s, interval, Unit::GbPerS);
        Self { only_disturbed: view.rounds.only_disturbed, ..figure }
    }

    /// The sum of floating-point operations.
    #[must_use]
    pub fn flops(view: &FlopsView) -> Self {
        let interval = Some(view.sum_interval_gflop_per_s);
        let figure = Self::new(view.sum_gflop_per_s, interval, Unit::GflopPerS);
        Self { only_disturbed: view.rounds.only_disturbed, ..figure }
    }

    /// Time of an access.
    #[must_use]
    pub fn time(view: &TimeView) -> Self {
        let figure = Self::new(view.median_ns, Some(view.interval_ns), Unit::Ns);
        Self { only_disturbed: view.only_disturbed, ..figure }
    }

    /// Value, unit and interval in words.
    #[must_use]
    pub fn words(&self) -> String {
        let mut words = format!("{} {}", self.text, self.unit.as_str()).trim_end().to_string();
        if let Some(interval) =
            self.interval_text.as_ref().filter(|interval| **interval != self.text)
        {
            words += &format!(" ({interval})");
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_rounded_once_with_unit_and_interval() {
        let figure = Figure::new(12.345, Some([12.2, 12.449]), Unit::GbPerS);
        assert_eq!(figure.words(), "12.3 GB/s (12.2 to 12.4)");
        let narrow = Figure::new(1.2341, Some([1.234, 1.2342]), Unit::One);
        assert_eq!(narrow.words(), "1.23");
        assert_eq!(Figure::new(179.4, None, Unit::Ns).words(), "179 ns");
    }
}
