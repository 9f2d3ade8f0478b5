//! A printed value beside ours.

use serde::Serialize;

use crate::printed::Printed;

/// A printed value beside ours.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// Where the value stands and what it is: `table 5.2, amd-2p, memory, class 0, alpha`.
    /// The unit comes last where there is one.
    pub item: String,
    pub printed: f64,
    /// As computed here; null for an input.
    pub ours: Option<f64>,
    /// ours / printed - 1, a fraction; null for an input, beside a bound and where 0 is printed.
    pub error: Option<f64>,
    /// How the two stand to each other.
    pub status: Status,
    /// By what the two were compared; null for an input.
    pub judged_by: Option<Measure>,
    /// How far ours may be from the printed value, as a fraction of it; null but for `model`.
    pub tolerance: Option<f64>,
    /// Whether ours comes from a simulated machine that was given the printed value.
    pub round_trip: bool,
    /// Whether ours is computed from the paper's own numbers alone: a consistency check, which predicts nothing.
    pub from_inputs: bool,
    /// Why they differ, where an input is used, or that they agree by a round trip or as a
    /// consistency check; null for any other row that passes.
    pub why: Option<String>,
}

/// What a round trip shows; the page of a paper in `docs/papers` has the same sentence.
pub const ROUND_TRIP: &str = "round trip: the simulated machine was given this figure, and that it \
                              comes back shows that executor, engine, record and model lose \
                              nothing, no more";

/// What arithmetic on inputs shows; the page of a paper in `docs/papers` has the same sentence.
pub const FROM_INPUTS: &str = "consistency check: computed from the paper's own numbers; agreement shows that these \
                               fit together, no more";

/// How a printed value and ours stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// They agree by what they are judged by.
    Pass,
    /// They differ, and the reason was checked on the paper's own numbers.
    Explained,
    /// They differ for no known reason.
    Fail,
    /// An input: printed only, not counted.
    Given,
}

/// By what a printed value and ours are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Ours must round to the printed value: both are computed from the same numbers.
    Rounding,
    /// Ours must be as near as the model promises: it predicts what the paper measured.
    Model,
    /// Ours must be on the same side of zero: the paper says which of two is better, and by how
    /// much on its machine, and the model only which.
    Sign,
    /// Ours must be below the printed value: the paper says what an error stays under.
    Bound,
}

/// How far ours may be from the printed value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Room {
    /// Half a unit of the last printed digit, and by how much ours can be off because its inputs
    /// were printed rounded.
    Rounding(f64),
    /// This fraction of the printed value, which is what the model promises.
    Model(f64),
    Sign,
    Bound,
}

/// Why a printed value and ours may differ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reason {
    /// In words; the page of the paper in `docs/papers` has the same sentence.
    pub why: &'static str,
    pub holds: bool,
}

/// What is needed to judge a printed value.
#[derive(Debug, Clone)]
pub(crate) struct Comparison {
    pub item: String,
    pub printed: Printed,
    /// `None` when the models give no such value.
    pub ours: Option<f64>,
    pub room: Room,
    /// Why the two may differ, where something is known.
    pub reason: Option<Reason>,
}

/// Room for the error of binary fractions, as a fraction of the value: a tie such as
/// 0.34765 beside 0.3477 is half a unit away in decimals and a little more in binary.
const BINARY_ROUNDING: f64 = 1e-12;

impl Comparison {
    /// Of a value that must round to the printed one.
    pub fn of(item: String, printed: Printed, ours: Option<f64>) -> Self {
        Self { item, printed, ours, room: Room::Rounding(0.0), reason: None }
    }

    /// The row: passes, or is explained when the reason holds, or fails.
    pub fn judge(self) -> Row {
        let printed = self.printed.value;
        let binary = BINARY_ROUNDING * printed.abs();
        let within = |room: f64| self.ours.is_some_and(|ours| (ours - printed).abs() <= room);
        let (judged_by, tolerance, agrees, allowed) = match self.room {
            Room::Rounding(of_inputs) => {
                let room = self.printed.half_unit() + of_inputs;
                let words = format!("by more than rounding can explain ({room})");
                (Measure::Rounding, None, within(room + binary), words)
            }
            Room::Model(fraction) => {
                let room = fraction * printed.abs() + self.printed.half_unit();
                let words = format!("by more than the model promises ({} %)", fraction * 100.0);
                (Measure::Model, Some(fraction), within(room + binary), words)
            }
            Room::Sign => {
                let agrees = self.ours.is_some_and(|ours| ours * printed > 0.0);
                (Measure::Sign, None, agrees, "in its sign".into())
            }
            Room::Bound => {
                let agrees = self.ours.is_some_and(|ours| ours < printed);
                (Measure::Bound, None, agrees, "by not being below the bound".into())
            }
        };
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
            None => (Status::Fail, Some(format!("ours differs {allowed}"))),
        };
        // What is left below a bound is a margin and no error.
        let compared = self.ours.filter(|_| judged_by != Measure::Bound);
        let error = compared.map(|ours| ours / printed - 1.0);
        Row {
            item: self.item,
            printed,
            ours: self.ours,
            error: error.filter(|error| error.is_finite()),
            status,
            judged_by: Some(judged_by),
            tolerance,
            round_trip: false,
            from_inputs: false,
            why,
        }
    }
}

impl Row {
    pub fn given(item: String, printed: f64, why: &str) -> Self {
        Self {
            item,
            printed,
            ours: None,
            error: None,
            status: Status::Given,
            judged_by: None,
            tolerance: None,
            round_trip: false,
            from_inputs: false,
            why: Some(why.into()),
        }
    }

    /// The row, marked as one whose printed value a simulated machine was given.
    pub fn after_round_trip(self) -> Self {
        let why = if self.status == Status::Pass { Some(ROUND_TRIP.into()) } else { self.why };
        Self { round_trip: true, why, ..self }
    }

    /// The row, marked as a consistency check.
    pub fn of_inputs_alone(self) -> Self {
        let why = if self.status == Status::Pass { Some(FROM_INPUTS.into()) } else { self.why };
        Self { from_inputs: true, why, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(printed: f64, ours: Option<f64>, reason: Option<bool>) -> Row {
        let reason = reason.map(|holds| Reason { why: "because", holds });
        let printed = Printed { value: printed, decimals: 4 };
        Comparison { reason, ..Comparison::of("item".into(), printed, ours) }.judge()
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

    fn judged(room: Room, printed: f64, ours: f64) -> Row {
        let printed = Printed { value: printed, decimals: 0 };
        Comparison { room, ..Comparison::of("item".into(), printed, Some(ours)) }.judge()
    }

    #[test]
    fn predictions_may_be_off_by_what_the_model_promises() {
        let near = judged(Room::Model(0.03), 13842.0, 13842.0 * 0.971);
        assert_eq!((near.status, near.tolerance), (Status::Pass, Some(0.03)));
        let far = judged(Room::Model(0.03), 13842.0, 13842.0 * 0.96);
        assert_eq!(far.status, Status::Fail);
        assert!(far.why.unwrap().contains("3 %"));
    }

    #[test]
    fn signs_agree_on_one_side_of_zero() {
        assert_eq!(judged(Room::Sign, 22.0, 3.0).status, Status::Pass);
        assert_eq!(judged(Room::Sign, 22.0, -3.0).status, Status::Fail);
        assert_eq!(judged(Room::Sign, 22.0, 0.0).status, Status::Fail);
    }

    #[test]
    fn what_is_below_a_bound_has_a_margin_and_no_error() {
        let below = judged(Room::Bound, 1.0, 0.52);
        assert_eq!((below.status, below.error), (Status::Pass, None));
        assert_eq!(judged(Room::Bound, 1.0, 1.0).status, Status::Fail);
    }

    #[test]
    fn the_error_is_a_fraction_of_the_printed_value() {
        let row = comparison(0.5, Some(0.6), None);
        assert!((row.error.unwrap() - 0.2).abs() < 1e-12);
    }
}
