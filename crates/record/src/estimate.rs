//! Numbers that were measured or fitted, as every result holds them.

use std::ops::Mul;

pub use nearfar_stats::Estimate as Median;
use nearfar_units::Quantity;
use serde::Serialize;

/// A number in the unit of its type, how sure it is, and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate<U> {
    pub value: U,
    /// From the lowest to the highest that it may be; null where that is not known.
    pub interval: Option<[U; 2]>,
    /// How often such an interval holds the true value, a fraction; null where that is not known.
    pub confidence: Option<f64>,
    /// The cases behind it, by their ids in the record.
    pub cases: Vec<String>,
}

impl<U: Quantity> Estimate<U> {
    /// A median over the rounds of a case.
    pub fn of_rounds(median: &Median, case: &str) -> Self {
        let (low, high) = median.interval;
        Self {
            value: U::from(median.median),
            interval: Some([U::from(low), U::from(high)]),
            confidence: Some(median.confidence),
            cases: vec![case.into()],
        }
    }

    /// A number that follows from others, and what they leave room for: ends in any order, which hold the
    /// value. What is no number leaves no interval.
    pub fn computed(value: f64, (one, other): (f64, f64), cases: Vec<String>) -> Self {
        let is_known = !(one.is_nan() || other.is_nan());
        let ends = [one.min(other).min(value), one.max(other).max(value)];
        let interval = is_known.then(|| ends.map(U::from));
        Self { value: U::from(value), interval, confidence: None, cases }
    }

    /// The same times a number.
    pub fn scaled(&self, by: f64) -> Self
    where
        U: Mul<f64, Output = U>,
    {
        let interval = self.interval.map(|ends| ends.map(|end| end * by));
        Self { value: self.value * by, interval, ..self.clone() }
    }

    /// Lowest and highest; the value itself where it has no interval.
    pub fn ends(&self) -> [U; 2] {
        self.interval.unwrap_or([self.value; 2])
    }

    /// Half the interval's width as a fraction of the value.
    pub fn relative_half_width(&self) -> f64 {
        let [low, high] = self.ends().map(U::in_unit);
        (high - low) / 2.0 / self.value.in_unit()
    }

    /// How far the interval reaches from the value on its wider side, as a fraction of the value.
    pub fn relative_reach(&self) -> f64 {
        let [low, high] = self.ends().map(U::in_unit);
        let value = self.value.in_unit();
        (high - value).max(value - low) / value
    }

    /// Whether it and its interval can be divided by.
    pub fn is_positive(&self) -> bool {
        let [low, high] = self.ends();
        [self.value, low, high].map(U::in_unit).iter().all(|it| it.is_finite() && *it > 0.0)
    }
}

/// What was found, or why it is not known.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Outcome<T> {
    Found(T),
    Unknown {
        /// Why, in words.
        unknown: String,
    },
}

impl<T> Outcome<T> {
    pub fn found(&self) -> Option<&T> {
        match self {
            Self::Found(found) => Some(found),
            Self::Unknown { .. } => None,
        }
    }

    /// The same with the reason.
    ///
    /// # Errors
    /// Why it is not known.
    pub fn as_result(&self) -> Result<&T, &str> {
        match self {
            Self::Found(found) => Ok(found),
            Self::Unknown { unknown } => Err(unknown),
        }
    }
}

impl<T> From<Result<T, String>> for Outcome<T> {
    fn from(result: Result<T, String>) -> Self {
        result.map_or_else(|unknown| Self::Unknown { unknown }, Self::Found)
    }
}

#[cfg(test)]
mod tests {
    use nearfar_units::BytesPerSecond;

    use super::*;

    /// Bounds of noisy figures can cross, and a sharper law's value can lie outside of them.
    #[test]
    fn intervals_are_in_order_and_hold_their_value() {
        let ends = |value: f64, ends: (f64, f64)| {
            let found = Estimate::<BytesPerSecond>::computed(value, ends, Vec::new());
            found.interval.map(|ends| ends.map(|end| end.0))
        };
        assert_eq!(ends(10.1, (13.5, 7.57)), Some([7.57, 13.5]));
        assert_eq!(ends(2.0, (3.0, 4.0)), Some([2.0, 4.0]));
        assert_eq!(ends(2.0, (f64::NAN, 4.0)), None);
    }
}
