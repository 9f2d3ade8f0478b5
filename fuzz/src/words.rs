//! The small grammars: lists of CPUs, quantities, bindings, theoretical maxima.

use std::error::Error;
use std::fmt::{Debug, Display};
use std::str::FromStr;
use std::time::Duration;

use nearfar_machine::{
    Binding, CpuSet, MAX_INDEX, MemoryPolicy, TheoreticalMaximum, TheoreticalMaximumError,
};
use nearfar_units::{Bytes, BytesPerSecond, format_duration, parse_duration};

use super::{Outcome, rejected, text};

/// What is printed reads back as the same.
fn read_exactly<T>(text: &str) -> Result<T, Outcome>
where
    T: FromStr<Err: Error> + Display + Debug + PartialEq,
{
    let value: T = text.parse().map_err(|error| rejected(&error))?;
    let printed = value.to_string();
    let again: Result<T, _> = printed.parse();
    assert!(again.as_ref().is_ok_and(|again| *again == value), "{printed:?} is read as {again:?}");
    Ok(value)
}

/// Lists of CPUs, held against a reading of their own.
pub fn cpu_list(input: &[u8]) -> Outcome {
    let read = text(input).and_then(|text| Ok((text, read_exactly::<CpuSet>(text)?)));
    let (text, set) = match read {
        Ok(read) => read,
        Err(outcome) => return outcome,
    };
    let mut expected = vec![false; MAX_INDEX as usize + 1];
    for entry in text.trim().split(',').filter(|entry| !entry.is_empty()) {
        let ends: Vec<Option<usize>> =
            entry.split('-').map(|end| end.trim().parse().ok()).collect();
        match ends[..] {
            [Some(one)] => expected[one] = true,
            [Some(first), Some(last)] if first <= last => expected[first..=last].fill(true),
            _ => panic!("{entry:?} was read as a list"),
        }
    }
    let members = (0..).zip(expected).filter_map(|(index, is_member)| is_member.then_some(index));
    assert!(set.iter().eq(members), "{text:?} was read as {set}");
    Outcome::Accepted
}

/// Capacities, bandwidths and times: each text is offered to all three.
pub fn quantity(input: &[u8]) -> Outcome {
    let text = match text(input) {
        Ok(text) => text,
        Err(outcome) => return outcome,
    };
    let mut refusals = Vec::new();
    match text.parse::<Bytes>() {
        // What is read is cut to whole bytes.
        Ok(bytes) => assert_near(bytes, |bytes| as_float(bytes.0), 1.0),
        Err(error) => refusals.push(rejected(&error)),
    }
    match text.parse::<BytesPerSecond>() {
        Ok(bandwidth) => assert_near(bandwidth, |bandwidth| bandwidth.0, 0.0),
        Err(error) => refusals.push(rejected(&error)),
    }
    match parse_duration(text) {
        Ok(time) => assert_time_near(time),
        Err(error) => refusals.push(rejected(&error)),
    }
    let accepted = 3 - refusals.len();
    assert!(accepted <= 1, "{text:?} is several quantities");
    match refusals.pop() {
        Some(refusal) if accepted == 0 => refusal,
        _ => Outcome::Accepted,
    }
}

fn as_float(number: u64) -> f64 {
    number as f64
}

/// What is printed is the same to the three digits that are printed, and to `step`.
fn assert_near<T: FromStr + Display>(value: T, number: impl Fn(&T) -> f64, step: f64) {
    let printed = value.to_string();
    let Ok(again) = printed.parse::<T>() else { panic!("{printed:?} is not read back") };
    assert_close(number(&value), number(&again), step, &printed);
}

fn assert_time_near(time: Duration) {
    let printed = format_duration(time);
    // From 100 s on a time is printed in two units, for people.
    if time < Duration::from_secs(100) {
        let Ok(again) = parse_duration(&printed) else { panic!("{printed:?} is not read back") };
        assert_close(time.as_secs_f64(), again.as_secs_f64(), 1e-9, &printed);
    } else {
        assert!(printed.contains(" min "), "{printed}");
    }
}

/// Three digits are half a percent at worst.
fn assert_close(value: f64, again: f64, step: f64, printed: &str) {
    let close = (value - again).abs() <= 0.0051 * value.abs() + step;
    assert!(value.is_finite() && value >= 0.0 && close, "{value} is printed as {printed}");
}

/// Bindings, and memory policies by themselves.
pub fn binding(input: &[u8]) -> Outcome {
    let text = match text(input) {
        Ok(text) => text,
        Err(outcome) => return outcome,
    };
    let policy = read_exactly::<MemoryPolicy>(text);
    match (read_exactly::<Binding>(text), policy) {
        (Ok(binding), Err(_)) => {
            let nodes = binding.memory.nodes();
            assert!(nodes.is_none_or(|nodes| !nodes.is_empty()), "{text:?} names no node");
            Outcome::Accepted
        }
        (Err(_), Ok(_)) => Outcome::Accepted,
        (Ok(_), Ok(_)) => panic!("{text:?} is a binding and a policy"),
        (Err(outcome), Err(_)) => outcome,
    }
}

/// Theoretical maxima of memory and of links.
pub fn theoretical_maximum(input: &[u8]) -> Outcome {
    let text = match text(input) {
        Ok(text) => text,
        Err(outcome) => return outcome,
    };
    let memory = known_maximum(TheoreticalMaximum::memory(text));
    match known_maximum(TheoreticalMaximum::link(text)) {
        Outcome::Accepted => Outcome::Accepted,
        Outcome::Rejected(_) => memory,
    }
}

fn known_maximum(read: Result<TheoreticalMaximum, TheoreticalMaximumError>) -> Outcome {
    match read {
        Ok(maximum) => {
            let bandwidth = maximum.gb_per_s();
            assert!(bandwidth.is_finite() && bandwidth > 0.0, "{maximum:?}");
            Outcome::Accepted
        }
        Err(error) => rejected(&error),
    }
}
