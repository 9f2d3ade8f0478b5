//! A number as every format shows it.

use std::fmt;

use nearfar_model::AccessTime;
use nearfar_record::{Aggregate, CaseSummary, Estimate};
use nearfar_units::{Nanoseconds, Quantity, format_significant};
use serde::{Serialize, Serializer};

pub use nearfar_units::Unit;

/// A measured or modelled number: rounded once, here.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// As it was computed.
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
    /// Whether it is of local memory, where that is marked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub is_local: bool,
    /// How often such an interval holds the true value, a fraction; null where that is not known.
    /// The text of an interval says so where it is less than 0.95.
    pub confidence: Option<f64>,
    /// The samples behind it; the page shows them.
    #[serde(skip)]
    pub behind: Option<Behind>,
}

/// The samples behind a figure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Behind {
    /// The case, by its id in the record.
    pub case: String,
    /// What of each sample.
    pub counted: Counted,
}

/// What of a case's samples a figure is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Counted {
    /// Useful bytes of all threads.
    Bytes,
    /// Useful bytes, threads x the slowest.
    PacedBytes,
    /// Useful bytes of the actor at this position.
    ActorBytes(usize),
    /// Operations of the actor at this position.
    ActorFlops(usize),
    /// Useful bytes of the actor at this position / those of all.
    ActorShare(usize),
    /// The time of an access of the first chase.
    AccessTime,
}

impl Counted {
    /// What samples of it count.
    pub fn unit(self) -> Unit {
        match self {
            Self::Bytes | Self::PacedBytes | Self::ActorBytes(_) => Unit::GbPerS,
            Self::ActorFlops(_) => Unit::GflopPerS,
            Self::ActorShare(_) => Unit::One,
            Self::AccessTime => Unit::Ns,
        }
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes => out.write_str("all threads together"),
            Self::PacedBytes => out.write_str("threads x the slowest"),
            Self::ActorBytes(position) | Self::ActorFlops(position) => {
                write!(out, "actor {position} of the case")
            }
            Self::ActorShare(position) => {
                return write!(out, "actor {position} of the case / all actors");
            }
            Self::AccessTime => out.write_str("the chase"),
        }?;
        write!(out, ", {}", self.unit().as_str())
    }
}

/// As the page's data name it.
impl Serialize for Counted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Intervals that are less sure say so; with six rounds and more they are as sure.
const USUAL_CONFIDENCE: f64 = 0.95;

const DIGITS: u32 = 3;

/// The widest spread that is written as one number, a fraction of the value: of wider ones both ends
/// are told.
const MOST_PLUS_MINUS: f64 = 0.5;

/// A spread below this part of the last digit does not show.
const ROUNDING: f64 = 0.05;

impl Figure {
    /// A number with its interval.
    pub fn new(value: f64, interval: Option<[f64; 2]>, unit: Unit) -> Self {
        let written = |value| format_significant(value, DIGITS);
        let interval_text = interval.map(|[low, high]| match (written(low), written(high)) {
            (low, high) if low == high => low,
            (low, high) => format!("{low} to {high}"),
        });
        Self {
            value,
            interval,
            unit,
            text: written(value),
            interval_text,
            only_disturbed: false,
            is_local: false,
            confidence: None,
            behind: None,
        }
    }

    /// A number of a result that has no interval.
    pub fn plain<U: Quantity>(value: U) -> Self {
        Self::new(value.in_unit(), None, U::UNIT)
    }

    /// A ratio of a result that has no interval.
    pub fn ratio(value: f64) -> Self {
        Self::new(value, None, Unit::One)
    }

    /// A number of a result.
    pub fn of<U: Quantity>(estimate: &Estimate<U>) -> Self {
        let interval = estimate.interval.map(|ends| ends.map(U::in_unit));
        let figure = Self::new(estimate.value.in_unit(), interval, U::UNIT);
        match estimate.confidence {
            Some(confidence) => figure.confident(confidence),
            None => figure,
        }
    }

    /// A time between machines, where nanoseconds would be tens of thousands.
    pub fn microseconds(time: &Estimate<Nanoseconds>) -> Self {
        let interval = time.interval.map(|ends| ends.map(|end| end.0 / 1e3));
        let figure = Self::new(time.value.0 / 1e3, interval, Unit::Us);
        match time.confidence {
            Some(confidence) => figure.confident(confidence),
            None => figure,
        }
    }

    /// A number of a result that samples of one case lie behind.
    pub fn sampled<U: Quantity>(estimate: &Estimate<U>, counted: Counted) -> Self {
        match estimate.cases.as_slice() {
            [case] => Self::of(estimate).of_samples(case, counted),
            _ => Self::of(estimate),
        }
    }

    /// What stands behind one whose every sample something disturbed, in words.
    pub(crate) fn mark(&self) -> &'static str {
        if self.only_disturbed { " (disturbed)" } else { "" }
    }

    /// The same as a figure of these samples of a case.
    pub fn of_samples(self, case: &str, counted: Counted) -> Self {
        Self { behind: Some(Behind { case: case.into(), counted }), ..self }
    }

    /// The same, marked as of local memory or not.
    pub fn of_local(self, is_local: bool) -> Self {
        Self { is_local, ..self }
    }

    /// What is only known to be less than this.
    pub fn below<U: Quantity>(most: U) -> Self {
        let figure = Self::plain(most);
        Self { text: format!("< {}", figure.text), ..figure }
    }

    /// The same in brackets, for what is only known to be about so much or more.
    pub fn bracketed(self) -> Self {
        Self { text: format!("({})", self.text), ..self }
    }

    /// The same, marked as what a model says and nobody measured.
    pub fn predicted(self) -> Self {
        Self { text: format!("~{}", self.text), ..self }
    }

    /// The same with how often its interval holds the true value: said where it is less than
    /// usual, as with few rounds. Of one round there is no interval, which is said.
    fn confident(mut self, confidence: f64) -> Self {
        self.confidence = Some(confidence);
        if self.is_of_one_round() {
            self.interval_text = Some("one round".into());
            return self;
        }
        if confidence < USUAL_CONFIDENCE
            && let Some(text) = &mut self.interval_text
        {
            *text += &format!(", {} %", format_significant(100.0 * confidence, 2));
        }
        self
    }

    /// Useful bytes of all threads together.
    pub fn sum(of: &CaseSummary) -> Self {
        Self::of_case(of, Aggregate::Sum, Unit::GbPerS)
    }

    /// Useful bytes as threads x the slowest thread.
    pub fn paced(of: &CaseSummary) -> Self {
        Self::of_case(of, Aggregate::Paced, Unit::GbPerS)
    }

    /// Floating-point operations of all threads together.
    pub fn flops(of: &CaseSummary) -> Self {
        Self::of_case(of, Aggregate::Sum, Unit::GflopPerS)
    }

    fn of_case(of: &CaseSummary, aggregate: Aggregate, unit: Unit) -> Self {
        let median = match aggregate {
            Aggregate::Sum => &of.sum,
            Aggregate::Paced => &of.paced,
        };
        let (low, high) = median.interval;
        let figure = Self::new(median.median / 1e9, Some([low / 1e9, high / 1e9]), unit);
        Self { only_disturbed: of.only_disturbed, ..figure }.confident(median.confidence)
    }

    /// Time of an access.
    pub fn time(time: &AccessTime) -> Self {
        Self { only_disturbed: time.only_disturbed, ..Self::of(&time.time) }
    }

    /// Whether a single round stands behind it, so that how far rounds scatter is not known.
    fn is_of_one_round(&self) -> bool {
        self.confidence.is_some_and(|confidence| confidence <= 0.0)
    }

    /// ` ±3.1`, or where that is much of the value ` (28.0 to 61.5)`, and ` (one round)` of a single one;
    /// `None` where it has no interval, or that does not show in the value's decimals.
    pub fn spread(&self) -> Option<String> {
        if self.relative_spread().is_some_and(|spread| spread > MOST_PLUS_MINUS)
            || self.is_lopsided()
            || self.is_of_one_round()
        {
            return self.interval_text.as_ref().map(|ends| format!(" ({ends})"));
        }
        self.plus_minus().map(|reach| format!(" ±{reach}"))
    }

    /// Whether one side of the interval is far wider than the other, and that much of the value that one
    /// number for both says what is not so.
    fn is_lopsided(&self) -> bool {
        const WIDER: f64 = 3.0;
        const LEAST: f64 = 0.1;
        let Some([low, high]) = self.interval else { return false };
        let (below, above) = (self.value - low, high - self.value);
        below.max(above) > WIDER * below.min(above)
            && self.relative_spread().is_some_and(|spread| spread > LEAST)
    }

    /// How far the interval reaches from the value on its wider side, in the value's decimals; `None`
    /// where it has none, or it does not show in these.
    fn plus_minus(&self) -> Option<String> {
        let farthest = self.reach()?;
        let decimals = self.text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let scale = 10_f64.powi(i32::try_from(decimals).ok()?);
        // Not less than it is, but for what does not show.
        let shown = (farthest * scale - ROUNDING).ceil() / scale;
        (shown > 0.0 && shown.is_finite()).then(|| format!("{shown:.decimals$}"))
    }

    /// How far the interval reaches from the value on its wider side, as a fraction of it.
    pub fn relative_spread(&self) -> Option<f64> {
        Some(self.reach()? / self.value).filter(|spread| spread.is_finite())
    }

    /// How far the interval reaches from the value on its wider side.
    fn reach(&self) -> Option<f64> {
        let [low, high] = self.interval?;
        Some((high - self.value).max(self.value - low))
    }

    /// How sure the interval is, a fraction, where that is less than usual and there is one.
    pub fn unusual_confidence(&self) -> Option<f64> {
        self.confidence.filter(|&confidence| confidence < USUAL_CONFIDENCE && confidence > 0.0)
    }

    /// Value, unit and interval in words.
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
        let few = Figure::new(37.8, Some([35.0, 61.2]), Unit::GbPerS).confident(0.875);
        assert_eq!(few.words(), "37.8 GB/s (35.0 to 61.2, 88 %)");
        // Beside others with intervals it looked like the surest of all.
        let one = Figure::new(162.0, Some([162.0, 162.0]), Unit::Ns).confident(0.0);
        assert_eq!(
            (one.words().as_str(), one.spread().as_deref()),
            ("162 ns (one round)", Some(" (one round)"))
        );
    }
}
