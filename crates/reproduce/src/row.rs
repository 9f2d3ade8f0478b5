//! A printed value beside ours.

use serde::Serialize;

use crate::printed::Printed;

/// A printed value beside ours.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Where the value stands and what it is: `table 5.2, amd-2p, memory, class 0, alpha`.
    /// The unit comes last where there is one.
    pub item: String,
    /// As printed.
    pub printed: f64,
    /// As worked out here; `None` for an input.
    pub ours: Option<f64>,
    /// ours / printed - 1, a fraction; `None` for an input.
    pub error: Option<f64>,
    /// How the two stand to each other.
    pub status: Status,
    /// Whether ours comes from a simulated machine that was given the printed value.
    pub round_trip: bool,
    /// Why they differ, where an input is used, or that they agree by a round trip; `None` for
    /// any other row that passes.
    pub why: Option<String>,
}

/// What a round trip shows; `docs/models.md` has the same sentence.
pub const ROUND_TRIP: &str = "round trip: the simulated machine was given this figure, and that it \
                              comes back shows that executor, engine, record, pairs and classes \
                              lose nothing, no more";

/// How a printed value and ours stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// They agree: the difference is within half a unit of the last printed digit
    /// and what the rounding of the values that it was worked out from can do.
    Pass,
    /// They differ, and the reason was checked on the paper's own numbers.
    Explained,
    /// They differ for no known reason.
    Fail,
    /// An input: printed only, not counted.
    Given,
}

/// Why a printed value and ours may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason {
    /// In words; `docs/models.md` has the same sentence.
    pub why: &'static str,
    /// Whether the numbers bear it out.
    pub holds: bool,
}

/// What is needed to judge a printed value.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// [`Row::item`].
    pub item: String,
    /// As printed.
    pub printed: Printed,
    /// As worked out here; `None` when the models give no such value.
    pub ours: Option<f64>,
    /// By how much ours can be off because its inputs were printed rounded.
    pub input_rounding: f64,
    /// Why the two may differ, where something is known.
    pub reason: Option<Reason>,
}

/// Room for the error of binary fractions, as a fraction of the value: a tie such as
/// 0.34765 beside 0.3477 is half a unit away in decimals and a little more in binary.
const BINARY_ROUNDING: f64 = 1e-12;

impl Comparison {
    /// The row: passes, or is explained when the reason holds, or fails.
    #[must_use]
    pub fn judge(self) -> Row {
        let printed = self.printed.value;
        let allowed = self.printed.half_unit() + self.input_rounding;
        let room = allowed + BINARY_ROUNDING * printed.abs();
        let agrees = self.ours.is_some_and(|ours| (ours - printed).abs() <= room);
        let (status, why) = match self.reason {
            _ if agrees => (Status::Pass, None),
            Some(reason) if reason.holds => (Status::Explained, Some(reason.why.to_string())),
            Some(reason) => (
                Status::Fail,
                Some(format!("the reason known for it does not hold here: {}", reason.why)),
            ),
            None if self.ours.is_none() => {
                (Status::Fail, Some("the models give no such value".into()))
            }
            None => (
                Status::Fail,
                Some(format!("ours differs by more than rounding can explain ({allowed})")),
            ),
        };
        let error = self.ours.map(|ours| ours / printed - 1.0);
        Row { item: self.item, printed, ours: self.ours, error, status, round_trip: false, why }
    }
}

impl Row {
    /// An input.
    #[must_use]
    pub fn given(item: String, printed: f64, why: &str) -> Self {
        Self {
            item,
            printed,
            ours: None,
            error: None,
            status: Status::Given,
            round_trip: false,
            why: Some(why.into()),
        }
    }

    /// The row, marked as one whose printed value a simulated machine was given.
    #[must_use]
    pub fn after_round_trip(self) -> Self {
        let why = if self.status == Status::Pass { Some(ROUND_TRIP.into()) } else { self.why };
        Self { round_trip: true, why, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(printed: f64, ours: Option<f64>, reason: Option<bool>) -> Row {
        Comparison {
            item: "item".into(),
            printed: Printed { value: printed, decimals: 4 },
            ours,
            input_rounding: 0.0,
            reason: reason.map(|holds| Reason { why: "because", holds }),
        }
        .judge()
    }

    #[test]
    fn half_a_unit_of_the_last_digit_passes_and_no_more() {
        assert_eq!(comparison(0.3477, Some(0.34765), None).status, Status::Pass);
        assert_eq!(comparison(0.4648, Some(0.46485), None).status, Status::Pass);
        assert_eq!(comparison(0.3477, Some(0.347_649), None).status, Status::Fail);
    }

    #[test]
    fn a_reason_counts_only_where_it_holds_and_is_needed() {
        assert_eq!(comparison(0.5, Some(0.6), Some(true)).status, Status::Explained);
        assert_eq!(comparison(0.5, Some(0.6), Some(false)).status, Status::Fail);
        assert_eq!(comparison(0.5, Some(0.5), Some(false)).status, Status::Pass);
        assert_eq!(comparison(0.5, None, None).status, Status::Fail);
        assert_eq!(comparison(0.5, Some(f64::NAN), None).status, Status::Fail);
    }

    /// A figure that did not come back is not excused.
    #[test]
    fn a_round_trip_that_fails_keeps_its_reason() {
        let back = comparison(0.5, Some(0.5), None).after_round_trip();
        assert_eq!((back.status, back.why.as_deref()), (Status::Pass, Some(ROUND_TRIP)));
        let lost = comparison(0.5, Some(0.6), None).after_round_trip();
        assert_eq!(lost.status, Status::Fail);
        assert!(lost.round_trip && lost.why.unwrap().starts_with("ours differs"));
    }

    #[test]
    fn the_error_is_a_fraction_of_the_printed_value() {
        let row = comparison(0.5, Some(0.6), None);
        assert!((row.error.unwrap() - 0.2).abs() < 1e-12);
    }
}
