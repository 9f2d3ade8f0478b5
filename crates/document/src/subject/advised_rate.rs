//! What an advised placement gives and gains, in words.

use nearfar_advise::{Candidate, LEAST_GAIN};
use nearfar_record::Estimate;
use nearfar_units::{BytesPerSecond, Quantity};

use super::figures::significant;
use crate::figure::Figure;

/// `*72.3 ±0.63  x 2.9`; by lone pairs `29.8 to 58.2`; `324 measured`.
pub(super) fn figure(
    candidate: &Candidate,
    measured_default: Option<BytesPerSecond>,
    is_best: bool,
) -> String {
    let mark = if is_best { "*" } else { "" };
    let figure = match candidate.measured {
        Some(measured) => format!("{mark}{} measured", significant(measured.in_unit(), 3)),
        None => format!("{mark}{}", with_interval(&candidate.predicted)),
    };
    match gain_words(candidate, measured_default).as_str() {
        "" => figure,
        gain => format!("{figure}  {gain}"),
    }
}

/// The widest interval that is written as a value and how far it reaches: of wider ones the middle says
/// little.
const MOST_REACH: f64 = 0.25;

fn with_interval(rate: &Estimate<BytesPerSecond>) -> String {
    let figure = Figure::of(rate);
    match &figure.interval_text {
        Some(ends) if figure.relative_spread().is_some_and(|it| it > MOST_REACH) => ends.clone(),
        _ => format!("{}{}", figure.text, figure.spread().unwrap_or_default()),
    }
}

/// What a candidate gives: as the record's own case of it moved, else as it is predicted.
pub(super) fn given_words(candidate: &Candidate) -> String {
    match candidate.measured {
        Some(measured) => format!("{} GB/s as measured", significant(measured.in_unit(), 3)),
        None => rate_words(&candidate.predicted),
    }
}

pub(super) fn rate_words(rate: &Estimate<BytesPerSecond>) -> String {
    format!("{} GB/s", with_interval(rate))
}

/// A gain that is told: `x 2.9` from 2 on, below in percent; of what was measured where the default was as
/// well; the mean of all fits where by the best one it is too small to be told.
pub(super) fn gain_words(
    candidate: &Candidate,
    measured_default: Option<BytesPerSecond>,
) -> String {
    let Some(gain) = candidate.gain.filter(|_| candidate.is_claimed && !candidate.is_default)
    else {
        return String::new();
    };
    if let Some((own, before)) = candidate.measured.zip(measured_default) {
        return factor(own / before - 1.0);
    }
    match candidate.mean_gain {
        Some(mean) if gain < LEAST_GAIN => format!("{} on average", factor(mean)),
        _ => factor(gain),
    }
}

pub(super) fn factor(gain: f64) -> String {
    if gain >= 1.0 {
        return format!("x {}", significant(1.0 + gain, 2));
    }
    format!("+{} %", significant(100.0 * gain, 2))
}
