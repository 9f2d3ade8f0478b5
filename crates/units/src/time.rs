//! Times.

use std::time::Duration;

use crate::number::{QuantityError, format_significant, split_number};

/// Reads `500us`, `5ms`, `90s`, `5m` (minutes, as `5min`), `2h`, or several with the longer ones first:
/// `1h30m`.
///
/// # Errors
/// When there is no number, no known unit, or more than a year.
pub fn parse_duration(text: &str) -> Result<Duration, QuantityError> {
    const YEAR: f64 = 365.0 * 86_400.0;
    let unit_error =
        || QuantityError::Unit { text: text.into(), examples: "50ms, 90s, 5m or 1h30m" };
    let (mut rest, mut seconds, mut longest) = (text.trim(), 0.0, f64::INFINITY);
    while !rest.is_empty() || longest.is_infinite() {
        let (number, after) =
            split_number(rest).map_err(|_| QuantityError::NoNumber(text.into()))?;
        let end = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let unit = match unit {
            "us" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            _ => return Err(unit_error()),
        };
        if unit >= longest {
            return Err(unit_error());
        }
        seconds += number * unit;
        (longest, rest) = (unit, after.trim_start());
    }
    if seconds <= YEAR {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(QuantityError::Range(text.into()))
    }
}

/// A time for people: `850 us`, `50 ms`, `12.3 s`, `3 min 20 s`.
pub fn format_duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 1e-3 {
        format!("{} us", format_significant(seconds * 1e6, 3))
    } else if seconds < 1.0 {
        format!("{} ms", format_significant(seconds * 1e3, 3))
    } else if seconds < 100.0 {
        format!("{} s", format_significant(seconds, 3))
    } else {
        format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60)
    }
}

/// Whole nanoseconds; what exceeds 584 years is cut off.
pub fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times_with_units_only() {
        assert_eq!(parse_duration("5ms"), Ok(Duration::from_millis(5)));
        assert_eq!(parse_duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_duration("15min"), Ok(Duration::from_secs(900)));
        assert_eq!(parse_duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(parse_duration("1h30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse_duration("1h 2m 3.5s"), Ok(Duration::from_millis(3_723_500)));
        for text in ["", "5", "ms", "-1s", "1e3s", "999999999h", "30m1h", "1h1h", "1h30", "5M"] {
            assert!(parse_duration(text).is_err(), "{text:?} was read");
        }
    }

    #[test]
    fn prints_times_for_people() {
        assert_eq!(format_duration(Duration::from_micros(850)), "850 us");
        assert_eq!(format_duration(Duration::from_millis(50)), "50.0 ms");
        assert_eq!(format_duration(Duration::from_secs(200)), "3 min 20 s");
    }
}
